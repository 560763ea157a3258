#include "base/error.hpp"
#include "blas/factorizations/block_cholesky.hpp"
#include "blas/level3/level3.hpp"

namespace trencadis::blas {
namespace {

/// Up to this order the whole triangle is factored in packed form, in the second-level cache.
template <Scalar T> inline constexpr Index largest_block = is_complex<T> ? 256 : 512;

/// Buffers for the packed form; without the memory for those of a large triangle its halves are factored one after the other.
template <Scalar T> bool is_one_block(Index n)
{
    constexpr Index smallest = 16;
    if (n > largest_block<T>) return false;
    try {
        reserve_block_cholesky<T>(n);
        return true;
    } catch (const Error& failure) {
        if (failure.code() != ErrorCode::out_of_memory || n <= smallest) throw;
        return false;
    }
}

} // namespace

template <Scalar T> Index potrf(Uplo uplo, Index n, T* A, Index lda)
{
    if (n <= 0) return 0;
    if (is_one_block<T>(n)) return block_cholesky(uplo, n, A, lda);
    const Index unit = n > 128 ? 64 : 8, n1 = (n / 2 + unit - 1) / unit * unit, n2 = n - n1;
    if (const Index info = potrf(uplo, n1, A, lda)) return info;
    T* const A22 = A + n1 * (lda + 1);
    if (uplo == Uplo::lower) {
        T* const A21 = A + n1;
        trsm(Side::right, uplo, herm_op<T>, Diag::non_unit, n2, n1, T(1), A, lda, A21, lda);
        herk(uplo, Op::none, n2, n1, Real<T>(-1), A21, lda, Real<T>(1), A22, lda);
    } else {
        T* const A12 = A + n1 * lda;
        trsm(Side::left, uplo, herm_op<T>, Diag::non_unit, n1, n2, T(1), A, lda, A12, lda);
        herk(uplo, herm_op<T>, n2, n1, Real<T>(-1), A12, lda, Real<T>(1), A22, lda);
    }
    const Index info = potrf(uplo, n2, A22, lda);
    return info ? info + n1 : 0;
}

#define TRC_INSTANTIATE(T) template Index potrf(Uplo, Index, T*, Index);
TRC_INSTANTIATE(float)
TRC_INSTANTIATE(double)
TRC_INSTANTIATE(std::complex<float>)
TRC_INSTANTIATE(std::complex<double>)
#undef TRC_INSTANTIATE

} // namespace trencadis::blas
