#include "blas/level3.hpp"
#include "kernels/chunking.hpp"
#include "kernels/packed_operations.hpp"
#include "kernels/tile_access.hpp"

#include <numeric>

namespace trencadis::task {
namespace {

/// A tile as an operand, as the algorithm sees it.
template <Scalar T> blas::Operand<T> operand(const Tile<T>& A) { return blas::general<T>(A.data, A.ld, A.op); }

template <Scalar T> struct PotrfArgs {
    Tile<T> A;
    Real<T>* triangle;
    Info* info;
    Index first_row;

    Flops flops() const { return flops_per_fma<T> / 6 * double(A.rows) * double(A.rows) * double(A.rows); }
    void run(TaskContext&)
    {
        if (info->reached(first_row)) return;
        const Uplo uplo = A.op == Op::none ? Uplo::lower : Uplo::upper;
        if (const Index row = blas::potrf(uplo, A.rows, A.data, A.ld)) return info->report(first_row + row);
        blas::Operand<T> U = operand(herm(A));
        U.structure = blas::Structure::triangular;
        U.uplo = Uplo::upper;
        blas::pack_triangle(blas::instruction_set().micro_kernel<T>(), U, A.rows, triangle);
    }
};

template <Scalar T> struct SolveArgs {
    const Real<T>* triangle;
    Tile<T> B;
    Image<T> left, right;
    Guard guard;

    Flops flops() const { return flops_per_fma<T> / 2 * double(B.rows) * double(B.cols) * double(B.cols); }
    /// Rows of one chunk: whole panels of both images.
    Index chunk_rows() const
    {
        const blas::MicroKernel<T>& kernel = blas::instruction_set().micro_kernel<T>();
        const Index unit = std::lcm(kernel.mr, kernel.nr);
        return (chunk_width + unit - 1) / unit * unit;
    }
    Index chunks() const { return (B.rows + chunk_rows() - 1) / chunk_rows(); }

    /// Rows are independent: each chunk goes from B to both images by itself.
    void run(TaskContext& context)
    {
        if (guard.stopped()) return;
        while (const auto c = context.team().next()) rows(c.begin * chunk_rows(), std::min(B.rows, c.end * chunk_rows()));
    }
    void rows(Index begin, Index end) const
    {
        const blas::MicroKernel<T>& kernel = blas::instruction_set().micro_kernel<T>();
        const Index n = B.cols, rows = end - begin;
        Real<T>* const panels = left.data + blas::planes<T> * begin * n; // `begin` is a multiple of mr
        const blas::Operand<T> part = operand(B).block(begin, 0);
        blas::pack_left(kernel, part, rows, n, panels);
        blas::solve_packed(kernel, panels, rows, 0, rows, n, triangle);
        T* const stored = B.data + (B.op == Op::none ? begin : begin * B.ld);
        blas::unpack_left(kernel, panels, rows, n, stored, B.op == Op::none ? 1 : B.ld, B.op == Op::none ? B.ld : 1);
        if (B.op == Op::conj_trans) conjugate_columns(stored, n, rows);
        blas::pack_right(kernel, operand(herm(B)).block(0, begin), n, rows, right.data + blas::planes<T> * begin * n);
    }
    /// unpack_left writes what is seen; the memory holds its conjugate.
    void conjugate_columns(T* stored, Index n, Index columns) const
    {
        if constexpr (is_complex<T>)
            for (Index j = 0; j < columns; ++j)
                for (Index i = 0; i < n; ++i) stored[i + j * B.ld] = std::conj(stored[i + j * B.ld]);
    }
};

} // namespace

template <Scalar T> void potrf_packed(TaskFlow& flow, Tile<T> A, Real<T>* triangle, Info& info, Index first_row)
{
    static constexpr Codelet codelet = codelet_of<PotrfArgs<T>>("potrf");
    flow.submit(codelet, PotrfArgs<T>{A, triangle, &info, first_row}, {readwrite(A), write(triangle)});
}

template <Scalar T>
void solve_packed(TaskFlow& flow, const Real<T>* triangle, Tile<T> B, Image<T> left, Image<T> right, Guard guard)
{
    static constexpr Codelet codelet = codelet_of<SolveArgs<T>>("trsm");
    const Bytes image = bytes_of(B);
    flow.submit(codelet, SolveArgs<T>{triangle, B, left, right, guard},
                {read(triangle), readwrite(B), write(const_cast<void*>(left.key), 2 * image)});
}

#define TRC_INSTANTIATE(T)                                                                                                       \
    template void potrf_packed(TaskFlow&, Tile<T>, Real<T>*, Info&, Index);                                                      \
    template void solve_packed(TaskFlow&, const Real<T>*, Tile<T>, Image<T>, Image<T>, Guard);
TRC_INSTANTIATE(float)
TRC_INSTANTIATE(double)
TRC_INSTANTIATE(std::complex<float>)
TRC_INSTANTIATE(std::complex<double>)
#undef TRC_INSTANTIATE

} // namespace trencadis::task
