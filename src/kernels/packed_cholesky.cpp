#include "kernels/packed_operations.hpp"
#include "kernels/tile_access.hpp"
#include "matrix/operations.hpp"

namespace trencadis::task {
namespace {

/// A tile as an operand, as the algorithm sees it.
template <Scalar T> blas::Operand<T> operand(const Tile<T>& A) { return blas::general<T>(A.data, A.ld, A.op); }

template <Scalar T> struct PotrfArgs {
    const KernelProvider* kernels;
    Tile<T> A;
    Real<T>* triangle;
    Info* info;
    Index first_row;

    Flops flops() const { return operations::potrf(double(A.rows)).template flops<T>(); }
    void run(TaskContext&)
    {
        if (info->reached(first_row)) return;
        const Uplo uplo = A.op == Op::none ? Uplo::lower : Uplo::upper;
        if (const Index row = kernels->potrf(uplo, A.rows, A.data, A.ld)) return info->report(first_row + row);
        blas::Operand<T> U = operand(herm(A));
        U.structure = blas::Structure::triangular;
        U.uplo = Uplo::upper;
        blas::pack_triangle(blas::instruction_set().micro_kernel<T>(), U, A.rows, triangle);
    }
};

} // namespace

template <Scalar T>
void potrf_packed(TaskFlow& flow, const KernelProvider& kernels, Tile<T> A, Real<T>* triangle, Info& info, Index first_row)
{
    static constexpr Codelet codelet = codelet_of<PotrfArgs<T>>("potrf");
    flow.submit(codelet, PotrfArgs<T>{&kernels, A, triangle, &info, first_row}, {readwrite(A), write(triangle)});
}

#define TRC_INSTANTIATE(T) template void potrf_packed(TaskFlow&, const KernelProvider&, Tile<T>, Real<T>*, Info&, Index);
TRC_INSTANTIATE(float)
TRC_INSTANTIATE(double)
TRC_INSTANTIATE(std::complex<float>)
TRC_INSTANTIATE(std::complex<double>)
#undef TRC_INSTANTIATE

} // namespace trencadis::task
