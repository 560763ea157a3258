#pragma once
#include "algorithms/forms/form.hpp"
#include "algorithms/geqrf.hpp"

namespace trencadis {

/// What users call the forms of tile QR, in their order.
inline constexpr std::string_view tile_qr_words[] = {"flat", "plasma", "binary", "greedy", "fibonacci"};

/// Throws Error{bad_argument} for a name that is none of theirs.
TileQrForm tile_qr_form(std::string_view name);

/// QR by tiles in one of its forms; what applies Q stays with the factors.
template <Scalar T> struct TileQrLayout : Layout {
    TileQrLayout(TileQrForm form, Place& place, const Problem& x)
        : tiles(place.tiles<T>(x.m, x.n, x.nb, x.nb)), by(form, x.m, x.n, x.nb, x.inner, place.images())
    {
    }
    void submit(Flow& flow) override { geqrf(flow, tiles, by); }

    TileMatrix<T> tiles;
    QrFactors<T> by;
};

} // namespace trencadis
