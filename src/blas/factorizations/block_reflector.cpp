#include "blas/factorizations/block_reflector.hpp"

#include "blas/factorizations/one_by_one.hpp"
#include "blas/level3/level3.hpp"
#include "blas/level3/scratch.hpp"
#include "matrix/conjugate.hpp"

#include <algorithm>

namespace trencadis::blas {
namespace {

template <Scalar T> void copy(Index m, Index n, const T* A, Index lda, T* B, Index ldb)
{
    for (Index j = 0; j < n; ++j) std::copy_n(A + j * lda, m, B + j * ldb);
}
template <Scalar T> void subtract(Index m, Index n, const T* A, Index lda, T* B, Index ldb)
{
    for (Index j = 0; j < n; ++j)
        for (Index i = 0; i < m; ++i) B[i + j * ldb] -= A[i + j * lda];
}

/// Columns (on the right: rows) of C that are worked on together.
Index strip(Index k) { return std::max<Index>(64, (Index(1) << 17) / k); }

/// V^H C and what follows, for n columns.
template <Scalar T> void apply_left(Op op, const Reflectors<T>& v, const T* factor, Index ldt, Index n, T* C, Index ldc, T* W)
{
    const Index k = v.k, rest = v.n - k;
    T *const top = C + v.triangle_row(), *const other = C + v.rest_row();
    copy(k, n, top, ldc, W, k);
    trmm(Side::left, v.uplo(), v.adjoint(), Diag::unit, k, n, T(1), v.triangle(), v.ldv, W, k);
    if (rest > 0) gemm(v.adjoint(), Op::none, k, n, rest, T(1), v.rest(), v.ldv, other, ldc, T(1), W, k);
    trmm(Side::left, v.factor_uplo(), op, Diag::non_unit, k, n, T(1), factor, ldt, W, k);
    if (rest > 0) gemm(v.plain(), Op::none, rest, n, k, T(-1), v.rest(), v.ldv, W, k, T(1), other, ldc);
    trmm(Side::left, v.uplo(), v.plain(), Diag::unit, k, n, T(1), v.triangle(), v.ldv, W, k);
    subtract(k, n, W, k, top, ldc);
}
/// C V and what follows, for m rows.
template <Scalar T> void apply_right(Op op, const Reflectors<T>& v, const T* factor, Index ldt, Index m, T* C, Index ldc, T* W)
{
    const Index k = v.k, rest = v.n - k;
    T *const top = C + v.triangle_row() * ldc, *const other = C + v.rest_row() * ldc;
    copy(m, k, top, ldc, W, m);
    trmm(Side::right, v.uplo(), v.plain(), Diag::unit, m, k, T(1), v.triangle(), v.ldv, W, m);
    if (rest > 0) gemm(Op::none, v.plain(), m, k, rest, T(1), other, ldc, v.rest(), v.ldv, T(1), W, m);
    trmm(Side::right, v.factor_uplo(), op, Diag::non_unit, m, k, T(1), factor, ldt, W, m);
    if (rest > 0) gemm(Op::none, v.adjoint(), m, rest, k, T(-1), W, m, v.rest(), v.ldv, T(1), other, ldc);
    trmm(Side::right, v.uplo(), v.adjoint(), Diag::unit, m, k, T(1), v.triangle(), v.ldv, W, m);
    subtract(m, k, W, m, top, ldc);
}

} // namespace

template <Scalar T> void join_factors(const Reflectors<T>& v, Index k1, T* factor, Index ldt)
{
    const Index k2 = v.k - k1, lower = v.forward() ? k2 : k1, upper = v.k - lower;
    // a: those with the longer ends. Of both, the rows of b's triangle and those behind or before it count.
    const Index a0 = v.forward() ? 0 : k1, b0 = v.forward() ? k1 : 0;
    const Reflectors<T> b = v.part(b0, lower);
    const Index offset = v.forward() ? k1 : 0; // of b's rows in v's
    T* const joint = factor + (v.forward() ? k1 * ldt : k1);
    const Index shared = offset + b.triangle_row();
    // The block as it is multiplied with the others: rows of a.
    for (Index j = 0; j < lower; ++j)
        for (Index i = 0; i < upper; ++i) joint[i + j * ldt] = conjugate(*v.at(shared + j, a0 + i));
    if (!v.columns())
        for (Index j = 0; j < lower; ++j)
            for (Index i = 0; i < upper; ++i) joint[i + j * ldt] = *v.at(shared + j, a0 + i);
    trmm(Side::right, b.uplo(), b.plain(), Diag::unit, upper, lower, T(-1), b.triangle(), b.ldv, joint, ldt);
    if (const Index rest = b.n - b.k; rest > 0)
        gemm(v.adjoint(), v.plain(), upper, lower, rest, T(-1), v.at(offset + b.rest_row(), a0), v.ldv, b.rest(), v.ldv, T(1),
             joint, ldt);
    trmm(Side::left, v.factor_uplo(), Op::none, Diag::non_unit, upper, lower, T(1), factor + a0 * (ldt + 1), ldt, joint, ldt);
    trmm(Side::right, v.factor_uplo(), Op::none, Diag::non_unit, upper, lower, T(1), factor + b0 * (ldt + 1), ldt, joint, ldt);
}

namespace {

template <Scalar T> void factor_of_halves(const Reflectors<T>& v, const T* tau, T* factor, Index ldt)
{
    if (v.k == 1) factor[0] = tau[0];
    if (v.k <= 1) return;
    const Index k1 = v.k / 2;
    factor_of_halves(v.part(0, k1), tau, factor, ldt);
    factor_of_halves(v.part(k1, v.k - k1), tau + k1, factor + k1 * (ldt + 1), ldt);
    join_factors(v, k1, factor, ldt);
}

} // namespace

template <Scalar T> void make_factor(const Reflectors<T>& v, const T* tau, T* factor, Index ldt)
{
    if (!finds_memory([&] { factor_of_halves(v, tau, factor, ldt); })) one_by_one::make_factor(v, tau, factor, ldt);
}

/// Without memory reflector by reflector: their scalars are on T's diagonal. What a strip needs it asks for before C is written.
template <Scalar T>
void apply(Side side, Op op, const Reflectors<T>& v, const T* factor, Index ldt, Index m, Index n, T* C, Index ldc)
{
    if (m <= 0 || n <= 0 || v.k <= 0) return;
    const bool left = side == Side::left;
    const Op kind = op == Op::none ? Op::none : Op::conj_trans;
    const Index extent = left ? n : m, wanted = std::min(extent, strip(v.k));
    Index step = wanted;
    T* W = nullptr;
    const bool has_room = finds_memory([&] {
        step = fitting(wanted, std::min<Index>(wanted, 8), [&](Index size) { W = scratch<T>(Buffer::applied, v.k * size); });
    });
    for (Index i = 0; i < extent; i += step) {
        const Index count = std::min(step, extent - i);
        T* const some = C + (left ? i * ldc : i);
        const auto by_blocks = [&] {
            if (left) apply_left(kind, v, factor, ldt, count, some, ldc, W);
            else apply_right(kind, v, factor, ldt, count, some, ldc, W);
        };
        if (!has_room || !finds_memory(by_blocks))
            one_by_one::apply(side, kind, v, factor, ldt + 1, left ? m : count, left ? count : n, some, ldc);
    }
}

template <Scalar T>
void larft(Direction direction, Storage storage, Index n, Index k, const T* V, Index ldv, const T* tau, T* factor, Index ldt)
{
    make_factor(Reflectors<T>{direction, storage, n, k, V, ldv}, tau, factor, ldt);
}

template <Scalar T>
void larfb(Side side, Op op, Direction direction, Storage storage, Index m, Index n, Index k, const T* V, Index ldv,
           const T* factor, Index ldt, T* C, Index ldc)
{
    const Index order = side == Side::left ? m : n;
    apply(side, op, Reflectors<T>{direction, storage, order, k, V, ldv}, factor, ldt, m, n, C, ldc);
}

#define TRC_INSTANTIATE(T)                                                                                                       \
    template void join_factors(const Reflectors<T>&, Index, T*, Index);                                                          \
    template void make_factor(const Reflectors<T>&, const T*, T*, Index);                                                        \
    template void apply(Side, Op, const Reflectors<T>&, const T*, Index, Index, Index, T*, Index);                               \
    template void larft(Direction, Storage, Index, Index, const T*, Index, const T*, T*, Index);                                 \
    template void larfb(Side, Op, Direction, Storage, Index, Index, Index, const T*, Index, const T*, Index, T*, Index);
TRC_INSTANTIATE(float)
TRC_INSTANTIATE(double)
TRC_INSTANTIATE(std::complex<float>)
TRC_INSTANTIATE(std::complex<double>)
#undef TRC_INSTANTIATE

} // namespace trencadis::blas
