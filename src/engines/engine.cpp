#include "engines/engine.hpp"

#include "base/error.hpp"

namespace trencadis {

Index Engine::run_shared(const RunOptions&, const std::function<void(Flow&)>&, const AtHome&)
{
    throw Error(ErrorCode::bad_argument, "this engine works in one process; take engine 'starpu-mpi'");
}

} // namespace trencadis
