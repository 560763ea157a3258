#include "blas/level3/by_halves.hpp"

#include "blas/level3/few_columns.hpp"
#include "blas/level3/level3.hpp"
#include "blas/level3/packing.hpp"
#include "blas/level3/product.hpp"
#include "blas/level3/scratch.hpp"

#include <algorithm>
#include <functional>
#include <utility>

namespace trencadis::blas {
namespace {

constexpr Index common = 48; ///< whole micro-tiles of every kernel, so that sums are cut alike on every machine

/// B and the triangle, or a diagonal block of it and its part of B.
template <Scalar T> struct Triangular {
    Side side;
    Uplo uplo;
    Op op;
    Diag diag;
    Index m, n;
    T alpha;
    const T* A;
    Index lda;
    T* B;
    Index ldb;

    Index order() const { return side == Side::left ? m : n; }
    Index others() const { return side == Side::left ? n : m; }
    Flops flops() const { return flops_per_fma<T> / 2 * double(order()) * double(order()) * double(others()); }
    Triangular block(Index first, Index count) const
    {
        Triangular x = *this;
        (side == Side::left ? x.m : x.n) = count;
        x.A += first * (lda + 1);
        x.B += first * (side == Side::left ? 1 : ldb);
        return x;
    }
    /// Columns of B beside a triangle on the left, else rows.
    Triangular slice(Index first, Index count) const
    {
        Triangular x = *this;
        (side == Side::left ? x.n : x.m) = count;
        x.B += first * (side == Side::left ? ldb : 1);
        return x;
    }
    void solve() const { trsm(side, uplo, op, diag, m, n, alpha, A, lda, B, ldb); }
    void multiply() const { trmm(side, uplo, op, diag, m, n, alpha, A, lda, B, ldb); }
};

/// One half of B has a part in the other one, by the square of A beside the diagonal blocks.
template <Scalar T> struct Halves {
    Triangular<T> giver, taker;
    Operand<T> square;

    explicit Halves(const Triangular<T>& x)
        : giver(x), taker(x), square(general(x.A + half(x) * (x.uplo == Uplo::lower ? 1 : x.lda), x.lda, x.op))
    {
        const Index first = half(x);
        giver = x.block(0, first), taker = x.block(first, x.order() - first);
        const bool lower = (x.uplo == Uplo::lower) == (x.op == Op::none);
        if ((x.side == Side::left) != lower) std::swap(giver, taker);
    }
    static Index half(const Triangular<T>& x) { return (x.order() / 2 + common - 1) / common * common; }
    /// taker <- factor square giver + beta taker, or with the square from the right.
    void give(T factor, T beta, const Helpers& helpers) const
    {
        const Bytes row = double(sizeof(T)) * double(taker.others());
        const Update update{.n = taker.order(),
                            .flops = flops_per_fma<T> * double(taker.order()) * double(giver.order()) * double(taker.others()),
                            .common = row * double(giver.order()),
                            .columns = row * double(taker.order())};
        in_slices(helpers, update, [&](Index first, Index count) {
            const bool left = taker.side == Side::left;
            const Operand<T> given = general<T>(giver.B, giver.ldb), part = square.block(left ? first : 0, left ? 0 : first);
            const Triangular<T> to = taker.block(first, count);
            blas::multiply<T>(
                {to.m, to.n, giver.order(), factor, left ? part : given, left ? given : part, beta, to.B, 1, to.ldb});
        });
    }
};

template <Scalar T> void solve_together(const Triangular<T>& x, const Helpers& helpers);
template <Scalar T> void multiply_together(const Triangular<T>& x, const Helpers& helpers);

template <Scalar T> void solve(const Triangular<T>& x, const Helpers& helpers)
{
    if (x.order() <= packed_whole) return x.solve();
    Halves<T> halves(x);
    solve_together(halves.giver, helpers);
    halves.give(T(-1), x.alpha, helpers);
    halves.taker.alpha = T(1);
    solve_together(halves.taker, helpers);
}

/// The taker first, while the giver is as it was.
template <Scalar T> void multiply(const Triangular<T>& x, const Helpers& helpers)
{
    if (x.order() <= packed_whole) return x.multiply();
    const Halves<T> halves(x);
    multiply_together(halves.taker, helpers);
    halves.give(x.alpha, T(1), helpers);
    multiply_together(halves.giver, helpers);
}

/// Do the cores rather go past all of the triangle, each with a part of B, than past parts of it with all of B? Not where it has
/// to come from the last cache, for so few numbers of B that nothing is there to hide it behind.
template <Scalar T> bool goes_apart(const Triangular<T>& x)
{
    constexpr Index many = 32;
    if (x.side == Side::right && x.others() > many) return true; // columns beside one another are read together, rows are not
    const BlockSizes& sizes = block_sizes<T>();
    const Index held = sizes.kc * sizes.mc / (x.others() <= micro_kernel<T>().nr ? 4 : 1);
    return x.order() * x.order() <= 2 * held;
}

/// For each core a part of B: as many whole panels as any has, or columns that take less than these.
template <Scalar T> Slicing parts(const Triangular<T>& x, Index cores)
{
    constexpr Index fewest = 3; // one or two columns are solved for one by one, with other bits
    const MicroKernel<T>& kernel = micro_kernel<T>();
    const Index even = std::max((x.others() + cores - 1) / cores, x.side == Side::left ? fewest : 1);
    const auto rounded_up = [&](Index unit) { return (even + unit - 1) / unit * unit; };
    if (x.side == Side::right) return {rounded_up(kernel.step), 1};
    const Index panels = rounded_up(kernel.nr), columns = rounded_up(kernel.narrowest);
    return {kernel.cols_in_place(columns) < panels ? columns : panels, fewest};
}

/// compute(part of x, those who help with it).
template <Scalar T, class Compute> void together(const Triangular<T>& x, const Helpers& helpers, const Compute& compute)
{
    if (!helpers.share || !goes_apart(x)) return compute(x, helpers);
    const Update update{x.others(), x.flops(), 0, 0}; // a core has the same part from call to call
    in_slices(helpers, update, parts(x, helpers.cores),
              [&](Index first, Index count) { compute(x.slice(first, count), Helpers{}); });
}
template <Scalar T> void solve_together(const Triangular<T>& x, const Helpers& helpers)
{
    together(x, helpers, [](const Triangular<T>& part, const Helpers& others) { solve(part, others); });
}
template <Scalar T> void multiply_together(const Triangular<T>& x, const Helpers& helpers)
{
    together(x, helpers, [](const Triangular<T>& part, const Helpers& others) { multiply(part, others); });
}

/// What the steps ask for.
template <Scalar T> void reserve_buffers(const Setup<T>& with, const Triangular<T>& x)
{
    const MicroKernel<T>& kernel = with.kernel;
    const Index depth = std::max(with.tree[Loop::pc], packed_whole);
    scratch<Real<T>>(Buffer::triangle, triangle_size(kernel, packed_whole));
    scratch<Real<T>>(Buffer::solution, kernel.left_size(x.others(), packed_whole));
    scratch<Real<T>>(Buffer::left, std::max(kernel.left_size(std::max(kernel.mr, x.others()), depth),
                                            FewColumns<T>::most_numbers(with, x.others())));
    scratch<Real<T>>(Buffer::right, kernel.right_size(depth, std::max(kernel.nr, x.others())));
}
/// Or find and fit themselves into, before the first one changes B.
template <Scalar T> void reserve_buffers(const Triangular<T>& x)
{
    Setup<T> with = setup<T>();
    fit_to_memory(with, [&] { reserve_buffers(with, x); });
}

/// Those of `helpers` who find all memory for their steps: in less, sums are cut otherwise.
template <Scalar T> Helpers with_memory(const Helpers& helpers, const Triangular<T>& x)
{
    Helpers able = helpers;
    if (helpers.share)
        able.share = [&helpers, &x](Index chunks, Flops flops, const std::function<void(Team&)>& work) {
            const auto work_if_able = [&](Team& team) {
                if (!team.is_joined() || finds_memory([&] { reserve_buffers(setup<T>(), x); })) work(team);
            };
            return helpers.share(chunks, flops, std::cref(work_if_able));
        };
    return able;
}

} // namespace

template <Scalar T>
void solve_by_halves(Side side, Uplo uplo, Op op, Diag diag, Index m, Index n, T alpha, const T* A, Index lda, T* B, Index ldb,
                     const Helpers& helpers)
{
    const Triangular<T> x{side, uplo, op, diag, m, n, alpha, A, lda, B, ldb};
    if (m <= 0 || n <= 0 || alpha == T(0)) return x.solve();
    reserve_buffers(x);
    solve_together(x, with_memory(helpers, x));
}

template <Scalar T>
void multiply_by_halves(Side side, Uplo uplo, Op op, Diag diag, Index m, Index n, T alpha, const T* A, Index lda, T* B, Index ldb,
                        const Helpers& helpers)
{
    const Triangular<T> x{side, uplo, op, diag, m, n, alpha, A, lda, B, ldb};
    if (m <= 0 || n <= 0 || alpha == T(0)) return x.multiply();
    reserve_buffers(x);
    multiply_together(x, with_memory(helpers, x));
}

#define TRC_INSTANTIATE(T)                                                                                                       \
    template void solve_by_halves(Side, Uplo, Op, Diag, Index, Index, T, const T*, Index, T*, Index, const Helpers&);            \
    template void multiply_by_halves(Side, Uplo, Op, Diag, Index, Index, T, const T*, Index, T*, Index, const Helpers&);
TRC_INSTANTIATE(float)
TRC_INSTANTIATE(double)
TRC_INSTANTIATE(std::complex<float>)
TRC_INSTANTIATE(std::complex<double>)
#undef TRC_INSTANTIATE

} // namespace trencadis::blas
