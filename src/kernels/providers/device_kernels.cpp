#include "kernels/providers/device_kernels.hpp"

#include "blas/factorizations/lu.hpp"
#include "graph/codelet.hpp"
#include "graph/level3_call.hpp"
#include "kernels/tiles/column_lu.hpp"
#include "kernels/tiles/factor_flops.hpp"
#include "kernels/tiles/pairwise_lu.hpp"
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
    bool factors() const override { return queue_.factors(); }
    void potrf(Uplo uplo, Index n, T* A, Index lda, std::function<void(Index)> told) const override
    {
        const Flops flops = operations::potrf(double(n)).template flops<T>();
        queue_.enqueue(flops, [=, &kernels = provider_, told = std::move(told)](const BlockMap& map) {
            told(kernels.potrf(uplo, n, at(map, A), lda));
        });
    }
    bool factors_lu() const override { return queue_.factors(); }
    void getrf(Index m, Index n, T* A, Index lda, std::int32_t* pivots, std::function<void(Index)> told) const override
    {
        const Flops flops = kernel_flops::weight_of<T> * kernel_flops::getrf(double(m), double(n));
        queue_.enqueue(flops, [=, &kernels = provider_, told = std::move(told)](const BlockMap& map) {
            told(factor_column(kernels, m, n, at(map, A), lda, static_cast<std::int32_t*>(map.at(pivots))));
        });
    }
    void laswp(Index, Index n, T* A, Index lda, Index count, const std::int32_t* pivots) const override
    {
        queue_.enqueue(kernel_flops::laswp(double(count), double(n)), [=](const BlockMap& map) {
            apply_interchanges(n, at(map, A), lda, count, static_cast<const std::int32_t*>(map.at(pivots)));
        });
    }
    bool updates_lu() const override { return true; }
    void gessm(Index m, Index n, const T* L, Index ldl, const Index* pivots, T* C, Index ldc) const override
    {
        const Flops flops = (is_complex<T> ? 4 : 1) * kernel_flops::gessm(double(m), double(n));
        queue_.enqueue(flops, [=, &kernels = provider_](const BlockMap& map) {
            T* const c = at(map, C);
            blas::laswp(n, c, ldc, 0, m, static_cast<const Index*>(map.at(pivots)));
            kernels.trsm(Side::left, Uplo::lower, Op::none, Diag::unit, m, n, T(1), at(map, L), ldl, c, ldc);
        });
    }
    void ssssm(Index m, Index n, Index k, Index ib, const T* A, Index lda, const void* by, T* C, Index ldc, T* D,
               Index ldd) const override
    {
        const Flops flops = (is_complex<T> ? 4 : 1) * kernel_flops::ssssm(m, n, k, ib);
        queue_.enqueue(flops, [=, &kernels = provider_](const BlockMap& map) {
            const auto factors = PairFactors<T>::in_memory(map.at(by), k, ib);
            apply_pair(kernels, factors, m, n, at(map, A), lda, at(map, C), ldc, at(map, D), ldd);
        });
    }

private:
    static const T* at(const BlockMap& map, const T* in_block) { return static_cast<const T*>(map.at(in_block)); }
    static T* at(const BlockMap& map, T* in_block) { return static_cast<T*>(map.at(in_block)); }

    KernelQueue& queue_;
    const KernelProvider& provider_;
};

template <Scalar T> class OfLibrary final : public DeviceRoutines<T> {
public:
    explicit OfLibrary(Level3Queue& queue) : queue_(queue) {}

    void gemm(Op op_a, Op op_b, Index m, Index n, Index k, T alpha, const T* A, Index lda, const T* B, Index ldb, T beta, T* C,
              Index ldc) const override
    {
        Level3Call call = on(Routine::gemm, A, lda, C, ldc);
        call.op_a = char(op_a), call.op_b = char(op_b), call.m = m, call.n = n, call.k = k;
        call.alpha = alpha, call.beta = beta, call.B = B, call.ldb = ldb;
        queue_.enqueue(call);
    }
    void syrk(Uplo uplo, Op op, Index n, Index k, T alpha, const T* A, Index lda, T beta, T* C, Index ldc) const override
    {
        rank_k(Routine::syrk, uplo, op, n, k, alpha, beta, on(Routine::syrk, A, lda, C, ldc));
    }
    void herk(Uplo uplo, Op op, Index n, Index k, Real<T> alpha, const T* A, Index lda, Real<T> beta, T* C,
              Index ldc) const override
    {
        rank_k(is_complex<T> ? Routine::herk : Routine::syrk, uplo, op, n, k, alpha, beta, on(Routine::herk, A, lda, C, ldc));
    }
    void trsm(Side side, Uplo uplo, Op op, Diag diag, Index m, Index n, T alpha, const T* A, Index lda, T* B,
              Index ldb) const override
    {
        Level3Call call = on(Routine::trsm, A, lda, B, ldb);
        call.side = char(side), call.uplo = char(uplo), call.op_a = char(op), call.diag = char(diag);
        call.m = m, call.n = n, call.alpha = alpha;
        queue_.enqueue(call);
    }
    bool factors() const override { return queue_.factors(); }
    void potrf(Uplo uplo, Index n, T* A, Index lda, std::function<void(Index)> told) const override
    {
        Level3Call call = on(Routine::potrf, nullptr, 1, A, lda);
        call.uplo = char(uplo), call.n = n, call.told = std::move(told);
        queue_.enqueue(call);
    }
    bool factors_lu() const override { return queue_.factors_lu(); }
    void getrf(Index m, Index n, T* A, Index lda, std::int32_t* pivots, std::function<void(Index)> told) const override
    {
        Level3Call call = on(Routine::getrf, nullptr, 1, A, lda);
        call.m = m, call.n = n, call.B = pivots, call.told = std::move(told);
        queue_.enqueue(call);
    }
    void laswp(Index m, Index n, T* A, Index lda, Index count, const std::int32_t* pivots) const override
    {
        Level3Call call = on(Routine::laswp, nullptr, 1, A, lda);
        call.m = m, call.n = n, call.k = count, call.B = pivots;
        queue_.enqueue(call);
    }

private:
    using Routine = Level3Call::Routine;
    static Level3Call on(Routine routine, const T* A, Index lda, T* C, Index ldc)
    {
        Level3Call call;
        call.routine = routine, call.precision = precision_of<OfLibrary<T>>;
        call.A = A, call.lda = lda, call.C = C, call.ldc = ldc;
        return call;
    }
    void rank_k(Routine routine, Uplo uplo, Op op, Index n, Index k, T alpha, T beta, Level3Call call) const
    {
        call.routine = routine, call.uplo = char(uplo), call.op_a = char(op);
        call.n = n, call.k = k, call.alpha = alpha, call.beta = beta;
        queue_.enqueue(call);
    }

    Level3Queue& queue_;
};

template <Scalar T> DeviceKernels::Of<T> on_queue(KernelQueue& queue, const KernelProvider& provider)
{
    Level3Queue* const library = queue.level3();
    if (!library) return std::make_unique<const OnQueue<T>>(queue, provider);
    if (!library->computes_in(precision_of<OfLibrary<T>>)) return nullptr;
    return std::make_unique<const OfLibrary<T>>(*library);
}

} // namespace

std::unique_ptr<const DeviceKernels> kernels_on(KernelQueue& queue, const KernelProvider& provider)
{
    return std::make_unique<const DeviceKernels>(on_queue<float>(queue, provider), on_queue<double>(queue, provider),
                                                 on_queue<std::complex<float>>(queue, provider),
                                                 on_queue<std::complex<double>>(queue, provider));
}

} // namespace trencadis
