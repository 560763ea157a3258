#include "graph/task_context.hpp"

#include "graph/task_flow.hpp"

namespace trencadis {

TaskFlowContext::~TaskFlowContext()
{
    delete children_; // waits: a body that threw leaves no task behind that uses its variables
}

Operand TaskFlowContext::operand(int access) const
{
    if (task_.brought) return task_.brought[access];
    const Datum& datum = task_.data[access];
    return {const_cast<void*>(datum.address), datum.ld, datum.rows, datum.cols, datum.is_name()};
}

const Kernels* TaskFlowContext::kernels() const { return task_.flow->executor().units()[std::size_t(worker())].kernels; }
Info& TaskFlowContext::outcome() { return task_.flow->outcome(); }
const Flow* TaskFlowContext::own_flow() const { return task_.flow; }

Flow& TaskFlowContext::flow()
{
    if (!children_) {
        FlowOptions options = task_.flow->options();
        options.node = task_.node;
        options.data_brought |= task_.access_count > 0;
        children_ = new TaskFlow(task_.flow->executor(), options, task_.flow);
    }
    return *children_;
}

void* TaskFlowContext::part(int access) { return task_.flow->part(task_, access); }

void TaskFlowContext::finish_children()
{
    if (!children_) return;
    children_->wait();
    task_.flow->outcome().add(children_->outcome());
}

} // namespace trencadis
