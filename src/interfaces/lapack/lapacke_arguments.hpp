#pragma once
#include "interfaces/lapack/laid.hpp"

// Each kind of argument in the lists of algorithms/signatures.hpp as LAPACKE's symbols have it, in the five places where
// lapacke.cpp names the arguments of a routine. T, Int and by_rows are that file's.

// The parameters of a symbol.
#define TRC_E_FLAG(E, x, text) char x
#define TRC_E_SIZE(x) Int x
#define TRC_E_IN(A, ld, rows, cols) const T *A, Int ld
#define TRC_E_INOUT(A, ld, rows, cols) T *A, Int ld
#define TRC_E_TRIANGLE_IN(A, ld, n, uplo) const T *A, Int ld
#define TRC_E_TRIANGLE_INOUT(A, ld, n, uplo) T *A, Int ld
#define TRC_E_TRAPEZOID_IN(A, ld, rows, cols, uplo) const T *A, Int ld
#define TRC_E_CONDITION_NORM(x) char x
#define TRC_E_MAGNITUDE(x) Real<T> x
#define TRC_E_REALS_OUT(x, count) Real<T>* x
#define TRC_E_PIVOTS_IN(x, count, rows) const Int* x
#define TRC_E_PIVOTS_OUT(x, count) Int* x
#define TRC_E_HERM_OP(x, text) char x
#define TRC_E_WITHIN(x, least, most) Int x
#define TRC_E_OUT(A, ld, rows, cols) T *A, Int ld
#define TRC_E_TAU_IN(x, count) const T* x
#define TRC_E_TAU_OUT(x, count) T* x
#define TRC_E_GIVEN_INOUT(A, ld, rows, cols, fact) T *A, Int ld
#define TRC_E_GIVEN_TRIANGLE(A, ld, n, uplo, fact) T *A, Int ld
#define TRC_E_GIVEN_PIVOTS(x, count, fact) Int* x
#define TRC_E_EQUED(x, letters, fact) char* x
#define TRC_E_SCALES(x, count, used) Real<T>* x
#define TRC_E_GROWTH(x) , Real<T>* x

// Those with matrices by columns, and how they are made.
#define TRC_LAID_FLAG(E, x, text) char x
#define TRC_LAID_SIZE(x) Index x
#define TRC_LAID_IN(A, ld, rows, cols) const Laid<const T>& A
#define TRC_LAID_INOUT(A, ld, rows, cols) const Laid<T>& A
#define TRC_LAID_TRIANGLE_IN(A, ld, n, uplo) const Laid<const T>& A
#define TRC_LAID_TRIANGLE_INOUT(A, ld, n, uplo) const Laid<T>& A
#define TRC_LAID_TRAPEZOID_IN(A, ld, rows, cols, uplo) const Laid<const T>& A
#define TRC_LAID_CONDITION_NORM(x) char x
#define TRC_LAID_MAGNITUDE(x) const Real<T>& x
#define TRC_LAID_REALS_OUT(x, count) Real<T>* x
#define TRC_LAID_PIVOTS_IN(x, count, rows) const Int* x
#define TRC_LAID_PIVOTS_OUT(x, count) Int* x
#define TRC_LAID_HERM_OP(x, text) char x
#define TRC_LAID_WITHIN(x, least, most) Index x
#define TRC_LAID_OUT(A, ld, rows, cols) const Laid<T>& A
#define TRC_LAID_TAU_IN(x, count) const T* x
#define TRC_LAID_TAU_OUT(x, count) T* x
#define TRC_LAID_GIVEN_INOUT(A, ld, rows, cols, fact) const Laid<T>& A
#define TRC_LAID_GIVEN_TRIANGLE(A, ld, n, uplo, fact) const Laid<T>& A
#define TRC_LAID_GIVEN_PIVOTS(x, count, fact) Int* x
#define TRC_LAID_EQUED(x, letters, fact) char* x
#define TRC_LAID_SCALES(x, count, used) Real<T>* x
#define TRC_LAID_GROWTH(x) , Real<T>* x
#define TRC_LAY_FLAG(E, x, text) x
#define TRC_LAY_SIZE(x) x
#define TRC_LAY_IN(A, ld, rows, cols) Laid<const T>(A, ld, rows, cols, by_rows)
#define TRC_LAY_INOUT(A, ld, rows, cols) Laid<T>(A, ld, rows, cols, by_rows)
#define TRC_LAY_TRIANGLE_IN(A, ld, n, uplo) Laid<const T>(A, ld, n, n, by_rows, shape_of(uplo))
#define TRC_LAY_TRIANGLE_INOUT(A, ld, n, uplo) Laid<T>(A, ld, n, n, by_rows, shape_of(uplo))
#define TRC_LAY_TRAPEZOID_IN(A, ld, rows, cols, uplo) Laid<const T>(A, ld, rows, cols, by_rows, shape_of(uplo))
#define TRC_LAY_CONDITION_NORM(x) x
#define TRC_LAY_MAGNITUDE(x) x
#define TRC_LAY_REALS_OUT(x, count) x
#define TRC_LAY_PIVOTS_IN(x, count, rows) x
#define TRC_LAY_PIVOTS_OUT(x, count) x
#define TRC_LAY_HERM_OP(x, text) x
#define TRC_LAY_WITHIN(x, least, most) x
#define TRC_LAY_OUT(A, ld, rows, cols) Laid<T>(A, ld, rows, cols, by_rows)
#define TRC_LAY_TAU_IN(x, count) x
#define TRC_LAY_TAU_OUT(x, count) x
#define TRC_LAY_GIVEN_INOUT(A, ld, rows, cols, fact) Laid<T>(A, ld, rows, cols, by_rows)
#define TRC_LAY_GIVEN_TRIANGLE(A, ld, n, uplo, fact) Laid<T>(A, ld, n, n, by_rows, shape_of(uplo))
#define TRC_LAY_GIVEN_PIVOTS(x, count, fact) x
#define TRC_LAY_EQUED(x, letters, fact) x
#define TRC_LAY_SCALES(x, count, used) x
#define TRC_LAY_GROWTH(x) , x

// What is looked at, and what the face gets.
#define TRC_LOOK_FLAG(E, x, text) Letter<E>(x)
#define TRC_LOOK_SIZE(x) 0
#define TRC_LOOK_IN(A, ld, rows, cols) A
#define TRC_LOOK_INOUT(A, ld, rows, cols) A
#define TRC_LOOK_TRIANGLE_IN(A, ld, n, uplo) A
#define TRC_LOOK_TRIANGLE_INOUT(A, ld, n, uplo) A
#define TRC_LOOK_TRAPEZOID_IN(A, ld, rows, cols, uplo) A
#define TRC_LOOK_CONDITION_NORM(x) Letter<Norm>(x)
#define TRC_LOOK_MAGNITUDE(x) x
#define TRC_LOOK_REALS_OUT(x, count) 0
#define TRC_LOOK_PIVOTS_IN(x, count, rows) 0
#define TRC_LOOK_PIVOTS_OUT(x, count) 0
#define TRC_LOOK_HERM_OP(x, text) Letter<Op>(x)
#define TRC_LOOK_WITHIN(x, least, most) 0
#define TRC_LOOK_OUT(A, ld, rows, cols)                                                                                          \
    Look::Given<T> { A, false }
#define TRC_LOOK_TAU_IN(x, count)                                                                                                \
    Look::Numbers<T> { x, Index(count), x != nullptr }
#define TRC_LOOK_TAU_OUT(x, count) 0
#define TRC_LOOK_GIVEN_INOUT(A, ld, rows, cols, fact)                                                                            \
    Look::Given<T> { A, argument::given(fact) }
#define TRC_LOOK_GIVEN_TRIANGLE(A, ld, n, uplo, fact)                                                                            \
    Look::Given<T> { A, argument::given(fact) }
#define TRC_LOOK_GIVEN_PIVOTS(x, count, fact) 0
#define TRC_LOOK_EQUED(x, letters, fact) 0
#define TRC_LOOK_SCALES(x, count, used)                                                                                          \
    Look::Numbers<Real<T>> { x, count, used }
#define TRC_LOOK_GROWTH(x) , 0
#define TRC_BARE_FLAG(E, x, text) x
#define TRC_BARE_SIZE(x) x
#define TRC_BARE_IN(A, ld, rows, cols) A.data(), A.leading()
#define TRC_BARE_INOUT(A, ld, rows, cols) A.data(), A.leading()
#define TRC_BARE_TRIANGLE_IN(A, ld, n, uplo) A.data(), A.leading()
#define TRC_BARE_TRIANGLE_INOUT(A, ld, n, uplo) A.data(), A.leading()
#define TRC_BARE_TRAPEZOID_IN(A, ld, rows, cols, uplo) A.data(), A.leading()
#define TRC_BARE_CONDITION_NORM(x) x
#define TRC_BARE_MAGNITUDE(x) &x
#define TRC_BARE_REALS_OUT(x, count) x
#define TRC_BARE_PIVOTS_IN(x, count, rows) x
#define TRC_BARE_PIVOTS_OUT(x, count) x
#define TRC_BARE_HERM_OP(x, text) x
#define TRC_BARE_WITHIN(x, least, most) x
#define TRC_BARE_OUT(A, ld, rows, cols) A.data(), A.leading()
#define TRC_BARE_TAU_IN(x, count) x
#define TRC_BARE_TAU_OUT(x, count) x
#define TRC_BARE_GIVEN_INOUT(A, ld, rows, cols, fact) A.data(), A.leading()
#define TRC_BARE_GIVEN_TRIANGLE(A, ld, n, uplo, fact) A.data(), A.leading()
#define TRC_BARE_GIVEN_PIVOTS(x, count, fact) x
#define TRC_BARE_EQUED(x, letters, fact) x
#define TRC_BARE_SCALES(x, count, used) x
#define TRC_BARE_GROWTH(x) , x
