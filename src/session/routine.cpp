#include "session/routine.hpp"

#include "algorithms/tile_size.hpp"
#include "base/registry.hpp"
#include "session/arguments.hpp"

#include <algorithm>

namespace trencadis {

std::vector<std::string_view> variants_of(std::string_view routine)
{
    if (routine == "potrf") return {"packed", "in-place", "tile-layout", "two-level"};
    if (routine == "posv") return {"packed", "in-place", "tile-layout"};
    if (routine != "potrs" && routine != "tasks") return {"packed", "in-place"};
    return {"in-place"};
}

Index default_tile(std::string_view routine, Index n, std::size_t element_bytes, int workers)
{
    const bool cholesky = routine == "potrf" || routine == "potrs" || routine == "posv";
    const Index nb = cholesky ? cholesky_tile(n, element_bytes, workers) : product_tile(n, n, element_bytes, workers);
    return std::min(nb, std::max<Index>(n, 1));
}

void check_options(std::string_view routine, const RoutineOptions& options)
{
    Arguments::tile(options.nb);
    if (options.variant.empty()) return;
    const std::vector<std::string_view> known = variants_of(routine);
    if (std::find(known.begin(), known.end(), options.variant) == known.end())
        throw Error(ErrorCode::bad_argument, unknown_name(std::string(routine) + " variant", options.variant, known));
}

bool wants_tile_layout(const RoutineOptions& options) { return options.variant == "tile-layout"; }

bool runs_directly(const Session& session, Flops flops, const RoutineOptions& options)
{
    return options.nb == 0 && options.variant.empty() && flops <= direct_limit(session.workers());
}

} // namespace trencadis
