#include "blas/level3/macro_kernel.hpp"

#include <algorithm>

namespace trencadis::blas {
namespace {

/// Does the micro-tile with rows [i, i + rows) and columns [j, j + cols) lie wholly, partly or not at all in the part?
enum class Cover { none, some, all };
Cover cover(Part part, Index below, Index i, Index rows, Index j, Index cols)
{
    if (part == Part::all) return Cover::all;
    // d = i - j - below is >= 0 in the lower triangle, <= 0 in the upper one.
    const Index least = i - (j + cols - 1) - below, most = i + rows - 1 - j - below;
    if (part == Part::lower) return least >= 0 ? Cover::all : most < 0 ? Cover::none : Cover::some;
    return most <= 0 ? Cover::all : least > 0 ? Cover::none : Cover::some;
}

/// How many panels of mr rows in rows [i, end) does the part cover wholly, if it does the first?
Index covered_panels(Part part, Index below, Index i, Index end, Index j, Index mr)
{
    if (part == Part::upper) end = std::min(end, j + below + 1);
    return std::max<Index>(0, end - i) / mr;
}

/// Calls visit(r, c) for the elements of rows x cols at (i, j) that the part covers.
template <class Visit> void each_covered(Part part, Index below, Index i, Index rows, Index j, Index cols, const Visit& visit)
{
    for (Index c = 0; c < cols; ++c) {
        const Index crossing = std::clamp<Index>(j + c + below - i, 0, rows),
                    behind = std::clamp<Index>(j + c + below - i + 1, 0, rows);
        const Index begin = part == Part::lower ? crossing : 0, end = part == Part::upper ? behind : rows;
        for (Index r = begin; r < end; ++r) visit(r, c);
    }
}

/// What `multiply` does to a whole micro-tile of C, in the part of it that a triangle covers: on a copy, so that an element
/// gets the same
/// bits as where the whole micro-tile is in the triangle. The rest is not read.
template <Scalar T, class Multiply>
void multiply_part(Part part, Index below, Index i, Index rows, Index j, Index cols, T beta, T* C, Index rs, Index cs,
                   const Multiply& multiply)
{
    TileRoom<T> room;
    T* const tile = room.data();
    std::fill_n(tile, rows * cols, T(0));
    if (beta != T(0))
        each_covered(part, below, i, rows, j, cols, [&](Index r, Index c) { tile[r + c * rows] = C[r * rs + c * cs]; });
    multiply(tile);
    each_covered(part, below, i, rows, j, cols, [&](Index r, Index c) { C[r * rs + c * cs] = tile[r + c * rows]; });
}

/// C <- beta C where there is no depth, as `scale` does it: a sum with the empty product would make +0 of -0.
template <Scalar T>
void scale_part(Part part, Index below, Index i0, Index i1, Index j0, Index j1, T beta, T* C, Index rs, Index cs)
{
    if (beta == T(1)) return;
    each_covered(part, below, i0, i1 - i0, j0, j1 - j0, [&](Index r, Index c) {
        T& x = C[(i0 + r) * rs + (j0 + c) * cs];
        if (beta == T(0)) x = T(0);
        else x *= beta;
    });
}

/// Steps along k.
struct Depths {
    Index begin, end;

    Depths cut(Index from, Index to) const { return {std::max(begin, from), std::min(end, to)}; }
    Depths or_none_at(Index depth) const { return end > begin ? *this : Depths{depth, depth}; }
};
/// Where rows [i, i + rows) of a left operand, respectively columns [j, j + cols) of a right one, are not zero.
template <Scalar T> Depths left_depths(const Packed<T>& A, Index i, Index rows)
{
    if (A.part == Part::lower) return {0, std::clamp<Index>(A.below + i + rows, 0, A.depth)};
    if (A.part == Part::upper) return {std::clamp<Index>(A.below + i, 0, A.depth), A.depth};
    return {0, A.depth};
}
template <Scalar T> Depths right_depths(const Packed<T>& B, Index j, Index cols)
{
    if (B.part == Part::lower) return {std::clamp<Index>(j - B.below, 0, B.depth), B.depth};
    if (B.part == Part::upper) return {0, std::clamp<Index>(j + cols - B.below, 0, B.depth)};
    return {0, B.depth};
}

/// One micro-tile of C and its panels, one of which is of a triangular operand: where the diagonal crosses it, it has zeros
/// beside the triangle.
template <Scalar T> struct BesideZeros {
    const MicroKernel<T>& kernel;
    const Packed<T>&A, &B;
    Index i, rows, height, j, cols;
    T alpha;

    bool is_left() const { return A.part != Part::all; }
    const Real<T>* left(Index p) const { return A.image + planes<T> * (i * A.depth + p * height); }
    const Real<T>* right(Index p) const { return B.image + planes<T> * (j * B.depth + p * kernel.nr); }

    /// C <- alpha A B + beta C over some depths, where infinities and NaN must not meet the zeros: each of the depths that the
    /// diagonal crosses goes to the rows or columns that the triangle has there. False: there are none, and nothing was done.
    bool multiply(const Depths& all, T beta, T* C, Index rs, Index cs) const
    {
        const Index first = is_left() ? A.below + i : j - B.below;
        const Depths crossed = all.cut(first, first + (is_left() ? rows : cols));
        if (crossed.begin >= crossed.end || is_finite(crossed)) return false;
        multiply_all({all.begin, crossed.begin}, beta, C, rs, cs);
        multiply_all({crossed.end, all.end}, T(1), C, rs, cs);
        TileRoom<T> room;
        T* const step = room.data();
        for (Index p = crossed.begin; p < crossed.end; ++p) {
            multiply_all({p, p + 1}, T(0), step, 1, rows);
            for (Index c = 0; c < cols; ++c)
                for (Index r = 0; r < rows; ++r)
                    if (is_in_triangle(r, c, p)) C[r * rs + c * cs] += step[r + c * rows];
        }
        return true;
    }

private:
    void multiply_all(const Depths& depths, T beta, T* C, Index rs, Index cs) const
    {
        kernel.multiply(depths.end - depths.begin, left(depths.begin), height, right(depths.begin), alpha, beta, C, rs, cs, rows,
                        cols);
    }
    /// Has the other operand neither in these depths?
    bool is_finite(const Depths& depths) const
    {
        const Index count = depths.end - depths.begin;
        return is_left() ? kernel.all_finite(right(depths.begin), planes<T> * kernel.nr * count)
                         : kernel.all_finite(left(depths.begin), planes<T> * height * count);
    }
    bool is_in_triangle(Index r, Index c, Index p) const
    {
        const Index below = is_left() ? i + r + A.below - p : p + B.below - (j + c);
        return (is_left() ? A.part : B.part) == Part::lower ? below >= 0 : below <= 0;
    }
};

/// Does a panel of A stay in the first cache, and C in the second one? What is larger comes column by column, in whole pages.
template <Scalar T> bool goes_by_rows(const MicroKernel<T>& kernel, Index depth, Index size)
{
    const BlockSizes& sizes = block_sizes<T>();
    return left_panel_stays(kernel, sizes.kc, depth) && size <= sizes.kc * sizes.mc;
}

/// multiply_packed panel of A by panel of A, each with all columns of B that stay in half of the second cache: for a depth so
/// small that the panel stays in the first one.
template <Scalar T>
void multiply_rows(const MicroKernel<T>& kernel, Part part, Index below, T alpha, const Packed<T>& A, Index i0, Index i1,
                   const Packed<T>& B, Index j0, Index j1, T beta, T* C, Index cs)
{
    const BlockSizes& sizes = block_sizes<T>();
    const Index k = A.depth, nr = kernel.nr, wide = std::max<Index>(1, sizes.kc * sizes.mc / (k * nr)) * nr;
    const auto multiply = [&](Index i, Index height, Index rows, Index j, Index cols, T* to, Index to_cs) {
        kernel.multiply_stairs({.k = k,
                                .A = A.image + planes<T> * i * k,
                                .height = height,
                                .B = B.image + planes<T> * j * k,
                                .b_step = planes<T> * k * nr,
                                .alpha = alpha,
                                .beta = beta,
                                .C = to,
                                .cs = to_cs,
                                .rows = rows,
                                .cols = cols});
    };
    for (Index begin = j0; begin < j1; begin += wide)
        for (Index i = i0; i < i1; i += kernel.mr) {
            const Index end = std::min(begin + wide, j1), height = kernel.height(A.extent - i), rows = std::min(height, i1 - i);
            for (Index j = begin; j < end; j += nr) {
                const Index cols = std::min(nr, end - j);
                const Cover covered = cover(part, below, i, rows, j, cols);
                T* const tile = C + i + j * cs;
                if (covered == Cover::some)
                    multiply_part(part, below, i, rows, j, cols, beta, tile, 1, cs,
                                  [&](T* copy) { multiply(i, height, rows, j, cols, copy, rows); });
                if (covered != Cover::all) continue;
                // All panels that follow, of a lower triangle those in front of the diagonal.
                const Index all = part == Part::lower ? std::max(cols, (i - below + 1 - j) / nr * nr) : end - j;
                multiply(i, height, rows, j, std::min(all, end - j), tile, cs);
                j += (all - 1) / nr * nr;
            }
        }
}

/// Numbers that the micro-tiles to come read, brought into the second cache by those before, some for each.
template <class R> struct Ahead {
    const R *at, *end;
    const R* take(Index numbers)
    {
        if (at >= end) return nullptr;
        const R* const first = at;
        at += numbers;
        return first;
    }
};

/// How many panels of A go past B together: in their time at least one panel of B is fetched.
template <Scalar T> Index panels_while_fetching(const MicroKernel<T>& kernel, const Packed<T>& B)
{
    constexpr Index line = 64 / sizeof(Real<T>);
    return kernel.columns_per_line * (B.as_left ? 1 : std::max<Index>(1, planes<T> * kernel.nr / line));
}

/// A panel of B: nr columns.
template <Scalar T> struct RightPanel {
    const Real<T>* image;
    Index step; ///< numbers from row to row

    static RightPanel of(const MicroKernel<T>& kernel, const Packed<T>& B, Index j)
    {
        if (B.in_place) return {B.image + planes<T> * j * B.in_place, planes<T>};
        if (!B.as_left) return {B.image + planes<T> * j * B.depth, planes<T> * kernel.nr};
        const Index first = j / kernel.mr * kernel.mr; // of the left panel that it is a stripe of
        return {B.image + first * B.depth + (j - first), kernel.height(B.extent - first)};
    }
    const Real<T>* row(Index p) const { return image + p * step; }
};

/// multiply_packed panel of B by panel of B.
template <Scalar T> struct ColumnOfPanels {
    const MicroKernel<T>& kernel;
    Part part;
    Index below;
    T alpha;
    const Packed<T>&A, &B;
    T* C;
    Index rs, cs, i1; ///< rows in front of i1
    bool triangular;

    /// C <- alpha A B + beta C for rows [begin, end) and the columns [j, j + cols) of one panel of B, from depth p0 on, where B
    /// has `of_right`. `next` is what of B comes then: `far`, it is fetched into the second cache, with what is ahead.
    void multiply(Index begin, Index end, Index j, Index cols, Index p0, const Depths& of_right, T beta, const Real<T>* next,
                  bool far, Ahead<Real<T>>& ahead) const
    {
        const RightPanel<T> panel = RightPanel<T>::of(kernel, B, j);
        for (Index i = begin; i < end; i += kernel.mr) {
            const Index height = kernel.height(A.extent - i), rows = std::min(height, i1 - i);
            const Cover covered = cover(part, below, i, rows, j, cols);
            if (covered == Cover::none) continue;
            const Depths depths = left_depths(A, i, rows).cut(of_right.begin, of_right.end).or_none_at(p0);
            const Index depth = depths.end - depths.begin;
            if (depth == 0 && beta == T(1)) continue;
            const BesideZeros<T> zeros{kernel, A, B, i, rows, height, j, cols, alpha};
            const auto done_beside_zeros = [&](T* to, Index r, Index c) {
                return triangular && zeros.multiply(depths, beta, to, r, c);
            };
            StackProduct<T> product{.k = depth,
                                    .panels = 1,
                                    .A = A.image + planes<T> * (i * A.depth + depths.begin * height),
                                    .step = 0,
                                    .B = panel.row(depths.begin),
                                    .alpha = alpha,
                                    .beta = beta,
                                    .C = C + i * rs + j * cs,
                                    .cs = cs,
                                    .cols = cols};
            if (covered == Cover::some) {
                multiply_part(part, below, i, rows, j, cols, beta, product.C, rs, cs, [&](T* copy) {
                    if (!done_beside_zeros(copy, 1, rows)) tile(product, copy, 1, rows, panel.step, height, rows, nullptr);
                });
                continue;
            }
            const Index panels = covered_panels(part, below, i, std::min(end, i1 - 1), j, kernel.mr);
            if (panels > 0 && !triangular && rs == 1) {
                product.panels = panels;
                product.step = planes<T> * A.depth * height;
                product.next = far ? next : nullptr;
                stack(product, panel.step, ahead);
                i += (panels - 1) * kernel.mr;
            } else if (!done_beside_zeros(product.C, rs, cs))
                tile(product, product.C, rs, cs, panel.step, height, rows, i + kernel.mr < i1 ? product.B : next);
        }
    }

private:
    void stack(StackProduct<T> product, Index b_step, Ahead<Real<T>>& ahead) const
    {
        if (B.in_place) return kernel.multiply_columns({product, B.in_place, kernel.mr, kernel.mr});
        const Real<T>* const later = ahead.take(product.panels * kernel.fetched(product.k));
        if (product.next || B.as_left) product.later = later;
        else product.next = later;
        if (B.as_left) kernel.multiply_stripe({product, b_step, kernel.mr, kernel.mr});
        else kernel.multiply_stack(product);
    }
    /// Of one panel. `next` is what of B comes then, into the first cache.
    void tile(StackProduct<T> x, T* to, Index to_rs, Index to_cs, Index b_step, Index height, Index rows,
              const Real<T>* next) const
    {
        if (!B.as_left && !B.in_place)
            return kernel.multiply(x.k, x.A, height, x.B, alpha, x.beta, to, to_rs, to_cs, rows, x.cols, next);
        x.C = to;
        x.cs = to_cs;
        if (B.in_place) kernel.multiply_columns({x, B.in_place, height, rows});
        else kernel.multiply_stripe({x, b_step, height, rows});
    }
};

} // namespace

template <Scalar T>
void multiply_packed(const MicroKernel<T>& kernel, Index kc, Part part, Index below, T alpha, const Packed<T>& A, Index i0,
                     Index i1, const Packed<T>& B, Index j0, Index j1, T beta, T* C, Index rs, Index cs)
{
    const bool triangular = A.part != Part::all || B.part != Part::all;
    if (A.depth == 0) return scale_part(part, below, i0, i1, j0, j1, beta, C, rs, cs);
    if (!triangular && !B.as_left && !B.in_place && rs == 1 && A.depth <= kc &&
        goes_by_rows(kernel, A.depth, (i1 - i0) * (j1 - j0)))
        return multiply_rows(kernel, part, below, alpha, A, i0, i1, B, j0, j1, beta, C, cs);
    const bool fetches_right =
        B.far || B.in_place || (j1 - j0) * std::min(kc, A.depth) > block_sizes<T>().kc * block_sizes<T>().mc;
    const Index group = A.far && A.depth <= kc ? panels_while_fetching(kernel, B) * kernel.mr : i1 - i0;
    const ColumnOfPanels<T> column{kernel, part, below, alpha, A, B, C, rs, cs, i1, triangular};
    for (Index p0 = 0; p0 < A.depth; p0 += kc)
        for (Index begin = i0; begin < i1; begin += group) {
            const Index end = std::min(i1, begin + group);
            const auto panels = [&](Index row) { return A.image + planes<T> * A.depth * std::min(row, i1); };
            Ahead<Real<T>> ahead{panels(end), panels(end + group)};
            for (Index j = j0; j < j1; j += kernel.nr) {
                const Index cols = std::min(kernel.nr, j1 - j);
                const Depths depths = right_depths(B, j, cols).cut(p0, std::min(p0 + kc, A.depth));
                const Real<T>* const next = RightPanel<T>::of(kernel, B, j + kernel.nr < j1 ? j + kernel.nr : j).row(p0);
                column.multiply(begin, end, j, cols, p0, depths, p0 == 0 ? beta : T(1), next, fetches_right && begin == i0,
                                ahead);
            }
        }
}

#define TRC_INSTANTIATE(T)                                                                                                       \
    template void multiply_packed(const MicroKernel<T>&, Index, Part, Index, T, const Packed<T>&, Index, Index,                  \
                                  const Packed<T>&, Index, Index, T, T*, Index, Index);
TRC_INSTANTIATE(float)
TRC_INSTANTIATE(double)
TRC_INSTANTIATE(std::complex<float>)
TRC_INSTANTIATE(std::complex<double>)
#undef TRC_INSTANTIATE

} // namespace trencadis::blas
