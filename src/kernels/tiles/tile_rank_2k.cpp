#include "kernels/tiles/chunking.hpp"
#include "kernels/tiles/operands.hpp"
#include "kernels/tiles/tile_access.hpp"
#include "kernels/tiles/tile_operations.hpp"
#include "matrix/conjugate.hpp"
#include "matrix/operations.hpp"

#include <cassert>

namespace trencadis::task {
namespace {

/// One triangle of C <- alpha op(A) op(B)^f + f(alpha) op(B) op(A)^f + beta C on stored tiles, C n x n; f is the transpose, or
/// for `hermitian` the Hermitian transpose. A block of columns is a triangle on the diagonal and a rectangle beside it.
template <Scalar T, bool hermitian> struct Rank2kArgs {
    using Beta = std::conditional_t<hermitian, Real<T>, T>;
    static constexpr Op mirror = hermitian ? herm_op<T> : Op::trans;
    std::int32_t n, k;
    Uplo uplo;
    Op op;
    T alpha;
    Beta beta;

    Flops flops() const { return operations::rank_2k(n, k).template flops<T>(); }
    Index chunks() const { return chunk_count(n, flops()); }

    void run(TaskContext& context)
    {
        const Block block{*this, kernels_of(context), stored<const T>(context, 0), stored<const T>(context, 1),
                          stored<T>(context, 2)};
        while (const auto c = context.team().next()) {
            const Range r = range_of(c, chunks(), n);
            block.triangle(r);
            block.rectangle(r, uplo == Uplo::lower ? Range{r.end, n} : Range{0, r.begin});
        }
    }
    /// Blocks of columns, each some calls of kernels.
    struct Block {
        const Rank2kArgs& x;
        const KernelProvider& kernels;
        Stored<const T> A, B;
        Stored<T> C;

        const T* a_from(Index row) const { return A.data + row * (x.op == Op::none ? 1 : A.ld); }
        const T* b_from(Index row) const { return B.data + row * (x.op == Op::none ? 1 : B.ld); }
        void triangle(Range r) const
        {
            const T *const a = a_from(r.begin), *const b = b_from(r.begin);
            T* const c = C.data + r.begin * (C.ld + 1);
            if constexpr (hermitian) kernels.her2k(x.uplo, x.op, r.size(), x.k, x.alpha, a, A.ld, b, B.ld, x.beta, c, C.ld);
            else kernels.syr2k(x.uplo, x.op, r.size(), x.k, x.alpha, a, A.ld, b, B.ld, x.beta, c, C.ld);
        }
        void rectangle(Range columns, Range rows) const
        {
            if (rows.size() == 0) return;
            const Op other = x.op != Op::none ? Op::none : mirror;
            T* const c = C.data + rows.begin + columns.begin * C.ld;
            kernels.gemm(x.op, other, rows.size(), columns.size(), x.k, x.alpha, a_from(rows.begin), A.ld, b_from(columns.begin),
                         B.ld, T(x.beta), c, C.ld);
            kernels.gemm(x.op, other, rows.size(), columns.size(), x.k, seen_through(mirror, x.alpha), b_from(rows.begin), B.ld,
                         a_from(columns.begin), A.ld, T(1), c, C.ld);
        }
    };
};

template <Scalar T, bool hermitian, class Beta>
void submit(Flow& flow, const Codelet& codelet, T alpha, Tile<T> A, Tile<T> B, Beta beta, Tile<T> C)
{
    assert(A.op == B.op);
    // The sum is its own (Hermitian) transpose: transposed storage only means the other triangle.
    const Uplo uplo = C.op == Op::none ? Uplo::lower : Uplo::upper;
    const Rank2kArgs<T, hermitian> args{std::int32_t(C.rows), std::int32_t(A.cols), uplo, A.op, alpha, beta};
    flow.submit(codelet, args, {read(A), read(B), readwrite(C)});
}

} // namespace

template <Scalar T> void syr2k(Flow& flow, T alpha, Tile<T> A, Tile<T> B, T beta, Tile<T> C)
{
    static constexpr Codelet codelet = codelet_of<Rank2kArgs<T, false>>("syr2k");
    submit<T, false>(flow, codelet, alpha, A, B, beta, C);
}

template <Scalar T> void her2k(Flow& flow, T alpha, Tile<T> A, Tile<T> B, Real<T> beta, Tile<T> C)
{
    static constexpr Codelet codelet =
        codelet_of<Rank2kArgs<T, true>>(is_complex<T> ? "her2k" : "syr2k", is_complex<T> ? "" : "her2k");
    submit<T, true>(flow, codelet, alpha, A, B, beta, C);
}

#define TRC_INSTANTIATE(T)                                                                                                       \
    template void syr2k(Flow&, T, Tile<T>, Tile<T>, T, Tile<T>);                                                                 \
    template void her2k(Flow&, T, Tile<T>, Tile<T>, Real<T>, Tile<T>);
TRC_INSTANTIATE(float)
TRC_INSTANTIATE(double)
TRC_INSTANTIATE(std::complex<float>)
TRC_INSTANTIATE(std::complex<double>)
#undef TRC_INSTANTIATE

} // namespace trencadis::task
