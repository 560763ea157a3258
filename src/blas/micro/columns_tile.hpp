// A micro-tile whose right operand is columns where they lie, for one instruction set; internal linkage as in
// micro_kernel_body.hpp.
#pragma once
#include "blas/micro/micro_tile.hpp"

namespace trencadis::blas {
namespace {

template <Scalar T, int Bytes, int MV, int NR> struct ColumnsTile : Body<T, Bytes, MV, NR> {
    using Base = Body<T, Bytes, MV, NR>;
    using Base::height, Base::lanes, Base::parts, Base::unroll;
    using typename Base::R, typename Base::V, typename Base::Vec;

    static void multiply(const ColumnsProduct<T>& x) { x.stack.next ? multiply<true>(x) : multiply<false>(x); }

    template <bool fetches> static void multiply(const ColumnsProduct<T>& product)
    {
        const R* column[NR];
        column[0] = product.stack.B;
#pragma GCC unroll 64
        for (int j = 1; j < NR; ++j) // of fewer the last one is read again, and not stored
            column[j] = j < product.stack.cols ? column[j - 1] + parts * product.b_cs : column[j - 1];
        const R *A = product.stack.A, *next = product.stack.next;
        T* C = product.stack.C;
        for (Index left = product.stack.panels, fetched = 1; left > 0; --left, ++fetched, C += height) {
            const auto* x = &product; // read anew for each tile: one loop for all kinds of store, with all registers for the sums
            Base::hide(x), Base::hide(left);
            ColumnsTile body;
            body.clear();
            body.template accumulate<fetches>({x->stack.k, A, 0, next}, column, C, x->stack.cs, x->stack.cols);
            Base::hide(x), Base::hide(left);
            body.store_compactly(x->stack.alpha, x->stack.beta, C, x->stack.cs, left > 1 ? height : x->rows, x->stack.cols);
            A += x->stack.step;
            if (fetches && fetched < NR) next += parts * x->b_cs; // another column for each tile
        }
    }

private:
    struct Walk {
        Index left; ///< columns of A
        const R* A;
        Index at; ///< numbers of B's columns that are behind
        const R* next;
    };
    /// sum <- A B. The tile of C comes into the first cache towards the end: lines of A would drive it out before.
    template <bool fetches>
    [[gnu::always_inline]] void accumulate(Walk x, const R* const (&column)[NR], const T* C, Index cs, Index cols)
    {
        constexpr Index ahead = 8 * unroll; // columns of A, in whose time C's last line comes
        while (x.left >= cols * unroll + ahead) update_some<fetches>(x, column);
        for (; cols > 0; --cols, C += cs) {
            Base::prefetch_column(C);
            if (x.left >= unroll) update_some<fetches>(x, column);
        }
        while (x.left >= unroll) update_some<fetches>(x, column);
        for (; x.left > 0; --x.left, x.A += parts * height, x.at += parts) update_one(x.A, column, x.at);
    }
    template <bool fetches> [[gnu::always_inline]] void update_some(Walk& x, const R* const (&column)[NR])
    {
        if constexpr (fetches) {
            __builtin_prefetch(x.next, 0, 2);
            x.next += unroll * parts;
        }
        Base::hide(x.at); // one index for all columns, and no pointer for each step
#pragma GCC unroll 8
        for (int u = 0; u < unroll; ++u) update_one(x.A + u * parts * height, column, x.at + u * parts);
        x.left -= unroll;
        x.A += unroll * parts * height;
        x.at += unroll * parts;
    }
    /// As `update`, with the same sums.
    [[gnu::always_inline]] void update_one(const R* A, const R* const (&column)[NR], Index at)
    {
        V a[parts][MV];
#pragma GCC unroll 2
        for (int q = 0; q < parts; ++q)
#pragma GCC unroll 8
            for (int i = 0; i < MV; ++i) a[q][i] = *reinterpret_cast<const V*>(A + q * height + i * lanes);
#pragma GCC unroll 64
        for (int j = 0; j < NR; ++j) {
            const V b = Vec::spread(column[j][at]);
#pragma GCC unroll 2
            for (int q = 0; q < parts; ++q)
#pragma GCC unroll 8
                for (int i = 0; i < MV; ++i) Vec::template add_product<false>(this->sum[j][q][i], a[q][i], b);
            if constexpr (parts == 2) {
                const V imaginary = Vec::spread(column[j][at + 1]);
#pragma GCC unroll 8
                for (int i = 0; i < MV; ++i) {
                    Vec::template add_product<true>(this->sum[j][0][i], a[1][i], imaginary);
                    Vec::template add_product<false>(this->sum[j][1][i], a[0][i], imaginary);
                }
            }
        }
    }
};

} // namespace
} // namespace trencadis::blas
