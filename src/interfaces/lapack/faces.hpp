#pragma once
#include "algorithms/signatures.hpp"
#include "base/scalar.hpp"

#include <cmath>
#include <limits>

/// The routines behind the symbols, column-major, in one precision: the arguments that algorithms/signatures.hpp lists,
/// LAPACK's also `info`.
/// Each returns the number of the first bad argument, counted as the reference does, and has then done nothing; or 0.
namespace trencadis::face {

/// What a call with a workspace is: a question for its size, answered in work[0]; or one whose argument `bad` is not in order.
struct Workspace {
    int bad;
    bool query;
};

/// The answer to such a question: rounded up where a precision has no such number, since a call with less would be refused.
template <Scalar T> T answered_size(Index size)
{
    const Real<T> nearest = static_cast<Real<T>>(size);
    return Index(nearest) >= size ? nearest : std::nextafter(nearest, std::numeric_limits<Real<T>>::infinity());
}

template <Scalar T> struct Faces {
#define TRC_DECLARE_BLAS(routine, ...) static int routine(TRC_ARGUMENTS_##routine(TRC_FACE));
#define TRC_DECLARE_LAPACK(routine, ...) static int routine(TRC_ARGUMENTS_##routine(TRC_FACE), Index& info);
    TRC_BLAS_ROUTINES(TRC_DECLARE_BLAS)
    TRC_TASK_ROUTINES(TRC_DECLARE_LAPACK)
    TRC_SCALING_ROUTINES(TRC_DECLARE_LAPACK)
    /// These have LAPACK's first array of work, or null.
#define TRC_DECLARE_WORKING(routine, ...) static int routine(TRC_ARGUMENTS_##routine(TRC_FACE), T* work, Index& info);
    TRC_CONDITION_ROUTINES(TRC_DECLARE_WORKING)
    TRC_EXPERT_ROUTINES(TRC_DECLARE_WORKING)
#undef TRC_DECLARE_WORKING
#define TRC_DECLARE_WORKSPACE(routine, ...)                                                                                      \
    static Workspace routine##_workspace(TRC_ARGUMENTS_##routine(TRC_FACE), T* work, Index lwork);
    TRC_WORKSPACE_ROUTINES(TRC_DECLARE_WORKSPACE)
    TRC_PIVOTED_ROUTINES(TRC_DECLARE_WORKSPACE)
    TRC_ORTHOGONAL_ROUTINES(TRC_DECLARE_WORKSPACE)
#undef TRC_DECLARE_WORKSPACE
    /// Those that nobody looks at the arguments of: where one is bad they do nothing.
    TRC_REFLECTOR_ROUTINES(TRC_DECLARE_BLAS)
    /// Functions of a matrix, which look at nothing, as LAPACK's: 0 for a norm that there is not.
#define TRC_DECLARE_NORM(function, ...) static Real<T> function(TRC_ARGUMENTS_##function(TRC_FACE), Real<T>* work);
    TRC_NORM_ROUTINES(TRC_DECLARE_NORM)
#undef TRC_DECLARE_NORM
#undef TRC_DECLARE_BLAS
#undef TRC_DECLARE_LAPACK
};

} // namespace trencadis::face
