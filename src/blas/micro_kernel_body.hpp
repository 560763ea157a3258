// The micro-kernels, written once on the compiler's vector extensions. Included by one source per instruction set, each compiled
// with its own flags; everything here has internal linkage, so that no other source can end up with code for a
// processor that is not there.
#pragma once
#include "blas/micro_kernel.hpp"

#include <utility>

namespace trencadis::blas {
namespace {

/// `Bytes`-wide vectors of R; a panel of height MV vectors times a panel of NR columns.
template <Scalar T, int Bytes, int MV, int NR> struct Body {
    using R = Real<T>;
    static constexpr int lanes = Bytes / sizeof(R);
    static constexpr int height = MV * lanes;
    static constexpr int parts = is_complex<T> ? 2 : 1;
    typedef R V __attribute__((vector_size(Bytes)));
    V sum[NR][parts][MV];

    [[gnu::always_inline]] static V load(const R* from) ///< any alignment
    {
        V v;
        __builtin_memcpy(&v, from, sizeof v);
        return v;
    }
    [[gnu::always_inline]] static void save(R* to, V v) { __builtin_memcpy(to, &v, sizeof v); }

    [[gnu::always_inline]] void clear()
    {
#pragma GCC unroll 64
        for (int j = 0; j < NR; ++j)
#pragma GCC unroll 2
            for (int q = 0; q < parts; ++q)
#pragma GCC unroll 8
                for (int i = 0; i < MV; ++i) sum[j][q][i] = V{};
    }

    /// sum <- sum +- a b for one column of the left and one row of the right panel.
    template <bool subtract> [[gnu::always_inline]] void update(const R* A, const R* B)
    {
        V a[parts][MV];
#pragma GCC unroll 2
        for (int q = 0; q < parts; ++q)
#pragma GCC unroll 8
            for (int i = 0; i < MV; ++i) {
                const V loaded = *reinterpret_cast<const V*>(A + q * height + i * lanes);
                a[q][i] = subtract ? -loaded : loaded;
            }
#pragma GCC unroll 64
        for (int j = 0; j < NR; ++j) {
            const V b = B[j * parts] - V{};
#pragma GCC unroll 2
            for (int q = 0; q < parts; ++q)
#pragma GCC unroll 8
                for (int i = 0; i < MV; ++i) sum[j][q][i] += a[q][i] * b;
            if constexpr (parts == 2) {
                const V imaginary = B[j * 2 + 1] - V{};
#pragma GCC unroll 8
                for (int i = 0; i < MV; ++i) {
                    sum[j][0][i] -= a[1][i] * imaginary;
                    sum[j][1][i] += a[0][i] * imaginary;
                }
            }
        }
    }

    [[gnu::always_inline]] static void prefetch(const T* C, Index rs, Index cs, Index cols)
    {
        if (rs != 1) return;
        for (Index j = 0; j < cols; ++j)
#pragma GCC unroll 8
            for (int i = 0; i < parts * MV; ++i) __builtin_prefetch(reinterpret_cast<const R*>(C + j * cs) + i * lanes, 1, 3);
    }

    static void multiply(Index k, const R* A, const R* B, T alpha, T beta, T* C, Index rs, Index cs, Index rows, Index cols)
    {
        Body body;
        body.clear();
        prefetch(C, rs, cs, cols);
#pragma GCC unroll 4
        for (Index p = 0; p < k; ++p) body.template update<false>(A + p * parts * height, B + p * parts * NR);
        if constexpr (parts == 1)
            if (rs == 1 && rows == height && cols == NR) return body.store(alpha, beta, C, cs);
        // A copy: the address of `body` must not get out, or the sums would live in memory and not in registers.
        alignas(64) R sums[NR * parts * height];
        body.spill(sums);
        scatter(sums, alpha, beta, C, rs, cs, rows, cols);
    }

    [[gnu::always_inline]] void spill(R* to) const
    {
#pragma GCC unroll 64
        for (int j = 0; j < NR; ++j)
#pragma GCC unroll 2
            for (int q = 0; q < parts; ++q)
#pragma GCC unroll 8
                for (int i = 0; i < MV; ++i) save(to + (j * parts + q) * height + i * lanes, sum[j][q][i]);
    }

    /// C <- alpha sum + beta C where C is a whole micro-tile with contiguous columns; real scalars.
    [[gnu::always_inline]] void store(R alpha, R beta, R* C, Index cs) const
    {
#pragma GCC unroll 64
        for (int j = 0; j < NR; ++j)
#pragma GCC unroll 8
            for (int i = 0; i < MV; ++i) {
                R* const c = C + j * cs + i * lanes;
                const V scaled = alpha * sum[j][0][i];
                save(c, beta == 0 ? scaled : beta == 1 ? load(c) + scaled : beta * load(c) + scaled);
            }
    }

    /// The same for any part of a micro-tile and any strides, element by element.
    [[gnu::noinline]] static void scatter(const R* re, T alpha, T beta, T* C, Index rs, Index cs, Index rows, Index cols)
    {
        for (Index j = 0; j < cols; ++j)
            for (Index i = 0; i < rows; ++i) {
                T& c = C[i * rs + j * cs];
                T product;
                if constexpr (parts == 1) product = alpha * re[j * height + i];
                else {
                    const R x = re[2 * j * height + i], y = re[(2 * j + 1) * height + i];
                    product = T(alpha.real() * x - alpha.imag() * y, alpha.real() * y + alpha.imag() * x);
                }
                if (beta == T(0)) c = product;
                else if constexpr (parts == 1) c = beta * c + product;
                else
                    c = T(beta.real() * c.real() - beta.imag() * c.imag() + product.real(),
                          beta.real() * c.imag() + beta.imag() * c.real() + product.imag());
            }
    }

    static void solve(Index k, R* X, const R* U, Index cols)
    {
        Body body;
        R* const own = X + k * parts * height;
        body.clear();
        for (Index j = 0; j < cols; ++j)
            for (int q = 0; q < parts; ++q)
                for (int i = 0; i < MV; ++i)
                    body.sum[j][q][i] = *reinterpret_cast<const V*>(own + (j * parts + q) * height + i * lanes);
        for (Index p = 0; p < k; ++p) body.template update<true>(X + p * parts * height, U + p * parts * NR);
        body.substitute(U + k * parts * NR, cols);
        for (Index j = 0; j < cols; ++j)
            for (int q = 0; q < parts; ++q)
                for (int i = 0; i < MV; ++i)
                    *reinterpret_cast<V*>(own + (j * parts + q) * height + i * lanes) = body.sum[j][q][i];
    }

    /// sum <- sum U^-1 with U's small triangle.
    void substitute(const R* U, Index cols)
    {
        for (Index j = 0; j < cols; ++j) {
            for (Index p = 0; p < j; ++p) subtract_column(j, p, U + (p * NR + j) * parts);
            scale_column(j, U + (j * NR + j) * parts);
        }
    }
    void subtract_column(Index j, Index p, const R* u)
    {
        for (int i = 0; i < MV; ++i) {
            sum[j][0][i] -= sum[p][0][i] * u[0];
            if constexpr (parts == 2) {
                sum[j][1][i] -= sum[p][1][i] * u[0];
                sum[j][0][i] += sum[p][1][i] * u[1];
                sum[j][1][i] -= sum[p][0][i] * u[1];
            }
        }
    }
    void scale_column(Index j, const R* u)
    {
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

/// The panel heights of one micro-kernel: 1 .. MV vectors.
template <Scalar T, int Bytes, int MV, int NR> struct Family {
    using R = Real<T>;
    static constexpr Index lanes = Bytes / sizeof(R);

    static void multiply(Index k, const R* A, Index height, const R* B, T alpha, T beta, T* C, Index rs, Index cs, Index rows,
                         Index cols)
    {
        if (MV == 1 || height == MV * lanes) return Body<T, Bytes, MV, NR>::multiply(k, A, B, alpha, beta, C, rs, cs, rows, cols);
        if constexpr (MV > 1) Family<T, Bytes, MV - 1, NR>::multiply(k, A, height, B, alpha, beta, C, rs, cs, rows, cols);
    }
    static void solve(Index k, R* X, Index height, const R* U, Index cols)
    {
        if (MV == 1 || height == MV * lanes) return Body<T, Bytes, MV, NR>::solve(k, X, U, cols);
        if constexpr (MV > 1) Family<T, Bytes, MV - 1, NR>::solve(k, X, height, U, cols);
    }
    static constexpr MicroKernel<T> entry() { return {MV * lanes, NR, lanes, multiply, solve}; }
};

} // namespace
} // namespace trencadis::blas
