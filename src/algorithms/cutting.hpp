#pragma once
#include "base/types.hpp"

namespace trencadis {

/// How many tiles a dimension is cut into.
inline Index pieces(Index size, Index tile) { return (size + tile - 1) / tile; }

inline Index round_up(Index size, Index to) { return pieces(size, to) * to; }

/// The tile, at most about `largest` and a multiple of `quantum`, that cuts the dimension into equal pieces rather than leaving a
/// thin last one.
inline Index balanced(Index size, Index largest, Index quantum)
{
    if (size <= 0) return quantum;
    return round_up(pieces(size, pieces(size, largest)), quantum);
}

} // namespace trencadis
