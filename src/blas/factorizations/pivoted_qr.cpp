#include "blas/factorizations/pivoted_qr.hpp"

#include "blas/level3/control_tree.hpp"
#include "blas/level3/level3.hpp"
#include "blas/level3/scratch.hpp"
#include "matrix/conjugate.hpp"

#include <algorithm>
#include <atomic>
#include <utility>

namespace trencadis::blas {
namespace {

/// The first of the largest. A NaN is not larger than anything, nothing than a NaN, as in BLAS's iamax.
template <class R> Index longest(Index count, const R* norms)
{
    Index best = 0;
    R most = norms[0];
    for (Index j = 1; j < count; ++j)
        if (norms[j] > most) best = j, most = norms[j];
    return best;
}

template <Scalar T> void swap_columns(Index m, T* a, T* b)
{
    if (a != b) std::swap_ranges(a, a + m, b);
}

/// x <- factor x, without what the library does about infinities.
template <Scalar T> void scale(Index n, T factor, T* x)
{
    if constexpr (!is_complex<T>)
        for (Index i = 0; i < n; ++i) x[i] *= factor;
    else
        for (Index i = 0; i < n; ++i)
            x[i] = {x[i].real() * factor.real() - x[i].imag() * factor.imag(),
                    x[i].real() * factor.imag() + x[i].imag() * factor.real()};
}

/// The factorization of the free columns. A block of reflectors is kept apart from the columns right of it: F = (what V^H takes
/// from each of them)^H, so that they are A - V F^H. Their next row is brought up to date when a reflector is known, for their
/// norms; the rest when the block is full, or when a norm has to be found anew.
///
/// What several cores do of a step is by columns, from the product with v to the norm: a column's numbers are the same whoever
/// does them, and equal columns stay equal.
template <Scalar T> class Pivoting {
    using R = Real<T>;

public:
    Pivoting(Index m, Index n, Index done, T* A, Index lda, Index* jpvt, T* tau, const PivotingRoom<T>& room,
             const PivotingHelp<T>& help)
        : m_(m), n_(n), done_(done), A_(A), lda_(lda), jpvt_(jpvt), tau_(tau), block_(room.block()), F_(room.data()),
          sums_(F_ + n * block_), row_(sums_ + block_), norms_(reinterpret_cast<R*>(row_ + block_)), found_(norms_ + n),
          help_(help)
    {
    }

    void run()
    {
        each_column(0, m_ - done_, [&](Index j, Index end) {
            for (; j < end; ++j) find_norm(j, done_);
        });
        for (Index first = 0; first < count();) first += factor_block(first);
    }

private:
    Index count() const { return std::min(m_ - done_, n_); }
    T* at(Index row, Index column) const { return A_ + row + column * lda_; }
    T* of_F(Index column, Index j) const { return F_ + column + j * n_; }

    void find_norm(Index column, Index row) { norms_[column] = found_[column] = column_norm(m_ - row, at(row, column)); }

    /// Returns how many columns were factored.
    Index factor_block(Index first)
    {
        const Index most = std::min(block_, count() - first);
        Index j = 0;
        lost_.store(false, std::memory_order_relaxed);
        while (j < most && !lost_.load(std::memory_order_relaxed)) factor_column(first, j++);
        const Index next = first + j, row = done_ + next;
        if (row < m_ && next < n_) subtract(m_ - row, n_ - next, j, at(row, first), of_F(next, 0), at(row, next));
        if (lost_.load(std::memory_order_relaxed))
            each_column(next, m_ - row, [&](Index c, Index end) {
                for (; c < end; ++c)
                    if (found_[c] < 0) find_norm(c, row);
            });
        return j;
    }
    void subtract(Index m, Index n, Index k, const T* V, const T* F, T* C)
    {
        if (help_.subtract) return help_.subtract(m, n, k, V, lda_, F, n_, C, lda_);
        try {
            gemm(Op::none, Op::conj_trans, m, n, k, T(-1), V, lda_, F, n_, T(1), C, lda_);
        } catch (const Error& failure) { // before anything was computed
            if (failure.code() != ErrorCode::out_of_memory) throw;
            for (Index c = 0; c < n; ++c) subtract_from_column(m, k, V, F + c, C + c * lda_);
        }
    }
    /// x <- x - V f^H, f a row of F.
    void subtract_from_column(Index m, Index k, const T* V, const T* f, T* x)
    {
        for (Index i = 0; i < k; ++i) sums_[i] = conjugate(f[i * n_]);
        setup<T>().kernel.columns.subtract(m, k, V, lda_, sums_, x);
    }

    /// Column j of the block that begins at `first`.
    void factor_column(Index first, Index j)
    {
        const Index c = first + j, row = done_ + c, length = m_ - row;
        if (help_.before_column) help_.before_column();
        bring(c + longest(n_ - c, norms_ + c), c, j);
        const ColumnKernel<T>& columns = setup<T>().kernel.columns;
        const T* const V = at(row, first);
        T* const v = at(row, c);
        subtract_from_column(length, j, V, of_F(c, 0), v);
        tau_[c] = larfg(length, v[0], v + 1, 1);
        if (c + 1 == n_) return;
        const T beta = std::exchange(*v, T(1));
        columns.dots(length, j, V, lda_, v, true, sums_);
        for (Index i = 0; i <= j; ++i) row_[i] = conjugate(V[i * lda_]);
        each_column(c + 1, 2 * length, [&](Index begin, Index end) { update_columns(first, j, begin, end); });
        *v = beta;
    }
    /// Column `chosen` in the place of c.
    void bring(Index chosen, Index c, Index j)
    {
        if (chosen == c) return;
        swap_columns(m_, at(0, chosen), at(0, c));
        for (Index i = 0; i < j; ++i) std::swap(*of_F(chosen, i), *of_F(c, i));
        std::swap(jpvt_[chosen], jpvt_[c]);
        norms_[chosen] = norms_[c];
        found_[chosen] = found_[c];
    }
    /// What reflector j, whose v is in its column, does to the columns [begin, end): their rows in F, their elements in v's first
    /// row, norms.
    void update_columns(Index first, Index j, Index begin, Index end)
    {
        const Index c = first + j, row = done_ + c, count = end - begin;
        const MicroKernel<T>& kernel = setup<T>().kernel;
        T *const f = of_F(begin, j), *const F = of_F(begin, 0);
        kernel.multiply_adjoint(m_ - row, count, 1, at(row, begin), lda_, at(row, c), lda_, f, n_);
        kernel.columns.subtract(count, j, F, n_, sums_, f);
        scale(count, tau_[c], f);
        T elements[columns_at_once];
        for (Index i = 0; i < count; ++i) elements[i] = conjugate(*at(row, begin + i));
        kernel.columns.subtract(count, j + 1, F, n_, row_, elements);
        for (Index i = 0; i < count; ++i) *at(row, begin + i) = conjugate(elements[i]);
        if (kernel.columns.shorten(count, elements, norms_ + begin, found_ + begin)) lost_.store(true, std::memory_order_relaxed);
    }

    static constexpr Index chunk = 8,
                           columns_at_once = 64; ///< so many columns are cut no further; so many are gone through together

    /// visit(begin, end) for parts of the columns from `begin` on, of some `cost` for a number each, by whoever helps.
    template <class Visit> void each_column(Index begin, Index cost, const Visit& visit)
    {
        const Index columns = n_ - begin, chunks = (columns + chunk - 1) / chunk;
        constexpr Index near = 128 << 10; // bytes that stay in a core's cache until the row is read
        const Index together =
            std::clamp<Index>(near / (std::max<Index>(1, m_) * Index(sizeof(T)) * chunk), 1, columns_at_once / chunk);
        const auto work = [&](Team& team) {
            while (const auto c = team.next_of_two_ends(std::clamp<Index>(team.remaining() / 4, 1, together)))
                for (Index i = c.begin; i < c.end; i += together)
                    visit(begin + i * chunk, begin + std::min(columns, std::min(i + together, c.end) * chunk));
        };
        const Flops flops = Flops(cost) * Flops(columns) * (is_complex<T> ? 4 : 1);
        if (chunks > 1 && help_.share && help_.share(chunks, flops, std::cref(work))) return;
        SharedWork all(chunks, chunks);
        Team alone(all);
        work(alone);
    }

    const Index m_, n_, done_;
    T* const A_;
    const Index lda_;
    Index* const jpvt_;
    T* const tau_;
    const Index block_;
    T *const F_, *const sums_, *const row_;
    R *const norms_, *const found_; ///< norms of what is left of the columns, and as last found from a column
    const PivotingHelp<T>& help_;
    std::atomic<bool> lost_{
        false}; ///< is there a norm to be found anew? Told by those who share a step, read when all have left it
};

/// Without memory: column by column, with norms as they are.
template <Scalar T>
void factor_in_place(Index m, Index n, Index done, T* A, Index lda, Index* jpvt, T* tau,
                     const std::function<void()>& before_column)
{
    const ColumnKernel<T>& columns = setup<T>().kernel.columns;
    for (Index j = 0; j < std::min(m - done, n); ++j) {
        const Index row = done + j, rest = m - row - 1;
        if (before_column) before_column();
        const auto norm = [&](Index c) { return column_norm(m - row, A + row + c * lda); };
        Index chosen = j;
        Real<T> most = norm(j);
        for (Index c = j + 1; c < n; ++c)
            if (const Real<T> here = norm(c); here > most) chosen = c, most = here;
        swap_columns(m, A + j * lda, A + chosen * lda);
        std::swap(jpvt[j], jpvt[chosen]);
        T* const v = A + row + j * lda + 1;
        tau[j] = larfg(rest + 1, v[-1], v, 1);
        for (Index c = 1; c < n - j; ++c) {
            T* const x = v + c * lda;
            T multiple;
            columns.dots(rest, 1, v, lda, x, true, &multiple);
            multiple += x[-1];
            scale(1, conjugate(tau[j]), &multiple);
            x[-1] -= multiple;
            columns.subtract(rest, 1, v, lda, &multiple, x);
        }
    }
}

} // namespace

Index pivoting_block(Index n) { return n <= 192 ? 16 : 32; }

template <Scalar T> PivotingRoom<T>::PivotingRoom(Index n, Index block) : block_(std::min(n, block))
{
    if (block_ <= 0) return;
    const auto reserve = [&](Index block) { buffer_.emplace((n * block + 2 * block + 2 * n) * Index(sizeof(T))); };
    try {
        block_ = fitting(block_, 1, reserve);
    } catch (const Error& failure) {
        if (failure.code() != ErrorCode::out_of_memory) throw;
    }
}

template <Scalar T> Index bring_fixed_columns(Index m, Index n, T* A, Index lda, Index* jpvt)
{
    Index fixed = 0;
    for (Index j = 0; j < n; ++j) {
        const bool is_fixed = jpvt[j] != 0;
        jpvt[j] = j + 1;
        if (!is_fixed) continue;
        swap_columns(m, A + j * lda, A + fixed * lda);
        std::swap(jpvt[j], jpvt[fixed++]);
    }
    return fixed;
}

template <Scalar T>
void factor_free_columns(Index m, Index n, Index done, T* A, Index lda, Index* jpvt, T* tau, const PivotingRoom<T>& room,
                         const PivotingHelp<T>& help)
{
    if (m <= done || n <= 0) return;
    if (!room.data()) return factor_in_place(m, n, done, A, lda, jpvt, tau, help.before_column);
    Pivoting<T>(m, n, done, A, lda, jpvt, tau, room, help).run();
}

template <Scalar T> void geqp3(Index m, Index n, T* A, Index lda, Index* jpvt, T* tau)
{
    const Index fixed = bring_fixed_columns(m, n, A, lda, jpvt), done = std::min(m, fixed);
    geqrf<T>(m, done, A, lda, tau, nullptr, 1);
    ormqr(Side::left, Op::conj_trans, m, n - done, done, A, lda, tau, A + done * lda, lda);
    if (done == std::min(m, n)) return;
    factor_free_columns<T>(m, n - done, done, A + done * lda, lda, jpvt + done, tau + done,
                           PivotingRoom<T>(n - done, pivoting_block(n - done)), {});
}

#define TRC_INSTANTIATE(T)                                                                                                       \
    template class PivotingRoom<T>;                                                                                              \
    template Index bring_fixed_columns(Index, Index, T*, Index, Index*);                                                         \
    template void factor_free_columns(Index, Index, Index, T*, Index, Index*, T*, const PivotingRoom<T>&,                        \
                                      const PivotingHelp<T>&);                                                                   \
    template void geqp3(Index, Index, T*, Index, Index*, T*);
TRC_INSTANTIATE(float)
TRC_INSTANTIATE(double)
TRC_INSTANTIATE(std::complex<float>)
TRC_INSTANTIATE(std::complex<double>)
#undef TRC_INSTANTIATE

} // namespace trencadis::blas
