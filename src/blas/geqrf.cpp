#include "blas/block_reflector.hpp"
#include "blas/control_tree.hpp"
#include "blas/level3.hpp"
#include "blas/scratch.hpp"
#include "matrix/conjugate.hpp"

#include <algorithm>

namespace trencadis::blas {
namespace {

constexpr Index leaf = 8;   ///< columns that are factored one by one
constexpr Index panel = 64; ///< columns with one T, where nobody wants that of all

template <Scalar T> Reflectors<T> reflectors(Index m, Index k, const T* A, Index lda)
{
    return {Direction::forward, Storage::columns, m, k, A, lda};
}

/// The columns right of a reflector (1, x) of order m, whose 1 is where alpha was.
template <Scalar T> void reflect(Index m, Index n, const T* v, T tau, T* C, Index ldc)
{
    const ColumnKernel<T>& columns = setup<T>().kernel.columns;
    T products[leaf];
    columns.dots(m, n, C, ldc, v, true, products); // C^H v
    for (Index j = 0; j < n; ++j) {
        const T factor = conjugate(tau) * conjugate(products[j]);
        columns.subtract(m, 1, v, m, &factor, C + j * ldc);
    }
}

template <Scalar T> void factor_leaf(Index m, Index n, T* A, Index lda, T* tau, T* factor, Index ldt)
{
    for (Index j = 0; j < n; ++j) {
        T* const v = A + j * (lda + 1);
        tau[j] = larfg(m - j, *v, v + 1, 1);
        const T beta = *v;
        *v = T(1);
        if (tau[j] != T(0)) reflect(m - j, n - j - 1, v, tau[j], v + lda, lda);
        *v = beta;
    }
    make_factor(reflectors(m, n, A, lda), tau, factor, ldt);
}

/// m >= n; `factor` is there.
template <Scalar T> void factor_tall(Index m, Index n, T* A, Index lda, T* tau, T* factor, Index ldt)
{
    if (n <= leaf) return factor_leaf(m, n, A, lda, tau, factor, ldt);
    const Index n1 = (n / 2 + leaf - 1) / leaf * leaf, n2 = n - n1;
    T* const right = A + n1 * lda;
    factor_tall(m, n1, A, lda, tau, factor, ldt);
    apply(Side::left, Op::conj_trans, reflectors(m, n1, A, lda), factor, ldt, m, n2, right, lda);
    factor_tall(m - n1, n2, right + n1, lda, tau + n1, factor + n1 * (ldt + 1), ldt);
    join_factors(reflectors(m, n, A, lda), n1, factor, ldt);
}

/// What is right of k factored columns.
template <Scalar T> void update(Index m, Index n, Index k, T* A, Index lda, const T* factor, Index ldt)
{
    apply(Side::left, Op::conj_trans, reflectors(m, k, A, lda), factor, ldt, m, n - k, A + k * lda, lda);
}

template <Scalar T> void conjugate_transpose(Index m, Index n, const T* A, Index lda, T* B, Index ldb)
{
    constexpr Index square = 8;
    for (Index j0 = 0; j0 < n; j0 += square)
        for (Index i = 0; i < m; ++i)
            for (Index j = j0; j < std::min(n, j0 + square); ++j) B[j + i * ldb] = conjugate(A[i + j * lda]);
}

} // namespace

template <Scalar T> void geqrf(Index m, Index n, T* A, Index lda, T* tau, T* factor, Index ldt)
{
    const Index k = std::min(m, n);
    if (k <= 0) return;
    if (factor) {
        factor_tall(m, k, A, lda, tau, factor, ldt);
        return update(m, n, k, A, lda, factor, ldt);
    }
    T* const own = scratch<T>(Buffer::compact, panel * panel);
    for (Index j = 0; j < k; j += panel) {
        const Index width = std::min(panel, k - j);
        T* const corner = A + j * (lda + 1);
        factor_tall(m - j, width, corner, lda, tau + j, own, panel);
        update(m - j, n - j, width, corner, lda, own, panel);
    }
}

/// By panels of rows, whose conjugate transpose is factored as columns.
template <Scalar T> void gelqf(Index m, Index n, T* A, Index lda, T* tau)
{
    const Index k = std::min(m, n);
    if (k <= 0) return;
    const Index ldb = n + 8;
    T* const own = scratch<T>(Buffer::compact, panel * panel);
    T* const B = scratch<T>(Buffer::transposed, ldb * std::min(panel, k));
    for (Index i = 0; i < k; i += panel) {
        const Index height = std::min(panel, k - i), cols = n - i;
        T* const corner = A + i * (lda + 1);
        conjugate_transpose(height, cols, corner, lda, B, ldb);
        factor_tall(cols, height, B, ldb, tau + i, own, panel);
        conjugate_transpose(cols, height, B, ldb, corner, lda);
        apply(Side::right, Op::none, reflectors(cols, height, B, ldb), own, panel, m - i - height, cols, corner + height, lda);
    }
}

#define TRC_INSTANTIATE(T)                                                                                                       \
    template void geqrf(Index, Index, T*, Index, T*, T*, Index);                                                                 \
    template void gelqf(Index, Index, T*, Index, T*);
TRC_INSTANTIATE(float)
TRC_INSTANTIATE(double)
TRC_INSTANTIATE(std::complex<float>)
TRC_INSTANTIATE(std::complex<double>)
#undef TRC_INSTANTIATE

} // namespace trencadis::blas
