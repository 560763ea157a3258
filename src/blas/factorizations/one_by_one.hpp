#pragma once
#include "blas/factorizations/block_reflector.hpp"

/// QR reflector by reflector, in place, for where there is no memory for blocks: nothing is allocated and nothing fails. Each
/// reads what it is applied to twice and writes it once, by rows as slowly as memory does that.
namespace trencadis::blas::one_by_one {

/// The factorization of geqrf, or with reflectors in rows that of gelqf.
template <Scalar T> void factor(Storage storage, Index m, Index n, T* A, Index lda, T* tau);

/// C <- op(Q) C or C op(Q), C m x n, Q of the reflectors; the scalar of each `step` numbers after the one before: 1, or a
/// diagonal of T has them.
template <Scalar T>
void apply(Side side, Op op, const Reflectors<T>& v, const T* tau, Index step, Index m, Index n, T* C, Index ldc);

/// The first `count` columns of Q, `length` long, as orgqr, where those behind the k reflectors are the identity's already; rows:
/// as orglq.
template <Scalar T> void form(Storage storage, Index length, Index count, Index k, T* A, Index lda, const T* tau);

/// larft.
template <Scalar T> void make_factor(const Reflectors<T>& v, const T* tau, T* factor, Index ldt);

} // namespace trencadis::blas::one_by_one
