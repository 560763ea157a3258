#pragma once
#include "graph/access.hpp"
#include "kernels/tiles/packed_operations.hpp"

#include <cstdint>
#include <cstdlib>

/// Operands and images as data of tasks.
namespace trencadis::task {

/// What rows x cols of the operand are read from, as stored: its lowest address, whichever way they are walked through. Of an
/// operand that is mirrored along its diagonal it is the block as it is seen; what is read may be its mirror image: who moves
/// data must bring all of it.
template <Scalar T> Datum datum(const blas::Operand<T>& A, Index rows, Index cols)
{
    const T* const first = A.data + (A.rs < 0 ? (rows - 1) * A.rs : 0) + (A.cs < 0 ? (cols - 1) * A.cs : 0);
    if (std::abs(A.rs) == 1) return {first, rows, cols, std::abs(A.cs), sizeof(T)};
    return {first, cols, rows, std::abs(A.rs), sizeof(T)};
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
    OperandForm(const blas::Operand<T>& A, Index rows, Index cols)
        : form_(A), last_row_(std::int32_t(rows - 1)), last_col_(std::int32_t(cols - 1))
    {
        form_.data = nullptr;
    }
    blas::Operand<T> at(const T* datum, Index ld) const
    {
        blas::Operand<T> A = form_;
        Index& across = std::abs(A.rs) == 1 ? A.cs : A.rs;
        across = across < 0 ? -ld : ld;
        A.data = datum + (A.rs < 0 ? -A.rs * last_row_ : 0) + (A.cs < 0 ? -A.cs * last_col_ : 0);
        return A;
    }

private:
    blas::Operand<T> form_;
    std::int32_t last_row_, last_col_;
};

} // namespace trencadis::task
