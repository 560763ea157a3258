#pragma once
#include "interfaces/lapack/faces.hpp"
#include "interfaces/scalapack/descriptor.hpp"

#include <vector>

/// A grid of one process has whole matrices, in LAPACK's layout: its calls are those of libtrencadis_lapack.so, submatrices at
/// any place and blocks of any shape included.
namespace trencadis::scalapack::alone {

template <Scalar T> int potrf(char uplo, int n, const Operand<T>& A)
{
    Index info = 0;
    face::Faces<T>::potrf(uplo, n, A.first(), A.desc.lld, info);
    return int(info);
}

template <Scalar T> int potrs(char uplo, int n, int nrhs, const Operand<T>& A, const Operand<T>& B)
{
    Index info = 0;
    face::Faces<T>::potrs(uplo, n, nrhs, A.first(), A.desc.lld, B.first(), B.desc.lld, info);
    return int(info);
}

/// Rows of A in the place of LAPACK's rows of sub(A), or back.
inline void shift(int* pivots, int count, int by)
{
    for (int k = 0; k < count; ++k) pivots[k] += by;
}

template <Scalar T> int getrf(int m, int n, const Operand<T>& A, int* ipiv)
{
    Index info = 0;
    int* const pivots = ipiv + (A.ia - 1);
    face::Faces<T>::getrf(m, n, A.first(), A.desc.lld, pivots, info);
    shift(pivots, std::min(m, n), A.ia - 1);
    return int(info);
}

template <Scalar T> int getrs(char trans, int n, int nrhs, const Operand<T>& A, const int* ipiv, const Operand<T>& B)
{
    Index info = 0;
    std::vector<int> pivots(ipiv + (A.ia - 1), ipiv + (A.ia - 1) + n);
    shift(pivots.data(), n, -(A.ia - 1));
    face::Faces<T>::getrs(trans, n, nrhs, A.first(), A.desc.lld, pivots.data(), B.first(), B.desc.lld, info);
    return int(info);
}

template <Scalar T> int geqrf(int m, int n, const Operand<T>& A, T* tau)
{
    Index info = 0;
    face::Faces<T>::geqrf(m, n, A.first(), A.desc.lld, tau + (A.ja - 1), info);
    return int(info);
}

} // namespace trencadis::scalapack::alone
