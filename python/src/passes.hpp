#pragma once
#include "array.hpp"
#include "graph/task_flow.hpp"
#include "matrix/ops.hpp"
#include "session/session.hpp"

#include <functional>

namespace trencadis::python {

/// Passes over whole matrices around the numerics: they move at the speed of memory, so large ones are tasks of the session
/// and small ones run on the calling thread. All without the interpreter lock; Ctrl-C cancels the large ones.

constexpr Index shared_pass_from = Index{1} << 18; ///< elements; below, waking a worker costs more than it saves

/// Calls part(first, last) for ranges that cover the columns [0, cols), on the session's workers when there is enough to do.
void over_columns(Session& session, const char* name, Index rows, Index cols, const std::function<void(Index, Index)>& part);

/// Copies `from` (any strides) into the column-major `to`. With `check` the answer is whether all elements are finite, else true.
template <Scalar T> bool copy(Session& session, const Strided& from, T* to, Index ld, bool check);
template <Scalar T> bool all_finite(Session& session, const Strided& matrix);
/// Is A equal to its conjugate transpose, element for element? A NaN is not equal to itself.
template <Scalar T> bool hermitian(Session& session, const Strided& matrix);
/// Zeroes the triangle opposite to `uplo`, without the diagonal, of the column-major n x n matrix.
template <Scalar T> void clear_opposite(Session& session, Uplo uplo, Index n, T* A, Index ld);
/// Writes the triangle opposite to `uplo` so that the column-major n x n matrix is symmetric, or with `conjugated` Hermitian; the
/// diagonal then loses its imaginary part.
template <Scalar T> void mirror(Session& session, Uplo uplo, Index n, T* A, Index ld, bool conjugated);
/// How far from the diagonal there is something that is not zero: 0, 1, or 2 for farther.
struct Reach {
    int below, above;
};
template <Scalar T> Reach reach(Session& session, const Strided& matrix);
/// B <- conj(B). Nothing for real scalars.
template <Scalar T> void conjugate(Session& session, Index rows, Index cols, T* B, Index ld);

} // namespace trencadis::python
