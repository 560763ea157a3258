// How matrices come into the lanes of vectors and back, for one instruction set; internal linkage as in micro_kernel_body.hpp.
#pragma once
#include "blas/micro/lanes.hpp"

namespace trencadis::blas {
namespace {

/// Moves pieces of columns of all matrices: a complex column is one of twice as many real numbers, whose real and imaginary parts
/// thereby come apart by themselves.
template <Scalar T, int Bytes> struct LaneMoves {
    using L = Lanes<T, Bytes>;
    using R = typename L::R;
    static constexpr int width = L::width, parts = L::parts;
    R* matrix[width]; ///< written only where it is not null

    LaneMoves(T* A, Index stride, Index count)
    {
        for (int lane = 0; lane < width; ++lane)
            matrix[lane] = reinterpret_cast<R*>(A + (lane < count ? lane : count - 1) * stride);
    }

    /// Lane by lane: is this matrix to be written?
    template <class Wanted> void keep(const Wanted& wanted)
    {
        for (int lane = 0; lane < width; ++lane)
            if (!wanted(lane)) matrix[lane] = nullptr;
    }
    /// Elements (i .. i + rows, j) of matrices with leading dimension ld to or from `place`, where the next row is `rs` numbers
    /// further.
    template <bool write> void column(Index i, Index j, Index ld, Index rows, R* place, Index rs) const
    {
        pieces<write, width>((i + j * ld) * parts, rows * parts, place, rs);
    }

private:
    /// Pieces of `height` numbers, then the rest in smaller ones.
    template <bool write, int height> [[gnu::always_inline]] void pieces(Index offset, Index count, R* place, Index rs) const
    {
        for (; count >= height; count -= height, offset += height, place += height / parts * rs)
            piece<write, height>(offset, place, rs);
        if constexpr (height > parts) pieces<write, height / 2>(offset, count, place, rs);
    }
    /// Squares of `height` numbers of as many matrices.
    template <bool write, int height> [[gnu::always_inline]] void piece(Index offset, R* place, Index rs) const
    {
        using Vec = Vectors<R, height * sizeof(R)>;
#pragma GCC unroll 16
        for (int first = 0; first < width; first += height) {
            typename Vec::V square[height];
            if constexpr (!write) {
#pragma GCC unroll 16
                for (int k = 0; k < height; ++k) square[k] = Vec::load(matrix[first + k] + offset);
            } else {
#pragma GCC unroll 16
                for (int k = 0; k < height; ++k) square[k] = Vec::load(place + k / parts * rs + k % parts * width + first);
            }
            Vec::template transpose<1>(square);
            if constexpr (!write) {
#pragma GCC unroll 16
                for (int k = 0; k < height; ++k) Vec::save(place + k / parts * rs + k % parts * width + first, square[k]);
            } else {
#pragma GCC unroll 16
                for (int k = 0; k < height; ++k)
                    if (matrix[first + k]) Vec::save(matrix[first + k] + offset, square[k]);
            }
        }
    }
};

} // namespace
} // namespace trencadis::blas
