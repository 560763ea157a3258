/* trencadis: dense linear algebra as tile tasks on a data-flow runtime for uneven machines.
 *
 * C99, usable from C++. Matrices are column-major, element (i, j) of A is a[i + j * lda]; sizes are 64-bit. Flags are
 * LAPACK's letters, upper or lower case.
 *
 * Every call returns a code: 0 done; -i argument i is bad, counted as LAPACK counts (the session is not counted; in calls that
 * are not LAPACK's, from the first); > 0 one of trc_code. trc_last_error_message() says what was given and what would be right. A
 * numerical outcome is not an error: it is LAPACK's info, returned apart.
 *
 * All calls may be made from several threads at once, except that one flow belongs to one thread; also from atexit handlers and
 * destructors of static objects. A cancelled thread (pthread_cancel) is cancelled when its call is over. In a forked child the
 * standard session is a new one; sessions and flows from before the fork can only be destroyed there, their other calls return
 * TRC_ENVIRONMENT. */
#ifndef TRENCADIS_H
#define TRENCADIS_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
#include <complex>
typedef std::complex<float> trc_complex_float;
typedef std::complex<double> trc_complex_double;
extern "C" {
#else
typedef float _Complex trc_complex_float;
typedef double _Complex trc_complex_double;
#endif

typedef enum trc_code {
    TRC_OK = 0,
    TRC_BAD_VALUE = 1, /* something given is wrong, but no single argument is to blame */
    TRC_OUT_OF_MEMORY = 2,
    TRC_MISSING_BACKEND = 3, /* a library or back end is not on this machine */
    TRC_ENVIRONMENT = 4,     /* threads, files or limits of the system refused */
    TRC_CANCELLED = 5,
    TRC_TASK_FAILED = 6, /* a task's function returned something else than 0 */
    TRC_INTERNAL = 7     /* a mistake of the library */
} trc_code;

/* What went wrong in the last call on this thread that did not return 0; "" before. Valid until the next such call. */
const char* trc_last_error_message(void);
/* "MAJOR.MINOR.PATCH" of the library that was found when the program ran. */
const char* trc_version(void);

/* --- Sessions: workers, a scheduler and kernels ----------------------------------------------------------------- */

typedef struct trc_session trc_session;

/* Makes a session. `options`: words separated by blanks, or NULL:
 *
 *     engine=native|sequential|...
 *     scheduler=mosaic|eager|ws|...
 *     kernels=native|mkl|...          or single ones from elsewhere: native,potrf=mkl
 *     threads=native|os|argobots|...
 *     workers=LIST                    core numbers, as 0,1,4-7
 *     worker_count=N                  in place of workers: the first so many
 *     window=N                        tasks in flight
 *     relief=held-up|always|never     when a worker goes on on the core of an idle one, as the
 *                                     system has taken its own away; the standard session: never
 *     devices=WORDS                   beside the cores: emulated:2,memory=64MiB (docs/devices.md); or none
 *     reproducible=0|1                the same bits from any number of workers (docs/bits.md)
 *     objective=time                  or energy, energy-delay, rule: what choices make small (docs/choices.md)
 *
 * What is not given comes from TRENCADIS_ENGINE, TRENCADIS_SCHEDULER, TRENCADIS_KERNELS, TRENCADIS_THREADS_BACKEND,
 * TRENCADIS_NUM_THREADS, TRENCADIS_RELIEF, TRENCADIS_DEVICES and TRENCADIS_REPRODUCIBLE, else the default: one worker per
 * core. */
int trc_session_create(trc_session** session, const char* options);
/* The same with engine=starpu-mpi in an MPI program (Open MPI): `communicator` is the address of an MPI_Comm, of the
 * processes that work together, which is duplicated; all of them make the session, and destroy it. MPI is there, with
 * MPI_THREAD_SERIALIZED at least. Their common calls are in <trencadis/distributed.h>; the others are of each process alone. -3
 * for NULL, TRC_BAD_VALUE for one that is MPI_COMM_NULL, was freed, or lies between two groups. With trc_session_create and
 * engine=starpu-mpi it is all of the program's processes, and MPI is initialised where nobody has. */
int trc_session_create_on(trc_session** session, const char* options, const void* communicator);
/* Waits for calls that are running; those that begin meanwhile return TRC_BAD_VALUE. NULL is allowed. -1, and the session stays
 * as it is, while one of its flows has not been destroyed: in particular from inside its own tasks. */
int trc_session_destroy(trc_session* session);
/* Number of workers. NULL: of the standard session. Negative or zero never; on failure 0. */
int trc_session_workers(trc_session* session);

/* A matrix of rows x cols elements of so many bytes, columns lda elements apart, whose copies on the session's devices stay there
 * from call to call (docs/devices.md). Between calls the caller's memory has the current values as ever; who writes there, other
 * than by calls of this session, says so before the next call: trc_session_touch, of the matrix that begins at `data`. The memory
 * stays the caller's, who calls trc_session_leave before it is freed. -i for a bad argument, counted with the session: -1 for
 * NULL, since the standard session keeps nothing, and for one without devices, -2 where some of it is kept already or nothing
 * that is kept begins there. */
int trc_session_keep(trc_session* session, const void* data, int64_t rows, int64_t cols, int64_t lda, int64_t element_bytes);
int trc_session_touch(trc_session* session, const void* data);
int trc_session_leave(trc_session* session, const void* data);

/* Workers of the standard session from now on, at most one per core that the process may use; calls that are running go on as
 * they are. Other sessions are not limited. */
int trc_set_num_threads(int count);
/* Workers of the standard session, which is not made for that; on failure 0. */
int trc_get_num_threads(void);

/* --- Linear algebra; session NULL is the standard session, made at the first such call ---------------------------- */

/* A <- L L^H (uplo 'L') or U^H U ('U'), A n x n; the other triangle is neither read nor written. *info: 0, or the order of the
 * smallest leading minor that is not positive definite. n^3/3 flops (4 times that complex). */
int trc_spotrf(trc_session* session, char uplo, int64_t n, float* a, int64_t lda, int64_t* info);
int trc_dpotrf(trc_session* session, char uplo, int64_t n, double* a, int64_t lda, int64_t* info);
int trc_cpotrf(trc_session* session, char uplo, int64_t n, trc_complex_float* a, int64_t lda, int64_t* info);
int trc_zpotrf(trc_session* session, char uplo, int64_t n, trc_complex_double* a, int64_t lda, int64_t* info);

/* B <- A^-1 B, B n x nrhs, with potrf's factor in A. 2 n^2 nrhs flops. *info is always 0. */
int trc_spotrs(trc_session* session, char uplo, int64_t n, int64_t nrhs, const float* a, int64_t lda, float* b, int64_t ldb,
               int64_t* info);
int trc_dpotrs(trc_session* session, char uplo, int64_t n, int64_t nrhs, const double* a, int64_t lda, double* b, int64_t ldb,
               int64_t* info);
int trc_cpotrs(trc_session* session, char uplo, int64_t n, int64_t nrhs, const trc_complex_float* a, int64_t lda,
               trc_complex_float* b, int64_t ldb, int64_t* info);
int trc_zpotrs(trc_session* session, char uplo, int64_t n, int64_t nrhs, const trc_complex_double* a, int64_t lda,
               trc_complex_double* b, int64_t ldb, int64_t* info);

/* potrf, then potrs; B is not touched unless *info is 0. */
int trc_sposv(trc_session* session, char uplo, int64_t n, int64_t nrhs, float* a, int64_t lda, float* b, int64_t ldb,
              int64_t* info);
int trc_dposv(trc_session* session, char uplo, int64_t n, int64_t nrhs, double* a, int64_t lda, double* b, int64_t ldb,
              int64_t* info);
int trc_cposv(trc_session* session, char uplo, int64_t n, int64_t nrhs, trc_complex_float* a, int64_t lda, trc_complex_float* b,
              int64_t ldb, int64_t* info);
int trc_zposv(trc_session* session, char uplo, int64_t n, int64_t nrhs, trc_complex_double* a, int64_t lda, trc_complex_double* b,
              int64_t ldb, int64_t* info);

/* A = P L U in place, A m x n. ipiv[i], i < min(m, n), is the row, from 1, that was exchanged with row i + 1: the one with the
 * largest |.| (complex: |re| + |im|). *info: 0, or the number of the first pivot that is exactly zero; the factorization is
 * complete all the same. 2/3 n^3 flops for m = n (4 times that complex). */
int trc_sgetrf(trc_session* session, int64_t m, int64_t n, float* a, int64_t lda, int64_t* ipiv, int64_t* info);
int trc_dgetrf(trc_session* session, int64_t m, int64_t n, double* a, int64_t lda, int64_t* ipiv, int64_t* info);
int trc_cgetrf(trc_session* session, int64_t m, int64_t n, trc_complex_float* a, int64_t lda, int64_t* ipiv, int64_t* info);
int trc_zgetrf(trc_session* session, int64_t m, int64_t n, trc_complex_double* a, int64_t lda, int64_t* ipiv, int64_t* info);

/* B <- op(A)^-1 B, B n x nrhs, with getrf's factors in A and its ipiv; trans 'N', 'T' or 'C'. 2 n^2 nrhs flops.
 * *info is always 0. */
int trc_sgetrs(trc_session* session, char trans, int64_t n, int64_t nrhs, const float* a, int64_t lda, const int64_t* ipiv,
               float* b, int64_t ldb, int64_t* info);
int trc_dgetrs(trc_session* session, char trans, int64_t n, int64_t nrhs, const double* a, int64_t lda, const int64_t* ipiv,
               double* b, int64_t ldb, int64_t* info);
int trc_cgetrs(trc_session* session, char trans, int64_t n, int64_t nrhs, const trc_complex_float* a, int64_t lda,
               const int64_t* ipiv, trc_complex_float* b, int64_t ldb, int64_t* info);
int trc_zgetrs(trc_session* session, char trans, int64_t n, int64_t nrhs, const trc_complex_double* a, int64_t lda,
               const int64_t* ipiv, trc_complex_double* b, int64_t ldb, int64_t* info);

/* getrf, then getrs; B is not touched unless *info is 0. */
int trc_sgesv(trc_session* session, int64_t n, int64_t nrhs, float* a, int64_t lda, int64_t* ipiv, float* b, int64_t ldb,
              int64_t* info);
int trc_dgesv(trc_session* session, int64_t n, int64_t nrhs, double* a, int64_t lda, int64_t* ipiv, double* b, int64_t ldb,
              int64_t* info);
int trc_cgesv(trc_session* session, int64_t n, int64_t nrhs, trc_complex_float* a, int64_t lda, int64_t* ipiv,
              trc_complex_float* b, int64_t ldb, int64_t* info);
int trc_zgesv(trc_session* session, int64_t n, int64_t nrhs, trc_complex_double* a, int64_t lda, int64_t* ipiv,
              trc_complex_double* b, int64_t ldb, int64_t* info);

/* A <- A^-1 from getrf's factors and ipiv. *info: 0, or the number of the first zero on U's diagonal; A is not touched then. 4/3
 * n^3 flops. */
int trc_sgetri(trc_session* session, int64_t n, float* a, int64_t lda, const int64_t* ipiv, int64_t* info);
int trc_dgetri(trc_session* session, int64_t n, double* a, int64_t lda, const int64_t* ipiv, int64_t* info);
int trc_cgetri(trc_session* session, int64_t n, trc_complex_float* a, int64_t lda, const int64_t* ipiv, int64_t* info);
int trc_zgetri(trc_session* session, int64_t n, trc_complex_double* a, int64_t lda, const int64_t* ipiv, int64_t* info);

/* B <- op(A)^-1 B, A n x n and triangular; the other triangle is not read, nor is a unit diagonal (diag 'U'). *info: 0, or the
 * place of the first zero on the diagonal, counted from 1; B is not touched then. n^2 nrhs flops (4 times that complex). */
int trc_strtrs(trc_session* session, char uplo, char trans, char diag, int64_t n, int64_t nrhs, const float* a, int64_t lda,
               float* b, int64_t ldb, int64_t* info);
int trc_dtrtrs(trc_session* session, char uplo, char trans, char diag, int64_t n, int64_t nrhs, const double* a, int64_t lda,
               double* b, int64_t ldb, int64_t* info);
int trc_ctrtrs(trc_session* session, char uplo, char trans, char diag, int64_t n, int64_t nrhs, const trc_complex_float* a,
               int64_t lda, trc_complex_float* b, int64_t ldb, int64_t* info);
int trc_ztrtrs(trc_session* session, char uplo, char trans, char diag, int64_t n, int64_t nrhs, const trc_complex_double* a,
               int64_t lda, trc_complex_double* b, int64_t ldb, int64_t* info);

/* A <- A^-1, A triangular; the other triangle is neither read nor written, nor a unit diagonal (diag 'U'). *info: 0, or the place
 * of the first zero on the diagonal, counted from 1; A is not touched then. n^3/3 flops (4 times that complex). */
int trc_strtri(trc_session* session, char uplo, char diag, int64_t n, float* a, int64_t lda, int64_t* info);
int trc_dtrtri(trc_session* session, char uplo, char diag, int64_t n, double* a, int64_t lda, int64_t* info);
int trc_ctrtri(trc_session* session, char uplo, char diag, int64_t n, trc_complex_float* a, int64_t lda, int64_t* info);
int trc_ztrtri(trc_session* session, char uplo, char diag, int64_t n, trc_complex_double* a, int64_t lda, int64_t* info);

/* A <- L^H L (uplo 'L', L in A) or U U^H ('U'): one triangle, the other is neither read nor written. *info is 0. n^3/3 flops. */
int trc_slauum(trc_session* session, char uplo, int64_t n, float* a, int64_t lda, int64_t* info);
int trc_dlauum(trc_session* session, char uplo, int64_t n, double* a, int64_t lda, int64_t* info);
int trc_clauum(trc_session* session, char uplo, int64_t n, trc_complex_float* a, int64_t lda, int64_t* info);
int trc_zlauum(trc_session* session, char uplo, int64_t n, trc_complex_double* a, int64_t lda, int64_t* info);

/* A triangle of A^-1 in the place of potrf's factor: trtri, then lauum. *info as trtri's. 2/3 n^3 flops. */
int trc_spotri(trc_session* session, char uplo, int64_t n, float* a, int64_t lda, int64_t* info);
int trc_dpotri(trc_session* session, char uplo, int64_t n, double* a, int64_t lda, int64_t* info);
int trc_cpotri(trc_session* session, char uplo, int64_t n, trc_complex_float* a, int64_t lda, int64_t* info);
int trc_zpotri(trc_session* session, char uplo, int64_t n, trc_complex_double* a, int64_t lda, int64_t* info);

/* A = Q R in place, A m x n: R in the upper trapezoid, below it the vectors of k = min(m, n) elementary reflectors H = I - tau v
 * v^H, whose first element is a one that is not stored; tau their k scalars; Q = H_1 .. H_k. *info is always 0, here and in the
 * calls of QR below. 2 m n^2 - 2/3 n^3 flops for m >= n (4 times that complex). */
int trc_sgeqrf(trc_session* session, int64_t m, int64_t n, float* a, int64_t lda, float* tau, int64_t* info);
int trc_dgeqrf(trc_session* session, int64_t m, int64_t n, double* a, int64_t lda, double* tau, int64_t* info);
int trc_cgeqrf(trc_session* session, int64_t m, int64_t n, trc_complex_float* a, int64_t lda, trc_complex_float* tau,
               int64_t* info);
int trc_zgeqrf(trc_session* session, int64_t m, int64_t n, trc_complex_double* a, int64_t lda, trc_complex_double* tau,
               int64_t* info);
/*
 * A P = Q R in place: geqrf with the columns exchanged so that the diagonal of R does not grow in modulus. jpvt, n numbers:
 * columns with one that is not 0 come first, as they stand; afterwards column j of A P was column jpvt[j] of A, from 1.
 */
int trc_sgeqp3(trc_session* session, int64_t m, int64_t n, float* a, int64_t lda, int64_t* jpvt, float* tau, int64_t* info);
int trc_dgeqp3(trc_session* session, int64_t m, int64_t n, double* a, int64_t lda, int64_t* jpvt, double* tau, int64_t* info);
int trc_cgeqp3(trc_session* session, int64_t m, int64_t n, trc_complex_float* a, int64_t lda, int64_t* jpvt,
               trc_complex_float* tau, int64_t* info);
int trc_zgeqp3(trc_session* session, int64_t m, int64_t n, trc_complex_double* a, int64_t lda, int64_t* jpvt,
               trc_complex_double* tau, int64_t* info);
/* A = L Q in place: what geqrf makes of A^H, transposed; Q = H_k^H .. H_1^H. */
int trc_sgelqf(trc_session* session, int64_t m, int64_t n, float* a, int64_t lda, float* tau, int64_t* info);
int trc_dgelqf(trc_session* session, int64_t m, int64_t n, double* a, int64_t lda, double* tau, int64_t* info);
int trc_cgelqf(trc_session* session, int64_t m, int64_t n, trc_complex_float* a, int64_t lda, trc_complex_float* tau,
               int64_t* info);
int trc_zgelqf(trc_session* session, int64_t m, int64_t n, trc_complex_double* a, int64_t lda, trc_complex_double* tau,
               int64_t* info);
/* A <- the first n columns of Q from the first k reflectors that geqrf left there; m >= n >= k. */
int trc_sorgqr(trc_session* session, int64_t m, int64_t n, int64_t k, float* a, int64_t lda, const float* tau, int64_t* info);
int trc_dorgqr(trc_session* session, int64_t m, int64_t n, int64_t k, double* a, int64_t lda, const double* tau, int64_t* info);
int trc_cungqr(trc_session* session, int64_t m, int64_t n, int64_t k, trc_complex_float* a, int64_t lda,
               const trc_complex_float* tau, int64_t* info);
int trc_zungqr(trc_session* session, int64_t m, int64_t n, int64_t k, trc_complex_double* a, int64_t lda,
               const trc_complex_double* tau, int64_t* info);
/* A <- the first m rows of Q from the first k reflectors that gelqf left there; n >= m >= k. */
int trc_sorglq(trc_session* session, int64_t m, int64_t n, int64_t k, float* a, int64_t lda, const float* tau, int64_t* info);
int trc_dorglq(trc_session* session, int64_t m, int64_t n, int64_t k, double* a, int64_t lda, const double* tau, int64_t* info);
int trc_cunglq(trc_session* session, int64_t m, int64_t n, int64_t k, trc_complex_float* a, int64_t lda,
               const trc_complex_float* tau, int64_t* info);
int trc_zunglq(trc_session* session, int64_t m, int64_t n, int64_t k, trc_complex_double* a, int64_t lda,
               const trc_complex_double* tau, int64_t* info);
/* C <- op(Q) C (side 'L') or C op(Q) ('R'), C m x n, Q of the k reflectors that geqrf left in the columns of A; trans 'N' or 'C'
 * (real also 'T'). */
int trc_sormqr(trc_session* session, char side, char trans, int64_t m, int64_t n, int64_t k, const float* a, int64_t lda,
               const float* tau, float* c, int64_t ldc, int64_t* info);
int trc_dormqr(trc_session* session, char side, char trans, int64_t m, int64_t n, int64_t k, const double* a, int64_t lda,
               const double* tau, double* c, int64_t ldc, int64_t* info);
int trc_cunmqr(trc_session* session, char side, char trans, int64_t m, int64_t n, int64_t k, const trc_complex_float* a,
               int64_t lda, const trc_complex_float* tau, trc_complex_float* c, int64_t ldc, int64_t* info);
int trc_zunmqr(trc_session* session, char side, char trans, int64_t m, int64_t n, int64_t k, const trc_complex_double* a,
               int64_t lda, const trc_complex_double* tau, trc_complex_double* c, int64_t ldc, int64_t* info);
/* The same with those that gelqf left in the rows of A. */
int trc_sormlq(trc_session* session, char side, char trans, int64_t m, int64_t n, int64_t k, const float* a, int64_t lda,
               const float* tau, float* c, int64_t ldc, int64_t* info);
int trc_dormlq(trc_session* session, char side, char trans, int64_t m, int64_t n, int64_t k, const double* a, int64_t lda,
               const double* tau, double* c, int64_t ldc, int64_t* info);
int trc_cunmlq(trc_session* session, char side, char trans, int64_t m, int64_t n, int64_t k, const trc_complex_float* a,
               int64_t lda, const trc_complex_float* tau, trc_complex_float* c, int64_t ldc, int64_t* info);
int trc_zunmlq(trc_session* session, char side, char trans, int64_t m, int64_t n, int64_t k, const trc_complex_double* a,
               int64_t lda, const trc_complex_double* tau, trc_complex_double* c, int64_t ldc, int64_t* info);
/* geqrf that leaves the triangles T of its block reflectors I - V T V^H, nb columns each, side by side in t (nb x min(m, n)),
 * instead of tau. */
int trc_sgeqrt(trc_session* session, int64_t m, int64_t n, int64_t nb, float* a, int64_t lda, float* t, int64_t ldt,
               int64_t* info);
int trc_dgeqrt(trc_session* session, int64_t m, int64_t n, int64_t nb, double* a, int64_t lda, double* t, int64_t ldt,
               int64_t* info);
int trc_cgeqrt(trc_session* session, int64_t m, int64_t n, int64_t nb, trc_complex_float* a, int64_t lda, trc_complex_float* t,
               int64_t ldt, int64_t* info);
int trc_zgeqrt(trc_session* session, int64_t m, int64_t n, int64_t nb, trc_complex_double* a, int64_t lda, trc_complex_double* t,
               int64_t ldt, int64_t* info);
/* C <- op(Q) C or C op(Q) as ormqr, with what geqrt left in v and t. */
int trc_sgemqrt(trc_session* session, char side, char trans, int64_t m, int64_t n, int64_t k, int64_t nb, const float* v,
                int64_t ldv, const float* t, int64_t ldt, float* c, int64_t ldc, int64_t* info);
int trc_dgemqrt(trc_session* session, char side, char trans, int64_t m, int64_t n, int64_t k, int64_t nb, const double* v,
                int64_t ldv, const double* t, int64_t ldt, double* c, int64_t ldc, int64_t* info);
int trc_cgemqrt(trc_session* session, char side, char trans, int64_t m, int64_t n, int64_t k, int64_t nb,
                const trc_complex_float* v, int64_t ldv, const trc_complex_float* t, int64_t ldt, trc_complex_float* c,
                int64_t ldc, int64_t* info);
int trc_zgemqrt(trc_session* session, char side, char trans, int64_t m, int64_t n, int64_t k, int64_t nb,
                const trc_complex_double* v, int64_t ldv, const trc_complex_double* t, int64_t ldt, trc_complex_double* c,
                int64_t ldc, int64_t* info);
/* t <- the triangle of k reflectors of order n as one, I - V T V^H: upper where they are multiplied forward (direct 'F'), lower
 * backward ('B'). v has their vectors as columns (storev 'C') or their conjugates as rows ('R'). On the calling thread. */
int trc_slarft(char direct, char storev, int64_t n, int64_t k, const float* v, int64_t ldv, const float* tau, float* t,
               int64_t ldt);
int trc_dlarft(char direct, char storev, int64_t n, int64_t k, const double* v, int64_t ldv, const double* tau, double* t,
               int64_t ldt);
int trc_clarft(char direct, char storev, int64_t n, int64_t k, const trc_complex_float* v, int64_t ldv,
               const trc_complex_float* tau, trc_complex_float* t, int64_t ldt);
int trc_zlarft(char direct, char storev, int64_t n, int64_t k, const trc_complex_double* v, int64_t ldv,
               const trc_complex_double* tau, trc_complex_double* t, int64_t ldt);
/* C <- op(H) C or C op(H), C m x n, with H = I - V T V^H of larft. On the calling thread. */
int trc_slarfb(char side, char trans, char direct, char storev, int64_t m, int64_t n, int64_t k, const float* v, int64_t ldv,
               const float* t, int64_t ldt, float* c, int64_t ldc);
int trc_dlarfb(char side, char trans, char direct, char storev, int64_t m, int64_t n, int64_t k, const double* v, int64_t ldv,
               const double* t, int64_t ldt, double* c, int64_t ldc);
int trc_clarfb(char side, char trans, char direct, char storev, int64_t m, int64_t n, int64_t k, const trc_complex_float* v,
               int64_t ldv, const trc_complex_float* t, int64_t ldt, trc_complex_float* c, int64_t ldc);
int trc_zlarfb(char side, char trans, char direct, char storev, int64_t m, int64_t n, int64_t k, const trc_complex_double* v,
               int64_t ldv, const trc_complex_double* t, int64_t ldt, trc_complex_double* c, int64_t ldc);

/* Least squares: for each of nrhs columns b of B the x that makes |op(A) x - b| least, or the shortest x of op(A) x = b where
 * there are several; A m x n of full rank, trans 'N' or 'C' (real also 'T'). B is max(m, n) x nrhs: right sides on top,
 * afterwards the solutions. A is factored by geqrf (m >= n) or gelqf. *info: 0, or i where element i of the triangle's diagonal
 * is exactly zero; there is no solution then. */
int trc_sgels(trc_session* session, char trans, int64_t m, int64_t n, int64_t nrhs, float* a, int64_t lda, float* b, int64_t ldb,
              int64_t* info);
int trc_dgels(trc_session* session, char trans, int64_t m, int64_t n, int64_t nrhs, double* a, int64_t lda, double* b,
              int64_t ldb, int64_t* info);
int trc_cgels(trc_session* session, char trans, int64_t m, int64_t n, int64_t nrhs, trc_complex_float* a, int64_t lda,
              trc_complex_float* b, int64_t ldb, int64_t* info);
int trc_zgels(trc_session* session, char trans, int64_t m, int64_t n, int64_t nrhs, trc_complex_double* a, int64_t lda,
              trc_complex_double* b, int64_t ldb, int64_t* info);

/* *value <- max |a_ij| (norm 'M'), the largest column sum ('1', 'O') or row sum ('I') of |a_ij|, or the root of the sum of
 * squares ('F', 'E'), of A m x n; 0 where it is empty, NaN where an element is. One read of A, by all workers where it is large.
 */
int trc_slange(trc_session* session, char norm, int64_t m, int64_t n, const float* a, int64_t lda, float* value);
int trc_dlange(trc_session* session, char norm, int64_t m, int64_t n, const double* a, int64_t lda, double* value);
int trc_clange(trc_session* session, char norm, int64_t m, int64_t n, const trc_complex_float* a, int64_t lda, float* value);
int trc_zlange(trc_session* session, char norm, int64_t m, int64_t n, const trc_complex_double* a, int64_t lda, double* value);
/* The same of a symmetric or a Hermitian matrix, of which one triangle is read. */
int trc_slansy(trc_session* session, char norm, char uplo, int64_t n, const float* a, int64_t lda, float* value);
int trc_dlansy(trc_session* session, char norm, char uplo, int64_t n, const double* a, int64_t lda, double* value);
int trc_clansy(trc_session* session, char norm, char uplo, int64_t n, const trc_complex_float* a, int64_t lda, float* value);
int trc_zlansy(trc_session* session, char norm, char uplo, int64_t n, const trc_complex_double* a, int64_t lda, double* value);
int trc_clanhe(trc_session* session, char norm, char uplo, int64_t n, const trc_complex_float* a, int64_t lda, float* value);
int trc_zlanhe(trc_session* session, char norm, char uplo, int64_t n, const trc_complex_double* a, int64_t lda, double* value);
/* The same of a triangle or trapezoid, m x n. */
int trc_slantr(trc_session* session, char norm, char uplo, char diag, int64_t m, int64_t n, const float* a, int64_t lda,
               float* value);
int trc_dlantr(trc_session* session, char norm, char uplo, char diag, int64_t m, int64_t n, const double* a, int64_t lda,
               double* value);
int trc_clantr(trc_session* session, char norm, char uplo, char diag, int64_t m, int64_t n, const trc_complex_float* a,
               int64_t lda, float* value);
int trc_zlantr(trc_session* session, char norm, char uplo, char diag, int64_t m, int64_t n, const trc_complex_double* a,
               int64_t lda, double* value);

/* *rcond <- an estimate of 1 / (|A| |A^-1|) in the 1-norm ('1', 'O') or the infinity norm ('I'), from getrf's factors and anorm =
 * |A|. *info: 0; 1 where *rcond is no number or has overflowed; -5 where anorm is not finite. 5 to 11 systems with one right
 * side. */
int trc_sgecon(trc_session* session, char norm, int64_t n, const float* a, int64_t lda, float anorm, float* rcond, int64_t* info);
int trc_dgecon(trc_session* session, char norm, int64_t n, const double* a, int64_t lda, double anorm, double* rcond,
               int64_t* info);
int trc_cgecon(trc_session* session, char norm, int64_t n, const trc_complex_float* a, int64_t lda, float anorm, float* rcond,
               int64_t* info);
int trc_zgecon(trc_session* session, char norm, int64_t n, const trc_complex_double* a, int64_t lda, double anorm, double* rcond,
               int64_t* info);
/* The same in the 1-norm from potrf's factor; *info is 0. */
int trc_spocon(trc_session* session, char uplo, int64_t n, const float* a, int64_t lda, float anorm, float* rcond, int64_t* info);
int trc_dpocon(trc_session* session, char uplo, int64_t n, const double* a, int64_t lda, double anorm, double* rcond,
               int64_t* info);
int trc_cpocon(trc_session* session, char uplo, int64_t n, const trc_complex_float* a, int64_t lda, float anorm, float* rcond,
               int64_t* info);
int trc_zpocon(trc_session* session, char uplo, int64_t n, const trc_complex_double* a, int64_t lda, double anorm, double* rcond,
               int64_t* info);
/* The same of a triangle; *info is 0. */
int trc_strcon(trc_session* session, char norm, char uplo, char diag, int64_t n, const float* a, int64_t lda, float* rcond,
               int64_t* info);
int trc_dtrcon(trc_session* session, char norm, char uplo, char diag, int64_t n, const double* a, int64_t lda, double* rcond,
               int64_t* info);
int trc_ctrcon(trc_session* session, char norm, char uplo, char diag, int64_t n, const trc_complex_float* a, int64_t lda,
               float* rcond, int64_t* info);
int trc_ztrcon(trc_session* session, char norm, char uplo, char diag, int64_t n, const trc_complex_double* a, int64_t lda,
               double* rcond, int64_t* info);

/* Factors r (m) and c (n) that make the largest element of each row and column of r_i a_ij c_j 1 (complex: |re| + |im|), in
 * geequb nearly, by powers of two. *rowcnd, *colcnd: the ratios of the smallest to the largest; *amax: the largest element.
 * *info: 0, the number of a row that is zero, or m and that of a column. */
int trc_sgeequ(trc_session* session, int64_t m, int64_t n, const float* a, int64_t lda, float* r, float* c, float* rowcnd,
               float* colcnd, float* amax, int64_t* info);
int trc_dgeequ(trc_session* session, int64_t m, int64_t n, const double* a, int64_t lda, double* r, double* c, double* rowcnd,
               double* colcnd, double* amax, int64_t* info);
int trc_cgeequ(trc_session* session, int64_t m, int64_t n, const trc_complex_float* a, int64_t lda, float* r, float* c,
               float* rowcnd, float* colcnd, float* amax, int64_t* info);
int trc_zgeequ(trc_session* session, int64_t m, int64_t n, const trc_complex_double* a, int64_t lda, double* r, double* c,
               double* rowcnd, double* colcnd, double* amax, int64_t* info);
int trc_sgeequb(trc_session* session, int64_t m, int64_t n, const float* a, int64_t lda, float* r, float* c, float* rowcnd,
                float* colcnd, float* amax, int64_t* info);
int trc_dgeequb(trc_session* session, int64_t m, int64_t n, const double* a, int64_t lda, double* r, double* c, double* rowcnd,
                double* colcnd, double* amax, int64_t* info);
int trc_cgeequb(trc_session* session, int64_t m, int64_t n, const trc_complex_float* a, int64_t lda, float* r, float* c,
                float* rowcnd, float* colcnd, float* amax, int64_t* info);
int trc_zgeequb(trc_session* session, int64_t m, int64_t n, const trc_complex_double* a, int64_t lda, double* r, double* c,
                double* rowcnd, double* colcnd, double* amax, int64_t* info);
/* Factors s (n) that make the diagonal of s_i a_ij s_j ones, in poequb nearly, by powers of two. *info: 0, or the number of a
 * diagonal element that is not positive. */
int trc_spoequ(trc_session* session, int64_t n, const float* a, int64_t lda, float* s, float* scond, float* amax, int64_t* info);
int trc_dpoequ(trc_session* session, int64_t n, const double* a, int64_t lda, double* s, double* scond, double* amax,
               int64_t* info);
int trc_cpoequ(trc_session* session, int64_t n, const trc_complex_float* a, int64_t lda, float* s, float* scond, float* amax,
               int64_t* info);
int trc_zpoequ(trc_session* session, int64_t n, const trc_complex_double* a, int64_t lda, double* s, double* scond, double* amax,
               int64_t* info);
int trc_spoequb(trc_session* session, int64_t n, const float* a, int64_t lda, float* s, float* scond, float* amax, int64_t* info);
int trc_dpoequb(trc_session* session, int64_t n, const double* a, int64_t lda, double* s, double* scond, double* amax,
                int64_t* info);
int trc_cpoequb(trc_session* session, int64_t n, const trc_complex_float* a, int64_t lda, float* s, float* scond, float* amax,
                int64_t* info);
int trc_zpoequb(trc_session* session, int64_t n, const trc_complex_double* a, int64_t lda, double* s, double* scond, double* amax,
                int64_t* info);

/* Refines X, which solves op(A) X = B with getrf's factors af and ipiv, in the same precision. berr (nrhs): the componentwise
 * backward error of each solution; ferr (nrhs): a bound, estimated, for the error of its components relative to the largest.
 * *info is 0. */
int trc_sgerfs(trc_session* session, char trans, int64_t n, int64_t nrhs, const float* a, int64_t lda, const float* af,
               int64_t ldaf, const int64_t* ipiv, const float* b, int64_t ldb, float* x, int64_t ldx, float* ferr, float* berr,
               int64_t* info);
int trc_dgerfs(trc_session* session, char trans, int64_t n, int64_t nrhs, const double* a, int64_t lda, const double* af,
               int64_t ldaf, const int64_t* ipiv, const double* b, int64_t ldb, double* x, int64_t ldx, double* ferr,
               double* berr, int64_t* info);
int trc_cgerfs(trc_session* session, char trans, int64_t n, int64_t nrhs, const trc_complex_float* a, int64_t lda,
               const trc_complex_float* af, int64_t ldaf, const int64_t* ipiv, const trc_complex_float* b, int64_t ldb,
               trc_complex_float* x, int64_t ldx, float* ferr, float* berr, int64_t* info);
int trc_zgerfs(trc_session* session, char trans, int64_t n, int64_t nrhs, const trc_complex_double* a, int64_t lda,
               const trc_complex_double* af, int64_t ldaf, const int64_t* ipiv, const trc_complex_double* b, int64_t ldb,
               trc_complex_double* x, int64_t ldx, double* ferr, double* berr, int64_t* info);
/* The same with potrf's factor af of a Hermitian A in one triangle. */
int trc_sporfs(trc_session* session, char uplo, int64_t n, int64_t nrhs, const float* a, int64_t lda, const float* af,
               int64_t ldaf, const float* b, int64_t ldb, float* x, int64_t ldx, float* ferr, float* berr, int64_t* info);
int trc_dporfs(trc_session* session, char uplo, int64_t n, int64_t nrhs, const double* a, int64_t lda, const double* af,
               int64_t ldaf, const double* b, int64_t ldb, double* x, int64_t ldx, double* ferr, double* berr, int64_t* info);
int trc_cporfs(trc_session* session, char uplo, int64_t n, int64_t nrhs, const trc_complex_float* a, int64_t lda,
               const trc_complex_float* af, int64_t ldaf, const trc_complex_float* b, int64_t ldb, trc_complex_float* x,
               int64_t ldx, float* ferr, float* berr, int64_t* info);
int trc_zporfs(trc_session* session, char uplo, int64_t n, int64_t nrhs, const trc_complex_double* a, int64_t lda,
               const trc_complex_double* af, int64_t ldaf, const trc_complex_double* b, int64_t ldb, trc_complex_double* x,
               int64_t ldx, double* ferr, double* berr, int64_t* info);

/* X <- op(A)^-1 B with all that can be said of it. fact 'N': A is factored into af and ipiv; 'E': after geequ's scaling where
 * that helps, which is left in A and B; 'F': af and ipiv are given, with *equed, r (n) and c (n) as such a call left them.
 * *equed: 'N' nothing was scaled, 'R' the rows, 'C' the columns, 'B' both. *rcond as gecon's, ferr and berr (nrhs) as gerfs';
 * *growth: the largest element of A over that of U. *info: 0; i <= n, where U(i, i) is the first zero and there is no solution; n
 * + 1, where there is one but *rcond is less than eps. */
int trc_sgesvx(trc_session* session, char fact, char trans, int64_t n, int64_t nrhs, float* a, int64_t lda, float* af,
               int64_t ldaf, int64_t* ipiv, char* equed, float* r, float* c, float* b, int64_t ldb, float* x, int64_t ldx,
               float* rcond, float* ferr, float* berr, float* growth, int64_t* info);
int trc_dgesvx(trc_session* session, char fact, char trans, int64_t n, int64_t nrhs, double* a, int64_t lda, double* af,
               int64_t ldaf, int64_t* ipiv, char* equed, double* r, double* c, double* b, int64_t ldb, double* x, int64_t ldx,
               double* rcond, double* ferr, double* berr, double* growth, int64_t* info);
int trc_cgesvx(trc_session* session, char fact, char trans, int64_t n, int64_t nrhs, trc_complex_float* a, int64_t lda,
               trc_complex_float* af, int64_t ldaf, int64_t* ipiv, char* equed, float* r, float* c, trc_complex_float* b,
               int64_t ldb, trc_complex_float* x, int64_t ldx, float* rcond, float* ferr, float* berr, float* growth,
               int64_t* info);
int trc_zgesvx(trc_session* session, char fact, char trans, int64_t n, int64_t nrhs, trc_complex_double* a, int64_t lda,
               trc_complex_double* af, int64_t ldaf, int64_t* ipiv, char* equed, double* r, double* c, trc_complex_double* b,
               int64_t ldb, trc_complex_double* x, int64_t ldx, double* rcond, double* ferr, double* berr, double* growth,
               int64_t* info);
/* The same for a positive definite A in one triangle, with poequ's s (n); *equed: 'N' or 'Y'. *info i <= n: the minor of that
 * order is not positive definite. */
int trc_sposvx(trc_session* session, char fact, char uplo, int64_t n, int64_t nrhs, float* a, int64_t lda, float* af,
               int64_t ldaf, char* equed, float* s, float* b, int64_t ldb, float* x, int64_t ldx, float* rcond, float* ferr,
               float* berr, int64_t* info);
int trc_dposvx(trc_session* session, char fact, char uplo, int64_t n, int64_t nrhs, double* a, int64_t lda, double* af,
               int64_t ldaf, char* equed, double* s, double* b, int64_t ldb, double* x, int64_t ldx, double* rcond, double* ferr,
               double* berr, int64_t* info);
int trc_cposvx(trc_session* session, char fact, char uplo, int64_t n, int64_t nrhs, trc_complex_float* a, int64_t lda,
               trc_complex_float* af, int64_t ldaf, char* equed, float* s, trc_complex_float* b, int64_t ldb,
               trc_complex_float* x, int64_t ldx, float* rcond, float* ferr, float* berr, int64_t* info);
int trc_zposvx(trc_session* session, char fact, char uplo, int64_t n, int64_t nrhs, trc_complex_double* a, int64_t lda,
               trc_complex_double* af, int64_t ldaf, char* equed, double* s, trc_complex_double* b, int64_t ldb,
               trc_complex_double* x, int64_t ldx, double* rcond, double* ferr, double* berr, int64_t* info);

/* Exchanges rows i + 1 and ipiv[i] of A, m x n, for i = first .. last - 1 (counted from 0), or with backward != 0 from the last
 * to the first. On the calling thread. */
int trc_slaswp(int64_t m, int64_t n, float* a, int64_t lda, int64_t first, int64_t last, const int64_t* ipiv, int backward);
int trc_dlaswp(int64_t m, int64_t n, double* a, int64_t lda, int64_t first, int64_t last, const int64_t* ipiv, int backward);
int trc_claswp(int64_t m, int64_t n, trc_complex_float* a, int64_t lda, int64_t first, int64_t last, const int64_t* ipiv,
               int backward);
int trc_zlaswp(int64_t m, int64_t n, trc_complex_double* a, int64_t lda, int64_t first, int64_t last, const int64_t* ipiv,
               int backward);

/* X <- A^-1 B in double precision from factors in single precision and refinement. *iterations >= 0: so many steps, A is as it
 * was; < 0: that did not do (-1 no memory, -2 a number too large, -3 no factorization in single precision, -31 no convergence)
 * and A holds what gesv (posv) leaves. */
int trc_dgesv_mixed(trc_session* session, int64_t n, int64_t nrhs, double* a, int64_t lda, int64_t* ipiv, const double* b,
                    int64_t ldb, double* x, int64_t ldx, int* iterations, int64_t* info);
int trc_dposv_mixed(trc_session* session, char uplo, int64_t n, int64_t nrhs, double* a, int64_t lda, const double* b,
                    int64_t ldb, double* x, int64_t ldx, int* iterations, int64_t* info);
int trc_zgesv_mixed(trc_session* session, int64_t n, int64_t nrhs, trc_complex_double* a, int64_t lda, int64_t* ipiv,
                    const trc_complex_double* b, int64_t ldb, trc_complex_double* x, int64_t ldx, int* iterations, int64_t* info);
int trc_zposv_mixed(trc_session* session, char uplo, int64_t n, int64_t nrhs, trc_complex_double* a, int64_t lda,
                    const trc_complex_double* b, int64_t ldb, trc_complex_double* x, int64_t ldx, int* iterations, int64_t* info);

/* The same for least squares: the X, n x nrhs, that makes |B - A X| least, A m x n of full rank, m >= n. *iterations < 0: A holds
 * what gels leaves; -3: a condition beyond some 1e6, or m < n. */
int trc_dgels_mixed(trc_session* session, int64_t m, int64_t n, int64_t nrhs, double* a, int64_t lda, const double* b,
                    int64_t ldb, double* x, int64_t ldx, int* iterations, int64_t* info);
int trc_zgels_mixed(trc_session* session, int64_t m, int64_t n, int64_t nrhs, trc_complex_double* a, int64_t lda,
                    const trc_complex_double* b, int64_t ldb, trc_complex_double* x, int64_t ldx, int* iterations, int64_t* info);

/* Batches: `count` problems of one size as one call that the workers share, the matrices `stride` elements apart; each has the
 * result of the routine of that name, and info[i] is its info. ipiv holds min(m, n) (gesv: n) integers for each. Up to 64 x 64
 * elements several matrices share a core's vectors: results differ from the routine's by rounding, but depend neither on the
 * other matrices nor on how the batch is cut. */
int trc_spotrf_batch(trc_session* session, char uplo, int64_t n, float* a, int64_t lda, int64_t stride_a, int64_t count,
                     int64_t* info);
int trc_sposv_batch(trc_session* session, char uplo, int64_t n, int64_t nrhs, float* a, int64_t lda, int64_t stride_a, float* b,
                    int64_t ldb, int64_t stride_b, int64_t count, int64_t* info);
int trc_sgetrf_batch(trc_session* session, int64_t m, int64_t n, float* a, int64_t lda, int64_t stride_a, int64_t* ipiv,
                     int64_t count, int64_t* info);
int trc_sgesv_batch(trc_session* session, int64_t n, int64_t nrhs, float* a, int64_t lda, int64_t stride_a, int64_t* ipiv,
                    float* b, int64_t ldb, int64_t stride_b, int64_t count, int64_t* info);
int trc_dpotrf_batch(trc_session* session, char uplo, int64_t n, double* a, int64_t lda, int64_t stride_a, int64_t count,
                     int64_t* info);
int trc_dposv_batch(trc_session* session, char uplo, int64_t n, int64_t nrhs, double* a, int64_t lda, int64_t stride_a, double* b,
                    int64_t ldb, int64_t stride_b, int64_t count, int64_t* info);
int trc_dgetrf_batch(trc_session* session, int64_t m, int64_t n, double* a, int64_t lda, int64_t stride_a, int64_t* ipiv,
                     int64_t count, int64_t* info);
int trc_dgesv_batch(trc_session* session, int64_t n, int64_t nrhs, double* a, int64_t lda, int64_t stride_a, int64_t* ipiv,
                    double* b, int64_t ldb, int64_t stride_b, int64_t count, int64_t* info);
int trc_cpotrf_batch(trc_session* session, char uplo, int64_t n, trc_complex_float* a, int64_t lda, int64_t stride_a,
                     int64_t count, int64_t* info);
int trc_cposv_batch(trc_session* session, char uplo, int64_t n, int64_t nrhs, trc_complex_float* a, int64_t lda, int64_t stride_a,
                    trc_complex_float* b, int64_t ldb, int64_t stride_b, int64_t count, int64_t* info);
int trc_cgetrf_batch(trc_session* session, int64_t m, int64_t n, trc_complex_float* a, int64_t lda, int64_t stride_a,
                     int64_t* ipiv, int64_t count, int64_t* info);
int trc_cgesv_batch(trc_session* session, int64_t n, int64_t nrhs, trc_complex_float* a, int64_t lda, int64_t stride_a,
                    int64_t* ipiv, trc_complex_float* b, int64_t ldb, int64_t stride_b, int64_t count, int64_t* info);
int trc_zpotrf_batch(trc_session* session, char uplo, int64_t n, trc_complex_double* a, int64_t lda, int64_t stride_a,
                     int64_t count, int64_t* info);
int trc_zposv_batch(trc_session* session, char uplo, int64_t n, int64_t nrhs, trc_complex_double* a, int64_t lda,
                    int64_t stride_a, trc_complex_double* b, int64_t ldb, int64_t stride_b, int64_t count, int64_t* info);
int trc_zgetrf_batch(trc_session* session, int64_t m, int64_t n, trc_complex_double* a, int64_t lda, int64_t stride_a,
                     int64_t* ipiv, int64_t count, int64_t* info);
int trc_zgesv_batch(trc_session* session, int64_t n, int64_t nrhs, trc_complex_double* a, int64_t lda, int64_t stride_a,
                    int64_t* ipiv, trc_complex_double* b, int64_t ldb, int64_t stride_b, int64_t count, int64_t* info);

/* C <- alpha op(A) op(B) + beta C, C m x n; op by transa, transb: 'N', 'T', 'C'. Complex factors by address. */
int trc_sgemm(trc_session* session, char transa, char transb, int64_t m, int64_t n, int64_t k, float alpha, const float* a,
              int64_t lda, const float* b, int64_t ldb, float beta, float* c, int64_t ldc);
int trc_dgemm(trc_session* session, char transa, char transb, int64_t m, int64_t n, int64_t k, double alpha, const double* a,
              int64_t lda, const double* b, int64_t ldb, double beta, double* c, int64_t ldc);
int trc_cgemm(trc_session* session, char transa, char transb, int64_t m, int64_t n, int64_t k, const trc_complex_float* alpha,
              const trc_complex_float* a, int64_t lda, const trc_complex_float* b, int64_t ldb, const trc_complex_float* beta,
              trc_complex_float* c, int64_t ldc);
int trc_zgemm(trc_session* session, char transa, char transb, int64_t m, int64_t n, int64_t k, const trc_complex_double* alpha,
              const trc_complex_double* a, int64_t lda, const trc_complex_double* b, int64_t ldb, const trc_complex_double* beta,
              trc_complex_double* c, int64_t ldc);

/* C <- alpha A B + beta C (side 'L') or alpha B A + beta C ('R'), C m x n, A symmetric, only its triangle uplo is read. C may not
 * overlap A or B; no result of any routine may overlap what it is computed from. */
int trc_ssymm(trc_session* session, char side, char uplo, int64_t m, int64_t n, float alpha, const float* a, int64_t lda,
              const float* b, int64_t ldb, float beta, float* c, int64_t ldc);
int trc_dsymm(trc_session* session, char side, char uplo, int64_t m, int64_t n, double alpha, const double* a, int64_t lda,
              const double* b, int64_t ldb, double beta, double* c, int64_t ldc);
int trc_csymm(trc_session* session, char side, char uplo, int64_t m, int64_t n, const trc_complex_float* alpha,
              const trc_complex_float* a, int64_t lda, const trc_complex_float* b, int64_t ldb, const trc_complex_float* beta,
              trc_complex_float* c, int64_t ldc);
int trc_zsymm(trc_session* session, char side, char uplo, int64_t m, int64_t n, const trc_complex_double* alpha,
              const trc_complex_double* a, int64_t lda, const trc_complex_double* b, int64_t ldb, const trc_complex_double* beta,
              trc_complex_double* c, int64_t ldc);

/* The same for a Hermitian A; the imaginary part of its diagonal is not read. */
int trc_chemm(trc_session* session, char side, char uplo, int64_t m, int64_t n, const trc_complex_float* alpha,
              const trc_complex_float* a, int64_t lda, const trc_complex_float* b, int64_t ldb, const trc_complex_float* beta,
              trc_complex_float* c, int64_t ldc);
int trc_zhemm(trc_session* session, char side, char uplo, int64_t m, int64_t n, const trc_complex_double* alpha,
              const trc_complex_double* a, int64_t lda, const trc_complex_double* b, int64_t ldb, const trc_complex_double* beta,
              trc_complex_double* c, int64_t ldc);

/* One triangle of C <- alpha op(A) op(A)^T + beta C, C n x n, op(A) n x k; trans 'N' or 'T' (real also 'C'). */
int trc_ssyrk(trc_session* session, char uplo, char trans, int64_t n, int64_t k, float alpha, const float* a, int64_t lda,
              float beta, float* c, int64_t ldc);
int trc_dsyrk(trc_session* session, char uplo, char trans, int64_t n, int64_t k, double alpha, const double* a, int64_t lda,
              double beta, double* c, int64_t ldc);
int trc_csyrk(trc_session* session, char uplo, char trans, int64_t n, int64_t k, const trc_complex_float* alpha,
              const trc_complex_float* a, int64_t lda, const trc_complex_float* beta, trc_complex_float* c, int64_t ldc);
int trc_zsyrk(trc_session* session, char uplo, char trans, int64_t n, int64_t k, const trc_complex_double* alpha,
              const trc_complex_double* a, int64_t lda, const trc_complex_double* beta, trc_complex_double* c, int64_t ldc);

/* One triangle of C <- alpha op(A) op(A)^H + beta C; trans 'N' or 'C'. */
int trc_cherk(trc_session* session, char uplo, char trans, int64_t n, int64_t k, float alpha, const trc_complex_float* a,
              int64_t lda, float beta, trc_complex_float* c, int64_t ldc);
int trc_zherk(trc_session* session, char uplo, char trans, int64_t n, int64_t k, double alpha, const trc_complex_double* a,
              int64_t lda, double beta, trc_complex_double* c, int64_t ldc);

/* One triangle of C <- alpha op(A) op(B)^T + alpha op(B) op(A)^T + beta C, op(A) and op(B) n x k; trans 'N' or 'T' (real also
 * 'C'). */
int trc_ssyr2k(trc_session* session, char uplo, char trans, int64_t n, int64_t k, float alpha, const float* a, int64_t lda,
               const float* b, int64_t ldb, float beta, float* c, int64_t ldc);
int trc_dsyr2k(trc_session* session, char uplo, char trans, int64_t n, int64_t k, double alpha, const double* a, int64_t lda,
               const double* b, int64_t ldb, double beta, double* c, int64_t ldc);
int trc_csyr2k(trc_session* session, char uplo, char trans, int64_t n, int64_t k, const trc_complex_float* alpha,
               const trc_complex_float* a, int64_t lda, const trc_complex_float* b, int64_t ldb, const trc_complex_float* beta,
               trc_complex_float* c, int64_t ldc);
int trc_zsyr2k(trc_session* session, char uplo, char trans, int64_t n, int64_t k, const trc_complex_double* alpha,
               const trc_complex_double* a, int64_t lda, const trc_complex_double* b, int64_t ldb, const trc_complex_double* beta,
               trc_complex_double* c, int64_t ldc);

/* One triangle of C <- alpha op(A) op(B)^H + conj(alpha) op(B) op(A)^H + beta C; trans 'N' or 'C'. */
int trc_cher2k(trc_session* session, char uplo, char trans, int64_t n, int64_t k, const trc_complex_float* alpha,
               const trc_complex_float* a, int64_t lda, const trc_complex_float* b, int64_t ldb, float beta, trc_complex_float* c,
               int64_t ldc);
int trc_zher2k(trc_session* session, char uplo, char trans, int64_t n, int64_t k, const trc_complex_double* alpha,
               const trc_complex_double* a, int64_t lda, const trc_complex_double* b, int64_t ldb, double beta,
               trc_complex_double* c, int64_t ldc);

/* B <- alpha op(A) B (side 'L') or alpha B op(A) ('R'), B m x n, A triangular; diag 'N' or 'U' (unit, not read). */
int trc_strmm(trc_session* session, char side, char uplo, char transa, char diag, int64_t m, int64_t n, float alpha,
              const float* a, int64_t lda, float* b, int64_t ldb);
int trc_dtrmm(trc_session* session, char side, char uplo, char transa, char diag, int64_t m, int64_t n, double alpha,
              const double* a, int64_t lda, double* b, int64_t ldb);
int trc_ctrmm(trc_session* session, char side, char uplo, char transa, char diag, int64_t m, int64_t n,
              const trc_complex_float* alpha, const trc_complex_float* a, int64_t lda, trc_complex_float* b, int64_t ldb);
int trc_ztrmm(trc_session* session, char side, char uplo, char transa, char diag, int64_t m, int64_t n,
              const trc_complex_double* alpha, const trc_complex_double* a, int64_t lda, trc_complex_double* b, int64_t ldb);

/* B <- alpha op(A)^-1 B (side 'L') or alpha B op(A)^-1 ('R'), B m x n, A triangular; diag 'N' or 'U' (unit, not read). */
int trc_strsm(trc_session* session, char side, char uplo, char transa, char diag, int64_t m, int64_t n, float alpha,
              const float* a, int64_t lda, float* b, int64_t ldb);
int trc_dtrsm(trc_session* session, char side, char uplo, char transa, char diag, int64_t m, int64_t n, double alpha,
              const double* a, int64_t lda, double* b, int64_t ldb);
int trc_ctrsm(trc_session* session, char side, char uplo, char transa, char diag, int64_t m, int64_t n,
              const trc_complex_float* alpha, const trc_complex_float* a, int64_t lda, trc_complex_float* b, int64_t ldb);
int trc_ztrsm(trc_session* session, char side, char uplo, char transa, char diag, int64_t m, int64_t n,
              const trc_complex_double* alpha, const trc_complex_double* a, int64_t lda, trc_complex_double* b, int64_t ldb);

/* --- Tasks: a data-flow algorithm of your own ---------------------------------------------------------------------
 * Tasks run once what they depend on has finished; dependences follow from the data that they name, by address. */

typedef enum trc_access_mode {
    TRC_READ = 0,             /* several readers together */
    TRC_WRITE = 1,            /* alone; the previous value is not needed */
    TRC_READWRITE = 2,        /* alone */
    TRC_CONCURRENT_WRITE = 3, /* several writers together, unordered; they see to their own races */
    TRC_COMMUTE = 4,          /* any order, one at a time */
    TRC_REDUCE = 5            /* several together, each on a private part; the parts are combined afterwards */
} trc_access_mode;

/* How private parts of a TRC_REDUCE access are made and folded; must outlive the tasks that name it. The order of combining
 * is not fixed. Neither function may end by an exception. */
typedef struct trc_reduction {
    size_t bytes;
    void (*initialise)(void* part);
    void (*combine)(void* into, const void* part);
} trc_reduction;

typedef struct trc_access {
    const void* data;
    trc_access_mode mode;
    const trc_reduction* reduction; /* for TRC_REDUCE only */
} trc_access;

typedef struct trc_flow trc_flow;
typedef struct trc_context trc_context;

/* A task's work; args is the task's own copy. Returns 0, or anything else to fail: what depends on the task does not run then. */
typedef int (*trc_task_function)(void* args, trc_context* context);

/* A flow of tasks on the session's workers, with at most `window` tasks (0: the session's) submitted and not finished. */
int trc_flow_create(trc_flow** flow, trc_session* session, int64_t window);
/* Submits a task with a copy of args_bytes bytes of args, aligned to 16. `name` shows in traces. Larger priorities first. */
int trc_task_submit(trc_flow* flow, const char* name, trc_task_function function, const void* args, size_t args_bytes,
                    const trc_access* accesses, int n_accesses, double priority);
/* Returns when every task submitted so far has finished: 0, TRC_TASK_FAILED with the name and result of the earliest submitted
 * task that failed, or TRC_CANCELLED. The flow can be used again, unless it was cancelled. -1 from inside one of the flow's own
 * tasks, or tasks inside those, which would wait for themselves. */
int trc_flow_wait(trc_flow* flow);
/* Tasks that have not begun do not begin. May be called from any thread. */
int trc_flow_cancel(trc_flow* flow);
/* Waits; NULL is allowed. Not for the flow of a context; -1 from inside one of its own tasks. */
int trc_flow_destroy(trc_flow* flow);

/* Within a task: a flow for tasks inside this one, which finishes after them. */
trc_flow* trc_context_flow(trc_context* context);
/* Within a task: the private part of access number `access` (from 0), which must be TRC_REDUCE; NULL on failure. */
void* trc_context_part(trc_context* context, int access);
/* Within a task: the worker that runs it, from 0. */
int trc_context_worker(trc_context* context);

#ifdef __cplusplus
}
#endif
#endif
