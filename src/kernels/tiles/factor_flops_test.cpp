#include "kernels/tiles/factor_flops.hpp"

#include <gtest/gtest.h>

namespace trencadis::kernel_flops {
namespace {

/// Buttari, Langou, Kurzak, Dongarra 2009, where a kernel has one inner block.
TEST(FactorFlops, AreThePublishedOnesWhenTheInnerBlockIsTheTile)
{
    constexpr Index b = 60;
    constexpr double cube = double(b) * b * b;
    EXPECT_DOUBLE_EQ(getrf(b, b), 2.0 / 3 * cube);
    EXPECT_DOUBLE_EQ(gessm(b, b), cube);
    EXPECT_DOUBLE_EQ(tstrf(b, b, b), cube);
    EXPECT_DOUBLE_EQ(ssssm(b, b, b, b), 3 * cube);
    EXPECT_DOUBLE_EQ(geqrt(b, b, b), 2 * cube);
    EXPECT_DOUBLE_EQ(unmqr(b, b, b, b), 3 * cube);
    EXPECT_DOUBLE_EQ(tsqrt(b, b, b), 10.0 / 3 * cube);
    EXPECT_DOUBLE_EQ(tsmqr(b, b, b, b), 5 * cube);
}

/// Bouwmeester, Jacquelin, Langou, Robert 2011: 2 and 6 in units of b^3 / 3, without what inner blocks add.
TEST(FactorFlops, OfTrianglesBelowTrianglesAreThePublishedOnes)
{
    constexpr Index b = 600;
    constexpr double cube = double(b) * b * b;
    EXPECT_NEAR(ttqrt(b, b, 1), 2.0 / 3 * cube, 2 * double(b) * b);
    EXPECT_NEAR(ttmqr(b, b, b, 1), 2 * cube, 2 * double(b) * b);
    EXPECT_DOUBLE_EQ(ttmqr(b, 30, b, 8) + ttmqr(b, 18, b, 8), ttmqr(b, 48, b, 8));
    // A short triangle is a tile of as many rows but for its own corner, which has half of the entries.
    EXPECT_NEAR(ttmqr(6, 10, b, 1), tsmqr(6, 10, b, 1), 2 * 6 * 6 * 10);
    EXPECT_NEAR(ttqrt(6, b, 1), tsqrt(6, b, 1), 0.02 * tsqrt(6, b, 1));
}

/// LAPACK Working Note 41, leading terms.
TEST(FactorFlops, OfPanelsAreLapacksForEitherShape)
{
    EXPECT_DOUBLE_EQ(getrf(10, 4), 10 * 16 - 64.0 / 3);
    EXPECT_DOUBLE_EQ(getrf(4, 10), 10 * 16 - 64.0 / 3);
    EXPECT_DOUBLE_EQ(geqrt(10, 4, 1), 2 * (10 * 16 - 64.0 / 3) + (10 + 9 + 8 + 7 - 4.0 / 3) + (3 + 2 + 1));
    EXPECT_DOUBLE_EQ(squared_blocks(10, 4), 16 + 16 + 4);
    EXPECT_DOUBLE_EQ(squared_blocks(3, 4), 9);
}

/// An update works on its columns one by one, a factorization does at least what a thinner inner block does.
TEST(FactorFlops, GrowWithTheInnerBlockAndAreAdditiveInColumns)
{
    for (const Index ib : {1, 7, 16, 48}) {
        EXPECT_DOUBLE_EQ(ssssm(48, 30, 48, ib) + ssssm(48, 18, 48, ib), ssssm(48, 48, 48, ib));
        EXPECT_DOUBLE_EQ(tsmqr(48, 30, 48, ib) + tsmqr(48, 18, 48, ib), tsmqr(48, 48, 48, ib));
        EXPECT_DOUBLE_EQ(unmqr(48, 30, 48, ib) + unmqr(48, 18, 48, ib), unmqr(48, 48, 48, ib));
        EXPECT_GE(ssssm(48, 48, 48, ib), ssssm(48, 48, 48, 1));
        EXPECT_GE(tsqrt(48, 48, ib), 2.0 * 48 * 48 * 48);
    }
}

} // namespace
} // namespace trencadis::kernel_flops
