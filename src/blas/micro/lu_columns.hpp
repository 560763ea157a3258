// LU of a few columns by vectors, for one instruction set; internal linkage as in micro_kernel_body.hpp.
#pragma once
#include "blas/micro/micro_kernel.hpp"
#include "blas/micro/vectors.hpp"

#include <limits>

namespace trencadis::blas {
namespace {

constexpr Index small_lu = 32; ///< rows of a matrix that is small; as in factorizations/getrf.cpp
constexpr Index tiny_lu = 7;   ///< rows up to which products are summed before they are subtracted

/// MicroKernel::factor_columns. A column is updated by all before it when its turn comes, which reads those and writes one,
/// and its largest
/// entry is found on the way. A row that has become a pivot's leaves the work area for the result, and zeros take its place:
/// so every
/// loop begins at a whole vector, and what lies above the pivot neither needs a mask nor is ever the largest.
///
/// `as_written`: entries are divided by the pivot, and products are rounded before they are subtracted, as the formulas
/// stand. Then what cancels in
/// a singular matrix of small integers cancels here too more often than with an inverse or fused operations, and the pivot is
/// found to be
/// zero; it costs twice the operations, which small matrices do not feel. Of at most tiny_lu rows, an entry's products are summed
/// up first: the sum is off by a rounding or two, and comes out as the integer that it is subtracted from more often than one
/// difference after the other comes out as zero. With more rows that is so no longer where rows are sums of two others.
template <Scalar T, int Bytes, bool as_written> struct ColumnFactors {
    using R = Real<T>;
    using Vec = Vectors<R, Bytes>;
    using V = typename Vec::V;
    using I = decltype(V{} < V{}); ///< as many integers as wide as R
    static constexpr int lanes = Vec::lanes, parts = is_complex<T> ? 2 : 1;
    static constexpr int N = lanes / parts;   ///< elements of a vector
    static constexpr int tallest = 8 / parts; ///< vectors whose sums are in registers at a time
    static constexpr R least = -1;            ///< of moduli: less than any number's
    struct Largest {
        V modulus = V{} + least;
        I block = {}; ///< the row where the block begins in which it was met first
    };

    const LuColumns<T>& x;
    R* W; ///< the work area: columns as in memory, whole vectors, 64-byte aligned
    R* U; ///< finished rows of U, zeros before the diagonal
    R* row;
    Index rows, ldw, ldu;    ///< in elements; ldu: of a row of U
    bool sums_first = false; ///< only as written

    [[gnu::always_inline]] R* column(Index c) const { return W + c * ldw * parts; }

    [[gnu::always_inline]] static V modulus(V v)
    {
        v = reinterpret_cast<V>(reinterpret_cast<I>(v) & ~reinterpret_cast<I>(-V{}));
        if constexpr (parts == 2) v += Vec::swap_pairs(v);
        return v;
    }
    static R modulus(const R* v)
    {
        const R re = v[0] < 0 ? -v[0] : v[0], im = v[parts - 1] < 0 ? -v[parts - 1] : v[parts - 1];
        return parts == 2 ? re + im : re;
    }
    [[gnu::always_inline]] static V times(V v, const R* factor)
    {
        if constexpr (as_written) return v / (factor[0] - V{});
        else if constexpr (parts == 1) return v * factor[0];
        else return v * factor[0] - Vec::negate_odd(Vec::swap_pairs(v) * factor[1]);
    }

    /// y <- y - X s for `count` vectors of rows and k columns of X, whose last one is multiplied by `scale` first, where
    /// there is one.
    template <int count>
    [[gnu::always_inline]] void update(Index k, R* X, Index ldx, const R* s, Index incs, const R* scale, R* y, Largest* best,
                                       Index block) const
    {
        V sum[count][parts];
#pragma GCC unroll 8
        for (int i = 0; i < count; ++i) {
            sum[i][0] = as_written && sums_first ? -V{} : Vec::load(y + i * lanes); // y - 0 is y, whatever the sign of its zero
            if constexpr (parts == 2) sum[i][1] = V{};
        }
        const Index plain = scale ? k - 1 : k;
        for (Index p = 0; p < plain; ++p, X += ldx * parts, s += incs * parts)
#pragma GCC unroll 8
            for (int i = 0; i < count; ++i) subtract(sum[i], Vec::load(X + i * lanes), s);
        if (scale)
#pragma GCC unroll 8
            for (int i = 0; i < count; ++i) {
                const V l = times(Vec::load(X + i * lanes), scale);
                Vec::save(X + i * lanes, l);
                subtract(sum[i], l, s);
            }
        V largest = V{} + least;
#pragma GCC unroll 8
        for (int i = 0; i < count; ++i) {
            if constexpr (parts == 2) sum[i][0] += Vec::negate_odd(Vec::swap_pairs(sum[i][1]));
            if (as_written && sums_first) sum[i][0] += Vec::load(y + i * lanes);
            Vec::save(y + i * lanes, sum[i][0]);
            const V size = modulus(sum[i][0]);
            largest = size > largest ? size : largest; // not where it is no number
        }
        if (!best) return;
        const I larger = largest > best->modulus;
        best->modulus = larger ? largest : best->modulus;
        best->block = larger ? I{} + static_cast<decltype(best->block[0] + 0)>(block) : best->block;
    }
    /// Subtracts l s. The products with the imaginary part of a complex s are summed apart, to be turned in the end.
    [[gnu::always_inline]] static void subtract(V (&sum)[parts], V l, const R* s)
    {
        if constexpr (as_written) sum[0] -= rounded(l * s[0]);
        else sum[0] -= l * s[0];
        if constexpr (parts == 2) sum[1] += l * s[1];
    }
    /// The same for elements [begin, end), whole vectors.
    template <int count>
    [[gnu::always_inline]] void update_all(Index begin, Index end, Index k, R* X, Index ldx, const R* s, Index incs,
                                           const R* scale, R* y, Largest* best) const
    {
        for (; end - begin >= count * N; begin += count * N)
            update<count>(k, X + begin * parts, ldx, s, incs, scale, y + begin * parts, best, begin);
        if constexpr (count > 1) update_all<count / 2>(begin, end, k, X, ldx, s, incs, scale, y, best);
    }

    void copy_in() const
    {
        for (Index c = 0; c < x.n; ++c) {
            const R* const from = reinterpret_cast<const R*>(x.A + c * x.lda);
            R* const to = column(c);
            for (Index i = 0; i < rows; i += N) Vec::save(to + i * parts, Vec::load_some(from + i * parts, (x.m - i) * parts));
        }
    }
    /// May products be summed up first? What is left of an entry grows by a factor of two in a step at most, so that the sum
    /// does not overflow.
    bool is_tiny() const
    {
        if (!as_written || x.m > tiny_lu) return false;
        constexpr R far_from_the_largest = std::numeric_limits<R>::max() / (2 << tiny_lu);
        V largest = {};
        for (Index c = 0; c < x.n; ++c)
            for (Index i = 0; i < rows; i += N) {
                const V size = modulus(Vec::load(column(c) + i * parts));
                largest = size > largest ? size : largest;
            }
        R sizes[lanes];
        Vec::save(sizes, largest);
        bool large = false;
        for (const R size : sizes) large |= size > far_from_the_largest;
        return !large;
    }
    /// What lies below the pivots; `scale`: of the last column.
    void copy_out(const R* scale) const
    {
        for (Index c = 0; c < x.n; ++c) {
            R* const to = reinterpret_cast<R*>(x.A + c * x.lda);
            const R* const from = column(c);
            for (Index i = x.n; i < x.m; i += N) {
                V v = Vec::load_some(from + i * parts, (x.m - i) * parts);
                if (scale && c == x.n - 1) v = times(v, scale);
                Vec::save_some(to + i * parts, v, (x.m - i) * parts);
            }
        }
    }

    /// The first of the largest entries of column j from row j down; as LAPACK's xAMAX that is row j where its entry is
    /// no number.
    Index find_pivot(Index j, const Largest& best) const
    {
        const R* const entries = column(j);
        R sizes[lanes], most = least;
        Vec::save(sizes, best.modulus);
        for (const R size : sizes) most = size > most ? size : most;
        const R first = modulus(entries + j * parts);
        if (!(first < most)) return j;
        Index found = rows;
        for (int lane = 0; lane < lanes; lane += parts) {
            if (sizes[lane] != most) continue;
            Index i = Index(best.block[lane]) + lane / parts;
            while (i < found && modulus(entries + i * parts) != most) i += N;
            found = i < found ? i : found;
        }
        return found;
    }

    /// Row p of the work area becomes row j of the result, and row j's entries take its place.
    void take_row(Index j, Index p) const
    {
        for (Index c = 0; c < x.n; ++c) {
            R* const entries = column(c);
            R* const final = U + (j * ldu + c) * parts;
#pragma GCC unroll 2
            for (int q = 0; q < parts; ++q) {
                row[c * parts + q] = entries[p * parts + q];
                entries[p * parts + q] = entries[j * parts + q];
                entries[j * parts + q] = 0;
                final[q] = c > j ? row[c * parts + q] : 0;
            }
        }
        update_all<2>(0, ldu, j, U, ldu, row, 1, nullptr, U + j * ldu * parts, nullptr);
        for (Index c = 0; c < x.n; ++c) {
            R* const to = reinterpret_cast<R*>(x.A + j + c * x.lda);
            const R* const from = c > j ? U + (j * ldu + c) * parts : row + c * parts;
#pragma GCC unroll 2
            for (int q = 0; q < parts; ++q) to[q] = from[q];
        }
    }

    Index factor()
    {
        Index info = 0;
        R inverse[2];
        const R* scale = nullptr;
        copy_in();
        sums_first = is_tiny();
        for (Index c = 0; c < ldu * parts; ++c) row[c] = 0;
        for (Index c = 0; c < x.n * ldu * parts; ++c) U[c] = 0;
        for (Index j = 0; j < x.n; ++j) {
            Largest best;
            update_all<tallest>(j / N * N, rows, j, W, ldw, U + j * parts, ldu, scale, column(j), &best);
            const Index p = find_pivot(j, best);
            x.pivots[j] = p + 1;
            take_row(j, p);
            const T* const pivot = reinterpret_cast<const T*>(row + j * parts);
            scale = nullptr;
            if (modulus(row + j * parts) == 0) info = info ? info : j + 1;
            else if constexpr (as_written) scale = row + j;
            else if (x.invert(pivot, reinterpret_cast<T*>(inverse))) scale = inverse;
            else x.divide(x.m - j - 1, reinterpret_cast<T*>(column(j)) + j + 1, pivot);
        }
        copy_out(scale);
        return info;
    }
};

template <Scalar T, int Bytes, bool as_written> Index factor_columns_by(const LuColumns<T>& x)
{
    using Factors = ColumnFactors<T, Bytes, as_written>;
    constexpr Index line = 64 / Index(sizeof(T)), N = Factors::N;
    const Index ldu = (x.n + N - 1) / N * N;
    Real<T>* const W = x.work;
    Real<T>* const U = W + x.ldw * x.n * Factors::parts;
    static_assert(line >= 4);
    return Factors{x, W, U, U + ldu * x.n * Factors::parts, (x.m + N - 1) / N * N, x.ldw, ldu}.factor();
}

template <Scalar T, int Bytes> Index factor_columns(const LuColumns<T>& x)
{
    if constexpr (!is_complex<T>)
        if (x.m <= small_lu) return factor_columns_by<T, Bytes, true>(x);
    return factor_columns_by<T, Bytes, false>(x);
}

} // namespace
} // namespace trencadis::blas
