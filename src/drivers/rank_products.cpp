#include "algorithms/cutting.hpp"
#include "algorithms/signatures.hpp"
#include "blas/level3/diagonal.hpp"
#include "blas/level3/level3.hpp"
#include "blas/level3/team_product.hpp"
#include "drivers/deep.hpp"
#include "drivers/laid_out.hpp"
#include "drivers/linear_algebra.hpp"
#include "drivers/sharing.hpp"
#include "matrix/operations.hpp"

#include <cmath>

namespace trencadis {
namespace {

/// Nothing is added and C stays as it is.
template <class Alpha, class Beta> bool leaves_alone(Index n, Index k, Alpha alpha, Beta beta)
{
    return n == 0 || ((alpha == Alpha(0) || k == 0) && beta == Beta(1));
}

/// One triangle of alpha op(A) op(A)^f + beta C, n x n; f is `mirror`.
template <Scalar T> struct RankK {
    Uplo uplo;
    Op op, mirror;
    Index n, k;
    T alpha;
    const T* A;
    Index lda;
    T beta;
    T* C;
    Index ldc;

    Flops flops() const { return operations::rank_k(double(n), double(k)).flops<T>(); }
    blas::Product<T> product() const
    {
        const blas::Operand<T> left = blas::general(A, lda, op);
        return {n, n, k, alpha, left, left.op(mirror), beta, C, 1, ldc, blas::part_of(uplo)};
    }
    /// On one core, rows [first, first + count) of a lower triangle, or columns of an upper one.
    void multiply(Index first, Index count) const
    {
        const bool lower = uplo == Uplo::lower;
        const T* const own = op == Op::none ? A + first : A + first * lda;
        T* const corner = C + first * (ldc + 1);
        const Op other = op == Op::none ? mirror : Op::none;
        if (lower && first > 0) blas::gemm(op, other, count, first, k, alpha, own, lda, A, lda, beta, C + first, ldc);
        if (!lower && first > 0) blas::gemm(op, other, first, count, k, alpha, A, lda, own, lda, beta, C + first * ldc, ldc);
        if (mirror == Op::trans) return blas::syrk(uplo, op, count, k, alpha, own, lda, beta, corner, ldc);
        blas::herk(uplo, op, count, k, std::real(alpha), own, lda, std::real(beta), corner, ldc);
    }
    /// Where a core's part begins: each has as much to do as any other.
    Index begin_of(Index part, int parts) const
    {
        constexpr double unit = 8;
        return part == parts ? n : Index(std::round(double(n) * std::sqrt(double(part) / parts) / unit) * unit);
    }
};

/// Of a triangle, for one core.
template <Scalar T> constexpr Index narrowest_part = is_complex<T> ? 24 : 48;

/// By the caller and others: together, or each a part by itself, for which it packs what it reads. So it is where cores are far
/// from each other, and with complex numbers, of which packing is little of it; not where cores are unequal or taken away.
template <Scalar T> bool share_rank_k(Crew& crew, const RankK<T>& x)
{
    const int cores = crew.workers();
    const bool apart = is_complex<T> ? crew.is_even() && !crew.is_wary() : are_far_and_even(crew);
    if (x.n >= narrowest_part<T> * cores && apart) {
        const auto compute = [&](Index part, Index count) {
            const Index first = x.begin_of(part, cores), end = x.begin_of(part + count, cores);
            if (first < end) x.multiply(first, end - first);
        };
        return share_out<T>(crew, Slices(cores, 1, compute), x.flops());
    }
    blas::TeamProduct<T> shared(x.product(), blas::setup<T>(0), x.mirror == Op::conj_trans, cores);
    return share_out<T>(crew, shared, x.flops());
}

/// A deep one with a small C. False: nothing was done, but to a diagonal that every way makes real first.
template <Scalar T> bool share_deep(Crew& crew, const RankK<T>& x, bool ours, const RoutineOptions& options)
{
    if (!ours || options.nb != 0 || !options.variant.empty()) return false;
    if (x.mirror == Op::conj_trans) blas::make_diagonal_real(x.n, x.C, x.ldc);
    // Parts of the triangle are as fast where pieces are few, if they are not narrow.
    const double busy = x.n < narrowest_part<T> * crew.workers() ? 3.0 / 4 : 7.0 / 8;
    if (!share_deep(crew, x.product(), x.flops(), busy)) return false;
    if (x.mirror == Op::conj_trans) blas::make_diagonal_real(x.n, x.C, x.ldc);
    return true;
}

/// As tasks. One worker's are of large tiles where they lie, which kernels cut up better than tasks would; the call may be
/// stopped between them.
template <Scalar T>
void run_as_tasks(Crew& crew, forms::Forms all, const RoutineOptions& options, const Problem& problem,
                  std::initializer_list<Place::Operand> operands)
{
    constexpr Index large = 1024;
    const bool alone = crew.workers() == 1 && options.nb == 0 && options.variant.empty() && !crew.has_devices();
    if (!alone || !form_for(crew, all, options).packs_images)
        return void(lay_out<T>(crew, all, options, problem, operands).run(crew, options));
    const RoutineOptions coarse{balanced(problem.n, large, 8), options.interrupted, std::string(plain_form(all).name)};
    lay_out<T>(crew, all, coarse, problem, operands).run(crew, coarse);
}

Problem problem_of(Uplo uplo, Op op, Index n, Index k, std::complex<double> alpha, std::complex<double> beta)
{
    return {.m = n, .n = n, .k = k, .uplo = uplo, .op = op, .alpha = alpha, .beta = beta};
}

} // namespace

template <Scalar T>
void syrk(Crew& crew, Uplo uplo, Op op, Index n, Index k, T alpha, const T* A, Index lda, T beta, T* C, Index ldc,
          const RoutineOptions& options)
{
    const InCall call(crew);
    require(call, TRC_ARGUMENTS_syrk(TRC_CHECK));
    check_options("syrk", options);
    if (leaves_alone(n, k, alpha, beta)) return;
    const Flops flops = operations::rank_k(double(n), double(k)).flops<T>();
    const Problem problem = problem_of(uplo, op, n, k, alpha, beta);
    const std::initializer_list<Place::Operand> operands{{A, lda}, {C, ldc}};
    const bool devices = is_for_devices<T>(crew, forms::syrk(), flops, options, problem, operands);
    const RankK<T> whole{uplo, op, Op::trans, n, k, alpha, A, lda, beta, C, ldc};
    const bool ours = !devices && crew.kernels().native(KernelRoutine::syrk);
    if (share_deep(crew, whole, ours, options)) return;
    if (is_short<T>(crew, flops, ours, options) && share_rank_k(crew, whole)) return;
    if (!devices && is_for_one_core(crew, flops, options))
        return crew.kernels().syrk(uplo, op, n, k, alpha, A, lda, beta, C, ldc);
    run_as_tasks<T>(crew, forms::syrk(), options, problem, operands);
}

template <Scalar T>
void herk(Crew& crew, Uplo uplo, Op op, Index n, Index k, Real<T> alpha, const T* A, Index lda, Real<T> beta, T* C, Index ldc,
          const RoutineOptions& options)
{
    const InCall call(crew);
    require(call, TRC_ARGUMENTS_herk(TRC_CHECK));
    check_options("herk", options);
    if (leaves_alone(n, k, alpha, beta)) return;
    const Flops flops = operations::rank_k(double(n), double(k)).flops<T>();
    const Problem problem = problem_of(uplo, op, n, k, alpha, beta);
    const std::initializer_list<Place::Operand> operands{{A, lda}, {C, ldc}};
    const bool devices = is_for_devices<T>(crew, forms::herk(), flops, options, problem, operands);
    const RankK<T> whole{uplo, op, herm_op<T>, n, k, T(alpha), A, lda, T(beta), C, ldc};
    const bool ours = !devices && crew.kernels().native(KernelRoutine::herk);
    if (share_deep(crew, whole, ours, options)) return;
    if (is_short<T>(crew, flops, ours, options) && share_rank_k(crew, whole)) return;
    if (!devices && is_for_one_core(crew, flops, options))
        return crew.kernels().herk(uplo, op, n, k, alpha, A, lda, beta, C, ldc);
    run_as_tasks<T>(crew, forms::herk(), options, problem, operands);
}

template <Scalar T>
void syr2k(Crew& crew, Uplo uplo, Op op, Index n, Index k, T alpha, const T* A, Index lda, const T* B, Index ldb, T beta, T* C,
           Index ldc, const RoutineOptions& options)
{
    const InCall call(crew);
    require(call, TRC_ARGUMENTS_syr2k(TRC_CHECK));
    check_options("syr2k", options);
    if (leaves_alone(n, k, alpha, beta)) return;
    const Flops flops = operations::rank_2k(double(n), double(k)).flops<T>();
    const Problem problem = problem_of(uplo, op, n, k, alpha, beta);
    const std::initializer_list<Place::Operand> operands{{A, lda}, {B, ldb}, {C, ldc}};
    if (!is_for_devices<T>(crew, forms::syr2k(), flops, options, problem, operands) && is_for_one_core(crew, flops, options))
        return crew.kernels().syr2k(uplo, op, n, k, alpha, A, lda, B, ldb, beta, C, ldc);
    run_as_tasks<T>(crew, forms::syr2k(), options, problem, operands);
}

template <Scalar T>
void her2k(Crew& crew, Uplo uplo, Op op, Index n, Index k, T alpha, const T* A, Index lda, const T* B, Index ldb, Real<T> beta,
           T* C, Index ldc, const RoutineOptions& options)
{
    const InCall call(crew);
    require(call, TRC_ARGUMENTS_her2k(TRC_CHECK));
    check_options("her2k", options);
    if (leaves_alone(n, k, alpha, beta)) return;
    const Flops flops = operations::rank_2k(double(n), double(k)).flops<T>();
    const Problem problem = problem_of(uplo, op, n, k, alpha, beta);
    const std::initializer_list<Place::Operand> operands{{A, lda}, {B, ldb}, {C, ldc}};
    if (!is_for_devices<T>(crew, forms::her2k(), flops, options, problem, operands) && is_for_one_core(crew, flops, options))
        return crew.kernels().her2k(uplo, op, n, k, alpha, A, lda, B, ldb, beta, C, ldc);
    run_as_tasks<T>(crew, forms::her2k(), options, problem, operands);
}

#define TRC_INSTANTIATE(T)                                                                                                       \
    template void syrk(Crew&, Uplo, Op, Index, Index, T, const T*, Index, T, T*, Index, const RoutineOptions&);                  \
    template void herk(Crew&, Uplo, Op, Index, Index, Real<T>, const T*, Index, Real<T>, T*, Index, const RoutineOptions&);      \
    template void syr2k(Crew&, Uplo, Op, Index, Index, T, const T*, Index, const T*, Index, T, T*, Index,                        \
                        const RoutineOptions&);                                                                                  \
    template void her2k(Crew&, Uplo, Op, Index, Index, T, const T*, Index, const T*, Index, Real<T>, T*, Index,                  \
                        const RoutineOptions&);
TRC_INSTANTIATE(float)
TRC_INSTANTIATE(double)
TRC_INSTANTIATE(std::complex<float>)
TRC_INSTANTIATE(std::complex<double>)
#undef TRC_INSTANTIATE

} // namespace trencadis
