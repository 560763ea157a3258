#pragma once
#include "base/types.hpp"
#include "matrix/ops.hpp"

#include <algorithm>
#include <cstddef>

namespace trencadis {

/// The elements of a column-major matrix that a routine touches: all of them, or one triangle.
struct Region {
    enum class Shape { all, lower, upper };
    const void* data;
    Index rows, cols, ld;
    std::size_t element; ///< bytes
    Shape shape;

    template <Scalar T> static Region all(const T* A, Index rows, Index cols, Index ld)
    {
        return {A, rows, cols, ld, sizeof(T), Shape::all};
    }
    template <Scalar T> static Region triangle(Uplo uplo, const T* A, Index n, Index ld) { return trapezoid(uplo, A, n, n, ld); }
    template <Scalar T> static Region trapezoid(Uplo uplo, const T* A, Index rows, Index cols, Index ld)
    {
        return {A, rows, cols, ld, sizeof(T), uplo == Uplo::lower ? Shape::lower : Shape::upper};
    }
    /// Does it have elements in rows [r0, r1) of columns [c0, c1)?
    bool meets(Index r0, Index r1, Index c0, Index c1) const
    {
        r0 = std::max<Index>(r0, 0), r1 = std::min(r1, rows), c0 = std::max<Index>(c0, 0), c1 = std::min(c1, cols);
        if (r0 >= r1 || c0 >= c1) return false;
        return shape == Shape::all || (shape == Shape::lower ? r1 - 1 >= c0 : c1 - 1 >= r0);
    }
};

/// Do two regions share elements? Exact for blocks of one matrix, that is, with the same leading dimension and one of them not a
/// triangle; blocks of different leading dimensions are only seen to overlap where they begin at the same place. A region whose
/// pattern is unusual is thus let through, never one refused that is in order.
inline bool overlap(const Region& a, const Region& b)
{
    if (a.rows == 0 || a.cols == 0 || b.rows == 0 || b.cols == 0) return false;
    if (a.data == b.data) return true;
    const std::ptrdiff_t bytes = static_cast<const char*>(b.data) - static_cast<const char*>(a.data);
    if (a.ld != b.ld || bytes % std::ptrdiff_t(a.element) != 0) return false;
    // Where b begins, seen from a: in the column that the distance says, or above the top of the next one.
    const Index distance = bytes / std::ptrdiff_t(a.element);
    Index col = distance / a.ld, row = distance % a.ld;
    if (row < 0) row += a.ld, --col;
    const auto met_at = [&](Index r, Index c) {
        return a.meets(r, r + b.rows, c, c + b.cols) && b.meets(-r, a.rows - r, -c, a.cols - c);
    };
    return met_at(row, col) || met_at(row - a.ld, col + 1);
}

} // namespace trencadis
