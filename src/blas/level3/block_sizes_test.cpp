#include "blas/level3/block_sizes.hpp"

#include "base/error.hpp"
#include "base/same_sums.hpp"
#include "machine/machine.hpp"

#include <gtest/gtest.h>

#include <cstdlib>

namespace trencadis::blas {
namespace {

constexpr Index KiB = 1024, MiB = 1024 * KiB;

TEST(BlockSizes, FillHalfOfEachCache)
{
    for (const Index element : {4, 8, 16})
        for (const Index l1 : {32 * KiB, 48 * KiB, 64 * KiB, 128 * KiB}) {
            const CacheSizes caches{l1, 1 * MiB, 16 * MiB};
            const BlockSizes sizes = derive_block_sizes(24, 8, element, caches);
            EXPECT_LE(sizes.kc * 8 * element, l1 / 2);
            EXPECT_LE(sizes.mc * sizes.kc * element, caches.l2 / 2);
            EXPECT_GT((sizes.mc + 24) * sizes.kc * element, caches.l2 / 2);
            EXPECT_LE(sizes.kc * sizes.nc * element, caches.l3 / 2);
            EXPECT_EQ(sizes.mc % 24, 0);
            EXPECT_EQ(sizes.nc % 8, 0);
            EXPECT_EQ(sizes.kc % 8, 0);
        }
}

TEST(BlockSizes, HoldAtLeastOnePanelInTheSmallestCaches)
{
    EXPECT_EQ(derive_block_sizes(24, 8, 16, {1 * KiB, 2 * KiB, 4 * KiB}), (BlockSizes{64, 24, 8}));
    EXPECT_EQ(derive_block_sizes(24, 8, 8, {32 * KiB, 512 * KiB, 0}).nc, 4096) << "without a third cache";
}

Machine exynos()
{
    Machine machine;
    machine.kinds = {{"cortex-a7"}, {"cortex-a15"}};
    for (int i = 0; i < 8; ++i) {
        machine.cores.push_back({i, i / 4, 0});
        machine.caches.push_back({1, 32.0 * KiB, {i}});
    }
    machine.caches.push_back({2, 512.0 * KiB, {0, 1, 2, 3}});
    machine.caches.push_back({2, 2.0 * MiB, {4, 5, 6, 7}});
    return machine;
}

TEST(BlockSizes, GiveUnequalCoresTheirOwnMcAndOneSharedKc)
{
    const auto table = block_table(exynos(), 4, 4, 8);
    ASSERT_EQ(table.size(), 2u);
    EXPECT_EQ(table[0].kind, "cortex-a7");
    EXPECT_EQ(table[1].kind, "cortex-a15");
    EXPECT_EQ(table[0].cores, 4);
    EXPECT_EQ(table[0].sizes.kc, table[1].sizes.kc);
    // The published ones are 32 and 156 (one core of each kind): between three and five to one.
    EXPECT_GE(table[1].sizes.mc, 3 * table[0].sizes.mc);
    EXPECT_LE(table[1].sizes.mc, 5 * table[0].sizes.mc);
    EXPECT_GE(table[0].sizes.mc, 4);
}

TEST(BlockSizes, ShareTheSmallestKcWhereTheFirstCachesDiffer)
{
    Machine machine = exynos();
    for (int i = 4; i < 8; ++i) machine.caches[i].bytes = 64.0 * KiB;
    const auto table = block_table(machine, 8, 6, 8);
    EXPECT_EQ(table[1].sizes.kc, table[0].sizes.kc);
    EXPECT_EQ(table[0].sizes.kc, derive_block_sizes(8, 6, 8, table[0].caches).kc);
}

TEST(BlockSizes, HaveTheDepthOfASmallFirstCacheOnEveryMachineWhereSumsAreToBeTheSame)
{
    for (const Index l1 : {16 * KiB, 32 * KiB, 48 * KiB, 64 * KiB, 128 * KiB})
        for (const Index element : {4, 8, 16}) {
            Machine machine = exynos();
            for (int i = 0; i < 8; ++i) machine.caches[i].bytes = double(l1);
            const auto table = block_table(machine, 24, 8, element, true);
            for (const KindBlocks& row : table) {
                EXPECT_EQ(row.sizes.kc, derive_block_sizes(24, 8, element, {}).kc) << l1 << ' ' << element;
                EXPECT_LE(row.sizes.mc * row.sizes.kc * element, row.caches.l2) << "the second cache is still this one's";
            }
        }
}

TEST(BlockSizes, AreOfTheCachesAgainWhereSumsNeedNotBeTheSameAnyMore)
{
    if (std::getenv("TRENCADIS_REPRODUCIBLE")) GTEST_SKIP() << "TRENCADIS_REPRODUCIBLE is set";
    const auto& kernel = instruction_set().micro_kernel<double>();
    const BlockSizes before = block_sizes<double>();
    {
        const SameSums same(true);
        EXPECT_EQ(block_sizes<double>().kc, derive_block_sizes(kernel.mr, kernel.nr, sizeof(double), {}).kc);
        const SameSums other(false);
        EXPECT_EQ(block_sizes<double>(), before);
    }
    EXPECT_EQ(block_sizes<double>(), before);
}

TEST(BlockSizes, AreReadFromTextInWholePanels)
{
    EXPECT_EQ(parse_block_sizes("7,50,17", 24, 8), (BlockSizes{7, 48, 16}));
    EXPECT_EQ(parse_block_sizes("1,1,1", 24, 8), (BlockSizes{1, 24, 8}));
    for (const char* text :
         {"", "7", "7,8", "7,8,", "7,8,9,", "7,8,9x", "a,b,c", "0,8,9", "-1,8,9", "7,,9", "7 8 9", "99999999999999999999,8,9"})
        try {
            parse_block_sizes(text, 24, 8);
            ADD_FAILURE() << "'" << text << "' was taken";
        } catch (const Error& error) {
            EXPECT_EQ(error.code(), ErrorCode::bad_argument);
            EXPECT_NE(std::string(error.what()).find("'" + std::string(text) + "'"), std::string::npos) << error.what();
        }
}

TEST(BlockSizes, OfThisMachineAreKnownForEveryCpuNumber)
{
    if (std::getenv("TRENCADIS_BLOCKS")) GTEST_SKIP() << "TRENCADIS_BLOCKS overrides them";
    const auto& kernel = instruction_set().micro_kernel<double>();
    for (const int cpu : {-1, 0, 1, 4095}) {
        const BlockSizes& sizes = block_sizes<double>(cpu);
        EXPECT_GE(sizes.kc, 64);
        EXPECT_EQ(sizes.mc % kernel.mr, 0);
        EXPECT_EQ(sizes.nc % kernel.nr, 0);
    }
}

} // namespace
} // namespace trencadis::blas
