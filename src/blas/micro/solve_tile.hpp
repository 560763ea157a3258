// The micro-tile of a triangular solve, for one instruction set; internal linkage as in micro_kernel_body.hpp.
#pragma once
#include "blas/micro/micro_tile.hpp"

namespace trencadis::blas {
namespace {

/// A panel of MV vectors of right-hand sides and NR of their columns.
template <Scalar T, int Bytes, int MV, int NR> struct SolveTile : Body<T, Bytes, MV, NR> {
    using Base = Body<T, Bytes, MV, NR>;
    using Base::height;
    using Base::lanes;
    using Base::parts;
    using Base::sum;
    using typename Base::R;
    using typename Base::V;
    using typename Base::Vec;

    static void solve(Index k, R* X, const R* U, Index cols)
    {
        SolveTile body;
        R* const own = X + k * parts * height;
        body.clear();
        body.template columns<false>(own, cols);
        body.template accumulate<true, Base::Fetch::none>(k, X, U, nullptr);
        body.substitute(U + k * parts * NR, cols);
        body.template columns<true>(own, cols);
    }
    /// The same with these columns of B and X where they lie, in registers on the way from one to the other.
    static void solve_in_place(const SolveInPlace<T>& x) { x.apart ? solve_step<true>(x) : solve_step<false>(x); }
    template <bool apart> static void solve_step(const SolveInPlace<T>& x)
    {
        SolveTile body;
        fetch(x);
        body.clear();
        body.template move<false>(x);
        body.template add_products<true, apart>(x);
        body.substitute(x.U + x.k * NR, x.cols);
        if constexpr (!apart) body.template columns<true>(x.X + x.k * height, x.cols);
        body.template move<true>(x);
    }
    static void multiply_triangle(const TriangleStep<T>& x) { x.apart ? multiply_step<true>(x) : multiply_step<false>(x); }
    template <bool apart> static void multiply_step(const TriangleStep<T>& x)
    {
        SolveTile body;
        body.clear();
        if constexpr (apart) body.template move_columns<false, true>(x);
        else body.template columns<false>(const_cast<R*>(x.X) + x.k * height, x.cols);
        body.multiply_by_triangle(x.U + x.k * NR, x.cols);
        body.template add_products<false, apart>(x);
        if (x.alpha != 1)
#pragma GCC unroll 64
            for (int j = 0; j < NR; ++j) body.multiply_column(j, x.alpha);
        body.template move<true>(x);
    }
    /// sum <- sum +- X_0 U_0, with the bits that both ways have.
    template <bool subtract, bool apart, class Step> [[gnu::always_inline]] void add_products(const Step& x)
    {
        if constexpr (!apart) return Base::template accumulate<subtract, Base::Fetch::none>(x.k, x.X, x.U, nullptr);
        const R *A = x.X, *U = x.U;
        Index left = x.k;
        for (; left >= Base::unroll; left -= Base::unroll)
#pragma GCC unroll 8
            for (int u = 0; u < Base::unroll; ++u, A += x.apart, U += NR) this->template update<subtract>(A, U);
        for (; left > 0; --left, A += x.apart, U += NR) this->template update<subtract>(A, U);
    }
    /// sum <- sum U with U's small triangle: the last column first, so that those before it are still what they were. What is
    /// beside the triangle is not read, so that infinities do not meet zeros.
    [[gnu::always_inline]] void multiply_by_triangle(const R* U, Index cols)
    {
#pragma GCC unroll 64
        for (int j = NR - 1; j >= 0; --j) {
            if (j >= cols) continue;
            multiply_column(j, U[j * NR + j]);
#pragma GCC unroll 64
            for (int p = 0; p < j; ++p)
#pragma GCC unroll 8
                for (int i = 0; i < MV; ++i)
                    Vec::template add_product<false>(sum[j][0][i], sum[p][0][i], Vec::spread(U[p * NR + j]));
        }
    }
    /// Brings what is solved next into the cache.
    [[gnu::always_inline]] static void fetch(const SolveInPlace<T>& x)
    {
        if (!x.next) return;
        if (x.rs == 1) {
#pragma GCC unroll 64
            for (int j = 0; j < NR; ++j)
#pragma GCC unroll 8
                for (int i = 0; i < height; i += 64 / int(sizeof(R))) __builtin_prefetch(x.next + j * x.cs + i, 1, 3);
        } else
            for (int i = 0; i < height; ++i) __builtin_prefetch(x.next + i * x.rs, 1, 3);
    }
    template <bool write, class Step> [[gnu::always_inline]] void move(const Step& x)
    {
        if (x.rs == 1) {
            if (x.rows == height) return move_columns<write, true>(x);
            return move_columns<write, false>(x);
        }
        if constexpr (lanes == NR) {
            if (x.cs == 1) return move_rows<write, false>(x);
            move_rows<write, true>(x);
        }
    }
    /// Reads or writes the sums of the first columns where B has them contiguous.
    template <bool write, bool whole, class Step> [[gnu::always_inline]] void move_columns(const Step& x)
    {
#pragma GCC unroll 64
        for (int j = 0; j < NR; ++j) {
            if (j >= x.cols) return;
#pragma GCC unroll 8
            for (int i = 0; i < MV; ++i) {
                R* const at = x.B + j * x.cs + i * lanes;
                const Index count = whole || i < MV - 1 ? lanes : x.rows - i * lanes;
                if constexpr (write) Vec::save_some(at, sum[j][0][i], count);
                else sum[j][0][i] = Vec::load_some(at, count);
            }
        }
    }
    /// Those of all columns where rows are contiguous, in squares that are transposed in registers. Backwards: the last column
    /// lies first.
    template <bool write, bool backwards, class Step> [[gnu::always_inline]] void move_rows(const Step& x)
    {
        R* row = x.B - (backwards ? NR - 1 : 0);
        Index left = x.rows;
#pragma GCC unroll 8
        for (int i = 0; i < MV; ++i, left -= lanes) {
            V square[NR];
            if constexpr (write) {
#pragma GCC unroll 64
                for (int j = 0; j < NR; ++j) square[j] = sum[backwards ? NR - 1 - j : j][0][i];
                Vec::template transpose<1>(square);
            }
#pragma GCC unroll 64
            for (int r = 0; r < NR; ++r, row += x.rs) {
                if constexpr (write) {
                    if (r < left) Vec::save(row, square[r]);
                } else square[r] = r < left ? Vec::load(row) : V{};
            }
            if constexpr (!write) {
                Vec::template transpose<1>(square);
#pragma GCC unroll 64
                for (int j = 0; j < NR; ++j) sum[backwards ? NR - 1 - j : j][0][i] = square[j];
            }
        }
    }
    /// Reads or writes the sums of the first `cols` columns.
    template <bool write> [[gnu::always_inline]] void columns(R* X, Index cols)
    {
#pragma GCC unroll 64
        for (int j = 0; j < NR; ++j) {
            if (j >= cols) return;
#pragma GCC unroll 2
            for (int q = 0; q < parts; ++q)
#pragma GCC unroll 8
                for (int i = 0; i < MV; ++i) {
                    V& x = *reinterpret_cast<V*>(X + (j * parts + q) * height + i * lanes);
                    if constexpr (write) x = sum[j][q][i];
                    else sum[j][q][i] = x;
                }
        }
    }

    /// sum <- sum U^-1 with U's small triangle: a column is finished, then taken from all behind it, which do not depend on each
    /// other. The padding behind `cols` is zero in U and not kept in X.
    [[gnu::always_inline]] void substitute(const R* U, Index cols)
    {
        const R* const powers = U + cols * NR * parts;
#pragma GCC unroll 64
        for (int p = 0; p < NR; ++p) {
            if (p >= cols) return;
            const R* const row = U + p * NR * parts;
            scale_column(p, row + p * parts);
            if (__builtin_expect(powers[p] != 1, false)) multiply_column(p, powers[p]);
#pragma GCC unroll 64
            for (int j = p + 1; j < NR; ++j) subtract_column(j, p, row + j * parts);
        }
    }
    [[gnu::always_inline]] void subtract_column(int j, int p, const R* u)
    {
#pragma GCC unroll 8
        for (int i = 0; i < MV; ++i) {
            sum[j][0][i] -= sum[p][0][i] * u[0];
            if constexpr (parts == 2) {
                sum[j][1][i] -= sum[p][1][i] * u[0];
                sum[j][0][i] += sum[p][1][i] * u[1];
                sum[j][1][i] -= sum[p][0][i] * u[1];
            }
        }
    }
    [[gnu::always_inline]] void multiply_column(int j, R factor)
    {
#pragma GCC unroll 2
        for (int q = 0; q < parts; ++q)
#pragma GCC unroll 8
            for (int i = 0; i < MV; ++i) sum[j][q][i] *= factor;
    }
    [[gnu::always_inline]] void scale_column(int j, const R* u)
    {
#pragma GCC unroll 8
        for (int i = 0; i < MV; ++i) {
            const V re = sum[j][0][i];
            if constexpr (parts == 1) sum[j][0][i] = re * u[0];
            else {
                const V im = sum[j][1][i];
                sum[j][0][i] = re * u[0] - im * u[1];
                sum[j][1][i] = re * u[1] + im * u[0];
            }
        }
    }
};

} // namespace
} // namespace trencadis::blas
