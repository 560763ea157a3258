#include "blas/factorizations/one_by_one.hpp"

#include "blas/factorizations/qr_panel.hpp"
#include "blas/level3/control_tree.hpp"
#include "matrix/conjugate.hpp"

#include <algorithm>

namespace trencadis::blas::one_by_one {
namespace {

/// One of several: a one in row `one`, and `count` elements from row `first` on as they are stored.
template <Scalar T> struct Single {
    Index one, first, count;
    const T* rest;
    Index stride;

    Single(const Reflectors<T>& v, Index j)
        : one(v.forward() ? j : v.n - v.k + j), first(v.forward() ? j + 1 : 0), count(v.forward() ? v.n - j - 1 : one),
          rest(count > 0 ? v.at(first, j) : nullptr), stride(v.columns() ? 1 : v.ldv)
    {
    }
};

template <Scalar T> T seen(T x, bool conjugated) { return conjugated ? conjugate(x) : x; }

/// x <- x - multiple (w^H x) w for a vector x, where w is what is stored; not `adjoint`: its conjugate.
template <Scalar T> void reflect(const Single<T>& v, bool adjoint, T multiple, T* x, Index step)
{
    T* const rest = x + v.first * step;
    T sum = x[v.one * step];
    for (Index i = 0; i < v.count; ++i) sum += seen(v.rest[i * v.stride], adjoint) * rest[i * step];
    sum *= multiple;
    x[v.one * step] -= sum;
    for (Index i = 0; i < v.count; ++i) rest[i * step] -= sum * seen(v.rest[i * v.stride], !adjoint);
}
/// The same where everything lies along columns, by vectors.
template <Scalar T> void reflect_column(const Single<T>& v, T multiple, T* x)
{
    const ColumnKernel<T>& columns = setup<T>().kernel.columns;
    T sum;
    columns.dots(v.count, 1, v.rest, std::max<Index>(v.count, 1), x + v.first, true, &sum);
    const T times = multiple * (x[v.one] + sum);
    x[v.one] -= times;
    columns.subtract(v.count, 1, v.rest, std::max<Index>(v.count, 1), &times, x + v.first);
}

template <Scalar T> void apply_single(Side side, const Reflectors<T>& v, Index j, T multiple, Index m, Index n, T* C, Index ldc)
{
    const Single<T> one(v, j);
    const bool left = side == Side::left, adjoint = left == v.columns();
    for (Index c = 0; c < (left ? n : m); ++c)
        if (left && v.columns()) reflect_column(one, multiple, C + c * ldc);
        else reflect(one, adjoint, multiple, left ? C + c * ldc : C + c, left ? 1 : ldc);
}

/// Calls visit(j) for k reflectors, from the first or from the last one.
template <class Visit> void each(Index k, bool from_first, const Visit& visit)
{
    for (Index step = 0; step < k; ++step) visit(from_first ? step : k - 1 - step);
}

/// x^H y of what two reflectors have in the rows of the second one, which are fewer.
template <Scalar T> T product(const Reflectors<T>& v, Index i, const Single<T>& second)
{
    const bool columns = v.columns();
    T sum = seen(*v.at(second.one, i), columns);
    for (Index r = 0; r < second.count; ++r)
        sum += seen(*v.at(second.first + r, i), columns) * seen(second.rest[r * second.stride], !columns);
    return sum;
}

/// x <- T x in place for the triangle of the reflectors [begin, end), whose diagonal has element (0, 0) at `factor`.
template <Scalar T> void multiply_triangle(bool upper, Index n, const T* factor, Index ldt, T* x)
{
    for (Index step = 0; step < n; ++step) {
        const Index i = upper ? step : n - 1 - step;
        T sum = factor[i * (ldt + 1)] * x[i];
        for (Index j = upper ? i + 1 : 0; j < (upper ? n : i); ++j) sum += factor[i + j * ldt] * x[j];
        x[i] = sum;
    }
}

template <Scalar T> void conjugate_all(Index n, T* x, Index step)
{
    for (Index i = 0; i < n; ++i) x[i * step] = conjugate(x[i * step]);
}

} // namespace

template <Scalar T> void factor(Storage storage, Index m, Index n, T* A, Index lda, T* tau)
{
    const bool columns = storage == Storage::columns;
    const Index length = columns ? m : n, others = columns ? n : m;
    for (Index j = 0; j < std::min(m, n); ++j) {
        T *const x = A + j * (lda + 1), *const behind = x + (columns ? lda : 1);
        if (!columns) conjugate_all(length - j, x, lda);
        tau[j] = larfg(length - j, *x, x + (columns ? 1 : lda), columns ? 1 : lda);
        if (!columns) conjugate_all(length - j, x, lda);
        const Reflectors<T> one{Direction::forward, storage, length - j, 1, x, lda};
        if (columns) apply_single(Side::left, one, 0, conjugate(tau[j]), length - j, others - j - 1, behind, lda);
        else apply_single(Side::right, one, 0, tau[j], others - j - 1, length - j, behind, lda);
    }
}

template <Scalar T>
void apply(Side side, Op op, const Reflectors<T>& v, const T* tau, Index step, Index m, Index n, T* C, Index ldc)
{
    const bool plain = op == Op::none;
    each(v.k, (side == Side::left) == (v.forward() != plain),
         [&](Index j) { apply_single(side, v, j, seen(tau[j * step], !plain), m, n, C, ldc); });
}

template <Scalar T> void form(Storage storage, Index length, Index count, Index k, T* A, Index lda, const T* tau)
{
    const bool columns = storage == Storage::columns;
    const Index along = columns ? 1 : lda, across = columns ? lda : 1;
    each(k, false, [&](Index j) {
        T* const x = A + j * (lda + 1);
        const T factor = seen(tau[j], !columns);
        const Reflectors<T> one{Direction::forward, storage, length - j, 1, x, lda};
        if (columns) apply_single(Side::left, one, 0, factor, length - j, count - j - 1, x + across, lda);
        else apply_single(Side::right, one, 0, factor, count - j - 1, length - j, x + across, lda);
        for (Index i = 1; i < length - j; ++i) x[i * along] *= -factor;
        *x = T(1) - factor;
        for (Index i = 1; i <= j; ++i) x[-i * along] = T(0);
    });
}

template <Scalar T> void make_factor(const Reflectors<T>& v, const T* tau, T* factor, Index ldt)
{
    each(v.k, v.forward(), [&](Index j) {
        const Index begin = v.forward() ? 0 : j + 1, count = v.forward() ? j : v.k - begin;
        T* const column = factor + begin + j * ldt;
        const Single<T> second(v, j);
        for (Index i = 0; i < count; ++i) column[i] = -tau[j] * product(v, begin + i, second);
        multiply_triangle(v.forward(), count, factor + begin * (ldt + 1), ldt, column);
        factor[j * (ldt + 1)] = tau[j];
    });
}

#define TRC_INSTANTIATE(T)                                                                                                       \
    template void factor(Storage, Index, Index, T*, Index, T*);                                                                  \
    template void apply(Side, Op, const Reflectors<T>&, const T*, Index, Index, Index, T*, Index);                               \
    template void form(Storage, Index, Index, Index, T*, Index, const T*);                                                       \
    template void make_factor(const Reflectors<T>&, const T*, T*, Index);
TRC_INSTANTIATE(float)
TRC_INSTANTIATE(double)
TRC_INSTANTIATE(std::complex<float>)
TRC_INSTANTIATE(std::complex<double>)
#undef TRC_INSTANTIATE

} // namespace trencadis::blas::one_by_one
