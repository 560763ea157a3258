// Products with few columns, whose sums stay in the first cache, for one instruction set; internal linkage as in
// micro_kernel_body.hpp.
#pragma once
#include "base/scalar.hpp"
#include "blas/micro/micro_kernel.hpp"
#include "blas/micro/micro_tile.hpp"
#include "blas/micro/vectors.hpp"

namespace trencadis::blas {
namespace {

/// Some columns of A at a time go past the sums of all rows. A is read along its columns so, each line once, and the processor
/// fetches by itself what comes next; a micro-tile, which is as high as the registers allow, reads a few lines of each column,
/// every one in another page. The sums have the bits that micro-tiles give. Complex numbers as in InterleavedTile.
template <Scalar T, int Bytes, bool many_registers> struct ColumnsPastSums {
    using R = Real<T>;
    using Vec = Vectors<R, Bytes>;
    using V = typename Vec::V;
    using Tile = Body<T, Bytes, 1, 2>;
    using Beta = typename Tile::Beta;
    static constexpr int lanes = Vec::lanes, parts = planes<T>, line = 64 / sizeof(R);
    static constexpr int abreast = 2;                                 ///< vectors of rows
    static constexpr int together = (many_registers ? 8 : 4) / parts; ///< columns of A

    struct Sums {
        R* data;
        Index step; ///< numbers from column to column

        R* at(Index i, Index j) const { return data + i + j * step; }
    };

    /// Some columns of A in some vectors of rows.
    template <int depth, int vectors> struct Left {
        V a[depth][vectors], turned[depth][vectors];
    };
    /// sums <- sums + A B for `cols` columns: so many at once that products need not wait for one another.
    template <int cols, int depth, int vectors>
    [[gnu::always_inline]] static void add(const Left<depth, vectors>& left, const T* B, Index b_rs, Index b_cs, R* to,
                                           Index step)
    {
        V sum[cols][vectors];
#pragma GCC unroll 2
        for (int j = 0; j < cols; ++j)
#pragma GCC unroll 2
            for (int v = 0; v < vectors; ++v) sum[j][v] = Vec::load(to + j * step + v * lanes);
#pragma GCC unroll 8
        for (int p = 0; p < depth; ++p, B += b_rs)
#pragma GCC unroll 2
            for (int j = 0; j < cols; ++j) {
                const R* const b = reinterpret_cast<const R*>(B + j * b_cs);
                const V real = Vec::spread(b[0]);
#pragma GCC unroll 2
                for (int v = 0; v < vectors; ++v) Vec::template add_product<false>(sum[j][v], left.a[p][v], real);
                if constexpr (parts == 2) {
                    const V imaginary = Vec::spread(b[1]);
#pragma GCC unroll 2
                    for (int v = 0; v < vectors; ++v) Vec::template add_product<false>(sum[j][v], left.turned[p][v], imaginary);
                }
            }
#pragma GCC unroll 2
        for (int j = 0; j < cols; ++j)
#pragma GCC unroll 2
            for (int v = 0; v < vectors; ++v) Vec::save(to + j * step + v * lanes, sum[j][v]);
    }

    /// The same for all columns, and `depth` columns of A in `vectors` of rows from number i on. `goes_on`: as many of A's
    /// columns follow, which come into the first cache meanwhile.
    template <int vectors, int depth, bool whole>
    [[gnu::always_inline]] static void step(const ProductInPlace<T>& x, const R* A, const T* B, const Sums& sums, Index i,
                                            bool goes_on)
    {
        const Index a_step = parts * x.a_step, b_rs = x.b_rs, b_cs = x.b_cs, across = sums.step;
        const V signs = Vec::signs_of_odd(x.conjugate_a),
                turning = x.conjugate_b ? Vec::signs_of_odd(true) : Vec::signs_of_even();
        Left<depth, vectors> left;
#pragma GCC unroll 8
        for (int p = 0; p < depth; ++p, A += a_step)
#pragma GCC unroll 2
            for (int v = 0; v < vectors; ++v) {
                const R* const from = A + i + v * lanes;
                V a = whole ? Vec::load(from) : Vec::load_some(from, parts * x.rows - i - v * lanes);
                if constexpr (parts == 2) {
                    a = Vec::flip(a, signs);
                    left.turned[p][v] = Vec::flip(Vec::swap_pairs(a), turning);
                }
                left.a[p][v] = a;
            }
        if (goes_on)
#pragma GCC unroll 8
            for (int p = 0; p < depth; ++p, A += a_step)
#pragma GCC unroll 2
                for (int n = 0; n < vectors * lanes; n += line) __builtin_prefetch(A + i + n, 0, 3);
        R* to = sums.at(i, 0);
        Index cols = x.cols;
        for (; cols >= 2; cols -= 2, B += 2 * b_cs, to += 2 * across) add<2>(left, B, b_rs, b_cs, to, across);
        if (cols > 0) add<1>(left, B, b_rs, b_cs, to, across);
    }

    /// The same for all rows.
    template <int depth> [[gnu::noinline]] static void pass(const ProductInPlace<T>& x, Index p, const Sums& sums)
    {
        const R* const A = reinterpret_cast<const R*>(x.A + p * x.a_step);
        const T* const B = x.B + p * x.b_rs;
        const Index numbers = parts * x.rows;
        const bool goes_on = p + 2 * depth <= x.k;
        Index i = 0;
        for (; i + abreast * lanes <= numbers; i += abreast * lanes) step<abreast, depth, true>(x, A, B, sums, i, goes_on);
        for (; i < numbers; i += lanes) step<1, depth, false>(x, A, B, sums, i, false);
    }

    template <Beta kind> static void store(const ProductInPlace<T>& x, const Sums& sums)
    {
        const V real = Vec::spread(Tile::re(x.alpha)), imaginary = Vec::alternate(Tile::im(x.alpha));
        for (Index j = 0; j < x.cols; ++j)
            for (Index i = 0; i < parts * x.rows; i += lanes) {
                const V sum = Vec::load(sums.at(i, j));
                V product;
                if constexpr (parts == 1) product = real * sum;
                else product = Vec::fused(real, sum, rounded(imaginary * Vec::swap_pairs(sum)));
                Tile::template put<Vec, kind, false>(reinterpret_cast<R*>(x.C + j * x.cs) + i, product, x.beta,
                                                     parts * x.rows - i);
            }
    }

    static void multiply(const ProductInPlace<T>& x, R* room, bool begins, bool ends)
    {
        const Sums sums{room, few_columns_step<T>(x.rows)};
        if (begins)
            for (Index n = 0; n < x.cols * sums.step; n += lanes) Vec::save(room + n, V{});
        Index p = 0;
        for (; p + together <= x.k; p += together) pass<together>(x, p, sums);
        for (; p < x.k; ++p) pass<1>(x, p, sums);
        if (!ends) return;
        if (Tile::is(x.beta, 0)) return store<Beta::zero>(x, sums);
        if (parts == 2 && Tile::is(x.beta, 1)) return store<Beta::one>(x, sums);
        store<Beta::any>(x, sums);
    }
};

} // namespace
} // namespace trencadis::blas
