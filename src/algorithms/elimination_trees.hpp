#pragma once
#include "base/types.hpp"

#include <string_view>
#include <vector>

/// In which order the rows of a column of tiles are eliminated, and by which: pure lists, on which the tasks of tile QR are
/// built.
namespace trencadis {

/// Tile (row, k) is made zero below or on top of the triangle in tile (by, k).
struct RowElimination {
    Index row, by;
    bool operator==(const RowElimination&) const = default;
};
/// For each column the eliminations of the rows below the diagonal, in an order in which they can be done one after the other.
using EliminationLists = std::vector<std::vector<RowElimination>>;

enum class Tree {
    flat,     ///< all by the row of the diagonal, from the top
    binary,   ///< pairs of rows at distance 1, 2, 4 and so on
    greedy,   ///< at each step as many as can be, in all columns, from the bottom (Cosnard, Muller, Robert 1986)
    fibonacci ///< groups of 1, 2, 3 and so on rows from the top; a column follows the one before by two steps (Modi, Clarke 1984)
};

/// Of a matrix of p x q tiles; min(p, q) lists. Bouwmeester, Jacquelin, Langou, Robert 2011.
EliminationLists elimination_lists(Tree tree, Index p, Index q);

} // namespace trencadis
