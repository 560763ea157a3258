#include "matrix/tile_owners.hpp"

#include <gtest/gtest.h>

#include <set>
#include <vector>

namespace trencadis {
namespace {

/// Messages of a Cholesky factorization of so many tiles: (k, k) to those that hold a tile below it, (i, k) to those that hold
/// one of row or column i of the rest.
int cholesky_messages(const TileOwners& owners, Index tiles)
{
    int messages = 0;
    for (Index k = 0; k < tiles; ++k)
        for (Index i = k; i < tiles; ++i) {
            std::set<int> needs;
            for (Index j = k + 1; j < tiles; ++j) needs.insert(i == k ? owners(j, k) : j <= i ? owners(i, j) : owners(j, i));
            needs.erase(owners(i, k));
            messages += int(needs.size());
        }
    return messages;
}

TEST(OwnersOfTiles, BeginWhereTheGridSays)
{
    const TileOwners owners{2, 3, 1, 2};
    EXPECT_EQ(owners(0, 0), 5);
    EXPECT_EQ(owners(1, 1), 0);
    EXPECT_EQ(owners(2, 1), 3);
}

TEST(OwnersOfTiles, ByPairsAreAllOfThemAndAlikeAboveAndBelowTheDiagonal)
{
    for (const std::int16_t r : {2, 3, 4, 7}) {
        TileOwners owners{r, 1};
        owners.rule = TileOwners::Rule::symmetric;
        std::vector<int> tiles(std::size_t(owners.processes()), 0);
        for (Index i = 0; i < 12 * r; ++i)
            for (Index j = 0; j <= i; ++j) {
                ASSERT_GE(owners(i, j), 0);
                ASSERT_LT(owners(i, j), owners.processes());
                EXPECT_EQ(owners(i, j), owners(j, i));
                ++tiles[std::size_t(owners(i, j))];
            }
        const double share = 12. * r * (12. * r + 1) / 2 / owners.processes();
        for (const int count : tiles) EXPECT_NEAR(count, share, 0.15 * share);
    }
}

TEST(OwnersOfTiles, ByPairsSendLessInCholesky)
{
    // 28 processes: of a tile of a panel 7 others have a part of its row or column by pairs of 8 (6 besides the owner), of a grid
    // 4 x 7 there are 4 + 7 - 2.
    TileOwners pairs{8, 1};
    pairs.rule = TileOwners::Rule::symmetric;
    const double ratio = cholesky_messages({4, 7}, 64) / double(cholesky_messages(pairs, 64));
    EXPECT_GT(ratio, 1.3);
    EXPECT_LT(ratio, 1.6);
}

TEST(OwnersOfTiles, MayBeGiven)
{
    const std::int16_t table[] = {0, 1, 2, 1, 0, 2};
    TileOwners owners;
    owners.rule = TileOwners::Rule::given;
    owners.table = table;
    owners.table_rows = 2;
    EXPECT_EQ(owners(1, 0), 1);
    EXPECT_EQ(owners(1, 2), 2);
}

} // namespace
} // namespace trencadis
