#pragma once
#include "graph/access.hpp"
#include "kernels/tiles/packed_operations.hpp"

#include <cstdlib>

/// Operands and images as data of tasks.
namespace trencadis::task {

/// What rows x cols of the operand are read from, as stored: its lowest address, whichever way they are walked through. Of an operand that
/// is mirrored along its diagonal it is the block as it is seen; what is read may be its mirror image: who moves data must bring all of it.
template <Scalar T> Datum datum(const blas::Operand<T>& A, Index rows, Index cols)
{
    const T* const first = A.data + (A.rs < 0 ? (rows - 1) * A.rs : 0) + (A.cs < 0 ? (cols - 1) * A.cs : 0);
    if (std::abs(A.rs) == 1) return {first, rows, cols, std::abs(A.cs), sizeof(T)};
    return {first, cols, rows, std::abs(A.rs), sizeof(T)};
}
template <Scalar T> Datum datum(const Image<T>& image)
{
    return Datum(image.data, double(image.form.extent) * double(image.form.depth) * sizeof(T));
}
template <Scalar T> Datum datum_of_triangle(const Real<T>* triangle, Index n)
{
    return Datum(triangle, double(n) * double(n + 1) / 2 * sizeof(T));
}

/// An operand without its memory: where its first element is in a datum.
template <Scalar T> class OperandForm {
public:
    OperandForm(const blas::Operand<T>& A, const Datum& in) : form_(A), first_(A.data - static_cast<const T*>(in.address))
    {
        form_.data = nullptr;
    }
    blas::Operand<T> at(const T* datum) const
    {
        blas::Operand<T> A = form_;
        A.data = datum + first_;
        return A;
    }

private:
    blas::Operand<T> form_;
    Index first_;
};

} // namespace trencadis::task
