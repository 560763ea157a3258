#include "blas/block_reflector.hpp"
#include "blas/control_tree.hpp"
#include "blas/qr_panel.hpp"
#include "blas/scratch.hpp"
#include "matrix/conjugate.hpp"

#include <algorithm>
#include <optional>

namespace trencadis::blas {
namespace {

/// Columns with one T, where nobody wants that of all: its products grow with their square, those of the updates run faster with more.
Index panel_width(Index k) { return k <= 256 ? 32 : 64; }

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
    /// Of k vectors, as many at a time as there is memory for; none where there is none for a few.
    static std::optional<Room> of(Index m, Index k)
    {
        const Index wanted = std::min(panel_width(k), k);
        try {
            return Room(m, wanted, std::min<Index>(wanted, 8));
        } catch (const Error& failure) {
            if (failure.code() != ErrorCode::out_of_memory) throw;
            return std::nullopt;
        }
    }
};

/// Without any memory: column by column.
template <Scalar T> void factor_in_place(Index m, Index n, T* A, Index lda, T* tau)
{
    const ColumnKernel<T>& columns = setup<T>().kernel.columns;
    for (Index j = 0; j < std::min(m, n); ++j) {
        const Index rest = m - j - 1;
        T* const v = A + j * (lda + 1) + 1;
        tau[j] = larfg(m - j, v[-1], v, 1);
        for (Index c = 1; c < n - j; ++c) {
            T* const x = v + c * lda;
            T sum;
            columns.dots(rest, 1, v, lda, x, true, &sum);
            const T multiple = conjugate(tau[j]) * (x[-1] + sum);
            x[-1] -= multiple;
            columns.subtract(rest, 1, v, lda, &multiple, x);
        }
    }
}

/// The upper triangle of what factor_panel leaves.
template <Scalar T> void copy_factor(Index k, const T* from, T* to, Index ldt)
{
    for (Index j = 0; j < k; ++j) std::copy_n(from + j * k, j + 1, to + j * ldt);
}

} // namespace

template <Scalar T> void geqrf(Index m, Index n, T* A, Index lda, T* tau, T* factor, Index ldt)
{
    const Index k = std::min(m, n);
    if (k <= 0) return;
    const std::optional<Room<T>> found = factor ? Room<T>(m, k, k) : Room<T>::of(m, k);
    if (!found) return factor_in_place(m, n, A, lda, tau);
    const Room<T>& room = *found;
    for (Index j = 0; j < k; j += room.panel) {
        const Index width = std::min(room.panel, k - j);
        T* const corner = A + j * (lda + 1);
        const auto v = factor_panel(Storage::columns, m - j, width, corner, lda, tau + j, room.factor, width, room.reflectors);
        apply_whole(Side::left, Op::conj_trans, v, m - j, n - j - width, width, room.factor, width, corner + width * lda, lda);
    }
    if (factor) copy_factor(k, room.factor, factor, ldt);
}

template <Scalar T> void gelqf(Index m, Index n, T* A, Index lda, T* tau)
{
    const Index k = std::min(m, n);
    if (k <= 0) return;
    const Index wanted = std::min(panel_width(k), k);
    const Room<T> room(n, wanted, std::min<Index>(wanted, 8));
    for (Index i = 0; i < k; i += room.panel) {
        const Index height = std::min(room.panel, k - i);
        T* const corner = A + i * (lda + 1);
        const auto v = factor_panel(Storage::rows, n - i, height, corner, lda, tau + i, room.factor, height, room.reflectors);
        apply_whole(Side::right, Op::none, v, m - i - height, n - i, height, room.factor, height, corner + height, lda);
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
