#include "blas/level3/by_halves.hpp"

#include "blas/level3/level3.hpp"
#include "blas/level3/packing.hpp"
#include "blas/level3/product.hpp"
#include "blas/level3/scratch.hpp"

#include <algorithm>
#include <utility>

namespace trencadis::blas {
namespace {

constexpr Index common = 48; ///< whole micro-tiles of every kernel, so that sums are cut alike on every machine

/// B and the triangle, or a diagonal block of it and its part of B.
template <Scalar T> struct Triangular {
    Side side;
    Uplo uplo;
    Op op;
    Diag diag;
    Index m, n;
    T alpha;
    const T* A;
    Index lda;
    T* B;
    Index ldb;

    Index order() const { return side == Side::left ? m : n; }
    Index others() const { return side == Side::left ? n : m; }
    Triangular block(Index first, Index count) const
    {
        Triangular x = *this;
        (side == Side::left ? x.m : x.n) = count;
        x.A += first * (lda + 1);
        x.B += first * (side == Side::left ? 1 : ldb);
        return x;
    }
    void solve() const { trsm(side, uplo, op, diag, m, n, alpha, A, lda, B, ldb); }
    void multiply() const { trmm(side, uplo, op, diag, m, n, alpha, A, lda, B, ldb); }
};

/// One half of B has a part in the other one, by the square of A beside the diagonal blocks.
template <Scalar T> struct Halves {
    Triangular<T> giver, taker;
    Operand<T> square;

    explicit Halves(const Triangular<T>& x)
        : giver(x), taker(x), square(general(x.A + half(x) * (x.uplo == Uplo::lower ? 1 : x.lda), x.lda, x.op))
    {
        const Index first = half(x);
        giver = x.block(0, first), taker = x.block(first, x.order() - first);
        const bool lower = (x.uplo == Uplo::lower) == (x.op == Op::none);
        if ((x.side == Side::left) != lower) std::swap(giver, taker);
    }
    static Index half(const Triangular<T>& x) { return (x.order() / 2 + common - 1) / common * common; }
    /// taker <- factor square giver + beta taker, or with the square from the right.
    void give(T factor, T beta) const
    {
        const bool left = taker.side == Side::left;
        const Operand<T> given = general<T>(giver.B, giver.ldb);
        blas::multiply<T>(
            {taker.m, taker.n, giver.order(), factor, left ? square : given, left ? given : square, beta, taker.B, 1, taker.ldb});
    }
};

template <Scalar T> void solve(const Triangular<T>& x)
{
    if (x.order() <= packed_whole) return x.solve();
    Halves<T> halves(x);
    solve(halves.giver);
    halves.give(T(-1), x.alpha);
    halves.taker.alpha = T(1);
    solve(halves.taker);
}

/// The taker first, while the giver is as it was.
template <Scalar T> void multiply(const Triangular<T>& x)
{
    if (x.order() <= packed_whole) return x.multiply();
    const Halves<T> halves(x);
    multiply(halves.taker);
    halves.give(x.alpha, T(1));
    multiply(halves.giver);
}

/// What the steps ask for, or find and fit themselves into, before the first one changes B.
template <Scalar T> void reserve_buffers(const Triangular<T>& x)
{
    Setup<T> with = setup<T>();
    const MicroKernel<T>& kernel = with.kernel;
    fit_to_memory(with, [&] {
        const Index depth = std::max(with.tree[Loop::pc], packed_whole);
        scratch<Real<T>>(Buffer::triangle, triangle_size(kernel, packed_whole));
        scratch<Real<T>>(Buffer::solution, kernel.left_size(x.others(), packed_whole));
        scratch<Real<T>>(Buffer::left, kernel.left_size(std::max(kernel.mr, x.others()), depth));
        scratch<Real<T>>(Buffer::right, kernel.right_size(depth, std::max(kernel.nr, x.others())));
    });
}

} // namespace

template <Scalar T>
void solve_by_halves(Side side, Uplo uplo, Op op, Diag diag, Index m, Index n, T alpha, const T* A, Index lda, T* B, Index ldb)
{
    const Triangular<T> x{side, uplo, op, diag, m, n, alpha, A, lda, B, ldb};
    if (m <= 0 || n <= 0 || alpha == T(0)) return x.solve();
    reserve_buffers(x);
    solve(x);
}

template <Scalar T>
void multiply_by_halves(Side side, Uplo uplo, Op op, Diag diag, Index m, Index n, T alpha, const T* A, Index lda, T* B, Index ldb)
{
    const Triangular<T> x{side, uplo, op, diag, m, n, alpha, A, lda, B, ldb};
    if (m <= 0 || n <= 0 || alpha == T(0)) return x.multiply();
    reserve_buffers(x);
    multiply(x);
}

#define TRC_INSTANTIATE(T)                                                                                                       \
    template void solve_by_halves(Side, Uplo, Op, Diag, Index, Index, T, const T*, Index, T*, Index);                            \
    template void multiply_by_halves(Side, Uplo, Op, Diag, Index, Index, T, const T*, Index, T*, Index);
TRC_INSTANTIATE(float)
TRC_INSTANTIATE(double)
TRC_INSTANTIATE(std::complex<float>)
TRC_INSTANTIATE(std::complex<double>)
#undef TRC_INSTANTIATE

} // namespace trencadis::blas
