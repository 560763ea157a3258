// Products of complex numbers in pairs, one micro-tile at a time, for one instruction set; internal linkage as in
// micro_kernel_body.hpp.
#pragma once
#include "base/scalar.hpp"
#include "blas/micro/micro_kernel.hpp"
#include "blas/micro/micro_tile.hpp"
#include "blas/micro/vectors.hpp"

namespace trencadis::blas {
namespace {

/// MV vectors of pairs (real, imaginary) times NR columns: a column of A times the real part of an element of B, and the same
/// column turned by a right angle times its imaginary part. The sums have the bits that packed planes give (`Body`).
template <Scalar T, int Bytes, int MV, int NR> struct InterleavedTile {
    using R = Real<T>;
    using Vec = Vectors<R, Bytes>;
    using V = typename Vec::V;
    using Planes = Body<T, Bytes, 1, NR>;
    using Beta = typename Planes::Beta;
    static constexpr int lanes = Vec::lanes;
    static constexpr Index height = MV * lanes / 2;
    static constexpr bool many_registers = MV * NR >= 16;
    V sum[NR][MV]; // in registers, as in Body

    template <bool contiguous, bool whole> [[gnu::always_inline]] void accumulate(const ProductInPlace<T>& x)
    {
        const Index k = x.k, a_step = 2 * x.a_step, b_rs = x.b_rs;
        const typename Vec::Some last = whole ? typename Vec::Some{} : Vec::some(2 * x.rows - (MV - 1) * lanes);
        const V signs = Vec::signs_of_odd(x.conjugate_a),
                turning = x.conjugate_b ? Vec::signs_of_odd(true) : Vec::signs_of_even();
        const R* column[NR];
#pragma GCC unroll 64
        for (int j = 0; j < NR; ++j) {
            column[j] = reinterpret_cast<const R*>(x.B + (j < x.cols ? j : x.cols - 1) * x.b_cs);
#pragma GCC unroll 8
            for (int i = 0; i < MV; ++i) sum[j][i] = V{};
        }
        const R* A = reinterpret_cast<const R*>(x.A);
        for (Index p = 0; p < k; ++p, A += a_step) {
            const Index at = 2 * (contiguous ? p : p * b_rs);
            V a[MV], turned[MV];
#pragma GCC unroll 8
            for (int i = 0; i < MV; ++i) {
                a[i] = whole || i < MV - 1 ? Vec::load(A + i * lanes) : Vec::load(A + i * lanes, last);
                a[i] = Vec::flip(a[i], signs);
                turned[i] = Vec::flip(Vec::swap_pairs(a[i]), turning);
            }
            if constexpr (many_registers) {
#pragma GCC unroll 64
                for (int j = 0; j < NR; ++j)
#pragma GCC unroll 8
                    for (int i = 0; i < MV; ++i) add(j, i, a[i], turned[i], column[j] + at);
            } else { // both halves of a column of A would not stay in registers
#pragma GCC unroll 8
                for (int i = 0; i < MV; ++i)
#pragma GCC unroll 64
                    for (int j = 0; j < NR; ++j) add(j, i, a[i], turned[i], column[j] + at);
            }
        }
    }
    [[gnu::always_inline]] void add(int j, int i, V a, V turned, const R* b)
    {
        sum[j][i] += a * Vec::spread(b[0]);
        sum[j][i] += turned * Vec::spread(b[1]);
    }

    template <bool contiguous, bool whole> static void multiply_where_it_lies(const ProductInPlace<T>& x)
    {
        InterleavedTile tile;
        tile.template accumulate<contiguous, whole>(x);
        if (Planes::is(x.beta, 1)) return tile.template store<Beta::one>(x); // C may be infinite
        if (Planes::is(x.beta, 0)) return tile.template store<Beta::zero>(x);
        tile.template store<Beta::any>(x);
    }
    static void multiply(const ProductInPlace<T>& x)
    {
        const bool whole = x.rows == height;
        if (x.b_rs == 1) return whole ? multiply_where_it_lies<true, true>(x) : multiply_where_it_lies<true, false>(x);
        return whole ? multiply_where_it_lies<false, true>(x) : multiply_where_it_lies<false, false>(x);
    }

    template <Beta kind> [[gnu::always_inline]] void store(const ProductInPlace<T>& x) const
    {
        const R real = Planes::re(x.alpha);
        const V imaginary = Vec::alternate(Planes::im(x.alpha));
#pragma GCC unroll 64
        for (int j = 0; j < NR; ++j) {
            if (j >= x.cols) return;
            R* const c = reinterpret_cast<R*>(x.C + j * x.cs);
#pragma GCC unroll 8
            for (int i = 0; i < MV; ++i)
                Planes::template put<Vec, kind, false>(
                    c + i * lanes, Vec::fused(Vec::spread(real), sum[j][i], rounded(imaginary * Vec::swap_pairs(sum[j][i]))),
                    x.beta, 2 * x.rows - i * lanes);
        }
    }
};

/// MicroKernel::transpose_pairs, by squares in registers.
template <Scalar T, int Bytes> void transpose_pairs(Index rows, Index k, const T* A, Index lda, T* image, Index step)
{
    using R = Real<T>;
    using Vec = Vectors<R, Bytes>;
    constexpr int N = Vec::lanes / 2;
    for (Index p = 0; p < k; p += N) {
        const Index depth = k - p < N ? k - p : N;
        for (Index i = 0; i < rows; i += N) {
            const R* from = reinterpret_cast<const R*>(A + i * lda + p);
            R* to = reinterpret_cast<R*>(image + p * step + i);
            typename Vec::V square[N];
#pragma GCC unroll 16
            for (int r = 0; r < N; ++r, from += 2 * lda)
                square[r] = i + r < rows ? Vec::load_some(from, 2 * depth) : typename Vec::V{};
            Vec::template transpose<2>(square);
#pragma GCC unroll 16
            for (int r = 0; r < N; ++r, to += 2 * step)
                if (r < depth) Vec::save(to, square[r]);
        }
    }
}

} // namespace
} // namespace trencadis::blas
