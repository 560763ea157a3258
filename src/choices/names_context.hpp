#pragma once
#include "graph/access.hpp"
#include "graph/flow.hpp"
#include "graph/task_context.hpp"

#include <cstddef>
#include <span>

namespace trencadis::choices {

/// Of a task whose body only submits, to a flow that weighs tasks: its operands are names.
class NamesContext final : public TaskContext {
public:
    NamesContext(Team& team, std::span<const Access> accesses, Flow& flow)
        : TaskContext(team, 0), accesses_(accesses), flow_(flow)
    {
    }
    Operand operand(int access) const override
    {
        const Datum& datum = accesses_[std::size_t(access)].datum;
        return {const_cast<void*>(datum.address), datum.ld, datum.rows, datum.cols, true};
    }
    const Kernels* kernels() const override { return nullptr; }
    Info& outcome() override { return flow_.outcome(); }
    Flow& flow() override { return flow_; }
    using TaskContext::part;
    void* part(int) override { return nullptr; }

private:
    const std::span<const Access> accesses_;
    Flow& flow_;
};

} // namespace trencadis::choices
