#pragma once
#include "interfaces/scalapack/aligned.hpp"
#include "interfaces/scalapack/pivots.hpp"

/// The routines by the library behind us, on what it takes: submatrices that begin with a block, square blocks. What is given
/// otherwise is a copy to it.
namespace trencadis::scalapack::passed {

template <Scalar T> Wanted wanted(const Operand<T>& A) { return {A.on_blocks() && A.square_blocks(), {64}}; }
/// Right-hand sides of a system with A.
template <Scalar T> Wanted wanted(const Operand<T>& B, const Operand<T>& A)
{
    return {B.lies_as(A), {A.desc.nb, A.down(Grid::of(A.desc.context)).owner(A.ia - 1)}};
}

template <Scalar T> int potrf(char uplo, int n, const Operand<T>& given)
{
    int info = 0;
    Aligned<T> at(given, n, n, wanted(given), triangle(uplo));
    const Operand<T>& A = at.operand();
    pass_on<T>(Routine::potrf, &uplo, &n, A.data, &A.ia, &A.ja, A.desc.nine(), &info, one_letter);
    at.write_back();
    return info;
}

template <Scalar T> int potrs(char uplo, int n, int nrhs, const Operand<T>& given, const Operand<T>& right)
{
    int info = 0;
    const Aligned<T> factors(given, n, n, wanted(given), triangle(uplo));
    const Operand<T>& A = factors.operand();
    Aligned<T> at(right, n, nrhs, wanted(right, A));
    const Operand<T>& B = at.operand();
    pass_on<T>(Routine::potrs, &uplo, &n, &nrhs, A.data, &A.ia, &A.ja, A.desc.nine(), B.data, &B.ia, &B.ja, B.desc.nine(), &info,
               one_letter);
    at.write_back();
    return info;
}

/// The pivots of a copy, which has as many rows as there can be pivots, and a block more, as ScaLAPACK wants.
template <Scalar T> std::vector<int> room_for_pivots(const Operand<T>& A)
{
    return std::vector<int>(std::size_t(A.desc.lld) + std::size_t(A.desc.mb));
}

template <Scalar T> int getrf(int m, int n, const Operand<T>& given, int* ipiv)
{
    int info = 0;
    Aligned<T> at(given, m, n, wanted(given));
    const Operand<T>& A = at.operand();
    std::vector<int> pivots = at.moved() ? room_for_pivots(A) : std::vector<int>();
    pass_on<T>(Routine::getrf, &m, &n, A.data, &A.ia, &A.ja, A.desc.nine(), at.moved() ? pivots.data() : ipiv, &info);
    at.write_back();
    if (at.moved()) Pivots::of(given, ipiv).put(Pivots::of(A, pivots.data()).all(std::min(m, n)));
    return info;
}

template <Scalar T> int getrs(char trans, int n, int nrhs, const Operand<T>& given, int* ipiv, const Operand<T>& right)
{
    int info = 0;
    const Aligned<T> factors(given, n, n, wanted(given));
    const Operand<T>& A = factors.operand();
    std::vector<int> pivots;
    if (factors.moved()) {
        pivots = room_for_pivots(A);
        Pivots::of(A, pivots.data()).put(Pivots::of(given, ipiv).all(n));
        ipiv = pivots.data();
    }
    Aligned<T> at(right, n, nrhs, wanted(right, A));
    const Operand<T>& B = at.operand();
    pass_on<T>(Routine::getrs, &trans, &n, &nrhs, A.data, &A.ia, &A.ja, A.desc.nine(), ipiv, B.data, &B.ia, &B.ja, B.desc.nine(),
               &info, one_letter);
    at.write_back();
    return info;
}

} // namespace trencadis::scalapack::passed
