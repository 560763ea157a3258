#pragma once
#include "base/scalar.hpp"
#include "base/types.hpp"
#include "matrix/ops.hpp"

namespace trencadis::blas {

/// What the elements of an operand mean that are not (or not all) stored.
enum class Structure {
    general,
    symmetric,  ///< one triangle is stored, the other is its mirror
    hermitian,  ///< one triangle is stored, the other its conjugate mirror; the diagonal counts as real
    triangular, ///< one triangle is stored, the other is zero
};

/// op(A) as the loops read it: element (i, j) of the operand is read from data[i * rs + j * cs], whatever the order in memory;
/// transposition swaps the strides, reversal makes them negative. Does not own memory.
template <Scalar T> struct Operand {
    const T* data;
    Index rs, cs;
    bool conjugated = false;
    Structure structure = Structure::general;
    Uplo uplo = Uplo::lower;    ///< which triangle of the operand as seen here is stored
    Diag diag = Diag::non_unit; ///< unit: the diagonal of a triangular operand is one and not read
    Index below = 0;            ///< rows minus columns that this block lies below the diagonal of its matrix

    Operand transposed() const
    {
        Operand t = *this;
        t.rs = cs;
        t.cs = rs;
        t.uplo = opposite(uplo);
        t.below = -below;
        return t;
    }
    Operand conjugate() const
    {
        Operand c = *this;
        c.conjugated = is_complex<T> && !conjugated;
        return c;
    }
    Operand op(Op op) const { return op == Op::none ? *this : op == Op::trans ? transposed() : transposed().conjugate(); }
    /// The block that begins at (i, j).
    Operand block(Index i, Index j) const
    {
        Operand b = *this;
        b.data += i * rs + j * cs;
        b.below += i - j;
        return b;
    }
};

/// A general column-major matrix, or one of the structures above.
template <Scalar T> Operand<T> general(const T* A, Index lda, Op op = Op::none) { return Operand<T>{A, 1, lda}.op(op); }

} // namespace trencadis::blas
