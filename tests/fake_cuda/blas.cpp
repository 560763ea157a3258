// A stand-in for libcublas.so.12 over that for the driver: plain loops on its streams.
#include "devices/cuda/api.hpp"
#include "fake_cuda.hpp"

#include <complex>
#include <cstdint>
#include <type_traits>

using namespace trencadis::devices::cuda;

namespace trencadis::devices::cuda {
struct BlasOf {
    Stream stream = nullptr;
};
} // namespace trencadis::devices::cuda

namespace {

template <class T> T conjugate(T x)
{
    if constexpr (std::is_floating_point_v<T>) return x;
    else return std::conj(x);
}

/// op(A)(i, j).
template <class T> struct Operand {
    const T* at;
    int ld;
    BlasOp op;
    T operator()(int i, int j) const
    {
        if (op == op_none) return at[i + std::ptrdiff_t(j) * ld];
        const T x = at[j + std::ptrdiff_t(i) * ld];
        return op == op_conjugated ? conjugate(x) : x;
    }
};
template <class T> Operand<T> operand(const void* address, int ld, BlasOp op)
{
    return {static_cast<const T*>(fake_cuda_pointer(address)), ld, op};
}

/// A complex factor is a vector of two in cuBLAS, whose address is a multiple of its size: else it faults.
template <class T> bool is_misaligned(const T* factor) { return reinterpret_cast<std::uintptr_t>(factor) % sizeof(T) != 0; }
constexpr int invalid_value = 7;

template <class T>
int gemm(const char* symbol, Blas blas, BlasOp op_a, BlasOp op_b, int m, int n, int k, const T* alpha, const void* A, int lda,
         const void* B, int ldb, const T* beta, void* C, int ldc)
{
    if (const int code = fake_cuda_call(symbol)) return code;
    if (is_misaligned(alpha) || is_misaligned(beta)) return invalid_value;
    fake_cuda_enqueue(blas->stream, [=, alpha = *alpha, beta = *beta] {
        const Operand<T> a = operand<T>(A, lda, op_a), b = operand<T>(B, ldb, op_b);
        T* const c = static_cast<T*>(fake_cuda_pointer(C));
        for (int j = 0; j < n; ++j)
            for (int i = 0; i < m; ++i) {
                T sum(0), &its = c[i + std::ptrdiff_t(j) * ldc];
                for (int l = 0; l < k; ++l) sum += a(i, l) * b(l, j);
                its = alpha * sum + (beta == T(0) ? T(0) : beta * its);
            }
    });
    return 0;
}

template <class T, class Factor>
int rank_k(const char* symbol, bool hermitian, Blas blas, BlasFill fill, BlasOp op, int n, int k, const Factor* alpha,
           const void* A, int lda, const Factor* beta, void* C, int ldc)
{
    if (const int code = fake_cuda_call(symbol)) return code;
    if (is_misaligned(alpha) || is_misaligned(beta)) return invalid_value;
    fake_cuda_enqueue(blas->stream, [=, alpha = *alpha, beta = *beta] {
        const Operand<T> a = operand<T>(A, lda, op);
        T* const c = static_cast<T*>(fake_cuda_pointer(C));
        for (int j = 0; j < n; ++j)
            for (int i = fill == fill_lower ? j : 0; i < (fill == fill_lower ? n : j + 1); ++i) {
                T sum(0), &its = c[i + std::ptrdiff_t(j) * ldc];
                for (int l = 0; l < k; ++l) sum += a(i, l) * (hermitian ? conjugate(a(j, l)) : a(j, l));
                its = alpha * sum + (beta == Factor(0) ? T(0) : beta * its);
                if (hermitian && i == j) its = T(std::real(its));
            }
    });
    return 0;
}

template <class T>
int trsm(const char* symbol, Blas blas, BlasSide side, BlasFill fill, BlasOp op, BlasDiag diag, int m, int n, const T* alpha,
         const void* A, int lda, void* B, int ldb)
{
    if (const int code = fake_cuda_call(symbol)) return code;
    if (is_misaligned(alpha)) return invalid_value;
    fake_cuda_enqueue(blas->stream, [=, alpha = *alpha] {
        const Operand<T> a = operand<T>(A, lda, op);
        T* const b = static_cast<T*>(fake_cuda_pointer(B));
        const bool left = side == side_left, lower = (fill == fill_lower) == (op == op_none), forward = lower == left;
        const int order = left ? m : n, lanes = left ? n : m;
        for (int lane = 0; lane < lanes; ++lane)
            for (int s = 0; s < order; ++s) {
                const auto x = [&](int i) -> T& {
                    return left ? b[i + std::ptrdiff_t(lane) * ldb] : b[lane + std::ptrdiff_t(i) * ldb];
                };
                const int i = forward ? s : order - 1 - s;
                T sum = alpha * x(i); // as cuBLAS on an H200, which reads what is there where alpha is 0, too
                for (int r = 0; r < s; ++r) {
                    const int j = forward ? r : order - 1 - r;
                    sum -= (left ? a(i, j) : a(j, i)) * x(j);
                }
                x(i) = diag == diag_unit ? sum : sum / a(i, i);
            }
    });
    return 0;
}

} // namespace

extern "C" {

int cublasCreate_v2(Blas* blas)
{
    if (const int code = fake_cuda_call("cublasCreate_v2")) return code;
    *blas = new BlasOf;
    return 0;
}
int cublasDestroy_v2(Blas blas)
{
    delete blas;
    return 0;
}
int cublasSetStream_v2(Blas blas, Stream stream)
{
    blas->stream = stream;
    return 0;
}

#define TRC_ROUTINES(letter, T)                                                                                                  \
    int cublas##letter##gemm_v2(Blas blas, BlasOp op_a, BlasOp op_b, int m, int n, int k, const T* alpha, const void* A,         \
                                int lda, const void* B, int ldb, const T* beta, void* C, int ldc)                                \
    {                                                                                                                            \
        return gemm<T>("cublas" #letter "gemm_v2", blas, op_a, op_b, m, n, k, alpha, A, lda, B, ldb, beta, C, ldc);              \
    }                                                                                                                            \
    int cublas##letter##syrk_v2(Blas blas, BlasFill fill, BlasOp op, int n, int k, const T* alpha, const void* A, int lda,       \
                                const T* beta, void* C, int ldc)                                                                 \
    {                                                                                                                            \
        return rank_k<T>("cublas" #letter "syrk_v2", false, blas, fill, op, n, k, alpha, A, lda, beta, C, ldc);                  \
    }                                                                                                                            \
    int cublas##letter##trsm_v2(Blas blas, BlasSide side, BlasFill fill, BlasOp op, BlasDiag diag, int m, int n, const T* alpha, \
                                const void* A, int lda, void* B, int ldb)                                                        \
    {                                                                                                                            \
        return trsm<T>("cublas" #letter "trsm_v2", blas, side, fill, op, diag, m, n, alpha, A, lda, B, ldb);                     \
    }
#define TRC_HERMITIAN(letter, R)                                                                                                 \
    int cublas##letter##herk_v2(Blas blas, BlasFill fill, BlasOp op, int n, int k, const R* alpha, const void* A, int lda,       \
                                const R* beta, void* C, int ldc)                                                                 \
    {                                                                                                                            \
        return rank_k<std::complex<R>>("cublas" #letter "herk_v2", true, blas, fill, op, n, k, alpha, A, lda, beta, C, ldc);     \
    }
TRC_ROUTINES(S, float)
TRC_ROUTINES(D, double)
TRC_ROUTINES(C, std::complex<float>)
TRC_ROUTINES(Z, std::complex<double>)
TRC_HERMITIAN(C, float)
TRC_HERMITIAN(Z, double)

} // extern "C"
