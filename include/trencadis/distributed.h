/* trencadis: routines on matrices that several processes of an MPI program hold in blocks (ScaLAPACK's two-dimensional
 * block-cyclic distribution), in sessions with engine=starpu-mpi (trc_session_create_on).
 *
 * All processes of the session make the same call, each with its own part of the matrices; one that has no part makes it
 * too. What must be equal is compared before anything is touched: where it is not, or where one process refuses its
 * arguments, all return an error. The outcome (LAPACK's info) is the same on all, and so is the first error of any. One call
 * at a time. Codes and numbers of arguments are as in trencadis.h; info and ipiv may not be NULL. */
#ifndef TRENCADIS_DISTRIBUTED_H
#define TRENCADIS_DISTRIBUTED_H

#include "trencadis.h"

#ifdef __cplusplus
extern "C" {
#endif

/* This process's number in the session's communicator, from 0, and how many there are. */
int trc_session_processes(trc_session* session, int* rank, int* size);

/* A matrix in blocks mb x nb over a grid of all processes of the session: process (p, q) of the grid has number p *
 * grid_cols + q, and block (i, j) is process ((i + first_row) % grid_rows, (j + first_col) % grid_cols)'s. A process has its
 * blocks in one column-major array with leading dimension lld, close together in the order of the whole; the rest must be
 * equal on all processes. A part of a matrix that begins with a block is a matrix, too. No result may overlap what it is
 * computed from. */
typedef struct trc_descriptor {
    int64_t rows; /* of the whole */
    int64_t cols;
    int64_t mb; /* rows of a block */
    int64_t nb;
    int grid_rows; /* of processes */
    int grid_cols;
    int first_row; /* of the process that has block (0, 0) */
    int first_col;
    int64_t lld; /* of this process's array, at least its rows */
} trc_descriptor;

/* How many of n rows (columns) in blocks of nb are process number `place`'s of `places` in a column (row) of the grid, of
 * which number `first` has the first block (ScaLAPACK's numroc). Negative: -i, argument i is bad. */
int64_t trc_local_extent(int64_t n, int64_t nb, int place, int first, int places);

/* A <- L L^H (uplo 'L') or U^H U ('U'); blocks of A are square. *info: 0, or the order of the smallest leading minor that
 * is not positive definite. n^3/3 flops (4 times that complex). */
int trc_pspotrf(trc_session* session, char uplo, float* a, const trc_descriptor* desca, int64_t* info);
int trc_pdpotrf(trc_session* session, char uplo, double* a, const trc_descriptor* desca, int64_t* info);
int trc_pcpotrf(trc_session* session, char uplo, trc_complex_float* a, const trc_descriptor* desca, int64_t* info);
int trc_pzpotrf(trc_session* session, char uplo, trc_complex_double* a, const trc_descriptor* desca, int64_t* info);

/* B <- A^-1 B with potrf's factor in A; B has A's rows of blocks, of any width. 2 n^2 nrhs flops. *info is always 0. */
int trc_pspotrs(trc_session* session, char uplo, const float* a, const trc_descriptor* desca, float* b,
                const trc_descriptor* descb, int64_t* info);
int trc_pdpotrs(trc_session* session, char uplo, const double* a, const trc_descriptor* desca, double* b,
                const trc_descriptor* descb, int64_t* info);
int trc_pcpotrs(trc_session* session, char uplo, const trc_complex_float* a, const trc_descriptor* desca, trc_complex_float* b,
                const trc_descriptor* descb, int64_t* info);
int trc_pzpotrs(trc_session* session, char uplo, const trc_complex_double* a, const trc_descriptor* desca, trc_complex_double* b,
                const trc_descriptor* descb, int64_t* info);

/* potrf, then potrs; what B is unless *info is 0 is not said. */
int trc_psposv(trc_session* session, char uplo, float* a, const trc_descriptor* desca, float* b, const trc_descriptor* descb,
               int64_t* info);
int trc_pdposv(trc_session* session, char uplo, double* a, const trc_descriptor* desca, double* b, const trc_descriptor* descb,
               int64_t* info);
int trc_pcposv(trc_session* session, char uplo, trc_complex_float* a, const trc_descriptor* desca, trc_complex_float* b,
               const trc_descriptor* descb, int64_t* info);
int trc_pzposv(trc_session* session, char uplo, trc_complex_double* a, const trc_descriptor* desca, trc_complex_double* b,
               const trc_descriptor* descb, int64_t* info);

/* A = P L U in place, A m x n in square blocks, with pivots by tournament in each panel (Grigori, Demmel, Xiang 2011).
 * ipiv: LAPACK's row interchanges of the whole, min(m, n) of them, from 1, on every process. *info: 0, or the number of the
 * first pivot that is exactly zero. 2/3 n^3 flops for m = n (4 times that complex). */
int trc_psgetrf(trc_session* session, float* a, const trc_descriptor* desca, int64_t* ipiv, int64_t* info);
int trc_pdgetrf(trc_session* session, double* a, const trc_descriptor* desca, int64_t* ipiv, int64_t* info);
int trc_pcgetrf(trc_session* session, trc_complex_float* a, const trc_descriptor* desca, int64_t* ipiv, int64_t* info);
int trc_pzgetrf(trc_session* session, trc_complex_double* a, const trc_descriptor* desca, int64_t* ipiv, int64_t* info);

/* B <- op(A)^-1 B with getrf's factors in A and its ipiv; trans 'N', 'T' or 'C'. 2 n^2 nrhs flops. *info is always 0. */
int trc_psgetrs(trc_session* session, char trans, const float* a, const trc_descriptor* desca, const int64_t* ipiv, float* b,
                const trc_descriptor* descb, int64_t* info);
int trc_pdgetrs(trc_session* session, char trans, const double* a, const trc_descriptor* desca, const int64_t* ipiv, double* b,
                const trc_descriptor* descb, int64_t* info);
int trc_pcgetrs(trc_session* session, char trans, const trc_complex_float* a, const trc_descriptor* desca, const int64_t* ipiv,
                trc_complex_float* b, const trc_descriptor* descb, int64_t* info);
int trc_pzgetrs(trc_session* session, char trans, const trc_complex_double* a, const trc_descriptor* desca, const int64_t* ipiv,
                trc_complex_double* b, const trc_descriptor* descb, int64_t* info);

/* getrf, then getrs; what B is unless *info is 0 is not said. */
int trc_psgesv(trc_session* session, float* a, const trc_descriptor* desca, int64_t* ipiv, float* b, const trc_descriptor* descb,
               int64_t* info);
int trc_pdgesv(trc_session* session, double* a, const trc_descriptor* desca, int64_t* ipiv, double* b,
               const trc_descriptor* descb, int64_t* info);
int trc_pcgesv(trc_session* session, trc_complex_float* a, const trc_descriptor* desca, int64_t* ipiv, trc_complex_float* b,
               const trc_descriptor* descb, int64_t* info);
int trc_pzgesv(trc_session* session, trc_complex_double* a, const trc_descriptor* desca, int64_t* ipiv, trc_complex_double* b,
               const trc_descriptor* descb, int64_t* info);

/* R of A = Q R in the upper triangle, A m x n in square blocks; below it the reflectors of tile QR (Buttari, Langou,
 * Kurzak, Dongarra 2009), which are not LAPACK's. 2 n^2 (m - n/3) flops (4 times that complex). */
int trc_psgeqrf(trc_session* session, float* a, const trc_descriptor* desca);
int trc_pdgeqrf(trc_session* session, double* a, const trc_descriptor* desca);
int trc_pcgeqrf(trc_session* session, trc_complex_float* a, const trc_descriptor* desca);
int trc_pzgeqrf(trc_session* session, trc_complex_double* a, const trc_descriptor* desca);

/* C <- alpha op(A) op(B) + beta C; op by transa, transb: 'N', 'T', 'C'. The blocks of op(A), op(B) and C fit as the
 * matrices do. Complex factors by address. */
int trc_psgemm(trc_session* session, char transa, char transb, float alpha, const float* a, const trc_descriptor* desca,
               const float* b, const trc_descriptor* descb, float beta, float* c, const trc_descriptor* descc);
int trc_pdgemm(trc_session* session, char transa, char transb, double alpha, const double* a, const trc_descriptor* desca,
               const double* b, const trc_descriptor* descb, double beta, double* c, const trc_descriptor* descc);
int trc_pcgemm(trc_session* session, char transa, char transb, const trc_complex_float* alpha, const trc_complex_float* a,
               const trc_descriptor* desca, const trc_complex_float* b, const trc_descriptor* descb,
               const trc_complex_float* beta, trc_complex_float* c, const trc_descriptor* descc);
int trc_pzgemm(trc_session* session, char transa, char transb, const trc_complex_double* alpha, const trc_complex_double* a,
               const trc_descriptor* desca, const trc_complex_double* b, const trc_descriptor* descb,
               const trc_complex_double* beta, trc_complex_double* c, const trc_descriptor* descc);

/* B <- alpha op(A)^-1 B (side 'L') or alpha B op(A)^-1 ('R'), A triangular; diag 'N' or 'U' (unit, not read). Blocks are
 * square and of one size. */
int trc_pstrsm(trc_session* session, char side, char uplo, char transa, char diag, float alpha, const float* a,
               const trc_descriptor* desca, float* b, const trc_descriptor* descb);
int trc_pdtrsm(trc_session* session, char side, char uplo, char transa, char diag, double alpha, const double* a,
               const trc_descriptor* desca, double* b, const trc_descriptor* descb);
int trc_pctrsm(trc_session* session, char side, char uplo, char transa, char diag, const trc_complex_float* alpha,
               const trc_complex_float* a, const trc_descriptor* desca, trc_complex_float* b, const trc_descriptor* descb);
int trc_pztrsm(trc_session* session, char side, char uplo, char transa, char diag, const trc_complex_double* alpha,
               const trc_complex_double* a, const trc_descriptor* desca, trc_complex_double* b, const trc_descriptor* descb);

/* The m x n elements of B from (ib, jb) on, counted from 1, <- those of A from (ia, ja) on: blocks and grids may be
 * different ones of the same processes. */
int trc_psgemr2d(trc_session* session, int64_t m, int64_t n, const float* a, int64_t ia, int64_t ja, const trc_descriptor* desca,
                 float* b, int64_t ib, int64_t jb, const trc_descriptor* descb);
int trc_pdgemr2d(trc_session* session, int64_t m, int64_t n, const double* a, int64_t ia, int64_t ja, const trc_descriptor* desca,
                 double* b, int64_t ib, int64_t jb, const trc_descriptor* descb);
int trc_pcgemr2d(trc_session* session, int64_t m, int64_t n, const trc_complex_float* a, int64_t ia, int64_t ja,
                 const trc_descriptor* desca, trc_complex_float* b, int64_t ib, int64_t jb, const trc_descriptor* descb);
int trc_pzgemr2d(trc_session* session, int64_t m, int64_t n, const trc_complex_double* a, int64_t ia, int64_t ja,
                 const trc_descriptor* desca, trc_complex_double* b, int64_t ib, int64_t jb, const trc_descriptor* descb);

#ifdef __cplusplus
}
#endif
#endif
