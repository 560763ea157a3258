#pragma once
#include "array.hpp"
#include "graph/task_flow.hpp"
#include "matrix/ops.hpp"
#include "session/session.hpp"

namespace trencadis::python {

/// Passes over whole matrices around the numerics: they move at the speed of memory, so large ones are tasks of the session
/// and small ones run on the calling thread. All without the interpreter lock; Ctrl-C cancels the large ones.

/// Copies `from` (any strides) into the column-major `to`. With `check` the answer is whether all elements are finite, else true.
template <Scalar T> bool copy(Session& session, const Strided& from, T* to, Index ld, bool check);
template <Scalar T> bool all_finite(Session& session, const Strided& matrix);
/// Is A equal to its conjugate transpose, element for element? A NaN is not equal to itself.
template <Scalar T> bool hermitian(Session& session, const Strided& matrix);
/// Zeroes the triangle opposite to `uplo`, without the diagonal, of the column-major n x n matrix.
template <Scalar T> void clear_opposite(Session& session, Uplo uplo, Index n, T* A, Index ld);
/// B <- conj(B). Nothing for real scalars.
template <Scalar T> void conjugate(Index rows, Index cols, T* B, Index ld);

} // namespace trencadis::python
