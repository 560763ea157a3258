// Cholesky factorizations side by side, for one instruction set; internal linkage as in micro_kernel_body.hpp.
#pragma once
#include "blas/micro/lane_solve.hpp"

namespace trencadis::blas {
namespace {

/// LaneKernels::cholesky, from the left in blocks of M x N elements in registers. Of an upper triangle A = U^H U the transpose is
/// factored as a lower one: that is the factor of A's conjugate.
template <Scalar T, int Bytes, int M, int N> struct LaneCholesky {
    using L = Lanes<T, Bytes>;
    using R = typename L::R;
    using V = typename L::V;
    using Plane = Grid<R>;
    LaneArea<T, Bytes> area;
    const Batch<T>& batch;
    Plane S;
    LaneMoves<T, Bytes> moves;

    explicit LaneCholesky(const LaneProblems<T>& problems)
        : area(problems), batch(area.x.batch), S(area.matrix), moves(batch.A, batch.stride_a, batch.count)
    {
    }
    static void run(const LaneProblems<T>& problems)
    {
        LaneCholesky one(problems);
        one.factor();
        if (problems.batch.nrhs > 0) one.solve();
    }

    void factor()
    {
        for (Index k = 0; k < batch.count; ++k) batch.info[k] = 0;
        move<false>();
        Index j = 0;
        for (; j + N <= batch.n; j += N) panel<N>(j);
        for (; j < batch.n; ++j) panel<1>(j);
        moves.keep([&](Index lane) { return lane < batch.count && !area.failed(lane); });
        move<true>();
    }
    template <bool write> void move() const
    {
        const bool lower = batch.uplo == Uplo::lower;
        for (Index j = 0; j < batch.n; ++j)
            if (lower) moves.template column<write>(j, j, batch.lda, batch.n - j, S.at(j, j).data, S.rs);
            else moves.template column<write>(0, j, batch.lda, j + 1, S.at(j, 0).data, S.cs);
    }

    template <int cols> void panel(Index j)
    {
        V inverse[cols];
        diagonal<cols>(j, inverse);
        Index i = j + cols;
        for (; i + M <= batch.n; i += M) below<M, cols>(i, j, inverse);
        for (; i < batch.n; ++i) below<1, cols>(i, j, inverse);
    }
    template <int cols> void diagonal(Index j, V (&inverse)[cols])
    {
        LaneBlock<T, Bytes, cols, cols> block;
        block.template load<true>(S.at(j, j));
        if constexpr (is_complex<T>) // counts as zero, whatever it is
#pragma GCC unroll 8
            for (int c = 0; c < cols; ++c) block.sum[c][c].part[1] = V{};
        block.template subtract<Conjugate::right, true>(j, S.at(j, 0), S.at(j, 0).transposed());
#pragma GCC unroll 8
        for (int c = 0; c < cols; ++c) {
            if (!positive(block.sum[c][c].part[0])) {
                block.template save<true>(S.at(j, j));
                give_up(j + c, j, j + cols);
                block.template load<true>(S.at(j, j));
            }
            const V root = square_root(block.sum[c][c].part[0]);
            inverse[c] = 1 / root;
            block.sum[c][c] = {{root}};
#pragma GCC unroll 8
            for (int i = c + 1; i < cols; ++i) block.sum[i][c] = L::times(block.sum[i][c], inverse[c]);
#pragma GCC unroll 8
            for (int q = c + 1; q < cols; ++q)
#pragma GCC unroll 8
                for (int i = q; i < cols; ++i)
                    L::template subtract<Conjugate::right>(block.sum[i][q], block.sum[i][c], block.sum[q][c]);
        }
        block.template save<true>(S.at(j, j));
    }
    template <int rows, int cols> void below(Index i, Index j, const V (&inverse)[cols])
    {
        LaneBlock<T, Bytes, rows, cols> block;
        block.load(S.at(i, j));
        block.template subtract<Conjugate::right>(j, S.at(i, 0), S.at(j, 0).transposed());
#pragma GCC unroll 8
        for (int q = 0; q < cols; ++q) {
#pragma GCC unroll 8
            for (int p = 0; p < q; ++p) {
                const typename L::Number factor = L::load(S.at(j + q, j + p).data);
#pragma GCC unroll 8
                for (int r = 0; r < rows; ++r) L::template subtract<Conjugate::right>(block.sum[r][q], block.sum[r][p], factor);
            }
#pragma GCC unroll 8
            for (int r = 0; r < rows; ++r) block.sum[r][q] = L::times(block.sum[r][q], inverse[q]);
        }
        block.save(S.at(i, j));
    }

    [[gnu::always_inline]] static bool positive(V pivots)
    {
        R pivot[L::width];
        L::Vec::save(pivot, pivots);
        bool all = true;
        for (int lane = 0; lane < L::width; ++lane) all &= pivot[lane] > 0; // NaN is not
        return all;
    }
    [[gnu::always_inline]] static V square_root(V v)
    {
        R x[L::width];
        L::Vec::save(x, v);
        for (int lane = 0; lane < L::width; ++lane)
            if constexpr (sizeof(R) == sizeof(float)) x[lane] = __builtin_sqrtf(x[lane]);
            else x[lane] = __builtin_sqrt(x[lane]);
        return L::Vec::load(x);
    }

    /// Matrices whose pivot k is not positive: what is known of their factors is written, and their lanes go on with the
    /// identity. Of the panel that begins at j the rows before `end` are known.
    [[gnu::noinline]] void give_up(Index k, Index j, Index end)
    {
        for (int lane = 0; lane < L::width; ++lane) {
            if (L::number(S, k, k, 0, lane) > 0) continue;
            if (lane < batch.count) {
                batch.info[lane] = k + 1;
                for (Index c = 0; c < k; ++c) write(c, c, c < j ? batch.n : end, lane);
                write(k, k, k + 1, lane);
            }
            L::set_identity(S, batch.n, lane);
        }
    }
    /// Rows [begin, end) of column c of the lower factor.
    void write(Index c, Index begin, Index end, Index lane) const
    {
        const bool lower = batch.uplo == Uplo::lower;
        for (Index i = begin; i < end; ++i) {
            R* const to = moves.matrix[lane] + (lower ? i + c * batch.lda : c + i * batch.lda) * L::parts;
            for (int q = 0; q < L::parts; ++q) to[q] = q == 1 && i == c ? R(0) : L::number(S, i, c, q, lane);
        }
    }

    void solve() const
    {
        const Index n = batch.n;
        const bool conjugated = is_complex<T> && batch.uplo == Uplo::upper;
        area.solve([&](Index cols) {
            if (conjugated) conjugate_right(cols);
            LaneSolve<T, Bytes, M, N, false, Conjugate::none, Pivot::real>::columns(n, cols, S, area.right);
            LaneSolve<T, Bytes, M, N, true, Conjugate::left, Pivot::real>::columns(n, cols, S.transposed(), area.right);
            if (conjugated) conjugate_right(cols);
        });
    }
    void conjugate_right(Index cols) const
    {
        for (Index c = 0; c < cols; ++c)
            for (Index i = 0; i < batch.n; ++i) {
                R* const at = area.right.at(i, c).data + (L::parts - 1) * L::width;
                L::Vec::save(at, -L::Vec::load(at));
            }
    }
};

} // namespace
} // namespace trencadis::blas
