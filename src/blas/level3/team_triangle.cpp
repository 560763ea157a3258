#include "blas/level3/team_triangle.hpp"

#include "base/error.hpp"
#include "blas/level3/helpers.hpp"
#include "blas/level3/past_triangle.hpp"
#include "blas/level3/product.hpp"
#include "blas/level3/scratch.hpp"

#include <algorithm>

namespace trencadis::blas {
namespace {

constexpr Index many = 3;         ///< chunks in half of a member's share: with fewer left, single ones keep the members even
constexpr Index fewest_rows = 24; ///< of a chunk: fewer would read the triangle too often

} // namespace

template <Scalar T>
TeamTriangle<T>::TeamTriangle(WithTriangle what, RightUpper<T> x, T alpha, const Setup<T>& with, double line_ns, int members)
    : what_(what), x_(x), alpha_(alpha), kernel_(with.kernel), kc_(with.tree[Loop::pc]), panels_{x.n, kernel_.nr},
      members_(members), most_rows_(rows_at_a_time(with))
{
    rows_per_chunk_ = rows_per_chunk(with);
    chunks_ = count_chunks(with, x_.rows);
    packed_by_each_ = panels_.numbers() <= most_for_each(with, line_ns);
    if (packed_by_each_) return;
    const Index most = with.tree[Loop::pc] * with.tree[Loop::jc];
    while (shared_panels_ < panels_.count() && panels_.numbers_before(shared_panels_ + 1) <= most) ++shared_panels_;
    try {
        packed_.emplace(planes<T> * panels_.numbers_before(shared_panels_) * Index(sizeof(Real<T>)));
    } catch (const Error& failure) {
        if (failure.code() != ErrorCode::out_of_memory) throw;
        shared_panels_ = 0; // every member packs for itself, panel by panel
    }
    marks_.emplace(shared_panels_);
}

/// Half of the second cache: to pack as much takes a tenth of what it takes to get it from another core. What is more comes from
/// the last cache, in 1 ns for eight bytes, which a line of 64 takes where four are under way (as in helpers.hpp) and each 32.
template <Scalar T> Index TeamTriangle<T>::most_for_each(const Setup<T>& with, double line_ns)
{
    return (line_ns >= far_line_ns ? 4 : 1) * with.tree[Loop::pc] * with.tree[Loop::ic];
}

template <Scalar T> Index TeamTriangle<T>::rows_per_chunk(const Setup<T>& with)
{
    const Index mr = with.kernel.mr;
    return (fewest_rows + mr - 1) / mr * mr;
}

template <Scalar T> Index TeamTriangle<T>::rows_at_a_time(const Setup<T>& with) const
{
    const Index half = with.tree[Loop::pc] * with.tree[Loop::ic];
    return std::min(with.tree[Loop::ic], rows_past_triangle(kernel_, half, x_.n, x_.rs, x_.cs));
}

template <Scalar T> Index TeamTriangle<T>::count_chunks(const Setup<T>& with, Index rows)
{
    const Index each = rows_per_chunk(with);
    return (rows + each - 1) / each;
}

template <Scalar T> bool TeamTriangle<T>::is_packed_once(const Setup<T>& with, Index order)
{
    return TrianglePanels{order, with.kernel.nr}.numbers() <= with.tree[Loop::pc] * with.tree[Loop::jc];
}

template <Scalar T> typename TeamTriangle<T>::Own TeamTriangle<T>::own_image() const
{
    if (!packed_by_each_) return {};
    try {
        return {scratch<Real<T>>(Buffer::triangle, planes<T> * panels_.numbers())};
    } catch (const Error& failure) {
        if (failure.code() != ErrorCode::out_of_memory) throw;
        return {}; // panel by panel, for each of its slices of B again
    }
}

template <Scalar T> void TeamTriangle<T>::work(Team& team, int cpu, Chunks begun)
{
    const Index most = cpu < 0 ? most_rows_ : rows_at_a_time(setup<T>(cpu)), whole = std::max<Index>(1, most / rows_per_chunk_);
    Own own = own_image();
    const auto wanted = [&] {
        const Index left = team.remaining(), half_a_share = left / (2 * members_);
        return std::clamp<Index>(half_a_share >= many ? half_a_share : left / 16, 1, whole);
    };
    for (Chunks chunks = begun ? begun : team.next_of_two_ends(wanted()); chunks; chunks = team.next_of_two_ends(wanted())) {
        const Index end = std::min(x_.rows, chunks.end * rows_per_chunk_);
        for (Index i = chunks.begin * rows_per_chunk_; i < end; i += most) do_rows(i, std::min(end, i + most), own);
    }
}

template <Scalar T> void TeamTriangle<T>::do_rows(Index begin, Index end, Own& own)
{
    const Index rows = end - begin;
    if (rows > kernel_.mr && !has_memory_for(rows)) { // thinner slices of B instead
        const Index half = std::max(kernel_.mr, rows / 2 / kernel_.mr * kernel_.mr);
        do_rows(begin, begin + half, own);
        return do_rows(begin + half, end, own);
    }
    T* const B = x_.B + begin * x_.rs;
    if (alpha_ == T(0)) return scale(Part::all, rows, x_.n, alpha_, B, x_.rs, x_.cs);
    const Index alone = do_without_image(B, rows, own), left = rows - alone;
    if (left == 0) return;
    Real<T>* const X = scratch<Real<T>>(Buffer::solution, kernel_.left_size(left, x_.n));
    if (what_ == WithTriangle::solve) solve_rows(B + alone, left, X, own);
    else multiply_rows(B + alone, left, X, own);
}

/// The first of these rows, past a triangle that this member has packed whole; how many.
template <Scalar T> Index TeamTriangle<T>::do_without_image(T* B, Index rows, Own& own)
{
    const Index alone = own.image ? rows_without_image(kernel_, kc_, rows, x_.n, x_.rs, x_.cs) : 0;
    if (alone == 0) return 0;
    for (Index j = own.panels; j < panels_.count(); ++j) panel(j, own);
    if (what_ == WithTriangle::solve) {
        scale(Part::all, alone, x_.n, alpha_, B, x_.rs, x_.cs);
        solve_without_image(kernel_, alone, x_.n, own.image, B, x_.cs);
    } else multiply_without_image(kernel_, alone, x_.n, own.image, alpha_, B, x_.cs);
    return alone;
}

template <Scalar T> void TeamTriangle<T>::solve_rows(T* B, Index rows, Real<T>* X, Own& own)
{
    scale(Part::all, rows, x_.n, alpha_, B, x_.rs, x_.cs);
    const bool in_place = moves_in_place(kernel_, x_.rs, x_.cs);
    if (!in_place) pack_left(kernel_, Operand<T>{B, x_.rs, x_.cs}, rows, x_.n, X);
    for (Index j = 0; j < panels_.count(); ++j) {
        const Real<T>* const U = panel(j, own);
        if (in_place) solve_columns(j, U, X, B, rows);
        else
            for (Index i = 0; i < rows; i += kernel_.mr)
                kernel_.solve(panels_.first(j), X + planes<T> * i * x_.n, kernel_.height(rows - i), U, panels_.cols(j));
    }
    if (!in_place) unpack_left(kernel_, X, rows, x_.n, B, x_.rs, x_.cs);
}

template <Scalar T> void TeamTriangle<T>::multiply_rows(T* B, Index rows, Real<T>* X, Own& own)
{
    pack_left(kernel_, Operand<T>{B, x_.rs, x_.cs}, rows, x_.n, X);
    for (Index j = 0; j < panels_.count(); ++j) {
        const Real<T>* const U = panel(j, own);
        for (Index i = 0; i < rows; i += kernel_.mr) {
            const Index height = kernel_.height(rows - i);
            multiply_step(kernel_, panels_.first(j), panels_.cols(j), U, X + planes<T> * i * x_.n, height,
                          std::min(height, rows - i), alpha_, B + i * x_.rs, x_.rs, x_.cs);
        }
    }
}

/// The columns of panel j of these rows of B where they lie.
template <Scalar T> void TeamTriangle<T>::solve_columns(Index j, const Real<T>* U, Real<T>* X, T* B, Index rows) const
{
    const Index first = panels_.first(j), behind = panels_.first(j + 1);
    for (Index i = 0; i < rows; i += kernel_.mr) {
        const Index height = kernel_.height(rows - i);
        const T* const next = i + kernel_.mr < rows ? B + (i + kernel_.mr) * x_.rs + first * x_.cs
                              : behind < x_.n       ? B + behind * x_.cs
                                                    : nullptr;
        solve_step(kernel_, first, behind - first, U, X + planes<T> * i * x_.n, height, std::min(height, rows - i), B + i * x_.rs,
                   x_.rs, x_.cs, next);
    }
}

template <Scalar T> bool TeamTriangle<T>::has_memory_for(Index rows) const
{
    try {
        scratch<Real<T>>(Buffer::solution, kernel_.left_size(rows, x_.n));
        return true;
    } catch (const Error& failure) {
        if (failure.code() != ErrorCode::out_of_memory) throw;
        return false;
    }
}

/// Panel j, packed by whomever. Members need them in order.
template <Scalar T> const Real<T>* TeamTriangle<T>::panel(Index j, Own& own)
{
    if (own.image) {
        Real<T>* const image = own.image + planes<T> * panels_.numbers_before(j);
        if (j == own.panels) pack_panel(own.panels++, image);
        return image;
    }
    if (j < shared_panels_) {
        Real<T>* const shared = shared_panel(j);
        if (marks_->ready(j, 0)) return shared;
        if (marks_->claim(j, 0)) {
            pack_panel(j, shared);
            marks_->publish(j, 0);
            return shared;
        }
        if (pack_another(j) && marks_->ready(j, 0)) return shared;
    }
    Real<T>* const alone = scratch<Real<T>>(Buffer::panel, kernel_.right_size(x_.n + 1, kernel_.nr));
    pack_panel(j, alone);
    return alone;
}

/// Packs the first panel after `after` that nobody has begun.
template <Scalar T> bool TeamTriangle<T>::pack_another(Index after)
{
    for (Index j = after + 1; j < shared_panels_; ++j) {
        if (!marks_->claim(j, 0)) continue;
        pack_panel(j, shared_panel(j));
        marks_->publish(j, 0);
        return true;
    }
    return false;
}

template <Scalar T> Real<T>* TeamTriangle<T>::shared_panel(Index j) const
{
    return packed_->template as<Real<T>>() + planes<T> * panels_.numbers_before(j);
}

/// As pack_triangle and pack_factor lay it out: zeros below the diagonal; for solves inverses on it, powers behind.
template <Scalar T> void TeamTriangle<T>::pack_panel(Index j, Real<T>* to) const
{
    const Index first = panels_.first(j), cols = panels_.cols(j);
    pack_right(kernel_, x_.U.block(0, first), first + cols, cols, to);
    if (what_ == WithTriangle::solve) invert_diagonal(kernel_, first, cols, to);
}

template class TeamTriangle<float>;
template class TeamTriangle<double>;
template class TeamTriangle<std::complex<float>>;
template class TeamTriangle<std::complex<double>>;

} // namespace trencadis::blas
