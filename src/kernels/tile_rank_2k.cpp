#include "kernels/chunking.hpp"
#include "kernels/tile_access.hpp"
#include "kernels/tile_operations.hpp"
#include "matrix/conjugate.hpp"
#include "matrix/operations.hpp"

#include <cassert>

namespace trencadis::task {
namespace {

/// One triangle of C <- alpha op(A) op(B)^f + f(alpha) op(B) op(A)^f + beta C on stored tiles, C n x n; f is the transpose, or for
/// `hermitian` the Hermitian transpose. A block of columns is a triangle on the diagonal and a rectangle beside it.
template <Scalar T, bool hermitian> struct Rank2kArgs {
    using Beta = std::conditional_t<hermitian, Real<T>, T>;
    static constexpr Op mirror = hermitian ? herm_op<T> : Op::trans;
    const KernelProvider* kernels;
    const T *A, *B;
    T* C;
    Index lda, ldb, ldc;
    std::int32_t n, k;
    Uplo uplo;
    Op op;
    T alpha;
    Beta beta;

    Flops flops() const { return operations::rank_2k(n, k).template flops<T>(); }
    Index chunks() const { return chunk_count(n, flops()); }

    void run(TaskContext& context)
    {
        while (const auto c = context.team().next()) {
            const Range r = range_of(c, chunks(), n);
            triangle(r);
            rectangle(r, uplo == Uplo::lower ? Range{r.end, n} : Range{0, r.begin});
        }
    }
    const T* a_from(Index row) const { return A + row * (op == Op::none ? 1 : lda); }
    const T* b_from(Index row) const { return B + row * (op == Op::none ? 1 : ldb); }
    void triangle(Range r) const
    {
        const T *const a = a_from(r.begin), *const b = b_from(r.begin);
        T* const c = C + r.begin * (ldc + 1);
        if constexpr (hermitian) kernels->her2k(uplo, op, r.size(), k, alpha, a, lda, b, ldb, beta, c, ldc);
        else kernels->syr2k(uplo, op, r.size(), k, alpha, a, lda, b, ldb, beta, c, ldc);
    }
    void rectangle(Range columns, Range rows) const
    {
        if (rows.size() == 0) return;
        const Op other = op != Op::none ? Op::none : mirror;
        T* const c = C + rows.begin + columns.begin * ldc;
        kernels->gemm(op, other, rows.size(), columns.size(), k, alpha, a_from(rows.begin), lda, b_from(columns.begin), ldb,
                      T(beta), c, ldc);
        kernels->gemm(op, other, rows.size(), columns.size(), k, seen_through(mirror, alpha), b_from(rows.begin), ldb,
                      a_from(columns.begin), lda, T(1), c, ldc);
    }
};

template <Scalar T, bool hermitian, class Beta>
void submit(TaskFlow& flow, const Codelet& codelet, const KernelProvider& kernels, T alpha, Tile<T> A, Tile<T> B, Beta beta,
            Tile<T> C)
{
    assert(A.op == B.op);
    // The sum is its own (Hermitian) transpose: transposed storage only means the other triangle.
    const Uplo uplo = C.op == Op::none ? Uplo::lower : Uplo::upper;
    const Rank2kArgs<T, hermitian> args{
        &kernels, A.data, B.data, C.data, A.ld, B.ld, C.ld, std::int32_t(C.rows), std::int32_t(A.cols), uplo, A.op, alpha, beta};
    flow.submit(codelet, args, {read(A), read(B), readwrite(C)});
}

} // namespace

template <Scalar T> void syr2k(TaskFlow& flow, const KernelProvider& kernels, T alpha, Tile<T> A, Tile<T> B, T beta, Tile<T> C)
{
    static constexpr Codelet codelet = codelet_of<Rank2kArgs<T, false>>("syr2k");
    submit<T, false>(flow, codelet, kernels, alpha, A, B, beta, C);
}

template <Scalar T>
void her2k(TaskFlow& flow, const KernelProvider& kernels, T alpha, Tile<T> A, Tile<T> B, Real<T> beta, Tile<T> C)
{
    static constexpr Codelet codelet = codelet_of<Rank2kArgs<T, true>>(is_complex<T> ? "her2k" : "syr2k");
    submit<T, true>(flow, codelet, kernels, alpha, A, B, beta, C);
}

#define TRC_INSTANTIATE(T)                                                                                                       \
    template void syr2k(TaskFlow&, const KernelProvider&, T, Tile<T>, Tile<T>, T, Tile<T>);                                      \
    template void her2k(TaskFlow&, const KernelProvider&, T, Tile<T>, Tile<T>, Real<T>, Tile<T>);
TRC_INSTANTIATE(float)
TRC_INSTANTIATE(double)
TRC_INSTANTIATE(std::complex<float>)
TRC_INSTANTIATE(std::complex<double>)
#undef TRC_INSTANTIATE

} // namespace trencadis::task
