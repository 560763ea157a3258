#pragma once
#include "base/types.hpp"

#include <algorithm>

namespace trencadis {

/// Width of the blocks that cores sharing one tile operation take. One block is what a slow core can hold back in the end, so
/// it is
/// narrow; a fast core takes two at a time (engines/native/running.cpp), because a vendor kernel packs the other operand anew
/// for each
/// call. A core alone gets all blocks in one call.
inline constexpr Index chunk_width = 32;

/// Below this an operation is over before a second core could join: about 20 us.
inline constexpr Flops smallest_shared = 1e6;

/// So few columns are solved for one by one, in another order of operations (blas::trsm): no chunk is as narrow, or it would
/// have other bits
/// where a member takes it by itself than where it takes it with those before.
inline constexpr Index narrowest_chunk = 3;

inline Index chunk_count(Index extent, Flops flops)
{
    return flops < smallest_shared ? 1 : std::max<Index>(1, (extent + chunk_width - narrowest_chunk) / chunk_width);
}

/// The width of chunks that consist of whole panels; panels of 1: where nothing is computed, and no kernel has panels.
inline Index chunk_width_in(Index panel) { return (chunk_width + panel - 1) / panel * panel; }

/// Elements [begin, end) of `extent` that chunks c of `count` stand for.
struct Range {
    Index begin, end;
    Index size() const { return end - begin; }
};
template <class Chunks> Range range_of(Chunks c, Index count, Index extent)
{
    return {std::min(extent, c.begin * chunk_width), c.end == count ? extent : std::min(extent, c.end * chunk_width)};
}

} // namespace trencadis
