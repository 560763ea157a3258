#pragma once
#include "graph/kernel_queue.hpp"
#include "kernels/providers/provider.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <tuple>

namespace trencadis {

/// The tile operations of a device in one precision, as KernelProvider says what each does. Matrices lie in the device's
/// memory; a call enqueues, and what it computes is there when the queue has come to it.
template <Scalar T> class DeviceRoutines {
public:
    virtual ~DeviceRoutines() = default;
    virtual void gemm(Op op_a, Op op_b, Index m, Index n, Index k, T alpha, const T* A, Index lda, const T* B, Index ldb, T beta,
                      T* C, Index ldc) const = 0;
    virtual void syrk(Uplo uplo, Op op, Index n, Index k, T alpha, const T* A, Index lda, T beta, T* C, Index ldc) const = 0;
    virtual void herk(Uplo uplo, Op op, Index n, Index k, Real<T> alpha, const T* A, Index lda, Real<T> beta, T* C,
                      Index ldc) const = 0;
    virtual void trsm(Side side, Uplo uplo, Op op, Diag diag, Index m, Index n, T alpha, const T* A, Index lda, T* B,
                      Index ldb) const = 0;

    /// A factorization of tiles, of a device that has one.
    virtual bool factors() const { return false; }
    /// The triangle `uplo` of A, n x n, <- its Cholesky factor. `told`: KernelProvider::potrf's answer, once,
    /// before the event behind the kernel is reached.
    virtual void potrf(Uplo, Index, T* /*A*/, Index, std::function<void(Index)> /*told*/) const {}

    // LU with partial pivoting of whole columns, of a device that has it. Interchanges have 32 bits each, as libraries of devices
    // have them, and count from 1, from the first row that a call is given.
    virtual bool factors_lu() const { return false; }
    /// A, m x n, <- its L U factors, and min(m, n) interchanges. `told`: KernelProvider::getrf's answer, as potrf's.
    virtual void getrf(Index, Index, T* /*A*/, Index, std::int32_t* /*pivots*/, std::function<void(Index)> /*told*/) const {}
    /// Rows of A, m x n, <- exchanged by so many interchanges.
    virtual void laswp(Index, Index, T* /*A*/, Index, Index /*count*/, const std::int32_t* /*pivots*/) const {}

    // Updates of LU by incremental pivoting, of a device that can exchange rows by pivots that lie in its memory.
    virtual bool updates_lu() const { return false; }
    /// C <- L^-1 P C, C m x n, by the m pivots, numbered from 1, and the unit lower triangle of L.
    virtual void gessm(Index, Index, const T* /*L*/, Index, const Index* /*pivots*/, T* /*C*/, Index) const {}
    /// [C; D] <- L^-1 P [C; D], C k x n and D m x n, with what task::tstrf left in A (m x k) and `by` in inner blocks of ib
    /// columns: k pivots, then the triangles, ib x k.
    virtual void ssssm(Index, Index, Index, Index, const T* /*A*/, Index, const void* /*by*/, T* /*C*/, Index, T* /*D*/,
                       Index) const
    {
    }
};

/// What the tasks of one device compute with: the kernels of its unit. Precisions in which it does not compute are null.
class DeviceKernels : public Kernels {
public:
    template <class T> using Of = std::unique_ptr<const DeviceRoutines<T>>;

    DeviceKernels(Of<float> s, Of<double> d, Of<std::complex<float>> c, Of<std::complex<double>> z)
        : routines_(std::move(s), std::move(d), std::move(c), std::move(z))
    {
    }
    /// Devices without double precision take no such tasks.
    template <Scalar T> bool computes() const { return std::get<Of<T>>(routines_) != nullptr; }
    template <Scalar T> const DeviceRoutines<T>& routines() const { return *std::get<Of<T>>(routines_); }

private:
    std::tuple<Of<float>, Of<double>, Of<std::complex<float>>, Of<std::complex<double>>> routines_;
};

/// Those of the device's own library, in the precisions that it has; for devices that run functions of this process, the
/// provider's kernels, on the device's threads and in its memory. Queue and provider outlive them.
std::unique_ptr<const DeviceKernels> kernels_on(KernelQueue& queue, const KernelProvider& provider);

} // namespace trencadis
