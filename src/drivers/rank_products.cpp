#include "algorithms/rank_2k.hpp"
#include "algorithms/rank_k.hpp"
#include "algorithms/signatures.hpp"
#include "blas/level3/team_product.hpp"
#include "drivers/linear_algebra.hpp"
#include "drivers/operands.hpp"
#include "drivers/packed_calls.hpp"
#include "drivers/sharing.hpp"
#include "matrix/operations.hpp"

namespace trencadis {
namespace {

/// Nothing is added and C stays as it is.
template <class Alpha, class Beta> bool leaves_alone(Index n, Index k, Alpha alpha, Beta beta)
{
    return n == 0 || ((alpha == Alpha(0) || k == 0) && beta == Beta(1));
}

/// One triangle of alpha op(A) op(A)^f + beta C by the caller and whoever is awake; f is `mirror`.
template <Scalar T>
bool share_rank_k(Crew& crew, Uplo uplo, Op op, Op mirror, Index n, Index k, T alpha, const T* A, Index lda, T beta, T* C,
                  Index ldc)
{
    const blas::Operand<T> left = blas::general(A, lda, op);
    const blas::Product<T> all{n, n, k, alpha, left, left.op(mirror), beta, C, 1, ldc, blas::part_of(uplo)};
    blas::TeamProduct<T> shared(all, blas::setup<T>(0), mirror == Op::conj_trans);
    return share_out(crew, shared);
}

/// One triangle of alpha op(A) op(B)^f + beta C on packed tiles; f is `mirror`.
template <Scalar T>
PackedProduct<T> rank_product(Uplo uplo, Op op, Op mirror, Index n, Index k, T alpha, const T* A, Index lda, const T* B,
                              Index ldb, T beta, T* C, Index ldc)
{
    PackedProduct<T> product{
        n, n, k, alpha, blas::general(A, lda, op), blas::general(B, ldb, op).op(mirror), beta, {C, n, n, ldc}, part_of(uplo)};
    product.real_diagonal = mirror == Op::conj_trans;
    return product;
}

} // namespace

template <Scalar T>
void syrk(Crew& crew, Uplo uplo, Op op, Index n, Index k, T alpha, const T* A, Index lda, T beta, T* C, Index ldc,
          const RoutineOptions& options)
{
    argument::require(TRC_ARGUMENTS_syrk(TRC_CHECK));
    check_options("syrk", options);
    if (leaves_alone(n, k, alpha, beta)) return;
    if (is_short(crew, operations::rank_k(double(n), double(k)).flops<T>(), crew.kernels().native(KernelRoutine::syrk),
                 options) &&
        share_rank_k(crew, uplo, op, Op::trans, n, k, alpha, A, lda, beta, C, ldc))
        return;
    if (runs_directly(crew, operations::rank_k(double(n), double(k)).flops<T>(), options))
        return crew.kernels().syrk(uplo, op, n, k, alpha, A, lda, beta, C, ldc);
    if (runs_packed(crew, forms::syrk(), options) &&
        run_packed(crew, options, {rank_product(uplo, op, Op::trans, n, k, alpha, A, lda, A, lda, beta, C, ldc)}))
        return;
    const auto [nb, kb] = product_tiles<T>(crew, n, n, k, options);
    const TileMatrix<T> lower = lower_triangle(uplo, Op::trans, C, n, ldc, nb), left = operand(op, A, lda, n, k, nb, kb);
    run_routine(crew, options, [&](Flow& flow) { syrk(flow, alpha, left, beta, lower); });
}

template <Scalar T>
void herk(Crew& crew, Uplo uplo, Op op, Index n, Index k, Real<T> alpha, const T* A, Index lda, Real<T> beta, T* C, Index ldc,
          const RoutineOptions& options)
{
    argument::require(TRC_ARGUMENTS_herk(TRC_CHECK));
    check_options("herk", options);
    if (leaves_alone(n, k, alpha, beta)) return;
    if (is_short(crew, operations::rank_k(double(n), double(k)).flops<T>(), crew.kernels().native(KernelRoutine::herk),
                 options) &&
        share_rank_k(crew, uplo, op, herm_op<T>, n, k, T(alpha), A, lda, T(beta), C, ldc))
        return;
    if (runs_directly(crew, operations::rank_k(double(n), double(k)).flops<T>(), options))
        return crew.kernels().herk(uplo, op, n, k, alpha, A, lda, beta, C, ldc);
    if (runs_packed(crew, forms::herk(), options) &&
        run_packed(crew, options, {rank_product(uplo, op, herm_op<T>, n, k, T(alpha), A, lda, A, lda, T(beta), C, ldc)}))
        return;
    const auto [nb, kb] = product_tiles<T>(crew, n, n, k, options);
    const TileMatrix<T> lower = lower_triangle(uplo, herm_op<T>, C, n, ldc, nb), left = operand(op, A, lda, n, k, nb, kb);
    run_routine(crew, options, [&](Flow& flow) { herk(flow, alpha, left, beta, lower); });
}

template <Scalar T>
void syr2k(Crew& crew, Uplo uplo, Op op, Index n, Index k, T alpha, const T* A, Index lda, const T* B, Index ldb, T beta, T* C,
           Index ldc, const RoutineOptions& options)
{
    argument::require(TRC_ARGUMENTS_syr2k(TRC_CHECK));
    check_options("syr2k", options);
    if (leaves_alone(n, k, alpha, beta)) return;
    if (runs_directly(crew, operations::rank_2k(double(n), double(k)).flops<T>(), options))
        return crew.kernels().syr2k(uplo, op, n, k, alpha, A, lda, B, ldb, beta, C, ldc);
    if (runs_packed(crew, forms::syr2k(), options) &&
        run_packed(crew, options,
                   {rank_product(uplo, op, Op::trans, n, k, alpha, A, lda, B, ldb, beta, C, ldc),
                    rank_product(uplo, op, Op::trans, n, k, alpha, B, ldb, A, lda, T(1), C, ldc)}))
        return;
    const auto [nb, kb] = product_tiles<T>(crew, n, n, k, options);
    const TileMatrix<T> lower = lower_triangle(uplo, Op::trans, C, n, ldc, nb);
    const TileMatrix<T> a = operand(op, A, lda, n, k, nb, kb), b = operand(op, B, ldb, n, k, nb, kb);
    run_routine(crew, options, [&](Flow& flow) { syr2k(flow, alpha, a, b, beta, lower); });
}

template <Scalar T>
void her2k(Crew& crew, Uplo uplo, Op op, Index n, Index k, T alpha, const T* A, Index lda, const T* B, Index ldb, Real<T> beta,
           T* C, Index ldc, const RoutineOptions& options)
{
    argument::require(TRC_ARGUMENTS_her2k(TRC_CHECK));
    check_options("her2k", options);
    if (leaves_alone(n, k, alpha, beta)) return;
    if (runs_directly(crew, operations::rank_2k(double(n), double(k)).flops<T>(), options))
        return crew.kernels().her2k(uplo, op, n, k, alpha, A, lda, B, ldb, beta, C, ldc);
    if (runs_packed(crew, forms::her2k(), options) &&
        run_packed(crew, options,
                   {rank_product(uplo, op, herm_op<T>, n, k, alpha, A, lda, B, ldb, T(beta), C, ldc),
                    rank_product(uplo, op, herm_op<T>, n, k, conjugate(alpha), B, ldb, A, lda, T(1), C, ldc)}))
        return;
    const auto [nb, kb] = product_tiles<T>(crew, n, n, k, options);
    const TileMatrix<T> lower = lower_triangle(uplo, herm_op<T>, C, n, ldc, nb);
    const TileMatrix<T> a = operand(op, A, lda, n, k, nb, kb), b = operand(op, B, ldb, n, k, nb, kb);
    run_routine(crew, options, [&](Flow& flow) { her2k(flow, alpha, a, b, beta, lower); });
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
