#include "base/error.hpp"
#include "blas/scratch.hpp"
#include "kernels/chunking.hpp"
#include "kernels/packed_operations.hpp"

#include <algorithm>
#include <atomic>
#include <memory>
#include <optional>

namespace trencadis::task {
namespace {

template <Scalar T> class MultiplyWork;

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
        const double all = flops_per_fma<T> * double(p.C.rows) * double(p.C.cols) * double(p.A.depth);
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
            std::unique_ptr<MultiplyWork<T>> work = context.team().relieved() ? restartable(begin, end) : nullptr;
            if (!work) columns(begin, end);
            else if (!context.team().run(std::move(work), c)) return;
        }
    }
    /// None where there is no memory to keep what C was.
    std::unique_ptr<MultiplyWork<T>> restartable(Index begin, Index end) const
    {
        try {
            return std::make_unique<MultiplyWork<T>>(*this, begin, end);
        } catch (const Error& failure) {
            if (failure.code() != ErrorCode::out_of_memory) throw;
            return nullptr;
        }
    }
    void columns(Index begin, Index end) const
    {
        columns(blas::instruction_set().micro_kernel<T>(), blas::block_sizes<T>().kc, begin, end);
    }
    void columns(const blas::MicroKernel<T>& kernel, Index most, Index begin, Index end) const
    {
        const Index kc = std::max<Index>(1, std::min(p.A.depth, most));
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

/// Columns [begin, end) of a product. Where C is read, what it was is kept until they are done: a panel of columns at a time, right before
/// the kernel reads it, so that it is fetched once.
template <Scalar T> class MultiplyWork final : public Restartable {
public:
    MultiplyWork(const MultiplyArgs<T>& args, Index begin, Index end)
        : args_(args), begin_(begin), end_(end), kernel_(blas::instruction_set().micro_kernel<T>()),
          kc_(blas::block_sizes<T>().kc)
    {
        if (args.p.beta != T(0)) before_.emplace(args.p.C.rows * (end - begin) * Index(sizeof(T)));
    }
    void perform() override
    {
        if (!before_) return args_.columns(kernel_, kc_, begin_, end_);
        for (Index j = begin_; j < end_; j = kept_) {
            const Index next = std::min(end_, j + kernel_.nr);
            each_element(j, next, [](T& C, T& before) { before = C; });
            // Whoever finds a panel of C changed finds it kept: instructions of one thread, of which a stop leaves out the last ones.
            std::atomic_signal_fence(std::memory_order_seq_cst);
            kept_ = next;
            std::atomic_signal_fence(std::memory_order_seq_cst);
            fetch(next, std::min(end_, next + kernel_.nr));
            args_.columns(kernel_, kc_, j, next);
        }
    }
    void perform_again() override
    {
        if (before_) each_element(begin_, kept_, [](T& C, T& before) { C = before; });
        args_.columns(kernel_, kc_, begin_, end_);
    }

private:
    /// Some columns of C into the caches, while the kernel works on those before.
    void fetch(Index begin, Index end) const
    {
        const Target<T>& C = args_.p.C;
        constexpr Index line = 64 / sizeof(T);
        for (Index j = begin; j < end; ++j)
            for (Index i = 0; i < C.rows; i += line) __builtin_prefetch(C.data + i * C.rs + j * C.cs, 1);
    }
    /// What the product writes in some columns, and where it is kept.
    template <class Move> void each_element(Index begin, Index end, const Move& move) const
    {
        const Target<T>& C = args_.p.C;
        for (Index j = begin; j < end; ++j) {
            const Index diagonal = j + args_.p.below;
            const Index first = args_.p.part == blas::Part::lower ? std::clamp<Index>(diagonal, 0, C.rows) : 0;
            const Index last = args_.p.part == blas::Part::upper ? std::clamp<Index>(diagonal + 1, 0, C.rows) : C.rows;
            T *const column = C.data + j * C.cs, *const kept = before_->template as<T>() + (j - begin_) * C.rows;
            if (C.rs == 1)
                for (Index i = first; i < last; ++i) move(column[i], kept[i]);
            else
                for (Index i = first; i < last; ++i) move(column[i * C.rs], kept[i]);
        }
    }

    const MultiplyArgs<T> args_;
    const Index begin_, end_;
    const blas::MicroKernel<T>& kernel_;
    const Index kc_;
    std::optional<blas::SharedBuffer> before_;
    Index kept_ = begin_; ///< columns before it are in `before_`
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
