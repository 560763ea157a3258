#pragma once
#include "algorithms/arguments.hpp"

/// The signatures of all routines in BLAS's and LAPACK's order: the only place that tells them. TRC_ARGUMENTS_<routine>(K) is a
/// list of
///
///     K_FLAG(type, name, text)            a letter; `text` is what callers call it
///     K_RANK_OP(name, text, transposed)   a letter of a rank update
///     K_SIZE(name)
///     K_FACTOR(name), K_REAL_FACTOR(name) a scalar of the matrices' kind, or of their real parts' kind
///     K_IN(A, lda, rows, cols)            a matrix that is read, and its leading dimension
///     K_INOUT(A, lda, rows, cols)         one that is written
///     K_TRIANGLE_IN(A, lda, n, uplo), K_TRIANGLE_INOUT(...)   only that triangle is touched
///     K_TRAPEZOID_IN(A, lda, rows, cols, uplo)   the same of a matrix that need not be square
///     K_PIVOTS_IN(name, count, rows), K_PIVOTS_OUT(name, count)   LAPACK's ipiv: numbers of rows, from 1; and jpvt, of columns,
///     which
///                                         is read as well
///     K_CONDITION_NORM(name)              a letter of the norms that condition numbers are in
///     K_MAGNITUDE(name)                   a real number that is not negative
///     K_REALS_OUT(name, count)            real results
///     K_HERM_OP(name, text)               a letter: 'N', or the matrices' own transposition, which is 'T' for real and 'C' for
///     complex ones K_WITHIN(name, least, most)         a size with limits of its own K_OUT(A, lda, rows, cols)           a
///     matrix that is written and not read K_TAU_IN(name, count), K_TAU_OUT(name, count)   the scalars of elementary reflectors
///     K_GIVEN_INOUT(A, lda, rows, cols, fact), K_GIVEN_TRIANGLE(A, lda, n, uplo, fact), K_GIVEN_PIVOTS(name, count, fact)
///                                         what is read where `fact` says that it is given, and written where not
///     K_EQUED(name, letters, fact)        the letter of a scaling, by address, given or answered
///     K_SCALES(name, count, used)         factors of a scaling, positive where they are `used`
///     K_GROWTH(name)                      a real result, with its comma before it: Fortran has it in its work
///
/// with commas between, for a prefix K that the user defines macros for: parameters, arguments, checks. The session checks by
/// them and the Fortran, C, LAPACKE and Python faces are made of them. LAPACK's `info` comes last and is not named.

#define TRC_REAL_PRODUCT_ROUTINES(DEFINE, ...)                                                                                   \
    DEFINE(gemm, __VA_ARGS__)                                                                                                    \
    DEFINE(symm, __VA_ARGS__)                                                                                                    \
    DEFINE(syrk, __VA_ARGS__)                                                                                                    \
    DEFINE(syr2k, __VA_ARGS__)
#define TRC_TRIANGULAR_ROUTINES(DEFINE, ...)                                                                                     \
    DEFINE(trmm, __VA_ARGS__)                                                                                                    \
    DEFINE(trsm, __VA_ARGS__)
#define TRC_REAL_BLAS_ROUTINES(DEFINE, ...)                                                                                      \
    TRC_REAL_PRODUCT_ROUTINES(DEFINE, __VA_ARGS__)                                                                               \
    TRC_TRIANGULAR_ROUTINES(DEFINE, __VA_ARGS__)
/// Known in complex precisions only; in real ones they are the symmetric ones.
#define TRC_HERMITIAN_BLAS_ROUTINES(DEFINE, ...)                                                                                 \
    DEFINE(hemm, __VA_ARGS__)                                                                                                    \
    DEFINE(herk, __VA_ARGS__)                                                                                                    \
    DEFINE(her2k, __VA_ARGS__)
#define TRC_BLAS_ROUTINES(DEFINE, ...)                                                                                           \
    TRC_REAL_BLAS_ROUTINES(DEFINE, __VA_ARGS__)                                                                                  \
    TRC_HERMITIAN_BLAS_ROUTINES(DEFINE, __VA_ARGS__)

#define TRC_LAPACK_ROUTINES(DEFINE, ...)                                                                                         \
    TRC_TASK_ROUTINES(DEFINE, __VA_ARGS__)                                                                                       \
    TRC_EXPERT_ROUTINES(DEFINE, __VA_ARGS__)                                                                                     \
    TRC_ESTIMATE_ROUTINES(DEFINE, __VA_ARGS__)
/// Those that tasks can carry out, with a row in the table of routines.
#define TRC_TASK_ROUTINES(DEFINE, ...)                                                                                           \
    TRC_PLAIN_ROUTINES(DEFINE, __VA_ARGS__)                                                                                      \
    TRC_SCRATCH_ROUTINES(DEFINE, __VA_ARGS__)                                                                                    \
    TRC_WORKSPACE_ROUTINES(DEFINE, __VA_ARGS__)                                                                                  \
    TRC_PIVOTED_ROUTINES(DEFINE, __VA_ARGS__)                                                                                    \
    TRC_ORTHOGONAL_ROUTINES(DEFINE, __VA_ARGS__)
#define TRC_PLAIN_ROUTINES(DEFINE, ...)                                                                                          \
    DEFINE(potrf, __VA_ARGS__)                                                                                                   \
    DEFINE(potrs, __VA_ARGS__)                                                                                                   \
    DEFINE(posv, __VA_ARGS__)                                                                                                    \
    DEFINE(getrf, __VA_ARGS__)                                                                                                   \
    DEFINE(getrs, __VA_ARGS__)                                                                                                   \
    DEFINE(gesv, __VA_ARGS__)                                                                                                    \
    DEFINE(trtrs, __VA_ARGS__)                                                                                                   \
    TRC_TILE_ROUTINES(DEFINE, __VA_ARGS__)
/// Those that want an array of work after these arguments, whose length is not told and which is not used.
#define TRC_SCRATCH_ROUTINES(DEFINE, ...)                                                                                        \
    DEFINE(geqrt, __VA_ARGS__)                                                                                                   \
    DEFINE(gemqrt, __VA_ARGS__)
/// Those that want LAPACK's `work` and `lwork` after these arguments, at least TRC_LEAST_WORK_<routine> numbers. It is not used:
/// tiles want memory of another shape.
#define TRC_WORKSPACE_ROUTINES(DEFINE, ...)                                                                                      \
    DEFINE(getri, __VA_ARGS__)                                                                                                   \
    DEFINE(geqrf, __VA_ARGS__)                                                                                                   \
    DEFINE(gelqf, __VA_ARGS__)                                                                                                   \
    DEFINE(gels, __VA_ARGS__)
/// The same, and in complex precisions an array of real numbers behind them, which is not used either.
#define TRC_PIVOTED_ROUTINES(DEFINE, ...) DEFINE(geqp3, __VA_ARGS__)
/// Those with work and lwork, too, under these names in real precisions and those of TRC_UNITARY_NAMES in complex ones.
#define TRC_ORTHOGONAL_ROUTINES(DEFINE, ...)                                                                                     \
    DEFINE(orgqr, __VA_ARGS__)                                                                                                   \
    DEFINE(orglq, __VA_ARGS__)                                                                                                   \
    DEFINE(ormqr, __VA_ARGS__)                                                                                                   \
    DEFINE(ormlq, __VA_ARGS__)
#define TRC_UNITARY_NAMES(DEFINE, ...)                                                                                           \
    DEFINE(ungqr, orgqr, __VA_ARGS__)                                                                                            \
    DEFINE(unglq, orglq, __VA_ARGS__)                                                                                            \
    DEFINE(unmqr, ormqr, __VA_ARGS__)                                                                                            \
    DEFINE(unmlq, ormlq, __VA_ARGS__)
#define TRC_LEAST_WORK_getri std::max<::trencadis::Index>(1, n)
#define TRC_LEAST_WORK_geqrf (m == 0 ? 1 : std::max<::trencadis::Index>(1, n))
#define TRC_LEAST_WORK_gelqf (n == 0 ? 1 : std::max<::trencadis::Index>(1, m))
#define TRC_LEAST_WORK_geqp3 (std::min(m, n) == 0 ? 1 : ::trencadis::is_complex<T> ? n + 1 : 3 * n + 1)
#define TRC_LEAST_WORK_gels std::max<::trencadis::Index>(1, std::min(m, n) + std::max(std::min(m, n), nrhs))
#define TRC_LEAST_WORK_orgqr std::max<::trencadis::Index>(1, n)
#define TRC_LEAST_WORK_orglq std::max<::trencadis::Index>(1, m)
#define TRC_LEAST_WORK_ormqr std::max<::trencadis::Index>(1, side == Side::left ? n : m)
#define TRC_LEAST_WORK_ormlq TRC_LEAST_WORK_ormqr

/// Parts of the above on the calling thread: neither tiles nor a row, and LAPACK looks at no argument and has no info.
#define TRC_REFLECTOR_ROUTINES(DEFINE, ...)                                                                                      \
    DEFINE(larft, __VA_ARGS__)                                                                                                   \
    DEFINE(larfb, __VA_ARGS__)

/// What is said of a matrix in some n^2 operations, on the calling thread (src/estimates/): no tiles, no row, no options. Those
/// of the second list want two arrays of work after these arguments, of which the first is used, so that nothing is taken from
/// the heap.
#define TRC_ESTIMATE_ROUTINES(DEFINE, ...)                                                                                       \
    TRC_SCALING_ROUTINES(DEFINE, __VA_ARGS__)                                                                                    \
    TRC_CONDITION_ROUTINES(DEFINE, __VA_ARGS__)
#define TRC_SCALING_ROUTINES(DEFINE, ...)                                                                                        \
    DEFINE(geequ, __VA_ARGS__)                                                                                                   \
    DEFINE(geequb, __VA_ARGS__)                                                                                                  \
    DEFINE(poequ, __VA_ARGS__)                                                                                                   \
    DEFINE(poequb, __VA_ARGS__)
#define TRC_CONDITION_ROUTINES(DEFINE, ...)                                                                                      \
    DEFINE(gecon, __VA_ARGS__)                                                                                                   \
    DEFINE(pocon, __VA_ARGS__)                                                                                                   \
    DEFINE(trcon, __VA_ARGS__)                                                                                                   \
    DEFINE(gerfs, __VA_ARGS__)                                                                                                   \
    DEFINE(porfs, __VA_ARGS__)

/// Those that factor, solve and judge the solution, made of the others: no row, costs and options of those called
/// TRC_COST_OF_<routine>. They want two arrays of work, too.
#define TRC_EXPERT_ROUTINES(DEFINE, ...)                                                                                         \
    DEFINE(gesvx, __VA_ARGS__)                                                                                                   \
    DEFINE(posvx, __VA_ARGS__)
#define TRC_COST_OF_gesvx "gesv"
#define TRC_COST_OF_posvx "posv"

/// Functions of a matrix: they return a real number, not info. In LAPACK an array of work follows these arguments, and nobody
/// looks whether they are in order.
#define TRC_REAL_NORM_ROUTINES(DEFINE, ...)                                                                                      \
    DEFINE(lange, __VA_ARGS__)                                                                                                   \
    DEFINE(lansy, __VA_ARGS__)                                                                                                   \
    DEFINE(lantr, __VA_ARGS__)
/// Known in complex precisions only.
#define TRC_HERMITIAN_NORM_ROUTINES(DEFINE, ...) DEFINE(lanhe, __VA_ARGS__)
#define TRC_NORM_ROUTINES(DEFINE, ...)                                                                                           \
    TRC_REAL_NORM_ROUTINES(DEFINE, __VA_ARGS__)                                                                                  \
    TRC_HERMITIAN_NORM_ROUTINES(DEFINE, __VA_ARGS__)

/// Those of them that are one builder (algorithms/tile_routines.hpp): their calls are all made from it.
#define TRC_TILE_ROUTINES(DEFINE, ...)                                                                                           \
    DEFINE(trtri, __VA_ARGS__)                                                                                                   \
    DEFINE(lauum, __VA_ARGS__)                                                                                                   \
    DEFINE(potri, __VA_ARGS__)

#define TRC_ARGUMENTS_gemm(K)                                                                                                    \
    K##_FLAG(Op, op_a, "transa"), K##_FLAG(Op, op_b, "transb"), K##_SIZE(m), K##_SIZE(n), K##_SIZE(k), K##_FACTOR(alpha),        \
        K##_IN(A, lda, op_a == Op::none ? m : k, op_a == Op::none ? k : m),                                                      \
        K##_IN(B, ldb, op_b == Op::none ? k : n, op_b == Op::none ? n : k), K##_FACTOR(beta), K##_INOUT(C, ldc, m, n)

#define TRC_ARGUMENTS_symm(K)                                                                                                    \
    K##_FLAG(Side, side, "side"), K##_FLAG(Uplo, uplo, "uplo"), K##_SIZE(m), K##_SIZE(n), K##_FACTOR(alpha),                     \
        K##_TRIANGLE_IN(A, lda, side == Side::left ? m : n, uplo), K##_IN(B, ldb, m, n), K##_FACTOR(beta),                       \
        K##_INOUT(C, ldc, m, n)
#define TRC_ARGUMENTS_hemm(K) TRC_ARGUMENTS_symm(K)

#define TRC_ARGUMENTS_rank_k(K, TRANSPOSED, FACTOR)                                                                              \
    K##_FLAG(Uplo, uplo, "uplo"), K##_RANK_OP(op, "trans", TRANSPOSED), K##_SIZE(n), K##_SIZE(k), K##_##FACTOR(alpha),           \
        K##_IN(A, lda, op == Op::none ? n : k, op == Op::none ? k : n), K##_##FACTOR(beta), K##_TRIANGLE_INOUT(C, ldc, n, uplo)
#define TRC_ARGUMENTS_syrk(K) TRC_ARGUMENTS_rank_k(K, Op::trans, FACTOR)
#define TRC_ARGUMENTS_herk(K) TRC_ARGUMENTS_rank_k(K, Op::conj_trans, REAL_FACTOR)

#define TRC_ARGUMENTS_rank_2k(K, TRANSPOSED, FACTOR)                                                                             \
    K##_FLAG(Uplo, uplo, "uplo"), K##_RANK_OP(op, "trans", TRANSPOSED), K##_SIZE(n), K##_SIZE(k), K##_FACTOR(alpha),             \
        K##_IN(A, lda, op == Op::none ? n : k, op == Op::none ? k : n),                                                          \
        K##_IN(B, ldb, op == Op::none ? n : k, op == Op::none ? k : n), K##_##FACTOR(beta), K##_TRIANGLE_INOUT(C, ldc, n, uplo)
#define TRC_ARGUMENTS_syr2k(K) TRC_ARGUMENTS_rank_2k(K, Op::trans, FACTOR)
#define TRC_ARGUMENTS_her2k(K) TRC_ARGUMENTS_rank_2k(K, Op::conj_trans, REAL_FACTOR)

#define TRC_ARGUMENTS_trmm(K)                                                                                                    \
    K##_FLAG(Side, side, "side"), K##_FLAG(Uplo, uplo, "uplo"), K##_FLAG(Op, op, "transa"), K##_FLAG(Diag, diag, "diag"),        \
        K##_SIZE(m), K##_SIZE(n), K##_FACTOR(alpha), K##_TRIANGLE_IN(A, lda, side == Side::left ? m : n, uplo),                  \
        K##_INOUT(B, ldb, m, n)
#define TRC_ARGUMENTS_trsm(K) TRC_ARGUMENTS_trmm(K)

#define TRC_ARGUMENTS_potrf(K) K##_FLAG(Uplo, uplo, "uplo"), K##_SIZE(n), K##_TRIANGLE_INOUT(A, lda, n, uplo)
#define TRC_ARGUMENTS_potrs(K)                                                                                                   \
    K##_FLAG(Uplo, uplo, "uplo"), K##_SIZE(n), K##_SIZE(nrhs), K##_TRIANGLE_IN(A, lda, n, uplo), K##_INOUT(B, ldb, n, nrhs)
#define TRC_ARGUMENTS_posv(K)                                                                                                    \
    K##_FLAG(Uplo, uplo, "uplo"), K##_SIZE(n), K##_SIZE(nrhs), K##_TRIANGLE_INOUT(A, lda, n, uplo), K##_INOUT(B, ldb, n, nrhs)

#define TRC_ARGUMENTS_getrf(K) K##_SIZE(m), K##_SIZE(n), K##_INOUT(A, lda, m, n), K##_PIVOTS_OUT(ipiv, std::min(m, n))
#define TRC_ARGUMENTS_getrs(K)                                                                                                   \
    K##_FLAG(Op, op, "trans"), K##_SIZE(n), K##_SIZE(nrhs), K##_IN(A, lda, n, n), K##_PIVOTS_IN(ipiv, n, n),                     \
        K##_INOUT(B, ldb, n, nrhs)
#define TRC_ARGUMENTS_gesv(K)                                                                                                    \
    K##_SIZE(n), K##_SIZE(nrhs), K##_INOUT(A, lda, n, n), K##_PIVOTS_OUT(ipiv, n), K##_INOUT(B, ldb, n, nrhs)

#define TRC_ARGUMENTS_getri(K) K##_SIZE(n), K##_INOUT(A, lda, n, n), K##_PIVOTS_IN(ipiv, n, n)

#define TRC_ARGUMENTS_trtrs(K)                                                                                                   \
    K##_FLAG(Uplo, uplo, "uplo"), K##_FLAG(Op, op, "trans"), K##_FLAG(Diag, diag, "diag"), K##_SIZE(n), K##_SIZE(nrhs),          \
        K##_TRIANGLE_IN(A, lda, n, uplo), K##_INOUT(B, ldb, n, nrhs)

#define TRC_ARGUMENTS_lange(K) K##_FLAG(Norm, norm, "norm"), K##_SIZE(m), K##_SIZE(n), K##_IN(A, lda, m, n)
#define TRC_ARGUMENTS_lansy(K)                                                                                                   \
    K##_FLAG(Norm, norm, "norm"), K##_FLAG(Uplo, uplo, "uplo"), K##_SIZE(n), K##_TRIANGLE_IN(A, lda, n, uplo)
#define TRC_ARGUMENTS_lanhe(K) TRC_ARGUMENTS_lansy(K)
#define TRC_ARGUMENTS_lantr(K)                                                                                                   \
    K##_FLAG(Norm, norm, "norm"), K##_FLAG(Uplo, uplo, "uplo"), K##_FLAG(Diag, diag, "diag"), K##_SIZE(m), K##_SIZE(n),          \
        K##_TRAPEZOID_IN(A, lda, m, n, uplo)

#define TRC_ARGUMENTS_gecon(K)                                                                                                   \
    K##_CONDITION_NORM(norm), K##_SIZE(n), K##_IN(A, lda, n, n), K##_MAGNITUDE(anorm), K##_REALS_OUT(rcond, 1)
#define TRC_ARGUMENTS_pocon(K)                                                                                                   \
    K##_FLAG(Uplo, uplo, "uplo"), K##_SIZE(n), K##_TRIANGLE_IN(A, lda, n, uplo), K##_MAGNITUDE(anorm), K##_REALS_OUT(rcond, 1)
#define TRC_ARGUMENTS_trcon(K)                                                                                                   \
    K##_CONDITION_NORM(norm), K##_FLAG(Uplo, uplo, "uplo"), K##_FLAG(Diag, diag, "diag"), K##_SIZE(n),                           \
        K##_TRIANGLE_IN(A, lda, n, uplo), K##_REALS_OUT(rcond, 1)

#define TRC_ARGUMENTS_geequ(K)                                                                                                   \
    K##_SIZE(m), K##_SIZE(n), K##_IN(A, lda, m, n), K##_REALS_OUT(r, m), K##_REALS_OUT(c, n), K##_REALS_OUT(rowcnd, 1),          \
        K##_REALS_OUT(colcnd, 1), K##_REALS_OUT(amax, 1)
#define TRC_ARGUMENTS_geequb(K) TRC_ARGUMENTS_geequ(K)
#define TRC_ARGUMENTS_poequ(K)                                                                                                   \
    K##_SIZE(n), K##_IN(A, lda, n, n), K##_REALS_OUT(s, n), K##_REALS_OUT(scond, 1), K##_REALS_OUT(amax, 1)
#define TRC_ARGUMENTS_poequb(K) TRC_ARGUMENTS_poequ(K)

#define TRC_ARGUMENTS_gerfs(K)                                                                                                   \
    K##_FLAG(Op, op, "trans"), K##_SIZE(n), K##_SIZE(nrhs), K##_IN(A, lda, n, n), K##_IN(AF, ldaf, n, n),                        \
        K##_PIVOTS_IN(ipiv, n, n), K##_IN(B, ldb, n, nrhs), K##_INOUT(X, ldx, n, nrhs), K##_REALS_OUT(ferr, nrhs),               \
        K##_REALS_OUT(berr, nrhs)
#define TRC_ARGUMENTS_porfs(K)                                                                                                   \
    K##_FLAG(Uplo, uplo, "uplo"), K##_SIZE(n), K##_SIZE(nrhs), K##_TRIANGLE_IN(A, lda, n, uplo),                                 \
        K##_TRIANGLE_IN(AF, ldaf, n, uplo), K##_IN(B, ldb, n, nrhs), K##_INOUT(X, ldx, n, nrhs), K##_REALS_OUT(ferr, nrhs),      \
        K##_REALS_OUT(berr, nrhs)

#define TRC_ARGUMENTS_geqrf(K) K##_SIZE(m), K##_SIZE(n), K##_INOUT(A, lda, m, n), K##_TAU_OUT(tau, std::min(m, n))
#define TRC_ARGUMENTS_gelqf(K) TRC_ARGUMENTS_geqrf(K)
#define TRC_ARGUMENTS_geqp3(K)                                                                                                   \
    K##_SIZE(m), K##_SIZE(n), K##_INOUT(A, lda, m, n), K##_PIVOTS_OUT(jpvt, n), K##_TAU_OUT(tau, std::min(m, n))
#define TRC_ARGUMENTS_orgqr(K) K##_SIZE(m), K##_WITHIN(n, 0, m), K##_WITHIN(k, 0, n), K##_INOUT(A, lda, m, n), K##_TAU_IN(tau, k)
#define TRC_ARGUMENTS_orglq(K)                                                                                                   \
    K##_SIZE(m), K##_WITHIN(n, m, ::trencadis::argument::any_size), K##_WITHIN(k, 0, m), K##_INOUT(A, lda, m, n),                \
        K##_TAU_IN(tau, k)
#define TRC_ARGUMENTS_ormqr(K)                                                                                                   \
    K##_FLAG(Side, side, "side"), K##_HERM_OP(op, "trans"), K##_SIZE(m), K##_SIZE(n),                                            \
        K##_WITHIN(k, 0, side == Side::left ? m : n), K##_IN(A, lda, side == Side::left ? m : n, k), K##_TAU_IN(tau, k),         \
        K##_INOUT(C, ldc, m, n)
#define TRC_ARGUMENTS_ormlq(K)                                                                                                   \
    K##_FLAG(Side, side, "side"), K##_HERM_OP(op, "trans"), K##_SIZE(m), K##_SIZE(n),                                            \
        K##_WITHIN(k, 0, side == Side::left ? m : n), K##_IN(A, lda, k, side == Side::left ? m : n), K##_TAU_IN(tau, k),         \
        K##_INOUT(C, ldc, m, n)
#define TRC_ARGUMENTS_geqrt(K)                                                                                                   \
    K##_SIZE(m), K##_SIZE(n), K##_WITHIN(nb, 1, std::min(m, n) > 0 ? std::min(m, n) : ::trencadis::argument::any_size),          \
        K##_INOUT(A, lda, m, n), K##_OUT(t, ldt, nb, std::min(m, n))
#define TRC_ARGUMENTS_gemqrt(K)                                                                                                  \
    K##_FLAG(Side, side, "side"), K##_HERM_OP(op, "trans"), K##_SIZE(m), K##_SIZE(n),                                            \
        K##_WITHIN(k, 0, side == Side::left ? m : n), K##_WITHIN(nb, 1, k > 0 ? k : ::trencadis::argument::any_size),            \
        K##_IN(V, ldv, side == Side::left ? m : n, k), K##_IN(t, ldt, nb, k), K##_INOUT(C, ldc, m, n)
#define TRC_ARGUMENTS_gels(K)                                                                                                    \
    K##_HERM_OP(op, "trans"), K##_SIZE(m), K##_SIZE(n), K##_SIZE(nrhs), K##_INOUT(A, lda, m, n),                                 \
        K##_INOUT(B, ldb, std::max(m, n), nrhs)
#define TRC_ARGUMENTS_larft(K)                                                                                                   \
    K##_FLAG(Direction, direct, "direct"), K##_FLAG(Storage, storev, "storev"), K##_SIZE(n), K##_SIZE(k),                        \
        K##_IN(V, ldv, storev == Storage::columns ? n : k, storev == Storage::columns ? k : n), K##_TAU_IN(tau, k),              \
        K##_OUT(t, ldt, k, k)
#define TRC_ARGUMENTS_larfb(K)                                                                                                   \
    K##_FLAG(Side, side, "side"), K##_FLAG(Op, op, "trans"), K##_FLAG(Direction, direct, "direct"),                              \
        K##_FLAG(Storage, storev, "storev"), K##_SIZE(m), K##_SIZE(n), K##_SIZE(k),                                              \
        K##_IN(V, ldv,                                                                                                           \
               storev == Storage::rows ? k                                                                                       \
               : side == Side::left    ? m                                                                                       \
                                       : n,                                                                                         \
               storev == Storage::columns ? k                                                                                    \
               : side == Side::left       ? m                                                                                    \
                                          : n),                                                                                        \
        K##_IN(t, ldt, k, k), K##_INOUT(C, ldc, m, n)
#define TRC_ARGUMENTS_gesvx(K)                                                                                                   \
    K##_FLAG(Fact, fact, "fact"), K##_FLAG(Op, op, "trans"), K##_SIZE(n), K##_SIZE(nrhs), K##_INOUT(A, lda, n, n),               \
        K##_GIVEN_INOUT(AF, ldaf, n, n, fact), K##_GIVEN_PIVOTS(ipiv, n, fact), K##_EQUED(equed, "NRCB", fact),                  \
        K##_SCALES(r, n, ::trencadis::argument::used(fact, equed, "RB")),                                                        \
        K##_SCALES(c, n, ::trencadis::argument::used(fact, equed, "CB")), K##_INOUT(B, ldb, n, nrhs), K##_OUT(X, ldx, n, nrhs),  \
        K##_REALS_OUT(rcond, 1), K##_REALS_OUT(ferr, nrhs), K##_REALS_OUT(berr, nrhs) K##_GROWTH(growth)
#define TRC_ARGUMENTS_posvx(K)                                                                                                   \
    K##_FLAG(Fact, fact, "fact"), K##_FLAG(Uplo, uplo, "uplo"), K##_SIZE(n), K##_SIZE(nrhs),                                     \
        K##_TRIANGLE_INOUT(A, lda, n, uplo), K##_GIVEN_TRIANGLE(AF, ldaf, n, uplo, fact), K##_EQUED(equed, "NY", fact),          \
        K##_SCALES(s, n, ::trencadis::argument::used(fact, equed, "Y")), K##_INOUT(B, ldb, n, nrhs), K##_OUT(X, ldx, n, nrhs),   \
        K##_REALS_OUT(rcond, 1), K##_REALS_OUT(ferr, nrhs), K##_REALS_OUT(berr, nrhs)

#define TRC_ARGUMENTS_trtri(K)                                                                                                   \
    K##_FLAG(Uplo, uplo, "uplo"), K##_FLAG(Diag, diag, "diag"), K##_SIZE(n), K##_TRIANGLE_INOUT(A, lda, n, uplo)

#define TRC_ARGUMENTS_lauum(K) TRC_ARGUMENTS_potrf(K)
#define TRC_ARGUMENTS_potri(K) TRC_ARGUMENTS_potrf(K)

/// The checks, where the arguments have these names and their scalar is T: argument::require(TRC_ARGUMENTS_potrf(TRC_CHECK)).
// clang-format off
#define TRC_CHECK_FLAG(E, x, text) ::trencadis::argument::Flag<E>{text, x}
#define TRC_CHECK_RANK_OP(x, text, transposed) ::trencadis::argument::RankOp{text, x, transposed, ::trencadis::is_complex<T>}
#define TRC_CHECK_SIZE(x) ::trencadis::argument::Size{#x, x}
#define TRC_CHECK_FACTOR(x) ::trencadis::argument::Factor::of(#x, x)
#define TRC_CHECK_REAL_FACTOR(x) ::trencadis::argument::Factor::of(#x, x)
#define TRC_CHECK_IN(A, ld, rows, cols) ::trencadis::argument::Matrix{#A, ::trencadis::Region::all(A, rows, cols, ld), false}
#define TRC_CHECK_INOUT(A, ld, rows, cols) ::trencadis::argument::Matrix{#A, ::trencadis::Region::all(A, rows, cols, ld), true}
#define TRC_CHECK_TRIANGLE_IN(A, ld, n, uplo) \
    ::trencadis::argument::Matrix{#A, ::trencadis::Region::triangle(uplo, A, n, ld), false}
#define TRC_CHECK_TRIANGLE_INOUT(A, ld, n, uplo) \
    ::trencadis::argument::Matrix{#A, ::trencadis::Region::triangle(uplo, A, n, ld), true}
#define TRC_CHECK_TRAPEZOID_IN(A, ld, rows, cols, uplo) \
    ::trencadis::argument::Matrix{#A, ::trencadis::Region::trapezoid(uplo, A, rows, cols, ld), false}
#define TRC_CHECK_CONDITION_NORM(x) ::trencadis::argument::ConditionNorm{#x, x}
#define TRC_CHECK_MAGNITUDE(x) ::trencadis::argument::Magnitude::of(#x, x)
#define TRC_CHECK_REALS_OUT(x, count) ::trencadis::argument::Reals{#x, x, count}
#define TRC_CHECK_PIVOTS_IN(x, count, rows) ::trencadis::argument::Pivots{#x, x, count, rows}
#define TRC_CHECK_PIVOTS_OUT(x, count) ::trencadis::argument::Pivots{#x, x, count, 0}
#define TRC_CHECK_HERM_OP(x, text) ::trencadis::argument::HermOp{text, x, ::trencadis::is_complex<T>}
#define TRC_CHECK_WITHIN(x, least, most) ::trencadis::argument::Within{#x, x, least, most}
#define TRC_CHECK_OUT(A, ld, rows, cols) TRC_CHECK_INOUT(A, ld, rows, cols)
#define TRC_CHECK_TAU_IN(x, count) ::trencadis::argument::Reflectors{#x, x, count}
#define TRC_CHECK_TAU_OUT(x, count) ::trencadis::argument::Reflectors{#x, x, count}
#define TRC_CHECK_GIVEN_INOUT(A, ld, rows, cols, fact) TRC_CHECK_INOUT(A, ld, rows, cols)
#define TRC_CHECK_GIVEN_TRIANGLE(A, ld, n, uplo, fact) TRC_CHECK_TRIANGLE_INOUT(A, ld, n, uplo)
#define TRC_CHECK_GIVEN_PIVOTS(x, count, fact) \
    ::trencadis::argument::Pivots{#x, x, count, ::trencadis::argument::given(fact) ? count : 0}
#define TRC_CHECK_EQUED(x, letters, fact) ::trencadis::argument::Equed{#x, letters, x, ::trencadis::argument::given(fact)}
#define TRC_CHECK_SCALES(x, count, used) ::trencadis::argument::Scales<::trencadis::Real<T>>{#x, x, count, used}
#define TRC_CHECK_GROWTH(x) , ::trencadis::argument::Reals{#x, x, 1}
// clang-format on

/// Parameters of a C++ function of ours.
#define TRC_TYPED_FLAG(E, x, text) ::trencadis::E x
#define TRC_TYPED_RANK_OP(x, text, transposed) ::trencadis::Op x
#define TRC_TYPED_SIZE(x) ::trencadis::Index x
#define TRC_TYPED_FACTOR(x) T x
#define TRC_TYPED_REAL_FACTOR(x) ::trencadis::Real<T> x
#define TRC_TYPED_IN(A, ld, rows, cols) const T *A, ::trencadis::Index ld
#define TRC_TYPED_INOUT(A, ld, rows, cols) T *A, ::trencadis::Index ld
#define TRC_TYPED_TRIANGLE_IN(A, ld, n, uplo) const T *A, ::trencadis::Index ld
#define TRC_TYPED_TRIANGLE_INOUT(A, ld, n, uplo) T *A, ::trencadis::Index ld
#define TRC_TYPED_TRAPEZOID_IN(A, ld, rows, cols, uplo) const T *A, ::trencadis::Index ld
#define TRC_TYPED_CONDITION_NORM(x) ::trencadis::Norm x
#define TRC_TYPED_MAGNITUDE(x) ::trencadis::Real<T> x
#define TRC_TYPED_REALS_OUT(x, count) ::trencadis::Real<T>* x
#define TRC_TYPED_PIVOTS_IN(x, count, rows) const ::trencadis::Index* x
#define TRC_TYPED_PIVOTS_OUT(x, count) ::trencadis::Index* x
#define TRC_TYPED_HERM_OP(x, text) ::trencadis::Op x
#define TRC_TYPED_WITHIN(x, least, most) ::trencadis::Index x
#define TRC_TYPED_OUT(A, ld, rows, cols) T *A, ::trencadis::Index ld
#define TRC_TYPED_TAU_IN(x, count) const T* x
#define TRC_TYPED_TAU_OUT(x, count) T* x
#define TRC_TYPED_GIVEN_INOUT(A, ld, rows, cols, fact) T *A, ::trencadis::Index ld
#define TRC_TYPED_GIVEN_TRIANGLE(A, ld, n, uplo, fact) T *A, ::trencadis::Index ld
#define TRC_TYPED_GIVEN_PIVOTS(x, count, fact) ::trencadis::Index* x
#define TRC_TYPED_EQUED(x, letters, fact) char* x
#define TRC_TYPED_SCALES(x, count, used) ::trencadis::Real<T>* x
#define TRC_TYPED_GROWTH(x) , ::trencadis::Real<T>* x

/// The same as arguments of a call.
#define TRC_GIVE_FLAG(E, x, text) x
#define TRC_GIVE_RANK_OP(x, text, transposed) x
#define TRC_GIVE_SIZE(x) x
#define TRC_GIVE_FACTOR(x) x
#define TRC_GIVE_REAL_FACTOR(x) x
#define TRC_GIVE_IN(A, ld, rows, cols) A, ld
#define TRC_GIVE_INOUT(A, ld, rows, cols) A, ld
#define TRC_GIVE_TRIANGLE_IN(A, ld, n, uplo) A, ld
#define TRC_GIVE_TRIANGLE_INOUT(A, ld, n, uplo) A, ld
#define TRC_GIVE_TRAPEZOID_IN(A, ld, rows, cols, uplo) A, ld
#define TRC_GIVE_CONDITION_NORM(x) x
#define TRC_GIVE_MAGNITUDE(x) x
#define TRC_GIVE_REALS_OUT(x, count) x
#define TRC_GIVE_PIVOTS_IN(x, count, rows) x
#define TRC_GIVE_PIVOTS_OUT(x, count) x
#define TRC_GIVE_HERM_OP(x, text) x
#define TRC_GIVE_WITHIN(x, least, most) x
#define TRC_GIVE_OUT(A, ld, rows, cols) A, ld
#define TRC_GIVE_TAU_IN(x, count) x
#define TRC_GIVE_TAU_OUT(x, count) x
#define TRC_GIVE_GIVEN_INOUT(A, ld, rows, cols, fact) A, ld
#define TRC_GIVE_GIVEN_TRIANGLE(A, ld, n, uplo, fact) A, ld
#define TRC_GIVE_GIVEN_PIVOTS(x, count, fact) x
#define TRC_GIVE_EQUED(x, letters, fact) x
#define TRC_GIVE_SCALES(x, count, used) x
#define TRC_GIVE_GROWTH(x) , x

/// Parameters of a face: letters that may be wrong, factors by address. The checks above hold with them, and TRC_PASS gives them
/// on to the session's routines.
#define TRC_FACE_FLAG(E, x, text) ::trencadis::Letter<::trencadis::E> x
#define TRC_FACE_RANK_OP(x, text, transposed) ::trencadis::Letter<::trencadis::Op> x
#define TRC_FACE_SIZE(x) ::trencadis::Index x
#define TRC_FACE_FACTOR(x) const T* x
#define TRC_FACE_REAL_FACTOR(x) const ::trencadis::Real<T>* x
#define TRC_FACE_IN(A, ld, rows, cols) const T *A, ::trencadis::Index ld
#define TRC_FACE_INOUT(A, ld, rows, cols) T *A, ::trencadis::Index ld
#define TRC_FACE_TRIANGLE_IN(A, ld, n, uplo) const T *A, ::trencadis::Index ld
#define TRC_FACE_TRIANGLE_INOUT(A, ld, n, uplo) T *A, ::trencadis::Index ld
#define TRC_FACE_TRAPEZOID_IN(A, ld, rows, cols, uplo) const T *A, ::trencadis::Index ld
#define TRC_FACE_CONDITION_NORM(x) ::trencadis::Letter<::trencadis::Norm> x
#define TRC_FACE_MAGNITUDE(x) const ::trencadis::Real<T>* x
#define TRC_FACE_REALS_OUT(x, count) ::trencadis::Real<T>* x
#define TRC_FACE_PIVOTS_IN(x, count, rows) ::trencadis::argument::Integers<const ::trencadis::Index> x
#define TRC_FACE_PIVOTS_OUT(x, count) ::trencadis::argument::Integers<::trencadis::Index> x
#define TRC_FACE_HERM_OP(x, text) ::trencadis::Letter<::trencadis::Op> x
#define TRC_FACE_WITHIN(x, least, most) ::trencadis::Index x
#define TRC_FACE_OUT(A, ld, rows, cols) T *A, ::trencadis::Index ld
#define TRC_FACE_TAU_IN(x, count) const T* x
#define TRC_FACE_TAU_OUT(x, count) T* x
#define TRC_FACE_GIVEN_INOUT(A, ld, rows, cols, fact) T *A, ::trencadis::Index ld
#define TRC_FACE_GIVEN_TRIANGLE(A, ld, n, uplo, fact) T *A, ::trencadis::Index ld
#define TRC_FACE_GIVEN_PIVOTS(x, count, fact) ::trencadis::argument::Integers<::trencadis::Index> x
#define TRC_FACE_EQUED(x, letters, fact) char* x
#define TRC_FACE_SCALES(x, count, used) ::trencadis::Real<T>* x
#define TRC_FACE_GROWTH(x) , ::trencadis::Real<T>* x

#define TRC_PASS_FLAG(E, x, text) x
#define TRC_PASS_RANK_OP(x, text, transposed) x
#define TRC_PASS_SIZE(x) x
#define TRC_PASS_FACTOR(x) *x
#define TRC_PASS_REAL_FACTOR(x) *x
#define TRC_PASS_IN(A, ld, rows, cols) A, ld
#define TRC_PASS_INOUT(A, ld, rows, cols) A, ld
#define TRC_PASS_TRIANGLE_IN(A, ld, n, uplo) A, ld
#define TRC_PASS_TRIANGLE_INOUT(A, ld, n, uplo) A, ld
#define TRC_PASS_TRAPEZOID_IN(A, ld, rows, cols, uplo) A, ld
#define TRC_PASS_CONDITION_NORM(x) x
#define TRC_PASS_MAGNITUDE(x) *x
#define TRC_PASS_REALS_OUT(x, count) x
#define TRC_PASS_PIVOTS_IN(x, count, rows) x.of(count)
#define TRC_PASS_PIVOTS_OUT(x, count) x.of(count)
#define TRC_PASS_HERM_OP(x, text) x
#define TRC_PASS_WITHIN(x, least, most) x
#define TRC_PASS_OUT(A, ld, rows, cols) A, ld
#define TRC_PASS_TAU_IN(x, count) x
#define TRC_PASS_TAU_OUT(x, count) x
#define TRC_PASS_GIVEN_INOUT(A, ld, rows, cols, fact) A, ld
#define TRC_PASS_GIVEN_TRIANGLE(A, ld, n, uplo, fact) A, ld
#define TRC_PASS_GIVEN_PIVOTS(x, count, fact) x.of(count)
#define TRC_PASS_EQUED(x, letters, fact) x
#define TRC_PASS_SCALES(x, count, used) x
#define TRC_PASS_GROWTH(x) , x

/// The names of the arguments, each with its leading dimension's behind it.
#define TRC_NAME_FLAG(E, x, text) text
#define TRC_NAME_RANK_OP(x, text, transposed) text
#define TRC_NAME_SIZE(x) #x
#define TRC_NAME_FACTOR(x) #x
#define TRC_NAME_REAL_FACTOR(x) #x
#define TRC_NAME_IN(A, ld, rows, cols) #A, #ld
#define TRC_NAME_INOUT(A, ld, rows, cols) #A, #ld
#define TRC_NAME_TRIANGLE_IN(A, ld, n, uplo) #A, #ld
#define TRC_NAME_TRIANGLE_INOUT(A, ld, n, uplo) #A, #ld
#define TRC_NAME_TRAPEZOID_IN(A, ld, rows, cols, uplo) #A, #ld
#define TRC_NAME_CONDITION_NORM(x) #x
#define TRC_NAME_MAGNITUDE(x) #x
#define TRC_NAME_REALS_OUT(x, count) #x
#define TRC_NAME_PIVOTS_IN(x, count, rows) #x
#define TRC_NAME_PIVOTS_OUT(x, count) #x
#define TRC_NAME_HERM_OP(x, text) text
#define TRC_NAME_WITHIN(x, least, most) #x
#define TRC_NAME_OUT(A, ld, rows, cols) #A, #ld
#define TRC_NAME_TAU_IN(x, count) #x
#define TRC_NAME_TAU_OUT(x, count) #x
#define TRC_NAME_GIVEN_INOUT(A, ld, rows, cols, fact) #A, #ld
#define TRC_NAME_GIVEN_TRIANGLE(A, ld, n, uplo, fact) #A, #ld
#define TRC_NAME_GIVEN_PIVOTS(x, count, fact) #x
#define TRC_NAME_EQUED(x, letters, fact) #x
#define TRC_NAME_SCALES(x, count, used) #x
#define TRC_NAME_GROWTH(x) , #x
