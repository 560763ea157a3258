#include "graph/stored_task.hpp"

#include "base/error.hpp"
#include "graph/immediate_flow.hpp"
#include "graph/refusals.hpp"
#include "graph/task_context.hpp"

#include <optional>
#include <string>

namespace trencadis {
namespace {

class StoredContext final : public TaskContext {
public:
    StoredContext(Team& team, WorkerId worker, const ComputeUnit& unit, std::span<const Operand> operands, Flow& own)
        : TaskContext(team, worker), unit_(unit), operands_(operands), own_(own)
    {
    }
    Operand operand(int access) const override { return operands_[std::size_t(access)]; }
    const Kernels* kernels() const override { return unit_.kernels; }
    Info& outcome() override { return own_.outcome(); }
    const Flow* own_flow() const override { return &own_; }
    Flow& flow() override { return children_ ? *children_ : children_.emplace(unit_.kernels); }
    void* part(int access) override { return operands_[std::size_t(access)].data; }
    /// Tasks inside have ended when they were submitted.
    void finish_children()
    {
        if (children_) own_.outcome().add(children_->outcome());
    }

private:
    const ComputeUnit& unit_;
    const std::span<const Operand> operands_;
    Flow& own_;
    std::optional<ImmediateFlow> children_;
};

} // namespace

StoredTask::StoredTask(const Codelet& codelet, const Flow::Arguments& arguments, std::span<const Access> accesses,
                       const TaskOptions& options)
    : codelet_(codelet), label_(options.label ? options.label : codelet.name), priority_(options.priority), node_(options.node),
      accesses_(accesses.begin(), accesses.end()),
      args_(static_cast<std::byte*>(::operator new (arguments.bytes, std::align_val_t{64})))
{
    for (const Access& access : accesses)
        if (access.datum.is_name()) refuse_name(label_);
    arguments.move(args_.get(), arguments.data);
}

StoredTask::~StoredTask()
{
    if (codelet_.destroy) codelet_.destroy(args_.get());
}

std::size_t StoredTask::first_with(const void* address) const
{
    std::size_t first = 0;
    while (accesses_[first].datum.address != address) ++first;
    return first;
}

AccessMode StoredTask::mode_of(std::size_t first) const
{
    AccessMode mode = accesses_[first].mode;
    for (std::size_t i = first + 1; i < accesses_.size(); ++i)
        if (accesses_[i].datum.address == accesses_[first].datum.address && accesses_[i].mode != mode)
            mode = AccessMode::readwrite;
    return mode;
}

FloatModes::Raised StoredTask::run(const ComputeUnit& unit, WorkerId worker, std::span<const Operand> operands, Flow& own)
{
    const Implementation implementation = can_run_on(unit) ? codelet_.on(unit.kind) : nullptr;
    if (!implementation)
        throw Error(ErrorCode::missing_backend, std::string("the kernel '") + codelet_.name + "' cannot run on " +
                                                    (unit.kind == UnitKind::core ? "a core" : "this device") +
                                                    (codelet_.at_home ? " outside the process's memory" : ""));
    const FloatScope modes(float_modes_);
    const Index chunks = unit.chunks(codelet_, args_.get());
    SharedWork work(chunks, chunks);
    Team team(work);
    StoredContext context(team, worker, unit, operands, own);
    implementation(args_.get(), context);
    context.finish_children();
    return modes.raised();
}

} // namespace trencadis
