#include "matrix/region.hpp"

#include <gtest/gtest.h>
#include <random>
#include <vector>

namespace trencadis {
namespace {

/// Marks what a region touches in a matrix of 12 rows.
constexpr Index ld = 12, cols = 12;
using Picture = std::vector<bool>;
double memory[ld * (cols + 12)];

bool touches(const Region& r, Index i, Index j)
{
    return r.shape == Region::Shape::all || (r.shape == Region::Shape::lower ? i >= j : i <= j);
}
Picture picture(const Region& r)
{
    Picture seen(std::size(memory));
    const Index begin = static_cast<const double*>(r.data) - memory;
    for (Index j = 0; j < r.cols; ++j)
        for (Index i = 0; i < r.rows; ++i)
            if (touches(r, i, j)) seen[std::size_t(begin + i + j * r.ld)] = true;
    return seen;
}
bool share(const Region& a, const Region& b)
{
    const Picture p = picture(a), q = picture(b);
    for (std::size_t i = 0; i < p.size(); ++i)
        if (p[i] && q[i]) return true;
    return false;
}

TEST(Regions, OverlapExactlyWhenBlocksOfOneMatrixShareAnElement)
{
    std::mt19937 random(4);
    const auto upto = [&](Index most) { return std::uniform_int_distribution<Index>(0, most)(random); };
    int shared = 0, apart = 0;
    for (int trial = 0; trial < 20000; ++trial) {
        // Anywhere in memory: a block may well begin at the foot of one column and go on at the top of the next.
        const double *const a = memory + upto(ld * cols - 1), *const b = memory + upto(ld * cols - 1);
        const Index n = upto(6);
        const Region first = trial % 3 ? Region::triangle(trial % 3 == 1 ? Uplo::lower : Uplo::upper, a, n, ld)
                                       : Region::all(a, upto(11), upto(6), ld);
        const Region second = Region::all(b, upto(11), upto(6), ld);
        ASSERT_EQ(overlap(first, second), share(first, second)) << trial;
        ASSERT_EQ(overlap(second, first), share(first, second)) << trial;
        ++(share(first, second) ? shared : apart);
    }
    EXPECT_GT(shared, 1000);
    EXPECT_GT(apart, 1000);
}

TEST(Regions, OfDifferentLeadingDimensionsAreNeverRefusedWithoutSharing)
{
    std::mt19937 random(5);
    const auto upto = [&](Index most) { return std::uniform_int_distribution<Index>(0, most)(random); };
    for (int trial = 0; trial < 5000; ++trial) {
        const Region first = Region::all(memory + upto(40), upto(5), upto(5), 5 + upto(3));
        const Region second = Region::all(memory + upto(40), upto(5), upto(5), 8 + upto(3));
        if (overlap(first, second)) {
            ASSERT_TRUE(share(first, second)) << trial;
        }
    }
    EXPECT_TRUE(overlap(Region::all(memory, 3, 3, 3), Region::all(memory, 3, 3, 4)));
    EXPECT_FALSE(overlap(Region::all(memory, 0, 3, 3), Region::all(memory, 3, 3, 3)));
}

} // namespace
} // namespace trencadis
