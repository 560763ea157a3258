#include "blas/factorizations/block_cholesky.hpp"

#include "blas/level3/control_tree.hpp"
#include "blas/level3/operand.hpp"
#include "blas/level3/packing.hpp"
#include "blas/level3/scratch.hpp"
#include "matrix/conjugate.hpp"

#include <algorithm>
#include <cmath>
#include <type_traits>

namespace trencadis::blas {
namespace {

constexpr Index widest = largest_nr;

/// A block on the diagonal, out of the image: L in the lower triangle of D, and the inverses of its pivots.
template <Scalar T> struct ScalarBlock {
    T D[widest * widest]; ///< (i, j) at i + j * widest; nothing above the diagonal
    Real<T> inverse[widest];

    /// Column by column, L L^H = D, n x n. Returns LAPACK's info. `fixed`: n as a constant, for the compiler to unroll; 0: any.
    template <int fixed> Index factor(Index any)
    {
        const Index n = fixed ? fixed : any;
        for (Index j = 0; j < n; ++j) {
            T* const column = D + j * widest;
            const Real<T> pivot = std::real(column[j]);
            if (!(pivot > 0)) { // NaN as well
                column[j] = pivot;
                return j + 1;
            }
            const Real<T> root = std::sqrt(pivot);
            inverse[j] = 1 / root;
            column[j] = root;
            for (Index i = j + 1; i < n; ++i) column[i] *= inverse[j];
            for (Index c = j + 1; c < n; ++c) {
                const T factor = conjugate(column[c]);
                for (Index i = c; i < n; ++i) D[i + c * widest] -= times(column[i], factor);
            }
        }
        return 0;
    }
    Index factor(Index n)
    {
        switch (n) {
        case 4: return factor<4>(n);
        case 6: return factor<6>(n);
        case 8: return factor<8>(n);
        default: return factor<0>(n);
        }
    }

private:
    /// std::complex's own product looks for infinities.
    static T times(T a, T b)
    {
        if constexpr (is_complex<T>)
            return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
        else return a * b;
    }
};

/// Calls visit(nr), as a constant where it is a usual one: copies of so many are a vector each.
template <class Visit> void for_width(Index nr, const Visit& visit)
{
    if (nr == 8) visit(std::integral_constant<Index, 8>());
    else if (nr == 4) visit(std::integral_constant<Index, 4>());
    else visit(nr);
}

/// The packed triangle and what is done to it. `A` is the lower triangle as seen here: the Hermitian transpose of an upper one.
template <Scalar T> struct PackedTriangle {
    using R = Real<T>;
    const MicroKernel<T>& kernel;
    Index n;
    T* A;
    Index rs, cs;
    bool conjugated;
    R* image; ///< n x n as a left operand; of each panel the columns up to its diagonal's last, zeros above the diagonal
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
    static T get(const R* at, Index height)
    {
        if constexpr (is_complex<T>) return {at[0], at[height]};
        else return *at;
    }
    static void put(R* at, Index height, T value)
    {
        at[0] = std::real(value);
        if constexpr (is_complex<T>) at[height] = std::imag(value);
    }
    /// Calls visit(r, place) for rows [j, j + count) at column p; most lie in one panel.
    template <class Visit> void for_rows(Index j, Index count, Index p, const Visit& visit) const
    {
        for (Index r = 0; r < count;) {
            const Place first = place(j + r, p);
            const Index left = std::min(count - r, kernel.mr - (j + r) % kernel.mr);
            for (Index i = 0; i < left; ++i, ++r) visit(r, Place{first.at + i, first.height});
        }
    }

    void pack() const;
    void unpack(Index columns) const;
    void unpack_column(Index p, Index begin, Index end) const;
    void make_right(Index j, Index cols) const;
    void copy_rows(Index j) const;
    void update(Index i, Index j, Index cols) const;
    void append_right(Index j, Index cols, const ScalarBlock<T>& block) const;
    void clear_rows(Index i, Index end, Index j, Index cols) const;
    bool lies_in_one_panel(Index j) const;
    Index factor_in_place(Index j, Index cols) const;
    Index factor_diagonal(Index j, Index cols) const;
    Index factor() const;
};

/// Each panel is a rectangle before the diagonal, which ordinary packing moves, a triangle, and zeros as far behind it as a block
/// of columns that begins in it can reach.
template <Scalar T> void PackedTriangle<T>::pack() const
{
    for (Index first = 0; first < n; first += kernel.mr) {
        const Index height = kernel.height(n - first), rows = std::min(height, n - first);
        R* const panel = image + planes<T> * first * n;
        pack_left(kernel, Operand<T>{A + first * rs, rs, cs, conjugated}, rows, first, panel);
        for (Index p = first; p < first + rows; ++p) {
            R* const column = panel + planes<T> * p * height;
            std::fill_n(column, planes<T> * height, R(0));
            for (Index i = p; i < first + rows; ++i) {
                const T x = A[i * rs + p * cs];
                put(column + i - first, height, conjugated ? conjugate(x) : x);
            }
        }
        const Index behind = std::min(n, first + rows + kernel.nr - 1);
        std::fill(panel + planes<T> * (first + rows) * height, panel + planes<T> * behind * height, R(0));
    }
}

/// The first columns of L back to A.
template <Scalar T> void PackedTriangle<T>::unpack(Index columns) const
{
    for (Index first = 0; first < n; first += kernel.mr) {
        const Index height = kernel.height(n - first), rows = std::min(height, n - first), before = std::min(first, columns);
        R* const panel = image + planes<T> * first * n;
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
    if (!is_complex<T> && begin / kernel.mr == (end - 1) / kernel.mr) { // one panel
        const R* const from = place(begin, p).at;
        T* const to = A + begin * rs + p * cs;
        if (rs == 1)
            for (Index r = 0; r < end - begin; ++r) to[r] = from[r];
        else
            for (Index r = 0; r < end - begin; ++r) to[r * rs] = from[r];
        return;
    }
    for_rows(begin, end - begin, p, [&](Index r, Place from) {
        const T x = get(from.at, from.height);
        A[(begin + r) * rs + p * cs] = conjugated ? conjugate(x) : x;
    });
}

/// Rows [j, j + cols) of L, columns before j, conjugated and transposed.
template <Scalar T> void PackedTriangle<T>::make_right(Index j, Index cols) const
{
    const Index nr = kernel.nr;
    if (!is_complex<T> && cols == nr && j % kernel.mr + nr <= kernel.mr) return copy_rows(j);
    for_rows(j, cols, 0, [&](Index q, Place from) {
        R* to = right + planes<T> * q;
        for (Index p = 0; p < j; ++p, from.at += planes<T> * from.height, to += planes<T> * nr) {
            to[0] = from.at[0];
            if constexpr (is_complex<T>) to[1] = -from.at[from.height];
        }
    });
    for (Index p = 0; p < j && cols < nr; ++p)
        std::fill(right + planes<T> * (p * nr + cols), right + planes<T> * (p + 1) * nr, R(0));
}

/// The same for nr rows of one panel, which lie next to one another there as here.
template <Scalar T> void PackedTriangle<T>::copy_rows(Index j) const
{
    const Place from = place(j, 0);
    for_width(kernel.nr, [&](auto nr) {
        for (Index p = 0; p < j; ++p) std::copy_n(from.at + p * from.height, nr, right + p * nr);
    });
}

/// The panel of rows from i on, columns [j, j + cols): minus L_0 U_0, the part of the sweep before the solve.
template <Scalar T> void PackedTriangle<T>::update(Index i, Index j, Index cols) const
{
    const Index height = kernel.height(n - i);
    const R* const before = image + planes<T> * i * n;
    R* const own = image + planes<T> * (i * n + j * height);
    if constexpr (is_complex<T>) {
        TileRoom<T> room;
        T* const product = room.data();
        kernel.multiply(j, before, height, right, T(1), T(0), product, 1, height, height, cols, right);
        for (Index c = 0; c < cols; ++c)
            for (Index r = 0; r < height; ++r) {
                own[2 * c * height + r] -= product[r + c * height].real();
                own[(2 * c + 1) * height + r] -= product[r + c * height].imag();
            }
    } else kernel.multiply(j, before, height, right, T(-1), T(1), own, 1, height, height, cols, right);
}

/// L's block in rows and columns [j, j + cols), with inverse pivots, as the end of the right panel.
template <Scalar T> void PackedTriangle<T>::append_right(Index j, Index cols, const ScalarBlock<T>& block) const
{
    R* const to = right + planes<T> * j * kernel.nr;
    std::fill_n(to, planes<T> * cols * kernel.nr, R(0));
    std::fill_n(to + planes<T> * cols * kernel.nr, planes<T> * kernel.nr, R(1)); // no pivot is too small for its inverse
    for (Index p = 0; p < cols; ++p) {
        put(to + planes<T> * (p * kernel.nr + p), 1, T(block.inverse[p]));
        for (Index q = p + 1; q < cols; ++q) put(to + planes<T> * (p * kernel.nr + q), 1, conjugate(block.D[q + p * widest]));
    }
}

/// Zeros in rows [i, end) of one panel, columns [j, j + cols).
template <Scalar T> void PackedTriangle<T>::clear_rows(Index i, Index end, Index j, Index cols) const
{
    const Place first = place(i, j);
    for (Index p = 0; p < planes<T> * cols; ++p) std::fill_n(first.at + p * first.height, end - i, R(0));
}

/// Do nr rows from j on?
template <Scalar T> bool PackedTriangle<T>::lies_in_one_panel(Index j) const
{
    const Index before = j % kernel.mr;
    return before + kernel.nr <= kernel.height(n - j + before);
}

/// factor_diagonal where the micro-kernel finds the triangle at one place.
template <Scalar T> Index PackedTriangle<T>::factor_in_place(Index j, Index cols) const
{
    const Place block = place(j, j);
    const Index nr = kernel.nr, height = block.height, before = j % kernel.mr;
    R* const own = block.at - before; // the panel's columns [j, j + cols)
    R* const U = right + j * nr;
    if (const Index info = kernel.factor_diagonal(cols, block.at, height, U)) return info;
    if (nr == height) return 0; // no rows beside it
    R L[largest_nr * largest_nr];
    for_width(nr, [&](auto width) {
        for (Index p = 0; p < cols; ++p) std::copy_n(block.at + p * height, width, L + p * width);
        for (Index p = 0; p < cols; ++p) std::fill_n(block.at + p * height, width, R(0));
    });
    for (Index p = 0; p < cols && before > 0; ++p) std::fill_n(own + p * height, before, R(0));
    kernel.solve(0, own, height, U, cols);
    for_width(nr, [&](auto width) {
        for (Index p = 0; p < cols; ++p) std::copy_n(L + p * width, width, block.at + p * height);
    });
    return 0;
}

/// The triangle in rows and columns [j, j + cols), whose updates are done, and the rows below it of its panels. What is above the
/// diagonal in those panels is kept zero: it would grow from block to block and overflow where the factor is far from it.
template <Scalar T> Index PackedTriangle<T>::factor_diagonal(Index j, Index cols) const
{
    if constexpr (!is_complex<T>)
        if (kernel.factor_diagonal && lies_in_one_panel(j)) return factor_in_place(j, cols);
    ScalarBlock<T> block;
    for_rows(j, cols, j, [&](Index r, Place from) {
        for (Index c = 0; c <= r; ++c) block.D[r + c * widest] = get(from.at + planes<T> * c * from.height, from.height);
    });
    const Index info = block.factor(cols);
    if (info == 0) {
        append_right(j, cols, block);
        for (Index i = j / kernel.mr * kernel.mr; i < j + cols; i += kernel.mr) {
            const Index height = kernel.height(n - i);
            clear_rows(i, std::min(j + cols, i + height), j, cols);
            kernel.solve(0, image + planes<T> * (i * n + j * height), height, right + planes<T> * j * kernel.nr, cols);
        }
    }
    for_rows(j, cols, j, [&](Index r, Place to) {
        for (Index c = 0; c <= r; ++c) put(to.at + planes<T> * c * to.height, to.height, block.D[r + c * widest]);
    });
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
            kernel.solve(j, image + planes<T> * i * n, kernel.height(n - i), right, cols);
    }
    unpack(n);
    return 0;
}

template <Scalar T> Real<T>* image_buffer(const MicroKernel<T>& kernel, Index n)
{
    return scratch<Real<T>>(Buffer::solution, kernel.left_size(n, n));
}
template <Scalar T> Real<T>* right_buffer(const MicroKernel<T>& kernel, Index n)
{
    return scratch<Real<T>>(Buffer::right, kernel.right_size(n + 1, kernel.nr));
}

} // namespace

template <Scalar T> void reserve_block_cholesky(Index n)
{
    const Setup<T> with = setup<T>();
    image_buffer(with.kernel, n);
    right_buffer(with.kernel, n);
}

template <Scalar T> Index block_cholesky(Uplo uplo, Index n, T* A, Index lda)
{
    const Setup<T> with = setup<T>();
    Real<T>* const image = image_buffer(with.kernel, n);
    Real<T>* const right = right_buffer(with.kernel, n);
    const bool lower = uplo == Uplo::lower;
    return PackedTriangle<T>{with.kernel, n, A, lower ? 1 : lda, lower ? lda : 1, is_complex<T> && !lower, image, right}.factor();
}

#define TRC_INSTANTIATE(T)                                                                                                       \
    template void reserve_block_cholesky<T>(Index);                                                                              \
    template Index block_cholesky(Uplo, Index, T*, Index);
TRC_INSTANTIATE(float)
TRC_INSTANTIATE(double)
TRC_INSTANTIATE(std::complex<float>)
TRC_INSTANTIATE(std::complex<double>)
#undef TRC_INSTANTIATE

} // namespace trencadis::blas
