#include "blas/factorizations/one_by_one.hpp"
#include "blas/factorizations/qr_panel.hpp"
#include "blas/level3/scratch.hpp"
#include "blas/micro/micro_kernel.hpp"

#include <algorithm>
#include <optional>

namespace trencadis::blas {
namespace {

/// Columns with one T, where nobody wants that of all: its products grow with their square, those of the updates run faster with
/// more. T of the last panel is not made, so that few columns are best one panel.
template <Scalar T> Index panel_width(Index m, Index k)
{
    if (k <= 48 || m <= small_qr<T>) return k;
    return k <= 256 ? 32 : 64;
}

/// Where panels of so many vectors of length m are factored: the reflectors and their factor.
template <Scalar T> struct Room {
    Index panel;
    T *factor = nullptr, *reflectors = nullptr;

    Room(Index m, Index wanted, Index least)
    {
        panel = fitting(wanted, least, [&](Index size) {
            factor = scratch<T>(Buffer::compact, size * size);
            reflectors = scratch<T>(Buffer::reflectors, whole_reflectors_size<T>(m, size));
            scratch<T>(Buffer::products, size * size);
        });
    }
    /// Of `wanted` vectors, or as many at a time as there is memory for; none where there is none for `least`.
    static std::optional<Room> of(Index m, Index wanted, Index least)
    {
        try {
            return Room(m, wanted, std::min(wanted, least));
        } catch (const Error& failure) {
            if (failure.code() != ErrorCode::out_of_memory) throw;
            return std::nullopt;
        }
    }
};

/// The upper triangle of what factor_panel leaves.
template <Scalar T> void copy_factor(Index k, const T* from, T* to, Index ldt)
{
    for (Index j = 0; j < k; ++j) std::copy_n(from + j * k, j + 1, to + j * ldt);
}

template <Scalar T> void factor_one_by_one(Index m, Index n, T* A, Index lda, T* tau, T* factor, Index ldt)
{
    one_by_one::factor(Storage::columns, m, n, A, lda, tau);
    if (factor) one_by_one::make_factor({Direction::forward, Storage::columns, m, std::min(m, n), A, lda}, tau, factor, ldt);
}

} // namespace

template <Scalar T> void geqrf(Index m, Index n, T* A, Index lda, T* tau, T* factor, Index ldt, const Helpers& helpers)
{
    const Index k = std::min(m, n);
    if (k <= 0) return;
    const Index wanted = factor ? k : std::min(panel_width<T>(m, k), k);
    const std::optional<Room<T>> found = Room<T>::of(m, wanted, factor ? k : 8);
    if (!found) return factor_one_by_one(m, n, A, lda, tau, factor, ldt);
    const Room<T>& room = *found;
    for (Index j = 0; j < k; j += room.panel) {
        const Index width = std::min(room.panel, k - j);
        T* const corner = A + j * (lda + 1);
        const bool is_applied = factor || j + width < n;
        const auto v =
            factor_panel(Storage::columns, m - j, width, corner, lda, tau + j, room.factor, width, room.reflectors, is_applied);
        const Flops flops = (is_complex<T> ? 16.0 : 4.0) * double(m - j) * double(n - j - width) * double(width);
        const Bytes column = double(m - j) * sizeof(T);
        const Update update{n - j - width, flops, column * double(width), column * double(n - j - width)};
        in_slices(helpers, update, [&](Index first, Index count) {
            apply_whole(Side::left, Op::conj_trans, v, m - j, count, width, room.factor, width, corner + (width + first) * lda,
                        lda);
        });
    }
    if (factor) copy_factor(k, room.factor, factor, ldt);
}

template <Scalar T> void gelqf(Index m, Index n, T* A, Index lda, T* tau)
{
    const Index k = std::min(m, n);
    if (k <= 0) return;
    const std::optional<Room<T>> found = Room<T>::of(n, std::min(panel_width<T>(n, k), k), 8);
    if (!found) return one_by_one::factor(Storage::rows, m, n, A, lda, tau);
    const Room<T>& room = *found;
    for (Index i = 0; i < k; i += room.panel) {
        const Index height = std::min(room.panel, k - i);
        T* const corner = A + i * (lda + 1);
        const bool is_applied = i + height < m;
        const auto v =
            factor_panel(Storage::rows, n - i, height, corner, lda, tau + i, room.factor, height, room.reflectors, is_applied);
        apply_whole(Side::right, Op::none, v, m - i - height, n - i, height, room.factor, height, corner + height, lda);
    }
}

#define TRC_INSTANTIATE(T)                                                                                                       \
    template void geqrf(Index, Index, T*, Index, T*, T*, Index, const Helpers&);                                                 \
    template void gelqf(Index, Index, T*, Index, T*);
TRC_INSTANTIATE(float)
TRC_INSTANTIATE(double)
TRC_INSTANTIATE(std::complex<float>)
TRC_INSTANTIATE(std::complex<double>)
#undef TRC_INSTANTIATE

} // namespace trencadis::blas
