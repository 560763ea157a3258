#pragma once
#include "blas/team_solve.hpp"
#include "kernels/chunking.hpp"
#include "kernels/guard.hpp"
#include "kernels/team_operation.hpp"
#include "kernels/tile_access.hpp"
#include "matrix/conjugate.hpp"
#include "matrix/operations.hpp"

namespace trencadis::task {

/// What is done to a tile with a triangular tile.
enum class Triangular { multiply, solve };

/// B <- alpha op(A) B or alpha B op(A), or with the inverse of op(A), on stored tiles, B m x n. On the left the columns of B are
/// independent, on the right its rows.
template <Scalar T, Triangular what> struct TriangularArgs {
    const KernelProvider* kernels;
    const T* A;
    T* B;
    Index lda, ldb;
    std::int32_t m, n;
    Side side;
    Uplo uplo;
    Op op;
    Diag diag;
    T alpha;
    Guard guard;
    TeamOperation<blas::TeamSolve<T>> shared{}; ///< solves only

    bool left() const { return side == Side::left; }
    Index extent() const { return left() ? n : m; }
    Flops flops() const { return operations::triangular(left() ? m : n, extent()).template flops<T>(); }
    /// Our own kernels pack the triangle once for the whole team.
    bool packs_once() const
    {
        return what == Triangular::solve && kernels->native(KernelRoutine::trsm) && flops() >= smallest_shared;
    }
    Index chunks() const
    {
        if (!packs_once()) return chunk_count(extent(), flops());
        return blas::TeamSolve<T>::count_chunks(blas::setup<T>(0), extent());
    }
    void release() { shared.release(); }

    void run(TaskContext& context)
    {
        if (guard.stopped()) return;
        if (packs_once())
            return shared.run(
                context.team(), chunks(), [&] { return solve(); }, [&] { part(m, n, B); });
        while (const auto c = context.team().next()) {
            const Range r = range_of(c, chunks(), extent());
            if (left()) part(m, r.size(), B + r.begin * ldb);
            else part(r.size(), n, B + r.begin);
        }
    }
    std::unique_ptr<blas::TeamSolve<T>> solve() const
    {
        const auto x = blas::right_upper(side, uplo, op, diag, Index(m), Index(n), A, lda, B, ldb);
        return std::make_unique<blas::TeamSolve<T>>(x, alpha, blas::setup<T>(0));
    }
    void part(Index rows, Index cols, T* b) const
    {
        if constexpr (what == Triangular::solve) kernels->trsm(side, uplo, op, diag, rows, cols, alpha, A, lda, b, ldb);
        else kernels->trmm(side, uplo, op, diag, rows, cols, alpha, A, lda, b, ldb);
    }
};

/// As the algorithm sees it -> as stored. Stored B holds f(B), and f(A B) is f(B) f(A): the other side. `uplo` is A's triangle
/// as the algorithm sees it; in memory it is the other one when A is stored transposed.
template <Scalar T, Triangular what>
TriangularArgs<T, what> triangular_args(const KernelProvider& kernels, Side side, Uplo uplo, Diag diag, T alpha, Tile<T> A,
                                        Tile<T> B, Guard guard)
{
    const Op f = B.op;
    return {&kernels,
            A.data,
            B.data,
            A.ld,
            B.ld,
            std::int32_t(B.stored_rows()),
            std::int32_t(B.stored_cols()),
            f == Op::none ? side : opposite(side),
            A.op == Op::none ? uplo : opposite(uplo),
            compose<T>(f, A.op),
            diag,
            seen_through(f, alpha),
            guard};
}

} // namespace trencadis::task
