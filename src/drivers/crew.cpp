#include "drivers/crew.hpp"

#include "base/error.hpp"
#include "graph/data.hpp"

namespace trencadis {

Index Crew::run_shared(const std::function<void(Flow&)>&, const std::function<bool()>&, const std::function<Datum(const Datum&)>&)
{
    throw Error(ErrorCode::bad_argument, name() + " works in one process; matrices that several hold need engine 'starpu-mpi'");
}

} // namespace trencadis
