#pragma once
#include "interfaces/scalapack/descriptor.hpp"

/// The routines behind the symbols, in one precision, with ScaLAPACK's arguments. They are called by all processes of a grid.
namespace trencadis::scalapack {

template <Scalar T> int potrf(char uplo, int n, const Operand<T>& A);
template <Scalar T> int potrs(char uplo, int n, int nrhs, const Operand<T>& A, const Operand<T>& B);
template <Scalar T> int posv(char uplo, int n, int nrhs, const Operand<T>& A, const Operand<T>& B);
template <Scalar T> int getrf(int m, int n, const Operand<T>& A, int* ipiv);
template <Scalar T> int getrs(char trans, int n, int nrhs, const Operand<T>& A, int* ipiv, const Operand<T>& B);
template <Scalar T> int gesv(int n, int nrhs, const Operand<T>& A, int* ipiv, const Operand<T>& B);
template <Scalar T> int geqrf(int m, int n, const Operand<T>& A, T* tau, T* work, int lwork);

/// These have no info: PBLAS ends the program where an argument is not in order. Descriptors may have more than nine entries, so
/// that they stay as they were given.
template <class T> struct Given {
    T* data;
    int ia, ja;
    const int* desc;
};
template <Scalar T>
void gemm(char op_a, char op_b, int m, int n, int k, const T* alpha, const Given<const T>& A, const Given<const T>& B,
          const T* beta, const Given<T>& C);
template <Scalar T>
void trsm(char side, char uplo, char op, char diag, int m, int n, const T* alpha, const Given<const T>& A, const Given<T>& B);

} // namespace trencadis::scalapack
