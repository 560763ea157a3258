#include "blas/factorizations/look_ahead.hpp"
#include "blas/factorizations/one_by_one.hpp"
#include "blas/factorizations/qr_panel.hpp"
#include "blas/level3/helpers.hpp"
#include "blas/level3/scratch.hpp"
#include "blas/micro/micro_kernel.hpp"
#include "matrix/operations.hpp"

#include <algorithm>
#include <functional>
#include <optional>

namespace trencadis::blas {
namespace {

/// Columns with one T, where nobody wants that of all: its products grow with their square, those of the updates run faster with
/// more. T of the last panel is not made, so that few columns are best one panel.
template <Scalar T> Index panel_width(Index m, Index k)
{
    constexpr Index large = 550, wide = 48; // what is behind a panel is not in the second cache then
    if (k <= wide || m <= small_qr<T>) return k;
    if (k > large) return wide;
    if constexpr (is_complex<T>) return k <= 200 ? 16 : 32;
    else return sizeof(T) == sizeof(float) ? 32 : 24;
}

/// Where panels of so many vectors of length m are factored: the reflectors and their factor; of two by turns, where one has
/// fewer than `all` of them.
template <Scalar T> struct Room {
    Index panel, next_factor, next_reflectors; ///< from one of two to the other one
    T *factor = nullptr, *reflectors = nullptr;

    Room(Index m, Index wanted, Index least, Index all)
    {
        constexpr Index line = 64 / Index(sizeof(T));
        panel = fitting(wanted, least, [&](Index size) {
            const Index panels = size < all ? 2 : 1;
            next_factor = size * size;
            next_reflectors = (whole_reflectors_size<T>(m, size) + line - 1) / line * line;
            factor = scratch<T>(Buffer::compact, panels * next_factor);
            reflectors = scratch<T>(Buffer::reflectors, panels * next_reflectors);
            scratch<T>(Buffer::products, size * size);
        });
    }
    /// Of `wanted` vectors, or as many at a time as there is memory for; none where there is none for `least`.
    static std::optional<Room> of(Index m, Index wanted, Index least, Index all = 0)
    {
        try {
            return Room(m, wanted, std::min(wanted, least), all);
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

/// What QR is by panels (look_ahead.hpp).
template <Scalar T> class QrPanels {
public:
    static constexpr Flops to_begin = 2.5e5; // steps are short

    /// The room is for two panels, where there are several. `with_factor`: T of the last one is wanted too.
    QrPanels(Index m, Index n, T* A, Index lda, T* tau, const Room<T>& room, bool with_factor)
        : m_(m), n_(n), A_(A), lda_(lda), tau_(tau), room_(room), with_factor_(with_factor)
    {
    }
    /// On one core all columns behind a panel together, whose reflectors give way to those of the next but one.
    void all(const Helpers& helpers)
    {
        const Index k = std::min(m_, n_);
        LookAhead<QrPanels>(*this, n_, k, room_.panel, 1, n_ / room_.panel + 1, helpers).factor();
    }

    void factor(Panel p)
    {
        const Index j = p.begin;
        reflectors_[parity(p)] =
            factor_panel(Storage::columns, m_ - j, p.width(), A_ + j * (lda_ + 1), lda_, tau_ + j, factor_of(p), p.width(),
                         room_.reflectors + parity(p) * room_.next_reflectors, with_factor_ || p.end < n_);
    }
    void update(Panel p, Panel columns) const
    {
        const Index j = p.begin;
        apply_whole(Side::left, Op::conj_trans, reflectors_[parity(p)], m_ - j, columns.width(), p.width(), factor_of(p),
                    p.width(), A_ + j + columns.begin * lda_, lda_);
    }
    Index slice(Panel p) const
    {
        constexpr Index numbers = 12000, least = 24, most = is_complex<T> ? 32 : 48;
        return std::clamp(numbers / (m_ - p.begin) / 8 * 8, least, most);
    }
    Flops updates(Panel p, Index first) const
    {
        return (is_complex<T> ? 16.0 : 4.0) * double(m_ - p.begin) * double(p.width()) * double(n_ - first);
    }
    /// Its operations, with those of T, go at a third of the others' speed.
    Flops panel(Panel p) const
    {
        return (is_complex<T> ? 48.0 : 12.0) * double(m_ - p.begin) * double(p.width()) * double(p.width());
    }
    Flops all_from(Index j) const { return operations::geqrf(double(m_ - j), double(n_ - j)).flops<T>(); }
    Bytes bytes(Panel p) const { return sizeof(T) * double(m_ - p.begin) * double(p.width()); }
    Bytes columns(Index first) const { return sizeof(T) * double(m_) * double(n_ - first); }

private:
    Index parity(Panel p) const { return p.begin / room_.panel % 2; }
    T* factor_of(Panel p) const { return room_.factor + parity(p) * room_.next_factor; }

    const Index m_, n_;
    T* const A_;
    const Index lda_;
    T* const tau_;
    const Room<T>& room_;
    const bool with_factor_;
    WholeReflectors<T> reflectors_[2];
};

} // namespace

template <Scalar T> void geqrf(Index m, Index n, T* A, Index lda, T* tau, T* factor, Index ldt, const Helpers& helpers)
{
    const Index k = std::min(m, n);
    if (k <= 0) return;
    const Index wanted = factor ? k : std::min(panel_width<T>(m, k), k);
    const std::optional<Room<T>> room = Room<T>::of(m, wanted, factor ? k : 8, k);
    if (!room) return factor_one_by_one(m, n, A, lda, tau, factor, ldt);
    QrPanels<T>(m, n, A, lda, tau, *room, factor != nullptr).all(helpers);
    if (factor) copy_factor(k, room->factor, factor, ldt);
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
