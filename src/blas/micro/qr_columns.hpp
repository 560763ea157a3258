// QR of a few columns by vectors, and products of columns with columns, for one instruction set; internal linkage as in
// micro_kernel_body.hpp.
#pragma once
#include "blas/micro/micro_kernel.hpp"
#include "blas/micro/vectors.hpp"

#include <limits>

namespace trencadis::blas {
namespace {

/// A scalar with operators that are compiled for the instruction set.
template <Scalar T> struct Plain {
    using R = Real<T>;
    R re, im;
    static Plain of(const T& x)
    {
        return {reinterpret_cast<const R*>(&x)[0], is_complex<T> ? reinterpret_cast<const R*>(&x)[planes<T> - 1] : 0};
    }
    void put(T& x) const
    {
        reinterpret_cast<R*>(&x)[planes<T> - 1] = im;
        reinterpret_cast<R*>(&x)[0] = re;
    }
    friend Plain operator+(Plain a, Plain b) { return {a.re + b.re, is_complex<T> ? a.im + b.im : 0}; }
    friend Plain operator-(Plain a, Plain b) { return {a.re - b.re, is_complex<T> ? a.im - b.im : 0}; }
    friend Plain operator*(Plain a, Plain b)
    {
        if constexpr (!is_complex<T>) return {a.re * b.re, 0};
        else return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
    }
    Plain conjugate() const { return {re, -im}; }
};

/// Sums of the lanes of several vectors at once: two vectors of so many sums are folded into one of twice as many.
template <class R, int Bytes, int count> struct LaneSums {
    using Vec = Vectors<R, Bytes>;
    using V = typename Vec::V;
    static constexpr int lanes = Vec::lanes;

    [[gnu::always_inline]] static void find(const V (&sums)[count], R* out)
    {
#pragma GCC unroll 16
        for (int g = 0; g < count; g += lanes) {
            V some[lanes];
#pragma GCC unroll 16
            for (int i = 0; i < lanes; ++i) some[i] = g + i < count ? sums[g + i] : V{};
            Vec::save_some(out + g, fold<1>(some, count - g), count - g);
        }
    }

private:
    /// Lane i: the sum of vector i of those that are left.
    template <int width> [[gnu::always_inline]] static V fold(V (&some)[lanes], int left)
    {
        if constexpr (width < lanes) {
#pragma GCC unroll 16
            for (int i = 0; i < lanes; i += 2 * width)
                if (i == 0 || i < left)
                    some[i] = Vec::template fold<width>(some[i], i + width < left ? some[i + width] : some[i]);
            return fold<2 * width>(some, left);
        } else return some[0];
    }
};

/// I - tau v v^H as LAPACK's larfg: v is `scale` times the column below its first element, which becomes beta.
template <Scalar T> struct Reflector {
    using R = Real<T>;
    using S = Plain<T>;
    S tau = {}, beta = {}, scale = {};

    /// The bounds of sums of squares: beyond, they may have lost digits, and products of columns overflow.
    static constexpr R least = std::numeric_limits<R>::min() / std::numeric_limits<R>::epsilon(), most = 1 / least;

    /// From the first element and the sum of squares of the others; false where that is not to be trusted.
    [[gnu::always_inline]] bool choose(S alpha, R squares)
    {
        beta = alpha;
        if (squares == 0 && alpha.im == 0) return true;
        const R all = alpha.re * alpha.re + alpha.im * alpha.im + squares;
        if (!((squares == 0 || squares >= least) && all >= least && all <= most)) return false;
        const R norm = root(all);
        beta = {alpha.re < 0 ? norm : -norm, 0};
        tau = {(beta.re - alpha.re) / beta.re, -alpha.im / beta.re};
        const S difference = alpha - beta;
        if constexpr (!is_complex<T>) scale.re = 1 / difference.re;
        else {
            const R modulus = difference.re * difference.re + difference.im * difference.im;
            scale = {difference.re / modulus, -difference.im / modulus};
        }
        return true;
    }

private:
    static R root(R value)
    {
        if constexpr (sizeof(R) == 4) return __builtin_sqrtf(value);
        else return __builtin_sqrt(value);
    }
};

/// MicroKernel::reflect_columns. The square on top is apart, in numbers; what is below it is whole vectors. When a reflector is
/// known, one pass makes v of its column, takes it from those right of it, and multiplies the next column with all others: with
/// itself for its norm, with those before it for T, with those behind it for its own reflector. So a column is read and written
/// once for each reflector.
template <Scalar T, int Bytes, int width> struct ColumnReflectors {
    using R = Real<T>;
    using Vec = Vectors<R, Bytes>;
    using V = typename Vec::V;
    using S = Plain<T>;
    static constexpr int lanes = Vec::lanes, parts = planes<T>;
    const QrColumns<T>& x;
    R* below[width];
    Index reals;
    S top[width][width] = {}; ///< by rows
    S factor[width][width] = {};
    S products[width]; ///< y^H a for all columns a, y the column in turn below its diagonal
    S multiples[width] = {};
    S scale;

    explicit ColumnReflectors(const QrColumns<T>& columns) : x(columns), reals((x.m - x.n) * parts)
    {
        for (int c = 0; c < width; ++c) {
            below[c] = reinterpret_cast<R*>(x.V + c * x.ldv + x.n);
            for (Index i = 0; i < x.n; ++i) top[i][c] = S::of(x.V[c * x.ldv + i]);
        }
    }

    [[gnu::always_inline]] static V turned(V v) ///< i conj(v), of real numbers nothing
    {
        if constexpr (parts == 1) return v;
        else return Vec::negate_odd(Vec::swap_pairs(v));
    }
    [[gnu::always_inline]] static V times(V v, S s)
    {
        if constexpr (parts == 1) return v * s.re;
        else return v * s.re - turned(v) * s.im;
    }
    struct Sums {
        V straight[width], crossed[width];
        [[gnu::always_inline]] void add(int c, V y, V swapped, V a)
        {
            straight[c] += y * a;
            if constexpr (parts == 2) crossed[c] += swapped * a;
        }
    };

    template <int j> void pass()
    {
        Sums sums = {};
        for (Index i = 0; i < reals; i += lanes) {
            V v = {}, other = {}, y = {}, swapped = {};
            if constexpr (j >= 0) {
                v = times(Vec::load(below[j] + i), scale);
                Vec::save(below[j] + i, v);
                other = turned(v);
            }
            const auto next = [&](int c) __attribute__((always_inline))
            {
                V a = Vec::load(below[c] + i);
                if (j < 0) return a;
                a -= v * multiples[c].re;
                if constexpr (parts == 2) a += other * multiples[c].im;
                Vec::save(below[c] + i, a);
                return a;
            };
            y = next(j + 1);
            if constexpr (parts == 2) swapped = Vec::swap_pairs(y);
            sums.add(j + 1, y, swapped, y);
            if constexpr (j >= 0) sums.add(j, y, swapped, v);
#pragma GCC unroll 8
            for (int c = 0; c < j; ++c) sums.add(c, y, swapped, Vec::load(below[c] + i));
#pragma GCC unroll 8
            for (int c = j + 2; c < width; ++c) sums.add(c, y, swapped, next(c));
        }
        take(sums);
    }
    [[gnu::always_inline]] void take(Sums& sums)
    {
        R straight[width], crossed[width] = {};
        LaneSums<R, Bytes, width>::find(sums.straight, straight);
        if constexpr (parts == 2) {
            for (V& v : sums.crossed) v = Vec::negate_odd(v);
            LaneSums<R, Bytes, width>::find(sums.crossed, crossed);
        }
        // Crossed products are im y re a and re y im a; the difference as summed is that of y a^H.
        for (int c = 0; c < width; ++c) products[c] = {straight[c], -crossed[c]};
    }

    /// Reflector j from its column and the products with it; false where the squares are not to be trusted.
    [[gnu::always_inline]] bool choose(int j)
    {
        for (int c = 0; c < width; ++c)
            for (Index i = j + 1; i < x.n; ++i) products[c] = products[c] + top[i][j].conjugate() * top[i][c];
        const R squares = products[j].re;
        Reflector<T> reflector;
        if (!reflector.choose(top[j][j], squares)) return false;
        scale = reflector.scale;
        reflector.tau.put(x.tau[j]);
        top[j][j] = reflector.beta;
        reflect_top(j, reflector.tau);
        extend_factor(j, reflector.tau);
        return true;
    }
    /// The multiples of v in all columns, and the rows on top: row j is final.
    [[gnu::always_inline]] void reflect_top(int j, S tau)
    {
        for (int c = j + 1; c < width; ++c) {
            multiples[c] = tau.conjugate() * (top[j][c] + scale.conjugate() * products[c]);
            top[j][c] = top[j][c] - multiples[c];
        }
        for (Index i = j + 1; i < x.n; ++i) {
            const S v = top[i][j] = top[i][j] * scale;
            for (int c = j + 1; c < width; ++c) top[i][c] = top[i][c] - multiples[c] * v;
        }
    }
    /// Column j of T: -tau T (V^H v).
    [[gnu::always_inline]] void extend_factor(int j, S tau)
    {
        S dots[width];
        for (int c = 0; c < j; ++c) dots[c] = scale * products[c].conjugate() + top[j][c].conjugate();
        for (int c = 0; c < j; ++c) {
            S sum = {};
            for (int p = c; p < j; ++p) sum = sum + factor[c][p] * dots[p];
            factor[c][j] = S{} - tau * sum;
        }
        factor[j][j] = tau;
    }

    template <int j> bool steps()
    {
        if (!choose(j)) return false;
        if constexpr (j + 1 < width) {
            if (j + 1 < x.n) {
                pass<j>();
                return steps<j + 1>();
            }
        }
        for (Index i = 0; i < reals; i += lanes) Vec::save(below[j] + i, times(Vec::load(below[j] + i), scale));
        return true;
    }
    bool run()
    {
        pass<-1>();
        if (!steps<0>()) return false;
        for (Index c = 0; c < x.n; ++c)
            for (Index i = 0; i < x.n; ++i) {
                T& v = x.V[i + c * x.ldv];
                if (i <= c) top[i][c].put(x.R[i + c * x.ldr]);
                (i > c ? top[i][c] : S{R(i == c), 0}).put(v);
                (i <= c ? factor[i][c] : S{}).put(x.factor[i + c * x.ldt]);
            }
        return true;
    }
};
template <Scalar T, int Bytes, int most> bool reflect_columns(const QrColumns<T>& columns)
{
    if constexpr (is_complex<T> && most > 4)
        if (columns.n <= 4) return ColumnReflectors<T, Bytes, 4>(columns).run();
    return ColumnReflectors<T, Bytes, most>(columns).run();
}

/// MicroKernel::multiply_adjoint: sums along the columns, K of V by N of C at a time in registers.
template <Scalar T, int Bytes, int K, int N> struct ColumnProducts {
    using R = Real<T>;
    using Vec = Vectors<R, Bytes>;
    using V = typename Vec::V;
    static constexpr int lanes = Vec::lanes, parts = planes<T>;

    template <int k, int n> static void tile(Index reals, const R* A, Index lda, const R* C, Index ldc, T* W, Index ldw)
    {
        V straight[k * n] = {}, crossed[k * n] = {};
        const auto add = [&](Index i, Index count) __attribute__((always_inline))
        {
            V a[k];
#pragma GCC unroll 8
            for (int p = 0; p < k; ++p) a[p] = Vec::load_some(A + p * lda + i, count);
#pragma GCC unroll 8
            for (int c = 0; c < n; ++c) {
                const V b = Vec::load_some(C + c * ldc + i, count);
#pragma GCC unroll 8
                for (int p = 0; p < k; ++p) straight[c * k + p] += a[p] * b;
                if constexpr (parts == 2) {
                    const V swapped = Vec::swap_pairs(b);
#pragma GCC unroll 8
                    for (int p = 0; p < k; ++p) crossed[c * k + p] += a[p] * swapped;
                }
            }
        };
        Index i = 0;
        for (; i + lanes <= reals; i += lanes) add(i, lanes);
        if (i < reals) add(i, reals - i);
        R re[k * n], im[k * n] = {};
        LaneSums<R, Bytes, k * n>::find(straight, re);
        if constexpr (parts == 2) { // re a im b, im a re b
            for (V& v : crossed) v = Vec::negate_odd(v);
            LaneSums<R, Bytes, k * n>::find(crossed, im);
        }
        for (int c = 0; c < n; ++c)
            for (int p = 0; p < k; ++p) Plain<T>{re[c * k + p], im[c * k + p]}.put(W[p + c * ldw]);
    }
    template <int n> static void strip(Index m, Index k, const T* A, Index lda, const T* C, Index ldc, T* W, Index ldw)
    {
        const auto reals = [](const T* of) { return reinterpret_cast<const R*>(of); };
        Index p = 0;
        for (; p + K <= k; p += K) tile<K, n>(m * parts, reals(A + p * lda), lda * parts, reals(C), ldc * parts, W + p, ldw);
        for (; p < k; ++p) tile<1, n>(m * parts, reals(A + p * lda), lda * parts, reals(C), ldc * parts, W + p, ldw);
    }
    static void run(Index m, Index k, Index n, const T* A, Index lda, const T* C, Index ldc, T* W, Index ldw)
    {
        Index c = 0;
        for (; c + N <= n; c += N) strip<N>(m, k, A, lda, C + c * ldc, ldc, W + c * ldw, ldw);
        for (; c < n; ++c) strip<1>(m, k, A, lda, C + c * ldc, ldc, W + c * ldw, ldw);
    }
};

} // namespace
} // namespace trencadis::blas
