#pragma once
#include "base/scalar.hpp"
#include "base/types.hpp"
#include "matrix/conjugate.hpp"
#include "matrix/ops.hpp"

namespace trencadis {

/// x <- op(A)^-1 x in x's precision T with a triangle in half of it, S: each element is widened as it is read. op is none or
/// conj_trans.
template <Scalar S, Scalar T> class WiderSolve {
public:
    WiderSolve(Index n, const S* A, Index lda, T* x) : n_(n), A_(A), lda_(lda), x_(x) {}

    void operator()(Uplo uplo, Op op, Diag diag) const
    {
        const bool lower = uplo == Uplo::lower, forward = lower == (op == Op::none);
        for (Index step = 0; step < n_; ++step) {
            const Index j = forward ? step : n_ - 1 - step, first = lower ? j + 1 : 0, last = lower ? n_ : j;
            if (op != Op::none) subtract_dot(j, first, last);
            if (diag == Diag::non_unit) x_[j] /= op == Op::none ? wide(j, j) : conjugate(wide(j, j));
            if (op == Op::none) subtract_column(j, first, last);
        }
    }

private:
    T wide(Index i, Index j) const { return T(A_[i + j * lda_]); }
    /// Without std::complex's search for infinities.
    static T product(T a, T b)
    {
        if constexpr (is_complex<T>)
            return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
        else return a * b;
    }
    void subtract_column(Index j, Index first, Index last) const
    {
        const T with = x_[j];
        for (Index i = first; i < last; ++i) x_[i] -= product(wide(i, j), with);
    }
    void subtract_dot(Index j, Index first, Index last) const
    {
        T sum = T(0);
        for (Index i = first; i < last; ++i) sum += product(conjugate(wide(i, j)), x_[i]);
        x_[j] -= sum;
    }

    const Index n_;
    const S* const A_;
    const Index lda_;
    T* const x_;
};

} // namespace trencadis
