#include "algorithms/graphs.hpp"

#include "algorithms/blocked_qr.hpp"
#include "algorithms/empty_cholesky.hpp"
#include "algorithms/gemm.hpp"
#include "algorithms/gemm_shared_panel.hpp"
#include "algorithms/geqrf.hpp"
#include "algorithms/getrf.hpp"
#include "algorithms/incremental_lu.hpp"
#include "algorithms/packed_product.hpp"
#include "algorithms/packed_trsm.hpp"
#include "algorithms/potrf.hpp"
#include "algorithms/rank_k.hpp"
#include "algorithms/routines.hpp"
#include "algorithms/tall_qr.hpp"
#include "algorithms/tile_routines.hpp"
#include "algorithms/tile_size.hpp"
#include "algorithms/tournament_lu.hpp"
#include "algorithms/trsm.hpp"
#include "algorithms/unpivoted_lu.hpp"
#include "base/error.hpp"
#include "base/registry.hpp"

#include <algorithm>
#include <cstdint>
#include <string>

namespace trencadis {
namespace {

/// Hands out addresses of a range one piece after the other; adds up what was handed out.
class AddressRange {
public:
    explicit AddressRange(void* begin) : begin_(reinterpret_cast<std::uintptr_t>(begin)) {}

    template <class E> E* take(Index rows, Index cols)
    {
        Index elements = 0, bytes = 0, end = 0;
        if (__builtin_mul_overflow(rows, cols, &elements) || __builtin_mul_overflow(elements, Index(sizeof(E)), &bytes) ||
            __builtin_add_overflow(used_, bytes, &end) || end > largest)
            throw Error(ErrorCode::bad_argument,
                        "the matrices of this graph and their images need more than the 2^46 bytes that one process can name; "
                        "choose a smaller n, or nb");
        E* const piece = reinterpret_cast<E*>(begin_ + std::uintptr_t(used_));
        used_ = (end + 63) / 64 * 64;
        return piece;
    }
    std::size_t used() const { return std::size_t(used_); }

private:
    static constexpr Index largest = Index{1} << 46;
    std::uintptr_t begin_;
    Index used_ = 0;
};

/// What a graph is laid out in and submitted to; no flow: only laid out.
struct Site {
    AddressRange range;
    Flow* flow;
    GraphShape shape; ///< `inner` filled in
    Index tiles() const { return (shape.n + shape.nb - 1) / shape.nb; }
};

/// rows x cols elements in contiguous tiles.
template <Scalar T> TileMatrix<T> matrix(Site& site, Index rows, Index cols, Index mb, Index nb)
{
    const Index row_tiles = (rows + mb - 1) / mb, col_tiles = (cols + nb - 1) / nb;
    T* const data = site.range.take<T>(row_tiles * mb, col_tiles * nb);
    return {{data, rows, cols, mb}, mb, nb, mb * nb, mb * nb * row_tiles};
}
template <Scalar T> TileMatrix<T> square(Site& site)
{
    return matrix<T>(site, site.shape.n, site.shape.n, site.shape.nb, site.shape.nb);
}
/// Images that are only named.
ImagePlace images(Site& site)
{
    return {.reserve = [&range = site.range](std::size_t bytes) { return range.take<char>(Index(bytes), 1); }};
}
/// n x n elements, column by column.
template <Scalar T> MatrixView<T> columns(Site& site)
{
    const Index n = site.shape.n;
    return {site.range.take<T>(n, n), n, n, n};
}
/// C <- A op(B) + C in `part` of C; syrk where A is B.
template <Scalar T> void submit_packed(Site& site, MatrixView<T> A, MatrixView<T> B, Op op, MatrixView<T> C, blas::Part part)
{
    const Index n = site.shape.n, nb = site.shape.nb;
    const auto left = blas::general<T>(A.data, A.ld), right = blas::general<T>(B.data, B.ld, op);
    const PackedProduct<T> product{n, n, n, T(1), left, right, T(1), C, part};
    const ProductTiling tiling{nb, nb, nb};
    const ProductImages<T> kept(product, tiling, images(site));
    if (site.flow) packed_product(*site.flow, product, tiling, kept);
}
template <Scalar T> void submit_gemm_packed(Site& site)
{
    const MatrixView<T> A = columns<T>(site), B = columns<T>(site), C = columns<T>(site);
    submit_packed(site, A, B, Op::none, C, blas::Part::all);
}
template <Scalar T> void submit_syrk_packed(Site& site)
{
    const MatrixView<T> A = columns<T>(site), C = columns<T>(site);
    submit_packed(site, A, A, Op::trans, C, blas::Part::lower);
}
template <Scalar T> void submit_trsm_packed(Site& site)
{
    const Index n = site.shape.n, nb = site.shape.nb;
    const MatrixView<T> A = columns<T>(site), B = columns<T>(site);
    const PackedSystem<T> system{Side::left, Uplo::lower, Op::none, Diag::non_unit, n, n, T(1), A.data, n, B};
    const SystemTiling tiling{nb, nb};
    const SystemImages<T> kept(system, tiling, images(site));
    if (site.flow) packed_trsm(*site.flow, system, tiling, kept);
}
template <Scalar T> TileMatrix<T> in_columns(Site& site) { return {columns<T>(site), site.shape.nb, site.shape.nb}; }
template <Scalar T> void submit_potrf_packed(Site& site)
{
    const TileMatrix<T> A = in_columns<T>(site);
    const CholeskyImages<T> kept(site.shape.n, site.shape.nb, images(site));
    if (site.flow) potrf_packed(*site.flow, A, kept);
}
template <Scalar T> void submit_potrf(Site& site)
{
    const TileMatrix<T> A = square<T>(site);
    if (site.flow) potrf(*site.flow, A);
}
template <Scalar T> void submit_potrf_two_level(Site& site)
{
    const TileMatrix<T> A = square<T>(site);
    if (site.flow) potrf_two_level(*site.flow, A, site.shape.inner);
}
template <Scalar T> TileMatrix<T> right_hand_sides(Site& site)
{
    return matrix<T>(site, site.shape.n, site.shape.nrhs, site.shape.nb, std::min(site.shape.nb, site.shape.nrhs));
}
template <Scalar T> void submit_potrs(Site& site)
{
    const TileMatrix<T> A = square<T>(site), B = right_hand_sides<T>(site);
    if (site.flow) potrs(*site.flow, A, B);
}
template <Scalar T> void submit_posv(Site& site)
{
    const TileMatrix<T> A = square<T>(site), B = right_hand_sides<T>(site);
    if (site.flow) posv(*site.flow, A, B);
}
template <Scalar T> void submit_posv_packed(Site& site)
{
    const TileMatrix<T> A = in_columns<T>(site), B = right_hand_sides<T>(site);
    const CholeskyImages<T> kept(site.shape.n, site.shape.nb, images(site));
    if (site.flow) posv(*site.flow, A, B, &kept);
}
template <Scalar T> void submit_gemm(Site& site)
{
    const TileMatrix<T> A = square<T>(site), B = square<T>(site), C = square<T>(site);
    if (site.flow) gemm(*site.flow, T(1), A, B, T(1), C);
}
template <Scalar T> void submit_gemm_shared_panel(Site& site)
{
    const TileMatrix<T> A = square<T>(site), B = square<T>(site), C = square<T>(site);
    const TileMatrix<T> P = matrix<T>(site, std::min(site.shape.n, site.shape.nb), site.shape.n, site.shape.nb, site.shape.nb);
    if (site.flow) gemm_shared_panel(*site.flow, A, B, P, C);
}
template <Scalar T> void submit_syrk(Site& site)
{
    const TileMatrix<T> A = square<T>(site), C = square<T>(site);
    if (site.flow) syrk(*site.flow, T(1), A, T(1), C);
}
template <Scalar T> void submit_trsm(Site& site)
{
    const TileMatrix<T> A = square<T>(site), B = square<T>(site);
    if (site.flow) trsm(*site.flow, Uplo::lower, Diag::non_unit, T(1), A, B);
}
template <Scalar T> void submit_getrf_incremental(Site& site)
{
    const TileMatrix<T> A = square<T>(site);
    const Index n = site.shape.n;
    const Eliminations<T> by(n, n, site.shape.nb, site.shape.inner, images(site));
    if (site.flow) getrf_incremental(*site.flow, A, by);
}
template <Scalar T, ColumnUpdates updates> void submit_getrf_kastors(Site& site)
{
    const TileMatrix<T> A = square<T>(site);
    Index* const interchanges = site.range.take<Index>(site.shape.n, 1);
    char* const tokens = site.range.take<char>(site.tiles() + 1, 1);
    if (site.flow) getrf_kastors(*site.flow, updates, A, interchanges, tokens);
}
/// All panels that are worth it: how many units there are to factor them is not known here.
PanelCut panel_cut(const Site& site) { return {.columns = site.shape.inner, .beside = site.shape.n}; }
template <Scalar T> void submit_getrf_panel(Site& site)
{
    const TileMatrix<T> A = square<T>(site);
    Index* const interchanges = site.range.take<Index>(site.shape.n, 1);
    if (site.flow) getrf(*site.flow, A, interchanges, panel_cut(site));
}
template <Scalar T> void submit_getrf_packed(Site& site)
{
    const TileMatrix<T> A = in_columns<T>(site);
    const LuImages<T> kept(site.shape.n, site.shape.n, site.shape.nb, images(site));
    Index* const interchanges = site.range.take<Index>(site.shape.n, 1);
    if (site.flow) getrf_packed(*site.flow, A, kept, interchanges, panel_cut(site));
}
template <Scalar T> void submit_getrf_nopiv(Site& site)
{
    const TileMatrix<T> A = square<T>(site);
    if (site.flow) getrf_nopiv(*site.flow, A);
}
template <Scalar T> void submit_getrf_tournament(Site& site)
{
    const TileMatrix<T> A = square<T>(site);
    const TournamentRounds<T> rounds(site.shape.n, site.shape.nb, images(site));
    Index* const interchanges = site.range.take<Index>(site.shape.n, 1);
    if (site.flow) getrf_tournament(*site.flow, A, rounds, interchanges);
}
/// Of n columns with n reflectors.
template <Scalar T> struct ReflectorSite {
    MatrixView<T> A;
    T* tau;
    ReflectorSlots<T> slots;
    explicit ReflectorSite(Site& site)
        : A(columns<T>(site)), tau(site.range.take<T>(A.cols, 1)), slots(A.rows, site.shape.nb, images(site))
    {
    }
};
template <Scalar T> void submit_geqrf_blocked(Site& site)
{
    const ReflectorSite<T> of(site);
    if (site.flow) factor_blocked(*site.flow, Storage::columns, of.A, site.shape.nb, of.tau, of.slots);
}
template <Scalar T> void submit_orgqr_blocked(Site& site)
{
    const ReflectorSite<T> of(site);
    if (site.flow) form_blocked(*site.flow, Storage::columns, of.A.cols, of.A, site.shape.nb, of.tau, of.slots);
}
template <Scalar T> void submit_ormqr_blocked(Site& site)
{
    const ReflectorSite<T> of(site);
    const MatrixView<T> C = columns<T>(site);
    const Index nb = site.shape.nb;
    if (site.flow) apply_blocked(*site.flow, Storage::columns, {Side::left, Op::none}, C.rows, of.A, nb, of.tau, C, nb, of.slots);
}
/// m x n by blocks of nb rows. What it keeps beside its squares are plain flags of its own, which nobody reads here.
template <Scalar T> void submit_geqrf_tall(Site& site)
{
    const Index m = site.shape.m, n = site.shape.n;
    if (n == 0) return;
    T *const A = site.range.take<T>(m, n), *const tau = site.range.take<T>(n, 1);
    const Index blocks = std::clamp<Index>(m / site.shape.nb, 2, std::max<Index>(2, m / n));
    TallQr<T> call(m, n, A, m, tau, blocks, IllConditioned::factored, images(site));
    if (site.flow) call.submit(*site.flow);
}
template <Scalar T, TileQrForm form> void submit_geqrf(Site& site)
{
    const TileMatrix<T> A = square<T>(site);
    const QrFactors<T> by(form, site.shape.n, site.shape.n, site.shape.nb, site.shape.inner, images(site));
    if (site.flow) geqrf(*site.flow, A, by);
}
template <Scalar T> void submit_tasks(Site& site)
{
    char* const names = site.range.take<char>(site.shape.n, site.shape.n);
    if (site.flow) empty_cholesky(*site.flow, names, site.shape.n);
}

/// The flags, sizes and matrices of a routine on a site: each flag its first letter, every extent n but the right-hand sides.
Index extent(const Site& site, std::string_view name) { return name == "nrhs" ? site.shape.nrhs : site.shape.n; }
#define TRC_SITE_FLAG(E, x, text) E(Letter<E>::letters().front())
#define TRC_SITE_SIZE(x) extent(site, #x)
#define TRC_SITE_IN(A, ld, rows, cols) nullptr, 0
#define TRC_SITE_INOUT(A, ld, rows, cols) nullptr, 0
#define TRC_SITE_TRIANGLE_IN(A, ld, n, uplo) nullptr, 0
#define TRC_SITE_TRIANGLE_INOUT(A, ld, n, uplo) nullptr, 0
// Where they lie is known once the sizes are.
#define TRC_LAID_FLAG(E, x, text) void()
#define TRC_LAID_SIZE(x) void()
#define TRC_LAID_IN(A, ld, rows, cols) A = site.range.take<std::decay_t<decltype(*A)>>(rows, cols), ld = std::max<Index>(rows, 1)
#define TRC_LAID_INOUT(A, ld, rows, cols) TRC_LAID_IN(A, ld, rows, cols)
#define TRC_LAID_TRIANGLE_IN(A, ld, n, uplo) TRC_LAID_IN(A, ld, n, n)
#define TRC_LAID_TRIANGLE_INOUT(A, ld, n, uplo) TRC_LAID_IN(A, ld, n, n)
#define TRC_GRAPH(routine, ...)                                                                                                  \
    template <Scalar T> void lay_##routine(Site& site, TRC_ARGUMENTS_##routine(TRC_TYPED))                                       \
    {                                                                                                                            \
        TRC_ARGUMENTS_##routine(TRC_LAID);                                                                                       \
        if (site.flow) build::routine(*site.flow, site.shape.nb, TRC_ARGUMENTS_##routine(TRC_GIVE));                             \
    }                                                                                                                            \
    template <Scalar T> void submit_##routine(Site& site) { lay_##routine<T>(site, TRC_ARGUMENTS_##routine(TRC_SITE)); }
TRC_TILE_ROUTINES(TRC_GRAPH)
#undef TRC_GRAPH

/// One form of one routine in the four precisions.
struct GraphEntry {
    std::string_view routine, variant;
    std::vector<std::string_view> kernels;
    void (*submit[4])(Site&); ///< s, d, c, z
};

#define TRC_PRECISIONS(f)                                                                                                        \
    {                                                                                                                            \
        f<float>, f<double>, f<std::complex<float>>, f<std::complex<double>>                                                     \
    }

#define TRC_QR(form)                                                                                                             \
    {                                                                                                                            \
        submit_geqrf<float, TileQrForm::form>, submit_geqrf<double, TileQrForm::form>,                                           \
            submit_geqrf<std::complex<float>, TileQrForm::form>, submit_geqrf<std::complex<double>, TileQrForm::form>            \
    }

std::vector<std::string_view> kernels_of(std::string_view routine)
{
    const std::span<const std::string_view> kernels = find_routine(routine).kernels;
    return {kernels.begin(), kernels.end()};
}

std::span<const GraphEntry> entries()
{
    constexpr ColumnUpdates queued = ColumnUpdates::queued, concurrent = ColumnUpdates::concurrent;
    using C = std::complex<float>;
    using Z = std::complex<double>;
    static const GraphEntry all[] = {
        {"potrf", "packed", {"potrf", "trsm", "herk", "gemm"}, TRC_PRECISIONS(submit_potrf_packed)},
        {"potrf", "in-place", {"potrf", "trsm", "herk", "gemm"}, TRC_PRECISIONS(submit_potrf)},
        {"potrf", "two-level", {"potrf", "trsm", "herk", "gemm"}, TRC_PRECISIONS(submit_potrf_two_level)},
        {"potrs", "in-place", {"trsm", "gemm"}, TRC_PRECISIONS(submit_potrs)},
        {"posv", "packed", {"potrf", "trsm", "herk", "gemm"}, TRC_PRECISIONS(submit_posv_packed)},
        {"posv", "in-place", {"potrf", "trsm", "herk", "gemm"}, TRC_PRECISIONS(submit_posv)},
        {"gemm", "packed", {"pack", "gemm"}, TRC_PRECISIONS(submit_gemm_packed)},
        {"gemm", "in-place", {"gemm"}, TRC_PRECISIONS(submit_gemm)},
        {"gemm", "shared-panel", {"pack", "gemm"}, TRC_PRECISIONS(submit_gemm_shared_panel)},
        {"syrk", "packed", {"pack", "syrk", "gemm"}, TRC_PRECISIONS(submit_syrk_packed)},
        {"syrk", "in-place", {"syrk", "gemm"}, TRC_PRECISIONS(submit_syrk)},
        {"trsm", "packed", {"pack", "trsm", "gemm"}, TRC_PRECISIONS(submit_trsm_packed)},
        {"trsm", "in-place", {"trsm", "gemm"}, TRC_PRECISIONS(submit_trsm)},
        {"getrf", "packed", {"getrf_panel", "pack", "swptr", "gemm", "laswp"}, TRC_PRECISIONS(submit_getrf_packed)},
        {"getrf", "panel", {"getrf_panel", "swptr", "gemm", "laswp"}, TRC_PRECISIONS(submit_getrf_panel)},
        {"getrf", "incremental", {"getrf", "gessm", "tstrf", "ssssm"}, TRC_PRECISIONS(submit_getrf_incremental)},
        {"getrf",
         "kastors",
         {"getrf_panel", "swptr", "gemm", "laswp"},
         {submit_getrf_kastors<float, queued>, submit_getrf_kastors<double, queued>, submit_getrf_kastors<C, queued>,
          submit_getrf_kastors<Z, queued>}},
        {"getrf",
         "kastors-cw",
         {"getrf_panel", "swptr", "gemm", "laswp"},
         {submit_getrf_kastors<float, concurrent>, submit_getrf_kastors<double, concurrent>, submit_getrf_kastors<C, concurrent>,
          submit_getrf_kastors<Z, concurrent>}},
        {"getrf", "nopiv", {"getrf_nopiv", "trsm", "gemm"}, TRC_PRECISIONS(submit_getrf_nopiv)},
        {"getrf",
         "tournament",
         {"tournament", "getrf_nopiv", "getrf_panel", "trsm", "swptr", "gemm", "laswp"},
         TRC_PRECISIONS(submit_getrf_tournament)},
        {"geqrf", "blocked", {"geqrf_panel", "pack", "larfb"}, TRC_PRECISIONS(submit_geqrf_blocked)},
        {"geqrf",
         "tsqr",
         {"gram_qr", "judge_blocks", "reflect_block", "ttqrt", "begin_q", "ttmqr", "reconstruct_head", "reconstruct_block"},
         TRC_PRECISIONS(submit_geqrf_tall)},
        {"geqrf", "flat", {"geqrt", "unmqr", "tsqrt", "tsmqr"}, TRC_QR(flat)},
        {"geqrf", "plasma", {"geqrt", "unmqr", "tsqrt", "tsmqr"}, TRC_QR(plasma)},
        {"geqrf", "binary", {"geqrt", "unmqr", "ttqrt", "ttmqr"}, TRC_QR(binary)},
        {"geqrf", "greedy", {"geqrt", "unmqr", "ttqrt", "ttmqr"}, TRC_QR(greedy)},
        {"geqrf", "fibonacci", {"geqrt", "unmqr", "ttqrt", "ttmqr"}, TRC_QR(fibonacci)},
        {"orgqr", "blocked", {"larft", "pack", "larfb"}, TRC_PRECISIONS(submit_orgqr_blocked)},
        {"ormqr", "blocked", {"larft", "pack", "larfb"}, TRC_PRECISIONS(submit_ormqr_blocked)},
        {"tasks", "in-place", {"potrf", "trsm", "syrk", "gemm"}, TRC_PRECISIONS(submit_tasks)},
#define TRC_ENTRY(routine, ...) {#routine, "in-place", kernels_of(#routine), TRC_PRECISIONS(submit_##routine)},
        TRC_TILE_ROUTINES(TRC_ENTRY)
#undef TRC_ENTRY
    };
    return all;
}
#undef TRC_PRECISIONS
#undef TRC_QR

int precision_index(char letter)
{
    static constexpr std::string_view letters = "sdcz";
    const std::size_t at = letters.find(letter);
    if (at == letters.npos)
        throw Error(ErrorCode::bad_argument, std::string("precision is '") + letter + "', must be s, d, c or z");
    return int(at);
}

const GraphEntry& find_graph(std::string_view routine, std::string_view variant)
{
    const std::vector<std::string_view> variants = graph_variants(routine); // knows the routine
    if (variant.empty()) variant = variants.front();
    for (const GraphEntry& entry : entries())
        if (entry.routine == routine && entry.variant == variant) return entry;
    throw Error(ErrorCode::bad_argument, unknown_name(std::string(routine) + " variant", variant, variants));
}

[[noreturn]] void refuse(const char* name, Index value, const std::string& right)
{
    throw Error(ErrorCode::bad_argument, std::string(name) + " is " + std::to_string(value) + ", must be " + right);
}

void check_tall(GraphShape& shape)
{
    if (shape.m == 0) shape.m = default_graph_rows("tsqr", shape.n);
    if (shape.m < 2 * shape.n) refuse("m", shape.m, "at least 2 n: the form is for tall matrices");
}

/// The shape with `inner` filled in.
GraphShape checked(const GraphEntry& entry, GraphShape shape)
{
    precision_index(shape.precision);
    if (shape.n < 0) refuse("n", shape.n, "at least 0");
    if (entry.routine == "tasks") return shape;
    if (shape.nb < 1) refuse("nb", shape.nb, "at least 1");
    if (entry.variant == "tsqr") check_tall(shape);
    else if (shape.m != 0) refuse("m", shape.m, "left out: of this form matrices are square");
    if (shape.nrhs < 1) refuse("nrhs", shape.nrhs, "at least 1");
    if (shape.inner < 0 || shape.inner > shape.nb)
        refuse("inner", shape.inner, "between 1 and nb = " + std::to_string(shape.nb) + ", or 0 to have it chosen");
    if (shape.inner == 0) shape.inner = default_inner(entry.routine, shape.nb);
    return shape;
}

} // namespace

std::vector<std::string_view> graph_routines()
{
    std::vector<std::string_view> routines;
    for (const GraphEntry& entry : entries())
        if (routines.empty() || routines.back() != entry.routine) routines.push_back(entry.routine);
    return routines;
}

std::vector<std::string_view> graph_variants(std::string_view routine)
{
    std::vector<std::string_view> variants;
    for (const GraphEntry& entry : entries())
        if (entry.routine == routine) variants.push_back(entry.variant);
    if (variants.empty()) throw Error(ErrorCode::bad_argument, unknown_name("routine", routine, graph_routines()));
    return variants;
}

std::string_view default_graph_variant(std::string_view routine, bool devices)
{
    const std::vector<std::string_view> variants = graph_variants(routine);
    const auto of_tiles = std::find_if(variants.begin(), variants.end(), [](std::string_view v) { return !packs_images(v); });
    return devices && of_tiles != variants.end() ? *of_tiles : variants.front();
}

bool packs_images(std::string_view variant) { return variant == "packed" || variant == "blocked" || variant == "tsqr"; }

Index default_graph_tile(std::string_view routine, std::string_view variant, Index n, std::size_t element_bytes, int workers)
{
    if (routine == "getrf") return (variant == "packed" ? packed_lu_tile : lu_tile)(n, n, element_bytes, workers);
    if (variant == "tsqr") return TallQr<double>::usual_rows(std::max<Index>(n, 1));
    if (variant == "blocked") return qr_tile(n, element_bytes, workers);
    const bool factors = routine == "potrf" || routine == "posv"; // tiles of packed products depend on the machine at hand
    return (variant == "packed" && factors ? packed_cholesky_tile : cholesky_tile)(n, element_bytes, workers);
}

Index default_graph_rows(std::string_view variant, Index n) { return variant == "tsqr" ? TallQr<double>::least_tall(n) : 0; }

std::vector<std::string_view> graph_kernels(std::string_view routine, std::string_view variant, char precision)
{
    std::vector<std::string_view> kernels = find_graph(routine, variant).kernels;
    if (precision_index(precision) < 2) // of real matrices it is syrk
        std::replace(kernels.begin(), kernels.end(), std::string_view("herk"), std::string_view("syrk"));
    return kernels;
}

std::vector<std::string_view> all_graph_kernels()
{
    std::vector<std::string_view> all;
    for (const GraphEntry& entry : entries())
        for (const char precision : {'d', 'z'})
            for (const std::string_view kernel : graph_kernels(entry.routine, entry.variant, precision))
                if (std::find(all.begin(), all.end(), kernel) == all.end()) all.push_back(kernel);
    return all;
}

Index default_inner(std::string_view routine, Index nb)
{
    const Index inner = routine == "potrf" ? nested_cholesky_tile(nb) : 32;
    return std::min(std::max<Index>(nb, 1), inner);
}

Flops routine_flops(std::string_view routine, const GraphShape& shape)
{
    const Extents extents{.n = double(shape.n), .m = double(shape.m), .nrhs = double(shape.nrhs)};
    return find_routine(routine).operations(extents).flops(precision_index(shape.precision) >= 2);
}

std::size_t graph_bytes(std::string_view routine, std::string_view variant, const GraphShape& shape)
{
    const GraphEntry& entry = find_graph(routine, variant);
    Site site{AddressRange(nullptr), nullptr, checked(entry, shape)};
    entry.submit[precision_index(shape.precision)](site);
    return site.range.used();
}

void submit_graph(Flow& flow, std::string_view routine, std::string_view variant, const GraphShape& shape, void* memory)
{
    if (flow.computes())
        throw Error(ErrorCode::bad_argument, "this graph has no matrix behind it: only an engine that simulates can run it");
    const GraphEntry& entry = find_graph(routine, variant);
    Site site{AddressRange(memory), &flow, checked(entry, shape)};
    entry.submit[precision_index(shape.precision)](site);
}

} // namespace trencadis
