#pragma once
#include "base/error.hpp"
#include "graph/task_context.hpp"
#include "graph/task_flow.hpp"

#include <string>
#include <utility>
#include <vector>

namespace trencadis {

/// Of a task whose body enqueues its kernels, on operands that are in the device's memory.
class DeviceContext final : public TaskContext {
public:
    DeviceContext(Task& task, Team& team, std::vector<Operand> operands, const Kernels* kernels, WorkerId worker)
        : TaskContext(team, worker), task_(task), operands_(std::move(operands)), kernels_(kernels)
    {
    }
    Operand operand(int access) const override { return operands_[std::size_t(access)]; }
    const Kernels* kernels() const override { return kernels_; }
    Info& outcome() override { return task_.flow->outcome(); }
    const Flow* own_flow() const override { return task_.flow; }
    Flow& flow() override { refuse("submits tasks"); }
    using TaskContext::part;
    void* part(int) override { refuse("reduces"); }

private:
    [[noreturn]] void refuse(const char* what) const
    {
        throw Error(ErrorCode::environment, std::string("task '") + task_.label + "' " + what + ", which no device can");
    }
    Task& task_;
    const std::vector<Operand> operands_;
    const Kernels* const kernels_;
};

} // namespace trencadis
