#pragma once
#include "base/types.hpp"
#include "matrix/ops.hpp"
#include "matrix/tile_owners.hpp"

#include <algorithm>
#include <cassert>
#include <cstdint>
#include <optional>

namespace trencadis {

/// A column-major matrix of somebody else's: element (i, j) is at data[i + j * ld].
template <Scalar T> struct MatrixView {
    T* data;
    Index rows, cols, ld;
};

/// What `outer` of `inner` of a stored matrix is, as one operation. Conjugation without transposition is not one: asking for it
/// is a mistake of ours. For real scalars the two transpositions are the same.
template <Scalar T> Op compose(Op outer, Op inner)
{
    if (!is_complex<T>) {
        const bool odd = (outer != Op::none) != (inner != Op::none);
        return odd ? Op::trans : Op::none;
    }
    if (outer == Op::none) return inner;
    if (inner == Op::none) return outer;
    assert(outer == inner && "conjugation without transposition");
    return Op::none;
}

/// One tile, rows x cols as the algorithm sees it. Where `op` is not none the memory holds the (conjugate) transpose; tile
/// operations turn that into flags for the kernels, so that an algorithm is written once for both triangles.
template <Scalar T> struct Tile {
    T* data;
    Index rows, cols, ld;
    Op op = Op::none;
    std::int16_t home = -1; ///< the memory node that it lies on, -1: not known
    std::int16_t owner = 0; ///< the process that holds it

    Index stored_rows() const { return op == Op::none ? rows : cols; }
    Index stored_cols() const { return op == Op::none ? cols : rows; }
    Tile with(Op outer) const
    {
        if (outer == Op::none) return *this;
        return {data, cols, rows, ld, compose<T>(outer, op), home, owner};
    }
};
template <Scalar T> Tile<T> trans(Tile<T> A) { return A.with(Op::trans); }
template <Scalar T> Tile<T> herm(Tile<T> A) { return A.with(Op::conj_trans); }

/// Where the tiles of a matrix lie that processes hold.
struct HeldMatrix {
    const void* data;
    Index row_tiles, col_tiles;
    Index column, row_stride, col_stride; ///< bytes from a column to the next, from a tile to the next in a column and in a row
    TileOwners owners;
    Index bytes; ///< of all: what lies behind a ragged last column is somebody else's

    struct At {
        Index i, j;
    };
    /// The tile that has the address; none: it is elsewhere.
    std::optional<At> tile_of(const void* address) const
    {
        const auto begin = reinterpret_cast<std::uintptr_t>(data), at = reinterpret_cast<std::uintptr_t>(address);
        if (at < begin || row_tiles == 0 || col_tiles == 0) return {};
        const Index offset = Index(at - begin), i = offset % col_stride % column / row_stride, j = offset / col_stride;
        if (offset >= bytes || i >= row_tiles || j >= col_tiles) return {};
        return At{i, j};
    }
    /// Who holds it.
    std::optional<std::int16_t> owner_of(const void* address) const
    {
        const std::optional<At> tile = tile_of(address);
        return tile ? std::optional(owners(tile->i, tile->j)) : std::nullopt;
    }
    /// Where the tile begins.
    const void* address_of(At tile) const { return static_cast<const char*>(data) + tile.i * row_stride + tile.j * col_stride; }
};

/// A matrix seen as a grid of tiles, at most mb x nb each, ragged at the end. The tiles lie in a column-major matrix in
/// place, or one after the other (TileStorage); both are an origin and two strides. Does not own memory; cheap to copy.
template <Scalar T> class TileMatrix {
public:
    TileMatrix(MatrixView<T> A, Index mb, Index nb)
        : data_(A.data), rows_(A.rows), cols_(A.cols), mb_(mb), nb_(nb), ld_(A.ld), row_stride_(mb), col_stride_(nb * A.ld)
    {
    }
    /// Tiles of leading dimension `ld`, `row_stride` and `col_stride` elements apart in the two directions.
    TileMatrix(MatrixView<T> A, Index mb, Index nb, Index row_stride, Index col_stride)
        : data_(A.data), rows_(A.rows), cols_(A.cols), mb_(mb), nb_(nb), ld_(A.ld), row_stride_(row_stride),
          col_stride_(col_stride)
    {
    }

    Index rows() const { return op_ == Op::none ? rows_ : cols_; }
    Index cols() const { return op_ == Op::none ? cols_ : rows_; }
    Index row_tiles() const { return op_ == Op::none ? count(rows_, mb_) : count(cols_, nb_); }
    Index col_tiles() const { return op_ == Op::none ? count(cols_, nb_) : count(rows_, mb_); }
    Index tiles() const { return row_tiles(); } ///< of a square matrix, in either direction
    Index first_row(Index i) const { return i * (op_ == Op::none ? mb_ : nb_); }

    Tile<T> operator()(Index i, Index j) const
    {
        if (op_ != Op::none) std::swap(i, j);
        const Tile<T> stored{data_ + i * row_stride_ + j * col_stride_,
                             std::min(mb_, rows_ - i * mb_),
                             std::min(nb_, cols_ - j * nb_),
                             ld_,
                             Op::none,
                             home_,
                             owners_(i, j)};
        return stored.with(op_);
    }
    /// Do the tiles lie in one column-major matrix? Then that is `whole`.
    bool in_place() const { return row_stride_ == mb_ && col_stride_ == nb_ * ld_; }
    Tile<T> whole() const { return Tile<T>{data_, rows_, cols_, ld_}.with(op_); }
    /// The same memory as the (conjugate) transpose of this matrix.
    TileMatrix with(Op outer) const
    {
        TileMatrix seen = *this;
        seen.op_ = compose<T>(outer, op_);
        return seen;
    }
    Op op() const { return op_; }
    /// The same matrix with tiles that the processes of a grid hold, in memory of a node.
    TileMatrix held_by(TileOwners owners, std::int16_t home = -1) const
    {
        TileMatrix held = *this;
        held.owners_ = owners;
        held.home_ = home;
        return held;
    }
    /// As it is stored.
    HeldMatrix held() const
    {
        constexpr Index bytes = sizeof(T);
        const Index column = in_place() ? ld_ : col_stride_; // tiles one after the other have no columns in common
        const Index all = in_place() ? std::max<Index>(cols_ - 1, 0) * ld_ + rows_ : count(cols_, nb_) * col_stride_;
        return {data_,   count(rows_, mb_), count(cols_, nb_), column * bytes, row_stride_ * bytes, col_stride_ * bytes,
                owners_, all * bytes};
    }

private:
    static Index count(Index size, Index block) { return size / block + (size % block != 0); }

    T* data_;
    Index rows_, cols_, mb_, nb_, ld_, row_stride_, col_stride_; // of the memory
    Op op_ = Op::none;
    std::int16_t home_ = -1;
    TileOwners owners_;
};
template <Scalar T> TileMatrix<T> trans(TileMatrix<T> A) { return A.with(Op::trans); }
template <Scalar T> TileMatrix<T> herm(TileMatrix<T> A) { return A.with(Op::conj_trans); }

} // namespace trencadis
