#pragma once
#include "kernels/providers/provider.hpp"

#include <algorithm>
#include <utility>
#include <vector>

/// LU of a triangle on top of a tile with partial pivoting, by inner blocks of columns, and its application: PLASMA's tstrf and
/// ssssm on the kernels of any provider. Quintana-Orti, van de Geijn 2008; Buttari, Langou, Kurzak, Dongarra 2009.
namespace trencadis {

/// One inner block: the interchanges of `width` rows of the triangle, the first being row 1, with rows of the tile, which follow
/// them; L's unit triangle that belongs to the former, and what belongs to the latter.
template <Scalar T> struct PairBlock {
    Index width;
    const Index* pivots;
    const T* top;
    Index ldt;
    const T* below;
    Index ldb;
};

/// [C; D] <- L^-1 P [C; D], D m x n.
template <Scalar T>
void apply_pair_block(const KernelProvider& kernels, const PairBlock<T>& by, Index m, Index n, T* C, Index ldc, T* D, Index ldd)
{
    for (Index j = 0; j < n; ++j) {
        T *const c = C + j * ldc, *const d = D + j * ldd;
        for (Index i = 0; i < by.width; ++i)
            if (const Index p = by.pivots[i] - 1; p != i) std::swap(c[i], p < by.width ? c[p] : d[p - by.width]);
    }
    kernels.trsm(Side::left, Uplo::lower, Op::none, Diag::unit, by.width, n, T(1), by.top, by.ldt, C, ldc);
    kernels.gemm(Op::none, Op::none, m, n, by.width, T(-1), by.below, by.ldb, C, ldc, T(1), D, ldd);
}

/// What tstrf leaves beside its tiles: the interchanges of each inner block, and triangles, ib x columns.
template <Scalar T> struct PairFactors {
    Index* pivots;
    T* triangles;
    Index ib, columns;

    /// As they lie together: the interchanges, then the triangles.
    static PairFactors in_memory(void* data, Index columns, Index ib)
    {
        Index* const pivots = static_cast<Index*>(data);
        return {pivots, reinterpret_cast<T*>(pivots + columns), ib, columns};
    }
    Index width(Index begin) const { return std::min(ib, columns - begin); }
    /// The block that begins at column `begin` of the factored tile A.
    PairBlock<T> block(Index begin, const T* A, Index lda) const
    {
        return {width(begin), pivots + begin, triangles + begin * ib, ib, A + begin * lda, lda};
    }
};

/// [U; A] <- L U factors, U upper triangular of order by.columns, A m rows; what U has below its diagonal is not touched. An
/// inner block is factored as one matrix, in which the zeros of U's triangle are never the largest of their column.
template <Scalar T>
void factor_pair(const KernelProvider& kernels, Index m, T* U, Index ldu, T* A, Index lda, const PairFactors<T>& by)
{
    std::vector<T> stack(std::size_t((by.ib + m) * by.ib));
    for (Index begin = 0; begin < by.columns; begin += by.ib) {
        const Index w = by.width(begin), lds = w + m;
        T *const top = U + begin * (ldu + 1), *const below = A + begin * lda, *const triangle = by.triangles + begin * by.ib;
        for (Index j = 0; j < w; ++j) {
            T* const column = stack.data() + j * lds;
            std::fill(std::copy_n(top + j * ldu, j + 1, column), column + w, T(0));
            std::copy_n(below + j * lda, m, column + w);
        }
        kernels.getrf(lds, w, stack.data(), lds, by.pivots + begin);
        for (Index j = 0; j < w; ++j) {
            const T* const column = stack.data() + j * lds;
            std::copy_n(column, j + 1, top + j * ldu);
            std::copy_n(column, w, triangle + j * by.ib);
            std::copy_n(column + w, m, below + j * lda);
        }
        const Index next = begin + w;
        if (next < by.columns)
            apply_pair_block(kernels, by.block(begin, A, lda), m, by.columns - next, top + w * ldu, ldu, A + next * lda, lda);
    }
}

/// [C; D] <- L^-1 P [C; D] with what factor_pair left in A and `by`, D m x n.
template <Scalar T>
void apply_pair(const KernelProvider& kernels, const PairFactors<T>& by, Index m, Index n, const T* A, Index lda, T* C, Index ldc,
                T* D, Index ldd)
{
    for (Index begin = 0; begin < by.columns; begin += by.ib)
        apply_pair_block(kernels, by.block(begin, A, lda), m, n, C + begin, ldc, D, ldd);
}

} // namespace trencadis
