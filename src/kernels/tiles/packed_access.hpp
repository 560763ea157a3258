#pragma once
#include "graph/access.hpp"
#include "kernels/tiles/packed_operations.hpp"

#include <algorithm>
#include <cstdint>
#include <cstdlib>

/// Operands and images as data of tasks.
namespace trencadis::task {

/// Where the elements of a block of an operand are stored, as rows and columns of the operand from the block's first on.
struct StoredArea {
    Index row, col, rows, cols;
};
/// Of one that is mirrored along its diagonal that may be the mirror image, or a square on the diagonal that has both.
template <Scalar T> StoredArea stored_area(const blas::Operand<T>& A, Index rows, Index cols)
{
    const bool mirrored = A.structure == blas::Structure::symmetric || A.structure == blas::Structure::hermitian;
    const bool lower = A.uplo == Uplo::lower;
    const Index least = A.below - (cols - 1), most = A.below + rows - 1; // how far below the diagonal its elements are
    if (!mirrored || (lower ? least >= 0 : most <= 0)) return {0, 0, rows, cols};
    if (lower ? most < 0 : least > 0) return {-A.below, A.below, cols, rows};
    const Index row = std::min<Index>(0, -A.below), col = std::min<Index>(0, A.below), order = std::max(rows - row, cols - col);
    return {row, col, order, order};
}

/// What rows x cols of the operand are read from: its lowest address, whichever way they are walked through.
template <Scalar T> Datum datum(const blas::Operand<T>& A, Index rows, Index cols)
{
    const StoredArea area = stored_area(A, rows, cols);
    const T* const first =
        A.data + (A.rs < 0 ? (rows - 1) * A.rs : area.row * A.rs) + (A.cs < 0 ? (cols - 1) * A.cs : area.col * A.cs);
    if (std::abs(A.rs) == 1) return {first, area.rows, area.cols, std::abs(A.cs), sizeof(T)};
    return {first, area.cols, area.rows, std::abs(A.rs), sizeof(T)};
}
template <Scalar T> Datum datum(const Image<T>& image)
{
    const Bytes elements = double(image.form.extent) * double(image.form.depth) * sizeof(T);
    return Datum(image.data.address, image.data.bytes > 0 ? image.data.bytes : elements);
}
template <Scalar T> Datum datum_of_triangle(ImageMemory<T> triangle, Index n)
{
    return Datum(triangle.address, triangle.bytes > 0 ? triangle.bytes : double(n) * double(n + 1) / 2 * sizeof(T));
}

/// An operand without its memory, rows x cols: which way it walks through a datum. Its leading dimension is that of where the
/// datum is then.
template <Scalar T> class OperandForm {
public:
    OperandForm(const blas::Operand<T>& A, Index rows, Index cols) : form_(A)
    {
        const StoredArea area = stored_area(A, rows, cols);
        row_ = std::int32_t(A.rs < 0 ? rows - 1 : -area.row);
        col_ = std::int32_t(A.cs < 0 ? cols - 1 : -area.col);
        form_.data = nullptr;
    }
    blas::Operand<T> at(const T* datum, Index ld) const
    {
        blas::Operand<T> A = form_;
        Index& across = std::abs(A.rs) == 1 ? A.cs : A.rs;
        across = across < 0 ? -ld : ld;
        A.data = datum + std::abs(A.rs) * row_ + std::abs(A.cs) * col_;
        return A;
    }

private:
    blas::Operand<T> form_;
    std::int32_t row_, col_; ///< of the first element, from the datum's on
};

} // namespace trencadis::task
