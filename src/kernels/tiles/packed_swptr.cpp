#include "graph/task.hpp"
#include "kernels/tiles/chunking.hpp"
#include "kernels/tiles/factor_flops.hpp"
#include "kernels/tiles/lu_access.hpp"
#include "kernels/tiles/operands.hpp"
#include "kernels/tiles/packed_access.hpp"
#include "kernels/tiles/row_interchanges.hpp"
#include "kernels/tiles/rows_to_solve.hpp"

#include "blas/level3/scratch.hpp"

#include <numeric>
#include <vector>

namespace trencadis::task {
namespace {

/// Columns are independent: each chunk exchanges its rows, is solved as rows of the transposed system, and packed.
template <Scalar T> struct SwptrArgs {
    Index m, n, first;
    GridPlace tiles;
    std::int32_t image_access; ///< -1: none

    Flops flops() const { return flops_per_fma<T> / 2 * kernel_flops::gessm(double(m), double(n)); }
    /// Columns of one chunk: whole panels of the solution and of its image.
    static Index chunk_columns(const Kernels* kernels)
    {
        const blas::MicroKernel<T>& kernel = blas::instruction_set().micro_kernel<T>();
        return chunk_width_in(kernels ? std::lcm(kernel.mr, kernel.nr) : 1);
    }
    Index chunks(const Kernels* kernels) const
    {
        return flops() < smallest_shared ? 1 : (n + chunk_columns(kernels) - 1) / chunk_columns(kernels);
    }
    void run(TaskContext& context)
    {
        const Index count = chunks(context.kernels()), width = chunk_columns(context.kernels());
        const Real<T>* const triangle = data_of<const Real<T>>(context, 0);
        const PivotList pivots(context, {1, 1});
        Real<T>* const image = image_access >= 0 ? data_of<Real<T>>(context, image_access) : nullptr;
        while (const auto c = context.team().next()) {
            const Index begin = c.begin * width, end = c.end == count ? n : c.end * width;
            exchange_rows<T>(context, tiles, begin, end, first, pivots);
            const Whole<T> B(context, top_of(context, tiles, m), begin, end);
            columns(triangle, *B, end - begin, image ? image + blas::planes<T> * begin * m : nullptr);
            B.store();
        }
    }
    /// A few at a time, whose solution goes from the cache into the image.
    void columns(const Real<T>* triangle, Stored<T> B, Index cols, Real<T>* image) const
    {
        const blas::MicroKernel<T>& kernel = blas::instruction_set().micro_kernel<T>();
        const Index some = std::min(cols, 2 * std::lcm(kernel.mr, kernel.nr));
        Real<T>* const solution = blas::scratch<Real<T>>(blas::Buffer::solution, kernel.left_size(some, m));
        for (Index begin = 0; begin < cols; begin += some) {
            const blas::Operand<T> rows = blas::general<T>(B.data + begin * B.ld, B.ld).transposed();
            RowsToSolve<T>{m, triangle, rows, solution, image ? image + blas::planes<T> * begin * m : nullptr}.solve(
                0, std::min(some, cols - begin));
        }
    }
};
static_assert(sizeof(SwptrArgs<std::complex<double>>) <= Task::inline_bytes);

} // namespace

template <Scalar T>
void swptr_packed(Flow& flow, TileMatrix<T> A, Index k, Index j, Pivots pivots, ImageMemory<T> triangle, ImageMemory<T> image)
{
    static constexpr Codelet codelet = codelet_of<SwptrArgs<T>>("swptr", "packed");
    const Tile<T> top = A(k, j);
    std::vector<Access> accesses{read(datum_of_triangle<T>(triangle, top.rows)), read(pivots)};
    const TileGrid<T> columns = column_of(A, j, k, A.row_tiles());
    const GridPlace tiles = GridPlace::of(accesses.size(), columns);
    add(accesses, &trencadis::readwrite<T>, columns);
    const std::int32_t image_access = image ? std::int32_t(accesses.size()) : -1;
    if (image) accesses.push_back(write(datum(Image<T>{image, {top.cols, top.rows}})));
    flow.submit(codelet, SwptrArgs<T>{top.rows, top.cols, A.first_row(k), tiles, image_access}, accesses);
}

#define TRC_INSTANTIATE(T) template void swptr_packed(Flow&, TileMatrix<T>, Index, Index, Pivots, ImageMemory<T>, ImageMemory<T>);
TRC_INSTANTIATE(float)
TRC_INSTANTIATE(double)
TRC_INSTANTIATE(std::complex<float>)
TRC_INSTANTIATE(std::complex<double>)
#undef TRC_INSTANTIATE

} // namespace trencadis::task
