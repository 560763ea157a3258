#include "blas/level3/scratch.hpp"
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
    static blas::Packed<T> packed(const ImageForm& form, const Real<T>* image, bool far)
    {
        return {image, form.extent, form.depth, form.part, form.below, far, form.as_left};
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
        while (const auto c = context.team().next())
            columns(context, packed(A, data_of<const Real<T>>(context, 0), true), right(context), 0, c.begin * width,
                    c.end == count ? B.extent : c.end * width);
    }
    blas::Packed<T> right(const TaskContext& context) const { return packed(B, data_of<const Real<T>>(context, 1), true); }
    /// Of C's rows from `row` on, as many as `left` has.
    void columns(const TaskContext& context, const blas::Packed<T>& left, const blas::Packed<T>& right, Index row, Index begin,
                 Index end) const
    {
        const blas::MicroKernel<T>& kernel = blas::instruction_set().micro_kernel<T>();
        const Index kc = std::max<Index>(1, std::min<Index>(A.depth, blas::block_sizes<T>().kc));
        const Stored<T> C = stored<T>(context, 2);
        if (real_diagonal && beta != T(0)) make_diagonal_real(C, begin, end); // what is stored there counts as zero
        blas::multiply_packed<T>(kernel, kc, part, below, alpha, left, 0, left.extent, right, begin, end, beta, C.data + row, 1,
                                 C.ld);
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

template <Scalar T> MultiplyArgs<T> args_of(const Product<T>& x)
{
    return {x.alpha, x.beta, x.A.form, x.B.form, x.below, x.part, x.real_diagonal, x.guard};
}

template <Scalar T> constexpr Codelet gemm_codelet = codelet_of<MultiplyArgs<T>>("gemm", "packed");
template <Scalar T> constexpr Codelet syrk_codelet = codelet_of<MultiplyArgs<T>>("syrk", "packed");
template <Scalar T> constexpr Codelet herk_codelet = codelet_of<MultiplyArgs<T>>("herk", "packed");

/// The same into all of C, but the left operand is packed by each core that takes a part: as many rows at a time as it has memory
/// for. `in_place`: the right one is columns where they lie.
template <Scalar T, bool in_place> struct PackAndMultiplyArgs {
    MultiplyArgs<T> product;
    OperandForm<T> left;

    Flops flops() const { return product.flops(); }
    Index chunks(const Kernels* kernels) const { return product.chunks(kernels); }
    void run(TaskContext& context) const
    {
        const MultiplyArgs<T>& x = product;
        if (x.guard.stopped(context)) return;
        const blas::MicroKernel<T>& kernel = blas::instruction_set().micro_kernel<T>();
        const Stored<const T> from = stored<const T>(context, 0);
        const blas::Operand<T> A = left.at(from.data, from.ld);
        const Index count = chunks(context.kernels()), width = chunk_width_in(kernel.nr), rows = x.A.extent;
        Real<T>* image = nullptr;
        Index piece = 0, packed = -1;
        while (const auto c = context.team().next()) {
            if (!image)
                piece = blas::fitting(rows, std::min(rows, kernel.mr), [&](Index some) {
                    image = blas::scratch<Real<T>>(blas::Buffer::left, kernel.left_size(some, x.A.depth));
                });
            for (Index i = 0; i < rows; i += piece) {
                MultiplyArgs<T> part = x;
                part.A.extent = std::int32_t(std::min(piece, rows - i));
                part.A.below += i;
                if (packed != i) blas::pack_left(kernel, A.block(i, 0), part.A.extent, x.A.depth, image);
                packed = i;
                part.columns(context, x.packed(part.A, image, false), right(context), i, c.begin * width,
                             c.end == count ? x.B.extent : c.end * width);
            }
        }
    }
    blas::Packed<T> right(const TaskContext& context) const
    {
        if constexpr (!in_place) return product.right(context);
        const Stored<const T> B = stored<const T>(context, 1);
        return blas::where_it_lies(blas::general(B.data, B.ld), product.B.depth, product.B.extent);
    }
};
static_assert(sizeof(PackAndMultiplyArgs<std::complex<double>, true>) <= Task::inline_bytes);

} // namespace

template <Scalar T> void multiply(Flow& flow, const Product<T>& product)
{
    const Codelet& codelet = product.part == blas::Part::all          ? gemm_codelet<T>
                             : is_complex<T> && product.real_diagonal ? herk_codelet<T>
                                                                      : syrk_codelet<T>;
    flow.submit(codelet, args_of(product), {read(datum(product.A)), read(datum(product.B)), readwrite(product.C)});
}
template <Scalar T> void multiply(Flow& flow, const Product<T>& product, const blas::Operand<T>& A)
{
    static constexpr Codelet codelet = codelet_of<PackAndMultiplyArgs<T, false>>("gemm", "packing");
    const Index rows = product.A.form.extent, depth = product.A.form.depth;
    flow.submit(codelet, PackAndMultiplyArgs<T, false>{args_of(product), {A, rows, depth}},
                {read(datum(A, rows, depth)), read(datum(product.B)), readwrite(product.C)});
}
template <Scalar T> void multiply(Flow& flow, const Product<T>& product, const blas::Operand<T>& A, const blas::Operand<T>& B)
{
    static constexpr Codelet codelet = codelet_of<PackAndMultiplyArgs<T, true>>("gemm", "by-columns");
    const Index rows = product.A.form.extent, depth = product.A.form.depth;
    flow.submit(codelet, PackAndMultiplyArgs<T, true>{args_of(product), {A, rows, depth}},
                {read(datum(A, rows, depth)), read(datum(B, depth, product.B.form.extent)), readwrite(product.C)});
}

#define TRC_INSTANTIATE(T)                                                                                                       \
    template void multiply(Flow&, const Product<T>&);                                                                            \
    template void multiply(Flow&, const Product<T>&, const blas::Operand<T>&);                                                   \
    template void multiply(Flow&, const Product<T>&, const blas::Operand<T>&, const blas::Operand<T>&);
TRC_INSTANTIATE(float)
TRC_INSTANTIATE(double)
TRC_INSTANTIATE(std::complex<float>)
TRC_INSTANTIATE(std::complex<double>)
#undef TRC_INSTANTIATE

} // namespace trencadis::task
