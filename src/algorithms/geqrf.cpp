#include "algorithms/geqrf.hpp"

#include "algorithms/cutting.hpp"
#include "algorithms/elimination_trees.hpp"
#include "base/error.hpp"
#include "base/registry.hpp"
#include "kernels/tiles/qr_operations.hpp"

#include <algorithm>
#include <complex>
#include <string>
#include <utility>
#include <vector>

namespace trencadis {
namespace {

bool is_flat(TileQrForm form) { return form == TileQrForm::flat || form == TileQrForm::plasma; }

Tree tree_of(TileQrForm form)
{
    return form == TileQrForm::binary      ? Tree::binary
           : form == TileQrForm::greedy    ? Tree::greedy
           : form == TileQrForm::fibonacci ? Tree::fibonacci
                                           : Tree::flat;
}
EliminationLists lists_of(TileQrForm form, Index p, Index q) { return elimination_lists(tree_of(form), p, q); }

/// The tile operations of one factorization, on its own matrix or on another one.
template <Scalar S> struct Operations {
    Flow& flow;
    const QrFactors<S>& by;
    TileMatrix<S> A;
    bool copies = false; ///< while A is being factored: others change R in a tile whose reflectors are applied

    bool flat() const { return is_flat(by.form()); }
    /// A copy of V, where there is one: a row alone has no V, and published codes of the flat form name the tile as one.
    Tile<S> copy_of(Index i, Index k) const
    {
        return copies && by.has_copies() && A(i, k).rows > 1 ? by.copy_of_tile(i, k, A(i, k)) : Tile<S>{};
    }
    Index last_triangle(Index k) const { return flat() ? k : A.row_tiles() - 1; } ///< tiles of which geqrt makes triangles

    void factor(Index i, Index k) const { task::geqrt(flow, by.ib(), A(i, k), by.of_tile(i, k), copy_of(i, k)); }
    void eliminate(RowElimination one, Index k) const
    {
        const Tile<S> R = A(one.by, k), below = A(one.row, k);
        if (flat()) task::tsqrt(flow, by.ib(), R, below, by.of_tile(one.row, k));
        else task::ttqrt(flow, by.ib(), R, below, by.of_pair(one.row, k));
    }
    /// C <- op(Q) C, its tile columns from `first` on.
    void apply(Op op, Index i, Index k, TileMatrix<S> C, Index first) const
    {
        const Tile<S> copy = copy_of(i, k), V = copy.data ? copy : A(i, k);
        for (Index j = first; j < C.col_tiles(); ++j) task::unmqr(flow, op, by.ib(), V, by.of_tile(i, k), C(i, j));
    }
    void apply(Op op, RowElimination one, Index k, TileMatrix<S> C, Index first) const
    {
        const Tile<S> below = A(one.row, k);
        for (Index j = first; j < C.col_tiles(); ++j)
            if (flat()) task::tsmqr(flow, op, by.ib(), below, by.of_tile(one.row, k), C(one.by, j), C(one.row, j));
            else task::ttmqr(flow, op, by.ib(), below, by.of_pair(one.row, k), C(one.by, j), C(one.row, j));
    }
};

template <Scalar S> void apply_adjoint(const Operations<S>& tiles, const EliminationLists& lists, TileMatrix<S> C)
{
    for (Index k = 0; k < Index(lists.size()); ++k) {
        for (Index i = k; i <= tiles.last_triangle(k); ++i) tiles.apply(herm_op<S>, i, k, C, 0);
        for (const RowElimination& one : lists[std::size_t(k)]) tiles.apply(herm_op<S>, one, k, C, 0);
    }
}

/// Everything in the reverse order.
template <Scalar S> void apply_itself(const Operations<S>& tiles, const EliminationLists& lists, TileMatrix<S> C)
{
    for (Index k = Index(lists.size()) - 1; k >= 0; --k) {
        const std::vector<RowElimination>& list = lists[std::size_t(k)];
        for (auto one = list.rbegin(); one != list.rend(); ++one) tiles.apply(Op::none, *one, k, C, 0);
        for (Index i = tiles.last_triangle(k); i >= k; --i) tiles.apply(Op::none, i, k, C, 0);
    }
}

} // namespace

template <Scalar S>
QrFactors<S>::QrFactors(TileQrForm form, Index m, Index n, Index nb, Index ib, const ImagePlace& place)
    : form_(form), row_tiles_(pieces(m, nb)), columns_(n), nb_(nb), ib_(ib), col_tiles_(pieces(n, nb)),
      memory_(place.is_memory() ? bytes() : 0, place.node),
      begin_(static_cast<S*>(place.is_memory() ? memory_.data() : place.reserve(bytes()))), tiles_(laid(begin_)),
      pairs_(laid(begin_ + factor_numbers())), copies_(begin_ + factor_numbers() * (has_pairs() ? 2 : 1))
{
}
template <Scalar S> std::size_t QrFactors<S>::bytes() const
{
    const Index copied = !has_copies() ? 0
                         : has_pairs() ? row_tiles_ * col_tiles_
                                       : col_tiles_; // of the flat tree the diagonal's
    return std::size_t(factor_numbers() * (has_pairs() ? 2 : 1) + copied * nb_ * nb_) * sizeof(S);
}
template <Scalar S> Tile<S> QrFactors<S>::copy_of_tile(Index i, Index k, Tile<S> tile) const
{
    return {copies_ + (has_pairs() ? i + k * row_tiles_ : k) * nb_ * nb_, tile.rows, tile.cols, nb_};
}
template <Scalar S> TileMatrix<S> QrFactors<S>::laid(S* begin) const
{
    return {{begin, row_tiles_ * ib_, columns_, ib_}, ib_, nb_, ib_ * nb_, ib_ * nb_ * row_tiles_};
}

template <Scalar S> void geqrf(Flow& flow, TileMatrix<S> A, const QrFactors<S>& by)
{
    const Operations<S> tiles{flow, by, A, true};
    const EliminationLists lists = lists_of(by.form(), A.row_tiles(), A.col_tiles());
    for (Index k = 0; k < Index(lists.size()); ++k) {
        for (Index i = k; i <= tiles.last_triangle(k); ++i) {
            tiles.factor(i, k);
            tiles.apply(herm_op<S>, i, k, A, k + 1);
        }
        for (const RowElimination& one : lists[std::size_t(k)]) {
            tiles.eliminate(one, k);
            tiles.apply(herm_op<S>, one, k, A, k + 1);
        }
    }
}

template <Scalar S> void apply_q(Flow& flow, Op op, TileMatrix<S> A, const QrFactors<S>& by, TileMatrix<S> C)
{
    const Operations<S> tiles{flow, by, A};
    const EliminationLists lists = lists_of(by.form(), A.row_tiles(), A.col_tiles());
    if (op == Op::none) apply_itself(tiles, lists, C);
    else apply_adjoint(tiles, lists, C);
}

#define TRC_INSTANTIATE(S)                                                                                                       \
    template class QrFactors<S>;                                                                                                 \
    template void geqrf(Flow&, TileMatrix<S>, const QrFactors<S>&);                                                              \
    template void apply_q(Flow&, Op, TileMatrix<S>, const QrFactors<S>&, TileMatrix<S>);
TRC_INSTANTIATE(float)
TRC_INSTANTIATE(double)
TRC_INSTANTIATE(std::complex<float>)
TRC_INSTANTIATE(std::complex<double>)
#undef TRC_INSTANTIATE

} // namespace trencadis
