#include "blas/factorizations/inverse_pivot.hpp"
#include "blas/factorizations/lu.hpp"
#include "blas/level3/control_tree.hpp"
#include "blas/level3/level3.hpp"
#include "blas/level3/scratch.hpp"

#include <algorithm>
#include <functional>

namespace trencadis::blas {
namespace {

/// Columns that are factored in the work area: what is read for each column should stay in the first cache. All of a small
/// matrix, where the
/// kernel divides and rounds as the formulas stand, so that it notices that a matrix is singular as often as LAPACK's does.
template <Scalar T> Index leaf_width(Index m)
{
    constexpr Index small = 32;
    return m <= small ? small : m * Index(sizeof(T)) * 16 <= 40 << 10 ? 16 : 8;
}

template <Scalar T> Index factor_leaf(Index m, Index n, T* A, Index lda, Index* pivots)
{
    constexpr Index line = 64 / Index(sizeof(T)), conflicting = 512 / Index(sizeof(T));
    Index ldw = (m + line - 1) / line * line;
    if (ldw % conflicting == 0) ldw += line;
    const Index ldu = (n + line - 1) / line * line;
    Real<T>* const work = scratch<Real<T>>(Buffer::factor, planes<T> * (ldw * n + ldu * (n + 1)));
    return setup<T>().kernel.factor_columns({m, n, A, lda, pivots, work, ldw, inverse_pivot<T>, divide_by_pivot<T>});
}

/// Columns behind k that have been factored: A12 <- L11^-1 P A12, A22 <- A22 - A21 A12, m rows and n columns of both together.
template <Scalar T>
void update(Index m, Index n, Index k, const T* L, Index lda, const Index* pivots, T* A, const Helpers& helpers)
{
    const Flops flops = (is_complex<T> ? 8.0 : 2.0) * double(k) * double(n) * (double(m) - double(k) / 2);
    const Bytes element = sizeof(T);
    in_slices(helpers, {n, flops, element * double(m * k), element * double(m * n)}, [&](Index first, Index count) {
        T *const A12 = A + first * lda, *const A22 = A12 + k;
        laswp(count, A12, lda, 0, k, pivots);
        trsm(Side::left, Uplo::lower, Op::none, Diag::unit, k, count, T(1), L, lda, A12, lda);
        if (m > k) gemm(Op::none, Op::none, m - k, count, k, T(-1), L + k, lda, A12, lda, T(1), A22, lda);
    });
}

template <Scalar T> Index factor_tall(Index m, Index n, T* A, Index lda, Index* pivots, const Helpers& helpers);

/// The halves of the columns, one after the other.
template <Scalar T> Index factor_halves(Index m, Index n, Index n1, T* A, Index lda, Index* pivots, const Helpers& helpers)
{
    const Index n2 = n - n1, m2 = m - n1;
    T *const A21 = A + n1, *const A22 = A21 + n1 * lda;
    const Index info = factor_tall(m, n1, A, lda, pivots, helpers);
    update(m, n2, n1, A, lda, pivots, A + n1 * lda, helpers);
    const Index later = factor_tall(m2, n2, A22, lda, pivots + n1, helpers);
    laswp(n1, A21, lda, 0, n2, pivots + n1);
    for (Index i = n1; i < n; ++i) pivots[i] += n1;
    return info ? info : later ? later + n1 : 0;
}

/// m >= n.
template <Scalar T> Index factor_tall(Index m, Index n, T* A, Index lda, Index* pivots, const Helpers& helpers)
{
    const Index leaf = leaf_width<T>(m);
    if (n <= leaf) return factor_leaf(m, n, A, lda, pivots);
    return factor_halves(m, n, (n / 2 + leaf - 1) / leaf * leaf, A, lda, pivots, helpers);
}

/// Orders where others can help within a call that is not cut into tiles: fewer columns are over at once; with more, and in tall
/// matrices, deeper products than a panel's gain more on one core. With several cores more of them, whether or not they help.
template <Scalar T> bool goes_by_panels(Index m, Index k, int cores)
{
    constexpr Index least = 128, most_of_one = is_complex<T> ? 256 : 448, most_of_several = is_complex<T> ? 384 : 768;
    return k >= least && k <= (cores > 1 ? most_of_several : most_of_one) && m <= 2 * k;
}

/// By panels of a few columns from left to right. In each step the calling thread brings the next panel up to date and factors
/// it, while others update what is behind it (look-ahead). What is in front of a panel has its rows exchanged at the end. Nobody
/// else writes what a chunk writes, or reads it before all have come back. Alone a core does the same in the same order.
template <Scalar T> class PanelByPanel {
public:
    PanelByPanel(Index m, Index n, T* A, Index lda, Index* pivots, const Helpers& helpers)
        : m_(m), n_(n), k_(std::min(m, n)), A_(A), lda_(lda), pivots_(pivots), width_(width_of(k_)), helpers_(helpers),
          is_shared_(is_worth_sharing_all())
    {
    }
    Index factor()
    {
        factor_panel(0);
        for (Index j = 0; j < k_; j += width_) {
            step(j);
            for (Index i = j; i < end(j); ++i) pivots_[i] += j;
        }
        exchange_rows();
        return info_;
    }

private:
    static constexpr Index narrowest = 8;

    static Index width_of(Index k)
    {
        if constexpr (is_complex<T>) return 32;
        else return k <= 448 ? 48 : 64;
    }
    Index end(Index j) const { return std::min(k_, j + width_); }
    T* column(Index c) const { return A_ + c * lda_; }

    void factor_panel(Index j)
    {
        const Index info = factor_tall<T>(m_ - j, end(j) - j, column(j) + j, lda_, pivots_ + j, {});
        if (info && !info_) info_ = info + j;
    }
    /// Columns, so many that the last slice of a step does not keep the others waiting for long.
    static Index slice_of(Index rows)
    {
        constexpr Index numbers = 18000, most = 32;
        return std::clamp(numbers / rows / narrowest * narrowest, 2 * narrowest, most);
    }
    /// Columns [first, last) by the panel at j.
    void update_columns(Index j, Index first, Index last) const
    {
        if (first < last) update<T>(m_ - j, last - first, end(j) - j, column(j) + j, lda_, pivots_ + j, column(first) + j, {});
    }
    void step(Index j)
    {
        const Index next = end(j), behind = next < k_ ? end(next) : next, left = n_ - behind, slice = slice_of(m_ - j);
        // What is narrower than one may be belongs to the last one, as in `in_slices`: its sums would be found otherwise.
        const Index slices = (left + slice - (left < slice ? 1 : narrowest)) / slice;
        if (is_shared_ && slices > 0 && saves_time(helpers_, saving_of(j))) {
            const auto work = [&](Team& team) {
                if (!team.is_joined()) lead(j, next, behind);
                while (const Chunks some = team.next_of_two_ends(1))
                    update_columns(j, behind + some.begin * slice, some.end == slices ? n_ : behind + some.end * slice);
            };
            if (helpers_.share(slices, flops_from(j), std::cref(work))) return;
        }
        lead(j, next, behind);
        update_columns(j, behind, n_);
    }
    void lead(Index j, Index next, Index behind)
    {
        update_columns(j, next, behind);
        if (next < k_) factor_panel(next);
    }
    /// Those of later panels, in front of them.
    void exchange_rows()
    {
        const Index panels = (k_ - 1) / width_; // but the last
        const auto exchange = [&](Index first, Index last) {
            for (Index p = first; p < last; ++p) laswp(width_, column(p * width_), lda_, (p + 1) * width_, k_, pivots_);
        };
        const auto work = [&](Team& team) {
            while (const Chunks some = team.next_of_two_ends(1)) exchange(some.begin, some.end);
        };
        if (!is_shared_ || !helpers_.share(panels, flops_from(0) / double(panels), std::cref(work))) exchange(0, panels);
    }

    /// Those who help get the columns that they update once; those that the calling thread's panels are made of come back while
    /// others are under way.
    bool is_worth_sharing_all() const
    {
        const Bytes columns = sizeof(T) * double(m_) * double(n_ - end(end(0)));
        return saves_time_by_panels(helpers_, columns, k_, width_, [this](Index j) { return saving_of(j); });
    }
    /// Of the step at j, others do what is behind the next panel, or their part of all where that is less: a panel's operations
    /// go at a third of the others' speed. What goes to them is the panel.
    Saving saving_of(Index j) const
    {
        const Index next = end(j), behind = end(next);
        const double k = double(next - j), rows = double(m_ - j), panel = double(behind - next);
        const auto updates = [&](Index first) { return k * double(n_ - first) * (2 * rows - k); };
        const double all = updates(next) + 3 * panel * panel * (rows - k);
        const Flops saved = std::min(updates(behind), (1 - 1.0 / helpers_.cores) * all);
        return {(is_complex<T> ? 4.0 : 1.0) * saved, sizeof(T) * rows * k};
    }
    /// Those of this step and all later ones, since who is woken for one takes part in the others: as many as take as long at a
    /// core's peak, of which panels and narrow updates reach half.
    Flops flops_from(Index j) const
    {
        const double m = double(m_ - j), n = double(n_ - j), k = double(k_ - j);
        return (is_complex<T> ? 8.0 : 2.0) * 2 * k * (m * n - k * (m + n) / 2 + k * k / 3);
    }

    const Index m_, n_, k_;
    T* const A_;
    const Index lda_;
    Index* const pivots_;
    const Index width_;
    const Helpers& helpers_;
    const bool is_shared_;
    Index info_ = 0;
};

} // namespace

template <Scalar T> Index getrf(Index m, Index n, T* A, Index lda, Index* pivots, const Helpers& helpers)
{
    const Index k = std::min(m, n);
    if (k <= 0) return 0;
    if (goes_by_panels<T>(m, k, helpers.cores)) return PanelByPanel<T>(m, n, A, lda, pivots, helpers).factor();
    const Index info = factor_tall(m, k, A, lda, pivots, helpers);
    if (n > m) update(m, n - m, m, A, lda, pivots, A + m * lda, helpers);
    return info;
}

template <Scalar T> Index getrf_in_steps(Index m, Index n, Index width, T* A, Index lda, Index* pivots)
{
    const Index k = std::min(m, n);
    Index info = 0;
    for (Index j = 0; j < k; j += width) {
        const Index columns = std::min(width, n - j), behind = n - j - columns, end = std::min(j + columns, k);
        T* const panel = A + j * (lda + 1);
        const Index zero = getrf(m - j, columns, panel, lda, pivots + j);
        if (zero && !info) info = zero + j;
        if (behind > 0) update(m - j, behind, end - j, panel, lda, pivots + j, panel + columns * lda, {});
        for (Index i = j; i < end; ++i) pivots[i] += j;
    }
    for (Index j = 0; j + width < k; j += width) laswp(width, A + j * lda, lda, j + width, k, pivots);
    return info;
}

#define TRC_INSTANTIATE(T)                                                                                                       \
    template Index getrf(Index, Index, T*, Index, Index*, const Helpers&);                                                       \
    template Index getrf_in_steps(Index, Index, Index, T*, Index, Index*);
TRC_INSTANTIATE(float)
TRC_INSTANTIATE(double)
TRC_INSTANTIATE(std::complex<float>)
TRC_INSTANTIATE(std::complex<double>)
#undef TRC_INSTANTIATE

} // namespace trencadis::blas
