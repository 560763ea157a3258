#pragma once
#include "engines/own/own_flow.hpp"
#include "engines/own/unfinished.hpp"
#include "engines/starpu/reduction_parts.hpp"
#include "engines/starpu/tenancy.hpp"

#include <unordered_map>
#include <vector>

namespace trencadis {

/// A flow whose dependences StarPU finds, from the order of submission and the data that tasks name. StarPU wants to know a
/// task's priority when it is submitted. So tasks with a flop count are held until there are many of them, or somebody waits, and
/// then have what their bottom levels give; one without, which may be anything that its submitter looks out for, is never held.
///
/// StarPU knows readers, writers, and writers in any order. Tasks that write together, or each to a part of its own, are readers
/// to it; an empty task that writes, or one that combines the parts, stands between them and others.
class StarpuFlow final : public OwnFlow {
public:
    StarpuFlow(StarpuTenancy& tenancy, const Home& home, const RunOptions& options);
    ~StarpuFlow() override;

    /// Does the calling thread run a task of StarPU's?
    static bool inside_task();

private:
    struct Ticket final : StarpuTicket {
        Ticket(StarpuFlow& to, std::unique_ptr<OwnTask> submitted, std::shared_ptr<ReductionParts> parts = {})
            : flow(to), task(std::move(submitted)), combines(std::move(parts))
        {
        }
        void run(int worker, void* const* places) override;

        StarpuFlow& flow;
        std::unique_ptr<OwnTask> task;            ///< none: it stands between groups of accesses
        std::shared_ptr<ReductionParts> combines; ///< then, where that was a reduction
        struct Reduces {
            std::size_t access;
            std::shared_ptr<ReductionParts> parts;
        };
        std::vector<Reduces> reduces = {};
        double priority = 0;
    };
    struct Registered {
        Datum datum;
        StarpuRuntime::Handle handle;
        AccessMode group = AccessMode::readwrite; ///< of the last task that named it
        std::shared_ptr<ReductionParts> parts = {};
    };
    void hand_over(std::unique_ptr<OwnTask> task) override;
    void await_all() override;
    void await(std::int64_t most);
    void wake();
    void submit(std::unique_ptr<OwnTask> task, double derived);
    void submit_held();
    /// StarPU has the ticket afterwards; what it throws leaves it with the caller.
    void give(std::unique_ptr<Ticket>& ticket, std::span<const StarpuRuntime::Use> uses);
    Registered& registered(const Datum& datum);
    void enter_group(Ticket& ticket, Registered& datum, AccessMode mode);
    void end_group(Registered& datum, double priority);
    void run(Ticket& ticket, int worker);

    StarpuTenancy& tenancy_;
    StarpuRuntime& starpu_;
    Interruption interruption_;
    Unfinished unfinished_;
    // The owner's.
    std::unordered_map<const void*, Registered> data_;
    std::vector<StarpuRuntime::Use> uses_; ///< of the task that is being submitted
    std::vector<std::unique_ptr<OwnTask>> held_;
    const std::size_t most_held_;
    /// What StarPU was given since the workers were last woken. Where they sleep everything before has ended, so nothing else is
    /// unfinished: who waits for so many to end need not wake them.
    std::int64_t since_wake_ = 0;
};

} // namespace trencadis
