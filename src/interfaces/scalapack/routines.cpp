#include "interfaces/scalapack/routines.hpp"

#include "interfaces/scalapack/aligned.hpp"
#include "interfaces/scalapack/alone.hpp"
#include "interfaces/scalapack/checks.hpp"
#include "interfaces/scalapack/pivots.hpp"

#include <cctype>

namespace trencadis::scalapack {
namespace {

Part triangle(char uplo) { return std::toupper(static_cast<unsigned char>(uplo)) == 'U' ? Part::upper : Part::lower; }

bool has_all(const Descriptor& desc) { return Grid::of(desc.context).alone(); }

/// The library behind us on what it takes.
namespace passed {

template <Scalar T> int potrf(char uplo, int n, const Operand<T>& A)
{
    int info = 0;
    tell<T>(Routine::potrf, n, n, "is passed on");
    pass_on<T>(Routine::potrf, &uplo, &n, A.data, &A.ia, &A.ja, A.desc.nine(), &info, one_letter);
    return info;
}

template <Scalar T> int potrs(char uplo, int n, int nrhs, const Operand<T>& A, const Operand<T>& B)
{
    int info = 0;
    tell<T>(Routine::potrs, n, nrhs, "is passed on");
    pass_on<T>(Routine::potrs, &uplo, &n, &nrhs, A.data, &A.ia, &A.ja, A.desc.nine(), B.data, &B.ia, &B.ja, B.desc.nine(), &info,
               one_letter);
    return info;
}

template <Scalar T> int getrf(int m, int n, const Operand<T>& A, int* ipiv)
{
    int info = 0;
    tell<T>(Routine::getrf, m, n, "is passed on");
    pass_on<T>(Routine::getrf, &m, &n, A.data, &A.ia, &A.ja, A.desc.nine(), ipiv, &info);
    return info;
}

template <Scalar T> int getrs(char trans, int n, int nrhs, const Operand<T>& A, int* ipiv, const Operand<T>& B)
{
    int info = 0;
    tell<T>(Routine::getrs, n, nrhs, "is passed on");
    pass_on<T>(Routine::getrs, &trans, &n, &nrhs, A.data, &A.ia, &A.ja, A.desc.nine(), ipiv, B.data, &B.ia, &B.ja, B.desc.nine(),
               &info, one_letter);
    return info;
}

} // namespace passed

/// The pivots of a copy, which has as many rows as there can be pivots, and a block more, as ScaLAPACK wants.
template <Scalar T> std::vector<int> room_for_pivots(const Operand<T>& A) { return std::vector<int>(A.desc.lld + A.desc.mb); }

template <Scalar T> int factor(char uplo, int n, const Operand<T>& A)
{
    if (has_all(A.desc)) return alone::potrf(uplo, n, A);
    Aligned<T> aligned(A, n, n, triangle(uplo));
    const int info = passed::potrf(uplo, n, aligned.operand());
    aligned.write_back();
    return info;
}

template <Scalar T> int solve(char uplo, int n, int nrhs, const Operand<T>& A, const Operand<T>& B)
{
    if (has_all(A.desc)) return alone::potrs(uplo, n, nrhs, A, B);
    const Aligned<T> factors(A, n, n, triangle(uplo));
    Aligned<T> right(B, n, nrhs, factors.operand());
    const int info = passed::potrs(uplo, n, nrhs, factors.operand(), right.operand());
    right.write_back();
    return info;
}

template <Scalar T> int factor(int m, int n, const Operand<T>& A, int* ipiv)
{
    if (has_all(A.desc)) return alone::getrf(m, n, A, ipiv);
    Aligned<T> aligned(A, m, n);
    if (!aligned.moved()) return passed::getrf(m, n, A, ipiv);
    std::vector<int> pivots = room_for_pivots(aligned.operand());
    const int info = passed::getrf(m, n, aligned.operand(), pivots.data());
    aligned.write_back();
    Pivots::of(A, ipiv).put(Pivots::of(aligned.operand(), pivots.data()).all(std::min(m, n)));
    return info;
}

template <Scalar T> int solve(char trans, int n, int nrhs, const Operand<T>& A, int* ipiv, const Operand<T>& B)
{
    if (has_all(A.desc)) return alone::getrs(trans, n, nrhs, A, ipiv, B);
    const Aligned<T> factors(A, n, n);
    std::vector<int> pivots;
    if (factors.moved()) {
        pivots = room_for_pivots(factors.operand());
        Pivots::of(factors.operand(), pivots.data()).put(Pivots::of(A, ipiv).all(n));
        ipiv = pivots.data();
    }
    Aligned<T> right(B, n, nrhs, factors.operand());
    const int info = passed::getrs(trans, n, nrhs, factors.operand(), ipiv, right.operand());
    right.write_back();
    return info;
}

/// The least workspace of p?geqrf, which its callers give and ask for.
template <Scalar T> int least_work(int m, int n, const Operand<T>& A)
{
    const Grid grid = Grid::of(A.desc.context);
    const Side1D down = A.down(grid), across = A.across(grid);
    const Side1D rows{down.block, down.owner(A.ia - 1), down.processes},
        cols{across.block, across.owner(A.ja - 1), across.processes};
    const int mp = rows.before(m + (A.ia - 1) % A.desc.mb, grid.row), nq = cols.before(n + (A.ja - 1) % A.desc.nb, grid.col);
    return A.desc.nb * (mp + nq + A.desc.nb);
}

} // namespace

template <Scalar T> int potrf(char uplo, int n, const Operand<T>& A)
{
    Checks checks(name_of<T>(Routine::potrf), Checked::of(A, n, 2, n, 2, 6));
    checks.letter(uplo, "UL", 1);
    const int info = checks.outcome();
    return info || n == 0 ? info : factor(uplo, n, A);
}

template <Scalar T> int potrs(char uplo, int n, int nrhs, const Operand<T>& A, const Operand<T>& B)
{
    Checks checks(name_of<T>(Routine::potrs), Checked::of(A, n, 2, n, 2, 7));
    checks.matrix(Checked::of(B, n, 2, nrhs, 3, 11));
    checks.letter(uplo, "UL", 1);
    const int info = checks.outcome();
    return info || n == 0 || nrhs == 0 ? info : solve(uplo, n, nrhs, A, B);
}

template <Scalar T> int posv(char uplo, int n, int nrhs, const Operand<T>& A, const Operand<T>& B)
{
    Checks checks(name_of<T>(Routine::posv), Checked::of(A, n, 2, n, 2, 7));
    checks.matrix(Checked::of(B, n, 2, nrhs, 3, 11));
    checks.letter(uplo, "UL", 1);
    int info = checks.outcome();
    if (info || n == 0) return info;
    info = factor(uplo, n, A);
    return info || nrhs == 0 ? info : solve(uplo, n, nrhs, A, B);
}

template <Scalar T> int getrf(int m, int n, const Operand<T>& A, int* ipiv)
{
    Checks checks(name_of<T>(Routine::getrf), Checked::of(A, m, 1, n, 2, 6));
    const int info = checks.outcome();
    return info || m == 0 || n == 0 ? info : factor(m, n, A, ipiv);
}

template <Scalar T> int getrs(char trans, int n, int nrhs, const Operand<T>& A, int* ipiv, const Operand<T>& B)
{
    Checks checks(name_of<T>(Routine::getrs), Checked::of(A, n, 2, n, 2, 7));
    checks.matrix(Checked::of(B, n, 2, nrhs, 3, 12));
    checks.letter(trans, "NTC", 1);
    const int info = checks.outcome();
    return info || n == 0 || nrhs == 0 ? info : solve(trans, n, nrhs, A, ipiv, B);
}

template <Scalar T> int gesv(int n, int nrhs, const Operand<T>& A, int* ipiv, const Operand<T>& B)
{
    Checks checks(name_of<T>(Routine::gesv), Checked::of(A, n, 1, n, 1, 6));
    checks.matrix(Checked::of(B, n, 1, nrhs, 2, 11));
    int info = checks.outcome();
    if (info || n == 0) return info;
    info = factor(n, n, A, ipiv);
    return info || nrhs == 0 ? info : solve('N', n, nrhs, A, ipiv, B);
}

template <Scalar T> int geqrf(int m, int n, const Operand<T>& A, T* tau, T* work, int lwork)
{
    Checks checks(name_of<T>(Routine::geqrf), Checked::of(A, m, 1, n, 2, 6));
    const int least = checks.fine() ? least_work(m, n, A) : 0;
    if (checks.fine()) work[0] = T(face::answered_size<T>(least));
    checks.workspace(lwork, least, 9);
    int info = checks.outcome();
    if (info || lwork == -1 || m == 0 || n == 0) return info;
    if (has_all(A.desc)) return alone::geqrf(m, n, A, tau);
    tell<T>(Routine::geqrf, m, n, "is passed on");
    pass_on<T>(Routine::geqrf, &m, &n, A.data, &A.ia, &A.ja, A.desc.nine(), tau, work, &lwork, &info);
    return info;
}

#define TRC_INSTANTIATE(T)                                                                                                       \
    template int potrf<T>(char, int, const Operand<T>&);                                                                         \
    template int potrs<T>(char, int, int, const Operand<T>&, const Operand<T>&);                                                 \
    template int posv<T>(char, int, int, const Operand<T>&, const Operand<T>&);                                                  \
    template int getrf<T>(int, int, const Operand<T>&, int*);                                                                    \
    template int getrs<T>(char, int, int, const Operand<T>&, int*, const Operand<T>&);                                           \
    template int gesv<T>(int, int, const Operand<T>&, int*, const Operand<T>&);                                                  \
    template int geqrf<T>(int, int, const Operand<T>&, T*, T*, int);
TRC_INSTANTIATE(float)
TRC_INSTANTIATE(double)
TRC_INSTANTIATE(std::complex<float>)
TRC_INSTANTIATE(std::complex<double>)

} // namespace trencadis::scalapack
