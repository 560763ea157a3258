#include "engines/engine.hpp"

#include "graph/task_flow.hpp"

namespace trencadis {

std::unique_ptr<Flow> open_flow(Engine& engine, const FlowOptions& options)
{
    if (std::unique_ptr<Flow> own = engine.own_flow(options)) return own;
    return std::make_unique<TaskFlow>(engine, options);
}

} // namespace trencadis
