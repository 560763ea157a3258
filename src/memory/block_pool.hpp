#pragma once
#include "base/types.hpp"
#include "memory/plan.hpp"

#include <cstdint>
#include <deque>
#include <map>
#include <utility>
#include <vector>

namespace trencadis {

/// The memory of one space as blocks in use, idle blocks that wait to be used again in the order they were freed, and the
/// rest. It only counts: an engine that owns real memory keeps one allocation per block number.
class BlockPool {
public:
    explicit BlockPool(Bytes capacity) : capacity_(capacity) {}

    /// Takes a block: an idle one of this size, else a fresh one, for which idle blocks of other sizes are given up, oldest
    /// first. 0 when even that is not enough; then something must be freed first. Appends to `after` what must be complete
    /// before the block may be written: the transfers that read what was in it, of which some may be complete by now.
    /// The blocks given up are appended to `given_up`, with who still reads them.
    BlockId take(Bytes bytes, std::vector<TransferId>& after, std::vector<std::pair<BlockId, TransferId>>& given_up);
    /// The block becomes idle; `reader` is a transfer under way that still reads it.
    void free(BlockId block, Bytes bytes, TransferId reader = no_transfer);
    /// Gives up all idle blocks.
    void release_idle(std::vector<std::pair<BlockId, TransferId>>& given_up)
    {
        while (release_oldest(given_up)) {}
    }
    /// The space turned out to have so many bytes; above 0.
    void limit(Bytes capacity) { capacity_ = capacity; }
    /// The transfer no longer reads anything.
    void completed(TransferId reader) { std::erase(readers_, reader); }

    Bytes capacity() const { return capacity_; } ///< 0: no limit
    Bytes used() const { return used_; }
    Bytes peak() const { return peak_; }
    std::int64_t fresh() const { return fresh_; }
    std::int64_t reused() const { return reused_; }
    std::int64_t released() const { return released_; }

private:
    struct Idle {
        std::int64_t age;
        BlockId block;
        TransferId reader;
    };
    bool release_oldest(std::vector<std::pair<BlockId, TransferId>>& given_up);
    void now_used(Bytes bytes);

    Bytes capacity_;
    Bytes used_ = 0, idle_ = 0, peak_ = 0;
    std::int64_t fresh_ = 0, reused_ = 0, released_ = 0, age_ = 0;
    BlockId last_block_ = home_memory;
    std::map<Bytes, std::deque<Idle>> idle_blocks_; ///< no empty queues
    std::vector<TransferId> readers_;               ///< of memory that was given up and is not in a block
};

} // namespace trencadis
