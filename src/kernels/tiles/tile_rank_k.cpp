#include "blas/level3/team_product.hpp"
#include "kernels/tiles/chunking.hpp"
#include "kernels/tiles/operands.hpp"
#include "kernels/tiles/team_operation.hpp"
#include "kernels/tiles/tile_access.hpp"
#include "kernels/tiles/tile_operations.hpp"
#include "matrix/operations.hpp"

namespace trencadis::task {
namespace {

/// One triangle of C <- alpha op(A) op(A)^f + beta C on stored tiles, C n x n; f is the transpose, or for `hermitian` the
/// Hermitian transpose. A block of columns is a triangle on the diagonal and a rectangle beside it.
template <Scalar T, bool hermitian> struct RankKArgs {
    using Factor = std::conditional_t<hermitian, Real<T>, T>;
    std::int32_t n, k;
    Uplo uplo;
    Op op;
    Factor alpha, beta;
    Guard guard;
    TeamOperation<blas::TeamProduct<T>> shared{};

    Flops flops() const { return operations::rank_k(n, k).template flops<T>(); }
    /// Our own kernels pack the right operand once for the whole team.
    bool packs_once(const Kernels* kernels) const
    {
        constexpr KernelRoutine triangles = hermitian ? KernelRoutine::herk : KernelRoutine::syrk;
        return are_native(kernels, triangles) && are_native(kernels, KernelRoutine::gemm) && flops() >= smallest_shared;
    }
    Index chunks(const Kernels* kernels) const
    {
        if (!packs_once(kernels)) return chunk_count(n, flops());
        return blas::TeamProduct<T>::count_chunks(blas::setup<T>(0), n, n, k);
    }
    void release() { shared.release(); }

    void run(TaskContext& context)
    {
        if (guard.stopped(context)) return;
        const Block block{*this, kernels_of(context), stored<const T>(context, 0), stored<T>(context, 1)};
        const Index count = chunks(&block.kernels);
        if (packs_once(&block.kernels))
            return shared.run(
                context.team(), count, [&] { return product(block.A, block.C); },
                [&] {
                    block.triangle({0, n});
                });
        while (const auto c = context.team().next()) {
            const Range r = range_of(c, count, n);
            block.triangle(r);
            block.rectangle(r, uplo == Uplo::lower ? Range{r.end, n} : Range{0, r.begin});
        }
    }
    bool can_run_on(const ComputeUnit& unit) const { return computes<T>(unit); }
    void run_on_device(TaskContext& context) const
    {
        if (guard.stopped(context)) return;
        const auto A = stored<const T>(context, 0);
        const auto C = stored<T>(context, 1);
        const DeviceRoutines<T>& device = device_kernels_of<T>(context);
        if constexpr (hermitian) device.herk(uplo, op, n, k, alpha, A.data, A.ld, beta, C.data, C.ld);
        else device.syrk(uplo, op, n, k, alpha, A.data, A.ld, beta, C.data, C.ld);
    }
    std::unique_ptr<blas::TeamProduct<T>> product(Stored<const T> A, Stored<T> C) const
    {
        const blas::Operand<T> left = blas::general(A.data, A.ld, op);
        const blas::Operand<T> right = hermitian ? left.transposed().conjugate() : left.transposed();
        const blas::Product<T> all{n, n, k, T(alpha), left, right, T(beta), C.data, 1, C.ld, blas::part_of(uplo)};
        return std::make_unique<blas::TeamProduct<T>>(all, blas::setup<T>(0), hermitian);
    }
    /// Blocks of columns, each a kernel's call or two.
    struct Block {
        const RankKArgs& x;
        const KernelProvider& kernels;
        Stored<const T> A;
        Stored<T> C;

        const T* rows_from(Index first) const { return A.data + first * (x.op == Op::none ? 1 : A.ld); }
        void triangle(Range r) const
        {
            const T* const a = rows_from(r.begin);
            T* const c = C.data + r.begin * (C.ld + 1);
            if constexpr (hermitian) kernels.herk(x.uplo, x.op, r.size(), x.k, x.alpha, a, A.ld, x.beta, c, C.ld);
            else kernels.syrk(x.uplo, x.op, r.size(), x.k, x.alpha, a, A.ld, x.beta, c, C.ld);
        }
        void rectangle(Range columns, Range rows) const
        {
            if (rows.size() == 0) return;
            const Op other = x.op != Op::none ? Op::none : hermitian ? herm_op<T> : Op::trans;
            kernels.gemm(x.op, other, rows.size(), columns.size(), x.k, T(x.alpha), rows_from(rows.begin), A.ld,
                         rows_from(columns.begin), A.ld, T(x.beta), C.data + rows.begin + columns.begin * C.ld, C.ld);
        }
    };
};

template <Scalar T, bool hermitian, class Factor>
void rank_k(Flow& flow, const Codelet& codelet, Factor alpha, Tile<T> A, Factor beta, Tile<T> C, Guard guard)
{
    // The product is its own (Hermitian) transpose: transposed storage only means the other triangle.
    const Uplo uplo = C.op == Op::none ? Uplo::lower : Uplo::upper;
    const RankKArgs<T, hermitian> args{std::int32_t(C.rows), std::int32_t(A.cols), uplo, A.op, alpha, beta, guard};
    flow.submit(codelet, args, {read(A), readwrite(C)});
}

} // namespace

template <Scalar T> void syrk(Flow& flow, T alpha, Tile<T> A, T beta, Tile<T> C, Guard guard)
{
    static constexpr Codelet codelet = codelet_of<RankKArgs<T, false>>("syrk");
    rank_k<T, false>(flow, codelet, alpha, A, beta, C, guard);
}

template <Scalar T> void herk(Flow& flow, Real<T> alpha, Tile<T> A, Real<T> beta, Tile<T> C, Guard guard)
{
    static constexpr Codelet codelet =
        codelet_of<RankKArgs<T, true>>(is_complex<T> ? "herk" : "syrk", is_complex<T> ? "" : "herk");
    rank_k<T, true>(flow, codelet, alpha, A, beta, C, guard);
}

#define TRC_INSTANTIATE(T)                                                                                                       \
    template void syrk(Flow&, T, Tile<T>, T, Tile<T>, Guard);                                                                    \
    template void herk(Flow&, Real<T>, Tile<T>, Real<T>, Tile<T>, Guard);
TRC_INSTANTIATE(float)
TRC_INSTANTIATE(double)
TRC_INSTANTIATE(std::complex<float>)
TRC_INSTANTIATE(std::complex<double>)
#undef TRC_INSTANTIATE

} // namespace trencadis::task
