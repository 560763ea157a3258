#include "graph/task_context.hpp"

#include "graph/flow.hpp"

namespace trencadis {

TaskContext::~TaskContext()
{
    delete children_; // waits: a body that threw leaves no task behind that uses its variables
}

TaskFlow& TaskContext::own_flow() const { return *task_.flow; }

TaskFlow& TaskContext::flow()
{
    if (!children_) {
        FlowOptions options = task_.flow->options();
        options.node = task_.node;
        children_ = new TaskFlow(task_.flow->executor(), options, task_.flow);
    }
    return *children_;
}

void* TaskContext::part(int access) { return task_.flow->part(task_, access); }

void TaskContext::finish_children()
{
    if (children_) children_->wait();
}

} // namespace trencadis
