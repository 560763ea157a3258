// A micro-tile whose right operand is a stripe of a left panel, for one instruction set; internal linkage as in
// micro_kernel_body.hpp.
#pragma once
#include "blas/micro/micro_tile.hpp"

namespace trencadis::blas {
namespace {

template <Scalar T, int Bytes, int MV, int NR> struct StripeTile : Body<T, Bytes, MV, NR> {
    using Base = Body<T, Bytes, MV, NR>;
    using Base::height;

    static void multiply(const StripeProduct<T>& x)
    {
        if (x.stack.next) return x.stack.later ? multiply<true, true>(x) : multiply<true, false>(x);
        x.stack.later ? multiply<false, true>(x) : multiply<false, false>(x);
    }
    template <bool fetches_next, bool fetches_later> static void multiply(const StripeProduct<T>& product)
    {
        typename Base::Panels at{0, product.stack.A, nullptr, product.stack.next, product.stack.later};
        T* C = product.stack.C;
        for (Index left = product.stack.panels; left > 0; --left, C += height) {
            const auto* x = &product; // read anew for each tile: one loop for all kinds of store, with all registers for the sums
            Base::hide(x), Base::hide(left);
            StripeTile body;
            body.clear();
            at.left = x->stack.k;
            at.B = x->stack.B;
            body.template accumulate_stripe<fetches_next, fetches_later>(at, x->b_step, C, x->stack.cs, x->stack.cols);
            Base::hide(x), Base::hide(left);
            body.store_compactly(x->stack.alpha, x->stack.beta, C, x->stack.cs, left > 1 ? height : x->rows, x->stack.cols);
            at.A += x->stack.step - x->stack.k * height;
        }
    }

private:
    /// sum <- A B while columns of C and what comes later are fetched, as by accumulate; of `next` a row, a line, at a time.
    template <bool fetches_next, bool fetches_later>
    [[gnu::always_inline]] void accumulate_stripe(typename Base::Panels& x, Index b_step, const T* C, Index cs, Index cols)
    {
        const auto some = [&]() __attribute__((always_inline))
        {
            if constexpr (fetches_next) __builtin_prefetch(x.next, 0, 2);
            if constexpr (fetches_later) __builtin_prefetch(x.later, 0, 2);
#pragma GCC unroll 8
            for (int u = 0; u < Base::unroll; ++u, x.B += b_step) this->template update<false>(x.A + u * height, x.B);
            x.left -= Base::unroll;
            x.A += Base::unroll * height;
            if constexpr (fetches_next) x.next += b_step;
            if constexpr (fetches_later) x.later += Base::line;
        };
        for (; cols > 0 && x.left >= Base::unroll; --cols, C += cs) {
            Base::prefetch_column(C);
            some();
        }
        for (; cols > 0; --cols, C += cs) Base::prefetch_column(C);
        while (x.left >= Base::unroll) some();
        for (; x.left > 0; --x.left, x.A += height, x.B += b_step) this->template update<false>(x.A, x.B);
    }
};

} // namespace
} // namespace trencadis::blas
