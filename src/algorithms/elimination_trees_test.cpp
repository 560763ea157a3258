#include "algorithms/elimination_trees.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <string>

namespace trencadis {
namespace {

using ::testing::ElementsAre;
using Times = std::vector<std::vector<Index>>; // [column][row]

constexpr Tree trees[] = {Tree::flat, Tree::binary, Tree::greedy, Tree::fibonacci};
Index at(const std::vector<Index>& values, Index i) { return values[std::size_t(i)]; }

TEST(EliminationTrees, EliminateEachRowBelowTheDiagonalOnceByOneThatIsStillThere)
{
    for (const Tree tree : trees)
        for (const Index p : {0, 1, 2, 3, 4, 7, 8, 9, 15, 16, 17, 40})
            for (const Index q : {0, 1, 2, 5, 15, 16, 20, 60}) {
                const EliminationLists lists = elimination_lists(tree, p, q);
                ASSERT_EQ(Index(lists.size()), std::min(p, q));
                for (Index k = 0; k < Index(lists.size()); ++k) {
                    std::vector<bool> there(std::size_t(p), true);
                    for (const RowElimination one : lists[std::size_t(k)]) {
                        ASSERT_LE(k, one.by);
                        ASSERT_LT(one.by, one.row);
                        ASSERT_LT(one.row, p);
                        ASSERT_TRUE(there[std::size_t(one.by)] && there[std::size_t(one.row)]) << one.row << " by " << one.by;
                        there[std::size_t(one.row)] = false;
                    }
                    for (Index i = k; i < p; ++i) ASSERT_EQ(there[std::size_t(i)], i == k) << "column " << k;
                }
            }
}

/// The step at which each row is eliminated, where a step is one elimination of a row by another, and a row takes part in one at
/// a time.
Times coarse_steps(Tree tree, Index p, Index q)
{
    std::vector<Index> busy(static_cast<std::size_t>(p)); // the last step of each row
    Times times;
    for (const std::vector<RowElimination>& list : elimination_lists(tree, p, q)) {
        std::vector<Index>& column = times.emplace_back(std::size_t(p));
        for (const RowElimination one : list) {
            Index &mine = busy[std::size_t(one.row)], &other = busy[std::size_t(one.by)];
            mine = other = column[std::size_t(one.row)] = 1 + std::max(mine, other);
        }
    }
    return times;
}
Index coarse_length(Tree tree, Index p, Index q)
{
    Index last = 0;
    for (const std::vector<Index>& column : coarse_steps(tree, p, q)) last = std::max(last, *std::ranges::max_element(column));
    return last;
}

/// Bouwmeester and others 2011, table 2: 15 x 6.
TEST(EliminationTrees, TakeThePublishedSteps)
{
    EXPECT_THAT(coarse_steps(Tree::fibonacci, 15, 6)[0], ElementsAre(0, 5, 4, 4, 3, 3, 3, 2, 2, 2, 2, 1, 1, 1, 1));
    EXPECT_THAT(coarse_steps(Tree::greedy, 15, 6)[0], ElementsAre(0, 4, 3, 3, 2, 2, 2, 2, 1, 1, 1, 1, 1, 1, 1));
    const Times flat = coarse_steps(Tree::flat, 15, 6);
    for (Index k = 0; k < 6; ++k)
        for (Index i = k + 1; i < 15; ++i) EXPECT_EQ(at(flat[std::size_t(k)], i), i + k);
    EXPECT_EQ(coarse_length(Tree::flat, 15, 6), 19);
    EXPECT_EQ(coarse_length(Tree::fibonacci, 15, 6), 15);
    EXPECT_EQ(coarse_length(Tree::greedy, 15, 6), 14);
}

/// Greedy is optimal where all eliminations take the same time (Cosnard, Muller, Robert 1986).
TEST(EliminationTrees, GreedyIsTheShortestInSteps)
{
    for (const Index p : {2, 5, 8, 15, 33, 64})
        for (const Index q : {1, 2, 3, 8, 15, 64})
            for (const Tree tree : trees)
                EXPECT_LE(coarse_length(Tree::greedy, p, q), coarse_length(tree, p, q)) << p << " x " << q << " " << int(tree);
    for (const Index p : {2, 5, 8, 15, 33, 64}) EXPECT_EQ(coarse_length(Tree::greedy, p, 1), std::ceil(std::log2(p)));
}

/// The longest path of tile QR with kernels on triangles, in b^3 / 3 flops: geqrt 4, unmqr 6, ttqrt 2, ttmqr 6. R and V of a tile
/// are apart.
Index tiled_length(Tree tree, Index p, Index q)
{
    std::vector<Index> ready(std::size_t(p * q)), triangle(static_cast<std::size_t>(p));
    const auto tile = [&](Index i, Index j) -> Index& { return ready[std::size_t(i + j * p)]; };
    Index last = 0;
    const EliminationLists lists = elimination_lists(tree, p, q);
    for (Index k = 0; k < Index(lists.size()); ++k) {
        for (Index i = k; i < p; ++i) {
            triangle[std::size_t(i)] = tile(i, k) + 4;
            for (Index j = k + 1; j < q; ++j) tile(i, j) = 6 + std::max(tile(i, j), at(triangle, i));
        }
        for (const RowElimination one : lists[std::size_t(k)]) {
            Index &mine = triangle[std::size_t(one.row)], &other = triangle[std::size_t(one.by)];
            mine = other = 2 + std::max(mine, other);
            for (Index j = k + 1; j < q; ++j)
                tile(one.row, j) = tile(one.by, j) = 6 + std::max({mine, tile(one.row, j), tile(one.by, j)});
        }
        last = std::max(last, *std::ranges::max_element(triangle));
    }
    return last;
}

/// Theorem 1 and the bounds of section 3 there.
TEST(EliminationTrees, HaveThePublishedLengthsWithTileKernels)
{
    for (const Index p : {2, 3, 8, 15, 40}) {
        EXPECT_EQ(tiled_length(Tree::flat, p, 1), 2 * p + 2);
        EXPECT_EQ(tiled_length(Tree::flat, p, p), 22 * p - 24);
        for (Index q = 2; q < p; ++q) EXPECT_EQ(tiled_length(Tree::flat, p, q), 6 * p + 16 * q - 22) << p << " x " << q;
        for (Index q = 1; q <= p; ++q) {
            EXPECT_LE(tiled_length(Tree::fibonacci, p, q), 22 * q + 6 * std::ceil(std::sqrt(2 * p)));
            EXPECT_LE(tiled_length(Tree::greedy, p, q), 22 * q + 6 * std::ceil(std::log2(p)));
        }
    }
    for (const Index p : {4, 8, 16, 32})
        for (Index q = 2; q < p; q *= 2)
            EXPECT_EQ(tiled_length(Tree::binary, p, q), (10 + 6 * Index(std::log2(p))) * q - 4 * Index(std::log2(p)) - 6);
    const auto lengths = [](Tree tree) {
        std::vector<Index> all;
        for (Index q = 1; q <= 6; ++q) all.push_back(tiled_length(tree, 40, q));
        return all;
    };
    EXPECT_THAT(lengths(Tree::greedy), ElementsAre(16, 54, 74, 104, 126, 148));
    EXPECT_THAT(lengths(Tree::fibonacci), ElementsAre(22, 72, 94, 116, 138, 160));
}

} // namespace
} // namespace trencadis
