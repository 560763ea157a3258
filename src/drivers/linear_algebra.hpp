#pragma once
#include "base/scalar.hpp"
#include "base/types.hpp"
#include "matrix/ops.hpp"

#include <functional>
#include <string>
#include <string_view>
#include <vector>

/// Dense linear algebra by a crew: give a session (session/session.hpp), which converts. Matrices are column-major: element (i,
/// j) of A is A[i + j * lda]. Arguments come in BLAS's and LAPACK's order and a bad one throws Error{bad_argument} with that
/// argument's number there; nothing has been touched then. So does a result that overlaps what is read. Other errors:
/// out_of_memory, cancelled (the output is then half done), missing_backend. All calls may be made from several threads at once.
/// Small problems run on the calling thread without any task.
namespace trencadis {

class Crew;

struct RoutineOptions {
    Index nb = 0;                           ///< tile size; 0: chosen from the sizes and the machine (default_tile)
    std::function<bool()> interrupted = {}; ///< asked on the calling thread about every 50 ms; true cancels the call
    std::string variant = {};               ///< one of variants_of(routine); empty: default_variant
    bool or_another = false;                ///< will do where there is no memory for the variant
};

/// The variants that a routine knows (algorithms/routines.hpp says what they are).
std::vector<std::string_view> variants_of(std::string_view routine);
/// The one that a call takes which names none: "packed" where the crew's kernels are our own and the routine has it.
std::string_view default_variant(const Crew& crew, std::string_view routine);
/// Where devices decide by the call: the variant of the last call of the routine, and its tile size.
struct TakenVariant {
    std::string_view name; ///< of a session without devices, and where no tasks were needed: that of calls without devices
    Index nb = 0;          ///< 0: as `default_tile` says of that variant
};
/// Since the session's statistics were reset.
TakenVariant last_variant(const Crew& crew, std::string_view routine);

/// The tile size that a square problem of order n gets when the caller asks for none, `workers` workers, elements of
/// `element_bytes`; n itself where that is no larger. Problems that run on the calling thread are not cut up at all.
/// `device_bytes`: memory of the smallest device that takes part, for which tiles are smaller; 0: there is none. Throws
/// Error{bad_argument} where that one has no room for a task.
Index default_tile(std::string_view routine, std::string_view variant, Index n, std::size_t element_bytes, int workers,
                   Bytes device_bytes = 0);

/// C <- alpha op(A) op(B) + beta C, C m x n, op(A) m x k, op(B) k x n. With beta = 0, C is not read; with alpha = 0 or k = 0,
/// A and B are not. 2 m n k flops (8 complex).
template <Scalar T>
void gemm(Crew& crew, Op op_a, Op op_b, Index m, Index n, Index k, T alpha, const T* A, Index lda, const T* B, Index ldb, T beta,
          T* C, Index ldc, const RoutineOptions& options = {});

/// C <- alpha A B + beta C (left) or alpha B A + beta C (right), C m x n, A symmetric; only its `uplo` triangle is read. With
/// beta = 0, C is not read; with alpha = 0, A and B are not. 2 m^2 n or 2 m n^2 flops (4 times that complex).
template <Scalar T>
void symm(Crew& crew, Side side, Uplo uplo, Index m, Index n, T alpha, const T* A, Index lda, const T* B, Index ldb, T beta, T* C,
          Index ldc, const RoutineOptions& options = {});

/// The same for a Hermitian A; the imaginary part of its diagonal is not read.
template <Scalar T>
void hemm(Crew& crew, Side side, Uplo uplo, Index m, Index n, T alpha, const T* A, Index lda, const T* B, Index ldb, T beta, T* C,
          Index ldc, const RoutineOptions& options = {});

/// C <- alpha op(A) op(A)^T + beta C in the `uplo` triangle of C (n x n), op(A) n x k; the other triangle is neither read nor
/// written. op is none or trans (real: or conj_trans). n (n + 1) k flops (4 times that complex).
template <Scalar T>
void syrk(Crew& crew, Uplo uplo, Op op, Index n, Index k, T alpha, const T* A, Index lda, T beta, T* C, Index ldc,
          const RoutineOptions& options = {});

/// C <- alpha op(A) op(A)^H + beta C in the `uplo` triangle of C; as syrk, the diagonal becomes real. op is none or
/// conj_trans (real: or trans).
template <Scalar T>
void herk(Crew& crew, Uplo uplo, Op op, Index n, Index k, Real<T> alpha, const T* A, Index lda, Real<T> beta, T* C, Index ldc,
          const RoutineOptions& options = {});

/// C <- alpha op(A) op(B)^T + alpha op(B) op(A)^T + beta C in the `uplo` triangle of C (n x n), op(A) and op(B) n x k; otherwise
/// as syrk. 2 n (n + 1) k flops (4 times that complex).
template <Scalar T>
void syr2k(Crew& crew, Uplo uplo, Op op, Index n, Index k, T alpha, const T* A, Index lda, const T* B, Index ldb, T beta, T* C,
           Index ldc, const RoutineOptions& options = {});

/// C <- alpha op(A) op(B)^H + conj(alpha) op(B) op(A)^H + beta C in the `uplo` triangle of C; otherwise as herk.
template <Scalar T>
void her2k(Crew& crew, Uplo uplo, Op op, Index n, Index k, T alpha, const T* A, Index lda, const T* B, Index ldb, Real<T> beta,
           T* C, Index ldc, const RoutineOptions& options = {});

/// B <- alpha op(A) B (left) or alpha B op(A) (right), B m x n; A is triangular, its other triangle is not read, nor its
/// diagonal when that is unit. With alpha = 0, A is not read. m^2 n or m n^2 flops (4 times that complex).
template <Scalar T>
void trmm(Crew& crew, Side side, Uplo uplo, Op op, Diag diag, Index m, Index n, T alpha, const T* A, Index lda, T* B, Index ldb,
          const RoutineOptions& options = {});

/// B <- alpha op(A)^-1 B (left) or alpha B op(A)^-1 (right), B m x n; A is triangular, its other triangle is not read, nor its
/// diagonal when that is unit. No check for singularity, as in BLAS. m^2 n or m n^2 flops (4 times that complex).
template <Scalar T>
void trsm(Crew& crew, Side side, Uplo uplo, Op op, Diag diag, Index m, Index n, T alpha, const T* A, Index lda, T* B, Index ldb,
          const RoutineOptions& options = {});

/// A <- its Cholesky factor: A = L L^H in the lower triangle or U^H U in the upper; the other triangle is neither read nor
/// written. Returns LAPACK's info: 0, or the order j of the smallest leading minor that is not positive definite; the factor of
/// the leading minor of order j - 1 is then in place. n^3/3 flops (4 times that complex).
template <Scalar T> Index potrf(Crew& crew, Uplo uplo, Index n, T* A, Index lda, const RoutineOptions& options = {});

/// B <- A^-1 B, B n x nrhs, with the factor that potrf left in A. 2 n^2 nrhs flops (4 times that complex).
template <Scalar T>
void potrs(Crew& crew, Uplo uplo, Index n, Index nrhs, const T* A, Index lda, T* B, Index ldb,
           const RoutineOptions& options = {});

/// potrf, then potrs. Returns potrf's info; B is not touched unless that is 0.
template <Scalar T>
Index posv(Crew& crew, Uplo uplo, Index n, Index nrhs, T* A, Index lda, T* B, Index ldb, const RoutineOptions& options = {});

/// B <- op(A)^-1 B, A n x n and triangular, B n x nrhs; the other triangle is not read, nor is a unit diagonal. Returns 0, or the
/// place of the first zero on the diagonal, counted from 1, and then B is not touched. n^2 nrhs flops (4 times that complex).
template <Scalar T>
Index trtrs(Crew& crew, Uplo uplo, Op op, Diag diag, Index n, Index nrhs, const T* A, Index lda, T* B, Index ldb,
            const RoutineOptions& options = {});

/// A <- A^-1 for a triangular A; the other triangle is neither read nor written, nor is a unit diagonal. Returns LAPACK's info:
/// 0, or the place of the first zero on the diagonal, counted from 1; A is not touched then. n^3/3 flops (4 times that complex).
template <Scalar T> Index trtri(Crew& crew, Uplo uplo, Diag diag, Index n, T* A, Index lda, const RoutineOptions& options = {});

/// A <- L^H L for L in the lower triangle of A, or U U^H for U in the upper, whose diagonal is real: the triangle of that
/// product; the other one is neither read nor written. Returns 0. n^3/3 flops (4 times that complex).
template <Scalar T> Index lauum(Crew& crew, Uplo uplo, Index n, T* A, Index lda, const RoutineOptions& options = {});

/// A triangle of A^-1 in the place of the Cholesky factor of A that potrf left: trtri, then lauum. Returns as trtri; A is not
/// touched where that is not 0. 2/3 n^3 flops (4 times that complex).
template <Scalar T> Index potri(Crew& crew, Uplo uplo, Index n, T* A, Index lda, const RoutineOptions& options = {});

/// A = P L U in place, A m x n: L unit lower trapezoidal, U upper trapezoidal. ipiv[i], i < min(m, n), is the row, from 1, that
/// was exchanged with row i + 1: the one with the largest |.| (complex: |re| + |im|) in its column. Returns LAPACK's info: 0, or
/// the number of the first pivot that is exactly zero; the factorization is complete all the same. 2/3 n^3 flops for m = n (4
/// times that complex). The variants 'nopiv' (no interchanges, ipiv the identity) and 'tournament' choose other pivots;
/// 'incremental' is refused, since getrs could do nothing with its factors: see IncrementalLu.
template <Scalar T> Index getrf(Crew& crew, Index m, Index n, T* A, Index lda, Index* ipiv, const RoutineOptions& options = {});

/// B <- op(A)^-1 B, B n x nrhs, with the factors and pivots that getrf left. A zero on U's diagonal is divided by, as in LAPACK.
/// 2 n^2 nrhs flops (4 times that complex).
template <Scalar T>
void getrs(Crew& crew, Op op, Index n, Index nrhs, const T* A, Index lda, const Index* ipiv, T* B, Index ldb,
           const RoutineOptions& options = {});

/// getrf, then getrs. Returns getrf's info; B is not touched unless that is 0. The variant 'incremental' solves as well, and
/// leaves factors of its own form in A and zeros in ipiv.
template <Scalar T>
Index gesv(Crew& crew, Index n, Index nrhs, T* A, Index lda, Index* ipiv, T* B, Index ldb, const RoutineOptions& options = {});

/// A <- A^-1 from the factors and ipiv that getrf left, n x n. Returns 0, or the number of the first zero on U's diagonal, and
/// then A is not touched. Needs memory for 2 n nb numbers (small ones: n^2) beside A. 4/3 n^3 flops (4 times that complex).
/// LAPACK's getri; Du Croz, Higham
/// 1992.
template <Scalar T> Index getri(Crew& crew, Index n, T* A, Index lda, const Index* ipiv, const RoutineOptions& options = {});

/// Exchanges rows i + 1 and ipiv[i] of A, which has n columns and `m` rows, for i = first .. last - 1 (counted from 0), or
/// backward from the last to the first. On the calling thread.
template <Scalar T>
void laswp(Index m, Index n, T* A, Index lda, Index first, Index last, const Index* ipiv, bool backward = false);

/// A = Q R in place, A m x n: R in the upper trapezoid; below it the vectors v of k = min(m, n) reflectors H = I - tau v v^H,
/// whose first element is a one that is not stored; tau their k scalars; Q = H_1 .. H_k. What LAPACK's geqrf leaves, in every
/// variant of LAPACK's layout. The calls of QR look for no bad numbers: a NaN goes on. 2 m n^2 - 2/3 n^3 flops for m >= n (4
/// times that complex). Compact WY form: Schreiber, Van Loan 1989; recursive panels: Elmroth, Gustavson 2000.
template <Scalar T> void geqrf(Crew& crew, Index m, Index n, T* A, Index lda, T* tau, const RoutineOptions& options = {});

/// A P = Q R in place, A m x n: as geqrf, with the columns exchanged so that the diagonal of R does not grow in modulus: the
/// column that comes next is the longest below the rows that are done, the first of those of equal length. jpvt (n numbers):
/// columns with one that is not 0 come first, as they stand; afterwards column j of A P was column jpvt[j] of A, from 1. The rank
/// is about the number of diagonal elements that are not small beside the first (Golub 1965). One factorization, of the calling
/// thread, whose steps are shared by the workers that are awake. 4/3 n^3 flops when square, half of them in products with one
/// vector. Quintana-Orti, Sun, Bischof 1998; norms by Drmac, Bujanovic 2008.
template <Scalar T>
void geqp3(Crew& crew, Index m, Index n, T* A, Index lda, Index* jpvt, T* tau, const RoutineOptions& options = {});

/// A = L Q in place: what geqrf makes of A^H, transposed; L in the lower trapezoid, v^H in rows to its right, Q = H_k^H .. H_1^H.
template <Scalar T> void gelqf(Crew& crew, Index m, Index n, T* A, Index lda, T* tau, const RoutineOptions& options = {});

/// A <- the first n columns of Q, m x n, from the first k reflectors that geqrf left there; m >= n >= k. LAPACK's orgqr and
/// ungqr. 4 m n k - 2 (m + n) k^2 + 4/3 k^3 flops (4 times that complex).
template <Scalar T>
void orgqr(Crew& crew, Index m, Index n, Index k, T* A, Index lda, const T* tau, const RoutineOptions& options = {});

/// A <- the first m rows of Q, m x n, from the first k reflectors that gelqf left there; n >= m >= k. LAPACK's orglq and unglq.
template <Scalar T>
void orglq(Crew& crew, Index m, Index n, Index k, T* A, Index lda, const T* tau, const RoutineOptions& options = {});

/// C <- op(Q) C (left) or C op(Q) (right), C m x n, Q of the k reflectors that geqrf left in the columns of A. op is none or
/// conj_trans (real: or trans). LAPACK's ormqr and unmqr. 4 m n k - 2 n k^2 flops on the left (4 times that complex).
template <Scalar T>
void ormqr(Crew& crew, Side side, Op op, Index m, Index n, Index k, const T* A, Index lda, const T* tau, T* C, Index ldc,
           const RoutineOptions& options = {});

/// The same with the reflectors that gelqf left in the rows of A. LAPACK's ormlq and unmlq.
template <Scalar T>
void ormlq(Crew& crew, Side side, Op op, Index m, Index n, Index k, const T* A, Index lda, const T* tau, T* C, Index ldc,
           const RoutineOptions& options = {});

/// geqrf that leaves the triangles of its block reflectors instead of tau: nb columns at a time are I - V T V^H, and t (nb x
/// min(m, n)) has their T side by side. 1 <= nb <= min(m, n). Large ones are factored by wider panels, on the diagonals of whose
/// triangles the smaller ones are.
template <Scalar T>
void geqrt(Crew& crew, Index m, Index n, Index nb, T* A, Index lda, T* t, Index ldt, const RoutineOptions& options = {});

/// C <- op(Q) C or C op(Q) as ormqr, with what geqrt left in V and t. Of large ones the triangles' diagonals are read, and wider
/// triangles made anew.
template <Scalar T>
void gemqrt(Crew& crew, Side side, Op op, Index m, Index n, Index k, Index nb, const T* V, Index ldv, const T* t, Index ldt, T* C,
            Index ldc, const RoutineOptions& options = {});

/// t <- the triangle T of k reflectors of order n as one, I - V T V^H: upper where they are multiplied forward, else lower; the
/// rest of it is not touched. V has their vectors as columns, or v^H as rows. On the calling thread, as
template <Scalar T>
void larft(Direction direct, Storage storev, Index n, Index k, const T* V, Index ldv, const T* tau, T* t, Index ldt);
/// C <- op(H) C or C op(H), C m x n, with H = I - V T V^H from larft. 4 m n k flops.
template <Scalar T>
void larfb(Side side, Op op, Direction direct, Storage storev, Index m, Index n, Index k, const T* V, Index ldv, const T* t,
           Index ldt, T* C, Index ldc);

/// Least squares: for each column b of B the x that makes |op(A) x - b| least, or the shortest x of op(A) x = b where there are
/// several; A m x n of full rank. B is max(m, n) x nrhs: the right sides on top, afterwards the solutions; under a solution of
/// fewer numbers stands what is left of b, as long as the residual. op is none or conj_trans (real: or trans). A is factored by
/// geqrf (m >= n) or gelqf. Matrices whose largest element is beyond LAPACK's limits are scaled. Returns LAPACK's info: 0, or i
/// where element i of the triangle's diagonal is exactly zero; there is no solution then, and B is half done. The factorization,
/// and 4 m n nrhs - n^2 nrhs flops (m >= n; 4 times that complex).
template <Scalar T>
Index gels(Crew& crew, Op op, Index m, Index n, Index nrhs, T* A, Index lda, T* B, Index ldb, const RoutineOptions& options = {});

/// max |a_ij|, the largest column sum (Norm::one) or row sum (Norm::inf) of |a_ij|, or the root of the sum of squares, of A m x
/// n; 0 where it is empty, NaN where an element is, without overflow on the way. One read of A, by all workers where it is large.
template <Scalar T> Real<T> lange(Crew& crew, Norm norm, Index m, Index n, const T* A, Index lda);
/// The same of a symmetric matrix of which one triangle is read.
template <Scalar T> Real<T> lansy(Crew& crew, Norm norm, Uplo uplo, Index n, const T* A, Index lda);
/// The same of a Hermitian one, the imaginary parts of whose diagonal are not read.
template <Scalar T> Real<T> lanhe(Crew& crew, Norm norm, Uplo uplo, Index n, const T* A, Index lda);
/// The same of a triangle or trapezoid, m x n, with ones on its diagonal where diag says so.
template <Scalar T> Real<T> lantr(Crew& crew, Norm norm, Uplo uplo, Diag diag, Index m, Index n, const T* A, Index lda);

/// *rcond <- an estimate of 1 / (|A| |A^-1|) in the 1-norm or the infinity norm, from the factors that getrf left and anorm =
/// |A|: never too small but for rounding, and seldom more than three times too large; 0 where A is singular. Returns LAPACK's
/// info: 0; 1 where *rcond is no number or has overflowed; -5 where anorm is not finite. On the calling thread; 5 to 11 systems
/// with one right side, 2 n^2 flops (4 times that complex) each. Hager 1984; Higham 1988.
template <Scalar T> Index gecon(Crew& crew, Norm norm, Index n, const T* A, Index lda, Real<T> anorm, Real<T>* rcond);
/// The same in the 1-norm from the factor that potrf left. Returns 0.
template <Scalar T> Index pocon(Crew& crew, Uplo uplo, Index n, const T* A, Index lda, Real<T> anorm, Real<T>* rcond);
/// The same of a triangle, whose norm it finds itself. Returns 0.
template <Scalar T> Index trcon(Crew& crew, Norm norm, Uplo uplo, Diag diag, Index n, const T* A, Index lda, Real<T>* rcond);

/// Factors r (m) and c (n) with which the largest element of each row and column of r_i a_ij c_j is 1 (complex: by |re| + |im|).
/// *rowcnd and
/// *colcnd: the ratios of the smallest to the largest; *amax: the largest element. Returns 0, or the number of a row that is
/// zero, or m and that of a column. 2 m n flops, on the calling thread.
template <Scalar T>
Index geequ(Crew& crew, Index m, Index n, const T* A, Index lda, Real<T>* r, Real<T>* c, Real<T>* rowcnd, Real<T>* colcnd,
            Real<T>* amax);
/// The same with powers of two, which do not round; *amax is then one, too.
template <Scalar T>
Index geequb(Crew& crew, Index m, Index n, const T* A, Index lda, Real<T>* r, Real<T>* c, Real<T>* rowcnd, Real<T>* colcnd,
             Real<T>* amax);
/// Factors s (n) that make the diagonal of s_i a_ij s_j ones, A Hermitian: only the diagonal is read. *scond: the ratio of the
/// smallest to the largest; *amax: the largest diagonal element. Returns 0, or the number of one that is not positive.
template <Scalar T> Index poequ(Crew& crew, Index n, const T* A, Index lda, Real<T>* s, Real<T>* scond, Real<T>* amax);
template <Scalar T> Index poequb(Crew& crew, Index n, const T* A, Index lda, Real<T>* s, Real<T>* scond, Real<T>* amax);

/// Refines X, which solves op(A) X = B with the factors AF and ipiv of getrf, in the same precision. berr (nrhs): the
/// componentwise backward error of each solution; ferr (nrhs): a bound, estimated, for the error of its components relative to
/// the largest of them. Refined while berr is above half an eps and halves, at most 5 times. Returns 0. On the calling thread;
/// some 20 n^2 nrhs flops (4 times that complex). Arioli, Demmel, Duff 1989.
template <Scalar T>
Index gerfs(Crew& crew, Op op, Index n, Index nrhs, const T* A, Index lda, const T* AF, Index ldaf, const Index* ipiv, const T* B,
            Index ldb, T* X, Index ldx, Real<T>* ferr, Real<T>* berr);
/// The same for a Hermitian A in one triangle with the factor AF of potrf.
template <Scalar T>
Index porfs(Crew& crew, Uplo uplo, Index n, Index nrhs, const T* A, Index lda, const T* AF, Index ldaf, const T* B, Index ldb,
            T* X, Index ldx, Real<T>* ferr, Real<T>* berr);

/// X <- op(A)^-1 B with all that can be said of it. fact: the factors AF and ipiv are computed of A, or of diag(r) A diag(c) with
/// geequ's factors where these help (Fact::scale: A and B, which are op's, are overwritten by what has been scaled), or given,
/// with *equed, r and c as such a call left them. *equed: 'N' nothing was scaled, 'R' the rows, 'C' the columns, 'B' both. *rcond
/// as gecon's, of the scaled matrix; ferr and berr (nrhs) as gerfs'; *growth: the largest element of A over that of U, small
/// where the elements grew (of the leading columns where U is singular). Returns LAPACK's info: 0; i <= n, where U(i, i) is the
/// first zero, and there is no solution; n + 1, where there is one but *rcond is less than eps. The variants are getrf's. gesv,
/// gecon and gerfs together.
template <Scalar T>
Index gesvx(Crew& crew, Fact fact, Op op, Index n, Index nrhs, T* A, Index lda, T* AF, Index ldaf, Index* ipiv, char* equed,
            Real<T>* r, Real<T>* c, T* B, Index ldb, T* X, Index ldx, Real<T>* rcond, Real<T>* ferr, Real<T>* berr,
            Real<T>* growth, const RoutineOptions& options = {});
/// The same for a positive definite A in one triangle, with poequ's factors s; *equed: 'N' or 'Y'. info i <= n: the minor of that
/// order is not positive definite. The variants are potrf's.
template <Scalar T>
Index posvx(Crew& crew, Fact fact, Uplo uplo, Index n, Index nrhs, T* A, Index lda, T* AF, Index ldaf, char* equed, Real<T>* s,
            T* B, Index ldb, T* X, Index ldx, Real<T>* rcond, Real<T>* ferr, Real<T>* berr, const RoutineOptions& options = {});

/// X <- A^-1 B in double precision from factors in single precision and refinement: LAPACK's dsgesv (T double) and zcgesv. A and
/// B are as they were and *iterations tells how many steps were made; or, where that did not do, they are as gesv leaves A, and
/// *iterations says why: -1 no memory, -2 a number too large for single precision, -3 no factorization in it, -31 no convergence
/// in 30 steps. Returns gesv's info. n^2 + 2 n nrhs numbers of memory. Langou, Langou, Luszczek, Kurzak, Buttari, Dongarra 2006.
/// Plain steps converge where the condition is below some 1e7; options.variant "gmres" finds them by generalized minimal
/// residuals with the factors as preconditioner and converges up to some 1e12 (positive definite: 1e10), at the cost of 100 n
/// numbers of memory and, for each direction, a read of the matrix and one of the factors on the calling thread (Carson, Higham
/// 2017). Nobody else chooses it.
template <Scalar T>
Index gesv_mixed(Crew& crew, Index n, Index nrhs, T* A, Index lda, Index* ipiv, const T* B, Index ldb, T* X, Index ldx,
                 int* iterations = nullptr, const RoutineOptions& options = {});
/// The same for a positive definite A in one triangle: dsposv and zcposv.
template <Scalar T>
Index posv_mixed(Crew& crew, Uplo uplo, Index n, Index nrhs, T* A, Index lda, const T* B, Index ldb, T* X, Index ldx,
                 int* iterations = nullptr, const RoutineOptions& options = {});

/// X <- the X that makes |B - A X| least, A m x n of full rank, m >= n, in double precision from QR factors in single precision
/// and refinement of X and the residual together (the augmented system). A is as it was and *iterations tells how many steps were
/// made; or, where that did not do, A is as gels leaves it, and *iterations says why, as gesv_mixed's: -3 says a condition beyond
/// some 1e6, or m < n, too. Returns gels' info. X has n rows, B (only read) m. (m n + m nrhs) / 2 + 2 m nrhs numbers of memory.
/// The variants are gels'. Bjorck 1967; Carson, Higham, Pranesh 2020.
template <Scalar T>
Index gels_mixed(Crew& crew, Index m, Index n, Index nrhs, T* A, Index lda, const T* B, Index ldb, T* X, Index ldx,
                 int* iterations = nullptr, const RoutineOptions& options = {});

/// Batches: `count` problems of one size, the matrices `stride` elements apart, as one call that the workers share; each has the
/// result of the routine of that name, and info[i] is what that returns for problem i. `ipiv` holds min(m, n) (gesv: n) integers
/// for each. For many small ones: up to about n = 256 a lone call cannot use several cores. With the native kernels matrices of
/// up to 64 x 64 elements are computed several at a time, one in each lane of a core's vectors: their results differ from the
/// routine's by rounding. They do not depend on the other matrices, whatever these hold, nor on the workers, nor on how many
/// calls the batch is cut into. A batch of fewer matrices than there are lanes (64 bytes with AVX-512, 32 with AVX2) costs as
/// much as of that many. Where a factor fails, what the routine leaves of it is left; other matrices go on. Throws
/// Error{out_of_memory} if a worker has no room for the matrices in its lanes and 16 right sides each; some problems are then
/// done and others not. Dong, Haidar, Tomov, Dongarra 2016; Kim and others 2017.
template <Scalar T>
void potrf_batch(Crew& crew, Uplo uplo, Index n, T* A, Index lda, Index stride_a, Index count, Index* info,
                 const RoutineOptions& options = {});
template <Scalar T>
void posv_batch(Crew& crew, Uplo uplo, Index n, Index nrhs, T* A, Index lda, Index stride_a, T* B, Index ldb, Index stride_b,
                Index count, Index* info, const RoutineOptions& options = {});
template <Scalar T>
void getrf_batch(Crew& crew, Index m, Index n, T* A, Index lda, Index stride_a, Index* ipiv, Index count, Index* info,
                 const RoutineOptions& options = {});
template <Scalar T>
void gesv_batch(Crew& crew, Index n, Index nrhs, T* A, Index lda, Index stride_a, Index* ipiv, T* B, Index ldb, Index stride_b,
                Index count, Index* info, const RoutineOptions& options = {});

/// Runs the task graph of tile Cholesky with `tile_rows` tile rows and empty kernels: what the runtime itself costs.
/// Returns the number of tasks.
Index tasks(Crew& crew, Index tile_rows, const RoutineOptions& options = {});

} // namespace trencadis
