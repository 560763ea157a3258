#include "algorithms/tile_size.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace trencadis {
namespace {

constexpr std::size_t in_double = sizeof(double);

TEST(LuTile, IsWiderWhereMoreColumnsThanRowsAreUpdated)
{
    for (const Index m : {400, 600, 800}) {
        const Index square = packed_lu_tile(m, m, in_double, 2);
        EXPECT_EQ(packed_lu_tile(2 * m, m, in_double, 2), square) << "rows below change nothing";
        Index before = square;
        for (Index n = m; n < 4 * m; n += m / 4) {
            const Index nb = packed_lu_tile(m, n, in_double, 2);
            EXPECT_GE(nb, before) << m << " x " << n;
            EXPECT_LE(nb, std::max<Index>(square, 216)) << m << " x " << n;
            before = nb;
        }
        EXPECT_GE(before, square * 3 / 2) << m;
    }
}

TEST(LuTile, LeavesEveryWorkerTwoTilesBesideThePanel)
{
    for (const int workers : {2, 4, 8})
        for (Index n = 700; n < 2400; n += 100) {
            const Index nb = packed_lu_tile(600, n, in_double, workers);
            if (nb > packed_lu_tile(600, 600, in_double, workers)) {
                EXPECT_GE((n - 600) / nb, 2 * workers - 1) << n;
            }
        }
}

TEST(LuTile, OfMuchWiderThanHighIsAPanelOrTwoWithoutImages)
{
    for (const Index m : {100, 150, 300, 400, 512}) {
        EXPECT_TRUE(has_few_panels(m, 6 * m)) << m;
        EXPECT_FALSE(has_few_panels(m, 5 * m)) << m;
        EXPECT_GE(2 * packed_lu_tile(m, 10 * m, in_double, 2), m);
    }
    EXPECT_FALSE(has_few_panels(600, 6000));
}

TEST(LuTile, IsAWholePanelForOneWorkerWhoCutsItUp)
{
    for (const Index n : {600, 900, 1500, 2048}) {
        EXPECT_EQ(packed_lu_tile(n, 2 * n, in_double, 1), (n + 7) / 8 * 8);
        EXPECT_EQ(panel_lu_tile(2 * n, n, in_double, 1), packed_lu_tile(2 * n, n, in_double, 1));
    }
    EXPECT_EQ(packed_lu_tile(3000, 3000, in_double, 1), 1504) << "of larger ones equal parts";
    EXPECT_GT(lu_panel_cut(1504, 1).columns, 0);
}

} // namespace
} // namespace trencadis
