#include "kernels/chunking.hpp"
#include "kernels/packed_operations.hpp"
#include "matrix/operations.hpp"

namespace trencadis::task {
namespace {

template <Scalar T> struct MultiplyArgs {
    Product<T> p;

    bool triangle() const { return p.part != blas::Part::all; }
    static bool triangular(const Image<T>& image) { return image.part != blas::Part::all; }
    static blas::Packed<T> packed(const Image<T>& image)
    {
        return {image.data, image.extent, image.depth, image.part, image.below};
    }
    Flops flops() const
    {
        const Flops all = operations::gemm(double(p.C.rows), double(p.C.cols), double(p.A.depth)).template flops<T>();
        return all / (triangle() ? 2 : 1) / (triangular(p.A) || triangular(p.B) ? 2 : 1);
    }
    /// Columns of one chunk: whole panels of the right operand, at least chunk_width.
    Index width() const
    {
        const Index nr = blas::instruction_set().micro_kernel<T>().nr;
        return (chunk_width + nr - 1) / nr * nr;
    }
    Index chunks() const { return flops() < smallest_shared ? 1 : (p.C.cols + width() - 1) / width(); }

    void run(TaskContext& context)
    {
        if (p.guard.stopped()) return;
        const Index count = chunks();
        while (const auto c = context.team().next()) {
            const Index begin = c.begin * width(), end = c.end == count ? p.C.cols : c.end * width();
            columns(begin, end);
        }
    }
    void columns(Index begin, Index end) const
    {
        const blas::MicroKernel<T>& kernel = blas::instruction_set().micro_kernel<T>();
        const Index kc = std::max<Index>(1, std::min(p.A.depth, blas::block_sizes<T>().kc));
        if (p.real_diagonal && p.beta != T(0)) make_diagonal_real(begin, end); // what is stored there counts as zero
        blas::multiply_packed<T>(kernel, kc, p.part, p.below, p.alpha, packed(p.A), 0, p.A.extent, packed(p.B), begin, end,
                                 p.beta, p.C.data, p.C.rs, p.C.cs);
        if (p.real_diagonal) make_diagonal_real(begin, end);
    }
    void make_diagonal_real(Index begin, Index end) const
    {
        if constexpr (is_complex<T>)
            for (Index j = begin; j < end; ++j) {
                const Index i = j + p.below;
                if (i < 0 || i >= p.C.rows) continue;
                T& x = p.C.data[i * p.C.rs + j * p.C.cs];
                x = x.real();
            }
    }
};

template <Scalar T> constexpr Codelet gemm_codelet = codelet_of<MultiplyArgs<T>>("gemm");
template <Scalar T> constexpr Codelet syrk_codelet = codelet_of<MultiplyArgs<T>>("syrk");
template <Scalar T> constexpr Codelet herk_codelet = codelet_of<MultiplyArgs<T>>("herk");

} // namespace

template <Scalar T> void multiply(TaskFlow& flow, const Product<T>& product)
{
    const Codelet& codelet = product.part == blas::Part::all          ? gemm_codelet<T>
                             : is_complex<T> && product.real_diagonal ? herk_codelet<T>
                                                                      : syrk_codelet<T>;
    const auto bytes = [](const Image<T>& image) { return double(image.extent) * double(image.depth) * sizeof(T); };
    flow.submit(codelet, MultiplyArgs<T>{product},
                {read(product.A.key, bytes(product.A)), read(product.B.key, bytes(product.B)),
                 readwrite(product.C.key, double(product.C.rows) * double(product.C.cols) * sizeof(T))});
}

#define TRC_INSTANTIATE(T) template void multiply(TaskFlow&, const Product<T>&);
TRC_INSTANTIATE(float)
TRC_INSTANTIATE(double)
TRC_INSTANTIATE(std::complex<float>)
TRC_INSTANTIATE(std::complex<double>)
#undef TRC_INSTANTIATE

} // namespace trencadis::task
