#include "algorithms/gemm.hpp"
#include "algorithms/rank_k.hpp"
#include "algorithms/tile_size.hpp"
#include "algorithms/trsm.hpp"
#include "matrix/conjugate.hpp"
#include "session/arguments.hpp"
#include "session/linear_algebra.hpp"
#include "session/routine.hpp"

namespace trencadis {
namespace {

/// op(A), `rows` x `cols`, as tiles mb x nb of the memory A, which holds it transposed or not.
template <Scalar T> TileMatrix<T> operand(Op op, const T* A, Index lda, Index rows, Index cols, Index mb, Index nb)
{
    if (op == Op::none) return readable(A, rows, cols, lda, mb, nb);
    return readable(A, cols, rows, lda, nb, mb).with(op);
}

/// Rows of the memory that holds op(A).
Index stored_rows(Op op, Index rows, Index cols) { return op == Op::none ? rows : cols; }

struct ProductTiles {
    Index nb, kb;
};
template <Scalar T> ProductTiles product_tiles(const Session& session, Index m, Index n, Index k, const RoutineOptions& options)
{
    if (options.nb) return {options.nb, options.nb};
    return {product_tile(m, n, sizeof(T), session.workers()), depth_tile(k, sizeof(T))};
}

template <Scalar T>
void check_rank_k(Op op, Op transposed, Index n, Index k, const T* A, Index lda, T* C, Index ldc, std::string_view routine,
                  const RoutineOptions& options)
{
    Arguments::rank_k_op<T>(2, op, transposed);
    Arguments::size(3, "n", n);
    Arguments::size(4, "k", k);
    const Index rows = stored_rows(op, n, k);
    Arguments::matrix(6, "a", A, rows, n + k - rows, lda, sizeof(T), 7);
    Arguments::matrix(9, "c", C, n, n, ldc, sizeof(T), 10);
    check_options(routine, options);
}

template <Scalar T> Flops rank_k_flops(Index n, Index k) { return flops_per_fma<T> / 2 * double(n) * double(n + 1) * double(k); }

/// A triangular solve with B on the right of A, whatever the side, as the algorithm wants it.
template <Scalar T> struct TriangularSystem {
    TileMatrix<T> A, B;
    Uplo uplo;
    T alpha;
};
template <Scalar T> TriangularSystem<T> from_left(Side side, Uplo uplo, Op op, T alpha, TileMatrix<T> A, TileMatrix<T> B)
{
    const Uplo seen = op == Op::none ? uplo : opposite(uplo);
    if (side == Side::left) return {A.with(op), B, seen, alpha};
    // X op(A) = alpha B is f(op(A)) f(X) = f(alpha) f(B), with the transposition f that is not at odds with op.
    const Op f = op == Op::trans ? Op::trans : herm_op<T>;
    return {A.with(op).with(f), B.with(f), opposite(seen), seen_through(f, alpha)};
}

} // namespace

template <Scalar T>
void gemm(Session& session, Op op_a, Op op_b, Index m, Index n, Index k, T alpha, const T* A, Index lda, const T* B, Index ldb,
          T beta, T* C, Index ldc, const RoutineOptions& options)
{
    Arguments::size(3, "m", m);
    Arguments::size(4, "n", n);
    Arguments::size(5, "k", k);
    const Index rows_a = stored_rows(op_a, m, k), rows_b = stored_rows(op_b, k, n);
    Arguments::matrix(7, "a", A, rows_a, m + k - rows_a, lda, sizeof(T), 8);
    Arguments::matrix(9, "b", B, rows_b, k + n - rows_b, ldb, sizeof(T), 10);
    Arguments::matrix(12, "c", C, m, n, ldc, sizeof(T), 13);
    check_options("gemm", options);
    if (m == 0 || n == 0 || ((alpha == T(0) || k == 0) && beta == T(1))) return;
    if (runs_directly(session, flops_per_fma<T> * double(m) * double(n) * double(k), options))
        return session.kernels().gemm(op_a, op_b, m, n, k, alpha, A, lda, B, ldb, beta, C, ldc);
    const auto [nb, kb] = product_tiles<T>(session, m, n, k, options);
    const TileMatrix<T> left = operand(op_a, A, lda, m, k, nb, kb), right = operand(op_b, B, ldb, k, n, kb, nb);
    const TileMatrix<T> result({C, m, n, ldc}, nb, nb);
    run_routine(session, options, [&](TaskFlow& flow) { gemm(flow, session.kernels(), alpha, left, right, beta, result); });
}

template <Scalar T>
void syrk(Session& session, Uplo uplo, Op op, Index n, Index k, T alpha, const T* A, Index lda, T beta, T* C, Index ldc,
          const RoutineOptions& options)
{
    check_rank_k(op, Op::trans, n, k, A, lda, C, ldc, "syrk", options);
    if (n == 0 || ((alpha == T(0) || k == 0) && beta == T(1))) return;
    if (runs_directly(session, rank_k_flops<T>(n, k), options))
        return session.kernels().syrk(uplo, op, n, k, alpha, A, lda, beta, C, ldc);
    const auto [nb, kb] = product_tiles<T>(session, n, n, k, options);
    const TileMatrix<T> lower = TileMatrix<T>({C, n, n, ldc}, nb, nb).with(uplo == Uplo::lower ? Op::none : Op::trans);
    const TileMatrix<T> left = operand(op, A, lda, n, k, nb, kb);
    run_routine(session, options, [&](TaskFlow& flow) { syrk(flow, session.kernels(), alpha, left, beta, lower); });
}

template <Scalar T>
void herk(Session& session, Uplo uplo, Op op, Index n, Index k, Real<T> alpha, const T* A, Index lda, Real<T> beta, T* C,
          Index ldc, const RoutineOptions& options)
{
    check_rank_k(op, Op::conj_trans, n, k, A, lda, C, ldc, "herk", options);
    if (n == 0 || ((alpha == 0 || k == 0) && beta == 1)) return;
    if (runs_directly(session, rank_k_flops<T>(n, k), options))
        return session.kernels().herk(uplo, op, n, k, alpha, A, lda, beta, C, ldc);
    const auto [nb, kb] = product_tiles<T>(session, n, n, k, options);
    const TileMatrix<T> lower = TileMatrix<T>({C, n, n, ldc}, nb, nb).with(uplo == Uplo::lower ? Op::none : herm_op<T>);
    const TileMatrix<T> left = operand(op, A, lda, n, k, nb, kb);
    run_routine(session, options, [&](TaskFlow& flow) { herk(flow, session.kernels(), alpha, left, beta, lower); });
}

template <Scalar T>
void trsm(Session& session, Side side, Uplo uplo, Op op, Diag diag, Index m, Index n, T alpha, const T* A, Index lda, T* B,
          Index ldb, const RoutineOptions& options)
{
    Arguments::size(5, "m", m);
    Arguments::size(6, "n", n);
    const Index order = side == Side::left ? m : n, others = side == Side::left ? n : m;
    Arguments::matrix(8, "a", A, order, order, lda, sizeof(T), 9);
    Arguments::matrix(10, "b", B, m, n, ldb, sizeof(T), 11);
    check_options("trsm", options);
    if (m == 0 || n == 0) return;
    if (runs_directly(session, flops_per_fma<T> / 2 * double(order) * double(order) * double(others), options))
        return session.kernels().trsm(side, uplo, op, diag, m, n, alpha, A, lda, B, ldb);
    const Index nb = options.nb ? options.nb : product_tile(order, others, sizeof(T), session.workers());
    const auto system =
        from_left(side, uplo, op, alpha, readable(A, order, order, lda, nb, nb), TileMatrix<T>({B, m, n, ldb}, nb, nb));
    run_routine(session, options,
                [&](TaskFlow& flow) { trsm(flow, session.kernels(), system.uplo, diag, system.alpha, system.A, system.B); });
}

#define TRC_INSTANTIATE(T)                                                                                                       \
    template void gemm(Session&, Op, Op, Index, Index, Index, T, const T*, Index, const T*, Index, T, T*, Index,                 \
                       const RoutineOptions&);                                                                                   \
    template void syrk(Session&, Uplo, Op, Index, Index, T, const T*, Index, T, T*, Index, const RoutineOptions&);               \
    template void herk(Session&, Uplo, Op, Index, Index, Real<T>, const T*, Index, Real<T>, T*, Index, const RoutineOptions&);   \
    template void trsm(Session&, Side, Uplo, Op, Diag, Index, Index, T, const T*, Index, T*, Index, const RoutineOptions&);
TRC_INSTANTIATE(float)
TRC_INSTANTIATE(double)
TRC_INSTANTIATE(std::complex<float>)
TRC_INSTANTIATE(std::complex<double>)
#undef TRC_INSTANTIATE

} // namespace trencadis
