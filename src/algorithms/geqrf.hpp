#pragma once
#include "algorithms/packed_slots.hpp"
#include "graph/flow.hpp"
#include "matrix/tile_matrix.hpp"
#include "matrix/work_memory.hpp"

#include <string_view>

/// Tile QR, A = Q R: R in the upper triangle, the reflectors in what is below, by tiles, and their triangular factors beside the
/// matrix. These are no LAPACK's V and tau: what is below goes with QrFactors and apply_q. 4/3 n^3 flops when square (4 times
/// that complex), and 4/3 n^3 ib/(4 nb) more for the factors. Buttari, Langou, Kurzak, Dongarra 2009; Bouwmeester, Jacquelin,
/// Langou, Robert 2011.
namespace trencadis {

/// The forms. The first two eliminate tiles one after the other by the triangle on the diagonal (geqrt, unmqr, tsqrt, tsmqr); the
/// others make a triangle of each tile and eliminate triangles by triangles (geqrt, unmqr, ttqrt, ttmqr) along a tree.
enum class TileQrForm {
    /// the diagonal tile is declared whole, as KASTORS and PLASMA on OpenMP do: the first tsqrt of a step waits for its unmqrs
    flat,
    plasma, ///< R and V of it are data apart, V as a copy, where PLASMA on QUARK declares two parts of one tile
    binary, ///< of these, too
    greedy,
    fibonacci
};

/// The triangular factors, ib x nb for each tile of A; those with trees have another one for each tile below the diagonal. About
/// m n ib / nb numbers, twice that with a tree. Must outlive the flow's tasks.
template <Scalar S> class QrFactors {
public:
    QrFactors(TileQrForm form, Index m, Index n, Index nb, Index ib, const ImagePlace& place = {});

    TileQrForm form() const { return form_; }
    Index ib() const { return ib_; }
    Tile<S> of_tile(Index i, Index k) const { return tiles_(i, k); } ///< of geqrt, and of tsqrt
    Tile<S> of_pair(Index i, Index k) const { return pairs_(i, k); } ///< of ttqrt
    /// Copies of V are kept while A is factored, but for the flat form.
    bool has_copies() const { return form_ != TileQrForm::flat; }
    Tile<S> copy_of_tile(Index i, Index k, Tile<S> tile) const;

private:
    bool has_pairs() const { return form_ != TileQrForm::flat && form_ != TileQrForm::plasma; }
    Index factor_numbers() const { return row_tiles_ * ib_ * col_tiles_ * nb_; }
    std::size_t bytes() const;
    TileMatrix<S> laid(S* begin) const;

    TileQrForm form_;
    Index row_tiles_, columns_, nb_, ib_, col_tiles_;
    WorkMemory memory_;
    S* begin_;
    TileMatrix<S> tiles_, pairs_;
    S* copies_;
};

/// A = Q R in place, A m x n in tiles nb x nb. Returns once the tasks are submitted. Transposed views are not served.
template <Scalar S> void geqrf(Flow& flow, TileMatrix<S> A, const QrFactors<S>& by);

/// C <- op(Q) C, C with m rows, in tiles as high as those of A; op is none or the conjugate transposition (of real numbers, any).
/// 4 m n columns flops for m much larger than n.
template <Scalar S> void apply_q(Flow& flow, Op op, TileMatrix<S> A, const QrFactors<S>& by, TileMatrix<S> C);

} // namespace trencadis
