// The Cholesky factorization of one block on the diagonal, for one instruction set; internal linkage as in micro_kernel_body.hpp.
#pragma once
#include "blas/micro/vectors.hpp"

namespace trencadis::blas {
namespace {

/// MicroKernel::factor_diagonal: NR columns of NR real numbers in registers, one vector each. A column is finished, then taken
/// from all behind it, which do not depend on each other. Every index is a constant: a vector whose elements are counted at run
/// time is kept in memory.
template <class R, int NR> struct DiagonalBlock {
    using Vec = Vectors<R, NR* int(sizeof(R))>;
    using V = typename Vec::V;
    using All = std::make_integer_sequence<int, NR>; // a type only
    V column[NR];
    R *D, *U;
    Index n, step;

    static Index factor(Index n, R* D, Index step, R* U)
    {
        DiagonalBlock block;
        block.D = D;
        block.U = U;
        block.n = n;
        block.step = step;
#pragma GCC unroll 8
        for (int j = 0; j < NR; ++j) block.column[j] = j < n ? Vec::load(D + j * step) : V{};
        return block.template from<0>();
    }

private:
    template <int j> [[gnu::always_inline]] Index from()
    {
        if constexpr (j < NR)
            if (j < n) {
                const V all = below<j>(column[j], All{});
                const R pivot = all[j];
                if (!(pivot > 0)) return give_up<j>(All{}); // NaN as well
                const R root = sqrt(pivot), inverse = 1 / root;
                const V scaled = all * inverse;
                subtract<j>(scaled, All{});
                Vec::save(D + j * step, with<j>(scaled, root, All{}));
                Vec::save(U + j * NR, with<j>(scaled, inverse, All{}));
                return from<j + 1>();
            }
        Vec::save(U + n * NR, R(1) - V{}); // no pivot is too small for its inverse
        return 0;
    }
    template <int j, int... c> [[gnu::always_inline]] void subtract(V scaled, std::integer_sequence<int, c...>)
    {
        ((c > j ? void(column[c] -= scaled * broadcast<c>(scaled, All{})) : void()), ...);
    }
    /// Columns in front of the failed one are L's, the others as they have become.
    template <int failed, int... c> [[gnu::always_inline]] Index give_up(std::integer_sequence<int, c...>)
    {
        ((c >= failed && c < n ? Vec::save(D + c * step, below<c>(column[c], All{})) : void()), ...);
        return failed + 1;
    }

    template <int c, int... i> [[gnu::always_inline]] static V broadcast(V v, std::integer_sequence<int, i...>)
    {
        return __builtin_shufflevector(v, v, (c + 0 * i)...);
    }
    /// Zeros in front of element c.
    template <int c, int... i> [[gnu::always_inline]] static V below(V v, std::integer_sequence<int, i...>)
    {
        return __builtin_shufflevector(v, V{}, (i < c ? NR + i : i)...);
    }
    /// x as element c.
    template <int c, int... i> [[gnu::always_inline]] static V with(V v, R x, std::integer_sequence<int, i...>)
    {
        return __builtin_shufflevector(v, x - V{}, (i == c ? NR + i : i)...);
    }
    [[gnu::always_inline]] static R sqrt(R x)
    {
        if constexpr (sizeof(R) == 4) return __builtin_sqrtf(x);
        else return __builtin_sqrt(x);
    }
};

} // namespace
} // namespace trencadis::blas
