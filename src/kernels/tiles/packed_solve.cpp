#include "blas/level3/block_sizes.hpp"
#include "blas/level3/macro_kernel.hpp"
#include "graph/task.hpp"
#include "kernels/tiles/chunking.hpp"
#include "kernels/tiles/operands.hpp"
#include "kernels/tiles/packed_access.hpp"
#include "matrix/operations.hpp"

#include <algorithm>
#include <numeric>

namespace trencadis::task {
namespace {

template <Scalar T> struct SolveArgs {
    OperandForm<T> B;
    std::int32_t rows, n;
    T alpha;
    bool makes_right, conjugate_right;
    Guard guard;

    Flops flops() const { return operations::triangular(n, rows).template flops<T>(); }
    /// Rows of one chunk: whole panels of both images.
    static Index chunk_rows(const Kernels* kernels)
    {
        const blas::MicroKernel<T>& kernel = blas::instruction_set().micro_kernel<T>();
        return chunk_width_in(kernels ? std::lcm(kernel.mr, kernel.nr) : 1);
    }
    Index chunks(const Kernels* kernels) const
    {
        return flops() < smallest_shared ? 1 : (rows + chunk_rows(kernels) - 1) / chunk_rows(kernels);
    }

    /// Rows are independent: each chunk goes from B to both images by itself.
    void run(TaskContext& context)
    {
        if (guard.stopped(context)) return;
        const Index count = chunks(context.kernels()), height = chunk_rows(context.kernels());
        const Stored<T> X = stored<T>(context, 1);
        const Block block{*this, data_of<const Real<T>>(context, 0), B.at(X.data, X.ld), data_of<Real<T>>(context, 2),
                          makes_right ? data_of<Real<T>>(context, 3) : nullptr};
        while (const auto c = context.team().next()) block.solve(c.begin * height, c.end == count ? rows : c.end * height);
    }
    /// Rows of B, which is read and written, and of the images.
    struct Block {
        const SolveArgs& x;
        const Real<T>* triangle;
        blas::Operand<T> B;
        Real<T>*left, *right;

        void solve(Index begin, Index end) const
        {
            const blas::MicroKernel<T>& kernel = blas::instruction_set().micro_kernel<T>();
            const Index rows = end - begin, n = x.n;
            Real<T>* const panels = left + blas::planes<T> * begin * n;
            const blas::Operand<T> b = B.block(begin, 0);
            T* const X = const_cast<T*>(b.data);
            if (x.alpha == T(1) && !b.conjugated && blas::moves_in_place(kernel, b.rs, b.cs)) {
                solve_where_it_lies(kernel, panels, rows, X, b.rs, b.cs);
            } else {
                blas::pack_left(kernel, b, rows, n, panels);
                if (x.alpha != T(1)) scale(panels, kernel, rows);
                blas::solve_packed(kernel, panels, rows, 0, rows, n, triangle);
                blas::unpack_left(kernel, panels, rows, n, X, b.rs, b.cs);
                if (b.conjugated) conjugate_stored(X, rows);
            }
            if (right) pack_for_the_right(kernel, b, panels, rows, right + blas::planes<T> * begin * n);
        }
        /// B goes through the registers once, to its own place and to the image; as many rows at a time as a call's solve takes.
        void solve_where_it_lies(const blas::MicroKernel<T>& kernel, Real<T>* panels, Index rows, T* X, Index rs, Index cs) const
        {
            const blas::BlockSizes& sizes = blas::block_sizes<T>();
            const Index most = blas::rows_past_triangle(kernel, sizes.kc * sizes.mc, x.n, rs, cs);
            for (Index begin = 0; begin < rows; begin += most) {
                const Index end = std::min(rows, begin + most);
                const Real<T>* panel = triangle;
                for (Index j = 0; j < x.n; j += kernel.nr) {
                    for (Index i = begin; i < end; i += kernel.mr) {
                        const T* const next = i + kernel.mr < end ? X + (i + kernel.mr) * rs + j * cs : nullptr;
                        blas::solve_step(kernel, j, x.n, panel, panels + blas::planes<T> * i * x.n, kernel.height(rows - i),
                                         std::min(kernel.mr, rows - i), X + i * rs, rs, cs, next);
                    }
                    panel += blas::planes<T> * (j + std::min(kernel.nr, x.n - j) + 1) * kernel.nr;
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
                        const blas::Operand<T> panel{panels + i * x.n, 1, kernel.height(rows - i)};
                        blas::pack_right(kernel, panel.transposed(), x.n, std::min(kernel.mr, rows - i), to + i * x.n);
                    }
                    return;
                }
            }
            const blas::Operand<T> turned = x.conjugate_right ? b.transposed().conjugate() : b.transposed();
            blas::pack_right(kernel, turned, x.n, rows, to);
        }
        void scale(Real<T>* panels, const blas::MicroKernel<T>& kernel, Index rows) const
        {
            for (Index i = 0; i < rows; i += kernel.mr) {
                const Index height = kernel.height(rows - i);
                Real<T>* const panel = panels + blas::planes<T> * i * x.n;
                for (Index p = 0; p < x.n; ++p)
                    for (Index r = 0; r < height; ++r) multiply(panel + blas::planes<T> * p * height + r, height);
            }
        }
        /// A number of a panel by alpha; the imaginary part of a complex one is `height` further on.
        void multiply(Real<T>* number, [[maybe_unused]] Index height) const
        {
            if constexpr (is_complex<T>) {
                const Real<T> re = number[0], im = number[height];
                number[0] = x.alpha.real() * re - x.alpha.imag() * im;
                number[height] = x.alpha.real() * im + x.alpha.imag() * re;
            } else *number *= x.alpha;
        }
        /// unpack_left writes what is seen; the memory holds its conjugate.
        void conjugate_stored(T* X, Index rows) const
        {
            if constexpr (is_complex<T>)
                for (Index i = 0; i < rows; ++i)
                    for (Index j = 0; j < x.n; ++j) {
                        T& number = X[i * B.rs + j * B.cs];
                        number = std::conj(number);
                    }
        }
    };
};
static_assert(sizeof(SolveArgs<std::complex<double>>) <= Task::inline_bytes);

template <Scalar T> struct TriangleArgs {
    OperandForm<T> U;
    Index n;

    void run(TaskContext& context)
    {
        const Stored<const T> from = stored<const T>(context, 0);
        blas::pack_triangle(blas::instruction_set().micro_kernel<T>(), U.at(from.data, from.ld), n, data_of<Real<T>>(context, 1));
    }
};

} // namespace

template <Scalar T> void solve_packed(Flow& flow, const TriangularSolve<T>& solve)
{
    static constexpr Codelet codelet = codelet_of<SolveArgs<T>>("trsm", "packed");
    const std::int32_t rows = solve.left.form.extent, n = solve.left.form.depth;
    const Datum B = datum(solve.B, rows, n);
    const SolveArgs<T> args{{solve.B, rows, n}, rows, n, solve.alpha, solve.right != nullptr, solve.conjugate_right, solve.guard};
    const Access triangle = read(datum_of_triangle<T>(solve.triangle, n)), left = write(datum(solve.left));
    if (!solve.right) return flow.submit(codelet, args, {triangle, readwrite(B), left});
    flow.submit(codelet, args, {triangle, readwrite(B), left, write(datum(Image<T>{solve.right, solve.left.form}))});
}

template <Scalar T>
void pack_triangle(Flow& flow, const blas::Operand<T>& U, Index n, ImageMemory<T> triangle, const TaskOptions& options)
{
    static constexpr Codelet codelet = codelet_of<TriangleArgs<T>>("pack", "triangle");
    const Datum from = datum(U, n, n);
    flow.submit(codelet, TriangleArgs<T>{{U, n, n}, n}, {read(from), write(datum_of_triangle<T>(triangle, n))}, options);
}

#define TRC_INSTANTIATE(T)                                                                                                       \
    template void solve_packed(Flow&, const TriangularSolve<T>&);                                                                \
    template void pack_triangle(Flow&, const blas::Operand<T>&, Index, ImageMemory<T>, const TaskOptions&);
TRC_INSTANTIATE(float)
TRC_INSTANTIATE(double)
TRC_INSTANTIATE(std::complex<float>)
TRC_INSTANTIATE(std::complex<double>)
#undef TRC_INSTANTIATE

} // namespace trencadis::task
