#pragma once
#include "algorithms/forms/form.hpp"
#include "algorithms/tall_qr.hpp"

#include <algorithm>
#include <optional>

namespace trencadis {

/// QR of a tall matrix by blocks of nb rows (0: as many as suit), with tau as second operand; what has become of the matrix stays
/// with the layout. What it keeps beside its squares are plain flags of its own, which nobody reads in a simulation.
template <Scalar T> struct TallLayout final : Layout {
    TallLayout(Place& place, const Problem& x, IllConditioned ill = IllConditioned::factored)
    {
        if (x.n == 0) return;
        const MatrixView<T> A = place.columns<T>(x.m, x.n);
        T* const tau = place.vector<T>(x.n);
        const Index blocks = x.nb ? std::clamp<Index>(x.m / x.nb, 2, std::max<Index>(2, x.m / x.n)) : 0;
        call.emplace(x.m, x.n, A.data, A.ld, tau, blocks, ill, place.images());
    }
    void submit(Flow& flow) override
    {
        if (call) call->submit(flow);
    }
    std::optional<TallQr<T>> call;
};

} // namespace trencadis
