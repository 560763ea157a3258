#include "blas/team_product.hpp"

#include "base/error.hpp"
#include "base/of_thread.hpp"
#include "blas/packing.hpp"
#include "blas/scratch.hpp"

#include <algorithm>
#include <numeric>

namespace trencadis::blas {
namespace {

constexpr Index slots = 2;
constexpr Index narrowest_unit = 32; ///< columns of B that are packed together at least
constexpr Index parts_wanted = 48;   ///< of a small operation: enough that the last one of a slow core holds back little
constexpr Index fewest_rows = 24;    ///< of a part: fewer would read B too often

Index divide_up(Index a, Index b) { return (a + b - 1) / b; }

} // namespace

template <Scalar T>
TeamProduct<T>::TeamProduct(Product<T> product, const Setup<T>& with, bool real_diagonal, Members members)
    : x_(normalised(product)), kernel_(with.kernel), split_(with.tree[Loop::ic]), real_diagonal_(real_diagonal),
      members_(std::move(members)), mc_(with.tree[Loop::ic].block)
{
    if (x_.alpha == T(0)) x_.k = 0; // A and B are not read
    const Cut sizes = cut(with, x_.m, x_.n, x_.k);
    kc_ = sizes.kc;
    nc_ = sizes.nc;
    unit_cols_ = sizes.unit_cols;
    pieces_ = divide_up(x_.k, kc_);
    shared_pieces_ = std::min(pieces_, std::max<Index>(1, sizes.most / (kc_ * nc_)));
    const bool dynamic = split_.split == Split::none || split_.split == Split::dynamic;
    std::vector<double> shares(members_.cpus.size(), 1.0);
    if (split_.split == Split::weighted) shares = members_.weights;
    if (!dynamic && shares.empty()) shares = {1.0};
    cut_stages(dynamic ? sizes.parts : 0, shares);
    const Index units = divide_up(nc_, unit_cols_), used = std::min<Index>(slots, Index(stages_.size()));
    if (pieces_ == 0 || used == 0) return;
    try {
        packed_.emplace(used * shared_pieces_ * units * kernel_.right_size(kc_, unit_cols_) * Index(sizeof(Real<T>)));
    } catch (const Error& failure) {
        if (failure.code() != ErrorCode::out_of_memory) throw;
        shared_pieces_ = 0; // every member packs for itself, unit by unit
    }
    marks_.emplace(used * shared_pieces_ * units);
}

template <Scalar T> typename TeamProduct<T>::Cut TeamProduct<T>::cut(const Setup<T>& with, Index m, Index n, Index k)
{
    const Index mr = with.kernel.mr, nr = with.kernel.nr, mc = with.tree[Loop::ic].block;
    const Index unit = divide_up(narrowest_unit, nr) * nr, most = with.tree[Loop::pc].block * with.tree[Loop::jc].block;
    const Index fitting = std::min(most / std::max<Index>(1, k), with.tree[Loop::jc].block) / unit * unit;
    const Index least = divide_up(fewest_rows, mr) * mr;
    const Index rows = std::clamp(divide_up(m, parts_wanted * mr) * mr, least, std::max(least, mc));
    return {balanced_block(k, with.tree[Loop::pc].block, 8), balanced_block(n, std::max(unit, fitting), unit), unit, most,
            divide_up(m, rows)};
}

/// `parts`: rows are cut into that many parts of equal work in each stage; 0: into shares.
template <Scalar T> void TeamProduct<T>::cut_stages(Index parts, const std::vector<double>& shares)
{
    const std::vector<double> even(std::size_t(std::max<Index>(parts, 1)), 1.0);
    for (Index j = 0; j < x_.n && x_.m > 0; j += nc_) {
        const Index cols = std::min(nc_, x_.n - j);
        stages_.push_back({j, cols, cut_rows(j, cols, parts ? even : shares)});
    }
    unfinished_ = std::make_unique<std::atomic<Index>[]>(stages_.size());
    for (std::size_t s = 0; s < stages_.size(); ++s) {
        const Index count = Index(stages_[s].rows.size()) - 1;
        unfinished_[s].store(count, std::memory_order_relaxed); // published with the object
        first_chunk_.push_back(chunks_);
        if (parts) chunks_ += count;
    }
    if (parts || stages_.empty()) return;
    chunks_ = Index(shares.size());
    taken_ = std::make_unique<std::atomic<bool>[]>(shares.size());
}

/// Columns of a stage that a row of C has in the part that is written.
template <Scalar T> double TeamProduct<T>::row_work(const Stage& stage, Index row) const
{
    if (x_.part == Part::all) return double(stage.cols);
    const Index reached = x_.part == Part::lower ? row - stage.begin + 1 : stage.begin + stage.cols - row;
    return double(std::clamp<Index>(reached, 0, stage.cols));
}

/// Bounds at multiples of mr, so that the parts' work is as the shares.
template <Scalar T> std::vector<Index> TeamProduct<T>::cut_rows(Index begin, Index cols, const std::vector<double>& shares) const
{
    const Stage stage{begin, cols, {}};
    const Index first = x_.part == Part::lower ? begin / kernel_.mr * kernel_.mr : 0;
    const Index last = x_.part == Part::upper ? std::min(x_.m, begin + cols) : x_.m;
    double total = 0;
    for (Index row = first; row < last; row += kernel_.mr) total += row_work(stage, std::min(row + kernel_.mr / 2, last - 1));
    const double whole = std::accumulate(shares.begin(), shares.end(), 0.0);
    std::vector<Index> bounds{first};
    double done = 0, wanted = 0;
    Index row = first;
    for (std::size_t i = 0; i + 1 < shares.size(); ++i) {
        wanted += shares[i] / whole * total;
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
    const Member member{rows_in_memory(cpu < 0 ? mc_ : setup<T>(cpu).tree[Loop::ic].block),
                        joined_.fetch_add(1, std::memory_order_relaxed)};
    // Parts that fill this core's own block, but a small share of what is left, so that all finish together.
    const Index rows = stages_.empty() ? 1 : std::max<Index>(1, stages_[0].rows[1] - stages_[0].rows[0]);
    const Index whole = taken_ ? 1 : std::max<Index>(1, member.mc / rows);
    const auto wanted = [&] { return std::clamp<Index>(team.remaining() / 16, 1, whole); };
    for (Chunks chunks = begun ? begun : team.next(wanted()); chunks; chunks = team.next(wanted())) {
        if (taken_) do_shares(chunks.end - chunks.begin, cpu, member);
        else do_chunks(chunks, member);
    }
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

template <Scalar T> void TeamProduct<T>::do_shares(Index count, int cpu, const Member& member)
{
    for (; count > 0; --count) {
        const std::size_t share = std::size_t(take_share(cpu));
        for (std::size_t s = 0; s < stages_.size(); ++s)
            do_rows(Index(s), stages_[s].rows[share], stages_[s].rows[share + 1], 1, member);
    }
}

/// The member's own share if it is still there, else the first one left: there are as many as the team hands out.
template <Scalar T> Index TeamProduct<T>::take_share(int cpu)
{
    const auto take = [&](Index share) { return !taken_[std::size_t(share)].exchange(true, std::memory_order_relaxed); };
    for (Index i = 0; i < Index(members_.cpus.size()); ++i)
        if (members_.cpus[std::size_t(i)] == cpu && take(i)) return i;
    for (Index i = 0;; i = (i + 1) % chunks_)
        if (take(i)) return i;
}

/// Consecutive chunks: those of one stage together.
template <Scalar T> void TeamProduct<T>::do_chunks(Chunks chunks, const Member& member)
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
template <Scalar T> void TeamProduct<T>::do_rows(Index stage, Index begin, Index end, Index parts, const Member& member)
{
    const Stage& own = stages_[std::size_t(stage)];
    const bool shared = pieces_ > 0 && slot_is_free(stage);
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
            do_piece(stage, p, i, rows, left, shared && p < shared_pieces_, member);
        }
    }
    clear_diagonal(own, begin, end);
    unfinished_[std::size_t(stage)].fetch_sub(parts, std::memory_order_release); // this member reads the stage's panels no more
}

/// One depth of some rows with all units of the stage. Units that somebody else is packing are left for later.
template <Scalar T>
void TeamProduct<T>::do_piece(Index stage, Index piece, Index row, Index rows, const Real<T>* left, bool shared,
                              const Member& member)
{
    const Stage& own = stages_[std::size_t(stage)];
    Index first = 0, last = divide_up(own.cols, unit_cols_);
    if (x_.part == Part::lower) last = std::clamp<Index>(divide_up(row + rows - own.begin, unit_cols_), 0, last);
    if (x_.part == Part::upper) first = std::clamp<Index>((row - own.begin) / unit_cols_, 0, last);
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
