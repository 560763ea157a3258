#pragma once
#include "base/types.hpp"
#include "blas/level3/scratch.hpp"

#include <atomic>
#include <memory>

namespace trencadis::blas {

/// Packed panels that several cores make and use, in units that are packed as a whole by whoever comes first. Nobody waits: a
/// member that needs a unit which another one is just packing does something else, or packs it for itself.
///
/// Units live in one of a few slots and are used again in later rounds. A unit's mark only grows: 2 r + 1 while it is packed for
/// round r, 2 r + 2 when it is ready. Invariant: numbers are written by the one member whose claim took the mark to 2 r + 1, and
/// read by members that saw 2 r + 2. A caller that begins round r knows that every reader of the round before in this slot is
/// gone. Ordering: `publish` releases what was packed and `ready` acquires it. A claim needs no ordering of its own: what the
/// claimant overwrites was read by members whose leaving it has acquired already (see TeamProduct).
class PanelMarks {
public:
    explicit PanelMarks(Index units) : marks_(new std::atomic<std::int32_t>[std::size_t(units)]()) {}
    bool ready(Index unit, Index round) const { return marks_[unit].load(std::memory_order_acquire) == 2 * round + 2; }
    /// True: the caller packs the unit and calls publish.
    bool claim(Index unit, Index round)
    {
        std::int32_t mark = marks_[unit].load(std::memory_order_relaxed);
        return mark < 2 * round + 1 &&
               marks_[unit].compare_exchange_strong(mark, std::int32_t(2 * round + 1), std::memory_order_relaxed);
    }
    void publish(Index unit, Index round) { marks_[unit].store(std::int32_t(2 * round + 2), std::memory_order_release); }

private:
    std::unique_ptr<std::atomic<std::int32_t>[]> marks_;
};

} // namespace trencadis::blas
