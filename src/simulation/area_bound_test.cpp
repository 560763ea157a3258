#include "simulation/area_bound.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace trencadis {
namespace {

constexpr double no = std::numeric_limits<double>::infinity();

TEST(AreaBound, AddsTheSpeedsOfUnequalUnits)
{
    // One unit does it in 4 s, two others in 12 s each: 1/4 + 2/12 of it per second.
    EXPECT_NEAR(area_bound({{1, 2}, {{4, 12}}}), 12.0 / 5, 1e-12);
}

TEST(AreaBound, GivesEachKernelToTheKindThatIsRelativelyBestAtIt)
{
    // Kernel a: 10 s or 10 s, kernel b: 2 s or 20 s. The second kind takes a only; the first b and the rest of a: 2 + 10 (1 - x)
    // = 10 x.
    EXPECT_NEAR(area_bound({{1, 1}, {{10, 10}, {2, 20}}}), 6, 1e-12);
}

TEST(AreaBound, CountsWhatOnlyOneKindCanDo)
{
    EXPECT_NEAR(area_bound({{1, 8}, {{no, 8}, {5, no}}}), 5, 1e-12);
    EXPECT_TRUE(std::isinf(area_bound({{1}, {{no}}})));
    EXPECT_EQ(area_bound({{3}, {}}), 0);
}

TEST(AreaBound, LeavesOutKindsWithoutUnits) { EXPECT_NEAR(area_bound({{2, 0}, {{6, 0.1}}}), 3, 1e-12); }

} // namespace
} // namespace trencadis
