#include "blas/team_product.hpp"
#include "kernels/chunking.hpp"
#include "kernels/team_operation.hpp"
#include "kernels/tile_access.hpp"
#include "kernels/tile_operations.hpp"
#include "matrix/operations.hpp"

namespace trencadis::task {
namespace {

/// One triangle of C <- alpha op(A) op(A)^f + beta C on stored tiles, C n x n; f is the transpose, or for `hermitian` the
/// Hermitian transpose. A block of columns is a triangle on the diagonal and a rectangle beside it.
template <Scalar T, bool hermitian> struct RankKArgs {
    using Factor = std::conditional_t<hermitian, Real<T>, T>;
    const KernelProvider* kernels;
    const T* A;
    T* C;
    Index lda, ldc;
    std::int32_t n, k;
    Uplo uplo;
    Op op;
    Factor alpha, beta;
    Guard guard;
    TeamOperation<blas::TeamProduct<T>> shared{};

    Flops flops() const { return operations::rank_k(n, k).template flops<T>(); }
    /// Our own kernels pack the right operand once for the whole team.
    bool packs_once() const
    {
        constexpr KernelRoutine triangles = hermitian ? KernelRoutine::herk : KernelRoutine::syrk;
        return kernels->native(triangles) && kernels->native(KernelRoutine::gemm) && flops() >= smallest_shared;
    }
    Index chunks() const
    {
        if (!packs_once()) return chunk_count(n, flops());
        return blas::TeamProduct<T>::count_chunks(blas::setup<T>(0), n, n, k);
    }
    void release() { shared.release(); }

    void run(TaskContext& context)
    {
        if (guard.stopped()) return;
        if (packs_once())
            return shared.run(
                context.team(), chunks(), [&] { return product(); },
                [&] {
                    triangle({0, n});
                });
        while (const auto c = context.team().next()) {
            const Range r = range_of(c, chunks(), n);
            triangle(r);
            rectangle(r, uplo == Uplo::lower ? Range{r.end, n} : Range{0, r.begin});
        }
    }
    std::unique_ptr<blas::TeamProduct<T>> product() const
    {
        const blas::Operand<T> left = blas::general(A, lda, op);
        const blas::Operand<T> right = hermitian ? left.transposed().conjugate() : left.transposed();
        const blas::Product<T> all{n, n, k, T(alpha), left, right, T(beta), C, 1, ldc, blas::part_of(uplo)};
        return std::make_unique<blas::TeamProduct<T>>(all, blas::setup<T>(0), hermitian);
    }
    const T* rows_from(Index first) const { return A + first * (op == Op::none ? 1 : lda); }
    void triangle(Range r) const
    {
        T* const block = C + r.begin * (ldc + 1);
        if constexpr (hermitian) kernels->herk(uplo, op, r.size(), k, alpha, rows_from(r.begin), lda, beta, block, ldc);
        else kernels->syrk(uplo, op, r.size(), k, alpha, rows_from(r.begin), lda, beta, block, ldc);
    }
    void rectangle(Range columns, Range rows) const
    {
        if (rows.size() == 0) return;
        const Op other = op != Op::none ? Op::none : hermitian ? herm_op<T> : Op::trans;
        kernels->gemm(op, other, rows.size(), columns.size(), k, T(alpha), rows_from(rows.begin), lda, rows_from(columns.begin),
                      lda, T(beta), C + rows.begin + columns.begin * ldc, ldc);
    }
};

template <Scalar T, bool hermitian, class Factor>
void rank_k(TaskFlow& flow, const Codelet& codelet, const KernelProvider& kernels, Factor alpha, Tile<T> A, Factor beta,
            Tile<T> C, Guard guard)
{
    // The product is its own (Hermitian) transpose: transposed storage only means the other triangle.
    const Uplo uplo = C.op == Op::none ? Uplo::lower : Uplo::upper;
    const RankKArgs<T, hermitian> args{&kernels, A.data, C.data, A.ld, C.ld, std::int32_t(C.rows), std::int32_t(A.cols),
                                       uplo,     A.op,   alpha,  beta, guard};
    flow.submit(codelet, args, {read(A), readwrite(C)});
}

} // namespace

template <Scalar T> void syrk(TaskFlow& flow, const KernelProvider& kernels, T alpha, Tile<T> A, T beta, Tile<T> C, Guard guard)
{
    static constexpr Codelet codelet = codelet_of<RankKArgs<T, false>>("syrk");
    rank_k<T, false>(flow, codelet, kernels, alpha, A, beta, C, guard);
}

template <Scalar T>
void herk(TaskFlow& flow, const KernelProvider& kernels, Real<T> alpha, Tile<T> A, Real<T> beta, Tile<T> C, Guard guard)
{
    static constexpr Codelet codelet = codelet_of<RankKArgs<T, true>>(is_complex<T> ? "herk" : "syrk");
    rank_k<T, true>(flow, codelet, kernels, alpha, A, beta, C, guard);
}

#define TRC_INSTANTIATE(T)                                                                                                       \
    template void syrk(TaskFlow&, const KernelProvider&, T, Tile<T>, T, Tile<T>, Guard);                                         \
    template void herk(TaskFlow&, const KernelProvider&, Real<T>, Tile<T>, Real<T>, Tile<T>, Guard);
TRC_INSTANTIATE(float)
TRC_INSTANTIATE(double)
TRC_INSTANTIATE(std::complex<float>)
TRC_INSTANTIATE(std::complex<double>)
#undef TRC_INSTANTIATE

} // namespace trencadis::task
