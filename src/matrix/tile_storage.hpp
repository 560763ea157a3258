#pragma once
#include "matrix/tile_matrix.hpp"

#include <cstddef>

namespace trencadis {

/// Memory for a matrix in tile layout: each tile contiguous, starting on a cache line; large pages are asked for. Contents are
/// undefined until written. Throws Error{out_of_memory}.
template <Scalar T> class TileStorage {
public:
    TileStorage(Index rows, Index cols, Index mb, Index nb);
    ~TileStorage();
    TileStorage(const TileStorage&) = delete;
    TileStorage& operator=(const TileStorage&) = delete;

    TileMatrix<T> matrix() const;

private:
    Index rows_, cols_, mb_, nb_, ld_, tile_elements_;
    std::size_t bytes_ = 0;
    T* data_ = nullptr;
};

} // namespace trencadis
