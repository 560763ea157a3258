#include "kernels/tiles/operands.hpp"
#include "kernels/tiles/tile_access.hpp"
#include "kernels/tiles/tile_operations.hpp"
#include "matrix/operations.hpp"

namespace trencadis::task {
namespace {

template <Scalar T> struct PotrfArgs {
    Index n;
    Uplo uplo;
    Index first_row;

    Flops flops() const { return operations::potrf(double(n)).template flops<T>(); }
    void run(TaskContext& context)
    {
        if (context.outcome().reached(first_row)) return;
        const Stored<T> A = stored<T>(context, 0);
        if (const Index row = kernels_of(context).potrf(uplo, n, A.data, A.ld)) context.outcome().report(first_row + row);
    }
};

} // namespace

template <Scalar T> void potrf(Flow& flow, Tile<T> A, Index first_row)
{
    static constexpr Codelet codelet = codelet_of<PotrfArgs<T>>("potrf");
    const Uplo uplo = A.op == Op::none ? Uplo::lower : Uplo::upper;
    const PotrfArgs<T> args{A.rows, uplo, first_row};
    flow.submit(codelet, args, {readwrite(A)});
}

#define TRC_INSTANTIATE(T) template void potrf(Flow&, Tile<T>, Index);
TRC_INSTANTIATE(float)
TRC_INSTANTIATE(double)
TRC_INSTANTIATE(std::complex<float>)
TRC_INSTANTIATE(std::complex<double>)
#undef TRC_INSTANTIATE

} // namespace trencadis::task
