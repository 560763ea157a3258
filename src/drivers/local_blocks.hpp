#pragma once
#include "drivers/distributed.hpp"

#include <initializer_list>

namespace trencadis {

/// A process's part of a matrix in blocks over a grid, as faces are given it: one column-major array.
struct LocalBlocks {
    Index rows, cols, mb, nb; ///< of the whole
    int grid_rows, grid_cols, first_row, first_col;
    const void* data;
    Index ld;
    int element; ///< bytes

    TileOwners owners() const
    {
        return {std::int16_t(grid_rows), std::int16_t(grid_cols), std::int16_t(first_row), std::int16_t(first_col)};
    }
    // Of process number `rank`.
    Index local_rows(int rank) const { return local_extent(rows, mb, rank / grid_cols, first_row, grid_rows); }
    Index local_cols(int rank) const { return local_extent(cols, nb, rank % grid_cols, first_col, grid_cols); }
    template <Scalar T> HeldTiles<T> held() const
    {
        return block_cyclic(rows, cols, mb, nb, owners(), static_cast<T*>(const_cast<void*>(data)), ld);
    }
};

/// Throws Error{bad_argument} with the argument's number unless the grid is of all processes of the crew, and the array has what
/// this one holds.
void require_local(Crew& crew, const LocalBlocks& A, int argument);
/// And where the result has memory in common with what it is computed from.
void require_apart(Crew& crew, const LocalBlocks& result, std::initializer_list<LocalBlocks> from, int argument);

} // namespace trencadis
