#include "blas/level3/team_product.hpp"

#include "base/error.hpp"
#include "base/of_thread.hpp"
#include "blas/level3/packing.hpp"
#include "blas/level3/scratch.hpp"

#include <algorithm>

namespace trencadis::blas {
namespace {

constexpr Index slots = 2;
constexpr Index narrowest_unit = 32; ///< columns of B that are packed together at least
constexpr Index parts_wanted = 48;   ///< of a small operation: enough that the last one of a slow core holds back little
constexpr Index fewest_rows = 24;    ///< of a part: fewer would read B too often

Index divide_up(Index a, Index b) { return (a + b - 1) / b; }

} // namespace

template <Scalar T>
TeamProduct<T>::TeamProduct(Product<T> product, const Setup<T>& with, bool real_diagonal, int members)
    : x_(normalised(product)), kernel_(with.kernel), real_diagonal_(real_diagonal), mc_(with.tree[Loop::ic])
{
    if (x_.alpha == T(0)) x_.k = 0; // A and B are not read
    const Cut sizes = cut(with, x_.m, x_.n, x_.k);
    kc_ = sizes.kc;
    nc_ = sizes.nc;
    unit_cols_ = sizes.unit_cols;
    pieces_ = divide_up(x_.k, kc_);
    shared_pieces_ = std::min(pieces_, std::max<Index>(1, sizes.most / (kc_ * nc_)));
    cut_stages(sizes.parts);
    const Index units = divide_up(nc_, unit_cols_), used = std::min<Index>(slots, Index(stages_.size()));
    in_place_ = x_.rs == 1 && stays_in_place(x_.B, x_.m, x_.k, with.tree[Loop::pc], mc_);
    packed_by_each_ = !in_place_ && suits_each(with, members);
    if (pieces_ == 0 || used == 0 || in_place_ || packed_by_each_) return;
    try {
        packed_.emplace(used * shared_pieces_ * units * kernel_.right_size(kc_, unit_cols_) * Index(sizeof(Real<T>)));
    } catch (const Error& failure) {
        if (failure.code() != ErrorCode::out_of_memory) throw;
        shared_pieces_ = 0; // every member packs for itself, unit by unit
    }
    marks_.emplace(used * shared_pieces_ * units);
}

/// Does B fit into half of the second cache, and is packing it little beside a member's part of the rows? To pack as much takes a
/// tenth of what it takes to get it from another core (team_triangle.cpp), and as long as some ten rows of C.
template <Scalar T> bool TeamProduct<T>::suits_each(const Setup<T>& with, int members) const
{
    constexpr Index fewest = 40;
    return members > 0 && stages_.size() == 1 && x_.m >= fewest * members &&
           kernel_.padded_cols(x_.n) * x_.k <= with.tree[Loop::pc] * with.tree[Loop::ic] &&
           pieces_ * divide_up(nc_, unit_cols_) <= Own::most_units;
}

template <Scalar T> typename TeamProduct<T>::Own TeamProduct<T>::own_image() const
{
    if (!packed_by_each_) return {};
    try {
        return {scratch<Real<T>>(Buffer::right, kernel_.right_size(x_.k, x_.n))};
    } catch (const Error& failure) {
        if (failure.code() != ErrorCode::out_of_memory) throw;
        return {}; // unit by unit, for each of its rows again
    }
}

template <Scalar T> typename TeamProduct<T>::Cut TeamProduct<T>::cut(const Setup<T>& with, Index m, Index n, Index k)
{
    const Index mr = with.kernel.mr, nr = with.kernel.nr, mc = with.tree[Loop::ic];
    const Index unit = divide_up(narrowest_unit, nr) * nr, most = with.tree[Loop::pc] * with.tree[Loop::jc];
    const Index fitting = std::min(most / std::max<Index>(1, k), with.tree[Loop::jc]) / unit * unit;
    const Index least = divide_up(fewest_rows, mr) * mr;
    const Index rows = std::clamp(divide_up(m, parts_wanted * mr) * mr, least, std::max(least, mc));
    return {balanced_block(k, with.tree[Loop::pc], 8), balanced_block(n, std::max(unit, fitting), unit), unit, most,
            divide_up(m, rows)};
}

/// The rows of each stage are cut into that many parts of equal work.
template <Scalar T> void TeamProduct<T>::cut_stages(Index parts)
{
    for (Index j = 0; j < x_.n && x_.m > 0; j += nc_) {
        const Index cols = std::min(nc_, x_.n - j);
        stages_.push_back({j, cols, cut_rows(j, cols, parts)});
        first_chunk_.push_back(chunks_);
        chunks_ += parts;
    }
    unfinished_ = std::make_unique<std::atomic<Index>[]>(stages_.size());
    for (std::size_t s = 0; s < stages_.size(); ++s)
        unfinished_[s].store(parts, std::memory_order_relaxed); // published with the object
}

/// Columns of a stage that a row of C has in the part that is written.
template <Scalar T> double TeamProduct<T>::row_work(const Stage& stage, Index row) const
{
    if (x_.part == Part::all) return double(stage.cols);
    const Index reached = x_.part == Part::lower ? row - stage.begin + 1 : stage.begin + stage.cols - row;
    return double(std::clamp<Index>(reached, 0, stage.cols));
}

/// Bounds at multiples of mr.
template <Scalar T> std::vector<Index> TeamProduct<T>::cut_rows(Index begin, Index cols, Index parts) const
{
    const Stage stage{begin, cols, {}};
    const Index first = x_.part == Part::lower ? begin / kernel_.mr * kernel_.mr : 0;
    const Index last = x_.part == Part::upper ? std::min(x_.m, begin + cols) : x_.m;
    double total = 0;
    for (Index row = first; row < last; row += kernel_.mr) total += row_work(stage, std::min(row + kernel_.mr / 2, last - 1));
    std::vector<Index> bounds{first};
    double done = 0;
    Index row = first;
    for (Index i = 1; i < parts; ++i) {
        const double wanted = total * double(i) / double(parts);
        for (; row < last && done < wanted - 1e-9 * total; row += kernel_.mr)
            done += row_work(stage, std::min(row + kernel_.mr / 2, last - 1));
        bounds.push_back(std::min(row, last));
    }
    bounds.push_back(last);
    return bounds;
}

template <Scalar T> Flops TeamProduct<T>::flops() const
{
    return flops_per_fma<T> * double(x_.k) * double(x_.m) * double(x_.n) * (x_.part == Part::all ? 1 : 0.5);
}

template <Scalar T> void TeamProduct<T>::work(Team& team, int cpu, Chunks begun)
{
    Member member{rows_in_memory(cpu < 0 ? mc_ : setup<T>(cpu).tree[Loop::ic]), joined_.fetch_add(1, std::memory_order_relaxed),
                  own_image()};
    // Parts that fill this core's own block, but a small share of what is left, so that all finish together.
    const Index rows = stages_.empty() ? 1 : std::max<Index>(1, stages_[0].rows[1] - stages_[0].rows[0]);
    const Index whole = std::max<Index>(1, member.mc / rows);
    const auto wanted = [&] { return std::clamp<Index>(team.remaining() / 16, 1, whole); };
    // From both ends where each stage has a slot of its own: members then have the same rows of C from call to call.
    const bool any_order = stages_.size() <= std::size_t(slots);
    const auto next = [&] { return any_order ? team.next_of_two_ends(wanted()) : team.next(wanted()); };
    for (Chunks chunks = begun ? begun : next(); chunks; chunks = next()) do_chunks(chunks, member);
}

/// As many rows of A as the member has memory to pack at a time, at most `most`.
template <Scalar T> Index TeamProduct<T>::rows_in_memory(Index most) const
{
    for (;; most = std::max(kernel_.mr, most / 2 / kernel_.mr * kernel_.mr)) try {
            scratch<Real<T>>(Buffer::left, kernel_.left_size(most, kc_));
            return most;
        } catch (const Error& failure) {
            if (failure.code() != ErrorCode::out_of_memory || most <= kernel_.mr) throw;
        }
}

/// Consecutive chunks: those of one stage together.
template <Scalar T> void TeamProduct<T>::do_chunks(Chunks chunks, Member& member)
{
    Index stage = std::upper_bound(first_chunk_.begin(), first_chunk_.end(), chunks.begin) - first_chunk_.begin() - 1;
    for (Index c = chunks.begin; c < chunks.end; ++stage) {
        const Stage& own = stages_[std::size_t(stage)];
        const Index first = c - first_chunk_[std::size_t(stage)];
        const Index last = std::min(Index(own.rows.size()) - 1, first + chunks.end - c);
        do_rows(stage, own.rows[std::size_t(first)], own.rows[std::size_t(last)], last - first, member);
        c += last - first;
    }
}

/// All earlier stages of the slot, not only the last: that one's members may all have packed for themselves because a member
/// of the stage before it was still reading. Acquire: whoever finished them has read their panels for the last time.
template <Scalar T> bool TeamProduct<T>::slot_is_free(Index stage) const
{
    for (Index earlier = stage - slots; earlier >= 0; earlier -= slots)
        if (unfinished_[std::size_t(earlier)].load(std::memory_order_acquire) != 0) return false;
    return true;
}

template <Scalar T> void TeamProduct<T>::clear_diagonal(const Stage& stage, Index begin, Index end) const
{
    if constexpr (is_complex<T>)
        if (real_diagonal_)
            for (Index i = std::max(begin, stage.begin); i < std::min(end, stage.begin + stage.cols); ++i)
                x_.C[i * (x_.rs + x_.cs)].imag(0);
}

/// Rows [begin, end) of a stage in full depth, `parts` of its parts.
template <Scalar T> void TeamProduct<T>::do_rows(Index stage, Index begin, Index end, Index parts, Member& member)
{
    const Stage& own = stages_[std::size_t(stage)];
    const bool shared = pieces_ > 0 && !in_place_ && !packed_by_each_ && slot_is_free(stage);
    clear_diagonal(own, begin, end);
    for (Index i = begin; i < end; i += member.mc) {
        const Index rows = std::min(member.mc, end - i);
        T* const C = x_.C + i * x_.rs + own.begin * x_.cs;
        if (pieces_ == 0)
            multiply_packed<T>(kernel_, 1, x_.part, own.begin - i, T(0), {nullptr, rows, 0}, 0, rows, {nullptr, own.cols, 0}, 0,
                               own.cols, x_.beta, C, x_.rs, x_.cs);
        for (Index p = 0; p < pieces_; ++p) {
            const Index depth = std::min(kc_, x_.k - p * kc_);
            Real<T>* const left = scratch<Real<T>>(Buffer::left, kernel_.left_size(rows, depth));
            pack_left(kernel_, x_.A.block(i, p * kc_), rows, depth, left);
            if (in_place_) do_piece_in_place(stage, p, i, rows, left);
            else if (member.own.image) do_piece_alone(p, i, rows, left, member.own);
            else do_piece(stage, p, i, rows, left, shared && p < shared_pieces_, member);
        }
    }
    clear_diagonal(own, begin, end);
    unfinished_[std::size_t(stage)].fetch_sub(parts, std::memory_order_release); // this member reads the stage's panels no more
}

template <Scalar T> typename TeamProduct<T>::Units TeamProduct<T>::reached(const Stage& stage, Index row, Index rows) const
{
    const Index all = divide_up(stage.cols, unit_cols_);
    if (x_.part == Part::lower) return {0, std::clamp<Index>(divide_up(row + rows - stage.begin, unit_cols_), 0, all)};
    return {x_.part == Part::upper ? std::clamp<Index>((row - stage.begin) / unit_cols_, 0, all) : 0, all};
}

/// One depth of some rows with columns of B that nobody packs.
template <Scalar T> void TeamProduct<T>::do_piece_in_place(Index stage, Index piece, Index row, Index rows, const Real<T>* left)
{
    const Stage& own = stages_[std::size_t(stage)];
    const Index p = piece * kc_, depth = std::min(kc_, x_.k - p);
    const auto [first, last] = reached(own, row, rows);
    multiply_packed<T>(kernel_, depth, x_.part, own.begin - row, x_.alpha, {left, rows, depth}, 0, rows,
                       where_it_lies(x_.B.block(p, own.begin), depth, own.cols), first * unit_cols_,
                       std::min(own.cols, last * unit_cols_), piece == 0 ? x_.beta : T(1), x_.C + row * x_.rs + own.begin * x_.cs,
                       x_.rs, x_.cs);
}

/// One depth of some rows with the member's own image, of which it packs what is missing.
template <Scalar T> void TeamProduct<T>::do_piece_alone(Index piece, Index row, Index rows, const Real<T>* left, Own& own)
{
    const Stage& all = stages_.front();
    const Index depth = std::min(kc_, x_.k - piece * kc_), units = divide_up(all.cols, unit_cols_);
    Real<T>* const right = own.image + kernel_.right_size(piece * kc_, all.cols);
    const auto [first, last] = reached(all, row, rows);
    for (Index unit = first; unit < last; ++unit) {
        if (own.packed[std::size_t(piece * units + unit)]) continue;
        pack_unit(0, piece, unit, right + kernel_.right_size(depth, unit * unit_cols_));
        own.packed.set(std::size_t(piece * units + unit));
    }
    multiply_packed<T>(kernel_, depth, x_.part, all.begin - row, x_.alpha, {left, rows, depth}, 0, rows, {right, all.cols, depth},
                       first * unit_cols_, std::min(all.cols, last * unit_cols_), piece == 0 ? x_.beta : T(1),
                       x_.C + row * x_.rs + all.begin * x_.cs, x_.rs, x_.cs);
}

/// One depth of some rows with all units of the stage. Units that somebody else is packing are left for later.
template <Scalar T>
void TeamProduct<T>::do_piece(Index stage, Index piece, Index row, Index rows, const Real<T>* left, bool shared,
                              const Member& member)
{
    const Stage& own = stages_[std::size_t(stage)];
    const auto [first, last] = reached(own, row, rows);
    const Index count = last - first, start = count * (member.ordinal % 4) / 4;
    std::vector<Index>& later = of_thread<std::vector<Index>, TeamProduct>();
    later.clear();
    for (Index i = 0; i < count; ++i) {
        const Index unit = first + (start + i) % count;
        if (!try_unit(stage, piece, unit, row, rows, left, shared)) later.push_back(unit);
    }
    for (const Index unit : later) {
        if (shared && try_unit(stage, piece, unit, row, rows, left, true)) continue;
        Real<T>* const own_copy = scratch<Real<T>>(Buffer::panel, kernel_.right_size(kc_, unit_cols_));
        pack_unit(stage, piece, unit, own_copy);
        multiply_unit(stage, piece, unit, row, rows, left, own_copy);
    }
}

/// Multiplies with a unit that is ready, or that nobody has begun to pack.
template <Scalar T>
bool TeamProduct<T>::try_unit(Index stage, Index piece, Index unit, Index row, Index rows, const Real<T>* left, bool shared)
{
    if (!shared) return false;
    const Index round = stage / slots, units = divide_up(nc_, unit_cols_);
    const Index at = ((stage % slots) * shared_pieces_ + piece) * units + unit;
    Real<T>* const right = packed_->template as<Real<T>>() + at * kernel_.right_size(kc_, unit_cols_);
    if (!marks_->ready(at, round)) {
        if (!marks_->claim(at, round)) return false;
        pack_unit(stage, piece, unit, right);
        marks_->publish(at, round);
    }
    multiply_unit(stage, piece, unit, row, rows, left, right);
    return true;
}

template <Scalar T> void TeamProduct<T>::pack_unit(Index stage, Index piece, Index unit, Real<T>* to) const
{
    const Stage& own = stages_[std::size_t(stage)];
    const Index j = unit * unit_cols_, p = piece * kc_;
    pack_right(kernel_, x_.B.block(p, own.begin + j), std::min(kc_, x_.k - p), std::min(unit_cols_, own.cols - j), to);
}

template <Scalar T>
void TeamProduct<T>::multiply_unit(Index stage, Index piece, Index unit, Index row, Index rows, const Real<T>* left,
                                   const Real<T>* right)
{
    const Stage& own = stages_[std::size_t(stage)];
    const Index j = unit * unit_cols_, cols = std::min(unit_cols_, own.cols - j), depth = std::min(kc_, x_.k - piece * kc_);
    multiply_packed<T>(kernel_, depth, x_.part, own.begin + j - row, x_.alpha, {left, rows, depth}, 0, rows, {right, cols, depth},
                       0, cols, piece == 0 ? x_.beta : T(1), x_.C + row * x_.rs + (own.begin + j) * x_.cs, x_.rs, x_.cs);
}

template class TeamProduct<float>;
template class TeamProduct<double>;
template class TeamProduct<std::complex<float>>;
template class TeamProduct<std::complex<double>>;

} // namespace trencadis::blas
