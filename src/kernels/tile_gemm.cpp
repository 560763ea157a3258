#include "blas/small_product.hpp"
#include "blas/team_product.hpp"
#include "kernels/chunking.hpp"
#include "kernels/team_operation.hpp"
#include "kernels/tile_access.hpp"
#include "kernels/tile_operations.hpp"
#include "matrix/conjugate.hpp"
#include "matrix/operations.hpp"

#include <vector>

namespace trencadis::task {
namespace {

/// C <- alpha op(A) op(B) + beta C on stored tiles, C m x n.
template <Scalar T> struct GemmArgs {
    const KernelProvider* kernels;
    const T *A, *B;
    T* C;
    Index lda, ldb, ldc;
    std::int32_t m, n, k;
    Op op_a, op_b;
    T alpha, beta;
    Guard guard;
    TeamOperation<blas::TeamProduct<T>> shared{};

    Flops flops() const { return operations::gemm(m, n, k).template flops<T>(); }
    bool by_columns() const { return n >= m || n >= 4 * chunk_width; }
    Index extent() const { return by_columns() ? n : m; }
    /// Our own kernels pack B once for the whole team, which shares out rows of C.
    bool packs_once() const { return kernels->native(KernelRoutine::gemm) && 2 * m >= n && flops() >= smallest_shared; }
    blas::Product<T> whole() const
    {
        return {m, n, k, alpha, blas::general(A, lda, op_a), blas::general(B, ldb, op_b), beta, C, 1, ldc};
    }
    bool is_small() const
    {
        return kernels->native(KernelRoutine::gemm) && blas::SmallProduct<T>::suits(whole()) && flops() >= smallest_shared;
    }
    blas::SmallProduct<T> small() const { return {whole(), blas::instruction_set().micro_kernel<T>(), true}; }
    Index chunks() const
    {
        if (is_small()) return small().chunks();
        if (!packs_once()) return chunk_count(extent(), flops());
        return blas::TeamProduct<T>::count_chunks(blas::setup<T>(0), m, n, k);
    }
    void release() { shared.release(); }

    void run(TaskContext& context)
    {
        if (guard.stopped()) return;
        if (is_small()) {
            small().work(context.team());
            return;
        }
        if (packs_once())
            return shared.run(
                context.team(), chunks(), [&] { return product(); },
                [&] {
                    rows({0, m});
                });
        while (const auto c = context.team().next()) {
            const Range r = range_of(c, chunks(), extent());
            if (by_columns()) columns(r);
            else rows(r);
        }
    }
    std::unique_ptr<blas::TeamProduct<T>> product() const
    {
        return std::make_unique<blas::TeamProduct<T>>(whole(), blas::setup<T>(0));
    }
    void columns(Range r) const
    {
        const T* const part = B + r.begin * (op_b == Op::none ? ldb : 1);
        kernels->gemm(op_a, op_b, m, r.size(), k, alpha, A, lda, part, ldb, beta, C + r.begin * ldc, ldc);
    }
    void rows(Range r) const
    {
        const T* const part = A + r.begin * (op_a == Op::none ? 1 : lda);
        kernels->gemm(op_a, op_b, r.size(), n, k, alpha, part, lda, B, ldb, beta, C + r.begin, ldc);
    }
};

template <Scalar T> constexpr Codelet gemm_codelet = codelet_of<GemmArgs<T>>("gemm");

template <Scalar T>
GemmArgs<T> gemm_args(const KernelProvider& kernels, T alpha, Tile<T> A, Tile<T> B, T beta, Tile<T> C, Guard guard)
{
    // Stored C holds f(C): f(C) <- f(alpha) f(B) f(A) + f(beta) f(C), with the factors in the other order.
    const Op f = C.op;
    if (f != Op::none) std::swap(A, B);
    const Op op_a = compose<T>(f, A.op), op_b = compose<T>(f, B.op);
    const Index k = f == Op::none ? A.cols : A.rows;
    return {&kernels,
            A.data,
            B.data,
            C.data,
            A.ld,
            B.ld,
            C.ld,
            std::int32_t(C.stored_rows()),
            std::int32_t(C.stored_cols()),
            std::int32_t(k),
            op_a,
            op_b,
            seen_through(f, alpha),
            seen_through(f, beta),
            guard};
}

} // namespace

template <Scalar T>
void gemm(TaskFlow& flow, const KernelProvider& kernels, T alpha, Tile<T> A, Tile<T> B, T beta, Tile<T> C, Guard guard)
{
    flow.submit(gemm_codelet<T>, gemm_args(kernels, alpha, A, B, beta, C, guard), {read(A), read(B), readwrite(C)});
}

template <Scalar T>
void gemm(TaskFlow& flow, const KernelProvider& kernels, T alpha, Tile<T> A, Tile<T> B, T beta, Tile<T> C,
          std::initializer_list<Access> also)
{
    std::vector<Access> accesses{read(A), read(B), readwrite(C)};
    accesses.insert(accesses.end(), also);
    flow.submit(gemm_codelet<T>, gemm_args(kernels, alpha, A, B, beta, C, Guard{}), accesses);
}

#define TRC_INSTANTIATE(T)                                                                                                       \
    template void gemm(TaskFlow&, const KernelProvider&, T, Tile<T>, Tile<T>, T, Tile<T>, Guard);                                \
    template void gemm(TaskFlow&, const KernelProvider&, T, Tile<T>, Tile<T>, T, Tile<T>, std::initializer_list<Access>);
TRC_INSTANTIATE(float)
TRC_INSTANTIATE(double)
TRC_INSTANTIATE(std::complex<float>)
TRC_INSTANTIATE(std::complex<double>)
#undef TRC_INSTANTIATE

} // namespace trencadis::task
