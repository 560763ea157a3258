#include "blas/level3/level3.hpp"
#include "blas/level3/product.hpp"
#include "blas/level3/scratch.hpp"
#include "blas/level3/small_product.hpp"
#include "blas/level3/vector_product.hpp"

#include <algorithm>

namespace trencadis::blas {
namespace {

/// Orders that are written out: of larger ones packing is as fast.
constexpr Index most_written_out = 192;

/// A real matrix of order n of which one triangle is stored, written out as a whole, each column from a line on. Mirrored by
/// squares, whose columns are written one after the other.
template <Scalar T> Operand<T> written_out(Uplo uplo, Index n, const T* A, Index lda)
{
    constexpr Index line = 64 / Index(sizeof(T)), few = 8;
    const bool lower = uplo == Uplo::lower;
    const Index ld = (n + line - 1) / line * line;
    T* const whole = scratch<T>(Buffer::triangle, ld * n);
    for (Index j = 0; j < n; ++j) {
        const Index first = lower ? j : 0, count = lower ? n - j : j + 1;
        std::copy_n(A + j * lda + first, count, whole + j * ld + first);
    }
    const Index across = lower ? 1 : ld, along = lower ? ld : 1; // of the triangle that is there
    for (Index j = 0; j < n; j += few) {
        const Index behind = std::min(n, j + few);
        for (Index c = j; c < behind; ++c)
            for (Index r = c + 1; r < behind; ++r) whole[r * along + c * across] = whole[r * across + c * along];
    }
    for (Index j = 0; j + few < n; j += few)
        for (Index r = j + few; r < n; ++r) {
            const T* const from = lower ? whole + r + j * ld : whole + j + r * ld;
            T* const to = lower ? whole + j + r * ld : whole + r + j * ld;
#pragma GCC unroll 8
            for (Index c = 0; c < few; ++c) to[c * across] = from[c * along];
        }
    return general(whole, ld);
}

/// Packing reads each element of A from the triangle that is stored, so that the product is an ordinary one.
template <Scalar T>
void multiply_mirrored(Structure structure, Side side, Uplo uplo, Index m, Index n, T alpha, const T* A, Index lda, const T* B,
                       Index ldb, T beta, T* C, Index ldc)
{
    if (goes_by_vectors(side == Side::left ? m : n, side == Side::left ? n : m) &&
        multiply_vectors(side, uplo, structure == Structure::hermitian, m, n, alpha, A, lda, B, ldb, beta, C, ldc))
        return;
    const auto product = [&](const Operand<T>& whole) -> Product<T> {
        if (side == Side::left) return {m, n, m, alpha, whole, general(B, ldb), beta, C, 1, ldc};
        return {m, n, n, alpha, general(B, ldb), whole, beta, C, 1, ldc};
    };
    Operand<T> whole = general(A, lda);
    if constexpr (!is_complex<T>) {
        const Index order = side == Side::left ? m : n;
        const bool is_small = alpha != T(0) && order > 0 && order <= most_written_out && SmallProduct<T>::suits(product(whole));
        if (is_small && finds_memory([&] { whole = written_out(uplo, order, A, lda); })) return multiply<T>(product(whole));
    }
    whole.structure = structure;
    whole.uplo = uplo;
    multiply<T>(product(whole));
}

} // namespace

template <Scalar T>
void symm(Side side, Uplo uplo, Index m, Index n, T alpha, const T* A, Index lda, const T* B, Index ldb, T beta, T* C, Index ldc)
{
    multiply_mirrored(Structure::symmetric, side, uplo, m, n, alpha, A, lda, B, ldb, beta, C, ldc);
}

template <Scalar T>
void hemm(Side side, Uplo uplo, Index m, Index n, T alpha, const T* A, Index lda, const T* B, Index ldb, T beta, T* C, Index ldc)
{
    multiply_mirrored(is_complex<T> ? Structure::hermitian : Structure::symmetric, side, uplo, m, n, alpha, A, lda, B, ldb, beta,
                      C, ldc);
}

#define TRC_INSTANTIATE(T)                                                                                                       \
    template void symm(Side, Uplo, Index, Index, T, const T*, Index, const T*, Index, T, T*, Index);                             \
    template void hemm(Side, Uplo, Index, Index, T, const T*, Index, const T*, Index, T, T*, Index);
TRC_INSTANTIATE(float)
TRC_INSTANTIATE(double)
TRC_INSTANTIATE(std::complex<float>)
TRC_INSTANTIATE(std::complex<double>)
#undef TRC_INSTANTIATE

} // namespace trencadis::blas
