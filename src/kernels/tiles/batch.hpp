#pragma once
#include "graph/flow.hpp"
#include "kernels/tiles/operands.hpp"

#include <algorithm>

namespace trencadis::task {

/// So many problems that have nothing to do with each other, as one task: whoever has nothing better to do joins it and takes as
/// many as it can. `one(call, kernels, i)` computes problem i, of those from `first` on; `call` outlives the task.
struct Batch {
    static constexpr bool at_home = true; // matrices of the caller's, which nobody names
    const void* call;
    void (*one)(const void* call, const KernelProvider& kernels, Index i);
    Index first, count;
    Flops each;

    Flops flops() const { return each * double(count); }
    /// Problems handed out together: some 20 us of work, so that taking them costs nothing and the last one to finish is soon
    /// done.
    Index together() const { return std::clamp<Index>(Index(2e5 / std::max(each, 1.0)), 1, std::max<Index>(count, 1)); }
    Index chunks() const { return (count + together() - 1) / together(); }
    void run(TaskContext& context)
    {
        const KernelProvider& kernels = kernels_of(context);
        while (const auto c = context.team().next())
            for (Index i = c.begin * together(); i < std::min(count, c.end * together()); ++i) one(call, kernels, first + i);
    }
};

inline void batch(Flow& flow, const Batch& problems)
{
    static constexpr Codelet codelet = codelet_of<Batch>("batch");
    flow.submit(codelet, problems, {});
}

} // namespace trencadis::task
