#include "blas/factorizations/inverse_pivot.hpp"
#include "blas/factorizations/look_ahead.hpp"
#include "blas/factorizations/lu.hpp"
#include "blas/level3/control_tree.hpp"
#include "blas/level3/level3.hpp"
#include "blas/level3/scratch.hpp"
#include "matrix/operations.hpp"

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

/// What LU is by panels (look_ahead.hpp). Pivots count from the panel's first row until all are known.
template <Scalar T> class LuPanels {
public:
    static constexpr Flops to_begin = 0;

    LuPanels(Index m, Index n, T* A, Index lda, Index* pivots) : m_(m), n_(n), A_(A), lda_(lda), pivots_(pivots) {}

    /// What is in front of a panel has its rows exchanged at the end.
    Index all(const Helpers& helpers)
    {
        const Index k = std::min(m_, n_), width = width_of(k);
        LookAhead<LuPanels> steps(*this, n_, k, width, LookAhead<LuPanels>::unit, together(width), helpers);
        steps.factor();
        Index panels = 0;
        steps.for_each_panel([&](Panel p) {
            for (Index i = p.begin; i < p.end; ++i) pivots_[i] += p.begin;
            ++panels;
        });
        exchange_rows(panels - 1, width, steps.is_shared() ? helpers : Helpers{});
        return info_;
    }

    void factor(Panel p)
    {
        const Index j = p.begin, info = factor_tall<T>(m_ - j, p.width(), column(j) + j, lda_, pivots_ + j, {});
        if (info && !info_) info_ = info + j;
    }
    void update(Panel p, Panel columns) const
    {
        const Index j = p.begin;
        blas::update<T>(m_ - j, columns.width(), p.width(), column(j) + j, lda_, pivots_ + j, column(columns.begin) + j, {});
    }
    Index slice(Panel p) const
    {
        constexpr Index numbers = 18000, least = 16, most = 32;
        return std::clamp(numbers / (m_ - p.begin) / 8 * 8, least, most);
    }
    Flops updates(Panel p, Index first) const
    {
        const double k = double(p.width());
        return (is_complex<T> ? 4.0 : 1.0) * k * double(n_ - first) * (2 * double(m_ - p.begin) - k);
    }
    /// Its operations go at a third of the others' speed.
    Flops panel(Panel p) const
    {
        return (is_complex<T> ? 12.0 : 3.0) * double(p.width()) * double(p.width()) * double(m_ - p.begin);
    }
    Flops all_from(Index j) const { return operations::getrf(double(m_ - j), double(n_ - j)).flops<T>(); }
    Bytes bytes(Panel p) const { return sizeof(T) * double(m_ - p.begin) * double(p.width()); }
    Bytes columns(Index first) const { return sizeof(T) * double(m_) * double(n_ - first); }

private:
    static Index width_of(Index k)
    {
        if constexpr (is_complex<T>) return 32;
        else return k <= 448 ? 48 : k <= 600 ? 64 : 96;
    }
    /// As many panels as a left operand's block has numbers, which stays in the second cache.
    Index together(Index width) const
    {
        const ControlTree& tree = setup<T>().tree;
        return std::max<Index>(1, tree[Loop::ic] * tree[Loop::pc] / (m_ * width));
    }
    T* column(Index c) const { return A_ + c * lda_; }

    /// Those of later panels, in all but the last one.
    void exchange_rows(Index panels, Index width, const Helpers& helpers)
    {
        const Index k = std::min(m_, n_);
        const auto exchange = [&](Index first, Index last) {
            for (Index p = first; p < last; ++p) laswp(width, column(p * width), lda_, (p + 1) * width, k, pivots_);
        };
        const auto work = [&](Team& team) {
            while (const Chunks some = team.next_of_two_ends(1)) exchange(some.begin, some.end);
        };
        const Flops flops = 2 * all_from(0) / double(panels); // as those who were woken for them expect
        if (panels < 2 || !helpers.share || !helpers.share(panels, flops, std::cref(work))) exchange(0, panels);
    }

    const Index m_, n_;
    T* const A_;
    const Index lda_;
    Index* const pivots_;
    Index info_ = 0;
};

} // namespace

template <Scalar T> Index getrf(Index m, Index n, T* A, Index lda, Index* pivots, const Helpers& helpers)
{
    const Index k = std::min(m, n);
    if (k <= 0) return 0;
    if (goes_by_panels<T>(m, k, helpers.cores)) return LuPanels<T>(m, n, A, lda, pivots).all(helpers);
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
