#pragma once
#include "blas/macro_kernel.hpp"
#include "blas/packing.hpp"
#include "graph/flow.hpp"
#include "graph/info.hpp"
#include "kernels/guard.hpp"
#include "matrix/tile_matrix.hpp"

/// Tile operations on packed operands: each function submits one task. A tile is packed once, by a task of its own or by the one
/// that finishes it, and every update that reads it uses the image, so that small tiles run at the speed of large ones and cores that
/// share an operation pack nothing twice. Malleable, by blocks of columns.
namespace trencadis::task {

/// The packed image of one operand; its memory is somebody else's.
template <Scalar T> struct Image {
    Real<T>* data;
    const void* key; ///< the address that orders the tasks on it
    Index extent;    ///< rows of a left operand, columns of a right one
    Index depth;     ///< k
};

/// A tile of C: rows x cols elements, (i, j) at data[i * rs + j * cs]. `key` is the address that orders the tasks on it.
template <Scalar T> struct Target {
    T* data;
    Index rows, cols, rs, cs;
    T* key;
};

/// image <- the packed form of A (extent x depth), respectively of B (depth x extent). `source`: the address that orders the task
/// after those that write the operand; null when none does.
template <Scalar T> void pack_left(TaskFlow& flow, const blas::Operand<T>& A, const void* source, Image<T> image);
template <Scalar T> void pack_right(TaskFlow& flow, const blas::Operand<T>& B, const void* source, Image<T> image);

/// C <- alpha A B + beta C on images, in `part` of C, whose diagonal is i = j + `below`. beta = 0 overwrites C without reading it.
/// `real_diagonal`: the imaginary part of that diagonal is set to zero.
template <Scalar T> struct Product {
    T alpha;
    Image<T> A, B;
    T beta;
    Target<T> C;
    blas::Part part = blas::Part::all;
    Index below = 0;
    bool real_diagonal = false;
    Guard guard = {};
};
template <Scalar T> void multiply(TaskFlow& flow, const Product<T>& product);

/// Lower triangle of A <- its Cholesky factor L, and `triangle` <- L^H as blas::pack_triangle makes it; see task::potrf.
template <Scalar T> void potrf_packed(TaskFlow& flow, Tile<T> A, Real<T>* triangle, Info& info, Index first_row);

/// B <- B L^-H with the triangle that potrf_packed made, and the images of the result: `left` of B, `right` of B^H. Both have one
/// key.
template <Scalar T>
void solve_packed(TaskFlow& flow, const Real<T>* triangle, Tile<T> B, Image<T> left, Image<T> right, Guard guard);

} // namespace trencadis::task
