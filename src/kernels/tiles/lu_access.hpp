#pragma once
#include "kernels/tiles/lu_operations.hpp"
#include "kernels/tiles/tile_access.hpp"

namespace trencadis::task {

inline Datum datum(Pivots pivots) { return {pivots.data, pivots.count, 1, pivots.count, sizeof(Index)}; }
inline Access read(Pivots pivots) { return trencadis::read(datum(pivots)); }
inline Access write(Pivots pivots) { return trencadis::write(datum(pivots)); }

/// As large as its columns need.
template <Scalar T> Datum datum(Elimination<T> by)
{
    return Datum(by.data, double(by.columns) * double(sizeof(Index) + std::size_t(by.ib) * sizeof(T)));
}
template <Scalar T> Access read(Elimination<T> by) { return trencadis::read(datum(by)); }
template <Scalar T> Access write(Elimination<T> by) { return trencadis::write(datum(by)); }

} // namespace trencadis::task
