// LU factorizations side by side, for one instruction set; internal linkage as in micro_kernel_body.hpp.
#pragma once
#include "blas/micro/lane_solve.hpp"

namespace trencadis::blas {
namespace {

/// LaneKernels::lu, from the left: a panel of N columns is updated by all before it in blocks of M x N elements in registers,
/// then factored column by column. Each lane searches and exchanges rows for itself.
template <Scalar T, int Bytes, int M, int N> struct LaneLu {
    using L = Lanes<T, Bytes>;
    using R = typename L::R;
    using V = typename L::V;
    using I = typename L::I;
    using Integer = __typeof__(I{}[0] + 0);
    using Number = typename L::Number;
    using Plane = Grid<R>;
    static constexpr int width = L::width, parts = L::parts;
    struct Largest {
        V modulus;
        I row;
    };
    LaneArea<T, Bytes> area;
    const Batch<T>& batch;
    Plane S;
    Index steps;

    explicit LaneLu(const LaneProblems<T>& problems) : area(problems), batch(area.x.batch), S(area.matrix), steps(batch.steps())
    {
    }
    static void run(const LaneProblems<T>& problems)
    {
        const LaneLu one(problems);
        one.factor();
        if (problems.batch.nrhs > 0) one.solve();
    }

    void factor() const
    {
        for (Index k = 0; k < batch.count; ++k) batch.info[k] = 0;
        LaneMoves<T, Bytes> moves(batch.A, batch.stride_a, batch.count);
        move<false>(moves);
        Index j = 0;
        for (; j + N <= steps; j += N) panel<N>(j);
        for (; j < steps; ++j) panel<1>(j);
        LaneSolve<T, Bytes, M, N, false, Conjugate::none, Pivot::unit>::columns(steps, batch.n - steps, S, S.at(0, steps));
        moves.keep([&](Index lane) { return lane < batch.count; });
        move<true>(moves);
    }
    template <bool write> void move(const LaneMoves<T, Bytes>& moves) const
    {
        for (Index j = 0; j < batch.n; ++j) moves.template column<write>(0, j, batch.lda, batch.m, S.at(0, j).data, S.rs);
    }

    template <int cols> void panel(Index j) const
    {
        LaneSolve<T, Bytes, M, N, false, Conjugate::none, Pivot::unit>::template strip<cols>(j, S, S.at(0, j));
        Index i = j;
        for (; i + M <= batch.m; i += M) below<M, cols>(i, j);
        for (; i < batch.m; ++i) below<1, cols>(i, j);
        step<cols, 0>(j, over_rows(j, [&](Index r) { return L::modulus(L::load(S.at(r, j).data)); }));
        for (Index c = 0; c < j; ++c) exchange(j, j + cols, c);
        for (Index c = j + cols; c < batch.n; ++c) exchange(j, j + cols, c);
    }
    template <int rows, int cols> void below(Index i, Index j) const
    {
        LaneBlock<T, Bytes, rows, cols> block;
        block.load(S.at(i, j));
        block.template subtract<Conjugate::none>(j, S.at(i, 0), S.at(0, j));
        block.save(S.at(i, j));
    }

    /// Column c of the panel at j and those behind it, whose largest entry has been found.
    template <int cols, int c> void step(Index j, const Largest& best) const
    {
        const Index k = j + c;
        choose(k, best.row);
        for (int q = 0; q < cols; ++q) exchange(k, k + 1, j + q);
        Largest next;
        if (ordinary(best.modulus)) {
            const typename L::Divisor pivot(L::load(S.at(k, k).data));
            next = eliminate<cols - 1 - c, true>(k, pivot.inverse());
        } else {
            scale_with_care(k);
            next = eliminate<cols - 1 - c, false>(k, {});
        }
        if constexpr (c + 1 < cols) step<cols, c + 1>(j, next);
    }
    /// Takes each lane's pivot for row k.
    void choose(Index k, I rows) const
    {
        Integer row[width];
        __builtin_memcpy(row, &rows, sizeof rows);
        Index* const exchanges = area.x.exchanges + k * width;
        for (int lane = 0; lane < width; ++lane) exchanges[lane] = row[lane] * L::step + lane;
        for (Index lane = 0; lane < batch.count; ++lane) batch.pivots[lane * steps + k] = row[lane] + 1;
    }
    /// Rows [begin, end) of column c and those that were chosen for them.
    void exchange(Index begin, Index end, Index c) const { exchange(begin, end, S.at(0, c).data); }
    void exchange(Index begin, Index end, R* column) const
    {
        for (Index k = begin; k < end; ++k) {
            R* const row = column + k * L::step;
            const Index* const other = area.x.exchanges + k * width;
#pragma GCC unroll 16
            for (int lane = 0; lane < width; ++lane)
#pragma GCC unroll 2
                for (int q = 0; q < parts; ++q) {
                    R &a = row[lane + q * width], &b = column[other[lane] + q * width];
                    const R was = a;
                    a = b;
                    b = was;
                }
        }
    }
    /// No pivot is zero or so small that its inverse might overflow. One that is no number is as any other.
    [[gnu::always_inline]] bool ordinary(V moduli) const
    {
        R modulus[width];
        L::Vec::save(modulus, moduli);
        bool small = false;
        for (int lane = 0; lane < width; ++lane) small |= modulus[lane] < area.x.least;
        return !small;
    }

    /// Rows below k of column k become L's, and what they take from the `left` columns behind it is subtracted. The largest
    /// entries of the next column.
    template <int left, bool scale> [[gnu::always_inline]] Largest eliminate(Index k, const Number& inverse) const
    {
        if constexpr (left == 0 && !scale) return {V{}, I{}};
        Number u[left + 1];
#pragma GCC unroll 8
        for (int q = 0; q < left; ++q) u[q] = L::load(S.at(k, k + 1 + q).data);
        return over_rows(
            k + 1, [&](Index i) __attribute__((always_inline)) {
                R* const row = S.at(i, k).data;
                Number l = L::load(row);
                if constexpr (scale) {
                    l = L::times(l, inverse);
                    L::save(row, l);
                }
                V size = {};
#pragma GCC unroll 8
                for (int q = 0; q < left; ++q) {
                    Number y = L::load(row + (q + 1) * S.cs);
                    L::template subtract<Conjugate::none>(y, l, u[q]);
                    L::save(row + (q + 1) * S.cs, y);
                    if (q == 0) size = L::modulus(y);
                }
                return size;
            });
    }
    /// The first of the largest of what visit(i) gives for the rows from `begin` on; `begin` itself where that is no number, as
    /// LAPACK's xAMAX has it. Even and odd rows are searched apart, because comparisons wait for each other.
    template <class Visit> [[gnu::always_inline]] Largest over_rows(Index begin, const Visit& visit) const
    {
        if (begin >= batch.m) return {V{}, I{}};
        I row = I{} + static_cast<Integer>(begin);
        Largest even{visit(begin), row}, odd{V{} - 1, row};
        Index i = begin + 1;
        for (; i + 1 < batch.m; i += 2) {
            consider(odd, visit(i), row + 1);
            row += 2;
            consider(even, visit(i + 1), row);
        }
        if (i < batch.m) consider(odd, visit(i), row + 1);
        const I better = (odd.modulus > even.modulus) | ((odd.modulus == even.modulus) & (odd.row < even.row));
        return {better ? odd.modulus : even.modulus, better ? odd.row : even.row};
    }
    [[gnu::always_inline]] static void consider(Largest& best, V modulus, I row)
    {
        const I larger = modulus > best.modulus;
        best.modulus = larger ? modulus : best.modulus;
        best.row = larger ? row : best.row;
    }

    /// Column k by its pivots where one of them at least is zero, which is told and leaves the column as it is, or small. The
    /// other lanes do what they always do.
    [[gnu::noinline]] void scale_with_care(Index k) const
    {
        const Number pivots = L::load(S.at(k, k).data);
        I scaled = ~(L::modulus(pivots) < area.x.least);
        Number inverse = typename L::Divisor(L::choose(scaled, pivots, {{V{} + 1}})).inverse();
        for (int lane = 0; lane < width; ++lane)
            if (!scaled[lane]) scaled[lane] = has_inverse(k, lane, inverse) ? -1 : 0;
        for (Index i = k + 1; i < batch.m; ++i) {
            R* const at = S.at(i, k).data;
            const Number l = L::load(at);
            L::save(at, L::choose(scaled, L::times(l, inverse), l));
        }
    }
    /// Sets the lane's inverse, or reports a pivot that is zero, or divides the column by a tiny one.
    bool has_inverse(Index k, int lane, Number& inverse) const
    {
        T pivot, entry;
        get(pivot, k, k, lane);
        if (real(pivot)[0] == 0 && real(pivot)[parts - 1] == 0) return report(k, lane), false;
        if (area.x.invert(&pivot, &entry)) {
            for (int q = 0; q < parts; ++q) inverse.part[q][lane] = real(entry)[q];
            return true;
        }
        for (Index i = k + 1; i < batch.m; ++i) {
            get(entry, i, k, lane);
            area.x.divide(1, &entry, &pivot);
            for (int q = 0; q < parts; ++q) L::number(S, i, k, q, lane) = real(entry)[q];
        }
        return false;
    }
    static R* real(T& x) { return reinterpret_cast<R*>(&x); }
    void get(T& x, Index i, Index j, int lane) const
    {
        for (int q = 0; q < parts; ++q) real(x)[q] = L::number(S, i, j, q, lane);
    }
    void report(Index k, Index lane) const
    {
        if (lane < batch.count && batch.info[lane] == 0) batch.info[lane] = k + 1;
    }

    void solve() const
    {
        for (int lane = 0; lane < width; ++lane)
            if (area.failed(lane)) L::set_identity(S, batch.n, lane);
        area.solve([&](Index cols) {
            for (Index c = 0; c < cols; ++c) exchange(0, batch.n, area.right.at(0, c).data);
            LaneSolve<T, Bytes, M, N, false, Conjugate::none, Pivot::unit>::columns(batch.n, cols, S, area.right);
            LaneSolve<T, Bytes, M, N, true, Conjugate::none, Pivot::general>::columns(batch.n, cols, S, area.right);
        });
    }
};

} // namespace
} // namespace trencadis::blas
