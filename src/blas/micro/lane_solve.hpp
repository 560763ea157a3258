// Right sides of matrices side by side, for one instruction set; internal linkage as in micro_kernel_body.hpp.
#pragma once
#include "blas/micro/lane_moves.hpp"

namespace trencadis::blas {
namespace {

/// The work area: the matrices, and behind them some columns of their right sides.
template <Scalar T, int Bytes> struct LaneArea {
    using L = Lanes<T, Bytes>;
    using R = typename L::R;
    const LaneProblems<T>& x;
    Grid<R> matrix, right;

    explicit LaneArea(const LaneProblems<T>& problems)
        : x(problems), matrix{x.work, L::step, L::step * LaneKernels<T>::leading(x.batch.m)}, right(matrix.at(0, x.batch.n))
    {
    }
    /// Lanes without a matrix are as that of the last one.
    bool failed(Index lane) const
    {
        const Index count = x.batch.count;
        return x.batch.info[lane < count ? lane : count - 1] != 0;
    }

    /// Calls solve(cols) for strips of B in the work area; systems that have failed keep theirs.
    template <class Solve> void solve(const Solve& solve) const
    {
        const Batch<T>& batch = x.batch;
        const LaneMoves<T, Bytes> in(batch.B, batch.stride_b, batch.count);
        LaneMoves<T, Bytes> out = in;
        out.keep([&](Index lane) { return lane < batch.count && !failed(lane); });
        for (Index j = 0; j < batch.nrhs; j += LaneKernels<T>::strip) {
            const Index left = batch.nrhs - j, cols = left < LaneKernels<T>::strip ? left : LaneKernels<T>::strip;
            move<false>(in, j, cols);
            for (int lane = 0; lane < L::width; ++lane)
                if (failed(lane)) L::clear(right, batch.n, cols, lane);
            solve(cols);
            move<true>(out, j, cols);
        }
    }
    template <bool write> void move(const LaneMoves<T, Bytes>& moves, Index j, Index cols) const
    {
        for (Index c = 0; c < cols; ++c)
            moves.template column<write>(0, j + c, x.batch.ldb, x.batch.n, right.at(0, c).data, L::step);
    }
};

} // namespace
} // namespace trencadis::blas
