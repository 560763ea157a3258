// Vectors of the compiler's extensions and how they are loaded, stored and shuffled. For sources that are compiled for one
// instruction set: internal linkage, as in micro_kernel_body.hpp.
#pragma once
#include "base/types.hpp"

#include <type_traits>
#include <utility>

#if defined(__AVX512F__) || defined(__AVX2__)
#include <immintrin.h>
#endif

namespace trencadis::blas {
namespace {

/// The same number or vector, rounded: the compiler may fuse a product with the sum that it goes into where it sees both at
/// once, and not where
/// a branch is between them. The bits of a result must not depend on that, so that what is to be rounded is hidden from it.
template <class Numbers> [[gnu::always_inline]] inline Numbers rounded(Numbers x)
{
#if defined(__x86_64__)
    asm("" : "+v"(x));
#elif defined(__aarch64__)
    asm("" : "+w"(x));
#else
    asm("" : "+m"(x));
#endif
    return x;
}

/// Vectors of R, `Bytes` wide.
template <class R, int Bytes> struct Vectors {
    static constexpr int lanes = Bytes / sizeof(R);
    typedef R V __attribute__((vector_size(Bytes)));
    using Int = std::conditional_t<sizeof(R) == 8, std::int64_t, std::int32_t>;
    typedef Int Ints __attribute__((vector_size(Bytes)));

    [[gnu::always_inline]] static V load(const R* from) ///< any alignment
    {
        V v;
        __builtin_memcpy(&v, from, sizeof v);
        return v;
    }
    [[gnu::always_inline]] static void save(R* to, V v) { __builtin_memcpy(to, &v, sizeof v); }

    /// The number in all lanes: a broadcast. To add zero would be an addition, because of -0.
    [[gnu::always_inline]] static V spread(R x) { return x - V{}; }

    /// to <- to +- a b, rounded once where the processor can. One instruction that is written down: the compiler would load a
    /// vector of A up to four times, once for each product, rather than keep it, or move sums from register to register.
    template <bool subtract> [[gnu::always_inline]] static void add_product(V& to, V a, V b)
    {
#if defined(__FMA__)
        if constexpr (Bytes >= 32 && sizeof(R) == 8) {
            if constexpr (subtract) asm("vfnmadd231pd %2, %1, %0" : "+v"(to) : "v"(a), "v"(b));
            else asm("vfmadd231pd %2, %1, %0" : "+v"(to) : "v"(a), "v"(b));
            return;
        } else if constexpr (Bytes >= 32) {
            if constexpr (subtract) asm("vfnmadd231ps %2, %1, %0" : "+v"(to) : "v"(a), "v"(b));
            else asm("vfmadd231ps %2, %1, %0" : "+v"(to) : "v"(a), "v"(b));
            return;
        }
#endif
        if constexpr (subtract) to -= a * b;
        else to += a * b;
    }
    /// a b + c, rounded once where the processor can, wherever it stands: the compiler fuses a product with a sum only where it
    /// has put them side by side, and may compute the product earlier in one function than in the next.
    [[gnu::always_inline]] static V fused(V a, V b, V c)
    {
        add_product<false>(c, a, b);
        return c;
    }

    /// The first `count` numbers; what lies behind them in memory is not touched, lanes behind them are zero.
    [[gnu::always_inline]] static V load_some(const R* from, Index count)
    {
        if (count >= lanes) return load(from);
#ifdef __AVX512F__
        if constexpr (Bytes == 64 && sizeof(R) == 8) return _mm512_maskz_loadu_pd(first(count), from);
        if constexpr (Bytes == 64 && sizeof(R) == 4) return _mm512_maskz_loadu_ps(first(count), from);
#endif
        V v = {};
        copy_some<lanes / 2>(reinterpret_cast<R*>(&v), from, count);
        return v;
    }
    [[gnu::always_inline]] static void save_some(R* to, V v, Index count)
    {
        if (count >= lanes) return save(to, v);
#ifdef __AVX512F__
        if constexpr (Bytes == 64 && sizeof(R) == 8) return _mm512_mask_storeu_pd(to, first(count), v);
        if constexpr (Bytes == 64 && sizeof(R) == 4) return _mm512_mask_storeu_ps(to, first(count), v);
#endif
        copy_some<lanes / 2>(to, reinterpret_cast<const R*>(&v), count);
    }

    /// Has one instruction that reads the first numbers of a vector, where nothing behind them may be read?
#if defined(__AVX512F__)
    static constexpr bool reads_some = Bytes == 64;
    using Some = std::conditional_t<sizeof(R) == 8, __mmask8, __mmask16>;
#elif defined(__AVX2__)
    static constexpr bool reads_some = Bytes == 32;
    using Some = Ints;
#else
    static constexpr bool reads_some = false;
    using Some = Index;
#endif
    /// The first `count` of the lanes, 0 <= count <= lanes.
    [[gnu::always_inline]] static Some some(Index count)
    {
#if defined(__AVX512F__)
        return Some((1u << count) - 1);
#elif defined(__AVX2__)
        return numbers(Indices{}) < Ints{} + Int(count);
#else
        return count;
#endif
    }
    /// These lanes, the others zero. Without such an instruction all of them.
    [[gnu::always_inline]] static V load(const R* from, [[maybe_unused]] Some which)
    {
        if constexpr (!reads_some) return load(from);
#if defined(__AVX512F__)
        else if constexpr (sizeof(R) == 8) return _mm512_maskz_loadu_pd(which, from);
        else return _mm512_maskz_loadu_ps(which, from);
#elif defined(__AVX2__)
        else if constexpr (sizeof(R) == 8) return _mm256_maskload_pd(from, __m256i(which));
        else return _mm256_maskload_ps(from, __m256i(which));
#endif
    }

    /// a0 b0 a1 b1 ..: the first and the second vector of it.
    [[gnu::always_inline]] static V interleave_low(V a, V b) { return zip<0>(a, b, Indices{}); }
    [[gnu::always_inline]] static V interleave_high(V a, V b) { return zip<lanes / 2>(a, b, Indices{}); }
    /// The inverse: the elements with even and with odd numbers of the two vectors a, b.
    [[gnu::always_inline]] static V even(V a, V b) { return every_other<0>(a, b, Indices{}); }
    [[gnu::always_inline]] static V odd(V a, V b) { return every_other<1>(a, b, Indices{}); }
    /// a1 a0 a3 a2 ..
    [[gnu::always_inline]] static V swap_pairs(V a) { return swap(a, Indices{}); }
    /// From the last to the first.
    [[gnu::always_inline]] static V reversed(V a) { return reverse(a, Indices{}); }
    /// As many zeros before it (less than 0: so many of the first lanes away), as many lanes fewer at the other end.
    template <int by> [[gnu::always_inline]] static V shifted(V a) { return shift<by>(a, Indices{}); }
    /// -x x -x x .., by signs: the difference 0 - x has none where x is zero.
    [[gnu::always_inline]] static V alternate(R x) { return flip(x - V{}, signs_of_even()); }

    /// 0 -0 0 -0 .. or -0 0 -0 0 ..: what `flip` makes of signs.
    [[gnu::always_inline]] static V signs_of_odd(bool flipped) { return flipped ? interleave_low(V{}, -V{}) : V{}; }
    [[gnu::always_inline]] static V signs_of_even() { return interleave_low(-V{}, V{}); }
    [[gnu::always_inline]] static V flip(V a, V signs) { return V(Ints(a) ^ Ints(signs)); }

    /// Which lanes have the number `begin` or a higher one.
    [[gnu::always_inline]] static Ints from(Index begin) { return numbers(Indices{}) >= Ints{} + Int(begin); }

    /// a0 -a1 a2 -a3 ..
    [[gnu::always_inline]] static V negate_odd(V a) { return merge_odd(a, -a, Indices{}); }
    /// Sums of lanes that are `width` apart: of a where lane & width is 0, of b elsewhere.
    template <int width> [[gnu::always_inline]] static V fold(V a, V b)
    {
        return quarters<width, true>(a, b, Indices{}) + quarters<width, false>(a, b, Indices{});
    }
    /// The transpose of a square of elements, `size` numbers each (2: complex), one row in each vector.
    template <int size, int step = 1> [[gnu::always_inline]] static void transpose(V (&v)[lanes / size])
    {
        constexpr int n = lanes / size;
        if constexpr (step < n) { // swap the off-diagonal quarters of all squares of 2 step elements
#pragma GCC unroll 16
            for (int r = 0; r < n; ++r)
                if (!(r & step)) {
                    const V a = v[r], b = v[r + step];
                    v[r] = quarters<step * size, true>(a, b, Indices{});
                    v[r + step] = quarters<step * size, false>(a, b, Indices{});
                }
            transpose<size, 2 * step>(v);
        }
    }

private:
#ifdef __AVX512F__
    using Mask = std::conditional_t<sizeof(R) == 8, __mmask8, __mmask16>;
    static Mask first(Index count) { return Mask((1u << count) - 1); } ///< 0 <= count < lanes
#endif
    using Indices = std::make_integer_sequence<int, lanes>; // a type only
    template <int... i> [[gnu::always_inline]] static Ints numbers(std::integer_sequence<int, i...>) { return Ints{i...}; }
    template <int from, int... i> [[gnu::always_inline]] static V zip(V a, V b, std::integer_sequence<int, i...>)
    {
        return __builtin_shufflevector(a, b, (from + i / 2 + i % 2 * lanes)...);
    }
    template <int from, int... i> [[gnu::always_inline]] static V every_other(V a, V b, std::integer_sequence<int, i...>)
    {
        return __builtin_shufflevector(a, b, (from + 2 * i)...);
    }
    template <int... i> [[gnu::always_inline]] static V swap(V a, std::integer_sequence<int, i...>)
    {
        return __builtin_shufflevector(a, a, (i ^ 1)...);
    }
    template <int... i> [[gnu::always_inline]] static V reverse(V a, std::integer_sequence<int, i...>)
    {
        return __builtin_shufflevector(a, a, (lanes - 1 - i)...);
    }
    template <int by, int... i> [[gnu::always_inline]] static V shift(V a, std::integer_sequence<int, i...>)
    {
        return __builtin_shufflevector(a, V{}, (i - by >= 0 && i - by < lanes ? i - by : lanes)...);
    }
    template <int... i> [[gnu::always_inline]] static V merge_odd(V a, V b, std::integer_sequence<int, i...>)
    {
        return __builtin_shufflevector(a, b, (i % 2 * lanes + i)...);
    }
    template <int width, bool upper, int... i>
    [[gnu::always_inline]] static V quarters(V a, V b, std::integer_sequence<int, i...>)
    {
        return __builtin_shufflevector(a, b,
                                       (upper ? (i & width ? lanes + i - width : i) : (i & width ? lanes + i : i + width))...);
    }
    /// Pieces of width, width / 2, .. 1, as the binary digits of `count` say.
    template <int width> [[gnu::always_inline]] static void copy_some(R* to, const R* from, Index count)
    {
        if constexpr (width > 0) {
            const Index piece = count & width;
            if (piece) __builtin_memcpy(to, from, width * sizeof(R));
            copy_some<width / 2>(to + piece, from + piece, count);
        }
    }
};

} // namespace
} // namespace trencadis::blas
