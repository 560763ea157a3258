#include "kernels/tiles/operands.hpp"
#include "kernels/tiles/packed_access.hpp"
#include "kernels/tiles/tile_access.hpp"
#include "matrix/operations.hpp"

namespace trencadis::task {
namespace {

template <Scalar T> struct PotrfArgs {
    Index n;
    Op op;
    Index first_row;

    Flops flops() const { return operations::potrf(double(n)).template flops<T>(); }
    void run(TaskContext& context)
    {
        if (context.outcome().reached(first_row)) return;
        const Stored<T> A = stored<T>(context, 0);
        const Uplo uplo = op == Op::none ? Uplo::lower : Uplo::upper;
        if (const Index row = kernels_of(context).potrf(uplo, n, A.data, A.ld)) return context.outcome().report(first_row + row);
        blas::Operand<T> U = blas::general<T>(A.data, A.ld, compose<T>(Op::conj_trans, op));
        U.structure = blas::Structure::triangular;
        U.uplo = Uplo::upper;
        blas::pack_triangle(blas::instruction_set().micro_kernel<T>(), U, n, data_of<Real<T>>(context, 1));
    }
};

} // namespace

template <Scalar T> void potrf_packed(Flow& flow, Tile<T> A, ImageMemory<T> triangle, Index first_row)
{
    static constexpr Codelet codelet = codelet_of<PotrfArgs<T>>("potrf", "packed");
    const Access image = write(datum_of_triangle<T>(triangle, A.rows));
    flow.submit(codelet, PotrfArgs<T>{A.rows, A.op, first_row}, {readwrite(A), image});
}

#define TRC_INSTANTIATE(T) template void potrf_packed(Flow&, Tile<T>, ImageMemory<T>, Index);
TRC_INSTANTIATE(float)
TRC_INSTANTIATE(double)
TRC_INSTANTIATE(std::complex<float>)
TRC_INSTANTIATE(std::complex<double>)
#undef TRC_INSTANTIATE

} // namespace trencadis::task
