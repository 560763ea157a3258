#pragma once
#include "base/types.hpp"
#include "graph/task_data.hpp"
#include "memory/space.hpp"

#include <cstdint>
#include <vector>

namespace trencadis {

using TransferId = std::int64_t; ///< from 1, in the order of planning; never used again
inline constexpr TransferId no_transfer = 0;

using BlockId = int; ///< of one space, from 1; never used again after the block was given up
inline constexpr BlockId home_memory = 0;

enum class TransferReason : std::uint8_t {
    fetch,      ///< a task needs the datum there
    write_back, ///< the only valid copy was evicted and goes home
};

/// A copy to be made. It may start once all transfers in `after` are complete: they bring its source, or empty the memory it
/// goes to.
struct Transfer {
    TransferId id = no_transfer;
    const void* data = nullptr;
    Bytes bytes = 0;
    SpaceId from = 0, to = 0;
    TransferReason reason = TransferReason::fetch;
    std::vector<TransferId> after = {};
    BlockId from_block = home_memory, to_block = home_memory; ///< where in the spaces; at the datum's home, its own memory
    DatumShape shape = {};      ///< as the tasks name it; not known of opaque data, which are copied whole
    std::int64_t asked_by = -1; ///< order of the task that it is for, for traces; -1: of none

    /// Elements between the columns at both ends: as the tasks say at home, none but the rows' in a block.
    Index from_ld() const { return from_block == home_memory ? shape.ld : shape.rows; }
    Index to_ld() const { return to_block == home_memory ? shape.ld : shape.rows; }
};

/// A block that the space no longer uses, so that its memory can become another of a different size; once `reader` is complete.
struct ReleasedBlock {
    SpaceId space;
    BlockId block;
    TransferId reader; ///< no_transfer: at once
};

/// A datum that a task uses where it lies, in another space of the same domain: remote memory of the same host.
struct RemoteUse {
    const void* data;
    Bytes bytes;
    SpaceId at, from; ///< the datum's space, the task's space
    bool writes;
};

enum class Verdict : std::uint8_t {
    now,   ///< the task has its memory; it may run when the transfers it waits for are complete
    later, ///< memory or data are in use by tasks in flight: ask again when one of them was released or a transfer completed
    never, ///< the task's data do not fit into the space together
};

/// What is to be done so that a task can run in a space.
struct Plan {
    Verdict verdict = Verdict::now;
    std::vector<Transfer> transfers;  ///< new ones, each behind those it comes after
    std::vector<TransferId> wait_for; ///< complete before the task runs: new ones, and ones already under way
    std::vector<RemoteUse> remote;    ///< used in place
    std::vector<ReleasedBlock> released;
    Bytes working_set = 0; ///< of the copies the task needs in the space
};

} // namespace trencadis
