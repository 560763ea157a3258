#include "base/types.hpp"
#include "interfaces/lapack/xerbla.hpp"

#include <algorithm>
#include <complex>
#include <cstdint>
#include <utility>

// laswp's symbols. LAPACK looks at no argument of it, and is not told how many rows there are: what ipiv names is the caller's
// word.

namespace trencadis::face {
namespace {

/// How far elements are apart.
struct Steps {
    Index rows, columns;
};

/// Exchanges rows k1 .. k2, from 1, of A's n columns with those that ipiv names, whose first is element k1 and whose others
/// follow |incx| apart; with incx < 0 from the last to the first.
template <class T, class Int> void exchange(Index n, T* A, Steps steps, Index k1, Index k2, const Int* ipiv, Index incx)
{
    if (incx == 0) return;
    const Index apart = incx > 0 ? incx : -incx;
    for (Index count = 0; count <= k2 - k1; ++count) {
        const Index i = incx > 0 ? k1 + count : k2 - count, other = ipiv[k1 - 1 + (i - k1) * apart];
        T *const a = A + (i - 1) * steps.rows, *const b = A + (other - 1) * steps.rows;
        for (Index j = 0; j < n && a != b; ++j) std::swap(a[j * steps.columns], b[j * steps.columns]);
    }
}

template <class T, class Int> void by_columns(Index n, T* A, Index lda, Index k1, Index k2, const Int* ipiv, Index incx)
{
    constexpr Index together = 8; // columns that stay in the cache
    for (Index j = 0; j < n; j += together) exchange(std::min(together, n - j), A + j * lda, {1, lda}, k1, k2, ipiv, incx);
}

template <class T, class Int>
Int with_layout(const char* name, int layout, Int n, T* A, Int lda, Int k1, Int k2, const Int* ipiv, Int incx)
{
    if (layout != 101 && layout != 102) return Int(bad_lapacke_argument(name, -1));
    if (layout == 101 && lda < n) return Int(bad_lapacke_argument(name, -4));
    if (layout == 101) exchange<T>(n, A, {lda, 1}, k1, k2, ipiv, incx);
    else by_columns<T>(n, A, lda, k1, k2, ipiv, incx);
    return 0;
}

} // namespace
} // namespace trencadis::face

using namespace trencadis::face;

#define TRC_FORTRAN(SYMBOL, T, INT)                                                                                              \
    void SYMBOL(const INT* n, T* a, const INT* lda, const INT* k1, const INT* k2, const INT* ipiv, const INT* incx)              \
    {                                                                                                                            \
        by_columns<T>(*n, a, *lda, *k1, *k2, ipiv, *incx);                                                                       \
    }
#define TRC_LAPACKE(SYMBOL, NAME, T, INT)                                                                                        \
    INT SYMBOL(int layout, INT n, T* a, INT lda, INT k1, INT k2, const INT* ipiv, INT incx)                                      \
    {                                                                                                                            \
        return with_layout<T, INT>(NAME, layout, n, a, lda, k1, k2, ipiv, incx);                                                 \
    }
#define TRC_ALIAS(NAME, OF) decltype(OF) NAME __attribute__((alias(#OF)));
#define TRC_FAMILIES(p, T)                                                                                                       \
    TRC_FORTRAN(p##laswp_, T, std::int32_t)                                                                                      \
    TRC_ALIAS(scipy_##p##laswp_, p##laswp_)                                                                                      \
    TRC_FORTRAN(p##laswp_64_, T, std::int64_t)                                                                                   \
    TRC_ALIAS(p##laswp_64, p##laswp_64_)                                                                                         \
    TRC_ALIAS(scipy_##p##laswp_64_, p##laswp_64_)                                                                                \
    TRC_LAPACKE(LAPACKE_##p##laswp, "LAPACKE_" #p "laswp", T, std::int32_t)                                                      \
    TRC_LAPACKE(LAPACKE_##p##laswp_work, "LAPACKE_" #p "laswp_work", T, std::int32_t)                                            \
    TRC_LAPACKE(LAPACKE_##p##laswp_64, "LAPACKE_" #p "laswp", T, std::int64_t)                                                   \
    TRC_ALIAS(LAPACKE_##p##laswp64_, LAPACKE_##p##laswp_64)                                                                      \
    TRC_LAPACKE(LAPACKE_##p##laswp_work_64, "LAPACKE_" #p "laswp_work", T, std::int64_t)                                         \
    TRC_ALIAS(LAPACKE_##p##laswp_work64_, LAPACKE_##p##laswp_work_64)

extern "C" {

TRC_FAMILIES(s, float)
TRC_FAMILIES(d, double)
TRC_FAMILIES(c, std::complex<float>)
TRC_FAMILIES(z, std::complex<double>)

} // extern "C"
