#include "session/routine.hpp"

#include "algorithms/tile_size.hpp"
#include "base/registry.hpp"
#include "session/arguments.hpp"
#include "session/packed_calls.hpp"

#include <algorithm>

namespace trencadis {

std::vector<std::string_view> variants_of(std::string_view routine)
{
    if (routine == "potrf") return {"packed", "in-place", "tile-layout", "two-level"};
    if (routine == "gemm") return {"packed", "nodes", "in-place"};
    if (routine == "posv") return {"packed", "in-place", "tile-layout"};
    if (routine != "potrs" && routine != "tasks") return {"packed", "in-place"};
    return {"in-place"};
}

std::string_view default_variant(const Session& session, std::string_view routine)
{
    const std::vector<std::string_view> known = variants_of(routine);
    if (known.front() != "packed" || can_run_packed(session, routine)) return known.front();
    return *std::find_if(known.begin(), known.end(), [](std::string_view v) { return v != "packed" && v != "nodes"; });
}

namespace {

template <Scalar T> Index packed_tile(std::string_view routine, Index n, int workers)
{
    const T* const none = nullptr;
    if (routine == "trsm") {
        const PackedSystem<T> system{Side::right, Uplo::upper, Op::none, Diag::non_unit, n, n, T(1), none, n, {nullptr, n, n, n}};
        return system_tiling(system, workers).depth;
    }
    const blas::Operand<T> any{none, 1, n};
    return product_tiling(PackedProduct<T>{n, n, n, T(1), any, any, T(0), {nullptr, n, n, n}}, workers).cols;
}

} // namespace

Index default_tile(std::string_view routine, std::string_view variant, Index n, std::size_t element_bytes, int workers)
{
    const bool cholesky = routine == "potrf" || routine == "potrs" || routine == "posv",
               packed = variant == "packed" || variant == "nodes";
    Index nb = 0;
    if (cholesky) nb = packed ? packed_cholesky_tile(n, element_bytes, workers) : cholesky_tile(n, element_bytes, workers);
    else if (!packed) nb = product_tile(n, n, element_bytes, workers);
    else if (element_bytes == sizeof(float)) nb = packed_tile<float>(routine, n, workers);
    else if (element_bytes == sizeof(std::complex<double>)) nb = packed_tile<std::complex<double>>(routine, n, workers);
    else nb = packed_tile<double>(routine, n, workers);
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

bool runs_directly(Session& session, Flops flops, const RoutineOptions& options, Work work)
{
    if (options.nb != 0 || !options.variant.empty()) return false;
    const bool ours = session.kernels().native();
    const DirectLimits limits = direct_limits(session.workers(), ours, work);
    if (flops <= limits.ready) return true;
    if (flops > limits.busy) return false;
    const Session::Outlook outlook = session.outlook();
    return outlook == Session::Outlook::busy || (outlook == Session::Outlook::asleep && flops <= limits.asleep);
}

} // namespace trencadis
