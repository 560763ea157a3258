#include "blas/level3/small_product.hpp"
#include "blas/level3/team_product.hpp"
#include "kernels/tiles/chunking.hpp"
#include "kernels/tiles/operands.hpp"
#include "kernels/tiles/team_operation.hpp"
#include "kernels/tiles/tile_access.hpp"
#include "kernels/tiles/tile_operations.hpp"
#include "matrix/conjugate.hpp"
#include "matrix/operations.hpp"

#include <vector>

namespace trencadis::task {
namespace {

/// C <- alpha op(A) op(B) + beta C on stored tiles, C m x n.
template <Scalar T> struct GemmArgs {
    std::int32_t m, n, k;
    Op op_a, op_b;
    T alpha, beta;
    Guard guard;
    TeamOperation<blas::TeamProduct<T>> shared{};

    Flops flops() const { return operations::gemm(m, n, k).template flops<T>(); }
    bool by_columns() const { return n >= m || n >= 4 * chunk_width; }
    Index extent() const { return by_columns() ? n : m; }
    /// Our own kernels pack B once for the whole team, which shares out rows of C.
    bool packs_once(const Kernels* kernels) const
    {
        return are_native(kernels, KernelRoutine::gemm) && 2 * m >= n && flops() >= smallest_shared;
    }
    bool is_small(const Kernels* kernels) const
    {
        return are_native(kernels, KernelRoutine::gemm) && blas::SmallProduct<T>::suits(whole({})) && flops() >= smallest_shared;
    }
    Index chunks(const Kernels* kernels) const
    {
        if (is_small(kernels)) return small({}).chunks();
        if (!packs_once(kernels)) return chunk_count(extent(), flops());
        return blas::TeamProduct<T>::count_chunks(blas::setup<T>(0), m, n, k);
    }
    void release() { shared.release(); }

    struct Operands {
        Stored<const T> A, B;
        Stored<T> C;
    };
    blas::Product<T> whole(const Operands& at) const
    {
        const auto A = blas::general(at.A.data, at.A.ld, op_a), B = blas::general(at.B.data, at.B.ld, op_b);
        return {m, n, k, alpha, A, B, beta, at.C.data, 1, at.C.ld};
    }
    blas::SmallProduct<T> small(const Operands& at) const { return {whole(at), blas::setup<T>(0), true}; }

    void run(TaskContext& context)
    {
        if (guard.stopped(context)) return;
        const KernelProvider& kernels = kernels_of(context);
        const Operands at{stored<const T>(context, 0), stored<const T>(context, 1), stored<T>(context, 2)};
        if (is_small(&kernels)) return small(at).work(context.team());
        const Index count = chunks(&kernels);
        if (packs_once(&kernels))
            return shared.run(
                context.team(), count, [&] { return std::make_unique<blas::TeamProduct<T>>(whole(at), blas::setup<T>(0)); },
                [&] {
                    rows(kernels, at, {0, m});
                });
        while (const auto c = context.team().next()) {
            const Range r = range_of(c, count, extent());
            if (by_columns()) columns(kernels, at, r);
            else rows(kernels, at, r);
        }
    }
    bool can_run_on(const ComputeUnit& unit) const { return computes<T>(unit); }
    void run_on_device(TaskContext& context) const
    {
        if (guard.stopped(context)) return;
        const Operands at{stored<const T>(context, 0), stored<const T>(context, 1), stored<T>(context, 2)};
        device_kernels_of<T>(context).gemm(op_a, op_b, m, n, k, alpha, at.A.data, at.A.ld, at.B.data, at.B.ld, beta, at.C.data,
                                           at.C.ld);
    }
    void columns(const KernelProvider& kernels, const Operands& at, Range r) const
    {
        const auto& [A, B, C] = at;
        const T* const part = B.data + r.begin * (op_b == Op::none ? B.ld : 1);
        kernels.gemm(op_a, op_b, m, r.size(), k, alpha, A.data, A.ld, part, B.ld, beta, C.data + r.begin * C.ld, C.ld);
    }
    void rows(const KernelProvider& kernels, const Operands& at, Range r) const
    {
        const auto& [A, B, C] = at;
        const T* const part = A.data + r.begin * (op_a == Op::none ? 1 : A.ld);
        kernels.gemm(op_a, op_b, r.size(), n, k, alpha, part, A.ld, B.data, B.ld, beta, C.data + r.begin, C.ld);
    }
};

template <Scalar T> constexpr Codelet gemm_codelet = codelet_of<GemmArgs<T>>("gemm");

template <Scalar T>
void submit(Flow& flow, T alpha, Tile<T> A, Tile<T> B, T beta, Tile<T> C, Guard guard, std::initializer_list<Access> also)
{
    // Stored C holds f(C): f(C) <- f(alpha) f(B) f(A) + f(beta) f(C), with the factors in the other order.
    const Op f = C.op;
    if (f != Op::none) std::swap(A, B);
    const Index k = f == Op::none ? A.cols : A.rows;
    const GemmArgs<T> args{
        std::int32_t(C.stored_rows()), std::int32_t(C.stored_cols()), std::int32_t(k),       compose<T>(f, A.op),
        compose<T>(f, B.op),           seen_through(f, alpha),        seen_through(f, beta), guard};
    if (also.size() == 0) return flow.submit(gemm_codelet<T>, args, {read(A), read(B), readwrite(C)});
    std::vector<Access> accesses{read(A), read(B), readwrite(C)};
    accesses.insert(accesses.end(), also);
    flow.submit(gemm_codelet<T>, args, accesses);
}

} // namespace

template <Scalar T> void gemm(Flow& flow, T alpha, Tile<T> A, Tile<T> B, T beta, Tile<T> C, Guard guard)
{
    submit(flow, alpha, A, B, beta, C, guard, {});
}

template <Scalar T> void gemm(Flow& flow, T alpha, Tile<T> A, Tile<T> B, T beta, Tile<T> C, std::initializer_list<Access> also)
{
    submit(flow, alpha, A, B, beta, C, Guard{}, also);
}

#define TRC_INSTANTIATE(T)                                                                                                       \
    template void gemm(Flow&, T, Tile<T>, Tile<T>, T, Tile<T>, Guard);                                                           \
    template void gemm(Flow&, T, Tile<T>, Tile<T>, T, Tile<T>, std::initializer_list<Access>);
TRC_INSTANTIATE(float)
TRC_INSTANTIATE(double)
TRC_INSTANTIATE(std::complex<float>)
TRC_INSTANTIATE(std::complex<double>)
#undef TRC_INSTANTIATE

} // namespace trencadis::task
