#include "drivers/crew.hpp"

#include "base/error.hpp"
#include "choices/plan.hpp"
#include "graph/data.hpp"
#include "graph/immediate_flow.hpp"
#include "kernels/providers/provider.hpp"

namespace trencadis {

choices::Plan Crew::plan(const choices::Call&) const { return {}; }

Index Crew::run_here(const std::function<void(Flow&)>& body)
{
    ImmediateFlow flow(kernels_);
    body(flow);
    return flow.outcome().value();
}

Index Crew::run_shared(const std::function<void(Flow&)>&, const std::function<bool()>&, const std::function<Datum(const Datum&)>&)
{
    throw Error(ErrorCode::bad_argument, name() + " works in one process; matrices that several hold need engine 'starpu-mpi'");
}

} // namespace trencadis
