#include "algorithms/forms/form.hpp"
#include "algorithms/tile_routines.hpp"
#include "algorithms/tile_size.hpp"

#include <algorithm>
#include <functional>
#include <type_traits>

/// Routines that are one builder (algorithms/tile_routines.hpp): their only form is the builder on the caller's matrices, each
/// letter its first and every extent n where it is simulated.
namespace trencadis {
namespace {

/// The signatures call the extents by their names.
Index extent(const Problem& x, std::string_view name) { return name == "nrhs" ? x.nrhs : x.n; }
#define TRC_SITE_FLAG(E, x, text) E(Letter<E>::letters().front())
#define TRC_SITE_SIZE(x) extent(problem, #x)
#define TRC_SITE_IN(A, ld, rows, cols) nullptr, 0
#define TRC_SITE_INOUT(A, ld, rows, cols) nullptr, 0
#define TRC_SITE_TRIANGLE_IN(A, ld, n, uplo) nullptr, 0
#define TRC_SITE_TRIANGLE_INOUT(A, ld, n, uplo) nullptr, 0
// Where they lie is known once the sizes are.
#define TRC_LAID_FLAG(E, x, text) void()
#define TRC_LAID_SIZE(x) void()
#define TRC_LAID_IN(A, ld, rows, cols)                                                                                           \
    A = place.columns<std::decay_t<decltype(*A)>>(rows, cols).data, ld = std::max<Index>(rows, 1)
#define TRC_LAID_INOUT(A, ld, rows, cols) TRC_LAID_IN(A, ld, rows, cols)
#define TRC_LAID_TRIANGLE_IN(A, ld, n, uplo) TRC_LAID_IN(A, ld, n, n)
#define TRC_LAID_TRIANGLE_INOUT(A, ld, n, uplo) TRC_LAID_IN(A, ld, n, n)
#define TRC_LAYOUT(routine, ...)                                                                                                 \
    template <Scalar T> struct Laid_##routine final : Layout {                                                                   \
        Laid_##routine(Place& place, const Problem& problem) { lay(place, problem.nb, TRC_ARGUMENTS_##routine(TRC_SITE)); }      \
        void lay(Place& place, Index nb, TRC_ARGUMENTS_##routine(TRC_TYPED))                                                     \
        {                                                                                                                        \
            TRC_ARGUMENTS_##routine(TRC_LAID);                                                                                   \
            build = [=](Flow& flow) { build::routine(flow, nb, TRC_ARGUMENTS_##routine(TRC_GIVE)); };                            \
        }                                                                                                                        \
        void submit(Flow& flow) override { build(flow); }                                                                        \
        std::function<void(Flow&)> build;                                                                                        \
    };
TRC_TILE_ROUTINES(TRC_LAYOUT)
#undef TRC_LAYOUT

Index tile(Index, Index n, std::size_t element, int workers) { return cholesky_tile(n, element, workers); }

// What the tasks of each are.
constexpr std::string_view trtri_kernels[] = {"trtri", "trsm", "gemm"};
constexpr std::string_view lauum_kernels[] = {"lauum", "trmm", "herk", "gemm"};
constexpr std::string_view potri_kernels[] = {"trtri", "lauum", "trsm", "trmm", "herk", "gemm"};

} // namespace

#define TRC_FORM(routine, ...)                                                                                                   \
    forms::Forms forms::routine()                                                                                                \
    {                                                                                                                            \
        static constexpr Form form[] = {                                                                                         \
            {.name = "in-place", .tile = tile, .lay = TRC_LAY(Laid_##routine), .kernels = routine##_kernels}};                   \
        return form;                                                                                                             \
    }
TRC_TILE_ROUTINES(TRC_FORM)
#undef TRC_FORM

} // namespace trencadis
