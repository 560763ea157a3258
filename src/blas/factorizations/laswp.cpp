#include "blas/factorizations/lu.hpp"
#include "blas/level3/scratch.hpp"

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <utility>

namespace trencadis::blas {
namespace {

struct Rows {
    Index first, step, count;
};

/// Columns that are gone through together: each keeps the rows that it exchanges in the cache, and their accesses overlap.
template <Scalar T, int columns> void exchange(T* A, Index lda, const Index* pivots, const Rows& rows)
{
    for (Index count = rows.count, i = rows.first; count > 0; --count, i += rows.step) {
        const Index p = pivots[i] - 1;
        for (int c = 0; c < columns; ++c) std::swap(A[i + c * lda], A[p + c * lda]);
    }
}
template <Scalar T, int columns> Index exchange_groups(Index j, Index n, T* A, Index lda, const Index* pivots, const Rows& rows)
{
    for (; j + columns <= n; j += columns) exchange<T, columns>(A + j * lda, lda, pivots, rows);
    return j;
}

/// The same in pairs, while what it will exchange in the next pair is fetched: which rows come next is known, but not to the
/// processor.
template <Scalar T> Index exchange_ahead(Index n, T* A, Index lda, const Index* pivots, const Rows& rows)
{
    Index j = 0;
    for (; j + 4 <= n; j += 2) {
        T *const a = A + j * lda, *const b = a + lda;
        for (Index count = rows.count, i = rows.first; count > 0; --count, i += rows.step) {
            const Index p = pivots[i] - 1;
            __builtin_prefetch(a + p + 2 * lda, 1, 2);
            __builtin_prefetch(b + p + 2 * lda, 1, 2);
            std::swap(a[i], a[p]);
            std::swap(b[i], b[p]);
        }
    }
    return j;
}

/// Is this more than stays in a core's cache from one interchange to the next?
template <Scalar T> bool lies_far(Index n, Index lda)
{
    constexpr Index page = 4096, cached = 256 << 10;
    const Index stride = lda * Index(sizeof(T));
    return stride >= page && n * stride > cached;
}

/// A line that will be written, which may be in the cache of another core.
[[gnu::always_inline]] inline void fetch_to_write(const void* line)
{
#if defined(__x86_64__)
    asm volatile("prefetchw %0" : : "m"(*static_cast<const char*>(line))); // the compiler's own asks for it to be read
#else
    __builtin_prefetch(line, 1, 3);
#endif
}

/// Many interchanges of the rows they begin with and few others, as the permutation that they come to: each row is moved once,
/// and which lines are written next is known. False: they are not so, or there is no memory; nothing was done.
template <Scalar T> bool permute(Index n, T* A, Index lda, const Index* pivots, Index begin, Index count)
{
    constexpr Index least = 24, longest = 1 << 14, line = 64 / Index(sizeof(T));
    if (count < least || n < 4) return false;
    const auto [lowest, highest] = std::minmax_element(pivots + begin, pivots + begin + count);
    const Index rows = std::max(count, *highest - begin);
    if (*lowest <= begin || rows > 2 * count || rows > longest) return false;
    std::int32_t* from = nullptr;
    T* column = nullptr;
    const bool has_memory = finds_memory([&] {
        column = scratch<T>(Buffer::factor, 2 * rows); // numbers first, since they are aligned the more
        from = reinterpret_cast<std::int32_t*>(column + rows);
    });
    if (!has_memory) return false;
    std::iota(from, from + rows, 0);
    for (Index i = 0; i < count; ++i) std::swap(from[i], from[pivots[begin + i] - 1 - begin]);
    for (Index j = 0; j < n; ++j) {
        T* const a = A + j * lda + begin;
        if (j + 1 < n)
            for (Index i = 0; i < rows; i += line) fetch_to_write(a + lda + i);
        for (Index i = 0; i < rows; ++i) column[i] = a[from[i]];
        std::copy_n(column, rows, a);
    }
    return true;
}

} // namespace

template <Scalar T> void laswp(Index n, T* A, Index lda, Index begin, Index end, const Index* pivots, Interchanges order)
{
    if (order == Interchanges::forward && permute(n, A, lda, pivots, begin, end - begin)) return;
    const Rows rows = order == Interchanges::forward ? Rows{begin, 1, end - begin} : Rows{end - 1, -1, end - begin};
    Index j = lies_far<T>(n, lda) ? exchange_ahead(n, A, lda, pivots, rows) : 0;
    j = exchange_groups<T, 4>(j, n, A, lda, pivots, rows);
    exchange_groups<T, 1>(j, n, A, lda, pivots, rows);
}

#define TRC_INSTANTIATE(T) template void laswp(Index, T*, Index, Index, Index, const Index*, Interchanges);
TRC_INSTANTIATE(float)
TRC_INSTANTIATE(double)
TRC_INSTANTIATE(std::complex<float>)
TRC_INSTANTIATE(std::complex<double>)
#undef TRC_INSTANTIATE

} // namespace trencadis::blas
