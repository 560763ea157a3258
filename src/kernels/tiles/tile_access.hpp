#pragma once
#include "graph/access.hpp"
#include "matrix/tile_matrix.hpp"

namespace trencadis {

/// A tile as those see it who place and move data: as it is stored.
template <Scalar T> Datum datum(Tile<T> A)
{
    return Datum(A.data, A.stored_rows(), A.stored_cols(), A.ld, sizeof(T)).at_home(A.home).owned_by(A.owner);
}

template <Scalar T> Access read(Tile<T> A) { return read(datum(A)); }
template <Scalar T> Access write(Tile<T> A) { return write(datum(A)); }
template <Scalar T> Access readwrite(Tile<T> A) { return readwrite(datum(A)); }
template <Scalar T> Access concurrent_write(Tile<T> A) { return concurrent_write(datum(A)); }

} // namespace trencadis
