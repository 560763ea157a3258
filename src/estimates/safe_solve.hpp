#pragma once
#include "base/scalar.hpp"
#include "base/types.hpp"
#include "matrix/ops.hpp"

#include <initializer_list>

namespace trencadis::estimates {

/// op(A) of order n, triangular: one of the factors that a solution goes through.
template <Scalar T> struct Triangle {
    Uplo uplo;
    Op op;
    Diag diag;
    Index n;
    const T* A;
    Index lda;
};

/// Systems with one right side whose solutions may be beyond the numbers on the way, or in the end: solved as they are, and once
/// more with powers of two taken out where that was too much. What LAPACK has latrs for (Anderson 1991, Working Note 36); but
/// that bounds the growth beforehand, by the norms of all columns. Nothing may trap meanwhile.
template <Scalar T> class SafeSolve {
public:
    /// `room`: n numbers.
    SafeSolve(Index n, T* room) : n_(n), kept_(room) {}

    /// x <- last^-1 .. first^-1 x. False, and x is anything, where the solution is beyond the numbers or a triangle is exactly
    /// singular. Infinities and NaNs in a triangle come through.
    bool operator()(T* x, std::initializer_list<Triangle<T>> triangles);

private:
    const Index n_;
    T* const kept_;
};

} // namespace trencadis::estimates
