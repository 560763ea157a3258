#pragma once
#include "base/types.hpp"

#include <cstdint>
#include <utility>

namespace trencadis {

/// How many of n rows in blocks of nb one of `places` processes has that have them in turn, where number `first` has the first
/// block (ScaLAPACK's numroc); columns likewise.
constexpr Index local_extent(Index n, Index nb, int place, int first, int places)
{
    const Index blocks = n / nb, turn = (place - first + places) % places;
    const Index whole = blocks / places * nb, rest = blocks % places;
    return whole + (turn < rest ? nb : turn == rest ? n % nb : 0);
}

/// Which process holds a tile, by the rows and columns of tiles as they are stored. One process alone is the grid 1 x 1.
struct TileOwners {
    enum class Rule : std::uint8_t {
        /// Those of a grid in turn, row by row (ScaLAPACK's 2-D block-cyclic distribution).
        block_cyclic,
        /// Of r (r - 1) / 2 processes each has a pair of the numbers below r, and the tiles (i, j) with i and j of that pair
        /// modulo r; on the diagonal one of those that have i, in turn. A tile of a Cholesky panel goes to those that have
        /// its row alone, not to a row and a column of a grid: sqrt(2) less is sent. Beaumont, Duchon, Eyraud-Dubois, Langou,
        /// Verite 2022 (hal-03768910). grid_rows is r.
        symmetric,
        given, ///< by a table, column by column
    };

    std::int16_t grid_rows = 1, grid_cols = 1;
    /// Of block_cyclic: the row and column of the grid that have tile (0, 0) (ScaLAPACK's RSRC and CSRC).
    std::int16_t first_row = 0, first_col = 0;
    Rule rule = Rule::block_cyclic;
    Index table_rows = 0;                ///< of `given`: tiles of a column
    const std::int16_t* table = nullptr; ///< of `given`: must outlive this

    std::int16_t operator()(Index i, Index j) const
    {
        switch (rule) {
        case Rule::symmetric: return of_pair(i, j);
        case Rule::given: return table[i + j * table_rows];
        case Rule::block_cyclic: break;
        }
        return std::int16_t((i + first_row) % grid_rows * grid_cols + (j + first_col) % grid_cols);
    }
    /// How many processes take part, where all of them have a tile.
    int processes() const { return rule == Rule::symmetric ? grid_rows * (grid_rows - 1) / 2 : grid_rows * grid_cols; }

private:
    std::int16_t of_pair(Index i, Index j) const
    {
        const Index r = grid_rows;
        Index a = i % r, b = j % r;
        if (r < 2) return 0;
        if (a == b) b = (a + 1 + (i / r + j / r) / 2 % (r - 1)) % r; // in turn
        if (a < b) std::swap(a, b);
        return std::int16_t(a * (a - 1) / 2 + b);
    }
};

} // namespace trencadis
