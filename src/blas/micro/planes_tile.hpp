// Products of complex numbers with A in planes and B where it lies, one micro-tile at a time, for one instruction set; internal
// linkage as in micro_kernel_body.hpp.
#pragma once
#include "base/scalar.hpp"
#include "blas/micro/micro_kernel.hpp"
#include "blas/micro/micro_tile.hpp"
#include "blas/micro/vectors.hpp"

namespace trencadis::blas {
namespace {

/// A micro-tile of Body whose left panel is packed and whose right operand is not.
template <Scalar T, int Bytes, int MV, int NR> struct PlanesTile : Body<T, Bytes, MV, NR> {
    using Tile = Body<T, Bytes, MV, NR>;
    using Tile::height;
    using Tile::lanes;
    using Tile::parts;
    using Tile::sum;
    using typename Tile::R;
    using typename Tile::V;
    using typename Tile::Vec;
    static_assert(parts == 2);

    /// sum <- A B, B by the pointers to its columns.
    template <bool contiguous, bool conjugated>
    [[gnu::always_inline]] void accumulate(const ProductInPlace<T>& x, const R* const (&column)[NR])
    {
        this->clear();
        const R* A = x.planes;
        for (Index p = 0, at = 0; p < x.k; ++p, A += parts * height, at += parts * (contiguous ? 1 : x.b_rs)) {
            V a[parts][MV];
#pragma GCC unroll 2
            for (int q = 0; q < parts; ++q)
#pragma GCC unroll 8
                for (int i = 0; i < MV; ++i) a[q][i] = *reinterpret_cast<const V*>(A + q * height + i * lanes);
#pragma GCC unroll 64
            for (int j = 0; j < NR; ++j) {
                const V real = Vec::spread(column[j][at]), imaginary = Vec::spread(column[j][at + 1]);
#pragma GCC unroll 8
                for (int i = 0; i < MV; ++i) {
                    Vec::template add_product<false>(sum[j][0][i], a[0][i], real);
                    Vec::template add_product<false>(sum[j][1][i], a[1][i], real);
                }
#pragma GCC unroll 8
                for (int i = 0; i < MV; ++i) {
                    Vec::template add_product<!conjugated>(sum[j][0][i], a[1][i], imaginary);
                    Vec::template add_product<conjugated>(sum[j][1][i], a[0][i], imaginary);
                }
            }
        }
    }
    template <bool contiguous, bool conjugated> static void multiply(const ProductInPlace<T>& x)
    {
        T* C = x.C;
        const R* column[NR];
        for (Index j = 0; j < x.cols; j += NR, C += NR * x.cs) {
            const Index cols = x.cols - j < NR ? x.cols - j : NR;
#pragma GCC unroll 64
            for (int c = 0; c < NR; ++c) column[c] = reinterpret_cast<const R*>(x.B + (j + (c < cols ? c : cols - 1)) * x.b_cs);
            Tile::prefetch(C, 1, x.cs, x.rows, cols);
            PlanesTile body;
            body.template accumulate<contiguous, conjugated>(x, column);
            body.store(x.alpha, x.beta, C, x.cs, x.rows, cols);
        }
    }
    static void multiply(const ProductInPlace<T>& x)
    {
        if (x.b_rs == 1) return x.conjugate_b ? multiply<true, true>(x) : multiply<true, false>(x);
        return x.conjugate_b ? multiply<false, true>(x) : multiply<false, false>(x);
    }
};

} // namespace
} // namespace trencadis::blas
