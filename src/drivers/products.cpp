#include "algorithms/forms/products.hpp"
#include "algorithms/signatures.hpp"
#include "blas/level3/small_product.hpp"
#include "blas/level3/team_product.hpp"
#include "blas/level3/turned_product.hpp"
#include "blas/level3/vector_product.hpp"
#include "drivers/by_nodes.hpp"
#include "drivers/chosen.hpp"
#include "drivers/deep.hpp"
#include "drivers/laid_out.hpp"
#include "drivers/linear_algebra.hpp"
#include "drivers/lone_crew.hpp"
#include "drivers/sharing.hpp"
#include "matrix/operations.hpp"

namespace trencadis {
namespace {

/// What symm and hemm have in common.
template <Scalar T> struct SideProduct {
    Crew& crew;
    Side side;
    Uplo uplo;
    Index m, n;
    T alpha;
    const T* A;
    Index lda;
    const T* B;
    Index ldb;
    T beta;
    T* C;
    Index ldc;

    Index order() const { return side == Side::left ? m : n; }
    Flops flops() const { return operations::gemm(double(m), double(n), double(order())).template flops<T>(); }
    bool nothing_to_do() const { return m == 0 || n == 0 || (alpha == T(0) && beta == T(1)); }
    void check(const InCall& in_call, std::string_view routine, const RoutineOptions& options) const
    {
        require(in_call, TRC_ARGUMENTS_symm(TRC_CHECK));
        check_options(routine, options);
    }
    blas::Product<T> product(blas::Structure structure) const
    {
        const blas::Operand<T> a = structured(structure, uplo, Diag::non_unit, A, lda), b = blas::general(B, ldb);
        const bool left = side == Side::left;
        return {m, n, order(), alpha, left ? a : b, left ? b : a, beta, C, 1, ldc};
    }
    /// On one core, of the columns of B and C beside A on the left, else of the rows, so many from `first` on.
    void multiply(blas::Structure structure, Index first, Index count) const
    {
        const bool left = side == Side::left;
        const Index rows = left ? m : count, cols = left ? count : n, at = left ? first * ldb : first,
                    to = left ? first * ldc : first;
        const KernelProvider& kernels = crew.kernels();
        if (structure == blas::Structure::hermitian)
            kernels.hemm(side, uplo, rows, cols, alpha, A, lda, B + at, ldb, beta, C + to, ldc);
        else kernels.symm(side, uplo, rows, cols, alpha, A, lda, B + at, ldb, beta, C + to, ldc);
    }
    bool multiply_vectors(blas::Structure structure, KernelRoutine routine, const RoutineOptions& options) const
    {
        return multiplies_vectors(crew.kernels(), routine, order(), side == Side::left ? n : m, options) &&
               blas::multiply_vectors(side, uplo, structure == blas::Structure::hermitian, m, n, alpha, A, lda, B, ldb, beta, C,
                                      ldc, helpers_for_parts<T>(crew));
    }
    /// By slices, so that each core packs its own operands, or, of a thin result, all of it together.
    bool run_shared(blas::Structure structure, KernelRoutine routine, const RoutineOptions& options) const
    {
        constexpr Flops most = 1e9;
        constexpr Index least = is_complex<T> ? 24 : 40; // of thinner ones reading A anew costs more than sharing it
        if (!is_short<T>(crew, flops(), crew.kernels().native(routine), options, most)) return false;
        const blas::Setup<T> with = blas::setup<T>(0);
        const Index others = side == Side::left ? n : m;
        if (others >= 2 * least && others >= order() / 2) {
            const auto compute = [&](Index first, Index count) { multiply(structure, first, count); };
            const Index unit = side == Side::left ? with.kernel.nr : with.kernel.step;
            return share_out<T>(crew, Slices(others, slice_size(crew, others, least, unit), compute), flops());
        }
        constexpr Flops least_together = 2e6; // that takes longer than to get what another core has packed
        blas::TeamProduct<T> shared(product(structure), with, false, crew.workers());
        return (shared.needs_no_other() || flops() >= least_together) && share_out<T>(crew, shared, flops());
    }
    Problem problem() const { return {.m = m, .n = n, .side = side, .uplo = uplo, .alpha = alpha, .beta = beta}; }
    bool is_for_devices(forms::Forms all, const RoutineOptions& options) const
    {
        return trencadis::is_for_devices<T>(crew, all, flops(), options, problem(), {{A, lda}, {B, ldb}, {C, ldc}});
    }
    void run(forms::Forms all, const RoutineOptions& options) const
    {
        lay_out<T>(crew, all, options, problem(), {{A, lda}, {B, ldb}, {C, ldc}}).run(crew, options);
    }
};

/// Has the result so few rows or columns that an operand packed as a whole would be used once? Then each task packs what it
/// needs, block by block in its core's cache, and the long side of the result is shared out.
bool is_thin(Index m, Index n, const RoutineOptions& options)
{
    return options.nb == 0 && options.variant.empty() && std::min(m, n) <= 64 && std::max(m, n) >= 512;
}

/// Or so few columns that each task reads its rows of A where they lie, once for each piece of the depth, or turned?
template <Scalar T> bool is_narrow(const blas::Product<T>& x, const RoutineOptions& options)
{
    constexpr Index least = 512; // rows, as above
    if (options.nb != 0 || !options.variant.empty()) return false;
    if (blas::is_turned(x)) return true;
    return x.m >= least && (blas::SmallProduct<T>::suits_narrow(x) || blas::depth_in_place(x, blas::setup<T>(0)) > 0);
}

/// Has it little depth, or few rows or columns, so that whoever computes a slice packs what all slices read for little?
bool is_low(Index m, Index n, Index k, const RoutineOptions& options)
{
    constexpr Index deepest = 128;
    return options.nb == 0 && options.variant.empty() && (k <= deepest || is_thin(m, n, options));
}

/// A product by slices of `size` columns or rows. False: nobody would take part, and nothing was done.
template <Scalar T> bool share_slices(Crew& crew, const blas::Product<T>& x, bool columns, Index size, Flops flops)
{
    const auto compute = [&](Index first, Index count) {
        blas::Product<T> slice = x;
        (columns ? slice.n : slice.m) = count;
        if (columns) slice.B = x.B.block(0, first);
        else slice.A = x.A.block(first, 0);
        slice.C += first * (columns ? x.cs : x.rs);
        blas::multiply(slice);
    };
    constexpr bool begins_again = true; // multiply asks for all of its memory first
    return share_out<T>(crew, Slices(columns ? x.n : x.m, size, compute, begins_again), flops);
}

/// Slices of its columns, which lie in pages of their own, where each core can have some panels of them, otherwise of its longer
/// side.
template <Scalar T> bool share_slices(Crew& crew, const blas::Product<T>& x, Flops flops)
{
    constexpr Index least = 32, some_panels = 128;
    const blas::MicroKernel<T>& kernel = blas::micro_kernel<T>();
    const bool columns = x.n >= std::min<Index>(x.m, some_panels * crew.workers());
    const Index size = slice_size(columns ? x.n : x.m, crew.workers(), least, columns ? kernel.nr : kernel.mr);
    return share_slices(crew, x, columns, size, flops);
}

/// Is it one of which each core makes an equal part faster by itself, with operands that it packs for itself, than all together?
/// So it is where cores are far from each other, since what another one has packed comes from its cache line by line, and the
/// second caches do not hold what is read where it lies. Not where cores are unequal or taken away: nobody takes over what
/// another has begun.
template <Scalar T> bool is_made_in_parts(const Crew& crew, const blas::Product<T>& x)
{
    constexpr Index narrowest = 192; // of narrower or shallower ones packing the other operand costs more than it saves
    constexpr double more_than_caches = 1.4;
    const blas::Setup<T> with = blas::setup<T>(0);
    const double cached = 2.0 * double(with.tree[blas::Loop::pc] * with.tree[blas::Loop::ic]), m = double(x.m), n = double(x.n),
                 k = double(x.k);
    return crew.workers() > 1 && std::max(x.m, x.n) >= narrowest * crew.workers() && std::min({x.m, x.n, x.k}) >= narrowest &&
           m * k + k * n + m * n > more_than_caches * crew.workers() * cached && are_far_and_even(crew);
}

/// Rows of a product that is turned, as many as are worth B packed anew.
template <Scalar T> bool share_rows(Crew& crew, const blas::Product<T>& x, Flops flops)
{
    constexpr Index least = 192;
    const Index size = slice_size(x.m, crew.workers(), least, blas::micro_kernel<T>().step);
    return share_slices(crew, x, false, size, flops);
}

/// So: columns of C, or rows where there are more of them.
template <Scalar T> bool share_parts(Crew& crew, const blas::Product<T>& x, Flops flops)
{
    const blas::MicroKernel<T>& kernel = blas::micro_kernel<T>();
    const bool columns = x.n >= x.m;
    const Index size = round_up(pieces(columns ? x.n : x.m, crew.workers()), columns ? kernel.nr : kernel.mr);
    return share_slices(crew, x, columns, size, flops);
}

/// Is it so small that cores share it as it lies?
template <Scalar T> bool is_compact(const blas::Product<T>& x, const RoutineOptions& options)
{
    return options.nb == 0 && options.variant.empty() && blas::SmallProduct<T>::is_compact(x);
}

/// A deep one by pieces of its depth, each shared as it lies. False: it is none, or nobody takes part; nothing was done.
template <Scalar T> bool share_depth(Crew& crew, const blas::Product<T>& x, Flops flops)
{
    constexpr Flops longest = 2e10; // of which a Ctrl-C can wait for the end
    const blas::Setup<T> with = blas::setup<T>(0);
    const Index depth = flops <= longest ? blas::depth_in_place(x, with) : 0;
    if (depth == 0 || !crew.can_share(in_double<T>(flops))) return false;
    for (Index p = 0; p < x.k; p += depth) {
        const blas::Product<T> piece = blas::depth_of(x, p, std::min(depth, x.k - p));
        const blas::SmallProduct<T> shared(piece, with, true);
        const double left = double(x.k - p) / double(x.k); // for which it may pay to wake somebody
        if (!share_out<T>(crew, shared, flops * left)) blas::multiply(piece);
    }
    return true;
}

/// A short product by those who can be had, without tasks; with its bits. False: nothing was done.
template <Scalar T>
bool share_product(Crew& crew, const blas::Product<T>& x, const RoutineOptions& way, bool compact, Flops flops)
{
    constexpr Flops most = 1e9;            // its chunks are handed out until the end: no graph would share a small one better
    constexpr Flops most_in_parts = 2.1e9; // tiles are as fast
    // Complex numbers keep a core busy without being packed: in single precision that is over in half the time.
    const bool wide = is_complex<T> && in_double<T>(flops) >= least_shared;
    const bool low = is_low(x.m, x.n, x.k, way) && x.k <= depth_tile(x.k, sizeof(T));
    // Asked once: a second question looks like a second call that follows, for which a helper would be woken.
    const bool plain = way.nb == 0 && way.variant.empty(), in_parts = plain && is_made_in_parts(crew, x);
    const bool turned = plain && blas::is_turned(x), deep = plain && !compact && flops >= least_shared;
    if (deep && (share_deep(crew, x, flops, 7.0 / 8) || (!turned && share_depth(crew, x, flops)))) return true;
    if (turned) return is_short<T>(crew, flops, true, way, most) && share_rows(crew, x, flops);
    if (!(compact || wide || low || in_parts) || !is_short<T>(crew, flops, true, way, in_parts ? most_in_parts : most))
        return false;
    if (in_parts && share_parts(crew, x, flops)) return true;
    constexpr Index shallow = 64; // C is most of what moves: each has the same columns of it from call to call
    if (compact && x.k <= shallow && share_slices(crew, x, flops)) return true;
    constexpr Flops least_packed = 1e8; // by several, who wait for one another: where rows of B would be packed for it
    constexpr Flops most_packed = 2e7;  // of a longer one tiles are as fast
    const bool fits = (compact || wide) && blas::SmallProduct<T>::fits(x);
    const bool in_place = fits && (flops < least_packed || blas::SmallProduct<T>::suits(x));
    if (in_place) {
        const blas::SmallProduct<T> shared(x, blas::setup<T>(0), true);
        if (share_out<T>(crew, shared, flops)) return true;
    }
    if ((wide ? flops <= most_packed : fits && !in_place) && !is_thin(x.m, x.n, way)) {
        blas::TeamProduct<T> shared(x, blas::setup<T>(0), false, crew.workers());
        if (share_out<T>(crew, shared, flops)) return true;
    }
    return low && !compact && share_slices(crew, x, flops);
}

/// Where it is tasks nevertheless, is it a single one? Not where cores are taken away: that would hold up all of it.
template <Scalar T> bool is_one_task(const Crew& crew, const blas::Product<T>& x)
{
    return crew.workers() == 1 || (blas::SmallProduct<T>::is_tiny(x) && !crew.is_wary());
}

ProductCut thin_cut(const Crew& crew, Index m, Index n, Index k)
{
    // Four pieces for each worker, but not so short that packing the short operand again for each costs more than a tenth.
    const Index length = std::max(m, n), piece = std::max<Index>(length / (4 * crew.workers()) / 32 * 32, 320);
    return m <= n ? ProductCut{m, piece, k} : ProductCut{piece, n, k};
}

/// Do its tasks cut the depth as the whole product does, so that its bits are the same without tasks? Tiles that lie in place
/// have pieces of their own.
template <Scalar T> bool is_cut_as_a_whole(const RoutineOptions& way, Index k)
{
    return way.variant != plain_form(forms::gemm()).name || k <= depth_tile(k, sizeof(T));
}

/// Apart, so that the others are as short as they were.
template <Scalar T>
[[gnu::noinline]] void gemm_on_devices(Crew& crew, Op op_a, Op op_b, Index m, Index n, Index k, T alpha, const T* A, Index lda,
                                       const T* B, Index ldb, T beta, T* C, Index ldc, const RoutineOptions& options)
{
    const Problem problem{.m = m, .n = n, .k = k, .op = op_a, .op_b = op_b, .alpha = alpha, .beta = beta};
    run_on_devices<T>(crew, forms::gemm(), options, problem, {{A, lda}, {B, ldb}, {C, ldc}});
}
/// Likewise. From the host's memory; false: it is not for devices, and nothing was done.
template <Scalar T>
[[gnu::noinline]] bool gemm_with_devices(Crew& crew, const blas::Product<T>& x, Op op_a, Op op_b, Index lda, Index ldb,
                                         const Chosen& how, Flops flops)
{
    const Problem problem{
        .m = x.m, .n = x.n, .k = x.k, .op = op_a, .op_b = op_b, .alpha = x.alpha, .beta = x.beta, .workers = how.grain()};
    const std::initializer_list<Place::Operand> operands{{x.A.data, lda}, {x.B.data, ldb}, {x.C, x.cs}};
    if (!is_for_devices<T>(crew, forms::gemm(), flops, how.options(), problem, operands)) return false;
    lay_out<T>(crew, forms::gemm(), how.options(), problem, operands).run(crew, how.options());
    return true;
}

} // namespace

template <Scalar T>
void gemm(Crew& crew, Op op_a, Op op_b, Index m, Index n, Index k, T alpha, const T* A, Index lda, const T* B, Index ldb, T beta,
          T* C, Index ldc, const RoutineOptions& options)
{
    const InCall call(crew);
    const bool there = require_anywhere(call, TRC_ARGUMENTS_gemm(TRC_CHECK));
    check_options("gemm", options);
    if (m == 0 || n == 0 || ((alpha == T(0) || k == 0) && beta == T(1))) return;
    if (there) return gemm_on_devices(crew, op_a, op_b, m, n, k, alpha, A, lda, B, ldb, beta, C, ldc, options);
    const Chosen how(crew, {"gemm", layout_of_precision<T>, m, n, k}, options);
    if (how.alone()) {
        LoneCrew one(crew);
        return gemm(one, op_a, op_b, m, n, k, alpha, A, lda, B, ldb, beta, C, ldc, options);
    }
    const RoutineOptions& way = how.options();
    const Flops flops = operations::gemm(double(m), double(n), double(k)).flops<T>();
    const blas::Product<T> whole{m, n, k, alpha, blas::general(A, lda, op_a), blas::general(B, ldb, op_b), beta, C, 1, ldc};
    const bool ours = crew.kernels().native(KernelRoutine::gemm), compact = ours && is_compact(whole, way);
    if (flops > least_shared && crew.has_devices() && gemm_with_devices(crew, whole, op_a, op_b, lda, ldb, how, flops)) return;
    if (ours && share_product(crew, whole, way, compact, flops)) return;
    if (how.by_caller() || runs_directly(crew, flops, way) || (how.here() && is_cut_as_a_whole<T>(way, k)))
        return crew.kernels().gemm(op_a, op_b, m, n, k, alpha, A, lda, B, ldb, beta, C, ldc);
    const bool small = compact && is_one_task(crew, whole);
    // Tiles of a deep one with few columns would cut the depth otherwise than those who share it do.
    const bool thin = ours && (is_thin(m, n, way) || (compact && k > depth_tile(k, sizeof(T))) || is_narrow(whole, way));
    Problem problem{.m = m, .n = n, .k = k, .op = op_a, .op_b = op_b, .alpha = alpha, .beta = beta, .workers = how.grain()};
    const std::initializer_list<Place::Operand> operands{{A, lda}, {B, ldb}, {C, ldc}};
    if (small || thin) {
        problem.cut = small ? ProductCut{m, n, k} : thin_cut(crew, m, n, k);
        return void(lay_out<T>(crew, plain_form(forms::gemm()), way, problem, operands).run(crew, way));
    }
    if (runs_by_nodes<T>(crew, way, problem, operands)) return;
    // A compact one was to be shared, and comes here where cores are taken away: packed it would take up to half as long again.
    if (compact) return void(lay_out<T>(crew, plain_form(forms::gemm()), way, problem, operands).run(crew, way));
    lay_out<T>(crew, forms::gemm(), way, problem, operands).run(crew, way, how.here());
}

template <Scalar T>
void symm(Crew& crew, Side side, Uplo uplo, Index m, Index n, T alpha, const T* A, Index lda, const T* B, Index ldb, T beta, T* C,
          Index ldc, const RoutineOptions& options)
{
    const SideProduct<T> call{crew, side, uplo, m, n, alpha, A, lda, B, ldb, beta, C, ldc};
    const InCall in_call(crew);
    call.check(in_call, "symm", options);
    if (call.nothing_to_do()) return;
    if (call.multiply_vectors(blas::Structure::symmetric, KernelRoutine::symm, options)) return;
    const bool devices = call.is_for_devices(forms::symm(), options);
    if (!devices && call.run_shared(blas::Structure::symmetric, KernelRoutine::symm, options)) return;
    if (!devices && is_for_one_core(crew, call.flops(), options))
        return crew.kernels().symm(side, uplo, m, n, alpha, A, lda, B, ldb, beta, C, ldc);
    call.run(forms::symm(), options);
}

template <Scalar T>
void hemm(Crew& crew, Side side, Uplo uplo, Index m, Index n, T alpha, const T* A, Index lda, const T* B, Index ldb, T beta, T* C,
          Index ldc, const RoutineOptions& options)
{
    const SideProduct<T> call{crew, side, uplo, m, n, alpha, A, lda, B, ldb, beta, C, ldc};
    const InCall in_call(crew);
    call.check(in_call, "hemm", options);
    if (call.nothing_to_do()) return;
    if (call.multiply_vectors(blas::Structure::hermitian, KernelRoutine::hemm, options)) return;
    const bool devices = call.is_for_devices(forms::hemm(), options);
    if (!devices && call.run_shared(blas::Structure::hermitian, KernelRoutine::hemm, options)) return;
    if (!devices && is_for_one_core(crew, call.flops(), options))
        return crew.kernels().hemm(side, uplo, m, n, alpha, A, lda, B, ldb, beta, C, ldc);
    call.run(forms::hemm(), options);
}

#define TRC_INSTANTIATE(T)                                                                                                       \
    template void gemm(Crew&, Op, Op, Index, Index, Index, T, const T*, Index, const T*, Index, T, T*, Index,                    \
                       const RoutineOptions&);                                                                                   \
    template void symm(Crew&, Side, Uplo, Index, Index, T, const T*, Index, const T*, Index, T, T*, Index,                       \
                       const RoutineOptions&);                                                                                   \
    template void hemm(Crew&, Side, Uplo, Index, Index, T, const T*, Index, const T*, Index, T, T*, Index, const RoutineOptions&);
TRC_INSTANTIATE(float)
TRC_INSTANTIATE(double)
TRC_INSTANTIATE(std::complex<float>)
TRC_INSTANTIATE(std::complex<double>)
#undef TRC_INSTANTIATE

} // namespace trencadis
