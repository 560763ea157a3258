#pragma once
#include "blas/factorizations/qr_panel.hpp"
#include "graph/flow.hpp"
#include "matrix/tile_matrix.hpp"

/// Operations of QR and LQ in LAPACK's layout; each function submits one task. A block of k reflectors is kept whole, with its
/// ones and zeros and its factor T, and packed once for everything that it is applied to.
namespace trencadis::task {

/// Where a block is kept; the memory is somebody else's.
template <Scalar T> struct ReflectorBlock {
    Index order, count;                     ///< n, k: the vectors' length and their number
    T* room;                                ///< blas::whole_reflectors_size
    T* factor;                              ///< k x k
    Real<T>* images;                        ///< images_size(order, count)
    Bytes room_bytes = 0, images_bytes = 0; ///< of the memory; 0: where nobody computes, those of the elements

    /// Numbers for the images of V as a left operand, of V^H in pieces, and of the factor.
    static Index images_size(Index order, Index count);
};

/// Which block reflector is applied, I - V T V^H or its conjugate transpose, and from which side.
struct Application {
    Side side;
    Op op; ///< none or conj_trans
};

/// A panel of columns (rows: of rows) <- its QR (LQ) factors as blas::factor_panel, with tau; the block receives the reflectors.
template <Scalar T>
void reflector_panel(Flow& flow, Storage storage, Tile<T> A, T* tau, const ReflectorBlock<T>& block,
                     const TaskOptions& options = {});

/// The block from reflectors that a factorization left in columns (rows) and tau. With `form`, columns (rows) of the identity
/// take their place, whose ones are in the rows (columns) that the block's are: what Q's own columns begin as.
enum class AfterReading { keep, form };
template <Scalar T>
void whole_reflectors(Flow& flow, Storage storage, Tile<T> A, const T* tau, const ReflectorBlock<T>& block,
                      AfterReading then = AfterReading::keep, const TaskOptions& options = {});
/// Those beyond the last reflector, with their first one in row (column) `one`.
template <Scalar T> void set_identity(Flow& flow, Storage storage, Tile<T> A, Index one);

/// The triangles of a block's parts of `width` reflectors, side by side in columns of t: those of LAPACK's geqrt. What is below
/// them is not written.
template <Scalar T> void keep_factors(Flow& flow, const ReflectorBlock<T>& block, Index width, T* t, Index ldt);

/// The block's images for an application. Malleable by rows.
template <Scalar T>
void pack_reflectors(Flow& flow, const ReflectorBlock<T>& block, Application how, const TaskOptions& options = {});

/// C <- op(Q) C or C op(Q) for the last `order` rows (right: columns) of a tile, as packed for that. Malleable by the others.
template <Scalar T> void apply_reflectors(Flow& flow, const ReflectorBlock<T>& block, Application how, Tile<T> C);

} // namespace trencadis::task
