#include "blas/factorizations/qr_panel.hpp"

#include "base/float_modes.hpp"
#include "blas/factorizations/block_reflector.hpp"
#include "blas/factorizations/one_by_one.hpp"
#include "blas/level3/control_tree.hpp"
#include "blas/level3/level3.hpp"
#include "blas/level3/scratch.hpp"
#include "matrix/conjugate.hpp"

#include <algorithm>
#include <limits>

namespace trencadis::blas {
namespace {

template <Scalar T> constexpr Index vector_rows = 64 / Index(sizeof(T)); ///< of the widest vector

Index rounded_up(Index count, Index unit) { return (count + unit - 1) / unit * unit; }

/// W <- V^H C.
template <Scalar T>
void multiply_adjoint(Index m, Index k, Index n, const T* V, Index ldv, const T* C, Index ldc, T* W, Index ldw)
{
    constexpr Index few = 64;  // of more, packing pays
    constexpr Index low = 256; // V of so few rows is soon transposed: no sums across vectors are needed then
    if (std::min(k, n) <= few && m > low) return micro_kernel<T>().multiply_adjoint(m, k, n, V, ldv, C, ldc, W, ldw);
    gemm(Op::conj_trans, Op::none, k, n, m, T(1), V, ldv, C, ldc, T(0), W, ldw);
}

/// Columns (on the right: rows) that apply_whole works on at a time.
Index strip(Index k) { return std::max<Index>(64, (Index(1) << 16) / k); }

template <Scalar T>
void apply_left(Op op, const WholeReflectors<T>& v, Index m, Index n, Index k, const T* factor, Index ldt, T* C, Index ldc, T* W,
                T* TW)
{
    constexpr Index few = 32; // whose products with T are sums along columns as well
    multiply_adjoint(m, k, n, v.V, v.ldv, C, ldc, W, k);
    if (op != Op::none && k <= few) multiply_adjoint(k, k, n, factor, ldt, W, k, TW, k);
    else gemm(op, Op::none, k, n, k, T(1), factor, ldt, W, k, T(0), TW, k);
    gemm(Op::none, Op::none, m, n, k, T(-1), v.V, v.ldv, TW, k, T(1), C, ldc);
}
template <Scalar T>
void apply_right(Op op, const WholeReflectors<T>& v, Index m, Index n, Index k, const T* factor, Index ldt, T* C, Index ldc, T* W,
                 T* WT)
{
    gemm(Op::none, Op::none, m, k, n, T(1), C, ldc, v.V, v.ldv, T(0), W, m);
    gemm(Op::none, op, m, k, k, T(1), W, m, factor, ldt, T(0), WT, m);
    gemm(Op::none, Op::conj_trans, m, n, k, T(-1), WT, m, v.V, v.ldv, T(1), C, ldc);
}

template <Scalar T> void conjugate_transpose(Index m, Index n, const T* A, Index lda, T* B, Index ldb)
{
    constexpr Index square = 8;
    for (Index j0 = 0; j0 < n; j0 += square)
        for (Index i = 0; i < m; ++i)
            for (Index j = j0; j < std::min(n, j0 + square); ++j) B[j + i * ldb] = conjugate(A[i + j * lda]);
}

/// A panel in work: V as above, R (n x n) beside it.
template <Scalar T> struct Panel {
    Index m, n;
    T* V;
    Index ldv;
    T* R;
    T* tau;
    T* factor;
    Index ldt;
    T* products; ///< n^2 numbers

    T* at(Index i, Index j) const { return V + i + j * ldv; }

    void load(Storage storage, const T* A, Index lda)
    {
        if (storage == Storage::rows) conjugate_transpose(n, m, A, lda, V, ldv);
        else
            for (Index j = 0; j < n; ++j) std::copy_n(A + j * lda, m, at(0, j));
        for (Index j = 0; j < n; ++j) std::fill(at(m, j), at(0, j) + ldv, T(0));
        std::fill(at(0, n), at(0, rounded_up(n, most_reflected)), T(0));
    }
    void store(Storage storage, T* A, Index lda) const
    {
        for (Index j = 0; j < n; ++j) std::copy_n(R + j * n, j + 1, at(0, j));
        if (storage == Storage::rows) conjugate_transpose(m, n, V, ldv, A, lda);
        else
            for (Index j = 0; j < n; ++j) std::copy_n(at(0, j), m, A + j * lda);
        complete();
    }
    /// Ones and zeros.
    void complete() const
    {
        for (Index j = 0; j < n; ++j) {
            std::fill_n(at(0, j), j, T(0));
            *at(j, j) = T(1);
        }
    }

    /// Are the columns' squares numbers that have not lost digits, or zero?
    bool has_plain_squares() const
    {
        using Numbers = Real<T>;
        constexpr Numbers least = std::numeric_limits<Numbers>::min() / std::numeric_limits<Numbers>::epsilon(), most = 1 / least;
        const auto squares = micro_kernel<T>().columns.squares;
        for (Index j = 0; j < n; ++j) {
            const Numbers* const column = reinterpret_cast<const Numbers*>(at(0, j));
            const Numbers sum = squares(m * planes<T>, column, Numbers(1));
            const auto is_zero = [](Numbers x) { return x == 0; };
            if (!(sum >= least && sum <= most) && !std::all_of(column, column + m * planes<T>, is_zero)) return false;
        }
        return true;
    }

    /// Columns that are factored at once, where so many rows are left: of few rows half as many complex ones, since the square on
    /// top of them takes its time.
    static Index leaf_width(Index rows)
    {
        constexpr Index few = 32;
        return rows < few ? most_reflected / planes<T> : micro_kernel<T>().reflected;
    }
    /// Columns [c, c + count), whose rows from c on are left; T of all of them only with_factor.
    bool factor_columns(Index c, Index count, bool with_factor)
    {
        const Index leaf = leaf_width(m - c);
        const QrColumns<T> columns{m - c, count, at(c, c), ldv, R + c * (n + 1), n, tau + c, factor + c * (ldt + 1), ldt};
        if (!with_factor && m - c <= small_qr<T>) return micro_kernel<T>().reflect_all(columns);
        if (count <= leaf) return micro_kernel<T>().reflect_columns(columns);
        const Index first = rounded_up(count / 2, leaf), second = count - first;
        if (!factor_columns(c, first, true)) return false;
        update(c, first, second);
        if (!factor_columns(c + first, second, with_factor)) return false;
        if (with_factor) join(c, first, second);
        return true;
    }
    void update(Index c, Index first, Index second)
    {
        T* const C = at(c, c + first);
        apply_whole<T>(Side::left, Op::conj_trans, {at(c, c), ldv}, m - c, second, first, factor + c * (ldt + 1), ldt, C, ldv);
        for (Index j = 0; j < second; ++j) {
            std::copy_n(C + j * ldv, first, R + c + (c + first + j) * n);
            std::fill_n(C + j * ldv, first, T(0));
        }
    }
    /// T_12 = -T_1 (V_1^H V_2) T_2; what is below T's diagonal is zero.
    void join(Index c, Index first, Index second)
    {
        T *const T1 = factor + c * (ldt + 1), *const T2 = T1 + first * (ldt + 1), *const T12 = T1 + first * ldt;
        const Index begin = c + first;
        multiply_adjoint(m - begin, first, second, at(begin, c), ldv, at(begin, begin), ldv, T12, ldt);
        gemm(Op::none, Op::none, first, second, second, T(1), T12, ldt, T2, ldt, T(0), products, first);
        gemm(Op::none, Op::none, first, second, first, T(-1), T1, ldt, products, first, T(0), T12, ldt);
        for (Index j = 0; j < first; ++j) std::fill_n(T1 + first + j * ldt, second, T(0));
    }

    /// T of the columns [c, c + count).
    void make_factor(Index c, Index count)
    {
        if (count == 1) factor[c * (ldt + 1)] = tau[c];
        if (count <= 1) return;
        const Index leaf = leaf_width(m - c), first = count > leaf ? rounded_up(count / 2, leaf) : count / 2;
        make_factor(c, first);
        make_factor(c + first, count - first);
        join(c, first, count - first);
    }

    /// Reflector by reflector, with LAPACK's care.
    void factor_carefully()
    {
        for (Index j = 0; j < n; ++j) {
            *at(j, j) = reflect(j);
            std::copy_n(at(0, j), j + 1, R + j * n);
        }
        clear_factor();
        blas::make_factor(stored(), tau, factor, ldt);
        complete();
    }
    void clear_factor() const
    {
        for (Index j = 0; j < n; ++j) std::fill_n(factor + j * ldt, n, T(0));
    }
    void make_factor_one_by_one() const
    {
        clear_factor();
        one_by_one::make_factor(stored(), tau, factor, ldt);
    }
    Reflectors<T> stored() const { return {Direction::forward, Storage::columns, m, n, V, ldv}; }
    /// Makes reflector j and applies it to the columns behind; R's element.
    T reflect(Index j)
    {
        const ColumnKernel<T>& columns = micro_kernel<T>().columns;
        T* const v = at(j, j);
        tau[j] = larfg(m - j, *v, v + 1, 1);
        const T beta = *v;
        *v = T(1);
        if (tau[j] != T(0))
            for (Index c = j + 1; c < n; ++c) {
                T multiple;
                columns.dots(m - j, 1, v, ldv, at(j, c), true, &multiple);
                multiple *= conjugate(tau[j]);
                columns.subtract(m - j, 1, v, ldv, &multiple, at(j, c));
            }
        return beta;
    }
};

} // namespace

template <Scalar T> Index whole_reflectors_ld(Index n)
{
    constexpr Index conflicting = 512 / Index(sizeof(T));
    const Index ld = rounded_up(n + vector_rows<T>, vector_rows<T>);
    return ld % conflicting == 0 ? ld + vector_rows<T> : ld;
}
template <Scalar T> Index whole_reflectors_size(Index n, Index k)
{
    return whole_reflectors_ld<T>(n) * rounded_up(k, most_reflected) + k * k;
}

template <Scalar T>
WholeReflectors<T> factor_panel(Storage storage, Index m, Index n, T* A, Index lda, T* tau, T* factor, Index ldt, T* room,
                                bool with_factor)
{
    const Index ldv = whole_reflectors_ld<T>(m);
    Panel<T> panel{m, n, room, ldv, room + ldv * rounded_up(n, most_reflected), tau, factor, ldt, nullptr};
    panel.load(storage, A, lda);
    bool factored = false;
    const bool has_memory = finds_memory([&] {
        panel.products = scratch<T>(Buffer::products, n * n);
        const FloatScope trial(FloatModes::current()); // squares that overflow or vanish are not the caller's exceptions
        factored = panel.has_plain_squares() && panel.factor_columns(0, n, with_factor);
    });
    if (!has_memory || !factored) {
        panel.load(storage, A, lda);
        panel.factor_carefully();
    }
    panel.store(storage, A, lda);
    return {room, ldv};
}

template <Scalar T>
WholeReflectors<T> load_reflectors(Storage storage, Index n, Index k, const T* A, Index lda, const T* tau, T* factor, Index ldt,
                                   T* room)
{
    const Index ldv = whole_reflectors_ld<T>(n);
    Panel<T> panel{n, k, room, ldv, nullptr, const_cast<T*>(tau), factor, ldt, nullptr};
    panel.load(storage, A, lda);
    panel.complete();
    const bool has_memory = finds_memory([&] {
        panel.products = scratch<T>(Buffer::products, k * k);
        panel.make_factor(0, k);
    });
    if (!has_memory) panel.make_factor_one_by_one();
    return {room, ldv};
}

template <Scalar T> void set_identity(Storage storage, Index length, Index count, Index one, T* A, Index lda)
{
    const bool columns = storage == Storage::columns;
    for (Index j = 0; j < (columns ? count : length); ++j) std::fill_n(A + j * lda, columns ? length : count, T(0));
    for (Index i = 0; i < std::min(count, length - one); ++i) A[columns ? one + i + i * lda : i + (one + i) * lda] = T(1);
}

template <Scalar T>
void apply_whole(Side side, Op op, const WholeReflectors<T>& v, Index m, Index n, Index k, const T* factor, Index ldt, T* C,
                 Index ldc)
{
    if (m <= 0 || n <= 0 || k <= 0) return;
    const bool left = side == Side::left;
    const Index extent = left ? n : m, wanted = std::min(extent, strip(k));
    Index step = wanted;
    T* W = nullptr;
    const bool has_room = finds_memory([&] {
        step = fitting(wanted, std::min<Index>(wanted, 8), [&](Index size) { W = scratch<T>(Buffer::applied, 2 * k * size); });
    });
    for (Index i = 0; i < extent; i += step) {
        const Index count = std::min(step, extent - i);
        T* const some = C + (left ? i * ldc : i);
        const auto by_products = [&] {
            if (left) apply_left(op, v, m, count, k, factor, ldt, some, ldc, W, W + k * step);
            else apply_right(op, v, count, n, k, factor, ldt, some, ldc, W, W + k * step);
        };
        if (has_room && finds_memory(by_products)) continue;
        const Reflectors<T> stored{Direction::forward, Storage::columns, left ? m : n, k, v.V, v.ldv};
        one_by_one::apply(side, op, stored, factor, ldt + 1, left ? m : count, left ? count : n, some, ldc);
    }
}

#define TRC_INSTANTIATE(T)                                                                                                       \
    template Index whole_reflectors_ld<T>(Index);                                                                                \
    template Index whole_reflectors_size<T>(Index, Index);                                                                       \
    template WholeReflectors<T> factor_panel(Storage, Index, Index, T*, Index, T*, T*, Index, T*, bool);                         \
    template WholeReflectors<T> load_reflectors(Storage, Index, Index, const T*, Index, const T*, T*, Index, T*);                \
    template void set_identity(Storage, Index, Index, Index, T*, Index);                                                         \
    template void apply_whole(Side, Op, const WholeReflectors<T>&, Index, Index, Index, const T*, Index, T*, Index);
TRC_INSTANTIATE(float)
TRC_INSTANTIATE(double)
TRC_INSTANTIATE(std::complex<float>)
TRC_INSTANTIATE(std::complex<double>)
#undef TRC_INSTANTIATE

} // namespace trencadis::blas
