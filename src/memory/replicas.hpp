#pragma once
#include "graph/task_data.hpp"
#include "memory/block_pool.hpp"
#include "memory/memory_event.hpp"
#include "memory/plan.hpp"
#include "memory/recency.hpp"
#include "memory/space.hpp"
#include "memory/statistics.hpp"

#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

namespace trencadis {

/// What the machine around the spaces answers. The functions must not call back.
struct MemoryEnvironment {
    /// Time to bring so many bytes from one space to another; infinite when there is no direct way, then copies go through the
    /// datum's home, or, where that has no direct way either, through a space without limit. Called when a source is chosen, so
    /// it may know of traffic under way.
    std::function<Seconds(SpaceId from, SpaceId to, Bytes)> cost;
    /// Home of a datum that nobody placed and that names none itself (Datum::home), at its first use by a task in `space`. None:
    /// space 0.
    std::function<SpaceId(const void* data, Bytes, SpaceId space)> home;
    MemoryLog log = {}; ///< of acquire, release and complete
};

/// Which space holds which version of which datum, and what has to move so that a task can run. Decides, moves nothing: an engine
/// carries the transfers out, simulated or real, and reports them complete.
///
/// Each datum has a home, where its memory is the caller's; elsewhere copies live in a software cache per space, which reuses
/// freed blocks and evicts the least recently used copy that no task and no transfer uses. A write makes all other copies invalid
/// (MSI); it is written back when somebody needs the datum, or when the only valid copy is evicted (Lima, Gautier et al. 2013;
/// StarPU does likewise, Augonnet et al. 2011).
///
///     Plan plan = replicas.acquire(data, space);         // then carry out plan.transfers, complete(id) for each,
///     ...                                                // and run the task when plan.wait_for are complete
///     replicas.release(data, space);
///
/// A plain object without threads, clocks or locks; the owner serialises the calls. Deterministic. Cost of acquire: the number of
/// data, and for each that moves the number of spaces.
class Replicas {
public:
    explicit Replicas(std::vector<Space> spaces, MemoryEnvironment environment = {});

    /// Declares the home of a datum. Throws Error{bad_argument} when it has copies elsewhere or is in use.
    void place(const void* data, Bytes bytes, SpaceId home);
    /// The datum's memory is given back by its owner: copies are dropped. Throws like place() when it is in use.
    void forget(const void* data);

    /// Gives a task that uses `data` (each datum once) its memory in `space`. All or nothing: unless the verdict is `now`,
    /// nothing has changed. What is only written (AccessMode::write) may be larger than what was there, of which nothing is kept.
    /// Throws Error{bad_argument} for a space that is not there, a datum that has grown otherwise, and one whose columns lie
    /// otherwise than another task said.
    Plan acquire(std::span<const TaskDatum> data, SpaceId space);
    /// The task has ended; what it wrote is valid in its space only. `ran` is false for a task that was given up after acquire.
    void release(std::span<const TaskDatum> data, SpaceId space, bool ran = true);
    void complete(TransferId id);
    /// It ended without bringing anything: who waits for it looks again whether its data are there, and what was to copy from
    /// there once it had come `brings_nothing` either. True: the value is nowhere else; it is lost, and counts as being at home.
    bool fail(TransferId id);
    /// What it should copy did not come. It is not to begin, but to end by `fail`.
    bool brings_nothing(TransferId id) const;
    /// The space holds nothing any more; no task may be given memory there from now on. Returns the data whose only value was
    /// there, or whose home it is: their home counts as having it, whatever it has. Tasks that have their data there are released
    /// as not run.
    std::vector<const void*> lose(SpaceId space);
    /// The task, which is not released yet, has begun there and will not end: what it writes may be half done, and is not there
    /// any more. Returns the data whose only value that was, as `lose` does. To be released as not run.
    std::vector<const void*> spoil(std::span<const TaskDatum> data, SpaceId space);
    /// Less memory was there than its capacity says: gives up all that nobody uses, as far as no transfer must save it first, and
    /// begins to save the rest.
    void make_room(SpaceId space, Plan& plan);
    /// Gives up the memory that no copy uses.
    void release_idle(SpaceId space, std::vector<ReleasedBlock>& released);
    /// From now on it has so many bytes.
    void limit(SpaceId space, Bytes capacity);
    /// Has all come that a task was given there?
    bool has_all(std::span<const TaskDatum> data, SpaceId space) const;
    bool under_way(TransferId id) const { return transfers_.contains(id); }
    /// Is it named as before? If not, acquire throws.
    bool agrees(const TaskDatum& use) const;
    /// Does a task or a transfer use the datum? Then it cannot be forgotten.
    bool in_use(const void* data) const;

    /// Is the current version there, or on its way there? A datum that no task has used yet is at its home, here and in the
    /// questions below.
    bool holds(const void* data, SpaceId space) const;
    /// Of what the task needs in the space: bytes that holds() there.
    Bytes valid_bytes(std::span<const TaskDatum> data, SpaceId space) const;
    /// Sum over what would have to be copied or used remotely, each alone from the nearest copy.
    Seconds transfer_time(std::span<const TaskDatum> data, SpaceId space) const;
    /// Does a space hold a datum that the task writes?
    bool holds_written(std::span<const TaskDatum> data, SpaceId space) const;
    /// Bytes of copies a task needs at once in a space; more than its capacity can never run there.
    Bytes working_set(std::span<const TaskDatum> data, SpaceId space) const;
    bool fits(std::span<const TaskDatum> data, SpaceId space) const;

    /// Data whose home does not have the current version, in the order of their first use; read at home, they come back.
    std::vector<TaskDatum> away() const;
    SpaceId home(const void* data) const; ///< -1 when never seen
    Bytes bytes(const void* data) const;  ///< 0 when never seen
    /// As it lies at home, and in blocks with nothing between its columns; unknown when it is opaque.
    DatumShape shape(const void* data) const;
    /// Where in the space the datum is or will be: its block, or home_memory where it has none.
    BlockId block(const void* data, SpaceId space) const;
    int spaces() const { return static_cast<int>(spaces_.size()); }
    const Space& space(SpaceId id) const { return spaces_[id]; }
    Bytes used(SpaceId id) const { return pools_[id].used(); }     ///< taken by copies
    Bytes home_bytes(SpaceId id) const { return home_bytes_[id]; } ///< of the data at home there
    MemoryStatistics statistics() const;

private:
    using DatumId = int;
    struct Datum {
        const void* data = nullptr;
        Bytes bytes = 0;
        SpaceId home = 0;
        std::int64_t version = 1;
        int users = 0;                      ///< tasks in flight
        int writers = 0;                    ///< of them
        AccessMode mode = AccessMode::read; ///< of the writers
        SpaceId writer_place = 0;
        int copies = 0;        ///< blocks taken for it
        DatumShape shape = {}; ///< of the largest that a task has named
    };
    /// One datum in one space.
    struct Replica {
        enum class State : std::uint8_t { none, arriving, here };
        State state = State::none;
        BlockId block = home_memory; ///< of the space's pool; none at home
        int pins = 0;                ///< tasks in flight and transfers that use it
        std::int64_t version = 0;
        TransferId arriving = no_transfer;
    };
    struct UnderWay {
        DatumId datum;
        SpaceId from, to;
        std::int64_t version;
        bool holds_source;        ///< false: the source's block was given up already
        TransferId brings_source; ///< what it copies comes with that one; no_transfer: it was there
        bool brings_nothing = false;
    };

    /// One datum of the task at hand.
    struct Use {
        DatumId datum;
        AccessMode mode;
        SpaceId place; ///< where the task uses it
        Bytes bytes;   ///< its size from then on
    };

    Replica& at(DatumId datum, SpaceId space) { return replicas_[std::size_t(datum) * spaces_.size() + space]; }
    const Replica& at(DatumId datum, SpaceId space) const { return replicas_[std::size_t(datum) * spaces_.size() + space]; }
    bool holds(const TaskDatum& use, SpaceId space) const;
    bool valid(DatumId datum, SpaceId space) const;
    bool on_way(DatumId datum, SpaceId space) const;
    const DatumId* find(const void* data) const;
    DatumId find_or_add(const TaskDatum& use, SpaceId space);
    DatumId add(const void* data, Bytes bytes, SpaceId home, const DatumShape& shape = {});
    void note_shape(Datum& datum, const TaskDatum& use);
    SpaceId place_of(DatumId datum, SpaceId space) const { return place_from(datums_[datum].home, space); }
    SpaceId place_from(SpaceId home, SpaceId space) const;
    SpaceId expected_home(const TaskDatum& use, SpaceId space) const;
    void check_space(SpaceId space) const;
    void check_idle(DatumId datum, const char* wish) const;

    void note(MemoryEvent::What what, std::span<const TaskDatum> data, SpaceId space, const Plan* plan) const;
    bool conflicts(const Use& use) const;
    bool is_moving(DatumId datum) const;
    void resize(DatumId datum, Bytes bytes);
    void resolve(std::span<const TaskDatum> data, SpaceId space);
    bool has_room(SpaceId space) const;
    void pin(DatumId datum, SpaceId space);
    void unpin(DatumId datum, SpaceId space);
    void settle(DatumId datum, SpaceId space);
    void drop(DatumId datum, SpaceId space, TransferId reader);
    void invalidate_others(DatumId datum);
    void use(const Use& use, SpaceId space, Plan& plan);
    void use_in_place(const Use& use, SpaceId space, Plan& plan);
    void prepare_write(const Use& use, Plan& plan);
    TransferId bring(DatumId datum, SpaceId to, Plan& plan);
    SpaceId source_of(DatumId datum, SpaceId to) const;
    TransferId start(DatumId datum, SpaceId from, SpaceId to, TransferReason reason, std::vector<TransferId> after, Plan& plan);
    void take_block(DatumId datum, SpaceId space, std::vector<TransferId>& after, Plan& plan);
    void evict_one(SpaceId space, Plan& plan);
    void evict(DatumId datum, SpaceId space, Plan& plan);
    void give_up(SpaceId space, const std::vector<std::pair<BlockId, TransferId>>& blocks,
                 std::vector<ReleasedBlock>& released) const;
    bool is_elsewhere(DatumId datum, SpaceId space) const;
    void expect_nothing_of(TransferId id);
    bool lose(DatumId datum, SpaceId space);
    void count_as_home(DatumId datum);
    void wait_for_uses(DatumId datum, SpaceId space, std::vector<TransferId>& after) const;
    void keep_under_way(std::vector<TransferId>& ids) const;
    Seconds cost(SpaceId from, SpaceId to, Bytes bytes) const;
    SpaceId way_between(SpaceId from, SpaceId home, SpaceId to, Bytes bytes) const;
    Seconds cost_by_way(SpaceId from, SpaceId home, SpaceId to, Bytes bytes) const;

    std::vector<Space> spaces_;
    MemoryEnvironment environment_;
    std::vector<BlockPool> pools_;
    std::vector<Recency> recency_; ///< of the copies in each space, by datum
    std::vector<Bytes> pinned_;    ///< bytes of blocks with pins
    std::vector<Bytes> home_bytes_;
    std::vector<Datum> datums_;
    std::vector<DatumId> unused_;
    std::vector<Replica> replicas_; ///< [datum * spaces + space]
    std::unordered_map<const void*, DatumId> ids_;
    std::map<TransferId, UnderWay> transfers_;
    TransferId last_transfer_ = no_transfer;
    MemoryStatistics statistics_;
    std::vector<Use> uses_; ///< of acquire and release; kept for its memory
};

/// The data of a task that has not finished, each once, in `into`, whose memory is used again.
std::span<const TaskDatum> data_of(const Task& task, std::vector<TaskDatum>& into);

} // namespace trencadis
