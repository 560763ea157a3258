#include "graph/stored_task.hpp"

#include "base/error.hpp"
#include "graph/immediate_flow.hpp"
#include "graph/refusals.hpp"
#include "graph/task_context.hpp"
#include "graph/task_data.hpp"

#include <memory>
#include <string>

namespace trencadis {
namespace {

class StoredContext final : public TaskContext {
public:
    StoredContext(Team& team, WorkerId worker, const ComputeUnit& unit, const StoredTask& task, std::span<const Operand> operands,
                  Flow& own, InnerFlows* inner)
        : TaskContext(team, worker), unit_(unit), task_(task), operands_(operands), own_(own), inner_(inner)
    {
    }
    Operand operand(int access) const override { return operands_[std::size_t(access)]; }
    const Kernels* kernels() const override { return unit_.kernels; }
    Info& outcome() override { return own_.outcome(); }
    const Flow* own_flow() const override { return &own_; }
    Flow& flow() override
    {
        if (!children_) children_ = inner_ ? inner_->open_inner(own_) : std::make_unique<ImmediateFlow>(unit_.kernels, &own_);
        return *children_;
    }
    void* part(int access) override
    {
        const auto number = std::size_t(access);
        if (number >= operands_.size() || task_.accesses()[number].mode != AccessMode::reduce)
            throw Error(ErrorCode::bad_argument,
                        "access " + std::to_string(access) + " of task '" + task_.label() + "' is not a reduce access");
        return operands_[number].data;
    }
    void finish_children()
    {
        if (!children_) return;
        children_->wait();
        own_.outcome().add(children_->outcome());
    }

private:
    const ComputeUnit& unit_;
    const StoredTask& task_;
    const std::span<const Operand> operands_;
    Flow& own_;
    InnerFlows* const inner_;
    std::unique_ptr<Flow> children_; ///< ends before the task, also when its body throws
};

} // namespace

StoredTask::StoredTask(const Codelet& codelet, const Flow::Arguments& arguments, std::span<const Access> accesses,
                       const TaskOptions& options, bool names_too)
    : codelet_(codelet), label_(options.label ? options.label : codelet.name), priority_(options.priority), node_(options.node),
      accesses_(accesses.begin(), accesses.end()),
      args_(static_cast<std::byte*>(::operator new (arguments.bytes, std::align_val_t{64})))
{
    for (const Access& access : accesses)
        if (access.datum.is_name() && !names_too) refuse_name(label_);
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

const Datum& StoredTask::largest_of(std::size_t first) const
{
    const Datum* largest = &accesses_[first].datum;
    for (std::size_t i = first + 1; i < accesses_.size(); ++i) {
        const Datum& again = accesses_[i].datum;
        if (again.address != largest->address) continue;
        const bool holds = is_part(shape_of(*largest), shape_of(again));
        if (holds && again.bytes() > largest->bytes()) largest = &again;
    }
    return *largest;
}

FloatModes::Raised StoredTask::run(const ComputeUnit& unit, WorkerId worker, std::span<const Operand> operands, Flow& own,
                                   InnerFlows* inner)
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
    StoredContext context(team, worker, unit, *this, operands, own, inner);
    implementation(args_.get(), context);
    context.finish_children();
    return modes.raised();
}

} // namespace trencadis
