#include "algorithms/tall_qr.hpp"

#include "kernels/tiles/qr_operations.hpp"

#include <algorithm>
#include <complex>

namespace trencadis {
namespace {

constexpr Index inner = 32;  ///< columns of an inner block where triangles are joined
constexpr Index squares = 4; ///< beside each block: R, K, C, and the factors of its joint

/// Triangles `stride` apart are joined, for 1, 2, 4 and so on; `visit(upper, lower)`.
template <class Visit> void upward(Index count, Visit&& visit)
{
    for (Index stride = 1; stride < count; stride *= 2)
        for (Index b = 0; b + stride < count; b += 2 * stride) visit(b, b + stride);
}
/// The same in the reverse order.
template <class Visit> void downward(Index count, Visit&& visit)
{
    Index stride = 1;
    while (stride < count) stride *= 2;
    for (stride /= 2; stride >= 1; stride /= 2)
        for (Index b = 0; b + stride < count; b += 2 * stride) visit(b, b + stride);
}

} // namespace

template <Scalar T>
TallQr<T>::TallQr(Index m, Index n, T* A, Index lda, T* tau, Index blocks, IllConditioned ill, const ImagePlace& place)
    : m_(m), n_(n), count_(blocks ? blocks : suitable(m, n)), inner_(std::min(n, inner)),
      most_reflected_(ill == IllConditioned::factored || is_bound_by_memory(m, n) ? count_ : count_ / 8),
      memory_(place.is_memory() ? squares_bytes() : 0, place.node),
      begin_(static_cast<T*>(place.is_memory() ? memory_.data() : place.reserve(squares_bytes()))),
      states_(reinterpret_cast<typename task::TallBlock<T>::State*>(begin_ + (squares * count_ + 2) * n * n)),
      head_{square(squares * count_), square(squares * count_ + 1), tau}, unfit_(reinterpret_cast<Index*>(states_ + count_))
{
    if (place.is_memory()) *unfit_ = 0;
    for (Index b = 0; b < count_; ++b)
        blocks_.push_back({{A + begin(b), begin(b + 1) - begin(b), n, lda},
                           square(squares * b),
                           square(squares * b + 1),
                           square(squares * b + 2),
                           states_ + b});
}
template <Scalar T> Tile<T> TallQr<T>::square(Index place) const { return {begin_ + place * n_ * n_, n_, n_, n_}; }
template <Scalar T> std::size_t TallQr<T>::squares_bytes() const
{
    return std::size_t((squares * count_ + 2) * n_ * n_) * sizeof(T) + std::size_t(count_ + 1) * sizeof(Index);
}

template <Scalar T> void TallQr<T>::submit(Flow& flow)
{
    const auto block = [this](Index b) -> const task::TallBlock<T>& { return blocks_[std::size_t(b)]; };
    const auto joint = [this](Index b) {
        const Tile<T> whole = square(squares * b + 3);
        return Tile<T>{whole.data, inner_, n_, inner_};
    };
    for (const task::TallBlock<T>& one : blocks_) task::gram_qr(flow, one);
    task::judge_blocks<T>(flow, blocks_, most_reflected_, unfit_);
    for (const task::TallBlock<T>& one : blocks_) task::reflect_block(flow, one, unfit_);
    upward(count_, [&](Index upper, Index lower) { task::ttqrt(flow, inner_, block(upper).R, block(lower).R, joint(lower)); });
    for (Index b = 0; b < count_; ++b) task::begin_q(flow, block(b).C, b == 0);
    downward(count_, [&](Index upper, Index lower) {
        task::ttmqr(flow, Op::none, inner_, block(lower).R, joint(lower), block(upper).C, block(lower).C);
    });
    task::reconstruct_head(flow, block(0), head_, unfit_);
    for (Index b = 0; b < count_; ++b) task::reconstruct_block(flow, block(b), head_, b == 0, unfit_);
}

#define TRC_INSTANTIATE(T) template class TallQr<T>;
TRC_INSTANTIATE(float)
TRC_INSTANTIATE(double)
TRC_INSTANTIATE(std::complex<float>)
TRC_INSTANTIATE(std::complex<double>)
#undef TRC_INSTANTIATE

} // namespace trencadis
