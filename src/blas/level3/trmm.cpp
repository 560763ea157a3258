#include "blas/level3/level3.hpp"
#include "blas/level3/packing.hpp"
#include "blas/level3/past_triangle.hpp"
#include "blas/level3/product.hpp"
#include "blas/level3/scratch.hpp"
#include "blas/level3/triangular.hpp"

#include <algorithm>

namespace trencadis::blas {

namespace {

/// B <- alpha A B or alpha B A in place, B m x n, A triangular. As much of B as the buffer of an ordinary product holds is packed
/// in full depth, a block of columns (A on the left) or of rows, before any of it is overwritten.
template <Scalar T> struct InPlace {
    const Setup<T>& with;
    Operand<T> A;
    Side side;
    Index m, n;
    T alpha;
    T* B;
    Index ldb;
    Index kc = 0; ///< depth of one packed piece

    Index order() const { return side == Side::left ? m : n; }
    /// Numbers in a piece of B, packed for so many columns (A on the right: rows): its panels, and behind them a mark for each.
    Index panels(Index extent) const
    {
        const MicroKernel<T>& kernel = with.kernel;
        return side == Side::left ? kernel.right_size(kc, extent) : kernel.left_size(extent, kc);
    }
    Index unit() const { return side == Side::left ? with.kernel.nr : with.kernel.mr; }
    Index piece(Index extent) const
    {
        constexpr Index line = 64 / sizeof(Real<T>); // vectors are aligned
        return panels(extent) + ((extent + unit() - 1) / unit() + line - 1) / line * line;
    }
    void pack_piece(Index p, Index first, Index extent, Index depth, Real<T>* piece) const;

    /// Rows of B that can be non-zero partners of `count` rows (columns) of A from `first` on: the rest of A is zero there.
    struct Depths {
        Index begin, end;
    };
    Depths reach(Index first, Index count) const
    {
        const bool before = (side == Side::left) == (A.uplo == Uplo::lower);
        return before ? Depths{0, std::min(order(), first + count)} : Depths{first, order()};
    }

    /// One micro-tile of B and its packed panels, whose first depth is p.
    struct MicroTile {
        Index i, rows, height, j, cols, p;
        const Real<T>*a, *b;
    };
    Index step() const;
    void reserve_buffers() const;
    void multiply_micro_tiles(Index p, Index depth, const Real<T>* left, Index i0, Index rows, const Real<T>* right, Index j0,
                              Index cols, const Real<T>* finite) const;
    void multiply_depths(const MicroTile& tile, Index begin, Index end, T beta, T* C, Index ldc) const;
    bool crosses_diagonal(const MicroTile& tile, Index begin, Index end) const;
    bool takes_rows_at_once(Index depth, const Real<T>* finite, Index cols) const;
    void multiply_stairs(const MicroTile& tile, Index begin, Index end, Index depth, T beta) const;
    Index panels_alike(const MicroTile& tile, Index depth, Index rows, const Real<T>* finite) const;
    void multiply_stack(const MicroTile& tile, Index begin, Index end, Index depth, T beta, Index panels) const;
    void multiply_beside_the_zeros(const MicroTile& tile, Index begin, Index end, bool first) const;
    void from_left(Index j, Index cols) const;
    void from_right(Index i, Index rows) const;
};

/// Columns (A on the right: rows) of B that are packed at a time.
template <Scalar T> Index InPlace<T>::step() const
{
    const Index others = side == Side::left ? n : m;
    const Index most = with.tree[Loop::pc] * with.tree[Loop::jc] / order() / unit() * unit();
    return balanced_block(others, std::max(most, unit()), unit());
}

/// All that from_left and from_right ask for.
template <Scalar T> void InPlace<T>::reserve_buffers() const
{
    const MicroKernel<T>& kernel = with.kernel;
    const Index pieces = (order() + kc - 1) / kc, nc = balanced_block(n, with.tree[Loop::jc], kernel.nr),
                mc = balanced_block(m, with.tree[Loop::ic], kernel.mr);
    const bool left = side == Side::left;
    const Index rows = std::min(m, left ? mc : step()), cols = std::min(n, left ? step() : nc);
    scratch<Real<T>>(Buffer::right, left ? piece(cols) * pieces : kernel.right_size(kc, cols));
    scratch<Real<T>>(Buffer::left, left ? kernel.left_size(rows, kc) : piece(rows) * pieces);
}

/// Depths [p, p + depth) of columns (A on the right: rows) [first, first + extent) of B. Panels without infinity and NaN are
/// marked: the zeros beside A's triangle may be multiplied with them. Each by itself, so that what one has does not change the
/// bits of another, whoever computes it; and as soon as it is packed, while it is in the first cache.
template <Scalar T> void InPlace<T>::pack_piece(Index p, Index first, Index extent, Index depth, Real<T>* piece) const
{
    const MicroKernel<T>& kernel = with.kernel;
    Real<T>* mark = piece + panels(extent);
    for (Index i = 0; i < extent; i += unit()) {
        const Index count = std::min(unit(), extent - i), at = first + i;
        Index size = 0;
        if (side == Side::left) {
            pack_right(kernel, general<T>(B + p + at * ldb, ldb), depth, count, piece);
            size = kernel.right_size(depth, count);
        } else {
            pack_left(kernel, general<T>(B + at + p * ldb, ldb), count, depth, piece);
            size = kernel.left_size(count, depth);
        }
        *mark++ = Real<T>(kernel.all_finite(piece, size));
        piece += size;
    }
}

/// C <- alpha A B + beta C for depths [begin, end) of one micro-tile.
template <Scalar T> void InPlace<T>::multiply_depths(const MicroTile& x, Index begin, Index end, T beta, T* C, Index ldc) const
{
    if (begin >= end) return;
    const Real<T>* const b = x.b + planes<T> * (begin - x.p) * with.kernel.nr;
    with.kernel.multiply(end - begin, x.a + planes<T> * (begin - x.p) * x.height, x.height, b, alpha, beta, C, 1, ldc, x.rows,
                         x.cols, b);
}

/// Has the left panel in depths [begin, end) a column on the diagonal for each of its rows?
template <Scalar T> bool InPlace<T>::crosses_diagonal(const MicroTile& x, Index begin, Index end) const
{
    if (side == Side::right) return false;
    return A.uplo == Uplo::lower ? begin <= x.i && end == x.i + x.rows : begin == x.i && end >= x.i + x.rows;
}

/// Goes a panel of A through all panels of B at once? It then stays in the first cache; and no infinity may meet the zeros.
template <Scalar T> bool InPlace<T>::takes_rows_at_once(Index depth, const Real<T>* finite, Index cols) const
{
    const Index panels = (cols + with.kernel.nr - 1) / with.kernel.nr;
    return side == Side::left && left_panel_stays(with.kernel, with.tree[Loop::pc], depth) &&
           std::all_of(finite, finite + panels, [](Real<T> mark) { return mark != 0; });
}

/// The same in place there, for any columns of a piece `depth` deep, without most of the zeros beside A's triangle.
template <Scalar T> void InPlace<T>::multiply_stairs(const MicroTile& x, Index begin, Index end, Index depth, T beta) const
{
    with.kernel.multiply_stairs({.lower = A.uplo == Uplo::lower,
                                 .stairs = x.rows,
                                 .k = end - begin,
                                 .A = x.a + planes<T> * (begin - x.p) * x.height,
                                 .height = x.height,
                                 .B = x.b + planes<T> * (begin - x.p) * with.kernel.nr,
                                 .b_step = planes<T> * depth * with.kernel.nr,
                                 .alpha = alpha,
                                 .beta = beta,
                                 .C = B + x.i + x.j * ldb,
                                 .cs = ldb,
                                 .rows = x.rows,
                                 .cols = x.cols});
}

/// How many whole panels of A, of the `rows` from this tile's on, have the same depths of a piece `depth` deep in common with its
/// columns, and nothing beside a triangle that an infinity could meet? On the left those that have all of the piece in theirs.
template <Scalar T> Index InPlace<T>::panels_alike(const MicroTile& x, Index depth, Index rows, const Real<T>* finite) const
{
    const Index mr = with.kernel.mr, whole = rows / mr;
    if (side == Side::right) return std::find(finite, finite + whole, Real<T>(0)) - finite;
    if (*finite == 0) return 0;
    if (A.uplo == Uplo::lower) return x.i >= x.p + depth ? whole : 0;
    return std::clamp<Index>((x.p - x.i) / mr, 0, whole);
}

/// multiply_depths in place for panels of A below one another.
template <Scalar T>
void InPlace<T>::multiply_stack(const MicroTile& x, Index begin, Index end, Index depth, T beta, Index panels) const
{
    with.kernel.multiply_stack({end - begin, panels, x.a + planes<T> * (begin - x.p) * x.height, planes<T> * depth * x.height,
                                x.b + planes<T> * (begin - x.p) * with.kernel.nr, alpha, beta, B + x.i + x.j * ldb, ldb, x.cols});
}

/// The same in place, where infinities and NaN in B must not meet the zeros beside A's triangle: in the depths that the diagonal
/// crosses, each step goes to the rows or columns that the triangle has there.
template <Scalar T> void InPlace<T>::multiply_beside_the_zeros(const MicroTile& x, Index begin, Index end, bool first) const
{
    T* const C = B + x.i + x.j * ldb;
    if (first) scale(Part::all, x.rows, x.cols, T(0), C, 1, ldb);
    const Index diagonal = side == Side::left ? x.i : x.j, extent = side == Side::left ? x.rows : x.cols;
    const Index from = std::clamp(diagonal, begin, end), to = std::clamp(diagonal + extent, begin, end);
    multiply_depths(x, begin, from, T(1), C, ldb);
    multiply_depths(x, to, end, T(1), C, ldb);
    TileRoom<T> room;
    T* const step = room.data();
    for (Index p = from; p < to; ++p) {
        multiply_depths(x, p, p + 1, T(0), step, x.rows);
        for (Index c = 0; c < x.cols; ++c)
            for (Index r = 0; r < x.rows; ++r) {
                const Index row = side == Side::left ? x.i + r : p, column = side == Side::left ? p : x.j + c;
                if (A.uplo == Uplo::lower ? row >= column : row <= column) C[r + c * ldb] += step[r + c * x.rows];
            }
    }
}

/// Packed pieces of A and B, both of depths [p, p + depth), for rows from i0 and columns from j0 on. Each micro-tile has the
/// depth its rows or columns reach; the first piece that it meets overwrites. `finite`: the marks of B's panels.
template <Scalar T>
void InPlace<T>::multiply_micro_tiles(Index p, Index depth, const Real<T>* left, Index i0, Index rows, const Real<T>* right,
                                      Index j0, Index cols, const Real<T>* finite) const
{
    const MicroKernel<T>& kernel = with.kernel;
    const bool by_rows = takes_rows_at_once(depth, finite, cols);
    bool is_through = by_rows; // with all columns, after the first ones
    for (Index j = 0; j < cols && !(j > 0 && is_through); j += kernel.nr)
        for (Index i = 0; i < rows; i += kernel.mr) {
            const Index height = kernel.height(rows - i), count = std::min(height, rows - i);
            MicroTile tile{i0 + i,
                           count,
                           height,
                           j0 + j,
                           std::min(kernel.nr, cols - j),
                           p,
                           left + planes<T> * i * depth,
                           right + planes<T> * j * depth};
            const Depths all = side == Side::left ? reach(tile.i, count) : reach(tile.j, tile.cols);
            const Index begin = std::max(all.begin, p), end = std::min(all.end, p + depth);
            if (begin >= end) continue;
            const bool first = begin == all.begin;
            const T beta = first ? T(0) : T(1);
            const Real<T>* const mark = finite + (side == Side::left ? j / kernel.nr : i / kernel.mr);
            if (const Index panels = panels_alike(tile, depth, rows - i, mark); panels > 0) {
                multiply_stack(tile, begin, end, depth, beta, panels);
                i += (panels - 1) * kernel.mr;
                is_through = false;
            } else if (*mark == 0) {
                multiply_beside_the_zeros(tile, begin, end, first);
            } else if (!crosses_diagonal(tile, begin, end)) {
                multiply_depths(tile, begin, end, beta, B + tile.i + tile.j * ldb, ldb);
                is_through = false;
            } else if (!by_rows || j == 0) {
                if (by_rows) tile.cols = cols;
                multiply_stairs(tile, begin, end, depth, beta);
            }
        }
}

/// Columns [j, j + cols) of B <- alpha A B.
template <Scalar T> void InPlace<T>::from_left(Index j, Index cols) const
{
    const MicroKernel<T>& kernel = with.kernel;
    const Index piece = this->piece(cols), mc = balanced_block(m, with.tree[Loop::ic], kernel.mr);
    Real<T>* const packed = scratch<Real<T>>(Buffer::right, piece * ((m + kc - 1) / kc));
    for (Index p = 0; p < m; p += kc) {
        const Index depth = std::min(kc, m - p);
        pack_piece(p, j, cols, depth, packed + p / kc * piece);
    }
    Real<T>* const left = scratch<Real<T>>(Buffer::left, kernel.left_size(std::min(mc, m), kc));
    for (Index i = 0; i < m; i += mc) {
        const Index rows = std::min(mc, m - i);
        const Depths all = reach(i, rows);
        for (Index p = all.begin / kc * kc; p < all.end; p += kc) {
            const Index depth = std::min(kc, m - p);
            pack_left(kernel, A.block(i, p), rows, depth, left);
            const Real<T>* const of_b = packed + p / kc * piece;
            multiply_micro_tiles(p, depth, left, i, rows, of_b, j, cols, of_b + panels(cols));
        }
    }
}

/// Rows [i, i + rows) of B <- alpha B A.
template <Scalar T> void InPlace<T>::from_right(Index i, Index rows) const
{
    const MicroKernel<T>& kernel = with.kernel;
    const Index piece = this->piece(rows), nc = balanced_block(n, with.tree[Loop::jc], kernel.nr);
    const Index mc = with.tree[Loop::ic];
    Real<T>* const packed = scratch<Real<T>>(Buffer::left, piece * ((n + kc - 1) / kc));
    for (Index p = 0; p < n; p += kc) {
        const Index depth = std::min(kc, n - p);
        pack_piece(p, i, rows, depth, packed + p / kc * piece);
    }
    Real<T>* const right = scratch<Real<T>>(Buffer::right, kernel.right_size(kc, std::min(nc, n)));
    for (Index j = 0; j < n; j += nc) {
        const Index cols = std::min(nc, n - j);
        const Depths all = reach(j, cols);
        for (Index p = all.begin / kc * kc; p < all.end; p += kc) {
            const Index depth = std::min(kc, n - p);
            pack_right(kernel, A.block(p, j), depth, cols, right);
            const Real<T>* const of_b = packed + p / kc * piece;
            for (Index r = 0; r < rows; r += mc)
                multiply_micro_tiles(p, depth, of_b + planes<T> * r * depth, i + r, std::min(mc, rows - r), right, j, cols,
                                     of_b + panels(rows) + r / kernel.mr);
        }
    }
}

/// B <- alpha B U, U upper, as all eight cases are: X, a few panels of rows at a time, is packed and goes past U, which is packed
/// whole; the result goes back to where B lies. False: there is no memory for U; nothing was done.
template <Scalar T> class ByFactor {
public:
    ByFactor(const Setup<T>& with, const RightUpper<T>& x, T alpha)
        : kernel_(with.kernel), kc_(with.tree[Loop::pc]), x_(x), alpha_(alpha)
    {
        const Index half = with.tree[Loop::pc] * with.tree[Loop::ic];
        at_once_ = std::min(with.tree[Loop::ic], rows_past_triangle(kernel_, half, x.n, x.rs, x.cs));
    }
    bool run()
    {
        if (!has_memory()) return false;
        pack_factor(kernel_, x_.U, x_.n, U_);
        for (Index i = 0; i < x_.rows; i += at_once_) do_rows(i, std::min(at_once_, x_.rows - i));
        return true;
    }

private:
    bool has_memory()
    {
        try {
            U_ = scratch<Real<T>>(Buffer::triangle, triangle_size(kernel_, x_.n));
            X_ = scratch<Real<T>>(Buffer::solution, kernel_.left_size(std::min(at_once_, x_.rows), x_.n));
            return true;
        } catch (const Error& failure) {
            if (failure.code() != ErrorCode::out_of_memory) throw;
            return false;
        }
    }
    void do_rows(Index first, Index rows) const
    {
        T* B = x_.B + first * x_.rs;
        const Index alone = rows_without_image(kernel_, kc_, rows, x_.n, x_.rs, x_.cs);
        multiply_without_image(kernel_, alone, x_.n, U_, alpha_, B, x_.cs);
        if (rows -= alone; rows == 0) return;
        B += alone;
        pack_left(kernel_, Operand<T>{B, x_.rs, x_.cs}, rows, x_.n, X_);
        const TrianglePanels panels{x_.n, kernel_.nr};
        for (Index j = 0; j < panels.count(); ++j) {
            const Real<T>* const U = U_ + planes<T> * panels.numbers_before(j);
            for (Index i = 0; i < rows; i += kernel_.mr) {
                const Index height = kernel_.height(rows - i);
                multiply_step(kernel_, panels.first(j), panels.cols(j), U, X_ + planes<T> * i * x_.n, height,
                              std::min(height, rows - i), alpha_, B + i * x_.rs, x_.rs, x_.cs);
            }
        }
    }

    const MicroKernel<T>& kernel_;
    const Index kc_;
    const RightUpper<T> x_;
    const T alpha_;
    Index at_once_;
    Real<T>*U_ = nullptr, *X_ = nullptr;
};

} // namespace

template <Scalar T>
void trmm(Side side, Uplo uplo, Op op, Diag diag, Index m, Index n, T alpha, const T* A, Index lda, T* B, Index ldb)
{
    if (m <= 0 || n <= 0) return;
    if (alpha == T(0)) return scale(Part::all, m, n, alpha, B, 1, ldb); // zeros, as in the reference BLAS; A is not read
    Setup<T> with = setup<T>();
    if (goes_past_factor(with.kernel, side, side == Side::left ? m : n, side == Side::left ? n : m) &&
        ByFactor<T>(with, right_upper(side, uplo, op, diag, m, n, A, lda, B, ldb), alpha).run())
        return;
    Operand<T> triangle = general(A, lda);
    triangle.structure = Structure::triangular;
    triangle.uplo = uplo;
    triangle.diag = diag;
    InPlace<T> x{with, triangle.op(op), side, m, n, alpha, B, ldb};
    fit_to_memory(with, [&] {
        x.kc = std::min(x.order(), balanced_block(x.order(), with.tree[Loop::pc], 8));
        x.reserve_buffers();
    });
    const Index others = side == Side::left ? n : m, step = x.step();
    for (Index at = 0; at < others; at += step) {
        if (side == Side::left) x.from_left(at, std::min(step, others - at));
        else x.from_right(at, std::min(step, others - at));
    }
}

#define TRC_INSTANTIATE(T) template void trmm(Side, Uplo, Op, Diag, Index, Index, T, const T*, Index, T*, Index);
TRC_INSTANTIATE(float)
TRC_INSTANTIATE(double)
TRC_INSTANTIATE(std::complex<float>)
TRC_INSTANTIATE(std::complex<double>)
#undef TRC_INSTANTIATE

} // namespace trencadis::blas
