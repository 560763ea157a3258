#include "interfaces/scalapack/behind.hpp"
#include "interfaces/scalapack/routines.hpp"

#include <exception>

// The Fortran symbols. Everything comes by address; the hidden lengths of the letters are not looked at. A call from inside the
// library behind us is passed on to it as it came.

namespace trencadis::scalapack {
namespace {

template <Scalar T> Operand<T> operand(T* A, const int* ia, const int* ja, const int* desc)
{
    return {A, *ia, *ja, Descriptor::read(desc)};
}

template <Scalar T, class Compute> void on_grid(Routine routine, int context, const Compute& compute)
{
    try {
        compute();
    } catch (const std::exception& failure) {
        give_up(context, name_of<T>(routine), failure.what());
    }
}

} // namespace
} // namespace trencadis::scalapack

using namespace trencadis;
using scalapack::Inside, scalapack::one_letter, scalapack::on_grid, scalapack::operand, scalapack::pass_on, scalapack::Routine;

#define TRC_IN(A) const T *A, const int *i##A, const int *j##A, const int *desc##A
#define TRC_INOUT(A) T *A, const int *i##A, const int *j##A, const int *desc##A
#define TRC_GIVEN(A) A, i##A, j##A, desc##A
#define TRC_OPERAND(A) operand(A, i##A, j##A, desc##A)

#define TRC_ON_GRID(routine, ...) on_grid<T>(Routine::routine, desca[1], [&] { __VA_ARGS__; })
#define TRC_FACTOR_SYMBOLS(p)                                                                                                    \
    void p##potrf_(const char* uplo, const int* n, TRC_INOUT(a), int* info)                                                      \
    {                                                                                                                            \
        if (Inside::any()) return pass_on<T>(Routine::potrf, uplo, n, TRC_GIVEN(a), info, one_letter);                           \
        TRC_ON_GRID(potrf, *info = scalapack::potrf<T>(*uplo, *n, TRC_OPERAND(a)));                                              \
    }                                                                                                                            \
    void p##getrf_(const int* m, const int* n, TRC_INOUT(a), int* ipiv, int* info)                                               \
    {                                                                                                                            \
        if (Inside::any()) return pass_on<T>(Routine::getrf, m, n, TRC_GIVEN(a), ipiv, info);                                    \
        TRC_ON_GRID(getrf, *info = scalapack::getrf<T>(*m, *n, TRC_OPERAND(a), ipiv));                                           \
    }                                                                                                                            \
    void p##geqrf_(const int* m, const int* n, TRC_INOUT(a), T* tau, T* work, const int* lwork, int* info)                       \
    {                                                                                                                            \
        if (Inside::any()) return pass_on<T>(Routine::geqrf, m, n, TRC_GIVEN(a), tau, work, lwork, info);                        \
        TRC_ON_GRID(geqrf, *info = scalapack::geqrf<T>(*m, *n, TRC_OPERAND(a), tau, work, *lwork));                              \
    }
#define TRC_SOLVE_SYMBOLS(p)                                                                                                     \
    void p##potrs_(const char* uplo, const int* n, const int* nrhs, TRC_INOUT(a), TRC_INOUT(b), int* info)                       \
    {                                                                                                                            \
        if (Inside::any()) return pass_on<T>(Routine::potrs, uplo, n, nrhs, TRC_GIVEN(a), TRC_GIVEN(b), info, one_letter);       \
        TRC_ON_GRID(potrs, *info = scalapack::potrs<T>(*uplo, *n, *nrhs, TRC_OPERAND(a), TRC_OPERAND(b)));                       \
    }                                                                                                                            \
    void p##posv_(const char* uplo, const int* n, const int* nrhs, TRC_INOUT(a), TRC_INOUT(b), int* info)                        \
    {                                                                                                                            \
        if (Inside::any()) return pass_on<T>(Routine::posv, uplo, n, nrhs, TRC_GIVEN(a), TRC_GIVEN(b), info, one_letter);        \
        TRC_ON_GRID(posv, *info = scalapack::posv<T>(*uplo, *n, *nrhs, TRC_OPERAND(a), TRC_OPERAND(b)));                         \
    }                                                                                                                            \
    void p##getrs_(const char* trans, const int* n, const int* nrhs, TRC_INOUT(a), int* ipiv, TRC_INOUT(b), int* info)           \
    {                                                                                                                            \
        if (Inside::any())                                                                                                       \
            return pass_on<T>(Routine::getrs, trans, n, nrhs, TRC_GIVEN(a), ipiv, TRC_GIVEN(b), info, one_letter);               \
        TRC_ON_GRID(getrs, *info = scalapack::getrs<T>(*trans, *n, *nrhs, TRC_OPERAND(a), ipiv, TRC_OPERAND(b)));                \
    }                                                                                                                            \
    void p##gesv_(const int* n, const int* nrhs, TRC_INOUT(a), int* ipiv, TRC_INOUT(b), int* info)                               \
    {                                                                                                                            \
        if (Inside::any()) return pass_on<T>(Routine::gesv, n, nrhs, TRC_GIVEN(a), ipiv, TRC_GIVEN(b), info);                    \
        TRC_ON_GRID(gesv, *info = scalapack::gesv<T>(*n, *nrhs, TRC_OPERAND(a), ipiv, TRC_OPERAND(b)));                          \
    }
#define TRC_PRODUCT_SYMBOLS(p)                                                                                                   \
    void p##gemm_(const char* op_a, const char* op_b, const int* m, const int* n, const int* k, const T* alpha, TRC_IN(a),       \
                  TRC_IN(b), const T* beta, TRC_INOUT(c))                                                                        \
    {                                                                                                                            \
        if (Inside::any())                                                                                                       \
            return pass_on<T>(Routine::gemm, op_a, op_b, m, n, k, alpha, TRC_GIVEN(a), TRC_GIVEN(b), beta, TRC_GIVEN(c));        \
        TRC_ON_GRID(gemm, scalapack::gemm<T>(*op_a, *op_b, *m, *n, *k, alpha, {a, *ia, *ja, desca}, {b, *ib, *jb, descb}, beta,  \
                                             {c, *ic, *jc, descc}));                                                             \
    }                                                                                                                            \
    void p##trsm_(const char* side, const char* uplo, const char* op, const char* diag, const int* m, const int* n,              \
                  const T* alpha, TRC_IN(a), TRC_INOUT(b))                                                                       \
    {                                                                                                                            \
        if (Inside::any()) return pass_on<T>(Routine::trsm, side, uplo, op, diag, m, n, alpha, TRC_GIVEN(a), TRC_GIVEN(b));      \
        TRC_ON_GRID(trsm,                                                                                                        \
                    scalapack::trsm<T>(*side, *uplo, *op, *diag, *m, *n, alpha, {a, *ia, *ja, desca}, {b, *ib, *jb, descb}));    \
    }

#define TRC_SYMBOLS(p, SCALAR)                                                                                                   \
    namespace symbols::p {                                                                                                       \
    using T = SCALAR;                                                                                                            \
    extern "C" {                                                                                                                 \
    TRC_FACTOR_SYMBOLS(p)                                                                                                        \
    TRC_SOLVE_SYMBOLS(p)                                                                                                         \
    TRC_PRODUCT_SYMBOLS(p)                                                                                                       \
    }                                                                                                                            \
    }

TRC_SYMBOLS(ps, float)
TRC_SYMBOLS(pd, double)
TRC_SYMBOLS(pc, std::complex<float>)
TRC_SYMBOLS(pz, std::complex<double>)
