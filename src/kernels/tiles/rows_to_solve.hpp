#pragma once
#include "blas/level3/block_sizes.hpp"
#include "blas/level3/past_triangle.hpp"

#include <algorithm>

namespace trencadis::task {

/// X U = alpha B for rows of B, which X replaces, with a packed triangle U of order n. X is packed as well, as a left operand and
/// where wanted as its transpose (or conjugate transpose), a right one. Rows are independent of each other.
template <Scalar T> struct RowsToSolve {
    Index n;
    const Real<T>* triangle;
    blas::Operand<T> B;
    Real<T>*left, *right; ///< all rows' images; right: null for none
    T alpha = T(1);
    bool conjugate_right = false;

    /// Rows [begin, end), whole panels of both images or the last ones.
    void solve(Index begin, Index end) const
    {
        const blas::MicroKernel<T>& kernel = blas::instruction_set().micro_kernel<T>();
        const Index rows = end - begin;
        Real<T>* const panels = left + blas::planes<T> * begin * n;
        const blas::Operand<T> b = B.block(begin, 0);
        T* const X = const_cast<T*>(b.data);
        if (alpha == T(1) && !b.conjugated && blas::moves_in_place(kernel, b.rs, b.cs)) {
            solve_where_it_lies(kernel, panels, rows, X, b.rs, b.cs);
        } else {
            blas::pack_left(kernel, b, rows, n, panels);
            if (alpha != T(1)) scale(panels, kernel, rows);
            blas::solve_packed(kernel, panels, rows, 0, rows, n, triangle);
            blas::unpack_left(kernel, panels, rows, n, X, b.rs, b.cs);
            if (b.conjugated) conjugate_stored(X, rows);
        }
        if (right) pack_for_the_right(kernel, b, panels, rows, right + blas::planes<T> * begin * n);
    }

private:
    /// B goes through the registers once, to its own place and to the image; as many rows at a time as a call's solve takes.
    void solve_where_it_lies(const blas::MicroKernel<T>& kernel, Real<T>* panels, Index rows, T* X, Index rs, Index cs) const
    {
        const blas::BlockSizes& sizes = blas::block_sizes<T>();
        const blas::TrianglePanels cut{n, kernel.nr};
        const Index most = blas::rows_past_triangle(kernel, sizes.kc * sizes.mc, n, rs, cs);
        for (Index begin = 0; begin < rows; begin += most) {
            const Index end = std::min(rows, begin + most);
            for (Index j = 0; j < cut.count(); ++j) {
                const Index first = cut.first(j);
                const Real<T>* const panel = triangle + blas::planes<T> * cut.numbers_before(j);
                for (Index i = begin; i < end; i += kernel.mr) {
                    const T* const next = i + kernel.mr < end ? X + (i + kernel.mr) * rs + first * cs : nullptr;
                    blas::solve_step(kernel, first, cut.cols(j), panel, panels + blas::planes<T> * i * n, kernel.height(rows - i),
                                     std::min(kernel.mr, rows - i), X + i * rs, rs, cs, next);
                }
            }
        }
    }
    /// Out of the image of the left, of which a panel's columns are rows of some of the right, where real numbers lie so.
    void pack_for_the_right(const blas::MicroKernel<T>& kernel, const blas::Operand<T>& b, const Real<T>* panels, Index rows,
                            Real<T>* to) const
    {
        if constexpr (!is_complex<T>) {
            if (kernel.mr % kernel.nr == 0) {
                for (Index i = 0; i < rows; i += kernel.mr) {
                    const blas::Operand<T> panel{panels + i * n, 1, kernel.height(rows - i)};
                    blas::pack_right(kernel, panel.transposed(), n, std::min(kernel.mr, rows - i), to + i * n);
                }
                return;
            }
        }
        const blas::Operand<T> turned = conjugate_right ? b.transposed().conjugate() : b.transposed();
        blas::pack_right(kernel, turned, n, rows, to);
    }
    void scale(Real<T>* panels, const blas::MicroKernel<T>& kernel, Index rows) const
    {
        for (Index i = 0; i < rows; i += kernel.mr) {
            const Index height = kernel.height(rows - i);
            Real<T>* const panel = panels + blas::planes<T> * i * n;
            for (Index p = 0; p < n; ++p)
                for (Index r = 0; r < height; ++r) multiply(panel + blas::planes<T> * p * height + r, height);
        }
    }
    /// A number of a panel by alpha; the imaginary part of a complex one is `height` further on.
    void multiply(Real<T>* number, [[maybe_unused]] Index height) const
    {
        if constexpr (is_complex<T>) {
            const Real<T> re = number[0], im = number[height];
            number[0] = alpha.real() * re - alpha.imag() * im;
            number[height] = alpha.real() * im + alpha.imag() * re;
        } else *number *= alpha;
    }
    /// unpack_left writes what is seen; the memory holds its conjugate.
    void conjugate_stored(T* X, Index rows) const
    {
        if constexpr (is_complex<T>)
            for (Index i = 0; i < rows; ++i)
                for (Index j = 0; j < n; ++j) {
                    T& number = X[i * B.rs + j * B.cs];
                    number = std::conj(number);
                }
    }
};

} // namespace trencadis::task
