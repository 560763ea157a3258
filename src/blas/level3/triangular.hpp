#pragma once
#include "blas/level3/operand.hpp"

namespace trencadis::blas {

/// A triangular operation B <- f(U) applied from the right, as all eight cases are carried out: U upper and B rows x n with
/// any strides. From the left it is the transpose, from a lower triangle the same with rows and columns counted backwards.
template <Scalar T> struct RightUpper {
    Operand<T> U; ///< n x n, triangular, upper
    Index rows, n;
    T* B;
    Index rs, cs; ///< element (i, j) of B is at B[i * rs + j * cs]
};

template <Scalar T>
RightUpper<T> right_upper(Side side, Uplo uplo, Op op, Diag diag, Index m, Index n, const T* A, Index lda, T* B, Index ldb)
{
    Operand<T> stored = general(A, lda);
    stored.structure = Structure::triangular;
    stored.uplo = uplo;
    stored.diag = diag;
    RightUpper<T> x{stored.op(op), m, n, B, 1, ldb};
    if (side == Side::left) x = {x.U.transposed(), n, m, B, ldb, 1};
    if (x.U.uplo == Uplo::upper || x.n == 0) return x;
    const Index last = x.n - 1;
    x.U.data += last * (x.U.rs + x.U.cs);
    x.U.rs = -x.U.rs;
    x.U.cs = -x.U.cs;
    x.U.uplo = Uplo::upper;
    x.B += last * x.cs;
    x.cs = -x.cs;
    return x;
}

} // namespace trencadis::blas
