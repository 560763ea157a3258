#pragma once
#include "blas/level3/macro_kernel.hpp"
#include "blas/level3/packing.hpp"
#include "graph/flow.hpp"
#include "kernels/providers/provider.hpp"
#include "kernels/tiles/guard.hpp"
#include "matrix/tile_matrix.hpp"

/// Tile operations on packed operands: each function submits one task. A tile is packed once, by a task of its own or by the one
/// that finishes it, and every update that reads it uses the image, so that small tiles run at the speed of large ones and cores
/// that share an operation pack nothing twice. Malleable, by blocks of columns.
namespace trencadis::task {

/// What a packed image is of.
struct ImageForm {
    std::int32_t extent; ///< rows of a left operand, columns of a right one
    std::int32_t depth;  ///< k
    blas::Part part =
        blas::Part::all; ///< what is not zero: of a triangular operand, with the diagonal row - column + `below` = 0
    Index below = 0;
    bool as_left = false; ///< of a right operand: it is the image of its transpose (blas::Packed)

    ImageForm(Index of_extent, Index of_depth) : extent(std::int32_t(of_extent)), depth(std::int32_t(of_depth)) {}
};
/// Memory for an image, somebody else's. How many bytes the image takes is known to the kernel that packs it alone; 0: where
/// nobody packs, those
/// of its elements.
template <Scalar T> struct ImageMemory {
    Real<T>* address = nullptr;
    Bytes bytes = 0;

    ImageMemory() = default;
    ImageMemory(Real<T>* at, Bytes size = 0) : address(at), bytes(size) {}
    operator Real<T>*() const { return address; }
};
/// The packed image of one operand.
template <Scalar T> struct Image {
    ImageMemory<T> data;
    ImageForm form;
};

/// image <- the packed form of A (extent x depth), respectively of B (depth x extent).
template <Scalar T> void pack_left(Flow& flow, const blas::Operand<T>& A, Image<T> image, const TaskOptions& options = {});
template <Scalar T> void pack_right(Flow& flow, const blas::Operand<T>& B, Image<T> image, const TaskOptions& options = {});

/// C <- alpha A B + beta C on images, in `part` of C, whose diagonal is i = j + `below`. beta = 0 overwrites C without reading
/// it. `real_diagonal`: the imaginary part of that diagonal is set to zero.
template <Scalar T> struct Product {
    T alpha;
    Image<T> A, B;
    T beta;
    Tile<T> C; ///< as stored, A's extent x B's
    blas::Part part = blas::Part::all;
    Index below = 0;
    bool real_diagonal = false;
    Guard guard = {};
};
template <Scalar T> void multiply(Flow& flow, const Product<T>& product);
/// The same with A, product.A's extent x depth, packed by each core that takes a part of the task, into memory of its own.
template <Scalar T> void multiply(Flow& flow, const Product<T>& product, const blas::Operand<T>& A);
/// And with B, depth x product.B's extent, where it lies (blas::lies_by_columns).
template <Scalar T> void multiply(Flow& flow, const Product<T>& product, const blas::Operand<T>& A, const blas::Operand<T>& B);

/// Lower triangle of A <- its Cholesky factor L by anybody's kernels, and `triangle` <- L^H as blas::pack_triangle makes it; see
/// task::potrf.
template <Scalar T> void potrf_packed(Flow& flow, Tile<T> A, ImageMemory<T> triangle, Index first_row);

/// X <- alpha B U^-1 for a block of rows, in place: B (left's extent x depth) is read and written through `B`, whose memory holds
/// the conjugate where that says so. `triangle` is U as blas::pack_triangle makes it. `left` receives the image of X, `right`,
/// unless its data is null, that of X^T or X^H.
template <Scalar T> struct TriangularSolve {
    ImageMemory<T> triangle;
    blas::Operand<T> B;
    T alpha;
    Image<T> left;
    ImageMemory<T> right;
    bool conjugate_right = false;
    Guard guard = {};
};
template <Scalar T> void solve_packed(Flow& flow, const TriangularSolve<T>& solve);

/// `triangle` <- U (n x n, upper) as blas::pack_triangle makes it.
template <Scalar T>
void pack_triangle(Flow& flow, const blas::Operand<T>& U, Index n, ImageMemory<T> triangle, const TaskOptions& options = {});

} // namespace trencadis::task
