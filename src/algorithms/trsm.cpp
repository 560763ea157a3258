#include "algorithms/trsm.hpp"

#include "kernels/tiles/tile_operations.hpp"

namespace trencadis {
namespace {

template <Scalar T> void set_to_zero(Flow& flow, TileMatrix<T> B)
{
    for (Index j = 0; j < B.col_tiles(); ++j)
        for (Index i = 0; i < B.row_tiles(); ++i) task::scale(flow, T(0), B(i, j));
}

/// So few columns cost a read of A, whose steps are a chain: less time than it takes to hand them on.
constexpr Index few_columns = 8;

template <Scalar T> bool is_one_task(TileMatrix<T> A, TileMatrix<T> B)
{
    return B.col_tiles() == 1 && B.cols() <= few_columns && A.in_place() && B.in_place();
}

} // namespace

template <Scalar T> void trsm(Flow& flow, Uplo uplo, Diag diag, T alpha, TileMatrix<T> A, TileMatrix<T> B, Guard guard)
{
    if (alpha == T(0)) return set_to_zero(flow, B);
    if (is_one_task(A, B)) return task::trsm(flow, uplo, diag, alpha, A, B, guard);
    const Index last = A.tiles() - 1;
    // Step s eliminates tile row s of a lower triangle, or the same counted from the end of an upper one.
    const auto row = [&](Index s) { return uplo == Uplo::lower ? s : last - s; };
    for (Index s = 0; s <= last; ++s) {
        const Index k = row(s);
        const T factor = s == 0 ? alpha : T(1); // the first step meets every tile of B
        for (Index j = 0; j < B.col_tiles(); ++j) task::trsm(flow, Side::left, uplo, diag, factor, A(k, k), B(k, j), guard);
        for (Index t = s + 1; t <= last; ++t)
            for (Index j = 0; j < B.col_tiles(); ++j) task::gemm(flow, T(-1), A(row(t), k), B(k, j), factor, B(row(t), j), guard);
    }
}

#define TRC_INSTANTIATE(T) template void trsm(Flow&, Uplo, Diag, T, TileMatrix<T>, TileMatrix<T>, Guard);
TRC_INSTANTIATE(float)
TRC_INSTANTIATE(double)
TRC_INSTANTIATE(std::complex<float>)
TRC_INSTANTIATE(std::complex<double>)
#undef TRC_INSTANTIATE

} // namespace trencadis
