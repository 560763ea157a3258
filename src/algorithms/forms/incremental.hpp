#pragma once
#include "algorithms/forms/form.hpp"
#include "algorithms/incremental_lu.hpp"

namespace trencadis {

inline constexpr std::string_view incremental_word = "incremental";

/// LU by incremental pivoting, of a square matrix; what solves with the factors stays with them.
template <Scalar T> struct IncrementalLayout final : Layout {
    IncrementalLayout(Place& place, const Problem& x)
        : tiles(place.tiles<T>(x.n, x.n, x.nb, x.nb)), by(x.n, x.n, x.nb, x.inner, place.images())
    {
    }
    void submit(Flow& flow) override { getrf_incremental(flow, tiles, by); }

    TileMatrix<T> tiles;
    Eliminations<T> by;
};

} // namespace trencadis
