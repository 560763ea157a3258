#include "kernels/chunking.hpp"
#include "kernels/tile_access.hpp"
#include "kernels/tile_operations.hpp"
#include "matrix/conjugate.hpp"

namespace trencadis::task {
namespace {

/// B <- alpha op(A)^-1 B or alpha B op(A)^-1 on stored tiles, B m x n. On the left the columns of B are independent, on the
/// right its rows.
template <Scalar T> struct TrsmArgs {
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

    bool left() const { return side == Side::left; }
    Index extent() const { return left() ? n : m; }
    Flops flops() const { return flops_per_fma<T> / 2 * double(m) * double(n) * double(left() ? m : n); }
    Index chunks() const { return chunk_count(extent(), flops()); }

    void run(TaskContext& context)
    {
        if (guard.stopped()) return;
        while (const auto c = context.team().next()) {
            const Range r = range_of(c, chunks(), extent());
            if (left()) kernels->trsm(side, uplo, op, diag, m, r.size(), alpha, A, lda, B + r.begin * ldb, ldb);
            else kernels->trsm(side, uplo, op, diag, r.size(), n, alpha, A, lda, B + r.begin, ldb);
        }
    }
};

} // namespace

template <Scalar T>
void trsm(TaskFlow& flow, const KernelProvider& kernels, Side side, Uplo uplo, Diag diag, T alpha, Tile<T> A, Tile<T> B,
          Guard guard)
{
    static constexpr Codelet codelet = codelet_of<TrsmArgs<T>>("trsm");
    // Stored B holds f(B), hence A X = alpha B reads f(X) f(A) = f(alpha) f(B): the other side. `uplo` is A's triangle
    // as the algorithm sees it; in memory it is the other one when A is stored transposed.
    const Op f = B.op;
    const TrsmArgs<T> args{&kernels,
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
    flow.submit(codelet, args, {read(A), readwrite(B)});
}

#define TRC_INSTANTIATE(T) template void trsm(TaskFlow&, const KernelProvider&, Side, Uplo, Diag, T, Tile<T>, Tile<T>, Guard);
TRC_INSTANTIATE(float)
TRC_INSTANTIATE(double)
TRC_INSTANTIATE(std::complex<float>)
TRC_INSTANTIATE(std::complex<double>)
#undef TRC_INSTANTIATE

} // namespace trencadis::task
