#pragma once
#include "blas/factorizations/qr.hpp"
#include "kernels/providers/provider.hpp"
#include "matrix/conjugate.hpp"

#include <algorithm>
#include <initializer_list>
#include <vector>

/// QR of a tile, and of a triangle on top of a tile or of another triangle, by inner blocks of columns, with their applications:
/// PLASMA's geqrt, tsqrt, ttqrt, unmqr, tsmqr and ttmqr on the kernels of any provider. Buttari, Langou, Kurzak, Dongarra 2009;
/// Bouwmeester, Jacquelin, Langou, Robert 2011.
namespace trencadis {

/// What the factorizations leave beside their tiles: for the inner block of columns that begins at `begin` the triangular factor
/// of its reflectors, in the columns from `begin` on; ib x columns.
template <Scalar T> struct ReflectorFactors {
    T* data;
    Index ld, ib;

    T* block(Index begin) const { return data + begin * ld; }
    Index width(Index begin, Index columns) const { return std::min(ib, columns - begin); }
};

/// Some rows of a block of reflectors, every entry of which is what the memory says.
template <Scalar T> struct ReflectorRows {
    const T* data;
    Index ld;
    Index first, rows; ///< which rows of the matrix they are applied to
};

/// A square of a block of reflectors of which memory holds one triangle: copied, with what the other one is.
template <Scalar T> class ReflectorTriangle {
public:
    explicit ReflectorTriangle(Index order) : order_(order), data_(std::size_t(order * order)) {}

    /// Unit lower triangular, the first of `width` columns at V.
    ReflectorRows<T> unit_lower(Index width, const T* V, Index ldv, Index first)
    {
        for (Index j = 0; j < width; ++j) {
            T* const column = data_.data() + j * order_;
            std::fill_n(column, j, T(0));
            column[j] = T(1);
            std::copy(V + j * ldv + j + 1, V + j * ldv + width, column + j + 1);
        }
        return {data_.data(), order_, first, width};
    }
    /// Upper trapezoidal, rows <= width.
    ReflectorRows<T> upper(Index rows, Index width, const T* V, Index ldv, Index first)
    {
        for (Index j = 0; j < width; ++j) {
            T* const column = data_.data() + j * order_;
            const Index own = std::min(rows, j + 1);
            std::fill(std::copy_n(V + j * ldv, own, column), column + rows, T(0));
        }
        return {data_.data(), order_, first, rows};
    }

private:
    Index order_;
    std::vector<T> data_;
};

/// Where the reflectors have ones beside the rows that are told: `width` rows, unless they have none.
template <Scalar T> struct UnitRows {
    T* data = nullptr;
    Index ld = 0;
};

/// [C; D] <- op(I - V F V^H) [C; D] for a block of `width` reflectors, V being the identity in the rows C and `parts` in those of
/// D, n columns.
template <Scalar T>
void apply_reflectors(const KernelProvider& kernels, Op op, Index width, const T* factor, Index ldf,
                      std::initializer_list<ReflectorRows<T>> parts, Index n, UnitRows<T> C, T* D, Index ldd,
                      std::vector<T>& work)
{
    work.resize(std::size_t(width * n));
    T* const W = work.data();
    for (Index j = 0; C.data && j < n; ++j) std::copy_n(C.data + j * C.ld, width, W + j * width);
    T beta = C.data ? T(1) : T(0);
    for (const ReflectorRows<T>& V : parts) {
        if (V.rows == 0) continue;
        kernels.gemm(herm_op<T>, Op::none, width, n, V.rows, T(1), V.data, V.ld, D + V.first, ldd, beta, W, width);
        beta = T(1);
    }
    kernels.trmm(Side::left, Uplo::upper, op, Diag::non_unit, width, n, T(1), factor, ldf, W, width);
    for (Index j = 0; C.data && j < n; ++j)
        for (Index i = 0; i < width; ++i) C.data[i + j * C.ld] -= W[i + j * width];
    for (const ReflectorRows<T>& V : parts)
        if (V.rows) kernels.gemm(Op::none, Op::none, V.rows, n, width, T(-1), V.data, V.ld, W, width, T(1), D + V.first, ldd);
}

/// Calls `visit(begin)` for the inner blocks of so many columns, in the order in which op(Q) applies them: forward for Q^H.
template <class Visit> void in_order_of(Op op, Index columns, Index ib, Visit&& visit)
{
    if (op != Op::none)
        for (Index begin = 0; begin < columns; begin += ib) visit(begin);
    else
        for (Index begin = (columns - 1) / ib * ib; columns > 0 && begin >= 0; begin -= ib) visit(begin);
}

// --- One tile --------------------------------------------------------------------------------------------------------
/// Applies op(Q) of the block of reflectors that begins at column `begin` of the factored tile V, which has m rows, to the m x n
/// matrix C.
template <Scalar T>
void apply_tile_block(const KernelProvider& kernels, Op op, Index m, Index begin, Index width, const T* V, Index ldv,
                      const ReflectorFactors<T>& by, Index n, T* C, Index ldc, std::vector<T>& work)
{
    const T* const head = V + begin * (ldv + 1);
    ReflectorTriangle<T> triangle(width);
    apply_reflectors(kernels, op, width, by.block(begin), by.ld,
                     {triangle.unit_lower(width, head, ldv, begin), {head + width, ldv, begin + width, m - begin - width}}, n,
                     UnitRows<T>{}, C, ldc, work);
}

/// A = Q R in place, A m x n.
template <Scalar T>
void factor_tile(const KernelProvider& kernels, Index m, Index n, T* A, Index lda, const ReflectorFactors<T>& by)
{
    std::vector<T> tau(std::size_t(by.ib)), work;
    const Index reflectors = std::min(m, n);
    for (Index begin = 0; begin < reflectors; begin += by.ib) {
        const Index width = by.width(begin, reflectors), next = begin + width;
        blas::geqrf(m - begin, width, A + begin * (lda + 1), lda, tau.data(), by.block(begin), by.ld);
        if (next < n) apply_tile_block(kernels, herm_op<T>, m, begin, width, A, lda, by, n - next, A + next * lda, lda, work);
    }
}

/// C <- op(Q) C with what factor_tile left in V and `by`, so many reflectors, C m x n.
template <Scalar T>
void apply_tile(const KernelProvider& kernels, Op op, Index m, Index n, Index reflectors, const T* V, Index ldv,
                const ReflectorFactors<T>& by, T* C, Index ldc)
{
    std::vector<T> work;
    in_order_of(op, reflectors, by.ib, [&](Index begin) {
        apply_tile_block(kernels, op, m, begin, by.width(begin, reflectors), V, ldv, by, n, C, ldc, work);
    });
}

// --- A triangle on top of a tile, or of another triangle -------------------------------------------------------------
enum class Below { tile, triangle };

/// How far down the entries of a tile of m rows reach that belong to its columns from `begin` to `end`.
inline Index reach(Below below, Index m, Index end) { return below == Below::tile ? m : std::min(m, end); }

/// [C; D] <- op(Q) [C; D] with the block of reflectors that begins at column `begin` of V; its rows of C are at C.
template <Scalar T>
void apply_pair_reflectors(const KernelProvider& kernels, Op op, Below below, Index m, Index begin, Index width, const T* V,
                           Index ldv, const ReflectorFactors<T>& by, Index n, T* C, Index ldc, T* D, Index ldd,
                           std::vector<T>& work)
{
    const Index full = below == Below::tile ? m : std::min(m, begin); // rows in which all columns have entries
    const T* const block = V + begin * ldv;
    ReflectorTriangle<T> triangle(below == Below::tile ? 0 : width);
    const ReflectorRows<T> tail =
        below == Below::tile ? ReflectorRows<T>{} : triangle.upper(std::min(width, m - full), width, block + full, ldv, full);
    apply_reflectors(kernels, op, width, by.block(begin), by.ld, {{block, ldv, 0, full}, tail}, n, UnitRows<T>{C, ldc}, D, ldd,
                     work);
}

/// [R; A] = Q R' in place, R upper triangular of order n, A m x n or the upper trapezoid of such a tile: what is below their
/// diagonals is not touched then. An inner block is factored as one matrix, in which the zeros below R's diagonal stay zeros.
template <Scalar T>
void factor_below(const KernelProvider& kernels, Below below, Index m, Index n, T* R, Index ldr, T* A, Index lda,
                  const ReflectorFactors<T>& by)
{
    std::vector<T> stack(std::size_t((by.ib + m) * by.ib)), tau(std::size_t(by.ib)), work;
    for (Index begin = 0; begin < n; begin += by.ib) {
        const Index width = by.width(begin, n), next = begin + width, rows = reach(below, m, next), lds = width + rows;
        T *const top = R + begin * (ldr + 1), *const under = A + begin * lda;
        for (Index j = 0; j < width; ++j) {
            T* const column = stack.data() + j * lds;
            const Index own = reach(below, rows, begin + j + 1);
            std::fill(std::copy_n(top + j * ldr, j + 1, column), column + width, T(0));
            std::fill(std::copy_n(under + j * lda, own, column + width), column + lds, T(0));
        }
        blas::geqrf(lds, width, stack.data(), lds, tau.data(), by.block(begin), by.ld);
        for (Index j = 0; j < width; ++j) {
            const T* const column = stack.data() + j * lds;
            std::copy_n(column, j + 1, top + j * ldr);
            std::copy_n(column + width, reach(below, rows, begin + j + 1), under + j * lda);
        }
        if (next < n)
            apply_pair_reflectors(kernels, herm_op<T>, below, m, begin, width, A, lda, by, n - next, top + width * ldr, ldr,
                                  A + next * lda, lda, work);
    }
}

/// [C; D] <- op(Q) [C; D] with what factor_below left in V, which has m rows and k columns, and `by`; D m x n.
template <Scalar T>
void apply_below(const KernelProvider& kernels, Op op, Below below, Index m, Index n, Index k, const T* V, Index ldv,
                 const ReflectorFactors<T>& by, T* C, Index ldc, T* D, Index ldd)
{
    std::vector<T> work;
    in_order_of(op, k, by.ib, [&](Index begin) {
        apply_pair_reflectors(kernels, op, below, m, begin, by.width(begin, k), V, ldv, by, n, C + begin, ldc, D, ldd, work);
    });
}

} // namespace trencadis
