#pragma once
#include "graph/access.hpp"
#include "matrix/tile_matrix.hpp"

namespace trencadis {

/// A task's access to one tile, with the bytes that would have to move to bring it elsewhere.
template <Scalar T> Bytes bytes_of(Tile<T> A) { return double(A.rows) * double(A.cols) * double(sizeof(T)); }

template <Scalar T> Access read(Tile<T> A) { return read(A.data, bytes_of(A)); }
template <Scalar T> Access write(Tile<T> A) { return write(A.data, bytes_of(A)); }
template <Scalar T> Access readwrite(Tile<T> A) { return readwrite(A.data, bytes_of(A)); }
template <Scalar T> Access concurrent_write(Tile<T> A) { return concurrent_write(A.data, bytes_of(A)); }

} // namespace trencadis
