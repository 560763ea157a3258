// One micro-tile in registers, for one instruction set; internal linkage as in micro_kernel_body.hpp.
#pragma once
#include "base/scalar.hpp"
#include "blas/micro/micro_kernel.hpp"
#include "blas/micro/panel_moves.hpp"
#include "blas/micro/vectors.hpp"

namespace trencadis::blas {
namespace {

/// A panel of MV vectors times a panel of NR columns, in vectors `Bytes` wide.
template <Scalar T, int Bytes, int MV, int NR> struct Body {
    using R = Real<T>;
    using Vec = Vectors<R, Bytes>;
    using V = typename Vec::V;
    static constexpr int lanes = Vec::lanes;
    static constexpr int height = MV * lanes;
    static constexpr int parts = is_complex<T> ? 2 : 1;
    static constexpr int unroll = MV * NR * parts * parts > 16 ? 4 : 8; ///< columns between two looks at how many are left
    V sum[NR][parts][MV]; // in registers: its address must not get out, and every index is known when compiled

    [[gnu::always_inline]] void clear()
    {
#pragma GCC unroll 64
        for (int j = 0; j < NR; ++j)
#pragma GCC unroll 2
            for (int q = 0; q < parts; ++q)
#pragma GCC unroll 8
                for (int i = 0; i < MV; ++i) sum[j][q][i] = V{};
    }

    /// sum <- sum +- a b for one column of the left and one row of the right panel, in vectors [from, to) of the column.
    template <bool subtract, int from = 0, int to = MV> [[gnu::always_inline]] void update(const R* A, const R* B)
    {
        V a[parts][MV];
#pragma GCC unroll 2
        for (int q = 0; q < parts; ++q)
#pragma GCC unroll 8
            for (int i = from; i < to; ++i) a[q][i] = Vec::load(A + q * height + i * lanes);
#pragma GCC unroll 64
        for (int j = 0; j < NR; ++j) {
            const V b = Vec::spread(B[j * parts]);
#pragma GCC unroll 2
            for (int q = 0; q < parts; ++q)
#pragma GCC unroll 8
                for (int i = from; i < to; ++i) Vec::template add_product<subtract>(sum[j][q][i], a[q][i], b);
            if constexpr (parts == 2) {
                const V imaginary = Vec::spread(B[j * 2 + 1]);
#pragma GCC unroll 8
                for (int i = from; i < to; ++i) {
                    Vec::template add_product<!subtract>(sum[j][0][i], a[1][i], imaginary);
                    Vec::template add_product<subtract>(sum[j][1][i], a[0][i], imaginary);
                }
            }
        }
    }

    /// What comes into which cache while a panel is multiplied: as many lines of `next` as B's panel has into the first one, or
    /// one for each `unroll` columns into the second one, where more at once would hold up what is read of A; `both`: and one of
    /// what is needed later.
    enum class Fetch { none, all, some, both };
    static constexpr int line = 64 / sizeof(R), row = parts * NR;
    /// Numbers that come by `some` while k columns are multiplied.
    static constexpr Index some_of(Index k) { return k / unroll * line; }

    /// Panels, as far as they have not been multiplied, and what is to be fetched.
    struct Panels {
        Index left; ///< columns of A
        const R *A, *B, *next, *later = nullptr;
    };
    /// sum <- sum +- A B over k columns.
    template <bool subtract, Fetch fetch = Fetch::all>
    [[gnu::always_inline]] void accumulate(Index k, const R* A, const R* B, const R* next)
    {
        accumulate<subtract, fetch>(Panels{k, A, B, next});
    }
    template <bool subtract, Fetch fetch> [[gnu::always_inline]] void accumulate(Panels x)
    {
        while (x.left >= unroll) update_some<subtract, fetch>(x);
        for (; x.left > 0; --x.left, x.A += parts * height, x.B += row) update<subtract>(x.A, x.B);
    }
    /// The same while the columns of a tile of C come into the first cache, a few lines at a time: all at once would take the
    /// places of lines of A that are under way.
    template <bool subtract, Fetch fetch> [[gnu::always_inline]] void accumulate(Panels x, const T* C, Index cs, Index cols)
    {
        for (; cols > 0 && x.left >= unroll; --cols, C += cs) {
            prefetch_column(C);
            update_some<subtract, fetch>(x);
        }
        for (; cols > 0; --cols, C += cs) prefetch_column(C);
        accumulate<subtract, fetch>(x);
    }
    template <bool subtract, Fetch fetch> [[gnu::always_inline]] void update_some(Panels& x)
    {
        if constexpr (fetch == Fetch::some || fetch == Fetch::both) __builtin_prefetch(x.next, 0, 2);
        if constexpr (fetch == Fetch::both) {
            __builtin_prefetch(x.later, 0, 2);
            x.later += line;
        }
        if constexpr (fetch == Fetch::all)
#pragma GCC unroll 64
            for (int i = 0; i < unroll * row; i += line) __builtin_prefetch(x.next + i, 0, 3);
#pragma GCC unroll 8
        for (int u = 0; u < unroll; ++u) update<subtract>(x.A + u * parts * height, x.B + u * row);
        x.left -= unroll;
        x.A += unroll * parts * height;
        x.B += unroll * row;
        if constexpr (fetch != Fetch::none) x.next += fetch == Fetch::all ? unroll * row : line;
    }

    /// The same for columns of which vectors from number i on are not zero, one fewer for each vector's width of columns: where
    /// the diagonal of a lower triangle crosses A.
    template <int i = 0> [[gnu::always_inline]] void climb(Index k, const R* A, const R* B)
    {
        const Index steps = i + 1 < MV && k > lanes ? lanes : k;
        for (Index p = 0; p < steps; ++p) update<false, i, MV>(A + p * parts * height, B + p * parts * NR);
        if constexpr (i + 1 < MV) climb<i + 1>(k - steps, A + steps * parts * height, B + steps * parts * NR);
    }
    /// The same for the first vectors, up to number i and one more for each width: an upper triangle.
    template <int i = 0> [[gnu::always_inline]] void descend(Index k, const R* A, const R* B)
    {
        const Index steps = i + 1 < MV && k > lanes ? lanes : k;
        for (Index p = 0; p < steps; ++p) update<false, 0, i + 1>(A + p * parts * height, B + p * parts * NR);
        if constexpr (i + 1 < MV) descend<i + 1>(k - steps, A + steps * parts * height, B + steps * parts * NR);
    }

    /// A value that the compiler knows nothing of: it would keep what it makes of it in registers, of which there are too few.
    template <class X> [[gnu::always_inline]] static void hide(X& x) { asm volatile("" : "+r"(x)); }

    /// sum <- A B for operands where they lie, B by the pointers to its columns.
    template <bool contiguous, bool whole, Fetching fetching>
    [[gnu::always_inline]] void accumulate_in_place(const ProductInPlace<T>& x, const R* const (&column)[NR])
    {
        const Index k = x.k, a_step = x.a_step, b_rs = x.b_rs;
        const typename Vec::Some last = whole ? typename Vec::Some{} : Vec::some(x.rows - (MV - 1) * lanes);
        const auto step = [&](const R* a, Index at) __attribute__((always_inline))
        {
            V row[MV];
            if constexpr (fetching != Fetching::nothing)
#pragma GCC unroll 8
                for (int i = 0; i < height; i += line) {
                    __builtin_prefetch(a + height + i, 0, 2);
                    if constexpr (fetching == Fetching::everything) __builtin_prefetch(a + 8 * a_step + i, 0, 3);
                }
#pragma GCC unroll 8
            for (int i = 0; i < MV; ++i) row[i] = whole || i < MV - 1 ? Vec::load(a + i * lanes) : Vec::load(a + i * lanes, last);
#pragma GCC unroll 64
            for (int j = 0; j < NR; ++j) {
                const V b = Vec::spread(column[j][at]);
#pragma GCC unroll 8
                for (int i = 0; i < MV; ++i) Vec::template add_product<false>(sum[j][0][i], row[i], b);
            }
        };
        // Rows of B are fetched ahead where one instruction's addresses are not too far apart.
        constexpr int steps = contiguous ? unroll : 4;
        clear();
        const R *A = x.A, *const behind = A + k * a_step;
        Index at = 0;
        for (const R* const blocks = A + k % steps * a_step; A != blocks; A += a_step, at += contiguous ? 1 : b_rs) step(A, at);
        for (; A != behind; at += contiguous ? steps : 0) {
            hide(at);
#pragma GCC unroll 8
            for (int u = 0; u < steps; ++u, A += a_step, at += contiguous ? 0 : b_rs) {
                hide(A);
                step(A, contiguous ? at + u : at);
            }
        }
    }

    /// Of tiles for columns that are left over: a panel of one vector takes as long with fewer.
    static constexpr int narrowest = MV > 1 ? 2 : NR;
    template <bool contiguous, bool whole, Fetching fetching>
    static void narrower(const ProductInPlace<T>& product, Index cols, const R* B, T* C)
    {
        ProductInPlace<T> rest = product;
        rest.cols = cols, rest.B = B, rest.C = C;
        Body<T, Bytes, MV, NR / 2>::template multiply_where_it_lies<contiguous, whole, fetching>(rest);
    }
    template <bool contiguous, bool whole, Fetching fetching = Fetching::nothing>
    static void multiply_where_it_lies(const ProductInPlace<T>& product)
    {
        T* C = product.C;
        const R* column[NR];
#pragma GCC unroll 64
        for (int j = 0; j < NR; ++j) column[j] = product.B + j * product.b_cs;
        for (Index cols = product.cols; cols > 0; cols -= NR, C += NR * product.cs) {
            if constexpr (NR > narrowest)
                if (cols <= NR / 2) return narrower<contiguous, whole, fetching>(product, cols, column[0], C);
            const auto* x = &product; // read anew for each tile: one loop for all kinds of store, with all registers for the sums
            hide(x), hide(cols);
#pragma GCC unroll 64
            for (int j = 1; j < NR; ++j) column[j] = j < cols ? column[j] : column[j - 1]; // read again, and not stored
            prefetch(C, 1, x->cs, x->rows, cols < NR ? cols : NR);
            Body body;
            body.template accumulate_in_place<contiguous, whole, fetching>(*x, column);
            hide(x), hide(cols);
            body.store_compactly(x->alpha, x->beta, C, x->cs, x->rows, cols);
#pragma GCC unroll 64
            for (int j = 0; j < NR; ++j) column[j] += NR * x->b_cs;
        }
    }
    static void multiply_in_place(ProductInPlace<T> x)
    {
        for (; x.panels > 1; --x.panels, x.A += x.rows, x.C += x.rows) multiply_panel_in_place(x);
        multiply_panel_in_place(x);
    }
    static void multiply_panel_in_place(const ProductInPlace<T>& x)
    {
        const bool whole = x.rows == height || !Vec::reads_some;
        if (x.fetching == Fetching::rows && whole && x.b_rs == 1) return multiply_where_it_lies<true, true, Fetching::rows>(x);
        if (x.fetching == Fetching::everything && whole && x.b_rs == 1)
            return multiply_where_it_lies<true, true, Fetching::everything>(x);
        if (x.b_rs == 1) return whole ? multiply_where_it_lies<true, true>(x) : multiply_where_it_lies<true, false>(x);
        return whole ? multiply_where_it_lies<false, true>(x) : multiply_where_it_lies<false, false>(x);
    }

    [[gnu::always_inline]] static void prefetch_column(const T* C)
    {
#pragma GCC unroll 8
        for (int i = 0; i < parts * height; i += line) __builtin_prefetch(reinterpret_cast<const R*>(C) + i, 1, 3);
    }
    /// Brings the tile of C into the cache while the sums are computed.
    [[gnu::always_inline]] static void prefetch(const T* C, Index rs, Index cs, Index rows, Index cols)
    {
        if (rs == 1) {
            for (Index j = 0; j < cols; ++j) prefetch_column(C + j * cs);
        } else if (cs == 1) {
            for (Index i = 0; i < rows; ++i)
#pragma GCC unroll 8
                for (int j = 0; j < NR; j += 64 / int(sizeof(T))) __builtin_prefetch(C + i * rs + j, 1, 3);
        }
    }

    static void multiply(Index k, const R* A, const R* B, T alpha, T beta, T* C, Index rs, Index cs, Index rows, Index cols,
                         const R* next)
    {
        Body body;
        body.clear();
        prefetch(C, rs, cs, rows, cols);
        body.template accumulate<false>(k, A, B, next);
        if (rs == 1) return body.store(alpha, beta, C, cs, rows, cols);
        alignas(64) R sums[NR * parts * height]; // a copy: `body` must stay in registers
        body.spill(sums);
        if (cs == 1 && is(beta, 0)) return store_rows<Beta::zero>(sums, alpha, beta, C, rs, rows, cols);
        if (cs == 1) return store_rows<Beta::any>(sums, alpha, beta, C, rs, rows, cols);
        scatter(sums, alpha, beta, C, rs, cs, rows, cols);
    }

    static void multiply_stack(const StackProduct<T>& product)
    {
        if (!product.next) multiply_stack<Fetch::none>(product);
        else if (product.later) multiply_stack<Fetch::both>(product);
        else multiply_stack<Fetch::some>(product);
    }
    template <Fetch fetch> static void multiply_stack(const StackProduct<T>& product)
    {
        const R *A = product.A, *next = product.next, *later = product.later;
        T* C = product.C;
        for (Index left = product.panels; left > 0; --left, C += height) {
            const auto* x = &product; // read anew for each tile, as above
            hide(x), hide(left);
            Body body;
            body.clear();
            body.template accumulate<false, fetch>({x->k, A, x->B, next, later}, C, x->cs, x->cols);
            hide(x), hide(left);
            body.store_compactly(x->alpha, x->beta, C, x->cs, height, x->cols);
            A += x->step;
            if (fetch != Fetch::none && next + some_of(x->k) < x->next + x->k * row) next += some_of(x->k);
            if (fetch == Fetch::both) later += some_of(x->k);
        }
    }

    static void multiply_stairs(const StairProduct<T>& product)
    {
        const R* right = product.B;
        T* C = product.C;
        for (Index cols = product.cols; cols > 0; cols -= NR, C += NR * product.cs) {
            const auto* x = &product; // read anew for each tile, as above
            hide(x), hide(cols);
            prefetch(C, 1, x->cs, x->rows, cols < NR ? cols : NR);
            const Index before = x->lower ? x->k - x->stairs : 0, behind = x->lower ? x->k : x->stairs;
            const R *const A = x->A + before * parts * height, *const B = right + before * parts * NR;
            Body body;
            body.clear();
            if (x->lower) {
                body.template accumulate<false, Fetch::none>(before, x->A, right, nullptr);
                body.climb(x->stairs, A, B);
            } else {
                body.descend(x->stairs, A, B);
                body.template accumulate<false, Fetch::none>(x->k - behind, x->A + behind * parts * height,
                                                             right + behind * parts * NR, nullptr);
            }
            hide(x), hide(cols);
            body.store_compactly(x->alpha, x->beta, C, x->cs, x->rows, cols);
            right += x->b_step;
        }
    }

    [[gnu::always_inline]] void spill(R* to) const
    {
#pragma GCC unroll 64
        for (int j = 0; j < NR; ++j)
#pragma GCC unroll 2
            for (int q = 0; q < parts; ++q)
#pragma GCC unroll 8
                for (int i = 0; i < MV; ++i) Vec::save(to + (j * parts + q) * height + i * lanes, sum[j][q][i]);
    }

    enum class Beta { zero, one, any };

    /// C <- alpha sum + beta C, where the columns of C are contiguous.
    [[gnu::always_inline]] void store(T alpha, T beta, T* C, Index cs, Index rows, Index cols) const
    {
        if (is(beta, 1)) return store<Beta::one>(alpha, beta, C, cs, rows, cols);
        if (is(beta, 0)) return store<Beta::zero>(alpha, beta, C, cs, rows, cols);
        store<Beta::any>(alpha, beta, C, cs, rows, cols);
    }
    /// With fewer instructions: beta = 1 gives real numbers the same bits as were it any other, not complex ones, whose zeros and
    /// infinities meet its imaginary part.
    [[gnu::always_inline]] void store_compactly(T alpha, T beta, T* C, Index cs, Index rows, Index cols) const
    {
        if constexpr (parts == 2) store(alpha, beta, C, cs, rows, cols);
        else if (is(beta, 0)) store<Beta::zero>(alpha, beta, C, cs, rows, cols);
        else store<Beta::any>(alpha, beta, C, cs, rows, cols);
    }
    template <Beta kind> [[gnu::always_inline]] void store(T alpha, T beta, T* C, Index cs, Index rows, Index cols) const
    {
        if (rows == height) return store_columns<kind, true>(alpha, beta, C, cs, rows, cols);
        store_columns<kind, false>(alpha, beta, C, cs, rows, cols);
    }
    template <Beta kind, bool whole>
    [[gnu::always_inline]] void store_columns(T alpha, T beta, T* C, Index cs, Index rows, Index cols) const
    {
#pragma GCC unroll 64
        for (int j = 0; j < NR; ++j) {
            if (j >= cols) return;
#pragma GCC unroll 8
            for (int i = 0; i < MV; ++i) {
                R* const c = reinterpret_cast<R*>(C + j * cs + i * lanes);
                const Index count = whole ? lanes : rows - i * lanes;
                if constexpr (parts == 1) put<Vec, kind, whole>(c, re(alpha) * sum[j][0][i], beta, count);
                else {
                    const V x = Vec::fused(Vec::spread(re(alpha)), sum[j][0][i], -rounded(im(alpha) * sum[j][1][i]));
                    const V y = Vec::fused(Vec::spread(re(alpha)), sum[j][1][i], rounded(im(alpha) * sum[j][0][i]));
                    put<Vec, kind, whole>(c, Vec::interleave_low(x, y), beta, 2 * count);
                    put<Vec, kind, whole>(c + lanes, Vec::interleave_high(x, y), beta, 2 * count - lanes);
                }
            }
        }
    }
    /// The real and imaginary part without the members of std::complex.
    [[gnu::always_inline]] static R re(const T& x) { return reinterpret_cast<const R*>(&x)[0]; }
    [[gnu::always_inline]] static R im(const T& x) { return reinterpret_cast<const R*>(&x)[parts - 1]; }
    [[gnu::always_inline]] static bool is(const T& x, R value) { return re(x) == value && (parts == 1 || im(x) == 0); }

    /// c <- product + beta c for the first `count` numbers of a vector (whole: for all). The product with alpha is
    /// rounded, that with beta
    /// is not, wherever an element is stored: which of the ways to store it takes depends on how a call is cut up.
    template <class W, Beta kind, bool whole>
    [[gnu::always_inline]] static void put(R* c, typename W::V product, const T& beta, Index count)
    {
        product = rounded(product);
        if (whole || count >= W::lanes) {
            if constexpr (kind != Beta::zero) product = combine<W, kind>(product, W::load(c), beta);
            W::save(c, product);
        } else if (count > 0) {
            if constexpr (kind != Beta::zero) product = combine<W, kind>(product, W::load_some(c, count), beta);
            W::save_some(c, product, count);
        }
    }
    template <class W, Beta kind>
    [[gnu::always_inline]] static typename W::V combine(typename W::V product, typename W::V c, const T& beta)
    {
        if constexpr (kind == Beta::one) return c + product;
        else if constexpr (parts == 1) return W::fused(W::spread(re(beta)), c, product);
        else return W::fused(W::spread(re(beta)), c, W::fused(W::alternate(im(beta)), W::swap_pairs(c), product));
    }

    /// The same where the rows of C are contiguous, in squares that are transposed in registers.
    template <Beta kind>
    [[gnu::noinline]] static void store_rows(const R* sums, T alpha, T beta, T* C, Index rs, Index rows, Index cols)
    {
        using W = Vectors<R, dividing_bytes<T>(Bytes, NR)>;
        constexpr int N = W::lanes / parts;
        for (Index i = 0; i < rows; i += W::lanes)
            for (Index j = 0; j < cols; j += N) {
                typename W::V square[parts][N];
#pragma GCC unroll 16
                for (int c = 0; c < N; ++c) {
                    const R* const from = sums + (j + c) * parts * height + i;
                    const typename W::V x = W::load(from);
                    if constexpr (parts == 1) square[0][c] = re(alpha) * x;
                    else {
                        const typename W::V y = W::load(from + height);
                        const typename W::V real = W::fused(W::spread(re(alpha)), x, -rounded(im(alpha) * y)),
                                            imaginary = W::fused(W::spread(re(alpha)), y, rounded(im(alpha) * x));
                        square[0][c] = W::interleave_low(real, imaginary);
                        square[1][c] = W::interleave_high(real, imaginary);
                    }
                }
#pragma GCC unroll 2
                for (int q = 0; q < parts; ++q) {
                    W::template transpose<parts>(square[q]);
#pragma GCC unroll 16
                    for (int r = 0; r < N; ++r)
                        if (i + q * N + r < rows)
                            put<W, kind, false>(reinterpret_cast<R*>(C + (i + q * N + r) * rs + j), square[q][r], beta,
                                                (cols - j) * parts);
                }
            }
    }

    /// The same for any strides, element by element.
    [[gnu::noinline]] static void scatter(const R* sums, T alpha, T beta, T* C, Index rs, Index cs, Index rows, Index cols)
    {
        const R ar = re(alpha), ai = im(alpha), br = re(beta), bi = im(beta);
        const bool overwrite = is(beta, 0);
        for (Index i = 0; i < rows; ++i)
            for (Index j = 0; j < cols; ++j) {
                R* const c = reinterpret_cast<R*>(C + i * rs + j * cs);
                const R x = sums[parts * j * height + i];
                if constexpr (parts == 1) {
                    const R product = rounded(ar * x);
                    c[0] = overwrite ? product : br * c[0] + product;
                } else {
                    const R y = sums[(2 * j + 1) * height + i];
                    const R real = rounded(ar * x - rounded(ai * y)), imaginary = rounded(ar * y + rounded(ai * x));
                    const R first = c[0], second = c[1];
                    c[0] = overwrite ? real : br * first + rounded(real - bi * second);
                    c[1] = overwrite ? imaginary : br * second + rounded(imaginary + bi * first);
                }
            }
    }
};

} // namespace
} // namespace trencadis::blas
