#include "kernels/tiles/operands.hpp"
#include "kernels/tiles/packed_access.hpp"

namespace trencadis::task {
namespace {

template <Scalar T, bool left> struct PackArgs {
    OperandForm<T> operand;
    ImageForm image;

    void run(TaskContext& context)
    {
        const blas::MicroKernel<T>& kernel = blas::instruction_set().micro_kernel<T>();
        const Stored<const T> from = stored<const T>(context, 0);
        const blas::Operand<T> A = operand.at(from.data, from.ld);
        Real<T>* const to = data_of<Real<T>>(context, 1);
        if constexpr (left) blas::pack_left(kernel, A, image.extent, image.depth, to);
        else blas::pack_right(kernel, A, image.depth, image.extent, to);
    }
};

template <Scalar T, bool left>
void submit(Flow& flow, const blas::Operand<T>& operand, Image<T> image, const TaskOptions& options)
{
    static constexpr Codelet codelet = codelet_of<PackArgs<T, left>>("pack", left ? "left" : "right");
    const Index rows = left ? image.form.extent : image.form.depth, cols = left ? image.form.depth : image.form.extent;
    const Datum from = datum(operand, rows, cols);
    flow.submit(codelet, PackArgs<T, left>{{operand, rows, cols}, image.form}, {read(from), write(datum(image))}, options);
}

} // namespace

template <Scalar T> void pack_left(Flow& flow, const blas::Operand<T>& A, Image<T> image, const TaskOptions& options)
{
    submit<T, true>(flow, A, image, options);
}
template <Scalar T> void pack_right(Flow& flow, const blas::Operand<T>& B, Image<T> image, const TaskOptions& options)
{
    submit<T, false>(flow, B, image, options);
}

#define TRC_INSTANTIATE(T)                                                                                                       \
    template void pack_left(Flow&, const blas::Operand<T>&, Image<T>, const TaskOptions&);                                       \
    template void pack_right(Flow&, const blas::Operand<T>&, Image<T>, const TaskOptions&);
TRC_INSTANTIATE(float)
TRC_INSTANTIATE(double)
TRC_INSTANTIATE(std::complex<float>)
TRC_INSTANTIATE(std::complex<double>)
#undef TRC_INSTANTIATE

} // namespace trencadis::task
