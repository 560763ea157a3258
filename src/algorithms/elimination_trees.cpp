#include "algorithms/elimination_trees.hpp"

#include <algorithm>

namespace trencadis {
namespace {

using List = std::vector<RowElimination>;

List flat(Index k, Index p)
{
    List list;
    for (Index i = k + 1; i < p; ++i) list.push_back({i, k});
    return list;
}

List binary(Index k, Index p)
{
    List list;
    for (Index stride = 1; stride < p - k; stride *= 2)
        for (Index i = k; i + stride < p; i += 2 * stride) list.push_back({i + stride, i});
    return list;
}

/// Rows [first, first + count) go at once, each by the one `count` above it.
void add_group(List& list, Index first, Index count)
{
    for (Index i = first; i < first + count; ++i) list.push_back({i, i - count});
}

/// The first column; each of the others is the one before, a row further down.
List fibonacci(Index p)
{
    std::vector<Index> begins; // of the groups of 1, 2, 3, ... rows below the first
    for (Index begin = 1, size = 1; begin < p; begin += size++) begins.push_back(begin);
    List list;
    for (Index end = p; !begins.empty(); begins.pop_back()) {
        add_group(list, begins.back(), end - begins.back());
        end = begins.back();
    }
    return list;
}
EliminationLists fibonacci(Index p, Index steps)
{
    const List first = fibonacci(p);
    EliminationLists lists;
    for (Index k = 0; k < steps; ++k) {
        List& list = lists.emplace_back();
        for (const RowElimination& one : first)
            if (one.row + k < p) list.push_back({one.row + k, one.by + k});
    }
    return lists;
}

/// gone[k]: rows that are zero in column k - 1 already, the lowest ones; gone[0]: all rows are there from the beginning. In a
/// step a column's rows that are ready for it pair off, the upper half eliminating the lower one.
EliminationLists greedy(Index p, Index steps)
{
    EliminationLists lists(static_cast<std::size_t>(steps));
    std::vector<Index> gone(std::size_t(steps + 1));
    gone[0] = p;
    for (bool progress = true; progress;) {
        progress = false;
        for (Index k = steps; k >= 1; --k) { // from the right: a step sees what the one before has left
            const Index count = (gone[std::size_t(k - 1)] - gone[std::size_t(k)]) / 2;
            add_group(lists[std::size_t(k - 1)], p - gone[std::size_t(k)] - count, count);
            gone[std::size_t(k)] += count;
            progress = progress || count > 0;
        }
    }
    return lists;
}

} // namespace

EliminationLists elimination_lists(Tree tree, Index p, Index q)
{
    const Index steps = std::min(p, q);
    if (tree == Tree::greedy) return greedy(p, steps);
    if (tree == Tree::fibonacci) return fibonacci(p, steps);
    EliminationLists lists;
    for (Index k = 0; k < steps; ++k) lists.push_back(tree == Tree::flat ? flat(k, p) : binary(k, p));
    return lists;
}

} // namespace trencadis
