#include "observe/energy/readings.hpp"

#include <utility>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace trencadis {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::SizeIs;

MeterSeries series(std::vector<Reading> readings, MeterKind kind = MeterKind::energy, std::string domain = "package")
{
    return {"fake", std::move(domain), "meter", kind, std::move(readings), {}};
}

TEST(Readings, AreInterpolatedAtBothEnds)
{
    const MeterSeries one = series({{0, 0}, {1000, 10}, {2000, 30}, {3000, 30}});
    EXPECT_DOUBLE_EQ(*joules_between(one, 500, 1500), 5 + 10);
    EXPECT_DOUBLE_EQ(*joules_between(one, 0, 3000), 30);
    EXPECT_DOUBLE_EQ(*joules_between(one, 1250, 1250), 0);
    EXPECT_FALSE(joules_between(one, -1, 1000)) << "nothing is known of before the first reading";
    EXPECT_FALSE(joules_between(one, 0, 3001));
    EXPECT_FALSE(joules_between(series({{0, 0}}), 0, 0));
    EXPECT_FALSE(joules_between(series({}), 0, 1));
}

TEST(Readings, OfPowerAreIntegrated)
{
    const MeterSeries one = series({{0, 100}, {1'000'000'000, 200}, {2'000'000'000, 200}}, MeterKind::power);
    EXPECT_DOUBLE_EQ(*joules_between(one, 0, 2'000'000'000), 150 + 200);
    EXPECT_DOUBLE_EQ(*joules_between(one, 500'000'000, 1'500'000'000), 0.5 * 175 + 0.5 * 200);
    EXPECT_FALSE(joules_between(series({{0, 0}, {1000, 0}}, MeterKind::power), 0, 1000)) << "a sensor that says 0 W says nothing";
}

TEST(Readings, OfAMeterThatStandsStillAreUnavailableAndNot0J)
{
    EXPECT_FALSE(joules_between(series({{0, 5}, {1000, 5}, {2000, 5}}), 0, 2000));
    const std::vector<MeterSeries> all{series({{0, 5}, {2000, 5}})};
    const auto found = energy_between(all, 0, 2000);
    ASSERT_THAT(found, SizeIs(1));
    EXPECT_FALSE(found[0].joules);
    EXPECT_THAT(found[0].why, HasSubstr("counts nothing"));
}

TEST(Readings, BetweenWhichACounterDidNotMoveAreUnavailableAndNot0J)
{
    const MeterSeries steps = series({{0, 0}, {1000, 0}, {2000, 0}, {3000, 20}, {4000, 20}, {5000, 20}});
    EXPECT_FALSE(joules_between(steps, 100, 1900)) << "the same before and behind";
    EXPECT_FALSE(joules_between(steps, 0, 1000)) << "readings at its very ends";
    EXPECT_FALSE(joules_between(steps, 3000, 4500));
    EXPECT_DOUBLE_EQ(*joules_between(steps, 100, 2500), 10);
    EXPECT_DOUBLE_EQ(*joules_between(steps, 2100, 2200), 2) << "within a step";
    EXPECT_DOUBLE_EQ(*joules_between(steps, 1500, 1500), 0) << "no time takes nothing";
    const std::vector<MeterSeries> all{steps};
    EXPECT_THAT(energy_between(all, 100, 1900)[0].why, HasSubstr("did not move during the run"));
    const MeterSeries sensor = series({{0, 0}, {1000, 0}, {2000, 5}, {3000, 0}}, MeterKind::power);
    EXPECT_FALSE(joules_between(sensor, 100, 900));
    EXPECT_TRUE(joules_between(sensor, 100, 1100));
}

TEST(Readings, OfPackagesAreSummedAndDomainsWithinEachOtherNever)
{
    const std::vector<Reading> ten{{0, 0}, {1000, 10}}, four{{0, 0}, {1000, 4}};
    const std::vector<MeterSeries> all{series(ten), series(ten), series(four, MeterKind::energy, "core"),
                                       series(four, MeterKind::energy, "dram"),
                                       series({{0, 60}, {1000, 70}}, MeterKind::temperature)};
    const auto found = energy_between(all, 0, 1000);
    ASSERT_THAT(found, SizeIs(3));
    EXPECT_EQ(found[0].domain, "core");
    EXPECT_DOUBLE_EQ(*found[0].joules, 4);
    EXPECT_THAT(found[0].inside, Contains("package"));
    EXPECT_DOUBLE_EQ(*found[1].joules, 4);
    EXPECT_THAT(found[1].inside, ::testing::Not(Contains("package"))) << "DRAM is beside the package";
    EXPECT_DOUBLE_EQ(*found[2].joules, 20);
}

TEST(Unwrapped, GoesOnWhereTheCounterBeginsAnew)
{
    Unwrapped joules(100);
    EXPECT_DOUBLE_EQ(*joules(90), 0);
    EXPECT_DOUBLE_EQ(*joules(99), 9);
    EXPECT_DOUBLE_EQ(*joules(5), 15);
    EXPECT_DOUBLE_EQ(*joules(4), 114) << "nearly once around";
    Unwrapped plain;
    EXPECT_TRUE(plain(10));
    EXPECT_FALSE(plain(9)) << "without a range it was set back";
}

} // namespace
} // namespace trencadis
