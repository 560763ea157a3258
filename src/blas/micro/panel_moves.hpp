// Packing and unpacking of one panel by vectors, for one instruction set; internal linkage as in micro_kernel_body.hpp.
#pragma once
#include "blas/micro/micro_kernel.hpp"
#include "blas/micro/vectors.hpp"

namespace trencadis::blas {
namespace {

/// Moves between a matrix and a panel in squares of N x N elements. `across` is the matrix's stride from row to row of the panel
/// (within one of its columns), `along` the one from column to column; one of them is 1, or `along` -1 (other cases go element by
/// element).
template <Scalar T, int Bytes> struct PanelMoves {
    using R = Real<T>;
    using Vec = Vectors<R, Bytes>;
    using V = typename Vec::V;
    static constexpr int lanes = Vec::lanes;
    static constexpr int parts = is_complex<T> ? 2 : 1;
    static constexpr int N = lanes / parts;
    /// Columns of the matrix that are fetched into the cache before they are needed. Twice as many, where they lie 4 KiB apart,
    /// do not stay in a first cache of 12 ways until then.
    static constexpr Index ahead = 8;

    [[gnu::always_inline]] static const R* real(const T* x) { return reinterpret_cast<const R*>(x); }
    [[gnu::always_inline]] static R* real(T* x) { return reinterpret_cast<R*>(x); }

    /// v[p] <- elements (0 .. N, p) of the matrix, zeros from `rows` on; only `depth` columns are read.
    template <bool unit_along>
    [[gnu::always_inline]] static void read(const T* A, Index across, Index along, Index rows, Index depth, V (&v)[N])
    {
        const Index vectors = unit_along ? rows : depth, count = parts * (unit_along ? depth : rows);
        const Index stride = unit_along ? across : along;
        if (vectors >= N && count >= lanes) {
#pragma GCC unroll 16
            for (int r = 0; r < N; ++r) {
                v[r] = Vec::load(real(A + r * stride));
                if (!unit_along) __builtin_prefetch(A + (r + ahead) * stride, 0, 3);
            }
        } else {
#pragma GCC unroll 16
            for (int r = 0; r < N; ++r) v[r] = r < vectors && count > 0 ? Vec::load_some(real(A + r * stride), count) : V{};
        }
        if constexpr (unit_along) Vec::template transpose<parts>(v);
    }
    /// The way back.
    template <bool unit_along>
    [[gnu::always_inline]] static void write(T* A, Index across, Index along, Index rows, Index depth, V (&v)[N])
    {
        const Index vectors = unit_along ? rows : depth, count = parts * (unit_along ? depth : rows);
        const Index stride = unit_along ? across : along;
        if constexpr (unit_along) Vec::template transpose<parts>(v);
        if (vectors >= N && count >= lanes) {
#pragma GCC unroll 16
            for (int r = 0; r < N; ++r) Vec::save(real(A + r * stride), v[r]);
        } else {
#pragma GCC unroll 16
            for (int r = 0; r < N; ++r)
                if (r < vectors && count > 0) Vec::save_some(real(A + r * stride), v[r], count);
        }
    }

    /// Columns that are contiguous in the matrix too, `count` vectors high, whole; four at a time, with one fetch for each line.
    template <int count> static void copy_columns(const T* A, Index along, Index depth, R* image)
    {
        const auto copy = [&](Index p) __attribute__((always_inline))
        {
            const R *const from = real(A + p * along), *const later = real(A + (p + ahead) * along);
#pragma GCC unroll 16
            for (int i = 0; i < count; ++i) {
                *reinterpret_cast<V*>(image + (p * count + i) * lanes) = Vec::load(from + i * lanes);
                if (i * Bytes % 64 == 0) __builtin_prefetch(later + i * lanes, 0, 3);
            }
        };
        for (; depth >= 4; depth -= 4, A += 4 * along, image += 4 * count * lanes) {
#pragma GCC unroll 4
            for (int p = 0; p < 4; ++p) copy(p);
        }
        for (Index p = 0; p < depth; ++p) copy(p);
    }

    /// Real columns that are contiguous in the matrix backwards, whole.
    static void reverse_columns(const T* A, Index along, Index width, Index depth, R* image)
    {
        for (Index p = 0; p < depth; ++p, A += along)
            for (Index i = 0; i < width; i += lanes, image += lanes)
                *reinterpret_cast<V*>(image) = Vec::reversed(Vec::load(real(A) - i - (lanes - 1)));
    }

    /// The way back of real columns.
    template <int count> static void return_columns(const R* image, Index depth, T* A, Index along)
    {
        for (Index p = 0; p < depth; ++p, A += along, image += count * lanes)
#pragma GCC unroll 16
            for (int i = 0; i < count; ++i) Vec::save(real(A) + i * lanes, *reinterpret_cast<const V*>(image + i * lanes));
    }

    /// Real elements, or complex ones that stay pairs. Here and below: columns of the panel are `pitch` apart, which is less than
    /// 0 where they are written from the last to the first.
    template <bool unit_along, bool conjugated>
    static void pack_pairs(const T* A, Index across, Index along, Index rows, Index width, Index depth, R* image, Index pitch)
    {
        if constexpr (!unit_along && !conjugated)
            if (rows == width && width <= 4 * N && pitch > 0) {
                if (width == N) return copy_columns<1>(A, along, depth, image);
                if (width == 2 * N) return copy_columns<2>(A, along, depth, image);
                if (width == 3 * N) return copy_columns<3>(A, along, depth, image);
                if (width == 4 * N) return copy_columns<4>(A, along, depth, image);
            }
        if constexpr (unit_along)
            if (rows == width && depth % N == 0)
                return whole_squares(
                    width, depth, [&](Index i, Index p) __attribute__((always_inline)) {
                        V v[N];
                        const T* const from = A + i * across + p;
#pragma GCC unroll 16
                        for (int r = 0; r < N; ++r) v[r] = Vec::load(real(from + r * across));
                        Vec::template transpose<parts>(v);
                        R* const to = image + p * pitch + i * parts;
#pragma GCC unroll 16
                        for (int c = 0; c < N; ++c) save<conjugated>(to + c * pitch, v[c]);
                    });
        squares<unit_along, N>(
            width, depth, [&](Index i, Index p) __attribute__((always_inline)) {
                V v[N];
                read<unit_along>(A + i * across + p * along, across, along, rows - i, depth - p, v);
                R* to = image + p * pitch + i * parts;
                const int count = depth - p < N ? int(depth - p) : N;
                if (count == N) {
#pragma GCC unroll 16
                    for (int c = 0; c < N; ++c, to += pitch) save<conjugated>(to, v[c]);
                } else
                    for (int c = 0; c < N; ++c, to += pitch)
                        if (c < count) save<conjugated>(to, v[c]);
            });
    }
    template <bool conjugated> [[gnu::always_inline]] static void save(R* to, V v)
    {
        *reinterpret_cast<V*>(to) = conjugated ? Vec::negate_odd(v) : v;
    }
    /// Complex elements of two squares on top of each other become real parts and imaginary parts, `width` apart.
    template <bool unit_along, bool conjugated>
    static void pack_planes(const T* A, Index across, Index along, Index rows, Index width, Index depth, R* image, Index pitch)
    {
        squares<unit_along, 2 * N>(
            width, depth, [&](Index i, Index p) __attribute__((always_inline)) {
                V top[N], bottom[N];
                const T* const a = A + i * across + p * along;
                read<unit_along>(a, across, along, rows - i, depth - p, top);
                read<unit_along>(a + N * across, across, along, rows - i - N, depth - p, bottom);
#pragma GCC unroll 16
                for (int c = 0; c < N; ++c)
                    if (p + c < depth) {
                        R* const to = image + (p + c) * pitch + i;
                        const V imaginary = Vec::odd(top[c], bottom[c]);
                        *reinterpret_cast<V*>(to) = Vec::even(top[c], bottom[c]);
                        *reinterpret_cast<V*>(to + width) = conjugated ? -imaginary : imaginary;
                    }
            });
    }
    template <bool unit_along>
    static void unpack_real(const R* image, Index pitch, Index width, Index rows, Index depth, T* A, Index across, Index along)
    {
        if constexpr (!unit_along)
            if (rows == width && width <= 4 * N && pitch > 0) {
                if (width == N) return return_columns<1>(image, depth, A, along);
                if (width == 2 * N) return return_columns<2>(image, depth, A, along);
                if (width == 3 * N) return return_columns<3>(image, depth, A, along);
                if (width == 4 * N) return return_columns<4>(image, depth, A, along);
            }
        if constexpr (unit_along)
            if (rows == width && depth % N == 0)
                return whole_squares(
                    width, depth, [&](Index i, Index p) __attribute__((always_inline)) {
                        V v[N];
                        const R* const from = image + p * pitch + i;
#pragma GCC unroll 16
                        for (int c = 0; c < N; ++c) v[c] = *reinterpret_cast<const V*>(from + c * pitch);
                        Vec::template transpose<parts>(v);
#pragma GCC unroll 16
                        for (int r = 0; r < N; ++r) Vec::save(real(A + (i + r) * across + p), v[r]);
                    });
        squares<unit_along, N>(
            width, depth, [&](Index i, Index p) __attribute__((always_inline)) {
                V v[N];
#pragma GCC unroll 16
                for (int c = 0; c < N; ++c) v[c] = p + c < depth ? *reinterpret_cast<const V*>(image + (p + c) * pitch + i) : V{};
                write<unit_along>(A + i * across + p * along, across, along, rows - i, depth - p, v);
            });
    }
    template <bool unit_along>
    static void unpack_planes(const R* image, Index pitch, Index width, Index rows, Index depth, T* A, Index across, Index along)
    {
        squares<unit_along, 2 * N>(
            width, depth, [&](Index i, Index p) __attribute__((always_inline)) {
                V top[N], bottom[N];
#pragma GCC unroll 16
                for (int c = 0; c < N; ++c) {
                    const R* const from = image + (p + c) * pitch + i;
                    const V re = p + c < depth ? *reinterpret_cast<const V*>(from) : V{};
                    const V im = p + c < depth ? *reinterpret_cast<const V*>(from + width) : V{};
                    top[c] = Vec::interleave_low(re, im);
                    bottom[c] = Vec::interleave_high(re, im);
                }
                T* const a = A + i * across + p * along;
                write<unit_along>(a, across, along, rows - i, depth - p, top);
                write<unit_along>(a + N * across, across, along, rows - i - N, depth - p, bottom);
            });
    }
    template <class Square> [[gnu::always_inline]] static void whole_squares(Index width, Index depth, Square square)
    {
        for (Index i = 0; i < width; i += N)
            for (Index p = 0; p < depth; p += N) square(i, p);
    }
    /// The order in which the matrix lies in memory: few long streams along, or whole columns across.
    template <bool unit_along, int height, class Square>
    [[gnu::always_inline]] static void squares(Index width, Index depth, Square square)
    {
        if constexpr (unit_along) {
            for (Index i = 0; i < width; i += height)
                for (Index p = 0; p < depth; p += N) square(i, p);
        } else {
            for (Index p = 0; p < depth; p += N)
                for (Index i = 0; i < width; i += height) square(i, p);
        }
    }

    template <bool as_planes, bool conjugated>
    static void pack(const T* A, Index across, Index along, Index rows, Index width, Index depth, R* image)
    {
        Index pitch = parts * width;
        if (along == -1) turn(A, along, image, pitch, depth);
        if constexpr (as_planes) {
            if (across == 1) pack_planes<false, conjugated>(A, across, along, rows, width, depth, image, pitch);
            else pack_planes<true, conjugated>(A, across, along, rows, width, depth, image, pitch);
        } else {
            if (across == 1) pack_pairs<false, conjugated>(A, across, along, rows, width, depth, image, pitch);
            else pack_pairs<true, conjugated>(A, across, along, rows, width, depth, image, pitch);
        }
    }
    static void unpack(const R* image, Index width, Index rows, Index depth, T* A, Index across, Index along)
    {
        Index pitch = parts * width;
        if (along == -1) turn(A, along, image, pitch, depth);
        if constexpr (is_complex<T>) {
            if (across == 1) unpack_planes<false>(image, pitch, width, rows, depth, A, across, along);
            else unpack_planes<true>(image, pitch, width, rows, depth, A, across, along);
        } else {
            if (across == 1) unpack_real<false>(image, pitch, width, rows, depth, A, across, along);
            else unpack_real<true>(image, pitch, width, rows, depth, A, across, along);
        }
    }
    /// From the other end, where what lies along the panel's columns lies in memory backwards.
    template <class Element, class Number> static void turn(Element*& A, Index& along, Number*& image, Index& pitch, Index depth)
    {
        A += (depth - 1) * along;
        along = -along;
        image += (depth - 1) * pitch;
        pitch = -pitch;
    }
    template <bool as_planes>
    static void pack_elements(const T* A, Index across, Index along, bool conjugated, Index rows, Index width, Index depth,
                              R* image)
    {
        for (Index p = 0; p < depth; ++p, image += parts * width)
            for (Index i = 0; i < width; ++i) {
                const R* const x = real(A + i * across + p * along);
                const Index at = parts == 1 || as_planes ? i : 2 * i;
                image[at] = i < rows ? x[0] : 0;
                if constexpr (parts == 2) image[as_planes ? width + i : at + 1] = i >= rows ? 0 : conjugated ? -x[1] : x[1];
            }
    }
    static void unpack_elements(const R* image, Index width, Index rows, Index depth, T* A, Index across, Index along)
    {
        for (Index p = 0; p < depth; ++p, image += parts * width)
            for (Index i = 0; i < rows; ++i) {
                R* const x = real(A + i * across + p * along);
                x[0] = image[i];
                if constexpr (parts == 2) x[1] = image[width + i];
            }
    }
};

/// What MicroKernel names, for panels whose width is a whole number of vectors.
template <Scalar T, int Bytes, bool left>
void pack_panel(const T* A, Index across, Index along, bool conjugated, Index rows, Index width, Index depth, Real<T>* image)
{
    using Moves = PanelMoves<T, Bytes>;
    constexpr bool as_planes = left && is_complex<T>;
    if constexpr (!is_complex<T>)
        if (across == -1 && rows == width) return Moves::reverse_columns(A, along, width, depth, image);
    if (across != 1 && along != 1 && along != -1)
        return Moves::template pack_elements<as_planes>(A, across, along, conjugated, rows, width, depth, image);
    if constexpr (is_complex<T>)
        if (conjugated) return Moves::template pack<as_planes, true>(A, across, along, rows, width, depth, image);
    Moves::template pack<as_planes, false>(A, across, along, rows, width, depth, image);
}

template <Scalar T, int Bytes>
void unpack_panel(const Real<T>* image, Index width, Index rows, Index depth, T* A, Index across, Index along)
{
    using Moves = PanelMoves<T, Bytes>;
    if (across != 1 && along != 1 && along != -1) return Moves::unpack_elements(image, width, rows, depth, A, across, along);
    Moves::unpack(image, width, rows, depth, A, across, along);
}

/// MicroKernel::pack_triangle_block for vectors of one row.
template <class T, int Bytes> struct TriangleBlock {
    using Vec = Vectors<T, Bytes>;
    using V = typename Vec::V;
    static constexpr int N = Vec::lanes;

    /// Rows that are contiguous, forwards or backwards; row p from its diagonal on.
    template <int p, bool backwards> [[gnu::always_inline]] static void rows(const T* A, Index along, T* image)
    {
        if constexpr (p < N) {
            const T* const row = A + p * along;
            const V v = Vec::load_some(backwards ? row - (N - 1) : row + p, N - p);
            *reinterpret_cast<V*>(image + p * N) = backwards ? Vec::reversed(v) : Vec::template shifted<p>(v);
            rows<p + 1, backwards>(A, along, image);
        }
    }
    /// Columns that are: column i down to its diagonal.
    template <int i, bool backwards> [[gnu::always_inline]] static void columns(const T* A, Index across, V (&square)[N])
    {
        if constexpr (i < N) {
            const T* const column = A + i * across;
            const V v = Vec::load_some(backwards ? column - i : column, i + 1);
            square[i] = backwards ? Vec::template shifted<i + 1 - N>(Vec::reversed(v)) : v;
            columns<i + 1, backwards>(A, across, square);
        }
    }
    template <bool backwards> static void by_columns(const T* A, Index across, T* image)
    {
        V square[N];
        columns<0, backwards>(A, across, square);
        Vec::template transpose<1>(square);
#pragma GCC unroll 16
        for (int p = 0; p < N; ++p) *reinterpret_cast<V*>(image + p * N) = square[p];
    }
};
template <Scalar T, int Bytes> void pack_triangle_block(const T* A, Index across, Index along, T* image)
{
    using Block = TriangleBlock<T, Bytes>;
    if (across == 1) Block::template rows<0, false>(A, along, image);
    else if (across == -1) Block::template rows<0, true>(A, along, image);
    else if (along == 1) Block::template by_columns<false>(A, across, image);
    else Block::template by_columns<true>(A, across, image);
}

/// MicroKernel::all_finite: zero times either is a NaN, which a sum keeps.
template <Scalar T, int Bytes> bool all_finite(const Real<T>* image, Index count)
{
    using R = Real<T>;
    constexpr Index together = 4 * Bytes / Index(sizeof(R)); // sums that do not wait for one another
    R sums[together] = {};
    Index i = 0;
    for (; i + together <= count; i += together)
        for (Index s = 0; s < together; ++s) sums[s] += image[i + s] * 0;
    for (; i < count; ++i) sums[0] += image[i] * 0;
    R sum = 0;
    for (const R one : sums) sum += one;
    return sum == 0;
}

/// The widest vectors that `width` elements are a whole number of.
template <Scalar T> constexpr int dividing_bytes(int bytes, int width)
{
    while (width * int(sizeof(T)) % bytes != 0) bytes /= 2;
    return bytes;
}

} // namespace
} // namespace trencadis::blas
