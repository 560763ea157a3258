#pragma once
#include "blas/level3/helpers.hpp"

#include <algorithm>
#include <functional>

namespace trencadis::blas {

/// What others save the calling thread, and the bytes of long columns that go from one core to another for it.
struct Saving {
    Flops flops;
    Bytes moved;
};
inline bool saves_time(const Helpers& helpers, const Saving& saving)
{
    constexpr Flops least = 1.5e5;
    return helpers.share && saving.flops >= least && saving.flops > helpers.flops_for_a_column_byte * saving.moved;
}

/// Columns [begin, end).
struct Panel {
    Index begin, end;
    Index width() const { return end - begin; }
};

/// A factorization of n columns by panels of `width` of the first k, from left to right. In each step the calling thread brings
/// the next panel up to date and factors it, while others update what is behind it (look-ahead; Strazdins 1998). Nobody else
/// writes what a slice writes, or reads it before all have come back. A core alone does the same with each column, but with as
/// many columns together as stay in its cache.
///
/// Panels have
///     void factor(Panel p)                            which is up to date
///     void update(Panel p, Panel columns)             of those behind it
///     Flops updates(Panel p, Index first), panel(Panel p)     what it takes to update columns [first, n) by it, and to factor
///                                                     it: as many flops of updates as take as long
///     Flops all_from(Index j)                         of the panel that begins there and all behind it, with their updates
///     Bytes bytes(Panel p), columns(Index first)      of a panel, and of columns [first, n)
///     Index slice(Panel p)                            columns of a slice, so many that the last one of a step does not keep
///                                                     the others waiting for long
///     static constexpr Flops to_begin                 as many as take as long as to begin a step together, and end it
template <class Panels> class LookAhead {
public:
    /// Columns get the same bits in slices of any width that is not narrower.
    static constexpr Index unit = 8;

    /// `least`: columns of the last panel at the least, which is up to as much wider than others. `together`: panels.
    LookAhead(Panels& panels, Index n, Index k, Index width, Index least, Index together, const Helpers& helpers)
        : panels_(panels), n_(n), k_(k), width_(width), least_(least), together_(together), helpers_(helpers),
          is_shared_(is_worth_sharing())
    {
    }
    bool is_shared() const { return is_shared_; }

    template <class Visit> void for_each_panel(const Visit& visit) const
    {
        for (Panel p = at(0); p.begin < k_; p = at(p.end)) visit(p);
    }
    void factor()
    {
        if (!is_shared_) return factor_alone();
        panels_.factor(at(0));
        for_each_panel([this](Panel p) { step(p); });
    }

private:
    Panel at(Index j) const { return {j, k_ - j - width_ < least_ ? k_ : j + width_}; }

    /// By a panel, and to the next one.
    void step(Panel p)
    {
        const Panel next = before_rest(p);
        const Index left = n_ - next.end, slice = panels_.slice(p);
        // What is narrower than a unit belongs to the last one, as in `in_slices`.
        const Index slices = (left + slice - (left < slice ? 1 : unit)) / slice;
        if (slices > 0 && saves_time(helpers_, saving(p))) {
            const auto work = [&](Team& team) {
                if (!team.is_joined()) lead(p, next);
                while (const Chunks some = team.next_of_two_ends(1))
                    panels_.update(p, {next.end + some.begin * slice, some.end == slices ? n_ : next.end + some.end * slice});
            };
            constexpr double at_peak = 2; // of which panels and narrow updates reach half
            if (helpers_.share(slices, at_peak * panels_.all_from(p.begin), std::cref(work))) return;
        }
        lead(p, {p.end, n_});
    }
    /// Updates these columns, the next panel's among them.
    void lead(Panel p, Panel columns)
    {
        if (columns.width() > 0) panels_.update(p, columns);
        if (p.end < k_) panels_.factor(at(p.end));
    }
    /// The next panel; with all behind it, where those are so few columns that their bits would be others.
    Panel before_rest(Panel p) const
    {
        const Panel next = p.end < k_ ? at(p.end) : Panel{p.end, p.end};
        return next.width() > 0 && n_ - next.end < unit ? Panel{next.begin, n_} : next;
    }

    void factor_alone()
    {
        for (Panel block = block_at(0); block.begin < n_; block = block_at(block.end)) {
            for (Panel p = at(0); p.begin < std::min(block.begin, k_); p = at(p.end)) panels_.update(p, block);
            for (Panel p = at(block.begin); p.begin < std::min(block.end, k_); p = at(p.end)) {
                panels_.factor(p);
                if (p.end < block.end) panels_.update(p, {p.end, block.end});
            }
        }
    }
    /// Whole panels.
    Panel block_at(Index first) const
    {
        Index last = first + together_ * width_;
        if (last < k_ && k_ - last < least_) last = k_;
        return {first, n_ - last < width_ ? n_ : last};
    }

    /// Those who help get the columns that they update once; those of later panels come back while others are under way.
    bool is_worth_sharing() const
    {
        Saving all{0, panels_.columns(at(at(0).end).end)};
        for_each_panel([&](Panel p) {
            if (const Saving one = saving(p); saves_time(helpers_, one)) all = {all.flops + one.flops, all.moved + one.moved};
        });
        return saves_time(helpers_, all);
    }
    /// Of a step others do what is behind the next panel, or their part of all where that is less. The panel goes to them.
    Saving saving(Panel p) const
    {
        const double all = panels_.updates(p, p.end) + (p.end < k_ ? panels_.panel(at(p.end)) : 0);
        const Flops saved = std::min(panels_.updates(p, before_rest(p).end), (1 - 1.0 / helpers_.cores) * all);
        return {saved - Panels::to_begin, panels_.bytes(p)};
    }

    Panels& panels_;
    const Index n_, k_, width_, least_, together_;
    const Helpers& helpers_;
    const bool is_shared_;
};

} // namespace trencadis::blas
