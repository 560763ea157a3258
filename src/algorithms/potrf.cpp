#include "algorithms/potrf.hpp"

#include "algorithms/cutting.hpp"
#include "algorithms/trsm.hpp"
#include "graph/task_context.hpp"
#include "kernels/tiles/tile_access.hpp"
#include "kernels/tiles/tile_operations.hpp"
#include "matrix/operations.hpp"

namespace trencadis {
namespace {

constexpr Index steps_kept = 3; ///< whose images are in memory at a time: a panel may be two steps ahead of the last update

/// Right-looking Cholesky of the tiles of A; row numbers in the outcome start at `first_row`. `tasks` submits the operations: a
/// factored diagonal tile, A_ik <- A_ik L_kk^-H, A_jj <- A_jj - A_jk A_jk^H and A_ij <- A_ij - A_ik A_jk^H.
template <Scalar T, class Tasks> void right_looking(TileMatrix<T> A, Index first_row, Tasks tasks)
{
    for (Index k = 0; k < A.tiles(); ++k) {
        const Index row = first_row + A.first_row(k);
        const Guard step{row + A(k, k).rows};
        tasks.factor(k, row);
        for (Index i = k + 1; i < A.tiles(); ++i) tasks.solve(i, k, step);
        for (Index j = k + 1; j < A.tiles(); ++j) {
            tasks.update_diagonal(j, k, step);
            for (Index i = j + 1; i < A.tiles(); ++i) tasks.update(i, j, k, step);
        }
    }
}

/// Left-looking Cholesky by the same operations. An update has the guard of the step that it belongs to: its operands are there
/// once that step's pivots are known, so that after a bad one the same tasks do nothing in either order.
template <Scalar T, class Tasks> void left_looking(TileMatrix<T> A, Tasks tasks)
{
    const auto step = [&](Index k) { return Guard{A.first_row(k) + A(k, k).rows}; };
    for (Index k = 0; k < A.tiles(); ++k) {
        for (Index j = 0; j < k; ++j) tasks.update_diagonal(k, j, step(j));
        tasks.factor(k, A.first_row(k));
        for (Index i = k + 1; i < A.tiles(); ++i) {
            for (Index j = 0; j < k; ++j) tasks.update(i, k, j, step(j));
            tasks.solve(i, k, step(k));
        }
    }
}

/// The operations on tiles as they lie in memory, with anybody's kernels.
template <Scalar T> struct PlainTiles {
    Flow& flow;
    TileMatrix<T> A;

    void factor(Index k, Index row) { task::potrf(flow, A(k, k), row); }
    void solve(Index i, Index k, Guard step)
    {
        task::trsm(flow, Side::right, Uplo::upper, Diag::non_unit, T(1), herm(A(k, k)), A(i, k), step);
    }
    void update_diagonal(Index j, Index k, Guard step) { task::herk(flow, Real<T>(-1), A(j, k), Real<T>(1), A(j, j), step); }
    void update(Index i, Index j, Index k, Guard step) { task::gemm(flow, T(-1), A(i, k), herm(A(j, k)), T(1), A(i, j), step); }
};

/// The operations on packed tiles: the solve of a tile makes the images that all updates with it use.
template <Scalar T> struct PackedTiles {
    Flow& flow;
    TileMatrix<T> A;
    const CholeskyImages<T>& images;

    void factor(Index k, Index row) { task::potrf_packed(flow, A(k, k), images.triangle(k), row); }
    void solve(Index i, Index k, Guard step)
    {
        const Tile<T> B = A(i, k);
        task::TriangularSolve<T> solve{images.triangle(k), blas::general<T>(B.data, B.ld, B.op), T(1), left(i, k)};
        if (!right(i, k).form.as_left) solve.right = right(i, k).data;
        solve.conjugate_right = true;
        solve.guard = step;
        task::solve_packed(flow, solve);
    }
    void update_diagonal(Index j, Index k, Guard step)
    {
        task::Product<T> product = update_of(j, j, k, step);
        product.part = A.op() == Op::none ? blas::Part::lower : blas::Part::upper;
        product.real_diagonal = true;
        task::multiply(flow, product);
    }
    void update(Index i, Index j, Index k, Guard step) { task::multiply(flow, update_of(i, j, k, step)); }

private:
    task::Image<T> left(Index i, Index k) const { return images.left(i, k, A(i, k).rows, A(i, k).cols); }
    task::Image<T> right(Index i, Index k) const { return images.right(i, k, A(i, k).rows, A(i, k).cols); }
    /// A_ij <- A_ij - A_ik A_jk^H in its memory: where that holds A_ij^H, the product is A_jk A_ik^H, with the same images.
    task::Product<T> update_of(Index i, Index j, Index k, Guard step) const
    {
        const Tile<T> C = A(i, j);
        const bool as_seen = C.op == Op::none;
        const Index row = as_seen ? i : j, col = as_seen ? j : i;
        const Tile<T> stored{C.data, C.stored_rows(), C.stored_cols(), C.ld};
        task::Product<T> product{T(-1), left(row, k), right(col, k), T(1), stored};
        product.guard = step;
        return product;
    }
};

/// A diagonal tile as a tile Cholesky of its own, tiles inner x inner, in a flow inside the task.
template <Scalar T> struct NestedArgs {
    Index inner, n;
    Op op;
    Index first_row;

    Flops flops() const { return operations::potrf(double(n)).template flops<T>(); }
    void run(TaskContext& context)
    {
        if (context.outcome().reached(first_row)) return;
        const Operand A = context.operand(0);
        const TileMatrix<T> tiles = TileMatrix<T>({static_cast<T*>(A.data), n, n, A.ld}, inner, inner).with(op);
        right_looking(tiles, first_row, PlainTiles<T>{context.flow(), tiles});
    }
};

template <Scalar T> void submit_nested(Flow& flow, const NestedArgs<T>& args, Tile<T> A)
{
    static constexpr Codelet codelet = [] {
        Codelet nested = codelet_of<NestedArgs<T>>("potrf_nested");
        nested.submits = true;
        nested.counted = false; // the tasks inside are
        return nested;
    }();
    flow.submit(codelet, args, {readwrite(A)});
}

/// As PlainTiles, with diagonal tiles above `inner` factored by tiles.
template <Scalar T> struct NestedTiles : PlainTiles<T> {
    Index inner;

    void factor(Index k, Index row)
    {
        const Tile<T> diagonal = this->A(k, k);
        if (diagonal.rows <= inner) task::potrf(this->flow, diagonal, row);
        else submit_nested(this->flow, NestedArgs<T>{inner, diagonal.rows, diagonal.op, row}, diagonal);
    }
};

template <Scalar T> void substitute(Flow& flow, TileMatrix<T> A, TileMatrix<T> B, Guard guard)
{
    trsm(flow, Uplo::lower, Diag::non_unit, T(1), A, B, guard);
    trsm(flow, Uplo::upper, Diag::non_unit, T(1), herm(A), B, guard);
}

/// Once the last pivot of a factorization in the same flow is known.
template <Scalar T> void substitute_behind(Flow& flow, TileMatrix<T> A, TileMatrix<T> B)
{
    const Index last = A.tiles() - 1;
    for (Index j = 0; j < B.col_tiles() && last >= 0; ++j) task::after(flow, A(last, last), B(0, j));
    substitute(flow, A, B, Guard{A.rows()});
}

} // namespace

template <Scalar T> void potrf(Flow& flow, TileMatrix<T> A) { right_looking(A, 0, PlainTiles<T>{flow, A}); }

template <Scalar T> void potrf_left_looking(Flow& flow, TileMatrix<T> A) { left_looking(A, PlainTiles<T>{flow, A}); }

template <Scalar T> void potrf_two_level(Flow& flow, TileMatrix<T> A, Index inner)
{
    right_looking(A, 0, NestedTiles<T>{{flow, A}, inner});
}

template <Scalar T> void potrf_packed(Flow& flow, TileMatrix<T> A, const CholeskyImages<T>& images)
{
    right_looking(A, 0, PackedTiles<T>{flow, A, images});
}

template <Scalar T> void potrs(Flow& flow, TileMatrix<T> A, TileMatrix<T> B) { substitute(flow, A, B, Guard{}); }

template <Scalar T> void posv(Flow& flow, TileMatrix<T> A, TileMatrix<T> B, const CholeskyImages<T>* images)
{
    if (images) potrf_packed(flow, A, *images);
    else potrf(flow, A);
    substitute_behind(flow, A, B);
}

template <Scalar T> void posv_two_level(Flow& flow, TileMatrix<T> A, TileMatrix<T> B, Index inner)
{
    potrf_two_level(flow, A, inner);
    substitute_behind(flow, A, B);
}

template <Scalar T>
CholeskyImages<T>::CholeskyImages(Index n, Index nb, const ImagePlace& place)
    : both_(place.is_memory() && images_serve_both<T>(nb)), left_(PackedSlots<T>::left(pieces(n, nb), steps_kept, nb, nb, place)),
      right_(PackedSlots<T>::right(both_ ? 0 : pieces(n, nb), steps_kept, nb, nb, place)),
      triangle_(PackedSlots<T>::triangle(steps_kept, nb, place))
{
}
template <Scalar T> task::Image<T> CholeskyImages<T>::left(Index i, Index k, Index rows, Index cols) const
{
    return {left_(i, k), {rows, cols}};
}
template <Scalar T> task::Image<T> CholeskyImages<T>::right(Index i, Index k, Index rows, Index cols) const
{
    if (!both_) return {right_(i, k), {rows, cols}};
    task::Image<T> image = left(i, k, rows, cols);
    image.form.as_left = true;
    return image;
}
template <Scalar T> task::ImageMemory<T> CholeskyImages<T>::triangle(Index k) const { return triangle_(0, k); }

#define TRC_INSTANTIATE(T)                                                                                                       \
    template void potrf(Flow&, TileMatrix<T>);                                                                                   \
    template void potrf_left_looking(Flow&, TileMatrix<T>);                                                                      \
    template void potrf_two_level(Flow&, TileMatrix<T>, Index);                                                                  \
    template class CholeskyImages<T>;                                                                                            \
    template void potrf_packed(Flow&, TileMatrix<T>, const CholeskyImages<T>&);                                                  \
    template void potrs(Flow&, TileMatrix<T>, TileMatrix<T>);                                                                    \
    template void posv(Flow&, TileMatrix<T>, TileMatrix<T>, const CholeskyImages<T>*);                                           \
    template void posv_two_level(Flow&, TileMatrix<T>, TileMatrix<T>, Index);
TRC_INSTANTIATE(float)
TRC_INSTANTIATE(double)
TRC_INSTANTIATE(std::complex<float>)
TRC_INSTANTIATE(std::complex<double>)
#undef TRC_INSTANTIATE

} // namespace trencadis
