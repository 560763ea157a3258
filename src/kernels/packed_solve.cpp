#include "kernels/chunking.hpp"
#include "kernels/packed_operations.hpp"
#include "matrix/operations.hpp"

#include <numeric>

namespace trencadis::task {
namespace {

template <Scalar T> struct SolveArgs {
    TriangularSolve<T> s;

    Flops flops() const { return operations::triangular(double(s.n), double(s.rows)).template flops<T>(); }
    /// Rows of one chunk: whole panels of both images.
    Index chunk_rows() const
    {
        const blas::MicroKernel<T>& kernel = blas::instruction_set().micro_kernel<T>();
        const Index unit = std::lcm(kernel.mr, kernel.nr);
        return (chunk_width + unit - 1) / unit * unit;
    }
    Index chunks() const { return flops() < smallest_shared ? 1 : (s.rows + chunk_rows() - 1) / chunk_rows(); }

    /// Rows are independent: each chunk goes from B to both images by itself.
    void run(TaskContext& context)
    {
        if (s.guard.stopped()) return;
        const Index count = chunks();
        while (const auto c = context.team().next()) rows(c.begin * chunk_rows(), c.end == count ? s.rows : c.end * chunk_rows());
    }
    void rows(Index begin, Index end) const
    {
        const blas::MicroKernel<T>& kernel = blas::instruction_set().micro_kernel<T>();
        const Index rows = end - begin;
        Real<T>* const panels = s.left.data + blas::planes<T> * begin * s.n;
        const blas::Operand<T> B = s.B.block(begin, 0);
        blas::pack_left(kernel, B, rows, s.n, panels);
        if (s.alpha != T(1)) scale(panels, kernel, rows);
        blas::solve_packed(kernel, panels, rows, 0, rows, s.n, s.triangle);
        T* const X = const_cast<T*>(B.data);
        blas::unpack_left(kernel, panels, rows, s.n, X, B.rs, B.cs);
        if (B.conjugated) conjugate_stored(X, rows);
        if (!s.right.data) return;
        const blas::Operand<T> turned = s.conjugate_right ? B.transposed().conjugate() : B.transposed();
        blas::pack_right(kernel, turned, s.n, rows, s.right.data + blas::planes<T> * begin * s.n);
    }
    void scale(Real<T>* panels, const blas::MicroKernel<T>& kernel, Index rows) const
    {
        for (Index i = 0; i < rows; i += kernel.mr) {
            const Index height = kernel.height(rows - i);
            Real<T>* const panel = panels + blas::planes<T> * i * s.n;
            for (Index p = 0; p < s.n; ++p)
                for (Index r = 0; r < height; ++r) {
                    Real<T>* const x = panel + blas::planes<T> * p * height + r;
                    if constexpr (is_complex<T>) {
                        const Real<T> re = x[0], im = x[height];
                        x[0] = s.alpha.real() * re - s.alpha.imag() * im;
                        x[height] = s.alpha.real() * im + s.alpha.imag() * re;
                    } else *x *= s.alpha;
                }
        }
    }
    /// unpack_left writes what is seen; the memory holds its conjugate.
    void conjugate_stored(T* X, Index rows) const
    {
        if constexpr (is_complex<T>)
            for (Index i = 0; i < rows; ++i)
                for (Index j = 0; j < s.n; ++j) {
                    T& x = X[i * s.B.rs + j * s.B.cs];
                    x = std::conj(x);
                }
    }
};

template <Scalar T> struct TriangleArgs {
    blas::Operand<T> U;
    Index n;
    Real<T>* triangle;

    void run(TaskContext&) { blas::pack_triangle(blas::instruction_set().micro_kernel<T>(), U, n, triangle); }
};

} // namespace

template <Scalar T> void solve_packed(TaskFlow& flow, const TriangularSolve<T>& solve)
{
    static constexpr Codelet codelet = codelet_of<SolveArgs<T>>("trsm");
    const Bytes bytes = double(solve.rows) * double(solve.n) * sizeof(T);
    flow.submit(codelet, SolveArgs<T>{solve},
                {read(solve.triangle), readwrite(solve.key, bytes), write(const_cast<void*>(solve.left.key), 2 * bytes)});
}

template <Scalar T> void pack_triangle(TaskFlow& flow, const blas::Operand<T>& U, Index n, Real<T>* triangle)
{
    static constexpr Codelet codelet = codelet_of<TriangleArgs<T>>("pack");
    flow.submit(codelet, TriangleArgs<T>{U, n, triangle}, {write(triangle)});
}

#define TRC_INSTANTIATE(T)                                                                                                       \
    template void solve_packed(TaskFlow&, const TriangularSolve<T>&);                                                            \
    template void pack_triangle(TaskFlow&, const blas::Operand<T>&, Index, Real<T>*);
TRC_INSTANTIATE(float)
TRC_INSTANTIATE(double)
TRC_INSTANTIATE(std::complex<float>)
TRC_INSTANTIATE(std::complex<double>)
#undef TRC_INSTANTIATE

} // namespace trencadis::task
