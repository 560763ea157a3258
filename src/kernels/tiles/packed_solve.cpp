#include "graph/task.hpp"
#include "kernels/tiles/chunking.hpp"
#include "kernels/tiles/operands.hpp"
#include "kernels/tiles/packed_access.hpp"
#include "kernels/tiles/rows_to_solve.hpp"
#include "matrix/operations.hpp"

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
        const RowsToSolve<T> all{n,
                                 data_of<const Real<T>>(context, 0),
                                 B.at(X.data, X.ld),
                                 data_of<Real<T>>(context, 2),
                                 makes_right ? data_of<Real<T>>(context, 3) : nullptr,
                                 alpha,
                                 conjugate_right};
        while (const auto c = context.team().next()) all.solve(c.begin * height, c.end == count ? rows : c.end * height);
    }
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
