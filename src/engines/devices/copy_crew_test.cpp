#include "engines/devices/copy_crew.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <numeric>
#include <vector>

namespace trencadis {
namespace {

using devices::Extent;

constexpr std::size_t mib = std::size_t(1) << 20;

struct Case {
    Extent extent;
    std::size_t from_pitch, to_pitch;
};
const Case cases[] = {
    {{1}, 0, 0},                       // less than a piece
    {{3 * mib + 5}, 0, 0},             // parts of a column
    {{mib + 8, 5}, mib + 24, mib + 8}, // two parts each
    {{24000, 700}, 24008, 24000},      // many columns to a piece, and some left over
    {{8, 300000}, 16, 8},              // short ones
};

class CopyCrewOf : public ::testing::TestWithParam<int> {};

TEST_P(CopyCrewOf, CopiesWhatIsAskedAndNothingElse)
{
    CopyCrew crew(GetParam());
    for (int again = 0; again < 3; ++again)
        for (const Case& its : cases) {
            const std::size_t columns = its.extent.columns;
            std::vector<char> from(its.from_pitch * (columns - 1) + its.extent.bytes),
                to(its.to_pitch * (columns - 1) + its.extent.bytes + 1, 'x');
            std::iota(from.begin(), from.end(), char(again));
            std::vector<char> right = to;
            for (std::size_t column = 0; column < columns; ++column)
                std::memcpy(right.data() + column * its.to_pitch, from.data() + column * its.from_pitch, its.extent.bytes);
            crew.copy({from.data(), its.from_pitch}, {to.data(), its.to_pitch}, its.extent);
            ASSERT_TRUE(to == right) << its.extent.bytes << " x " << columns;
        }
}

/// Helpers that wake late find the next job, or none: never one that its caller has left.
TEST_P(CopyCrewOf, ManyJobsDoNotMixUp)
{
    CopyCrew crew(GetParam());
    std::vector<char> from(2 * mib + 1), to(from.size());
    for (int job = 0; job < 200; ++job) {
        std::memset(from.data(), job, from.size());
        crew.copy({from.data(), 0}, {to.data(), 0}, {from.size()});
        ASSERT_EQ(std::memcmp(from.data(), to.data(), to.size()), 0) << job;
    }
}

INSTANTIATE_TEST_SUITE_P(Helpers, CopyCrewOf, ::testing::Values(0, 1, 3));

} // namespace
} // namespace trencadis
