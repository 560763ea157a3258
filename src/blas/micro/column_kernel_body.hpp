// The column kernels on vectors of `Bytes`. For sources that are compiled for one instruction set: internal linkage, as in
// micro_kernel_body.hpp.
#pragma once
#include "blas/micro/column_kernel.hpp"
#include "blas/micro/micro_kernel.hpp"
#include "blas/micro/vectors.hpp"

#include <limits>

namespace trencadis::blas {
namespace {

template <Scalar T, int Bytes> struct ColumnLoops {
    using R = Real<T>;
    using Vec = Vectors<R, Bytes>;
    using V = typename Vec::V;
    using Bits = decltype(V{} < V{});
    static constexpr Index lanes = Vec::lanes, parts = planes<T>;
    static constexpr Index together =
        4; ///< columns that are gone through at once: the vector beside them is read a quarter as often

    static const R* reals(const T* a) { return reinterpret_cast<const R*>(a); }
    static R* reals(T* a) { return reinterpret_cast<R*>(a); }

    [[gnu::always_inline]] static V absolute(V v)
    {
        return reinterpret_cast<V>(reinterpret_cast<Bits>(v) & ~reinterpret_cast<Bits>(-V{}));
    }
    static R total(V v)
    {
        R lane[lanes], sum = 0;
        Vec::save(lane, v);
        for (const R part : lane) sum += part;
        return sum;
    }
    /// total(v) of the lanes with even numbers, less that of the others.
    static R alternating_total(V v) { return total(Vec::negate_odd(v)); }
    static bool any(Bits bits)
    {
        long long words[Bytes / 8], found = 0;
        __builtin_memcpy(words, &bits, sizeof bits);
        for (const long long word : words) found |= word;
        return found != 0;
    }

    /// The sizes of `lanes` elements, of which `count` are there.
    [[gnu::always_inline]] static V sizes(const T* a, Index count)
    {
        if constexpr (parts == 1) return absolute(Vec::load_some(a, count));
        else {
            V re, im;
            split(reals(a), count, re, im);
            return absolute(re) + absolute(im);
        }
    }
    [[gnu::always_inline]] static void split(const R* a, Index count, V& re, V& im)
    {
        const V first = Vec::load_some(a, 2 * count),
                second = 2 * count > lanes ? Vec::load_some(a + lanes, 2 * count - lanes) : V{};
        re = Vec::even(first, second), im = Vec::odd(first, second);
    }

    /// visit<count>(c) for columns c .. c + count, until all k have been visited.
    template <class Visit> [[gnu::always_inline]] static void by_columns(Index k, const Visit& visit)
    {
        Index c = 0;
        for (; c + together <= k; c += together) visit.template operator()<int(together)>(c);
        for (; c < k; ++c) visit.template operator()<1>(c);
    }

    static void subtract(Index m, Index k, const T* A, Index lda, const T* s, T* y)
    {
        by_columns(k, [&]<int count>(Index c) {
            subtract_some<count>(m * parts, reals(A + c * lda), lda * parts, reals(s + c), reals(y));
        });
    }
    template <int count> static void subtract_some(Index reals_each, const R* A, Index ld, const R* s, R* y)
    {
        Index i = 0;
        for (; i + lanes <= reals_each; i += lanes) Vec::save(y + i, subtracted<count>(lanes, A + i, ld, s, Vec::load(y + i)));
        if (const Index left = reals_each - i)
            Vec::save_some(y + i, subtracted<count>(left, A + i, ld, s, Vec::load_some(y + i, left)), left);
    }
    template <int count> [[gnu::always_inline]] static V subtracted(Index left, const R* A, Index ld, const R* s, V y)
    {
        V turned = {}; // products with imaginary parts, to be turned in the end
#pragma GCC unroll 4
        for (int c = 0; c < count; ++c) {
            const V a = Vec::load_some(A + c * ld, left);
            y -= a * s[c * parts];
            if constexpr (parts == 2) turned += a * s[c * parts + 1];
        }
        if constexpr (parts == 2) y += Vec::negate_odd(Vec::swap_pairs(turned)); // -i (re, im) is (im, -re)
        return y;
    }

    static void dots(Index m, Index k, const T* A, Index lda, const T* x, bool conjugated, T* r)
    {
        by_columns(k, [&]<int count>(Index c) {
            dots_some<count>(m * parts, reals(A + c * lda), lda * parts, reals(x), conjugated, reals(r + c));
        });
    }
    template <int count> static void dots_some(Index reals_each, const R* A, Index ld, const R* x, bool conjugated, R* r)
    {
        V straight[count] = {}, crossed[count] = {};
        Index i = 0;
        for (; i + lanes <= reals_each; i += lanes) add_products<count>(lanes, A + i, ld, Vec::load(x + i), straight, crossed);
        if (const Index left = reals_each - i)
            add_products<count>(left, A + i, ld, Vec::load_some(x + i, left), straight, crossed);
        for (int c = 0; c < count; ++c)
            if constexpr (parts == 1) r[c] = total(straight[c]);
            else {
                r[2 * c] = conjugated ? total(straight[c]) : alternating_total(straight[c]);
                r[2 * c + 1] = conjugated ? alternating_total(crossed[c]) : total(crossed[c]);
            }
    }
    /// Adds products of columns; those of complex numbers to `straight` re re, im im, .. and to `crossed` re im, im re, ..
    template <int count>
    [[gnu::always_inline]] static void add_products(Index left, const R* A, Index ld, V x, V (&straight)[count],
                                                    V (&crossed)[count])
    {
#pragma GCC unroll 4
        for (int c = 0; c < count; ++c) {
            const V a = Vec::load_some(A + c * ld, left);
            straight[c] += a * x;
            if constexpr (parts == 2) crossed[c] += a * Vec::swap_pairs(x);
        }
    }

    static void add_sizes(Index m, Index k, const T* A, Index lda, const R* s, R* y)
    {
        by_columns(k, [&]<int count>(Index c) {
            for (Index i = 0; i < m; i += lanes) {
                V sum = Vec::load_some(y + i, m - i);
                for (int l = 0; l < count; ++l) sum += sizes(A + i + (c + l) * lda, m - i) * s[c + l];
                Vec::save_some(y + i, sum, m - i);
            }
        });
    }
    static void size_dots(Index m, Index k, const T* A, Index lda, const R* x, R* r)
    {
        by_columns(k, [&]<int count>(Index c) {
            V sum[count] = {};
            for (Index i = 0; i < m; i += lanes) {
                const V beside = Vec::load_some(x + i, m - i);
                for (int l = 0; l < count; ++l) sum[l] += sizes(A + i + (c + l) * lda, m - i) * beside;
            }
            for (int l = 0; l < count; ++l) r[c + l] = total(sum[l]);
        });
    }

    /// `take(slot, moduli, i)` for the vectors of moduli of a column from element i, those behind the end zero; four slots for
    /// sums that do not wait for one another.
    template <class Take> [[gnu::always_inline]] static void each_modulus(Index m, const T* a, const Take& take)
    {
        if constexpr (parts == 1)
            each_vector(
                m, a, 0, [](V v) { return absolute(v); }, take);
        else
            for (Index i = 0; i < m; i += chunk) {
                R moduli[chunk];
                const Index count = m - i < chunk ? m - i : chunk;
                find_moduli(count, reals(a + i), moduli);
                each_vector(
                    count, moduli, i, [](V v) { return v; }, take);
            }
    }
    template <class Change, class Take>
    [[gnu::always_inline]] static void each_vector(Index count, const R* a, Index from, const Change& change, const Take& take)
    {
        Index i = 0;
        for (; i + 4 * lanes <= count; i += 4 * lanes)
#pragma GCC unroll 4
            for (int slot = 0; slot < 4; ++slot) take(slot, change(Vec::load(a + i + slot * lanes)), from + i + slot * lanes);
        for (; i < count; i += lanes) take(0, change(Vec::load_some(a + i, count - i)), from + i);
    }

    static constexpr Index chunk = 256; ///< a multiple of 4 vectors
    static R root(R x)
    {
        if constexpr (sizeof(R) == 4) return __builtin_sqrtf(x);
        else return __builtin_sqrt(x);
    }
    static R careful_modulus(R re, R im)
    {
        if constexpr (sizeof(R) == 4) return __builtin_hypotf(re, im);
        else return __builtin_hypot(re, im);
    }
    /// Roots of squares; all once more with care where a square is no good: beyond the numbers, NaN, or so small that it has lost
    /// digits.
    static void find_moduli(Index count, const R* a, R* moduli)
    {
        constexpr R least = std::numeric_limits<R>::min() / std::numeric_limits<R>::epsilon(),
                    most = std::numeric_limits<R>::max();
        Bits bad = {};
        for (Index i = 0; i < count; i += lanes) {
            V re, im;
            split(a + 2 * i, count - i, re, im);
            const V square = re * re + im * im;
            bad |= ~((square >= V{} + least) & (square <= V{} + most)) & ((re != V{}) | (im != V{}));
            Vec::save(moduli + i, square); // lanes divides chunk
        }
        if (any(bad))
            for (Index i = 0; i < count; ++i) moduli[i] = careful_modulus(a[2 * i], a[2 * i + 1]);
        else
            for (Index i = 0; i < count; ++i) moduli[i] = root(moduli[i]);
    }

    static R sum(Index m, const T* a, R* add)
    {
        V sums[4] = {};
        if (!add) each_modulus(m, a, [&](int slot, V v, Index) { sums[slot] += v; });
        else
            each_modulus(m, a, [&](int slot, V v, Index i) {
                sums[slot] += v;
                Vec::save_some(add + i, Vec::load_some(add + i, m - i) + v, m - i);
            });
        return total((sums[0] + sums[1]) + (sums[2] + sums[3]));
    }
    static R largest(Index m, const T* a)
    {
        V most[4] = {};
        Bits none = {};
        each_modulus(m, a, [&](int slot, V v, Index) {
            most[slot] = v > most[slot] ? v : most[slot];
            none |= v != v;
        });
        constexpr R no_number = std::numeric_limits<R>::quiet_NaN();
        if (any(none)) return no_number;
        R lane[lanes], found = 0;
        for (const V& part : most) {
            Vec::save(lane, part);
            for (const R value : lane) found = value > found ? value : found;
        }
        return found;
    }
    static R squares(Index count, const R* a, R scale)
    {
        V sums[4] = {};
        each_vector(
            count, a, 0, [&](V v) { return v * scale; }, [&](int slot, V v, Index) { sums[slot] += v * v; });
        return total((sums[0] + sums[1]) + (sums[2] + sums[3]));
    }

    static bool shorten(Index count, const T* row, R* norms, R* found)
    {
        Bits lost = {};
        each_modulus(count, row, [&](int, V sizes, Index i) { lost |= shorten_some(count - i, sizes, norms + i, found + i); });
        return any(lost);
    }
    /// Norms that are zero stay, and nothing is divided by zero: a program may have asked to be told of that.
    [[gnu::always_inline]] static Bits shorten_some(Index count, V sizes, R* norms, R* found)
    {
        const R least = root(std::numeric_limits<R>::epsilon() / 2);
        const V one = V{} + 1, norm = Vec::load_some(norms, count), last = Vec::load_some(found, count);
        const V part = sizes / (norm != V{} ? norm : one), rest = (one + part) * (one - part);
        const V left = rest > V{} ? rest : V{}, share = norm / (last != V{} ? last : one);
        const Bits lost = (norm != V{}) & (left * (share * share) <= V{} + least);
        Vec::save_some(norms, lost ? norm : norm * roots(left), count);
        Vec::save_some(found, lost ? -one : last, count);
        return lost;
    }
    [[gnu::always_inline]] static V roots(V v)
    {
        R lane[lanes];
        Vec::save(lane, v);
        for (R& x : lane) x = root(x);
        return Vec::load(lane);
    }

    static constexpr ColumnKernel<T> entry()
    {
        return {.subtract = subtract,
                .dots = dots,
                .add_sizes = add_sizes,
                .size_dots = size_dots,
                .sum = sum,
                .largest = largest,
                .squares = squares,
                .shorten = shorten};
    }
};

} // namespace
} // namespace trencadis::blas
