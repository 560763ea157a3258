#include "blas/factorizations/one_by_one.hpp"
#include "blas/factorizations/qr_panel.hpp"
#include "blas/level3/scratch.hpp"

#include <algorithm>
#include <optional>

namespace trencadis::blas {
namespace {

/// Reflectors with one T, of k.
Index block_of(Index k) { return k <= 256 ? 32 : 64; }

/// Calls visit(first, count) for blocks of k reflectors, from the first or from the last one.
template <class Visit> void each_block(Index k, Index block, bool from_first, const Visit& visit)
{
    const Index blocks = (k + block - 1) / block;
    for (Index b = 0; b < blocks; ++b) {
        const Index first = (from_first ? b : blocks - 1 - b) * block;
        visit(first, std::min(block, k - first));
    }
}

/// Where one block after the other is laid out for products.
template <Scalar T> class Blocks {
public:
    Blocks(Storage storage, Index n, Index k, const T* A, Index lda, const T* tau)
        : storage_(storage), n_(n), A_(A), lda_(lda), tau_(tau), ldt_(std::min(k, block_of(k)))
    {
        ldt_ = fitting(ldt_, std::min<Index>(ldt_, 8), [&](Index size) {
            factor_ = scratch<T>(Buffer::compact, size * size);
            room_ = scratch<T>(Buffer::reflectors, whole_reflectors_size<T>(n, size));
            scratch<T>(Buffer::products, size * size);
        });
    }
    Index size() const { return ldt_; } ///< reflectors of a block
    void load(Index first, Index count)
    {
        whole_ = load_reflectors(storage_, n_ - first, count, A_ + first * (lda_ + 1), lda_, tau_ + first, factor_, ldt_, room_);
    }
    void apply(Side side, Op op, Index m, Index n, Index count, T* C, Index ldc) const
    {
        apply_whole(side, op, whole_, m, n, count, factor_, ldt_, C, ldc);
    }

private:
    Storage storage_;
    Index n_;
    const T* A_;
    Index lda_;
    const T* tau_;
    Index ldt_;
    T *factor_, *room_;
    WholeReflectors<T> whole_ = {};
};

/// None where there is no memory for blocks of a few.
template <Scalar T> std::optional<Blocks<T>> blocks_of(Storage storage, Index n, Index k, const T* A, Index lda, const T* tau)
{
    try {
        return Blocks<T>(storage, n, k, A, lda, tau);
    } catch (const Error& failure) {
        if (failure.code() != ErrorCode::out_of_memory) throw;
        return std::nullopt;
    }
}

/// C <- op(Q) C or C op(Q), Q the product of the reflectors. Of few columns T would cost more than they do.
template <Scalar T>
void apply_all(Storage storage, Side side, Op op, Index m, Index n, Index k, const T* A, Index lda, const T* tau, T* C, Index ldc)
{
    if (m <= 0 || n <= 0 || k <= 0) return;
    const bool left = side == Side::left, from_first = left == (op != Op::none);
    const Index order = left ? m : n;
    const bool few = left && storage == Storage::columns && n <= few_columns;
    std::optional<Blocks<T>> blocks;
    if (!few) blocks = blocks_of(storage, order, k, A, lda, tau);
    if (!blocks) return one_by_one::apply<T>(side, op, {Direction::forward, storage, order, k, A, lda}, tau, 1, m, n, C, ldc);
    each_block(k, blocks->size(), from_first, [&](Index first, Index count) {
        blocks->load(first, count);
        if (left) blocks->apply(side, op, m - first, n, count, C + first, ldc);
        else blocks->apply(side, op, m, n - first, count, C + first * ldc, ldc);
    });
}

/// A <- the first `count` columns (rows) of Q, `length` long. A block's own begin as those of the identity.
template <Scalar T> void form(Storage storage, Index length, Index count, Index k, T* A, Index lda, const T* tau)
{
    if (count <= 0) return;
    const bool columns = storage == Storage::columns;
    set_identity(storage, length, count - k, k, A + k * (columns ? lda : 1), lda);
    if (k <= 0) return;
    std::optional<Blocks<T>> blocks = blocks_of<T>(storage, length, k, A, lda, tau);
    if (!blocks) return one_by_one::form(storage, length, count, k, A, lda, tau);
    each_block(k, blocks->size(), false, [&](Index first, Index some) {
        blocks->load(first, some);
        set_identity(storage, length, some, first, A + first * (columns ? lda : 1), lda);
        T* const corner = A + first * (lda + 1);
        if (columns) blocks->apply(Side::left, Op::none, length - first, count - first, some, corner, lda);
        else blocks->apply(Side::right, Op::conj_trans, count - first, length - first, some, corner, lda);
    });
}

} // namespace

template <Scalar T> void orgqr(Index m, Index n, Index k, T* A, Index lda, const T* tau)
{
    form(Storage::columns, m, n, k, A, lda, tau);
}
template <Scalar T> void orglq(Index m, Index n, Index k, T* A, Index lda, const T* tau)
{
    form(Storage::rows, n, m, k, A, lda, tau);
}

template <Scalar T> void ormqr(Side side, Op op, Index m, Index n, Index k, const T* A, Index lda, const T* tau, T* C, Index ldc)
{
    apply_all(Storage::columns, side, op == Op::none ? op : Op::conj_trans, m, n, k, A, lda, tau, C, ldc);
}
/// Q is the conjugate transpose of what the rows' reflectors make.
template <Scalar T> void ormlq(Side side, Op op, Index m, Index n, Index k, const T* A, Index lda, const T* tau, T* C, Index ldc)
{
    apply_all(Storage::rows, side, op == Op::none ? Op::conj_trans : Op::none, m, n, k, A, lda, tau, C, ldc);
}

#define TRC_INSTANTIATE(T)                                                                                                       \
    template void orgqr(Index, Index, Index, T*, Index, const T*);                                                               \
    template void orglq(Index, Index, Index, T*, Index, const T*);                                                               \
    template void ormqr(Side, Op, Index, Index, Index, const T*, Index, const T*, T*, Index);                                    \
    template void ormlq(Side, Op, Index, Index, Index, const T*, Index, const T*, T*, Index);
TRC_INSTANTIATE(float)
TRC_INSTANTIATE(double)
TRC_INSTANTIATE(std::complex<float>)
TRC_INSTANTIATE(std::complex<double>)
#undef TRC_INSTANTIATE

} // namespace trencadis::blas
