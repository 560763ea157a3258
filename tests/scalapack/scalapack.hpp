#pragma once
#include <complex>
#include <vector>

/// ScaLAPACK as a program knows it: its symbols in one precision. Nothing here knows of trencadis.

extern "C" {
void Cblacs_pinfo(int* me, int* processes);
void Cblacs_get(int context, int what, int* value);
void Cblacs_gridinit(int* context, const char* order, int rows, int cols);
void Cblacs_gridmap(int* context, const int* map, int ld, int rows, int cols);
void Cblacs_gridinfo(int context, int* rows, int* cols, int* row, int* col);
void Cblacs_gridexit(int context);
void Cblacs_exit(int go_on);
int numroc_(const int* n, const int* nb, const int* process, const int* source, const int* processes);

#define MATRIX(T, A) T *A, const int *i##A, const int *j##A, const int *desc##A
#define CONST_MATRIX(T, A) const T *A, const int *i##A, const int *j##A, const int *desc##A
#define DECLARE(T, p)                                                                                                            \
    void p##potrf_(const char* uplo, const int* n, MATRIX(T, a), int* info);                                                     \
    void p##potrs_(const char* uplo, const int* n, const int* nrhs, MATRIX(T, a), MATRIX(T, b), int* info);                      \
    void p##posv_(const char* uplo, const int* n, const int* nrhs, MATRIX(T, a), MATRIX(T, b), int* info);                       \
    void p##getrf_(const int* m, const int* n, MATRIX(T, a), int* ipiv, int* info);                                              \
    void p##getrs_(const char* op, const int* n, const int* nrhs, MATRIX(T, a), int* ipiv, MATRIX(T, b), int* info);             \
    void p##gesv_(const int* n, const int* nrhs, MATRIX(T, a), int* ipiv, MATRIX(T, b), int* info);                              \
    void p##geqrf_(const int* m, const int* n, MATRIX(T, a), T* tau, T* work, const int* lwork, int* info);                      \
    void p##gemm_(const char* op_a, const char* op_b, const int* m, const int* n, const int* k, const T* alpha,                  \
                  CONST_MATRIX(T, a), CONST_MATRIX(T, b), const T* beta, MATRIX(T, c));                                          \
    void p##trsm_(const char* side, const char* uplo, const char* op, const char* diag, const int* m, const int* n,              \
                  const T* alpha, CONST_MATRIX(T, a), MATRIX(T, b));
DECLARE(float, ps)
DECLARE(double, pd)
DECLARE(std::complex<float>, pc)
DECLARE(std::complex<double>, pz)
}

template <class T> struct Scalapack;
#define NAMES(T, p)                                                                                                              \
    template <> struct Scalapack<T> {                                                                                            \
        static constexpr auto potrf = &p##potrf_;                                                                                \
        static constexpr auto potrs = &p##potrs_;                                                                                \
        static constexpr auto posv = &p##posv_;                                                                                  \
        static constexpr auto getrf = &p##getrf_;                                                                                \
        static constexpr auto getrs = &p##getrs_;                                                                                \
        static constexpr auto gesv = &p##gesv_;                                                                                  \
        static constexpr auto geqrf = &p##geqrf_;                                                                                \
        static constexpr auto gemm = &p##gemm_;                                                                                  \
        static constexpr auto trsm = &p##trsm_;                                                                                  \
        static constexpr char letter = #p[1];                                                                                    \
    };
NAMES(float, ps)
NAMES(double, pd)
NAMES(std::complex<float>, pc)
NAMES(std::complex<double>, pz)

template <class T> struct RealOf {
    using type = T;
};
template <class R> struct RealOf<std::complex<R>> {
    using type = R;
};
template <class T> using Real = typename RealOf<T>::type;
