#include "algorithms/blocked_qr.hpp"

#include "algorithms/cutting.hpp"

#include <algorithm>

namespace trencadis {
namespace {

using task::Application;

/// All updates of a step wait for what has it, and it has no length of its own that would rank it before those of the step
/// before.
constexpr TaskOptions urgent{.priority = 1e6};

Index rounded(std::size_t bytes) { return Index((bytes + 127) / 128 * 128); }

/// Columns (rows) [first, first + count).
template <Scalar T> Tile<T> strip(Storage storage, MatrixView<T> A, Index first, Index count)
{
    if (storage == Storage::columns) return {A.data + first * A.ld, A.rows, count, A.ld};
    return {A.data + first, count, A.cols, A.ld};
}
template <Scalar T> Index length(Storage storage, MatrixView<T> A) { return storage == Storage::columns ? A.rows : A.cols; }
template <Scalar T> Index extent(Storage storage, MatrixView<T> A) { return storage == Storage::columns ? A.cols : A.rows; }

/// Calls visit(first, count) for strips of at most nb of [begin, end).
template <class Visit> void each_strip(Index begin, Index end, Index nb, const Visit& visit)
{
    for (Index first = begin; first < end; first += nb) visit(first, std::min(nb, end - first));
}

/// Of an application to columns of C from the left, to rows from the right.
Storage others_of(Side side) { return side == Side::left ? Storage::columns : Storage::rows; }

/// Width of the strips beside the reflectors' own columns: a matrix of few rows has narrow blocks, and its strips must be worth a
/// task nevertheless.
Index width_beside(Index order, Index nb)
{
    constexpr double worth_it = 2e6; // flops
    const double strips = worth_it / (4 * std::max(double(order), 1.0) * double(nb) * double(nb));
    return strips > 1 ? Index(strips) * nb : nb;
}

} // namespace

template <Scalar T>
ReflectorSlots<T>::ReflectorSlots(Index order, Index nb, const ImagePlace& place)
    : room_(rounded(std::size_t(place.is_computed() ? blas::whole_reflectors_size<T>(order, nb) : order * nb) * sizeof(T))),
      factor_(rounded(std::size_t(nb * nb) * sizeof(T))),
      images_(rounded(place.is_computed() ? std::size_t(task::ReflectorBlock<T>::images_size(order, nb)) * sizeof(Real<T>)
                                          : std::size_t((2 * order + nb) * nb) * sizeof(T))),
      in_memory_(place.is_computed()),
      memory_(place.is_memory() ? std::size_t(steps_kept * (room_ + factor_ + images_)) : 0, place.node),
      begin_(static_cast<char*>(place.is_memory() ? memory_.data()
                                                  : place.reserve(std::size_t(steps_kept * (room_ + factor_ + images_)))))
{
}

template <Scalar T> task::ReflectorBlock<T> ReflectorSlots<T>::operator()(Index step, Index order, Index count) const
{
    char* const slot = begin_ + step % steps_kept * (room_ + factor_ + images_);
    return {order,
            count,
            reinterpret_cast<T*>(slot),
            reinterpret_cast<T*>(slot + room_),
            reinterpret_cast<Real<T>*>(slot + room_ + factor_),
            in_memory_ ? Bytes(room_) : 0,
            in_memory_ ? Bytes(images_) : 0};
}

template <Scalar T>
void factor_blocked(Flow& flow, Storage storage, MatrixView<T> A, Index nb, T* tau, const ReflectorSlots<T>& slots,
                    const KeptFactors<T>& kept)
{
    const Index k = std::min(A.rows, A.cols), n = extent(storage, A), order = length(storage, A);
    const bool columns = storage == Storage::columns;
    const Application how{columns ? Side::left : Side::right, columns ? Op::conj_trans : Op::none};
    const Index beside = width_beside(order, nb);
    each_strip(0, k, nb, [&](Index first, Index count) {
        const auto block = slots(first / nb, order - first, count);
        task::reflector_panel(flow, storage, strip(storage, A, first, count), tau + first, block);
        if (kept.t) task::keep_factors(flow, block, kept.width, kept.t + first * kept.ld, kept.ld);
        if (first + count == n) return;
        task::pack_reflectors(flow, block, how, urgent);
        const auto update = [&](Index j, Index some) { task::apply_reflectors(flow, block, how, strip(storage, A, j, some)); };
        each_strip(first + count, k, nb, update);
        each_strip(k, n, beside, update);
    });
}

template <Scalar T>
void apply_blocked(Flow& flow, Storage storage, Application how, Index k, MatrixView<T> A, Index nb, const T* tau,
                   MatrixView<T> C, Index nc, const ReflectorSlots<T>& slots)
{
    if (storage == Storage::rows) how.op = how.op == Op::none ? Op::conj_trans : Op::none; // Q of LQ is the other way round
    const bool left = how.side == Side::left, from_first = left == (how.op != Op::none);
    const Index order = left ? C.rows : C.cols, blocks = pieces(k, nb);
    for (Index step = 0; step < blocks; ++step) {
        const Index first = (from_first ? step : blocks - 1 - step) * nb, count = std::min(nb, k - first);
        const auto block = slots(step, order - first, count);
        task::whole_reflectors(flow, storage, strip(storage, A, first, count), tau + first, block, task::AfterReading::keep,
                               urgent);
        task::pack_reflectors(flow, block, how, urgent);
        each_strip(0, extent(others_of(how.side), C), nc, [&](Index j, Index some) {
            task::apply_reflectors(flow, block, how, strip(others_of(how.side), C, j, some));
        });
    }
}

template <Scalar T>
void form_blocked(Flow& flow, Storage storage, Index k, MatrixView<T> A, Index nb, const T* tau, const ReflectorSlots<T>& slots)
{
    const bool columns = storage == Storage::columns;
    const Application how{columns ? Side::left : Side::right, columns ? Op::none : Op::conj_trans};
    const Index n = extent(storage, A), order = length(storage, A), blocks = pieces(k, nb);
    each_strip(k, n, nb, [&](Index j, Index some) { task::set_identity(flow, storage, strip(storage, A, j, some), j); });
    for (Index step = 0; step < blocks; ++step) {
        const Index first = (blocks - 1 - step) * nb, count = std::min(nb, k - first);
        const auto block = slots(step, order - first, count);
        task::whole_reflectors(flow, storage, strip(storage, A, first, count), tau + first, block, task::AfterReading::form,
                               urgent);
        task::pack_reflectors(flow, block, how, urgent);
        const auto update = [&](Index j, Index some) { task::apply_reflectors(flow, block, how, strip(storage, A, j, some)); };
        each_strip(first, k, nb, update);
        each_strip(k, n, nb, update);
    }
}

#define TRC_INSTANTIATE(T)                                                                                                       \
    template class ReflectorSlots<T>;                                                                                            \
    template void factor_blocked(Flow&, Storage, MatrixView<T>, Index, T*, const ReflectorSlots<T>&, const KeptFactors<T>&);     \
    template void apply_blocked(Flow&, Storage, Application, Index, MatrixView<T>, Index, const T*, MatrixView<T>, Index,        \
                                const ReflectorSlots<T>&);                                                                       \
    template void form_blocked(Flow&, Storage, Index, MatrixView<T>, Index, const T*, const ReflectorSlots<T>&);
TRC_INSTANTIATE(float)
TRC_INSTANTIATE(double)
TRC_INSTANTIATE(std::complex<float>)
TRC_INSTANTIATE(std::complex<double>)
#undef TRC_INSTANTIATE

} // namespace trencadis
