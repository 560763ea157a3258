#include "kernels/tiles/chunking.hpp"
#include "kernels/tiles/operands.hpp"
#include "kernels/tiles/tile_access.hpp"
#include "kernels/tiles/tile_operations.hpp"
#include "matrix/conjugate.hpp"
#include "matrix/operations.hpp"

#include <cassert>

namespace trencadis::task {
namespace {

/// C <- alpha A B + beta C (left) or alpha B A + beta C (right) on stored tiles, C m x n, A symmetric or Hermitian. On the left
/// the columns of C are independent, on the right its rows.
template <Scalar T, bool hermitian> struct SymmArgs {
    std::int32_t m, n;
    Side side;
    Uplo uplo;
    T alpha, beta;

    bool left() const { return side == Side::left; }
    Index extent() const { return left() ? n : m; }
    Flops flops() const { return operations::gemm(m, n, left() ? m : n).template flops<T>(); }
    Index chunks() const { return chunk_count(extent(), flops()); }

    void run(TaskContext& context)
    {
        const KernelProvider& kernels = kernels_of(context);
        const Stored<const T> A = stored<const T>(context, 0), B = stored<const T>(context, 1);
        const Stored<T> C = stored<T>(context, 2);
        while (const auto c = context.team().next()) {
            const Range r = range_of(c, chunks(), extent());
            if (left()) part(kernels, m, r.size(), A, {B.data + r.begin * B.ld, B.ld}, {C.data + r.begin * C.ld, C.ld});
            else part(kernels, r.size(), n, A, {B.data + r.begin, B.ld}, {C.data + r.begin, C.ld});
        }
    }
    void part(const KernelProvider& kernels, Index rows, Index cols, Stored<const T> A, Stored<const T> B, Stored<T> C) const
    {
        if constexpr (hermitian) kernels.hemm(side, uplo, rows, cols, alpha, A.data, A.ld, B.data, B.ld, beta, C.data, C.ld);
        else kernels.symm(side, uplo, rows, cols, alpha, A.data, A.ld, B.data, B.ld, beta, C.data, C.ld);
    }
};

template <Scalar T, bool hermitian>
void submit(Flow& flow, const Codelet& codelet, T alpha, Tile<T> A, Tile<T> B, T beta, Tile<T> C)
{
    // Stored C holds f(C), hence f(C) <- f(alpha) f(B) A + f(beta) f(C): A is its own mirror, on the other side. Where A is
    // stored transposed, its lower triangle is the upper one in memory.
    const Op f = C.op;
    assert(B.op == f);
    const SymmArgs<T, hermitian> args{std::int32_t(C.stored_rows()),
                                      std::int32_t(C.stored_cols()),
                                      f == Op::none ? Side::left : Side::right,
                                      A.op == Op::none ? Uplo::lower : Uplo::upper,
                                      seen_through(f, alpha),
                                      seen_through(f, beta)};
    flow.submit(codelet, args, {read(A), read(B), readwrite(C)});
}

} // namespace

template <Scalar T> void symm(Flow& flow, T alpha, Tile<T> A, Tile<T> B, T beta, Tile<T> C)
{
    static constexpr Codelet codelet = codelet_of<SymmArgs<T, false>>("symm");
    submit<T, false>(flow, codelet, alpha, A, B, beta, C);
}

template <Scalar T> void hemm(Flow& flow, T alpha, Tile<T> A, Tile<T> B, T beta, Tile<T> C)
{
    static constexpr Codelet codelet =
        codelet_of<SymmArgs<T, true>>(is_complex<T> ? "hemm" : "symm", is_complex<T> ? "" : "hemm");
    submit<T, true>(flow, codelet, alpha, A, B, beta, C);
}

#define TRC_INSTANTIATE(T)                                                                                                       \
    template void symm(Flow&, T, Tile<T>, Tile<T>, T, Tile<T>);                                                                  \
    template void hemm(Flow&, T, Tile<T>, Tile<T>, T, Tile<T>);
TRC_INSTANTIATE(float)
TRC_INSTANTIATE(double)
TRC_INSTANTIATE(std::complex<float>)
TRC_INSTANTIATE(std::complex<double>)
#undef TRC_INSTANTIATE

} // namespace trencadis::task
