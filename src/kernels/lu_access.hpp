#pragma once
#include "kernels/lu_operations.hpp"
#include "kernels/tile_access.hpp"

namespace trencadis::task {

inline Bytes bytes_of(Pivots pivots) { return double(pivots.count) * double(sizeof(Index)); }
inline Access read(Pivots pivots) { return trencadis::read(pivots.data, bytes_of(pivots)); }
inline Access write(Pivots pivots) { return trencadis::write(pivots.data, bytes_of(pivots)); }

template <Scalar T> Bytes bytes_of(Elimination<T> by) { return bytes_of(by.L) + bytes_of(by.pivots); }
template <Scalar T> Access read(Elimination<T> by) { return trencadis::read(by.L.data, bytes_of(by)); }
template <Scalar T> Access write(Elimination<T> by) { return trencadis::write(by.L.data, bytes_of(by)); }

} // namespace trencadis::task
