#pragma once
#include "blas/level3/past_triangle.hpp"
#include "blas/level3/team_triangle.hpp"
#include "kernels/tiles/chunking.hpp"
#include "kernels/tiles/guard.hpp"
#include "kernels/tiles/operands.hpp"
#include "kernels/tiles/team_operation.hpp"
#include "kernels/tiles/tile_access.hpp"
#include "matrix/conjugate.hpp"
#include "matrix/operations.hpp"

namespace trencadis::task {

/// What is done to a tile with a triangular tile. `solve_apart`: each core solves its part by a call of its own.
enum class Triangular { multiply, solve, solve_apart };

/// B <- alpha op(A) B or alpha B op(A), or with the inverse of op(A), on stored tiles, B m x n. On the left the columns of B are
/// independent, on the right its rows.
template <Scalar T, Triangular what> struct TriangularArgs {
    std::int32_t m, n;
    Side side;
    Uplo uplo;
    Op op;
    Diag diag;
    T alpha;
    Guard guard;
    TeamOperation<blas::TeamTriangle<T>> shared{}; ///< by our own kernels

    bool left() const { return side == Side::left; }
    Index order() const { return left() ? m : n; }
    Index extent() const { return left() ? n : m; }
    Flops flops() const { return operations::triangular(order(), extent()).template flops<T>(); }
    /// Our own kernels pack the triangle once for the whole team.
    bool packs_once(const Kernels* kernels) const
    {
        if (flops() < smallest_shared) return false;
        if constexpr (what == Triangular::solve) return are_native(kernels, KernelRoutine::trsm);
        if constexpr (what == Triangular::multiply)
            return are_native(kernels, KernelRoutine::trmm) &&
                   blas::goes_past_factor(blas::setup<T>(0).kernel, side, order(), extent());
        return false;
    }
    Index chunks(const Kernels* kernels) const
    {
        if (!packs_once(kernels)) return chunk_count(extent(), flops());
        return blas::TeamTriangle<T>::count_chunks(blas::setup<T>(0), extent());
    }
    void release() { shared.release(); }

    void run(TaskContext& context)
    {
        if (!guard.stopped(context)) run_on(context, stored<const T>(context, 0), stored<T>(context, 1));
    }
    bool can_run_on(const ComputeUnit& unit) const { return computes<T>(unit); }
    void run_on_device(TaskContext& context) const requires(what == Triangular::solve)
    {
        if (guard.stopped(context)) return;
        const auto A = stored<const T>(context, 0);
        const auto B = stored<T>(context, 1);
        device_kernels_of<T>(context).trsm(side, uplo, op, diag, m, n, alpha, A.data, A.ld, B.data, B.ld);
    }
    void run_on(TaskContext& context, Stored<const T> A, Stored<T> B)
    {
        const KernelProvider& kernels = kernels_of(context);
        const Index count = chunks(&kernels);
        const auto make = [&] { return by_team(A, B); };
        const bool own_bits = what == Triangular::solve && !blas::TeamTriangle<T>::is_one_block(blas::setup<T>(0), order());
        if (packs_once(&kernels) && count > 1 && own_bits) return shared.run(context.team(), make);
        if (packs_once(&kernels)) return shared.run(context.team(), count, make, [&] { part(kernels, m, n, A, B); });
        while (const auto c = context.team().next()) {
            const Range r = range_of(c, count, extent());
            if (left()) part(kernels, m, r.size(), A, {B.data + r.begin * B.ld, B.ld});
            else part(kernels, r.size(), n, A, {B.data + r.begin, B.ld});
        }
    }
    std::unique_ptr<blas::TeamTriangle<T>> by_team(Stored<const T> A, Stored<T> B) const
    {
        constexpr auto with = what == Triangular::multiply ? blas::WithTriangle::multiply : blas::WithTriangle::solve;
        const auto x = blas::right_upper(side, uplo, op, diag, Index(m), Index(n), A.data, A.ld, B.data, B.ld);
        return std::make_unique<blas::TeamTriangle<T>>(with, x, alpha, blas::setup<T>(0));
    }
    void part(const KernelProvider& kernels, Index rows, Index cols, Stored<const T> A, Stored<T> B) const
    {
        if constexpr (what != Triangular::multiply)
            kernels.trsm(side, uplo, op, diag, rows, cols, alpha, A.data, A.ld, B.data, B.ld);
        else kernels.trmm(side, uplo, op, diag, rows, cols, alpha, A.data, A.ld, B.data, B.ld);
    }
};

/// As the algorithm sees it -> as stored. Stored B holds f(B), and f(A B) is f(B) f(A): the other side. `uplo` is A's triangle
/// as the algorithm sees it; in memory it is the other one when A is stored transposed.
template <Scalar T, Triangular what>
TriangularArgs<T, what> triangular_args(Side side, Uplo uplo, Diag diag, T alpha, Tile<T> A, Tile<T> B, Guard guard)
{
    const Op f = B.op;
    return {std::int32_t(B.stored_rows()),
            std::int32_t(B.stored_cols()),
            f == Op::none ? side : opposite(side),
            A.op == Op::none ? uplo : opposite(uplo),
            compose<T>(f, A.op),
            diag,
            seen_through(f, alpha),
            guard};
}

} // namespace trencadis::task
