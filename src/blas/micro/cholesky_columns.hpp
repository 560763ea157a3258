// The Cholesky factorization of a small matrix by vectors, for one instruction set; internal linkage as in micro_kernel_body.hpp.
#pragma once
#include "blas/micro/micro_kernel.hpp"
#include "blas/micro/vectors.hpp"

namespace trencadis::blas {
namespace {

/// MicroKernel::factor_triangle. A column is updated by all before it when its turn comes, whose products but the last one's are
/// found while the processor waits for the root before. Columns lie in a work area so that a vector of one is a vector of all:
/// what lies above the diagonal in the first vector of a column is kept zero.
template <Scalar T, int Bytes> struct CholeskyColumns {
    using R = Real<T>;
    using Vec = Vectors<R, Bytes>;
    using V = typename Vec::V;
    static constexpr int parts = planes<T>, N = Vec::lanes / parts; ///< elements of a vector
    static constexpr int tallest = (Bytes == 64 ? 8 : 4) / parts;   ///< vectors whose sums are in registers at a time

    const SmallTriangle<T>& x;
    const Index ldw; ///< of the work area, in real numbers

    static Index factor(const SmallTriangle<T>& triangle)
    {
        const CholeskyColumns columns{triangle, (block(triangle.n - 1) + N) * parts};
        columns.copy_in();
        const Index done = columns.run();
        columns.copy_out(done < triangle.n ? done : triangle.n);
        if (done == triangle.n) return 0;
        triangle.A[done * (triangle.lda + 1)] = columns.column(done)[done * parts];
        return done + 1;
    }

private:
    [[gnu::always_inline]] R* column(Index p) const { return x.work + p * ldw; }
    [[gnu::always_inline]] static Index block(Index i) { return i / N * N; }

    void copy_in() const
    {
        if (x.lower)
            for (Index p = 0; p < x.n; ++p) {
                const R* const from = reinterpret_cast<const R*>(x.A + p * x.lda);
                R* const to = column(p);
                Vec::save(to + block(p) * parts, V{}); // above the diagonal, and behind the last row
                Vec::save(to + block(x.n - 1) * parts, V{});
                for (Index i = p; i < x.n; i += N) Vec::save(to + i * parts, Vec::load_some(from + i * parts, (x.n - i) * parts));
            }
        else
            for_squares(x.n, [&](V(&square)[N], Index row, Index col) {
                for (int c = 0; c < N; ++c)
                    square[c] = col + c < x.n ? Vec::load_some(upper(row, col + c), reach(row, col + c)) : V{};
                turn(square);
                for (int r = 0; r < N && row + r < x.n; ++r) Vec::save(column(row + r) + col * parts, square[r]);
            });
        if constexpr (parts == 2)
            for (Index p = 0; p < x.n; ++p) column(p)[2 * p + 1] = 0;
    }
    /// The first `count` columns of L.
    void copy_out(Index count) const
    {
        if (x.lower)
            for (Index p = 0; p < count; ++p) {
                const R* const from = column(p);
                R* const to = reinterpret_cast<R*>(x.A + p * x.lda);
                for (Index i = p; i < x.n; i += N) Vec::save_some(to + i * parts, Vec::load(from + i * parts), (x.n - i) * parts);
            }
        else
            for_squares(count, [&](V(&square)[N], Index row, Index col) {
                for (int r = 0; r < N; ++r) square[r] = row + r < count ? Vec::load(column(row + r) + col * parts) : V{};
                turn(square);
                for (int c = 0; c < N && col + c < x.n; ++c) {
                    const Index rows = count - row;
                    const Index most = reach(row, col + c);
                    Vec::save_some(upper(row, col + c), square[c], rows * parts < most ? rows * parts : most);
                }
            });
    }
    /// Of an upper triangle.
    [[gnu::always_inline]] R* upper(Index row, Index col) const { return reinterpret_cast<R*>(x.A + row + col * x.lda); }
    /// So many real numbers a vector from `row` on has down to the diagonal of a column.
    [[gnu::always_inline]] static Index reach(Index row, Index col) { return (col - row < N ? col - row + 1 : N) * parts; }
    /// visit(vectors, row, col) for the squares of an upper triangle that have rows before `rows`.
    template <class Visit> [[gnu::always_inline]] void for_squares(Index rows, const Visit& visit) const
    {
        for (Index row = 0; row < rows; row += N)
            for (Index col = row; col < x.n; col += N) {
                V square[N];
                visit(square, row, col);
            }
    }
    /// To the conjugate transpose.
    [[gnu::always_inline]] static void turn(V (&square)[N])
    {
        Vec::template transpose<parts>(square);
        if constexpr (parts == 2)
#pragma GCC unroll 8
            for (int i = 0; i < N; ++i) square[i] = Vec::negate_odd(square[i]);
    }

    /// `count` vectors of column j, from row `first` on: what the columns before it subtract.
    template <int count> [[gnu::always_inline]] void update(Index j, Index first) const
    {
        R* const y = column(j) + first * parts;
        V sum[count], crossed[count];
#pragma GCC unroll 8
        for (int i = 0; i < count; ++i) {
            sum[i] = Vec::load(y + i * Vec::lanes);
            crossed[i] = V{};
        }
        for (Index p = 0; p < j; ++p) {
            const R* const l = column(p) + first * parts;
            const R* const factor = column(p) + j * parts;
#pragma GCC unroll 8
            for (int i = 0; i < count; ++i) {
                const V v = Vec::load(l + i * Vec::lanes);
                sum[i] -= v * factor[0];
                if constexpr (parts == 2) crossed[i] += v * factor[1];
            }
        }
#pragma GCC unroll 8
        for (int i = 0; i < count; ++i) {
            if constexpr (parts == 2) sum[i] -= Vec::negate_odd(Vec::swap_pairs(crossed[i]));
            Vec::save(y + i * Vec::lanes, sum[i]);
        }
    }
    template <int count> [[gnu::always_inline]] void update_all(Index j, Index first) const
    {
        for (; x.n - first > (count - 1) * N; first += count * N) update<count>(j, first);
        if constexpr (count > 1) update_all<count - 1>(j, first);
    }
    /// A real number in all elements.
    [[gnu::always_inline]] static V pair(R value)
    {
        if constexpr (parts == 1) return value - V{};
        else return Vec::interleave_low(value - V{}, V{});
    }
    /// Divides column j by the root of its pivot, which becomes the root; zeros above it. By whole vectors, which the next column
    /// can read at once.
    [[gnu::always_inline]] void scale(Index j, R pivot) const
    {
        const R root = sizeof(R) == 4 ? __builtin_sqrtf(pivot) : __builtin_sqrt(pivot), inverse = 1 / root;
        R* const y = column(j);
        const Index first = block(j) * parts, end = x.n * parts, own = j * parts - first;
        V v = Vec::load(y + first) * inverse;
        v = Vec::from(own + parts) ? v : Vec::from(own) ? pair(root) : V{};
        Vec::save(y + first, v);
        for (Index i = first + Vec::lanes; i < end; i += Vec::lanes) Vec::save(y + i, Vec::load(y + i) * inverse);
    }
    /// Columns until a pivot is not positive.
    Index run() const
    {
        for (Index j = 0; j < x.n; ++j) {
            update_all<tallest>(j, block(j));
            const R pivot = column(j)[j * parts];
            if (!(pivot > 0)) return j; // NaN as well
            scale(j, pivot);
        }
        return x.n;
    }
};

} // namespace
} // namespace trencadis::blas
