#include "blas/packing.hpp"

#include "matrix/conjugate.hpp"

#include <algorithm>

namespace trencadis::blas {
namespace {

/// Element (i, j) of the operand, whatever its structure.
template <Scalar T> T element(const Operand<T>& A, Index i, Index j)
{
    const auto read = [&](Index r, Index c) {
        const T x = A.data[r * A.rs + c * A.cs];
        return A.conjugated ? conjugate(x) : x;
    };
    if (A.structure == Structure::general) return read(i, j);
    const Index below = A.below + i - j; // rows below the diagonal
    if (below == 0) {
        if (A.structure == Structure::triangular && A.diag == Diag::unit) return T(1);
        return A.structure == Structure::hermitian ? T(std::real(read(i, j))) : read(i, j);
    }
    if ((below > 0) == (A.uplo == Uplo::lower)) return read(i, j);
    if (A.structure == Structure::triangular) return T(0);
    // The mirror of (i, j) in the whole matrix is (j - below0, i + below0) in this block's numbering.
    const T mirror = read(j - A.below, i + A.below);
    return A.structure == Structure::hermitian ? conjugate(mirror) : mirror;
}

template <Scalar T> void put_left(Real<T>* column, Index height, Index i, T x)
{
    column[i] = std::real(x);
    if constexpr (is_complex<T>) column[height + i] = std::imag(x);
}
template <Scalar T> void put_right(Real<T>* row, Index j, T x)
{
    row[j * planes<T>] = std::real(x);
    if constexpr (is_complex<T>) row[2 * j + 1] = std::imag(x);
}

} // namespace

template <Scalar T> void pack_left(const MicroKernel<T>& kernel, const Operand<T>& A, Index rows, Index k, Real<T>* image)
{
    for (Index i0 = 0; i0 < rows; i0 += kernel.mr) {
        const Index height = kernel.height(rows - i0);
        for (Index p = 0; p < k; ++p, image += planes<T> * height)
            for (Index i = 0; i < height; ++i) put_left(image, height, i, i0 + i < rows ? element(A, i0 + i, p) : T(0));
    }
}

template <Scalar T> void pack_right(const MicroKernel<T>& kernel, const Operand<T>& B, Index k, Index cols, Real<T>* image)
{
    for (Index j0 = 0; j0 < cols; j0 += kernel.nr)
        for (Index p = 0; p < k; ++p, image += planes<T> * kernel.nr)
            for (Index j = 0; j < kernel.nr; ++j) put_right(image, j, j0 + j < cols ? element(B, p, j0 + j) : T(0));
}

template <Scalar T> Index triangle_size(const MicroKernel<T>& kernel, Index n)
{
    Index size = 0;
    for (Index j0 = 0; j0 < n; j0 += kernel.nr) size += std::min(n, j0 + kernel.nr) * kernel.nr;
    return size * planes<T>;
}

template <Scalar T> void pack_triangle(const MicroKernel<T>& kernel, const Operand<T>& U, Index n, Real<T>* image)
{
    for (Index j0 = 0; j0 < n; j0 += kernel.nr) {
        const Index depth = std::min(n, j0 + kernel.nr);
        for (Index p = 0; p < depth; ++p, image += planes<T> * kernel.nr)
            for (Index j = 0; j < kernel.nr; ++j) {
                T x = p <= j0 + j && j0 + j < n ? element(U, p, j0 + j) : T(0);
                if (p == j0 + j) x = T(1) / x;
                put_right(image, j, x);
            }
    }
}

template <Scalar T>
void unpack_left(const MicroKernel<T>& kernel, const Real<T>* image, Index rows, Index k, T* B, Index rs, Index cs)
{
    for (Index i0 = 0; i0 < rows; i0 += kernel.mr) {
        const Index height = kernel.height(rows - i0), count = std::min(height, rows - i0);
        for (Index p = 0; p < k; ++p, image += planes<T> * height)
            for (Index i = 0; i < count; ++i) {
                T& b = B[(i0 + i) * rs + p * cs];
                if constexpr (is_complex<T>) b = T(image[i], image[height + i]);
                else b = image[i];
            }
    }
}

#define TRC_INSTANTIATE(T)                                                                                                       \
    template void pack_left(const MicroKernel<T>&, const Operand<T>&, Index, Index, Real<T>*);                                   \
    template void pack_right(const MicroKernel<T>&, const Operand<T>&, Index, Index, Real<T>*);                                  \
    template void pack_triangle(const MicroKernel<T>&, const Operand<T>&, Index, Real<T>*);                                      \
    template Index triangle_size(const MicroKernel<T>&, Index);                                                                  \
    template void unpack_left(const MicroKernel<T>&, const Real<T>*, Index, Index, T*, Index, Index);
TRC_INSTANTIATE(float)
TRC_INSTANTIATE(double)
TRC_INSTANTIATE(std::complex<float>)
TRC_INSTANTIATE(std::complex<double>)
#undef TRC_INSTANTIATE

} // namespace trencadis::blas
