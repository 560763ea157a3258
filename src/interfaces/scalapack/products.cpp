#include "interfaces/lapack/faces.hpp"
#include "interfaces/scalapack/behind.hpp"
#include "interfaces/scalapack/engine.hpp"
#include "interfaces/scalapack/routines.hpp"

namespace trencadis::scalapack {
namespace {

/// Is A(ia: , ja: ), m x n, all here: on a grid of one process, in a descriptor of nine entries, and as PBLAS wants it? Whatever
/// is not is left to PBLAS, which says what is wrong and ends the program.
template <class T> bool all_here(const Given<T>& A, int context, int m, int n)
{
    const Descriptor its = Descriptor::read(A.desc);
    return its.type == 1 && its.context == context && m >= 0 && n >= 0 && A.ia >= 1 && A.ja >= 1 && its.mb >= 1 && its.nb >= 1 &&
           its.rsrc == 0 && its.csrc == 0 && Index(A.ia) - 1 + m <= its.m && Index(A.ja) - 1 + n <= its.n &&
           its.lld >= std::max(1, its.m);
}

/// As tasks compute on it where it is: A(ia: , ja: ), m x n, in whole square blocks that tiles may have.
template <class T> bool in_tiles(const Given<T>& A, const Grid& grid, int block, int m, int n)
{
    const Descriptor its = Descriptor::read(A.desc);
    if (its.type != 1 || its.context != grid.context || A.ia < 1 || A.ja < 1 || its.mb != block || its.nb != block) return false;
    if (its.rsrc < 0 || its.rsrc >= grid.rows || its.csrc < 0 || its.csrc >= grid.cols) return false;
    const int rows = Side1D{its.mb, its.rsrc, grid.rows}.before(std::max(0, its.m), grid.row);
    return (A.ia - 1) % block == 0 && (A.ja - 1) % block == 0 && Index(A.ia) - 1 + m <= its.m && Index(A.ja) - 1 + n <= its.n &&
           its.lld >= std::max(1, rows);
}
template <Scalar T> HeldTiles<T> tiles_of(const Given<const T>& A, int m, int n)
{
    return engine::tiles_of(Operand<T>{const_cast<T*>(A.data), A.ia, A.ja, Descriptor::read(A.desc)}, m, n); // which are read
}
template <Scalar T> HeldTiles<T> tiles_of(const Given<T>& A, int m, int n)
{
    return engine::tiles_of(Operand<T>{A.data, A.ia, A.ja, Descriptor::read(A.desc)}, m, n);
}

/// The engine's session where it is wanted on all processes: one that was given something else would leave the others waiting,
/// and PBLAS says what is wrong.
template <Scalar T> Session* engine_for(Routine routine, const Grid& grid, int m, int n, Flops flops, bool suits)
{
    Session* session = nullptr;
    if (grid.open() && !grid.alone() && wants_engine(flops, true)) {
        int wanting = suits;
        Cigsum2d(grid.context, "All", " ", 1, 1, &wanting, 1, -1, -1);
        session = wanting == grid.rows * grid.cols ? session_of(grid) : nullptr;
    }
    tell<T>(routine, m, n, session ? "by tasks over the grid" : "is passed on");
    return session;
}

template <class T> T* first(const Given<T>& A) { return A.data + (A.ia - 1) + Index(A.ja - 1) * Descriptor::read(A.desc).lld; }
template <class T> Index lld(const Given<T>& A) { return Descriptor::read(A.desc).lld; }

} // namespace

template <Scalar T>
void gemm(char op_a, char op_b, int m, int n, int k, const T* alpha, const Given<const T>& A, const Given<const T>& B,
          const T* beta, const Given<T>& C)
{
    const Letter<Op> a = op_a, b = op_b;
    const Descriptor its = Descriptor::read(C.desc);
    const int context = its.context, block = its.nb;
    const int am = a == Op::none ? m : k, an = a == Op::none ? k : m, bm = b == Op::none ? k : n, bn = b == Op::none ? n : k;
    const Grid grid = Grid::of(context);
    const bool letters = a.valid() && b.valid();
    if (letters && grid.alone() && all_here(A, context, am, an) && all_here(B, context, bm, bn) && all_here(C, context, m, n)) {
        face::Faces<T>::gemm(a, b, m, n, k, alpha, first(A), lld(A), first(B), lld(B), beta, first(C), lld(C));
        return;
    }
    const bool suits = letters && suits_engine(block) && in_tiles(A, grid, block, am, an) && in_tiles(B, grid, block, bm, bn) &&
                       in_tiles(C, grid, block, m, n);
    const Flops flops = std::min({m, n, k}) > 0 && *alpha != T(0) ? flops_per_fma<T> * m * n * k : 0;
    if (Session* const session = engine_for<T>(Routine::gemm, grid, m, n, flops, suits)) {
        distributed::gemm<T>(*session, a, b, *alpha, tiles_of(A, am, an), tiles_of(B, bm, bn), *beta, tiles_of(C, m, n));
        return;
    }
    pass_on<T>(Routine::gemm, &op_a, &op_b, &m, &n, &k, alpha, A.data, &A.ia, &A.ja, A.desc, B.data, &B.ia, &B.ja, B.desc, beta,
               C.data, &C.ia, &C.ja, C.desc);
}

template <Scalar T>
void trsm(char side, char uplo, char op, char diag, int m, int n, const T* alpha, const Given<const T>& A, const Given<T>& B)
{
    const Letter<Side> on = side;
    const int context = Descriptor::read(B.desc).context, order = on == Side::left ? m : n;
    const Grid grid = Grid::of(context);
    const bool letters = on.valid() && Letter<Uplo>(uplo).valid() && Letter<Op>(op).valid() && Letter<Diag>(diag).valid();
    if (letters && grid.alone() && all_here(A, context, order, order) && all_here(B, context, m, n)) {
        face::Faces<T>::trsm(side, uplo, op, diag, m, n, alpha, first(A), lld(A), first(B), lld(B));
        return;
    }
    const int block = Descriptor::read(B.desc).nb;
    const bool suits = letters && suits_engine(block) && in_tiles(A, grid, block, order, order) && in_tiles(B, grid, block, m, n);
    const Flops flops = std::min(m, n) > 0 && *alpha != T(0) ? flops_per_fma<T> * m * n * order / 2 : 0;
    if (Session* const session = engine_for<T>(Routine::trsm, grid, m, n, flops, suits)) {
        distributed::trsm<T>(*session, on, Letter<Uplo>(uplo), Letter<Op>(op), Letter<Diag>(diag), *alpha,
                             tiles_of(A, order, order), tiles_of(B, m, n));
        return;
    }
    pass_on<T>(Routine::trsm, &side, &uplo, &op, &diag, &m, &n, alpha, A.data, &A.ia, &A.ja, A.desc, B.data, &B.ia, &B.ja,
               B.desc);
}

#define TRC_INSTANTIATE(T)                                                                                                       \
    template void gemm<T>(char, char, int, int, int, const T*, const Given<const T>&, const Given<const T>&, const T*,           \
                          const Given<T>&);                                                                                      \
    template void trsm<T>(char, char, char, char, int, int, const T*, const Given<const T>&, const Given<T>&);
TRC_INSTANTIATE(float)
TRC_INSTANTIATE(double)
TRC_INSTANTIATE(std::complex<float>)
TRC_INSTANTIATE(std::complex<double>)

} // namespace trencadis::scalapack
