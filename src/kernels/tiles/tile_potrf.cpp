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
    /// A chain of pivots: of those devices only that have a factorization of their own.
    bool can_run_on(const ComputeUnit& unit) const
    {
        if (unit.kind == UnitKind::core) return true;
        return unit.kernels && computes<T>(unit) && static_cast<const DeviceKernels*>(unit.kernels)->routines<T>().factors();
    }
    void run_on_device(TaskContext& context) const
    {
        if (context.outcome().reached(first_row)) return;
        const Stored<T> A = stored<T>(context, 0);
        const auto told = [&outcome = context.outcome(), first = first_row](Index row) {
            if (row > 0) outcome.report(first + row);
        };
        device_kernels_of<T>(context).potrf(uplo, n, A.data, A.ld, told);
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
