#include "blas/level3/past_triangle.hpp"

namespace trencadis::blas {

template <Scalar T>
void solve_packed(const MicroKernel<T>& kernel, Real<T>* X, Index extent, Index i0, Index i1, Index n, const Real<T>* triangle)
{
    const TrianglePanels panels{n, kernel.nr};
    for (Index i = i0; i < i1; i += kernel.mr) {
        const Index height = kernel.height(extent - i);
        for (Index j = 0; j < panels.count(); ++j)
            kernel.solve(panels.first(j), X + planes<T> * i * n, height, triangle + planes<T> * panels.numbers_before(j),
                         panels.cols(j));
    }
}

template <Scalar T>
void solve_step(const MicroKernel<T>& kernel, Index j, Index cols, const Real<T>* U, Real<T>* X, Index height, Index rows, T* B,
                Index rs, Index cs, const T* next)
{
    T* const own = B + j * cs;
    if (rs == 1 || cols == kernel.nr) return kernel.solve_in_place({j, X, height, U, own, rs, cs, rows, cols, next});
    Real<T>* const image = X + planes<T> * j * height;
    kernel.pack_left_panel(own, rs, cs, false, rows, height, cols, image);
    kernel.solve(j, X, height, U, cols);
    kernel.unpack_left_panel(image, height, rows, cols, own, rs, cs);
}

template <Scalar T>
void multiply_step(const MicroKernel<T>& kernel, Index j, Index cols, const Real<T>* U, const Real<T>* X, Index height,
                   Index rows, T alpha, T* B, Index rs, Index cs)
{
    TriangleStep<T> step{j, X, height, U, alpha, B + j * cs, rs, cs, rows, cols};
    if (rs == 1 || cols == kernel.nr) return kernel.multiply_triangle(step);
    TileRoom<T> room;
    step.B = room.data();
    step.rs = 1;
    step.cs = rows;
    kernel.multiply_triangle(step);
    for (Index c = 0; c < cols; ++c)
        for (Index r = 0; r < rows; ++r) B[r * rs + (j + c) * cs] = step.B[r + c * rows];
}

template <Scalar T>
void solve_without_image(const MicroKernel<T>& kernel, Index rows, Index n, const Real<T>* triangle, T* B, Index cs)
{
    const TrianglePanels panels{n, kernel.nr};
    for (Index i = 0, height; i < rows; i += height, B += height) {
        height = std::min(kernel.mr, rows - i);
        for (Index j = 0; j < panels.count(); ++j) {
            const Index first = panels.first(j);
            kernel.solve_in_place({.k = first,
                                   .X = reinterpret_cast<Real<T>*>(B),
                                   .height = height,
                                   .U = triangle + panels.numbers_before(j),
                                   .B = B + first * cs,
                                   .rs = 1,
                                   .cs = cs,
                                   .rows = height,
                                   .cols = panels.cols(j),
                                   .next = nullptr,
                                   .apart = cs});
        }
    }
}

/// The last columns first, so that those before them are still what they were.
template <Scalar T>
void multiply_without_image(const MicroKernel<T>& kernel, Index rows, Index n, const Real<T>* factor, T alpha, T* B, Index cs)
{
    const TrianglePanels panels{n, kernel.nr};
    for (Index i = 0, height; i < rows; i += height, B += height) {
        height = std::min(kernel.mr, rows - i);
        for (Index j = panels.count(); j-- > 0;) {
            const Index first = panels.first(j);
            kernel.multiply_triangle({.k = first,
                                      .X = reinterpret_cast<Real<T>*>(B),
                                      .height = height,
                                      .U = factor + panels.numbers_before(j),
                                      .alpha = alpha,
                                      .B = B + first * cs,
                                      .rs = 1,
                                      .cs = cs,
                                      .rows = height,
                                      .cols = panels.cols(j),
                                      .apart = cs});
        }
    }
}

#define TRC_INSTANTIATE(T)                                                                                                       \
    template void solve_packed(const MicroKernel<T>&, Real<T>*, Index, Index, Index, Index, const Real<T>*);                     \
    template void solve_step(const MicroKernel<T>&, Index, Index, const Real<T>*, Real<T>*, Index, Index, T*, Index, Index,      \
                             const T*);                                                                                          \
    template void multiply_step(const MicroKernel<T>&, Index, Index, const Real<T>*, const Real<T>*, Index, Index, T, T*, Index, \
                                Index);                                                                                          \
    template void solve_without_image(const MicroKernel<T>&, Index, Index, const Real<T>*, T*, Index);                           \
    template void multiply_without_image(const MicroKernel<T>&, Index, Index, const Real<T>*, T, T*, Index);
TRC_INSTANTIATE(float)
TRC_INSTANTIATE(double)
TRC_INSTANTIATE(std::complex<float>)
TRC_INSTANTIATE(std::complex<double>)
#undef TRC_INSTANTIATE

} // namespace trencadis::blas
