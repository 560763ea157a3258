#include "scheduling/speed_estimates.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

namespace trencadis {
namespace {

constexpr Codelet gemm{"gemm", nullptr};

TEST(SpeedEstimatesBySize, TellSmallTasksFromLargeOnes)
{
    SpeedEstimates speeds({0}, 1e9);
    speeds.observe(0, gemm, 1e6, 1e-3, 0); // 1 GFlop/s
    speeds.observe(0, gemm, 1e9, 0.1, 0);  // 10 GFlop/s
    EXPECT_DOUBLE_EQ(speeds.expect(0, gemm, 1e6, 0), 1e-3);
    EXPECT_DOUBLE_EQ(speeds.expect(0, gemm, 1e9, 0), 0.1);
    EXPECT_NEAR(speeds.expect_best(gemm, 1e9), 0.1, 1e-12);
}

TEST(SpeedEstimatesBySize, InterpolateBetweenSizesThatWereSeen)
{
    SpeedEstimates speeds({0}, 1e9);
    speeds.observe(0, gemm, 0x1p20, 0x1p20 / 2e9, 0);
    speeds.observe(0, gemm, 0x1p30, 0x1p30 / 10e9, 0);
    EXPECT_NEAR(0x1p25 / speeds.expect(0, gemm, 0x1p25, 0), 6e9, 1) << "half-way on the scale of sizes";
    EXPECT_NEAR(0x1p28 / speeds.expect(0, gemm, 0x1p28, 0), 8.4e9, 1);
    EXPECT_NEAR(0x1p10 / speeds.expect(0, gemm, 0x1p10, 0), 2e9, 1) << "below the smallest: as that";
    EXPECT_NEAR(0x1p40 / speeds.expect(0, gemm, 0x1p40, 0), 10e9, 1) << "above the largest: as that";
}

TEST(SpeedEstimatesBySize, LearnOfAPartAtTheSizeOfTheWholeTask)
{
    SpeedEstimates speeds({0}, 1e9);
    speeds.observe(0, gemm, 1e9, 0.01, 0, 0.25);
    EXPECT_DOUBLE_EQ(speeds.expect(0, gemm, 1e9, 0), 0.04);
}

/// There were 64 places.
TEST(SpeedEstimatesOfManyCodelets, KnowThemAll)
{
    SpeedEstimates speeds({0, 0}, 1e9);
    const std::vector<Codelet> codelets(1000, gemm);
    for (std::size_t i = 0; i < codelets.size(); ++i) speeds.observe(0, codelets[i], 1e6, 1e-3 * double(i + 1), 0);
    for (std::size_t i = 0; i < codelets.size(); ++i)
        ASSERT_NEAR(speeds.expect(1, codelets[i], 1e6, 0), 1e-3 * double(i + 1), 1e-9) << i;
}

TEST(SpeedEstimatesOfManyCodelets, AreFoundWhileTheTableGrows)
{
    SpeedEstimates speeds({0, 0, 0}, 1e9);
    const std::vector<Codelet> codelets(3000, gemm);
    std::atomic<int> wrong{0};
    std::vector<std::thread> workers;
    for (int worker = 0; worker < 3; ++worker)
        workers.emplace_back([&, worker] {
            for (std::size_t i = 0; i < codelets.size(); ++i) {
                const Codelet& codelet = codelets[(i + 1000 * std::size_t(worker)) % codelets.size()];
                speeds.observe(worker, codelet, 1e6, 1e-3, 0);
                wrong += speeds.expect(worker, codelet, 1e6, 0) != 1e-3;
            }
        });
    for (std::thread& worker : workers) worker.join();
    EXPECT_EQ(wrong, 0);
}

class SpeedsOfEarlierRuns : public ::testing::Test {
protected:
    static constexpr Codelet packed = [] {
        Codelet codelet = gemm;
        codelet.variant = "packed";
        codelet.precision = 'd';
        return codelet;
    }();
    static constexpr Codelet plain = [] {
        Codelet codelet = gemm;
        codelet.precision = 'd';
        return codelet;
    }();
};

TEST_F(SpeedsOfEarlierRuns, AreWhatARunBeginsWithAndGiveWayToWhatItSees)
{
    KernelSpeeds known;
    known.set({"gemm.packed", 'd', "fast"}, {20, 4e9});
    known.set({"gemm.packed", 'd', "slow"}, {20, 1e9});
    SpeedEstimates speeds({0, 1, 1}, 5e8, known, {"slow", "fast", "fast"});
    EXPECT_NEAR(0x1p20 / speeds.expect(0, packed, 0x1p20, 100), 1e9, 1);
    EXPECT_NEAR(0x1p20 / speeds.expect(2, packed, 0x1p20, 100), 4e9, 1);
    EXPECT_NEAR(0x1p20 / speeds.expect(0, plain, 0x1p20, 100), 5e8, 1) << "another codelet of the name: nominal";
    speeds.observe(2, packed, 0x1p20, 0x1p20 / 2e9, 100);
    EXPECT_NEAR(0x1p20 / speeds.expect(2, packed, 0x1p20, 100), 2e9, 1) << "no mean with what was long ago";
}

TEST_F(SpeedsOfEarlierRuns, AreLeftToLaterOnesByKind)
{
    SpeedEstimates speeds({0, 1, 1}, 1e9, {}, {"slow", "fast", "fast"});
    speeds.observe(1, packed, 0x1p20, 0x1p20 / 2e9, 0);
    speeds.observe(2, packed, 0x1p20, 0x1p20 / 4e9, 0);
    const KernelSpeeds seen = speeds.seen();
    EXPECT_EQ(seen.size(), 1u);
    const auto* found = seen.find({"gemm.packed", 'd', "fast"});
    ASSERT_TRUE(found);
    EXPECT_DOUBLE_EQ(found->at(10).rate, 4e9) << "the fastest of the kind";
    EXPECT_DOUBLE_EQ(found->at(10).size, 20);
}

/// A core that factors a tile of 2048 in 48 ms, and a device that does in 3.
class SpeedsOfADevice : public SpeedsOfEarlierRuns {
protected:
    static constexpr WorkerId core = 0, device = 1;
    static constexpr Flops flops = 0x1p31;
    static KernelSpeeds known()
    {
        KernelSpeeds known;
        known.set({"gemm", 'd', "core"}, {27, flops / 0.048});
        known.set({"gemm", 'd', "gpu"}, {31, flops / 0.003});
        return known;
    }
    Seconds expected(WorkerId worker, Seconds at) const { return speeds_.expect(worker, plain, flops, at); }
    SpeedEstimates speeds_{{0, 1}, 1e9, known(), {"core", "gpu"}, 1};
};

TEST_F(SpeedsOfADevice, DoNotFallByOneLongRun)
{
    for (const Seconds at : {10.0, 10.3, 10.6}) { // each as long after the last one as between two calls
        speeds_.observe(device, plain, flops, 0.1, at);
        EXPECT_LT(expected(device, at), 0.01) << "a core takes 0.048";
        speeds_.observe(device, plain, flops, 0.003, at + 0.2);
        EXPECT_NEAR(expected(device, at + 0.2), 0.003, 1e-6) << "a quick one counts fully";
    }
}

TEST_F(SpeedsOfADevice, OfAVariantBeginAsThoseOfItsKind)
{
    static const Codelet variant = [] {
        Codelet its = plain;
        its.variant = "columns";
        return its;
    }();
    EXPECT_NEAR(speeds_.expect(device, variant, flops, 10), 0.003, 1e-9);
    EXPECT_NEAR(speeds_.expect(core, variant, flops, 10), 0.048, 1e-9);
}

TEST_F(SpeedsOfADevice, OfASizeThatWasNotSeenDoNotFallByOneLongRunEither)
{
    speeds_.observe(device, plain, 8 * flops, 1, 10);
    EXPECT_LT(speeds_.expect(device, plain, 8 * flops, 10), 0.033);
}

TEST_F(SpeedsOfADevice, FallByManyLongRunsAndAreTriedAgainAfterSeconds)
{
    for (int run = 0; run < 20; ++run) speeds_.observe(device, plain, flops, 0.1, 10 + 0.01 * run);
    EXPECT_GT(expected(device, 10.2), 0.06);
    EXPECT_NEAR(expected(device, 20), 0.003, 1e-6);
    speeds_.observe(device, plain, flops, 0.001, 21);
    EXPECT_NEAR(expected(device, 40), 0.001, 1e-6) << "what was learned to be quicker stays";
}

} // namespace
} // namespace trencadis
