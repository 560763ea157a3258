#pragma once
#include "blas/factorizations/qr.hpp"
#include "blas/level3/operand.hpp"

/// What the routines of QR share: V as columns, however it is stored.
namespace trencadis::blas {

/// k reflectors of order n.
template <Scalar T> struct Reflectors {
    Direction direction;
    Storage storage;
    Index n, k;
    const T* V;
    Index ldv;

    bool forward() const { return direction == Direction::forward; }
    bool columns() const { return storage == Storage::columns; }
    /// Where row i of reflector j is.
    const T* at(Index i, Index j) const { return columns() ? V + i + j * ldv : V + j + i * ldv; }
    /// What makes V of what is stored, and V^H.
    Op plain() const { return columns() ? Op::none : Op::conj_trans; }
    Op adjoint() const { return columns() ? Op::conj_trans : Op::none; }
    /// Which triangle of V is stored, as it lies in memory.
    Uplo uplo() const { return forward() == columns() ? Uplo::lower : Uplo::upper; }
    Uplo factor_uplo() const { return forward() ? Uplo::upper : Uplo::lower; }

    Index triangle_row() const { return forward() ? 0 : n - k; }
    const T* triangle() const { return at(triangle_row(), 0); }
    Index rest_row() const { return forward() ? k : 0; }
    const T* rest() const { return n > k ? at(rest_row(), 0) : nullptr; }

    /// Reflectors [first, first + count), of those rows that they are not zero in.
    Reflectors part(Index first, Index count) const
    {
        if (forward()) return {direction, storage, n - first, count, at(first, first), ldv};
        return {direction, storage, n - k + first + count, count, at(0, first), ldv};
    }
};

/// The off-diagonal block of T of the first k1 reflectors and the others, whose own blocks are there:
/// T_12 = -T_1 (V_1^H V_2) T_2, backward T_21 = -T_2 (V_2^H V_1) T_1.
template <Scalar T> void join_factors(const Reflectors<T>& v, Index k1, T* factor, Index ldt);

/// larft, larfb.
template <Scalar T> void make_factor(const Reflectors<T>& v, const T* tau, T* factor, Index ldt);
template <Scalar T>
void apply(Side side, Op op, const Reflectors<T>& v, const T* factor, Index ldt, Index m, Index n, T* C, Index ldc);

} // namespace trencadis::blas
