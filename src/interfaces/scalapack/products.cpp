#include "interfaces/lapack/faces.hpp"
#include "interfaces/scalapack/behind.hpp"
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

template <class T> T* first(const Given<T>& A) { return A.data + (A.ia - 1) + Index(A.ja - 1) * Descriptor::read(A.desc).lld; }
template <class T> Index lld(const Given<T>& A) { return Descriptor::read(A.desc).lld; }

} // namespace

template <Scalar T>
void gemm(char op_a, char op_b, int m, int n, int k, const T* alpha, const Given<const T>& A, const Given<const T>& B,
          const T* beta, const Given<T>& C)
{
    const Letter<Op> a = op_a, b = op_b;
    const int context = Descriptor::read(C.desc).context;
    const bool here = Grid::of(context).alone() && a.valid() && b.valid() &&
                      all_here(A, context, a == Op::none ? m : k, a == Op::none ? k : m) &&
                      all_here(B, context, b == Op::none ? k : n, b == Op::none ? n : k) && all_here(C, context, m, n);
    if (here) {
        face::Faces<T>::gemm(a, b, m, n, k, alpha, first(A), lld(A), first(B), lld(B), beta, first(C), lld(C));
        return;
    }
    tell<T>(Routine::gemm, m, n, "is passed on");
    pass_on<T>(Routine::gemm, &op_a, &op_b, &m, &n, &k, alpha, A.data, &A.ia, &A.ja, A.desc, B.data, &B.ia, &B.ja, B.desc, beta,
               C.data, &C.ia, &C.ja, C.desc);
}

template <Scalar T>
void trsm(char side, char uplo, char op, char diag, int m, int n, const T* alpha, const Given<const T>& A, const Given<T>& B)
{
    const Letter<Side> on = side;
    const int context = Descriptor::read(B.desc).context, order = on == Side::left ? m : n;
    const bool letters = on.valid() && Letter<Uplo>(uplo).valid() && Letter<Op>(op).valid() && Letter<Diag>(diag).valid();
    if (letters && Grid::of(context).alone() && all_here(A, context, order, order) && all_here(B, context, m, n)) {
        face::Faces<T>::trsm(side, uplo, op, diag, m, n, alpha, first(A), lld(A), first(B), lld(B));
        return;
    }
    tell<T>(Routine::trsm, m, n, "is passed on");
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
