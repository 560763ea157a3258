#pragma once
#include "call.hpp"
#include "drivers/linear_algebra.hpp"
#include "memory.hpp"
#include "numpy.hpp"
#include "passes.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

namespace trencadis::python {

/// What the direct ways of the Python API share: arguments that may be overwritten, and work copies with the finite check.

inline RoutineOptions polled() { return {.nb = 0, .interrupted = signalled, .variant = {}}; }

/// Throws Error{bad_argument} in numpy's words.
[[noreturn]] void not_finite();

/// An argument that may be overwritten, or only read.
std::optional<Buffer> open(nb::handle array, bool overwrite, bool& writable);

/// Do two matrices, neither of them empty, share memory? By their first and last elements, so also
/// where they only lie between each other's.
bool overlap(const Buffer& a, const Buffer& b);

/// The arguments of A X = B where both are plain arrays of one scalar type, A square and not 1 x 1 (SciPy's special case).
struct SquareSystem {
    Buffer a, b;
    Strided A, B;
    bool a_writable, b_writable;

    bool in_place() const { return b_writable && B.column_major(); }
    /// B's own array, or a new one of its shape.
    nb::object solution(nb::handle b_array) const
    {
        return in_place() ? nb::borrow(b_array) : empty(b.kind(), B.rows, B.cols, b.dimensions(), 'F');
    }
};
std::optional<SquareSystem> open_system(nb::handle a_array, nb::handle b_array, bool overwrite_a, bool overwrite_b);

/// A column-major matrix that is overwritten: the caller's own, or a work copy.
template <Scalar T> struct Work {
    T* data;
    Index ld;
    Scratch scratch;
};
/// `what` names the copy where there is no memory for it. Throws Error{bad_argument} where `check` finds what is not finite.
template <Scalar T> Work<T> work_on(Session& session, const Strided& matrix, bool in_place, bool check, const char* what)
{
    if (in_place && matrix.column_major()) {
        if (check && !all_finite<T>(session, matrix)) not_finite();
        return {static_cast<T*>(matrix.data), matrix.leading(), {}};
    }
    const Index rows = matrix.rows;
    Scratch scratch(sizeof(T) * static_cast<std::size_t>(rows) * static_cast<std::size_t>(matrix.cols), what);
    T* const data = static_cast<T*>(scratch.data());
    if (!copy(session, matrix, data, rows, check)) not_finite();
    return {data, rows, std::move(scratch)};
}

/// Copies b into x (unless they are one) and conjugates it where A is seen conjugated.
template <Scalar T>
void prepare_right_side(Session& session, const Strided& b, Buffer::ColumnMajor<T>& x, bool in_place, bool conjugated, bool check)
{
    const bool good = in_place ? !check || all_finite<T>(session, b) : copy(session, b, x.data, x.ld, check);
    if (!good) not_finite();
    if (conjugated) conjugate(session, x.rows, x.cols, x.data, x.ld);
}

/// An upper bound of 1 / cond_2 from the factor's diagonal: (min l_ii / max l_ii)^2. Free, and never too small, so what it calls
/// ill-conditioned is.
template <Scalar T> double rcond_bound(const T* factor, Index n, Index ld)
{
    double least = std::numeric_limits<double>::infinity(), most = 0;
    for (Index i = 0; i < n; ++i) {
        const double pivot = std::abs(std::real(factor[i + i * ld]));
        least = std::min(least, pivot);
        most = std::max(most, pivot);
    }
    const double ratio = least / most;
    return ratio * ratio;
}

} // namespace trencadis::python
