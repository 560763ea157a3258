#pragma once
#include "blas/batches/side_by_side.hpp"

namespace trencadis::blas {

/// Problems that are worked on at the same time, at most one for each lane, and what that takes.
template <Scalar T> struct LaneProblems {
    Batch<T> batch;
    Real<T>* work;    ///< aligned to 64 bytes, LaneKernels::work_size numbers
    Index* exchanges; ///< LU: `lanes` for each pivot
    Real<T> least;    ///< pivots with at least this |.| can be inverted by vectors
    /// The inverse of a pivot that is not zero; false where it is to be divided by.
    bool (*invert)(const T* pivot, T* inverse);
    /// n elements of x by the pivot.
    void (*divide)(Index n, T* x, const T* pivot);
};

/// Small matrices side by side, one in each lane of the vectors of one instruction set. Lanes without a matrix follow the last
/// one, so that they raise no floating-point exception of their own.
template <Scalar T> struct LaneKernels {
    Index lanes;
    void (*cholesky)(const LaneProblems<T>& problems);
    void (*lu)(const LaneProblems<T>& problems);

    static constexpr Index strip = 16; ///< right sides that are in the work area at a time
    /// Between columns of the work area, in elements; odd, so that they do not lie in the same sets of a cache.
    static constexpr Index leading(Index m) { return m | 1; }
    /// Real numbers of it.
    Index work_size(Index m, Index n, Index nrhs) const
    {
        return (is_complex<T> ? 2 : 1) * lanes * leading(m) * (n + (nrhs < strip ? nrhs : strip));
    }
};

} // namespace trencadis::blas
