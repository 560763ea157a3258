#include "blas/factorizations/one_by_one.hpp"
#include "blas/factorizations/qr_panel.hpp"
#include "blas/level3/helpers.hpp"
#include "blas/level3/scratch.hpp"
#include "blas/micro/micro_kernel.hpp"

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

/// By panels from left to right. In each step the calling thread brings the next panel up to date and factors it, while others
/// update what is behind it (look-ahead). Alone it does the same in the same order.
template <Scalar T> class QrByPanels {
public:
    /// The room is for two panels, where there are several. `with_factor`: T of the last one is wanted too.
    QrByPanels(Index m, Index n, T* A, Index lda, T* tau, const Room<T>& room, bool with_factor, const Helpers& helpers)
        : m_(m), n_(n), k_(std::min(m, n)), A_(A), lda_(lda), tau_(tau), room_(room), with_factor_(with_factor),
          helpers_(helpers), is_shared_(is_worth_sharing_all())
    {
    }
    void factor()
    {
        factor_panel(0);
        for (Index j = 0; j < k_; j += room_.panel) step(j);
    }

private:
    static constexpr Index unit = 8;

    Index end(Index j) const { return std::min(k_, j + room_.panel); }
    Index parity(Index j) const { return j / room_.panel % 2; }
    T* factor_of(Index j) const { return room_.factor + parity(j) * room_.next_factor; }

    void factor_panel(Index j)
    {
        const Index width = end(j) - j;
        reflectors_[parity(j)] =
            blas::factor_panel(Storage::columns, m_ - j, width, A_ + j * (lda_ + 1), lda_, tau_ + j, factor_of(j), width,
                               room_.reflectors + parity(j) * room_.next_reflectors, with_factor_ || end(j) < n_);
    }
    /// Columns [first, last) by the panel at j.
    void update(Index j, Index first, Index last) const
    {
        const Index width = end(j) - j;
        apply_whole(Side::left, Op::conj_trans, reflectors_[parity(j)], m_ - j, last - first, width, factor_of(j), width,
                    A_ + j + first * lda_, lda_);
    }
    /// Columns, so many that the last slice of a step does not keep the others waiting for long.
    static Index slice_of(Index rows)
    {
        constexpr Index numbers = 12000, most = is_complex<T> ? 32 : 48;
        return std::clamp(numbers / rows / unit * unit, 3 * unit, most);
    }
    void step(Index j)
    {
        const Index next = end(j), behind = next < k_ ? end(next) : next, left = n_ - behind, slice = slice_of(m_ - j);
        // What is narrower than a unit belongs to the last one, as in `in_slices`.
        const Index slices = (left + slice - (left < slice ? 1 : unit)) / slice;
        if (is_shared_ && slices > 0 && saves_time(helpers_, saving_of(j))) {
            const auto work = [&](Team& team) {
                if (!team.is_joined()) lead(j, next, behind);
                while (const Chunks some = team.next_of_two_ends(1))
                    update(j, behind + some.begin * slice, some.end == slices ? n_ : behind + some.end * slice);
            };
            if (helpers_.share(slices, flops_from(j), std::cref(work))) return;
        }
        update(j, next, n_);
        if (next < behind) factor_panel(next);
    }
    /// By the calling thread, in whose memory panels are factored.
    void lead(Index j, Index next, Index behind)
    {
        if (next == behind) return;
        update(j, next, behind);
        factor_panel(next);
    }
    /// Those who help get the columns that they update once; those of later panels come back while others are under way.
    bool is_worth_sharing_all() const
    {
        const Bytes columns = sizeof(T) * double(m_) * double(n_ - end(end(0)));
        return saves_time_by_panels(helpers_, columns, k_, room_.panel, [this](Index j) { return saving_of(j); });
    }
    /// Of the step at j, others do what is behind the next panel, or their part of all where that is less: a panel's operations
    /// go at a third of the others' speed. Steps are short: to begin one together, and to wait for its last slice, counts. What
    /// goes to others are the reflectors.
    Saving saving_of(Index j) const
    {
        const Index next = end(j), behind = end(next);
        const double k = double(next - j), rows = double(m_ - j), panel = double(behind - next);
        const double all = double(n_ - next) * k + 3 * panel * panel;
        const double saved = std::min(double(n_ - behind) * k, (1 - 1.0 / helpers_.cores) * all);
        constexpr Flops to_begin = 2.5e5;
        return {(is_complex<T> ? 16.0 : 4.0) * rows * saved - to_begin, sizeof(T) * rows * k};
    }
    /// Those of this step and all later ones, since who is woken for one takes part in the others: as many as take as long at a
    /// core's peak, of which panels and narrow updates reach half.
    Flops flops_from(Index j) const
    {
        const double m = double(m_ - j), n = double(n_ - j), k = double(k_ - j);
        return (is_complex<T> ? 32.0 : 8.0) * k * (m * n - k * (m + n) / 2 + k * k / 3);
    }

    const Index m_, n_, k_;
    T* const A_;
    const Index lda_;
    T* const tau_;
    const Room<T>& room_;
    const bool with_factor_;
    const Helpers& helpers_;
    const bool is_shared_;
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
    QrByPanels<T>(m, n, A, lda, tau, *room, factor != nullptr, helpers).factor();
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
