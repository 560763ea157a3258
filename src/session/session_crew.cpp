#include "session/session_crew.hpp"

namespace trencadis {

/// Copies are bound to this system's nodes, so not on a described machine.
std::vector<Crew::Node> SessionCrew::nodes() const
{
    const std::vector<NodeWorkers> rows = session_.nodes();
    const bool bound = rows.size() > 1 && !session_.overlaid();
    std::vector<Node> nodes;
    for (const NodeWorkers& row : rows) nodes.push_back({row.node, row.workers, row.speed, bound});
    return nodes;
}

std::string SessionCrew::name() const
{
    return "engine '" + session_.options().engine + "' with scheduler '" + session_.options().scheduler + "'";
}

} // namespace trencadis
