#include "interfaces/scalapack/routines.hpp"

#include "interfaces/scalapack/alone.hpp"
#include "interfaces/scalapack/checks.hpp"
#include "interfaces/scalapack/engine.hpp"
#include "interfaces/scalapack/passed.hpp"

namespace trencadis::scalapack {
namespace {

/// The engine's session, or null for the library behind us, and says which.
template <Scalar T> Session* engine_for(Routine routine, int m, int n, const Grid& grid, bool wanted)
{
    Session* const session = wanted ? session_of(grid) : nullptr;
    tell<T>(routine, m, n, session ? "by tasks over the grid" : "is passed on");
    return session;
}

template <Scalar T> int factor(char uplo, int n, const Operand<T>& A)
{
    const Grid grid = Grid::of(A.desc.context);
    if (grid.alone()) return alone::potrf(uplo, n, A);
    const Flops flops = flops_per_fma<T> * n * n * n / 6;
    Session* const session = engine_for<T>(Routine::potrf, n, n, grid, wants_engine(flops, engine::wanted(A).stays));
    return session ? engine::potrf(*session, uplo, n, A) : passed::potrf(uplo, n, A);
}

/// A copy of the factors costs more than the engine gains.
template <Scalar T> int solve(char uplo, int n, int nrhs, const Operand<T>& A, const Operand<T>& B)
{
    const Grid grid = Grid::of(A.desc.context);
    if (grid.alone()) return alone::potrs(uplo, n, nrhs, A, B);
    const Flops flops = engine::wanted(A).stays ? flops_per_fma<T> * n * n * nrhs : 0;
    Session* const session = engine_for<T>(Routine::potrs, n, nrhs, grid, wants_engine(flops, true));
    return session ? engine::potrs(*session, uplo, n, nrhs, A, B) : passed::potrs(uplo, n, nrhs, A, B);
}

template <Scalar T> int factor(int m, int n, const Operand<T>& A, int* ipiv)
{
    if (Grid::of(A.desc.context).alone()) return alone::getrf(m, n, A, ipiv);
    tell<T>(Routine::getrf, m, n, "is passed on");
    return passed::getrf(m, n, A, ipiv);
}

template <Scalar T> int solve(char trans, int n, int nrhs, const Operand<T>& A, int* ipiv, const Operand<T>& B)
{
    if (Grid::of(A.desc.context).alone()) return alone::getrs(trans, n, nrhs, A, ipiv, B);
    tell<T>(Routine::getrs, n, nrhs, "is passed on");
    return passed::getrs(trans, n, nrhs, A, ipiv, B);
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
    if (Grid::of(A.desc.context).alone()) return alone::geqrf(m, n, A, tau);
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
