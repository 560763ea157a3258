#include "graph/task.hpp"
#include "kernels/tiles/chunking.hpp"
#include "kernels/tiles/operands.hpp"
#include "kernels/tiles/packed_access.hpp"
#include "kernels/tiles/tile_access.hpp"
#include "matrix/operations.hpp"

namespace trencadis::task {
namespace {

template <Scalar T> struct MultiplyArgs {
    T alpha, beta;
    ImageForm A, B;
    Index below;
    blas::Part part;
    bool real_diagonal;
    Guard guard;

    static bool triangular(blas::Part part) { return part != blas::Part::all; }
    static blas::Packed<T> packed(const ImageForm& form, const TaskContext& context, int access)
    {
        return {data_of<const Real<T>>(context, access), form.extent, form.depth, form.part, form.below};
    }
    Flops flops() const
    {
        if (triangular(part) && below == 0 && A.extent == B.extent)
            return operations::rank_k(A.extent, A.depth).template flops<T>();
        const Flops all = operations::gemm(A.extent, B.extent, A.depth).template flops<T>();
        return all / (triangular(part) ? 2 : 1) / (triangular(A.part) || triangular(B.part) ? 2 : 1);
    }
    Index chunks(const Kernels* kernels) const
    {
        const Index width = chunk_width_in(panel_width(kernels));
        return flops() < smallest_shared ? 1 : (B.extent + width - 1) / width;
    }
    /// Columns of a panel of the right operand.
    static Index panel_width(const Kernels* kernels) { return kernels ? blas::instruction_set().micro_kernel<T>().nr : 1; }

    void run(TaskContext& context)
    {
        if (guard.stopped(context)) return;
        const Index count = chunks(context.kernels()), width = chunk_width_in(panel_width(context.kernels()));
        while (const auto c = context.team().next()) columns(context, c.begin * width, c.end == count ? B.extent : c.end * width);
    }
    void columns(const TaskContext& context, Index begin, Index end) const
    {
        const blas::MicroKernel<T>& kernel = blas::instruction_set().micro_kernel<T>();
        const Index kc = std::max<Index>(1, std::min<Index>(A.depth, blas::block_sizes<T>().kc));
        const Stored<T> C = stored<T>(context, 2);
        if (real_diagonal && beta != T(0)) make_diagonal_real(C, begin, end); // what is stored there counts as zero
        blas::multiply_packed<T>(kernel, kc, part, below, alpha, packed(A, context, 0), 0, A.extent, packed(B, context, 1), begin,
                                 end, beta, C.data, 1, C.ld);
        if (real_diagonal) make_diagonal_real(C, begin, end);
    }
    void make_diagonal_real(Stored<T> C, Index begin, Index end) const
    {
        if constexpr (is_complex<T>)
            for (Index j = begin; j < end; ++j) {
                const Index i = j + below;
                if (i < 0 || i >= A.extent) continue;
                T& x = C.data[i + j * C.ld];
                x = x.real();
            }
    }
};
static_assert(sizeof(MultiplyArgs<std::complex<double>>) <= Task::inline_bytes);

template <Scalar T> constexpr Codelet gemm_codelet = codelet_of<MultiplyArgs<T>>("gemm", "packed");
template <Scalar T> constexpr Codelet syrk_codelet = codelet_of<MultiplyArgs<T>>("syrk", "packed");
template <Scalar T> constexpr Codelet herk_codelet = codelet_of<MultiplyArgs<T>>("herk", "packed");

} // namespace

template <Scalar T> void multiply(Flow& flow, const Product<T>& product)
{
    const Codelet& codelet = product.part == blas::Part::all          ? gemm_codelet<T>
                             : is_complex<T> && product.real_diagonal ? herk_codelet<T>
                                                                      : syrk_codelet<T>;
    const MultiplyArgs<T> args{product.alpha, product.beta, product.A.form,        product.B.form,
                               product.below, product.part, product.real_diagonal, product.guard};
    flow.submit(codelet, args, {read(datum(product.A)), read(datum(product.B)), readwrite(product.C)});
}

#define TRC_INSTANTIATE(T) template void multiply(Flow&, const Product<T>&);
TRC_INSTANTIATE(float)
TRC_INSTANTIATE(double)
TRC_INSTANTIATE(std::complex<float>)
TRC_INSTANTIATE(std::complex<double>)
#undef TRC_INSTANTIATE

} // namespace trencadis::task
