#include "blas/level3/level3.hpp"
#include "blas/level3/packing.hpp"
#include "blas/level3/past_triangle.hpp"
#include "blas/level3/product.hpp"
#include "blas/level3/scratch.hpp"
#include "blas/level3/triangular.hpp"
#include "blas/level3/vector_solve.hpp"

#include <algorithm>

namespace trencadis::blas {
namespace {

/// Rows of B whose packed solution is kept at a time: the more, the less often the triangle is packed again.
template <Scalar T> Index rows_at_a_time(const Setup<T>& with, Index rows)
{
    const Index wanted = std::min<Index>(1024, 4 * with.tree[Loop::jc]) / with.kernel.mr * with.kernel.mr;
    return balanced_block(rows, std::max(with.tree[Loop::ic], wanted), with.kernel.mr);
}
template <Scalar T> Index columns_at_a_time(const Setup<T>& with, Index n)
{
    return balanced_block(n, with.tree[Loop::pc], with.kernel.nr);
}

/// All that the loops below ask for; the products inside find these buffers too, and fit themselves into them.
template <Scalar T> void reserve_buffers(const Setup<T>& with, const RightUpper<T>& x)
{
    const MicroKernel<T>& kernel = with.kernel;
    const Index width = std::min(columns_at_a_time(with, x.n), x.n), rows = std::min(rows_at_a_time(with, x.rows), x.rows);
    scratch<Real<T>>(Buffer::solution, kernel.left_size(rows, width));
    scratch<Real<T>>(Buffer::triangle, triangle_size(kernel, width));
    if (width == x.n) return;
    scratch<Real<T>>(Buffer::right, kernel.right_size(width, std::min(with.tree[Loop::jc], x.n - width)));
    scratch<Real<T>>(Buffer::left, kernel.left_size(kernel.mr, 8));
}

/// The columns right of a solved block: B_rest <- scale B_rest - X U_rest, with X still packed.
template <Scalar T>
void update_from_packed(const Setup<T>& with, const RightUpper<T>& x, const Real<T>* X, Index rows, Index done, Index width,
                        T factor)
{
    const Index nc = with.tree[Loop::jc], mc = with.tree[Loop::ic];
    for (Index j = done + width; j < x.n; j += nc) {
        const Index cols = std::min(nc, x.n - j);
        Real<T>* const right = scratch<Real<T>>(Buffer::right, with.kernel.right_size(width, cols));
        pack_right(with.kernel, x.U.block(done, j), width, cols, right);
        for (Index i = 0; i < rows; i += mc)
            multiply_packed<T>(with.kernel, width, Part::all, 0, T(-1), {X, rows, width}, i, std::min(rows, i + mc),
                               {right, cols, width}, 0, cols, factor, x.B + j * x.cs, x.rs, x.cs);
    }
}

/// The same where rows of B are not contiguous, so that X has to become the other operand.
template <Scalar T> void update_from_memory(const RightUpper<T>& x, Index rows, Index done, Index width, T factor)
{
    Operand<T> rest = x.U.block(done, done + width);
    rest.structure = Structure::general;
    const Operand<T> X{x.B + done * x.cs, x.rs, x.cs};
    const Index j = done + width;
    multiply<T>({rows, x.n - j, width, T(-1), X, rest, factor, x.B + j * x.cs, x.rs, x.cs});
}

/// A block of columns of B with the packed triangle. Its solution stays packed in X, panels of rows behind one another, where
/// `keeps` (then all rows fit); else a panel's takes the place of the one before, in the first cache.
template <Scalar T>
void solve_block(const MicroKernel<T>& kernel, Index kc, Index rows, Index width, const Real<T>* triangle, T* B, Index rs,
                 Index cs, Real<T>* X, bool keeps)
{
    if (!moves_in_place(kernel, rs, cs)) {
        pack_left(kernel, Operand<T>{B, rs, cs}, rows, width, X);
        solve_packed(kernel, X, rows, 0, rows, width, triangle);
        return unpack_left(kernel, X, rows, width, B, rs, cs);
    }
    const TrianglePanels panels{width, kernel.nr};
    const Index alone = keeps ? 0 : rows_without_image(kernel, kc, rows, width, rs, cs);
    solve_without_image(kernel, alone, width, triangle, B, cs);
    B += alone;
    for (Index i = alone; i < rows; i += kernel.mr, B += kernel.mr * rs) {
        const Index height = kernel.height(rows - i), count = std::min(height, rows - i);
        for (Index j = 0; j < panels.count(); ++j)
            solve_step<T>(kernel, panels.first(j), panels.cols(j), triangle + planes<T> * panels.numbers_before(j), X, height,
                          count, B, rs, cs, nullptr);
        if (keeps) X += planes<T> * height * width;
    }
}

/// B <- B U^-1 for as many rows as the buffers hold, right-looking in blocks of kc columns.
template <Scalar T> void solve_rows(const Setup<T>& with, const RightUpper<T>& x, T alpha)
{
    const MicroKernel<T>& kernel = with.kernel;
    const Index kc = columns_at_a_time(with, x.n);
    const Index widest = std::min(kc, x.n);
    Real<T>* const X = scratch<Real<T>>(Buffer::solution, kernel.left_size(x.rows, widest));
    Real<T>* const triangle = scratch<Real<T>>(Buffer::triangle, triangle_size(kernel, widest));
    for (Index done = 0; done < x.n; done += kc) {
        const Index width = std::min(kc, x.n - done);
        T* const block = x.B + done * x.cs;
        if (done == 0) scale(Part::all, x.rows, width, alpha, block, x.rs, x.cs);
        const bool is_last = done + width == x.n;
        pack_triangle(kernel, x.U.block(done, done), width, triangle);
        solve_block(kernel, with.tree[Loop::pc], x.rows, width, triangle, block, x.rs, x.cs, X, !is_last && x.rs == 1);
        if (is_last) return;
        const T factor = done == 0 ? alpha : T(1);
        if (x.rs == 1) update_from_packed(with, x, X, x.rows, done, width, factor);
        else update_from_memory(x, x.rows, done, width, factor);
    }
}

/// B <- alpha B U^-1, as many rows at a time as the buffers hold.
template <Scalar T> void solve_columns(const Setup<T>& with, RightUpper<T> x, T alpha)
{
    const Index rows = x.rows, step = rows_at_a_time(with, rows);
    for (Index i = 0; i < rows; i += step, x.B += step * x.rs) {
        x.rows = std::min(step, rows - i);
        solve_rows(with, x, alpha);
    }
}

/// By halves of the columns: the deeper a product, the less often it goes through what it updates. Where rows are contiguous
/// products have X as it was packed by the solve, and gain as much by that.
template <Scalar T> void solve_halves(const Setup<T>& with, const RightUpper<T>& x, T alpha)
{
    if (x.rs == 1 || x.n <= std::max(3 * with.tree[Loop::pc], with.kernel.nr)) return solve_columns(with, x, alpha);
    const Index half = (x.n / 2 + with.kernel.nr - 1) / with.kernel.nr * with.kernel.nr;
    RightUpper<T> first = x, second = x;
    first.n = half;
    second.n -= half;
    second.U = x.U.block(half, half);
    second.B += half * x.cs;
    solve_halves(with, first, alpha);
    update_from_memory(x, x.rows, 0, half, alpha);
    solve_halves(with, second, T(1));
}

template <Scalar T>
void solve_vectors(Uplo uplo, Op op, Diag diag, Index m, Index n, T alpha, const T* A, Index lda, T* B, Index ldb)
{
    scale(Part::all, m, n, alpha, B, 1, ldb);
    for (Index j = 0; j < n; ++j) solve_vector(uplo, op, diag, m, A, lda, B + j * ldb);
}

} // namespace

template <Scalar T>
void trsm(Side side, Uplo uplo, Op op, Diag diag, Index m, Index n, T alpha, const T* A, Index lda, T* B, Index ldb)
{
    if (m <= 0 || n <= 0) return;
    if (alpha == T(0)) return scale(Part::all, m, n, alpha, B, 1, ldb); // zeros, as in the reference BLAS; A is not read
    if (side == Side::left && n <= most_vectors) return solve_vectors(uplo, op, diag, m, n, alpha, A, lda, B, ldb);
    Setup<T> with = setup<T>();
    const RightUpper<T> x = right_upper(side, uplo, op, diag, m, n, A, lda, B, ldb);
    fit_to_memory(with, [&] { reserve_buffers(with, x); });
    solve_halves(with, x, alpha);
}

#define TRC_INSTANTIATE(T) template void trsm(Side, Uplo, Op, Diag, Index, Index, T, const T*, Index, T*, Index);
TRC_INSTANTIATE(float)
TRC_INSTANTIATE(double)
TRC_INSTANTIATE(std::complex<float>)
TRC_INSTANTIATE(std::complex<double>)
#undef TRC_INSTANTIATE

} // namespace trencadis::blas
