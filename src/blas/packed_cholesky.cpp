#include "blas/packed_cholesky.hpp"

#include "blas/control_tree.hpp"
#include "blas/operand.hpp"
#include "blas/packing.hpp"
#include "blas/scratch.hpp"
#include "matrix/conjugate.hpp"

#include <algorithm>
#include <cmath>

namespace trencadis::blas {
namespace {

constexpr Index widest = 32;  ///< columns of the widest right panel
constexpr Index tallest = 64; ///< rows of the tallest left panel

/// Column by column, L L^H = D in the lower triangle of D (n x n, leading dimension `widest`). Returns LAPACK's info.
template <Scalar T> Index factor_block(Index n, T* D)
{
    for (Index j = 0; j < n; ++j) {
        T* const column = D + j * widest;
        const Real<T> pivot = std::real(column[j]);
        if (!(pivot > 0)) { // NaN as well
            column[j] = pivot;
            return j + 1;
        }
        const Real<T> root = std::sqrt(pivot), inverse = 1 / root;
        column[j] = root;
        for (Index i = j + 1; i < n; ++i) column[i] *= inverse;
        for (Index c = j + 1; c < n; ++c) {
            const T factor = conjugate(column[c]);
            for (Index i = c; i < n; ++i) D[i + c * widest] -= column[i] * factor;
        }
    }
    return 0;
}

/// The packed triangle and what is done to it. `A` is the lower triangle as seen here: the Hermitian transpose of an upper one.
template <Scalar T> struct PackedTriangle {
    using R = Real<T>;
    const MicroKernel<T>& kernel;
    Index n;
    T* A;
    Index rs, cs;
    bool conjugated;
    R* image; ///< n x n as a left operand; above the diagonal numbers without meaning
    R* right; ///< the current columns of L^H as a right panel

    /// Element (i, p) of the image, its real part; the imaginary one is `height` further.
    struct Place {
        R* at;
        Index height;
    };
    Place place(Index i, Index p) const
    {
        const Index first = i / kernel.mr * kernel.mr, height = kernel.height(n - first);
        return {image + planes<T> * (first * n + p * height) + i - first, height};
    }
    T get(Index i, Index p) const
    {
        const Place x = place(i, p);
        if constexpr (is_complex<T>) return {x.at[0], x.at[x.height]};
        else return *x.at;
    }
    void put(Index i, Index p, T value) const
    {
        const Place x = place(i, p);
        x.at[0] = std::real(value);
        if constexpr (is_complex<T>) x.at[x.height] = std::imag(value);
    }
    void put_right(Index p, Index q, T value) const
    {
        R* const at = right + planes<T> * (p * kernel.nr + q);
        at[0] = std::real(value);
        if constexpr (is_complex<T>) at[1] = std::imag(value);
    }

    void pack() const;
    void unpack(Index columns) const;
    void unpack_column(Index p, Index begin, Index end) const;
    void make_right(Index j, Index cols) const;
    void update(Index i, Index j, Index cols) const;
    Index factor_diagonal(Index j, Index cols) const;
    Index factor() const;
};

/// Each panel is a rectangle before the diagonal, which ordinary packing moves, and a triangle.
template <Scalar T> void PackedTriangle<T>::pack() const
{
    for (Index first = 0; first < n; first += kernel.mr) {
        const Index height = kernel.height(n - first), rows = std::min(height, n - first);
        pack_left(kernel, Operand<T>{A + first * rs, rs, cs, conjugated}, rows, first, place(first, 0).at);
        for (Index p = first; p < first + rows; ++p) {
            R* const column = place(first, p).at;
            std::fill_n(column, planes<T> * height, R(0));
            for (Index i = p; i < first + rows; ++i) {
                const T x = A[i * rs + p * cs];
                put(i, p, conjugated ? conjugate(x) : x);
            }
        }
    }
}

/// The first columns of L back to A.
template <Scalar T> void PackedTriangle<T>::unpack(Index columns) const
{
    for (Index first = 0; first < n; first += kernel.mr) {
        const Index height = kernel.height(n - first), rows = std::min(height, n - first), before = std::min(first, columns);
        R* const panel = place(first, 0).at;
        if constexpr (is_complex<T>)
            for (Index p = 0; p < before && conjugated; ++p)
                for (Index i = 0; i < height; ++i) panel[(2 * p + 1) * height + i] *= -1;
        unpack_left(kernel, panel, rows, before, A + first * rs, rs, cs);
        for (Index p = first; p < std::min(columns, first + rows); ++p) unpack_column(p, p, first + rows);
    }
}

/// Rows [begin, end) of column p of L back to A.
template <Scalar T> void PackedTriangle<T>::unpack_column(Index p, Index begin, Index end) const
{
    for (Index i = begin; i < end; ++i) A[i * rs + p * cs] = conjugated ? conjugate(get(i, p)) : get(i, p);
}

/// Rows [j, j + cols) of L, columns before j, conjugated and transposed.
template <Scalar T> void PackedTriangle<T>::make_right(Index j, Index cols) const
{
    for (Index q = 0; q < kernel.nr; ++q) {
        const Place from = place(std::min(j + q, n - 1), 0);
        R* to = right + planes<T> * q;
        const R* at = from.at;
        for (Index p = 0; p < j; ++p, at += planes<T> * from.height, to += planes<T> * kernel.nr) {
            to[0] = q < cols ? at[0] : R(0);
            if constexpr (is_complex<T>) to[1] = q < cols ? -at[from.height] : R(0);
        }
    }
}

/// The panel of rows from i on, columns [j, j + cols): minus L_0 U_0, the part of the sweep before the solve.
template <Scalar T> void PackedTriangle<T>::update(Index i, Index j, Index cols) const
{
    const Place own = place(i, j);
    const R* const before = place(i, 0).at;
    if constexpr (is_complex<T>) {
        alignas(64) T product[tallest * widest];
        kernel.multiply(j, before, own.height, right, T(1), T(0), product, 1, own.height, own.height, cols, right);
        for (Index c = 0; c < cols; ++c)
            for (Index r = 0; r < own.height; ++r) {
                own.at[2 * c * own.height + r] -= product[r + c * own.height].real();
                own.at[(2 * c + 1) * own.height + r] -= product[r + c * own.height].imag();
            }
    } else kernel.multiply(j, before, own.height, right, T(-1), T(1), own.at, 1, own.height, own.height, cols, right);
}

/// The triangle in rows and columns [j, j + cols), whose updates are done; its inverse pivots go to the right panel.
template <Scalar T> Index PackedTriangle<T>::factor_diagonal(Index j, Index cols) const
{
    T D[widest * widest];
    for (Index c = 0; c < cols; ++c)
        for (Index r = c; r < cols; ++r) D[r + c * widest] = get(j + r, j + c);
    const Index info = factor_block(cols, D);
    const Index last = (j + cols - 1) / kernel.mr * kernel.mr;
    for (Index p = 0; p < cols; ++p)
        for (Index q = 0; q < kernel.nr; ++q)
            put_right(j + p, q, q < p || q >= cols ? T(0) : q == p ? T(1) / D[p + p * widest] : conjugate(D[q + p * widest]));
    if (info == 0)
        for (Index i = j / kernel.mr * kernel.mr; i <= last; i += kernel.mr) {
            const Place own = place(i, j);
            kernel.solve(0, own.at, own.height, right + planes<T> * j * kernel.nr, cols);
        }
    for (Index c = 0; c < cols; ++c)
        for (Index r = c; r < cols; ++r) put(j + r, j + c, D[r + c * widest]);
    return info;
}

template <Scalar T> Index PackedTriangle<T>::factor() const
{
    pack();
    for (Index j = 0; j < n; j += kernel.nr) {
        const Index cols = std::min(kernel.nr, n - j), last = (j + cols - 1) / kernel.mr * kernel.mr;
        make_right(j, cols);
        for (Index i = j / kernel.mr * kernel.mr; i <= last; i += kernel.mr) update(i, j, cols);
        if (const Index info = factor_diagonal(j, cols)) {
            unpack(j);
            for (Index c = j; c < j + info; ++c) unpack_column(c, c, c + 1 < j + info ? j + cols : c + 1);
            return j + info;
        }
        for (Index i = last + kernel.mr; i < n; i += kernel.mr)
            kernel.solve(j, place(i, 0).at, kernel.height(n - i), right, cols);
    }
    unpack(n);
    return 0;
}

} // namespace

template <Scalar T> Index packed_cholesky(Uplo uplo, Index n, T* A, Index lda)
{
    const Setup<T> with = setup<T>();
    Real<T>* const image = scratch<Real<T>>(Buffer::solution, with.kernel.left_size(n, n));
    Real<T>* const right = scratch<Real<T>>(Buffer::right, with.kernel.right_size(n, with.kernel.nr));
    const bool lower = uplo == Uplo::lower;
    return PackedTriangle<T>{with.kernel, n, A, lower ? 1 : lda, lower ? lda : 1, is_complex<T> && !lower, image, right}.factor();
}

#define TRC_INSTANTIATE(T) template Index packed_cholesky(Uplo, Index, T*, Index);
TRC_INSTANTIATE(float)
TRC_INSTANTIATE(double)
TRC_INSTANTIATE(std::complex<float>)
TRC_INSTANTIATE(std::complex<double>)
#undef TRC_INSTANTIATE

} // namespace trencadis::blas
