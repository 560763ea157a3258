#include "kernels/packed_operations.hpp"

namespace trencadis::task {
namespace {

template <Scalar T> Bytes bytes_of(const Image<T>& image) { return double(image.extent) * double(image.depth) * sizeof(T); }

template <Scalar T, bool left> struct PackArgs {
    blas::Operand<T> operand;
    Image<T> image;

    void run(TaskContext&)
    {
        const blas::MicroKernel<T>& kernel = blas::instruction_set().micro_kernel<T>();
        if constexpr (left) blas::pack_left(kernel, operand, image.extent, image.depth, image.data);
        else blas::pack_right(kernel, operand, image.depth, image.extent, image.data);
    }
};

template <Scalar T, bool left> void submit(TaskFlow& flow, const blas::Operand<T>& operand, const void* source, Image<T> image)
{
    static constexpr Codelet codelet = codelet_of<PackArgs<T, left>>("pack");
    const PackArgs<T, left> args{operand, image};
    const Access target = write(const_cast<void*>(image.key), bytes_of(image));
    if (source) flow.submit(codelet, args, {read(source, bytes_of(image)), target});
    else flow.submit(codelet, args, {target});
}

} // namespace

template <Scalar T> void pack_left(TaskFlow& flow, const blas::Operand<T>& A, const void* source, Image<T> image)
{
    submit<T, true>(flow, A, source, image);
}

template <Scalar T> void pack_right(TaskFlow& flow, const blas::Operand<T>& B, const void* source, Image<T> image)
{
    submit<T, false>(flow, B, source, image);
}

#define TRC_INSTANTIATE(T)                                                                                                       \
    template void pack_left(TaskFlow&, const blas::Operand<T>&, const void*, Image<T>);                                          \
    template void pack_right(TaskFlow&, const blas::Operand<T>&, const void*, Image<T>);
TRC_INSTANTIATE(float)
TRC_INSTANTIATE(double)
TRC_INSTANTIATE(std::complex<float>)
TRC_INSTANTIATE(std::complex<double>)
#undef TRC_INSTANTIATE

} // namespace trencadis::task
