#pragma once
#include "base/scalar.hpp"
#include "base/types.hpp"

#include <algorithm>

/// Operation counts of the tile kernels of LU and QR, in real additions and multiplications; complex kernels do four times
/// as many. Leading terms, as everywhere in this library, with what inner blocking adds: a kernel works on `ib` columns at a time
/// and applies each such block as matrix products. These are the counts of Buttari, Langou, Kurzak, Dongarra, "A class of
/// parallel tiled linear algebra algorithms for multicore architectures", 2009; with ib = nb = m they give its 2, 3, 10/3 and 5
/// b^3 for QR and 2/3, 1, 1 and 3 b^3 for LU. Summed over a matrix: LU 2/3 n^3 (1 + ib/(2 nb)), QR 4/3 n^3 (1 + ib/(4 nb)).
namespace trencadis::kernel_flops {

template <Scalar T> constexpr double weight_of = flops_per_fma<T> / 2; ///< real operations per operation of the precision

/// Calls `visit(begin, width)` for each inner block of `columns`.
template <class Visit> void for_each_inner_block(Index columns, Index ib, Visit&& visit)
{
    for (Index begin = 0; begin < columns; begin += ib) visit(double(begin), double(std::min(ib, columns - begin)));
}

/// Sum of the squared widths of the inner blocks of `columns`.
inline Flops squared_blocks(Index columns, Index ib)
{
    const Index whole = columns / ib, rest = columns % ib;
    return double(whole) * double(ib) * double(ib) + double(rest) * double(rest);
}

/// LU of an m x n matrix: n^2 m - n^3/3 for m >= n, and the same mirrored.
inline Flops getrf(double m, double n)
{
    const double k = std::min(m, n);
    return 2 * m * n * k - (m + n) * k * k + 2.0 / 3 * k * k * k;
}

/// Solve with a unit lower triangle of order m for n columns, rows interchanged.
inline Flops gessm(double m, double n) { return m * m * n; }

/// Interchanges of so many rows of n columns: one operation an entry, so that they are known to take time where whole columns
/// would have to be brought to whoever makes them.
inline Flops laswp(double count, double n) { return count * n; }

/// LU of a triangle n x n on top of a tile m x n.
inline Flops tstrf(Index m, Index n, Index ib)
{
    Flops sum = double(m) * double(n) * double(n);
    for_each_inner_block(n, ib, [&](double begin, double width) { sum += width * width * (double(n) - begin - width); });
    return sum;
}

/// Its application to k rows on top of m rows, n columns.
inline Flops ssssm(Index m, Index n, Index k, Index ib)
{
    return double(n) * (2 * double(m) * double(k) + squared_blocks(k, ib));
}

/// QR of an m x n tile, with the triangular factors T of its blocks.
inline Flops geqrt(Index m, Index n, Index ib)
{
    Flops sum = 2 * getrf(double(m), double(n));
    for_each_inner_block(std::min(m, n), ib, [&](double begin, double width) {
        sum += width * width * (double(m) - begin - width / 3 + double(n) - begin - width);
    });
    return sum;
}

/// Its application to an m x n tile, k reflectors.
inline Flops unmqr(Index m, Index n, Index k, Index ib)
{
    return double(n) * (4 * double(m) * double(k) - 2 * double(k) * double(k) + squared_blocks(k, ib));
}

/// QR of a triangle n x n on top of a tile m x n.
inline Flops tsqrt(Index m, Index n, Index ib)
{
    Flops sum = 2 * double(m) * double(n) * double(n);
    for_each_inner_block(
        n, ib, [&](double begin, double width) { sum += width * width * (double(m) + width / 3 + double(n) - begin - width); });
    return sum;
}

/// Its application to k rows on top of m rows, n columns.
inline Flops tsmqr(Index m, Index n, Index k, Index ib)
{
    return double(n) * (4 * double(m) * double(k) + squared_blocks(k, ib));
}

/// QR of a triangle n x n on top of the upper trapezoid of a tile m x n: column j has min(j, m) entries below R's diagonal. With
/// m = n = b and small inner blocks the 2/3 and 2 b^3 of Bouwmeester, Jacquelin, Langou, Robert 2011.
inline Flops ttqrt(Index m, Index n, Index ib)
{
    const double columns = double(n), rows = double(std::min(m, n)), rest = columns - rows;
    Flops sum = 2 * columns * rows * rows - 4.0 / 3 * rows * rows * rows + 2 * rows * rest * rest;
    for_each_inner_block(n, ib, [&](double begin, double width) {
        sum += width * width * (std::min(begin + width / 2, rows) + width / 3 + columns - begin - width);
    });
    return sum;
}

/// Its application to k rows on top of m rows, n columns.
inline Flops ttmqr(Index m, Index n, Index k, Index ib)
{
    const double rows = double(std::min(m, k));
    return double(n) * (4 * double(k) * rows - 2 * rows * rows + squared_blocks(k, ib));
}

} // namespace trencadis::kernel_flops
