// Matrices side by side in the lanes of vectors, for one instruction set; internal linkage as in micro_kernel_body.hpp.
#pragma once
#include "blas/micro/lane_kernels.hpp"
#include "blas/micro/vectors.hpp"

namespace trencadis::blas {
namespace {

/// Where the vectors of an interleaved matrix lie: element (i, j) of all matrices begins at data + i * rs + j * cs, first the
/// real parts, then the imaginary ones. Strides in real numbers.
template <class R> struct Grid {
    R* data;
    Index rs, cs;
    [[gnu::always_inline]] Grid at(Index i, Index j) const { return {data + i * rs + j * cs, rs, cs}; }
    [[gnu::always_inline]] Grid transposed() const { return {data, cs, rs}; }
};

/// The factor of a product that is conjugated.
enum class Conjugate { none, left, right };
/// What a row is divided by when a triangle is solved: nothing, a real number with an inverse, any number.
enum class Pivot { unit, real, general };

/// Arithmetic in all lanes at once.
template <Scalar T, int Bytes> struct Lanes {
    using R = Real<T>;
    using Vec = Vectors<R, Bytes>;
    using V = typename Vec::V;
    using I = decltype(V{} < V{}); ///< as many integers as wide as R
    static constexpr int width = Vec::lanes, parts = is_complex<T> ? 2 : 1;
    static constexpr Index step = width * parts; ///< real numbers of one element
    struct Number {
        V part[parts];
    };

    [[gnu::always_inline]] static V absolute(V v)
    {
        return reinterpret_cast<V>(reinterpret_cast<I>(v) & ~reinterpret_cast<I>(-V{}));
    }
    /// |x|, complex: |re| + |im|.
    [[gnu::always_inline]] static V modulus(const Number& x)
    {
        if constexpr (parts == 1) return absolute(x.part[0]);
        else return absolute(x.part[0]) + absolute(x.part[1]);
    }
    [[gnu::always_inline]] static Number load(const R* from)
    {
        Number x;
#pragma GCC unroll 2
        for (int q = 0; q < parts; ++q) x.part[q] = *reinterpret_cast<const V*>(from + q * width);
        return x;
    }
    [[gnu::always_inline]] static void save(R* to, const Number& x)
    {
#pragma GCC unroll 2
        for (int q = 0; q < parts; ++q) *reinterpret_cast<V*>(to + q * width) = x.part[q];
    }
    /// sum <- sum - x y. One product at a time, so that there is one way only to round it.
    template <Conjugate kind> [[gnu::always_inline]] static void subtract(Number& sum, const Number& x, const Number& y)
    {
        sum.part[0] -= x.part[0] * y.part[0];
        if constexpr (parts == 2) {
            if constexpr (kind == Conjugate::none) sum.part[0] += x.part[1] * y.part[1];
            else sum.part[0] -= x.part[1] * y.part[1];
            if constexpr (kind == Conjugate::left) sum.part[1] += x.part[1] * y.part[0];
            else sum.part[1] -= x.part[1] * y.part[0];
            if constexpr (kind == Conjugate::right) sum.part[1] += x.part[0] * y.part[1];
            else sum.part[1] -= x.part[0] * y.part[1];
        }
    }
    [[gnu::always_inline]] static Number times(const Number& x, V factor)
    {
        Number product;
#pragma GCC unroll 2
        for (int q = 0; q < parts; ++q) product.part[q] = x.part[q] * factor;
        return product;
    }
    [[gnu::always_inline]] static Number times(const Number& x, const Number& y)
    {
        if constexpr (parts == 1) return {{x.part[0] * y.part[0]}};
        else {
            Number product = times(x, y.part[0]);
            product.part[0] -= x.part[1] * y.part[1];
            product.part[1] += x.part[0] * y.part[1];
            return product;
        }
    }
    [[gnu::always_inline]] static Number choose(I which, const Number& x, const Number& y)
    {
        Number chosen;
#pragma GCC unroll 2
        for (int q = 0; q < parts; ++q) chosen.part[q] = which ? x.part[q] : y.part[q];
        return chosen;
    }

    /// What a number is divided by, as Fortran's compilers divide complex ones (Smith 1962): the part that is larger in modulus
    /// first, so that nothing overflows which need not.
    struct Divisor {
        V whole, ratio;
        I real_first;

        [[gnu::always_inline]] explicit Divisor(const Number& x)
        {
            if constexpr (parts == 1) whole = x.part[0];
            else {
                real_first = absolute(x.part[0]) >= absolute(x.part[1]);
                const V large = real_first ? x.part[0] : x.part[1], small = real_first ? x.part[1] : x.part[0];
                ratio = small / large;
                whole = large + small * ratio;
            }
        }
        [[gnu::always_inline]] Number divide(const Number& x) const
        {
            if constexpr (parts == 1) return {{x.part[0] / whole}};
            else {
                const V p = real_first ? x.part[0] : x.part[1], q = real_first ? x.part[1] : x.part[0];
                const V re = p + q * ratio, im = q - p * ratio;
                return {{re / whole, (real_first ? im : -im) / whole}};
            }
        }
        [[gnu::always_inline]] Number inverse() const
        {
            if constexpr (parts == 1) return {{1 / whole}};
            else {
                const V one = 1 / whole, other = ratio / whole;
                return {{real_first ? one : other, real_first ? -other : -one}};
            }
        }
    };

    /// One of the matrices, in one of the parts of an element.
    [[gnu::always_inline]] static R& number(const Grid<R>& grid, Index i, Index j, int part, Index lane)
    {
        return grid.data[i * grid.rs + j * grid.cs + part * width + lane];
    }
    static void clear(const Grid<R>& grid, Index m, Index n, Index lane)
    {
        for (Index j = 0; j < n; ++j)
            for (Index i = 0; i < m; ++i)
                for (int q = 0; q < parts; ++q) number(grid, i, j, q, lane) = 0;
    }
    /// The matrix of one lane becomes the identity, with which nothing overflows or is no number.
    static void set_identity(const Grid<R>& grid, Index n, Index lane)
    {
        clear(grid, n, n, lane);
        for (Index j = 0; j < n; ++j) number(grid, j, j, 0, lane) = 1;
    }
};

/// M x N elements in registers.
template <Scalar T, int Bytes, int M, int N> struct LaneBlock {
    using L = Lanes<T, Bytes>;
    using R = typename L::R;
    using V = typename L::V;
    using Number = typename L::Number;
    Number sum[M][N];

    /// `lower`, here and below: only elements on and below the diagonal.
    template <bool lower = false> [[gnu::always_inline]] void load(const Grid<R>& from)
    {
#pragma GCC unroll 8
        for (int j = 0; j < N; ++j)
#pragma GCC unroll 8
            for (int i = lower ? j : 0; i < M; ++i) sum[i][j] = L::load(from.data + i * from.rs + j * from.cs);
    }
    template <bool lower = false> [[gnu::always_inline]] void save(const Grid<R>& to) const
    {
#pragma GCC unroll 8
        for (int j = 0; j < N; ++j)
#pragma GCC unroll 8
            for (int i = lower ? j : 0; i < M; ++i) L::save(to.data + i * to.rs + j * to.cs, sum[i][j]);
    }
    /// sum <- sum - X Y, X M x k, Y k x N.
    template <Conjugate kind, bool lower = false>
    [[gnu::always_inline]] void subtract(Index k, const Grid<R>& X, const Grid<R>& Y)
    {
        const R *x = X.data, *y = Y.data;
        for (Index p = 0; p < k; ++p, x += X.cs, y += Y.rs) {
            Number column[M];
#pragma GCC unroll 8
            for (int i = 0; i < M; ++i) column[i] = L::load(x + i * X.rs);
#pragma GCC unroll 8
            for (int j = 0; j < N; ++j) {
                const Number entry = L::load(y + j * Y.cs);
#pragma GCC unroll 8
                for (int i = lower ? j : 0; i < M; ++i) L::template subtract<kind>(sum[i][j], column[i], entry);
            }
        }
    }
    /// sum <- op(X)^-1 sum, X an M x M triangle: from the first row down, or from the last row up.
    template <bool upwards, Conjugate kind, Pivot pivot> [[gnu::always_inline]] void substitute(const Grid<R>& X)
    {
#pragma GCC unroll 8
        for (int s = 0; s < M; ++s) {
            const int p = upwards ? M - 1 - s : s;
            divide<pivot>(p, X.data + p * (X.rs + X.cs));
#pragma GCC unroll 8
            for (int t = s + 1; t < M; ++t) {
                const int i = upwards ? M - 1 - t : t;
                const Number factor = L::load(X.data + i * X.rs + p * X.cs);
#pragma GCC unroll 8
                for (int j = 0; j < N; ++j) L::template subtract<kind>(sum[i][j], factor, sum[p][j]);
            }
        }
    }
    template <Pivot pivot> [[gnu::always_inline]] void divide(int row, const R* by)
    {
        if constexpr (pivot == Pivot::real) {
            const V inverse = 1 / L::load(by).part[0];
#pragma GCC unroll 8
            for (int j = 0; j < N; ++j) sum[row][j] = L::times(sum[row][j], inverse);
        } else if constexpr (pivot == Pivot::general) {
            const typename L::Divisor divisor(L::load(by));
#pragma GCC unroll 8
            for (int j = 0; j < N; ++j) sum[row][j] = divisor.divide(sum[row][j]);
        }
    }
};

/// C <- op(X)^-1 C in blocks of M x N, X an n x n triangle: op(X) is lower where rows are solved downwards, else upper.
template <Scalar T, int Bytes, int M, int N, bool upwards, Conjugate kind, Pivot pivot> struct LaneSolve {
    using Plane = Grid<Real<T>>;

    template <int rows, int cols> static void block(Index i, Index n, const Plane& X, const Plane& C)
    {
        LaneBlock<T, Bytes, rows, cols> block;
        const Index first = upwards ? i + rows : 0, k = upwards ? n - first : i;
        block.load(C.at(i, 0));
        block.template subtract<kind>(k, X.at(i, first), C.at(first, 0));
        block.template substitute<upwards, kind, pivot>(X.at(i, i));
        block.save(C.at(i, 0));
    }
    template <int cols> static void strip(Index n, const Plane& X, const Plane& C)
    {
        Index done = 0;
        for (; done + M <= n; done += M) block<M, cols>(upwards ? n - M - done : done, n, X, C);
        for (; done < n; ++done) block<1, cols>(upwards ? n - 1 - done : done, n, X, C);
    }
    static void columns(Index n, Index count, const Plane& X, const Plane& C)
    {
        Index j = 0;
        for (; j + N <= count; j += N) strip<N>(n, X, C.at(0, j));
        for (; j < count; ++j) strip<1>(n, X, C.at(0, j));
    }
};

} // namespace
} // namespace trencadis::blas
