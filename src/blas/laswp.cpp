#include "blas/lu.hpp"

#include <utility>

namespace trencadis::blas {
namespace {

/// Columns that are gone through together: each keeps the rows that it exchanges in the cache, and their accesses overlap.
template <Scalar T, int columns, class Rows> void exchange(T* A, Index lda, const Index* pivots, const Rows& rows)
{
    for (Index count = rows.count, i = rows.first; count > 0; --count, i += rows.step) {
        const Index p = pivots[i] - 1;
        for (int c = 0; c < columns; ++c) std::swap(A[i + c * lda], A[p + c * lda]);
    }
}

struct Rows {
    Index first, step, count;
};

} // namespace

template <Scalar T> void laswp(Index n, T* A, Index lda, Index begin, Index end, const Index* pivots, Interchanges order)
{
    constexpr int columns = 4;
    const Rows rows = order == Interchanges::forward ? Rows{begin, 1, end - begin} : Rows{end - 1, -1, end - begin};
    Index j = 0;
    for (; j + columns <= n; j += columns) exchange<T, columns>(A + j * lda, lda, pivots, rows);
    for (; j < n; ++j) exchange<T, 1>(A + j * lda, lda, pivots, rows);
}

#define TRC_INSTANTIATE(T) template void laswp(Index, T*, Index, Index, Index, const Index*, Interchanges);
TRC_INSTANTIATE(float)
TRC_INSTANTIATE(double)
TRC_INSTANTIATE(std::complex<float>)
TRC_INSTANTIATE(std::complex<double>)
#undef TRC_INSTANTIATE

} // namespace trencadis::blas
