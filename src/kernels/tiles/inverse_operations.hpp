#pragma once
#include "graph/flow.hpp"
#include "kernels/tiles/guard.hpp"
#include "kernels/tiles/operands.hpp"
#include "kernels/tiles/tile_access.hpp"
#include "matrix/conjugate.hpp"
#include "matrix/operations.hpp"

#include <algorithm>
#include <vector>

/// Tile operations of inverses, on lower triangles: see kernels/tiles/tile_operations.hpp.
namespace trencadis::task {

/// Lower triangles of small order are inverted by columns, larger ones by halves with products of any provider.
template <Scalar T> struct TriangleInverse {
    static constexpr Index leaf = 16;
    const KernelProvider& kernels;
    Uplo uplo;
    Diag diag;

    /// A <- A^-1. The off-diagonal block becomes -A22^-1 A21 A11^-1.
    void run(Index n, T* A, Index lda) const
    {
        if (n <= leaf) return by_columns(n, A, lda);
        const Index n1 = (n / 2 + 7) / 8 * 8, n2 = n - n1;
        T* const A22 = A + n1 + n1 * lda;
        T* const off = uplo == Uplo::lower ? A + n1 : A + n1 * lda;
        const bool lower = uplo == Uplo::lower;
        const Index rows = lower ? n2 : n1, cols = lower ? n1 : n2;
        kernels.trsm(Side::right, uplo, Op::none, diag, rows, cols, T(-1), lower ? A : A22, lda, off, lda);
        kernels.trsm(Side::left, uplo, Op::none, diag, rows, cols, T(1), lower ? A22 : A, lda, off, lda);
        run(n1, A, lda);
        run(n2, A22, lda);
    }

private:
    /// Column j of the inverse is -a_jj^-1 times the inverse below (above) times the column, LAPACK's trti2.
    void by_columns(Index n, T* A, Index lda) const
    {
        const bool lower = uplo == Uplo::lower;
        for (Index step = 0; step < n; ++step) {
            const Index j = lower ? n - 1 - step : step;
            T* const column = A + j * lda;
            T factor(-1);
            if (diag == Diag::non_unit) column[j] = T(1) / column[j], factor = -column[j];
            T* const rest = lower ? column + j + 1 : column;
            T* const inverse = lower ? A + (j + 1) * (lda + 1) : A;
            kernels.trmm(Side::left, uplo, Op::none, diag, lower ? n - 1 - j : j, 1, factor, inverse, lda, rest, lda);
        }
    }
};

template <Scalar T> struct TrtriArgs {
    Index n;
    Uplo uplo;
    Diag diag;
    Guard guard;

    Flops flops() const { return operations::trtri(double(n)).template flops<T>(); }
    void run(TaskContext& context)
    {
        if (guard.stopped(context)) return;
        const Stored<T> A = stored<T>(context, 0);
        TriangleInverse<T>{kernels_of(context), uplo, diag}.run(n, A.data, A.ld);
    }
};

/// L^H L, or U U^H, of a triangle in its own place: small ones by their elements, larger ones by halves.
template <Scalar T> struct TriangleProduct {
    static constexpr Index leaf = 16;
    const KernelProvider& kernels;
    Uplo uplo;

    void run(Index n, T* A, Index lda) const
    {
        if (n <= leaf) return by_elements(n, A, lda);
        const Index n1 = (n / 2 + 7) / 8 * 8, n2 = n - n1;
        T* const A22 = A + n1 + n1 * lda;
        T* const off = uplo == Uplo::lower ? A + n1 : A + n1 * lda;
        const bool lower = uplo == Uplo::lower;
        run(n1, A, lda);
        kernels.herk(uplo, lower ? herm_op<T> : Op::none, n1, n2, Real<T>(1), off, lda, Real<T>(1), A, lda);
        if (lower) kernels.trmm(Side::left, uplo, herm_op<T>, Diag::non_unit, n2, n1, T(1), A22, lda, off, lda);
        else kernels.trmm(Side::right, uplo, herm_op<T>, Diag::non_unit, n1, n2, T(1), A22, lda, off, lda);
        run(n2, A22, lda);
    }

private:
    /// Element (i, j) needs what lies below (right of) it only, so that they are replaced from the top left on.
    void by_elements(Index n, T* A, Index lda) const
    {
        const auto at = [&](Index i, Index j) -> T& { return uplo == Uplo::lower ? A[i + j * lda] : A[j + i * lda]; };
        for (Index i = 0; i < n; ++i)
            for (Index j = 0; j <= i; ++j) {
                T sum(0);
                for (Index k = i; k < n; ++k) sum += conjugate(at(k, i)) * at(k, j);
                at(i, j) = i == j ? T(std::real(sum)) : sum;
            }
    }
};

template <Scalar T> struct LauumArgs {
    Index n;
    Uplo uplo;
    Guard guard;

    Flops flops() const { return operations::lauum(double(n)).template flops<T>(); }
    void run(TaskContext& context)
    {
        if (guard.stopped(context)) return;
        const Stored<T> A = stored<T>(context, 0);
        TriangleProduct<T>{kernels_of(context), uplo}.run(n, A.data, A.ld);
    }
};

/// Lower triangle of A <- that of L^H L.
template <Scalar T> void lauum(Flow& flow, Tile<T> A, Guard guard = {})
{
    static constexpr Codelet codelet = codelet_of<LauumArgs<T>>("lauum");
    flow.submit(codelet, LauumArgs<T>{A.rows, A.op == Op::none ? Uplo::lower : Uplo::upper, guard}, {readwrite(A)});
}

/// Lower triangle of A <- its inverse; a zero on the diagonal gives infinities.
template <Scalar T> void trtri(Flow& flow, Diag diag, Tile<T> A, Guard guard = {})
{
    static constexpr Codelet codelet = codelet_of<TrtriArgs<T>>("trtri");
    flow.submit(codelet, TrtriArgs<T>{A.rows, A.op == Op::none ? Uplo::lower : Uplo::upper, diag, guard}, {readwrite(A)});
}

/// Reports the first zero among the n elements of diagonals of `mb` rows.
template <Scalar T> struct FindZeroArgs {
    Index n, mb;

    void run(TaskContext& context)
    {
        for (Index k = 0; k * mb < n; ++k) {
            const Stored<const T> A = stored<const T>(context, int(k));
            for (Index i = 0; i < std::min(mb, n - k * mb); ++i)
                if (A.data[i + i * A.ld] == T(0)) return context.outcome().report(k * mb + i + 1);
        }
    }
};

/// Reports the first zero on the diagonal of A, which is not written. All diagonal tiles are declared as if they were: whatever
/// is submitted next on them comes afterwards, and so does what depends on that.
template <Scalar T> void find_zero(Flow& flow, TileMatrix<T> A)
{
    static constexpr Codelet codelet = [] {
        Codelet look = codelet_of<FindZeroArgs<T>>("find_zero");
        look.counted = false;
        return look;
    }();
    std::vector<Access> accesses;
    for (Index k = 0; k < A.tiles(); ++k) accesses.push_back(readwrite(A(k, k)));
    flow.submit(codelet, FindZeroArgs<T>{A.rows(), A.tiles() ? A(0, 0).rows : 1}, accesses);
}

} // namespace trencadis::task
