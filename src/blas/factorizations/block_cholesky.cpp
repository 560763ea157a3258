#include "blas/factorizations/block_cholesky.hpp"

#include "blas/level3/control_tree.hpp"
#include "blas/level3/operand.hpp"
#include "blas/level3/packing.hpp"
#include "blas/level3/scratch.hpp"

#include <algorithm>
#include <cmath>
#include <type_traits>

namespace trencadis::blas {
namespace {

constexpr Index widest = largest_nr;

/// A block on the diagonal, out of the image: L in the lower triangle of D, and the inverses of its pivots.
template <class R> struct ScalarBlock {
    R D[widest * widest]; ///< (i, j) at i + j * widest; nothing above the diagonal
    R inverse[widest];

    /// Column by column, L L^T = D, n x n. Returns LAPACK's info. `fixed`: n as a constant, for the compiler to unroll; 0: any.
    template <int fixed> Index factor(Index any)
    {
        const Index n = fixed ? fixed : any;
        for (Index j = 0; j < n; ++j) {
            R* const column = D + j * widest;
            const R pivot = column[j];
            if (!(pivot > 0)) { // NaN as well
                column[j] = pivot;
                return j + 1;
            }
            const R root = std::sqrt(pivot);
            inverse[j] = 1 / root;
            column[j] = root;
            for (Index i = j + 1; i < n; ++i) column[i] *= inverse[j];
            for (Index c = j + 1; c < n; ++c)
                for (Index i = c; i < n; ++i) D[i + c * widest] -= column[i] * column[c];
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
};

/// Calls visit(nr), as a constant where it is a usual one: copies of so many are a vector each.
template <class Visit> void for_width(Index nr, const Visit& visit)
{
    if (nr == 8) visit(std::integral_constant<Index, 8>());
    else if (nr == 4) visit(std::integral_constant<Index, 4>());
    else visit(nr);
}

/// The packed triangle and what is done to it. `A` is the lower triangle as seen here: the transpose of an upper one.
template <class R> struct PackedTriangle {
    const MicroKernel<R>& kernel;
    Index n;
    R* A;
    Index rs, cs;
    R* image; ///< n x n as a left operand; of each panel the columns up to its diagonal's last, zeros above the diagonal
    R* right; ///< the current columns of L^T as a right panel

    /// Of the image: the next element of its row is `height` further.
    struct Place {
        R* at;
        Index height;
    };
    Place place(Index i, Index p) const
    {
        const Index first = i / kernel.mr * kernel.mr, height = kernel.height(n - first);
        return {image + first * n + p * height + i - first, height};
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
    void append_right(Index j, Index cols, const ScalarBlock<R>& block) const;
    void clear_rows(Index i, Index end, Index j, Index cols) const;
    bool lies_in_one_panel(Index j) const;
    Index factor_in_place(Index j, Index cols) const;
    Index factor_diagonal(Index j, Index cols) const;
    Index factor() const;
};

/// Each panel is a rectangle before the diagonal, which ordinary packing moves, a triangle, and zeros as far behind it as a block
/// of columns that begins in it can reach.
template <class R> void PackedTriangle<R>::pack() const
{
    for (Index first = 0; first < n; first += kernel.mr) {
        const Index height = kernel.height(n - first), rows = std::min(height, n - first);
        R* const panel = image + first * n;
        pack_left(kernel, Operand<R>{A + first * rs, rs, cs}, rows, first, panel);
        for (Index p = first; p < first + rows; ++p) {
            R* const column = panel + p * height;
            std::fill_n(column, height, R(0));
            for (Index i = p; i < first + rows; ++i) column[i - first] = A[i * rs + p * cs];
        }
        const Index behind = std::min(n, first + rows + kernel.nr - 1);
        std::fill(panel + (first + rows) * height, panel + behind * height, R(0));
    }
}

/// The first columns of L back to A.
template <class R> void PackedTriangle<R>::unpack(Index columns) const
{
    for (Index first = 0; first < n; first += kernel.mr) {
        const Index height = kernel.height(n - first), rows = std::min(height, n - first), before = std::min(first, columns);
        R* const panel = image + first * n;
        unpack_left(kernel, panel, rows, before, A + first * rs, rs, cs);
        for (Index p = first; p < std::min(columns, first + rows); ++p) unpack_column(p, p, first + rows);
    }
}

/// Rows [begin, end) of column p of L back to A.
template <class R> void PackedTriangle<R>::unpack_column(Index p, Index begin, Index end) const
{
    if (begin / kernel.mr == (end - 1) / kernel.mr) { // one panel
        const R* const from = place(begin, p).at;
        R* const to = A + begin * rs + p * cs;
        if (rs == 1)
            for (Index r = 0; r < end - begin; ++r) to[r] = from[r];
        else
            for (Index r = 0; r < end - begin; ++r) to[r * rs] = from[r];
        return;
    }
    for_rows(begin, end - begin, p, [&](Index r, Place from) { A[(begin + r) * rs + p * cs] = *from.at; });
}

/// Rows [j, j + cols) of L, columns before j, transposed.
template <class R> void PackedTriangle<R>::make_right(Index j, Index cols) const
{
    const Index nr = kernel.nr;
    if (cols == nr && j % kernel.mr + nr <= kernel.mr) return copy_rows(j);
    for_rows(j, cols, 0, [&](Index q, Place from) {
        R* to = right + q;
        for (Index p = 0; p < j; ++p, from.at += from.height, to += nr) *to = *from.at;
    });
    for (Index p = 0; p < j && cols < nr; ++p) std::fill(right + (p * nr + cols), right + (p + 1) * nr, R(0));
}

/// The same for nr rows of one panel, which lie next to one another there as here.
template <class R> void PackedTriangle<R>::copy_rows(Index j) const
{
    const Place from = place(j, 0);
    for_width(kernel.nr, [&](auto nr) {
        for (Index p = 0; p < j; ++p) std::copy_n(from.at + p * from.height, nr, right + p * nr);
    });
}

/// The panel of rows from i on, columns [j, j + cols): minus L_0 U_0, the part of the sweep before the solve.
template <class R> void PackedTriangle<R>::update(Index i, Index j, Index cols) const
{
    const Index height = kernel.height(n - i);
    const R* const before = image + i * n;
    R* const own = image + (i * n + j * height);
    kernel.multiply(j, before, height, right, R(-1), R(1), own, 1, height, height, cols, right);
}

/// L's block in rows and columns [j, j + cols), with inverse pivots, as the end of the right panel.
template <class R> void PackedTriangle<R>::append_right(Index j, Index cols, const ScalarBlock<R>& block) const
{
    R* const to = right + j * kernel.nr;
    std::fill_n(to, cols * kernel.nr, R(0));
    std::fill_n(to + cols * kernel.nr, kernel.nr, R(1)); // no pivot is too small for its inverse
    for (Index p = 0; p < cols; ++p) {
        to[p * kernel.nr + p] = block.inverse[p];
        for (Index q = p + 1; q < cols; ++q) to[p * kernel.nr + q] = block.D[q + p * widest];
    }
}

/// Zeros in rows [i, end) of one panel, columns [j, j + cols).
template <class R> void PackedTriangle<R>::clear_rows(Index i, Index end, Index j, Index cols) const
{
    const Place first = place(i, j);
    for (Index p = 0; p < cols; ++p) std::fill_n(first.at + p * first.height, end - i, R(0));
}

/// Do nr rows from j on?
template <class R> bool PackedTriangle<R>::lies_in_one_panel(Index j) const
{
    const Index before = j % kernel.mr;
    return before + kernel.nr <= kernel.height(n - j + before);
}

/// factor_diagonal where the micro-kernel finds the triangle at one place.
template <class R> Index PackedTriangle<R>::factor_in_place(Index j, Index cols) const
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
template <class R> Index PackedTriangle<R>::factor_diagonal(Index j, Index cols) const
{
    if (kernel.factor_diagonal && lies_in_one_panel(j)) return factor_in_place(j, cols);
    ScalarBlock<R> block;
    for_rows(j, cols, j, [&](Index r, Place from) {
        for (Index c = 0; c <= r; ++c) block.D[r + c * widest] = from.at[c * from.height];
    });
    const Index info = block.factor(cols);
    if (info == 0) {
        append_right(j, cols, block);
        for (Index i = j / kernel.mr * kernel.mr; i < j + cols; i += kernel.mr) {
            const Index height = kernel.height(n - i);
            clear_rows(i, std::min(j + cols, i + height), j, cols);
            kernel.solve(0, image + (i * n + j * height), height, right + j * kernel.nr, cols);
        }
    }
    for_rows(j, cols, j, [&](Index r, Place to) {
        for (Index c = 0; c <= r; ++c) to.at[c * to.height] = block.D[r + c * widest];
    });
    return info;
}

template <class R> Index PackedTriangle<R>::factor() const
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
        for (Index i = last + kernel.mr; i < n; i += kernel.mr) kernel.solve(j, image + i * n, kernel.height(n - i), right, cols);
    }
    unpack(n);
    return 0;
}

template <class R> R* image_buffer(const MicroKernel<R>& kernel, Index n)
{
    return scratch<R>(Buffer::solution, kernel.left_size(n, n));
}
template <class R> R* right_buffer(const MicroKernel<R>& kernel, Index n)
{
    return scratch<R>(Buffer::right, kernel.right_size(n + 1, kernel.nr));
}

} // namespace

template <class R> void reserve_block_cholesky(Index n)
{
    const MicroKernel<R>& kernel = micro_kernel<R>();
    image_buffer(kernel, n);
    right_buffer(kernel, n);
}

template <class R> Index block_cholesky(Uplo uplo, Index n, R* A, Index lda)
{
    const MicroKernel<R>& kernel = micro_kernel<R>();
    const bool lower = uplo == Uplo::lower;
    return PackedTriangle<R>{kernel, n, A, lower ? 1 : lda, lower ? lda : 1, image_buffer(kernel, n), right_buffer(kernel, n)}
        .factor();
}

template void reserve_block_cholesky<float>(Index);
template void reserve_block_cholesky<double>(Index);
template Index block_cholesky(Uplo, Index, float*, Index);
template Index block_cholesky(Uplo, Index, double*, Index);

} // namespace trencadis::blas
