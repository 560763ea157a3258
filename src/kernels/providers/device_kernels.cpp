#include "kernels/providers/device_kernels.hpp"

#include "matrix/operations.hpp"

#include <utility>

namespace trencadis {
namespace {

template <Scalar T> class OnQueue final : public DeviceRoutines<T> {
public:
    OnQueue(KernelQueue& queue, const KernelProvider& provider) : queue_(queue), provider_(provider) {}

    void gemm(Op op_a, Op op_b, Index m, Index n, Index k, T alpha, const T* A, Index lda, const T* B, Index ldb, T beta, T* C,
              Index ldc) const override
    {
        const Flops flops = operations::gemm(double(m), double(n), double(k)).template flops<T>();
        queue_.enqueue(flops, [=, &kernels = provider_](const BlockMap& map) {
            kernels.gemm(op_a, op_b, m, n, k, alpha, at(map, A), lda, at(map, B), ldb, beta, at(map, C), ldc);
        });
    }
    void syrk(Uplo uplo, Op op, Index n, Index k, T alpha, const T* A, Index lda, T beta, T* C, Index ldc) const override
    {
        const Flops flops = operations::rank_k(double(n), double(k)).template flops<T>();
        queue_.enqueue(flops, [=, &kernels = provider_](const BlockMap& map) {
            kernels.syrk(uplo, op, n, k, alpha, at(map, A), lda, beta, at(map, C), ldc);
        });
    }
    void herk(Uplo uplo, Op op, Index n, Index k, Real<T> alpha, const T* A, Index lda, Real<T> beta, T* C,
              Index ldc) const override
    {
        const Flops flops = operations::rank_k(double(n), double(k)).template flops<T>();
        queue_.enqueue(flops, [=, &kernels = provider_](const BlockMap& map) {
            kernels.herk(uplo, op, n, k, alpha, at(map, A), lda, beta, at(map, C), ldc);
        });
    }
    void trsm(Side side, Uplo uplo, Op op, Diag diag, Index m, Index n, T alpha, const T* A, Index lda, T* B,
              Index ldb) const override
    {
        const bool left = side == Side::left;
        const Flops flops = operations::triangular(double(left ? m : n), double(left ? n : m)).template flops<T>();
        queue_.enqueue(flops, [=, &kernels = provider_](const BlockMap& map) {
            kernels.trsm(side, uplo, op, diag, m, n, alpha, at(map, A), lda, at(map, B), ldb);
        });
    }

private:
    static const T* at(const BlockMap& map, const T* in_block) { return static_cast<const T*>(map.at(in_block)); }
    static T* at(const BlockMap& map, T* in_block) { return static_cast<T*>(map.at(in_block)); }

    KernelQueue& queue_;
    const KernelProvider& provider_;
};

template <Scalar T> DeviceKernels::Of<T> on_queue(KernelQueue& queue, const KernelProvider& provider)
{
    return std::make_unique<const OnQueue<T>>(queue, provider);
}

} // namespace

std::unique_ptr<const DeviceKernels> kernels_on(KernelQueue& queue, const KernelProvider& provider)
{
    return std::make_unique<const DeviceKernels>(on_queue<float>(queue, provider), on_queue<double>(queue, provider),
                                                 on_queue<std::complex<float>>(queue, provider),
                                                 on_queue<std::complex<double>>(queue, provider));
}

} // namespace trencadis
