#include "kernels/tiles/tile_grid.hpp"
#include "kernels/tiles/tile_operations.hpp"
#include "kernels/tiles/triangular_args.hpp"

#include <vector>

namespace trencadis::task {
namespace {

/// The tiles of a triangle as one matrix, as it is stored: the accesses from `first` on are its tile columns, `tiles` of them,
/// without
/// what lies on the other side of the diagonal. See Whole.
struct TrianglePlace {
    std::int32_t first, tiles;
    bool lower;

    /// Calls visit(tile, its row, its column).
    template <class Visit> void each(const TaskContext& context, const Visit& visit) const
    {
        int access = first;
        Index column = 0;
        for (std::int32_t j = 0; j < tiles; ++j) {
            Index row = lower ? column : 0, width = 0;
            for (std::int32_t i = lower ? j : 0; i < (lower ? tiles : j + 1); ++i) {
                const Operand tile = context.operand(access++);
                visit(tile, row, column);
                row += tile.rows;
                width = tile.cols;
            }
            column += width;
        }
    }
};
template <class T> class WholeTriangle {
public:
    WholeTriangle(const TaskContext& context, TrianglePlace place)
    {
        const Operand corner = context.operand(place.first);
        const char* const origin = static_cast<const char*>(corner.data);
        bool together = true;
        Index order = 0;
        place.each(context, [&](const Operand& tile, Index row, Index column) {
            together = together && tile.ld == corner.ld && tile.data == origin + (row + column * corner.ld) * Index(sizeof(T));
            order = std::max(order, column + tile.cols);
        });
        at_ = {static_cast<const T*>(corner.data), corner.ld};
        if (together) return;
        copy_.resize(std::size_t(order * order));
        at_ = {copy_.data(), order};
        place.each(context, [&](const Operand& tile, Index row, Index column) {
            const T* const from = static_cast<const T*>(tile.data);
            for (Index j = 0; j < tile.cols; ++j)
                std::copy_n(from + j * tile.ld, tile.rows, copy_.data() + row + (column + j) * order);
        });
    }
    Stored<const T> operator*() const { return at_; }
    bool is_copy() const { return !copy_.empty(); }

private:
    Stored<const T> at_;
    std::vector<T> copy_;
};

/// All of a triangle on a few columns.
template <Scalar T> struct ColumnsArgs {
    TriangularArgs<T, Triangular::solve> solve;
    GridPlace columns;
    TrianglePlace triangle;

    Flops flops() const { return solve.flops(); }
    Index chunks(const Kernels* kernels) const { return solve.chunks(kernels); }
    void release() { solve.release(); }
    void run(TaskContext& context)
    {
        if (solve.guard.stopped(context)) return;
        const WholeTriangle<T> A(context, triangle);
        const Whole<T> B(context, columns);
        if (!A.is_copy() && !B.is_copy()) return solve.run_on(context, *A, *B);
        while (const auto c = context.team().next()) { // a copy of the columns is one member's
            if (c.begin > 0) continue;
            solve.part(kernels_of(context), solve.m, solve.n, *A, *B);
            B.store();
        }
    }
};

} // namespace

template <Scalar T> void trsm(Flow& flow, Side side, Uplo uplo, Diag diag, T alpha, Tile<T> A, Tile<T> B, Guard guard)
{
    static constexpr Codelet codelet = codelet_of<TriangularArgs<T, Triangular::solve>>("trsm");
    flow.submit(codelet, triangular_args<T, Triangular::solve>(side, uplo, diag, alpha, A, B, guard), {read(A), readwrite(B)});
}

template <Scalar T> void trsm_apart(Flow& flow, Side side, Uplo uplo, Diag diag, T alpha, Tile<T> A, Tile<T> B)
{
    static constexpr Codelet codelet = codelet_of<TriangularArgs<T, Triangular::solve_apart>>("trsm", "apart");
    flow.submit(codelet, triangular_args<T, Triangular::solve_apart>(side, uplo, diag, alpha, A, B, {}), {read(A), readwrite(B)});
}

template <Scalar T> void trsm(Flow& flow, Uplo uplo, Diag diag, T alpha, TileMatrix<T> A, TileMatrix<T> B, Guard guard)
{
    static constexpr Codelet codelet = codelet_of<ColumnsArgs<T>>("trsm", "tiles");
    const std::int32_t t = std::int32_t(A.tiles());
    const bool as_seen = A.op() == Op::none, lower = (uplo == Uplo::lower) == as_seen;
    std::vector<Access> accesses;
    for (Index i = 0; i < t; ++i) accesses.push_back(readwrite(B(i, 0)));
    for (Index j = 0; j < t; ++j)
        for (Index i = lower ? j : 0; i < (lower ? t : j + 1); ++i) accesses.push_back(read(as_seen ? A(i, j) : A(j, i)));
    const GridPlace columns = B.op() == Op::none ? GridPlace{0, t, 1} : GridPlace{0, 1, t};
    const auto whole = triangular_args<T, Triangular::solve>(Side::left, uplo, diag, alpha, A.whole(), B.whole(), guard);
    flow.submit(codelet, ColumnsArgs<T>{whole, columns, {t, t, lower}}, accesses);
}

#define TRC_INSTANTIATE(T)                                                                                                       \
    template void trsm(Flow&, Side, Uplo, Diag, T, Tile<T>, Tile<T>, Guard);                                                     \
    template void trsm_apart(Flow&, Side, Uplo, Diag, T, Tile<T>, Tile<T>);                                                      \
    template void trsm(Flow&, Uplo, Diag, T, TileMatrix<T>, TileMatrix<T>, Guard);
TRC_INSTANTIATE(float)
TRC_INSTANTIATE(double)
TRC_INSTANTIATE(std::complex<float>)
TRC_INSTANTIATE(std::complex<double>)
#undef TRC_INSTANTIATE

} // namespace trencadis::task
