#include "algorithms/getri.hpp"

#include "algorithms/tile_routines.hpp"
#include "base/error.hpp"
#include "kernels/tiles/getri_operations.hpp"
#include "kernels/tiles/tile_access.hpp"
#include "kernels/tiles/tile_operations.hpp"

#include <new>

namespace trencadis {
namespace {

/// Tile i of column j: minus the products with all columns right of it, in full depth.
template <Scalar T> void subtract_products(Flow& flow, TileMatrix<T> A, TileMatrix<T> W, Index w, Index i, Index j)
{
    task::update(flow, task::row_of(A, i, j + 1, A.tiles()), task::column_of(W, w, j + 1, A.tiles()),
                 task::TileGrid<T>{{A(i, j)}});
}

} // namespace

template <Scalar T> TwoColumns<T>::TwoColumns(Index n, Index wanted, const ImagePlace& place) : n_(n), nb_(wanted)
{
    if (!place.is_memory()) {
        data_ = static_cast<T*>(place.reserve(bytes()));
        return;
    }
    while (!fits(place.node) && nb_ > 1) nb_ = nb_ / 2;
    if (!memory_) last_.reset(new (std::nothrow) T[std::size_t(2 * n)]);
    if (!memory_ && !last_) throw Error(ErrorCode::out_of_memory, "no memory for two columns of the matrix to invert");
    data_ = memory_ ? static_cast<T*>(memory_->data()) : last_.get();
}
template <Scalar T> bool TwoColumns<T>::fits(int node)
{
    try {
        memory_.emplace(bytes(), node);
    } catch (const Error& failure) {
        if (failure.code() != ErrorCode::out_of_memory) throw;
        return false;
    }
    return true;
}

template <Scalar T> void getri(Flow& flow, TileMatrix<T> A, const Index* pivots, TileMatrix<T> W)
{
    invert_triangle(flow, Diag::non_unit, A.with(Op::trans)); // U, whose transpose is a lower triangle
    const Index t = A.tiles();
    for (Index j = t; j-- > 0;) {
        const Index w = j % 2;
        for (Index i = j; i < t; ++i) task::move_lower(flow, A(i, j), W(i, w), i == j);
        for (Index i = 0; i < t; ++i) {
            if (j + 1 < t) subtract_products(flow, A, W, w, i, j);
            task::trsm(flow, Side::right, Uplo::lower, Diag::unit, T(1), W(j, w), A(i, j));
        }
    }
    for (Index i = 0; i < t; ++i) task::exchange_columns(flow, A, i, {const_cast<Index*>(pivots), A.cols()});
}

#define TRC_INSTANTIATE(T)                                                                                                       \
    template void getri(Flow&, TileMatrix<T>, const Index*, TileMatrix<T>);                                                      \
    template class TwoColumns<T>;
TRC_INSTANTIATE(float)
TRC_INSTANTIATE(double)
TRC_INSTANTIATE(std::complex<float>)
TRC_INSTANTIATE(std::complex<double>)
#undef TRC_INSTANTIATE

} // namespace trencadis
