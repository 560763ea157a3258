#include "blas/block_reflector.hpp"
#include "blas/qr_panel.hpp"
#include "blas/scratch.hpp"

#include <algorithm>

namespace trencadis::blas {
namespace {

/// Columns with one T, where nobody wants that of all: its products grow with their square, those of the updates run faster with more.
Index panel_width(Index k) { return k <= 256 ? 32 : 64; }

template <Scalar T> T* room_for(Index m, Index n) { return scratch<T>(Buffer::reflectors, whole_reflectors_size<T>(m, n)); }

/// The upper triangle of what factor_panel leaves.
template <Scalar T> void copy_factor(Index k, const T* from, T* to, Index ldt)
{
    for (Index j = 0; j < k; ++j) std::copy_n(from + j * k, j + 1, to + j * ldt);
}

} // namespace

template <Scalar T> void geqrf(Index m, Index n, T* A, Index lda, T* tau, T* factor, Index ldt)
{
    const Index k = std::min(m, n), panel = factor ? k : panel_width(k);
    if (k <= 0) return;
    T *const own = scratch<T>(Buffer::compact, panel * panel), *const room = room_for<T>(m, std::min(panel, k));
    for (Index j = 0; j < k; j += panel) {
        const Index width = std::min(panel, k - j);
        T* const corner = A + j * (lda + 1);
        const auto v = factor_panel(Storage::columns, m - j, width, corner, lda, tau + j, own, width, room);
        apply_whole(Side::left, Op::conj_trans, v, m - j, n - j - width, width, own, width, corner + width * lda, lda);
    }
    if (factor) copy_factor(k, own, factor, ldt);
}

template <Scalar T> void gelqf(Index m, Index n, T* A, Index lda, T* tau)
{
    const Index k = std::min(m, n), panel = panel_width(k);
    if (k <= 0) return;
    T *const own = scratch<T>(Buffer::compact, panel * panel), *const room = room_for<T>(n, std::min(panel, k));
    for (Index i = 0; i < k; i += panel) {
        const Index height = std::min(panel, k - i);
        T* const corner = A + i * (lda + 1);
        const auto v = factor_panel(Storage::rows, n - i, height, corner, lda, tau + i, own, height, room);
        apply_whole(Side::right, Op::none, v, m - i - height, n - i, height, own, height, corner + height, lda);
    }
}

#define TRC_INSTANTIATE(T)                                                                                                       \
    template void geqrf(Index, Index, T*, Index, T*, T*, Index);                                                                 \
    template void gelqf(Index, Index, T*, Index, T*);
TRC_INSTANTIATE(float)
TRC_INSTANTIATE(double)
TRC_INSTANTIATE(std::complex<float>)
TRC_INSTANTIATE(std::complex<double>)
#undef TRC_INSTANTIATE

} // namespace trencadis::blas
