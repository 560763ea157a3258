#include "algorithms/routines.hpp"

#include "algorithms/packed_product.hpp"
#include "algorithms/packed_trsm.hpp"
#include "algorithms/tile_size.hpp"
#include "base/error.hpp"
#include "base/registry.hpp"
#include "blas/factorizations/pivoted_qr.hpp"

#include <algorithm>
#include <complex>
#include <string>

namespace trencadis {
namespace {

// Costs by extents, as the table wants them.
double or_n(double extent, double n) { return extent > 0 ? extent : n; }
Operations product(const Extents& x) { return operations::gemm(or_n(x.m, x.n), x.n, or_n(x.k, x.n)); }
Operations rank_k(const Extents& x) { return operations::rank_k(x.n, or_n(x.k, x.n)); }
Operations rank_2k(const Extents& x) { return operations::rank_2k(x.n, or_n(x.k, x.n)); }
Operations triangular(const Extents& x)
{
    const double m = or_n(x.m, x.n), order = or_n(x.k, m);
    return operations::triangular(order, order > 0 ? m * x.n / order : 0);
}
Operations potrf(const Extents& x) { return operations::potrf(x.n); }
Operations potrs(const Extents& x) { return operations::potrs(x.n, x.nrhs); }
Operations posv(const Extents& x) { return operations::posv(x.n, x.nrhs); }
Operations trtrs(const Extents& x) { return operations::triangular(x.n, x.nrhs); }
Operations getrf(const Extents& x) { return operations::getrf(or_n(x.m, x.n), x.n); }
Operations getrs(const Extents& x) { return operations::getrs(x.n, x.nrhs); }
Operations getri(const Extents& x) { return operations::getri(x.n); }
Operations gesv(const Extents& x) { return operations::gesv(x.n, x.nrhs); }
Operations geqrf(const Extents& x) { return operations::geqrf(or_n(x.m, x.n), x.n); }
/// n x n unless they say otherwise; of LQ the rows are the few.
Operations orgqr(const Extents& x) { return operations::orgqr(or_n(x.m, x.n), x.n, or_n(x.k, x.n)); }
Operations orglq(const Extents& x) { return operations::orgqr(x.n, or_n(x.m, x.n), or_n(x.k, or_n(x.m, x.n))); }
Operations ormqr(const Extents& x) { return operations::ormqr(or_n(x.m, x.n), x.n, or_n(x.k, or_n(x.m, x.n))); }
Operations gels(const Extents& x) { return operations::gels(or_n(x.m, x.n), x.n, x.nrhs); }
Operations trtri(const Extents& x) { return operations::trtri(x.n); }
Operations lauum(const Extents& x) { return operations::lauum(x.n); }
Operations potri(const Extents& x) { return operations::potri(x.n); }
Operations nothing(const Extents&) { return {}; }

// Tile sizes.
template <Scalar T> Index columns_of_product(Index n, int workers)
{
    const blas::Operand<T> any{static_cast<const T*>(nullptr), 1, n};
    return product_tiling(PackedProduct<T>{n, n, n, T(1), any, any, T(0), {nullptr, n, n, n}}, workers).cols;
}
template <Scalar T> Index depth_of_system(Index n, int workers)
{
    const T* const none = nullptr;
    const PackedSystem<T> system{Side::right, Uplo::upper, Op::none, Diag::non_unit, n, n, T(1), none, n, {nullptr, n, n, n}};
    return system_tiling(system, workers).depth;
}
/// By the size of an element, for the scalars that our kernels know.
#define TRC_BY_SIZE(f)                                                                                                           \
    (bytes == sizeof(float)                  ? f<float>(n, workers)                                                              \
     : bytes == sizeof(std::complex<double>) ? f<std::complex<double>>(n, workers)                                               \
                                             : f<double>(n, workers))
Index packed_product(Index n, std::size_t bytes, int workers) { return TRC_BY_SIZE(columns_of_product); }
Index packed_system(Index n, std::size_t bytes, int workers) { return TRC_BY_SIZE(depth_of_system); }
#undef TRC_BY_SIZE
Index square_tile(Index n, std::size_t bytes, int workers) { return product_tile(n, n, bytes, workers); }

constexpr RoutineVariant gemm_variants[] = {
    {"packed", packed_product, true}, {"nodes", packed_product, true}, {"in-place", square_tile}};
constexpr RoutineVariant product_variants[] = {{"packed", packed_product, true}, {"in-place", square_tile}};
constexpr RoutineVariant solve_variants[] = {{"packed", packed_system, true}, {"in-place", square_tile}};
constexpr RoutineVariant potrf_variants[] = {{"packed", packed_cholesky_tile, true},
                                             {"in-place", cholesky_tile},
                                             {"tile-layout", cholesky_tile},
                                             {"two-level", cholesky_tile}};
constexpr RoutineVariant posv_variants[] = {
    {"packed", packed_cholesky_tile, true}, {"in-place", cholesky_tile}, {"tile-layout", cholesky_tile}};
constexpr RoutineVariant potrs_variants[] = {{"in-place", cholesky_tile}};
constexpr RoutineVariant inverse_variants[] = {{"in-place", cholesky_tile}};
constexpr std::string_view trtri_kernels[] = {"trtri", "trsm", "gemm"};
constexpr std::string_view lauum_kernels[] = {"lauum", "trmm", "herk", "gemm"};
constexpr std::string_view potri_kernels[] = {"trtri", "lauum", "trsm", "trmm", "herk", "gemm"};
Index square_lu(Index n, std::size_t bytes, int workers) { return lu_tile(n, n, bytes, workers); }
Index square_packed_lu(Index n, std::size_t bytes, int workers) { return packed_lu_tile(n, n, bytes, workers); }
constexpr RoutineVariant getrf_variants[] = {{"packed", square_packed_lu, true}, {"panel", square_lu}, {"kastors", square_lu},
                                             {"kastors-cw", square_lu},          {"nopiv", square_lu}, {"tournament", square_lu},
                                             {"incremental", square_lu}};
constexpr RoutineVariant getrs_variants[] = {{"in-place", square_lu}};
Index square_qr(Index n, std::size_t bytes, int workers) { return qr_tile(n, bytes, workers); }
constexpr RoutineVariant qr_variants[] = {{"blocked", square_qr}};
/// Of its free columns.
Index pivoting_tile(Index n, std::size_t, int) { return blas::pivoting_block(n); }
constexpr RoutineVariant pivoted_variants[] = {{"blocked", pivoting_tile}};
constexpr RoutineVariant geqrf_variants[] = {{"blocked", square_qr},  {"tsqr", square_qr},   {"flat", square_lu},
                                             {"plasma", square_lu},   {"binary", square_lu}, {"greedy", square_lu},
                                             {"fibonacci", square_lu}};
constexpr RoutineVariant tasks_variants[] = {{"in-place", square_tile}};

constexpr std::string_view buttari = "LAPACK; tile algorithm of Buttari, Langou, Kurzak, Dongarra 2009";

constexpr std::string_view householder =
    "LAPACK; compact WY form of Schreiber, Van Loan 1989; recursion of Elmroth, Gustavson 2000";

constexpr std::string_view agullo = "LAPACK; tile algorithm of Agullo, Bouwmeester, Dongarra, Kurzak, Langou, Rosenberg 2011";

constexpr RoutineEntry table[] = {
    {"gemm", "C <- alpha op(A) op(B) + beta C", "BLAS", product, gemm_variants},
    {"symm", "C <- alpha A B + beta C or alpha B A + beta C, A symmetric", "BLAS", product, product_variants},
    {"hemm", "C <- alpha A B + beta C or alpha B A + beta C, A Hermitian", "BLAS", product, product_variants},
    {"syrk", "C <- alpha op(A) op(A)^T + beta C, one triangle", "BLAS", rank_k, product_variants},
    {"herk", "C <- alpha op(A) op(A)^H + beta C, one triangle", "BLAS", rank_k, product_variants},
    {"syr2k", "C <- alpha op(A) op(B)^T + alpha op(B) op(A)^T + beta C, one triangle", "BLAS", rank_2k, product_variants},
    {"her2k", "C <- alpha op(A) op(B)^H + conj(alpha) op(B) op(A)^H + beta C, one triangle", "BLAS", rank_2k, product_variants},
    {"trmm", "B <- alpha op(A) B or alpha B op(A), A triangular", "BLAS", triangular, product_variants},
    {"trsm", "B <- alpha op(A)^-1 B or alpha B op(A)^-1, A triangular", "BLAS", triangular, solve_variants},
    {"potrf", "Cholesky factorisation, A = L L^H or U^H U", buttari, potrf, potrf_variants},
    {"potrs", "A X = B with the factor of potrf", "LAPACK", potrs, potrs_variants},
    {"posv", "A X = B, A positive definite: potrf, then potrs", "LAPACK", posv, posv_variants},
    {"trtrs", "op(A) X = B, A triangular, unless its diagonal has a zero", "LAPACK", trtrs, solve_variants},
    {"trtri", "A <- A^-1, A triangular", agullo, trtri, inverse_variants, trtri_kernels},
    {"lauum", "A <- L^H L or U U^H in the triangle's place", agullo, lauum, inverse_variants, lauum_kernels},
    {"potri", "A^-1 from the factor of potrf: trtri, then lauum", agullo, potri, inverse_variants, potri_kernels},
    {"tasks", "empty kernels on the Cholesky graph: what the runtime costs", "trencadis", nothing, tasks_variants},
    {"getrf", "LU factorisation, P A = L U", "LAPACK; tile algorithms of PLASMA and KASTORS", getrf, getrf_variants},
    {"getrs", "op(A) X = B with the factors of getrf", "LAPACK", getrs, getrs_variants},
    {"getri", "A^-1 from the factors of getrf", "LAPACK; Du Croz, Higham 1992", getri, getrs_variants},
    {"gesv", "A X = B: getrf, then getrs", "LAPACK", gesv, getrf_variants},
    {"geqrf", "QR factorisation, A = Q R", householder, geqrf, geqrf_variants},
    {"geqp3", "QR factorisation with column pivoting, A P = Q R",
     "LAPACK; Quintana-Orti, Sun, Bischof 1998; norms by Drmac, Bujanovic 2008", geqrf, pivoted_variants},
    {"gelqf", "LQ factorisation, A = L Q", householder, geqrf, qr_variants},
    {"orgqr", "the first n columns of Q from the reflectors of geqrf; ungqr in complex precisions", "LAPACK", orgqr, qr_variants},
    {"orglq", "the first m rows of Q from the reflectors of gelqf; unglq in complex precisions", "LAPACK", orglq, qr_variants},
    {"ormqr", "C <- op(Q) C or C op(Q), Q from geqrf; unmqr in complex precisions", "LAPACK", ormqr, qr_variants},
    {"ormlq", "C <- op(Q) C or C op(Q), Q from gelqf; unmlq in complex precisions", "LAPACK", ormqr, qr_variants},
    {"geqrt", "QR factorisation with the triangles of its block reflectors", householder, geqrf, qr_variants},
    {"gemqrt", "C <- op(Q) C or C op(Q), Q from geqrt", "LAPACK", ormqr, qr_variants},
    {"gels", "least squares or least norm, op(A) X = B, by QR or LQ", "LAPACK", gels, qr_variants},
};

} // namespace

std::span<const RoutineEntry> routine_entries() { return table; }

const RoutineEntry& find_routine(std::string_view name)
{
    std::vector<std::string_view> known;
    for (const RoutineEntry& entry : table) {
        if (entry.name == name) return entry;
        known.push_back(entry.name);
    }
    throw Error(ErrorCode::bad_argument, unknown_name("routine", name, known));
}

const RoutineVariant& find_variant(const RoutineEntry& routine, std::string_view name)
{
    for (const RoutineVariant& variant : routine.variants)
        if (variant.name == name) return variant;
    throw Error(ErrorCode::bad_argument, unknown_name(std::string(routine.name) + " variant", name, names_of(routine.variants)));
}

std::vector<std::string_view> names_of(std::span<const RoutineVariant> variants)
{
    std::vector<std::string_view> names;
    for (const RoutineVariant& variant : variants) names.push_back(variant.name);
    return names;
}

} // namespace trencadis
