#include "observe/overlap.hpp"

#include <gtest/gtest.h>

#include <array>
#include <random>

namespace trencadis {
namespace {

TEST(Overlap, CountsWhatACopyAndAKernelShareOnce)
{
    Overlap overlap;
    overlap.add(Overlap::in, 0, 100);
    overlap.add(Overlap::out, 50, 150);
    overlap.add(Overlap::kernels, 80, 200); // with the one, both and the other copy
    overlap.add(Overlap::in, 180, 250);
    EXPECT_NEAR(overlap.copies(), 220e-9, 1e-15);
    EXPECT_NEAR(overlap.computing(), 120e-9, 1e-15);
    EXPECT_NEAR(overlap.together(), 90e-9, 1e-15);
}

TEST(Overlap, IsWhatCountingEachMomentGives)
{
    std::mt19937 random(7);
    for (int round = 0; round < 200; ++round) {
        Overlap overlap;
        std::array<std::array<bool, 400>, 3> busy{};
        std::array<int, 3> free_at{};
        for (int i = 0; i < 40; ++i) {
            const auto queue = std::size_t(random() % 3);
            const int begin = free_at[queue] + int(random() % 9), end = free_at[queue] = begin + int(random() % 12);
            if (end > 400) break;
            for (int t = begin; t < end; ++t) busy[queue][std::size_t(t)] = true;
            overlap.add(static_cast<Overlap::Queue>(queue), begin, end);
            if (i % 5 == 0) overlap.forget_before(std::min({free_at[0], free_at[1], free_at[2]}));
        }
        int copies = 0, together = 0;
        for (std::size_t t = 0; t < 400; ++t) {
            copies += busy[0][t] || busy[2][t];
            together += (busy[0][t] || busy[2][t]) && busy[1][t];
        }
        ASSERT_NEAR(overlap.copies(), copies * 1e-9, 1e-15) << round;
        ASSERT_NEAR(overlap.together(), together * 1e-9, 1e-15) << round;
    }
}

} // namespace
} // namespace trencadis
