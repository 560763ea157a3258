#include "choices/plan.hpp"
#include "drivers/linear_algebra.hpp"
#include "drivers/testing/small_crew.hpp"
#include "matrix/testing/address_space.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <vector>

namespace trencadis {
namespace {

using testing::SmallCrew;

struct Packing final : SmallCrew {
    Packing() : SmallCrew(2) {}
    choices::Plan plan(const choices::Call&) const override { return *choices::plan_called("gemm", "packed"); }
};

[[noreturn]] void multiply_within(std::size_t bytes)
{
    constexpr Index n = 700, small = 64;
    Packing crew;
    const std::vector<double> A(std::size_t(n * n), 0.5);
    std::vector<double> C(A.size());
    gemm(crew, Op::none, Op::none, small, small, small, 1.0, A.data(), n, A.data(), n, 0.0, C.data(), n);
    testing::limit_address_space(bytes);
    gemm(crew, Op::none, Op::none, n, n, n, 1.0, A.data(), n, A.data(), n, 0.0, C.data(), n);
    std::exit(std::ranges::all_of(C, [](double c) { return c == 0.25 * double(n); }) ? 0 : 1);
}

/// That `tune` has chosen a form with images, which take eight megabytes, is no reason to fail where there is no room for them.
TEST(LittleMemory, IsEnoughForAProductWhoseCalibrationWantsImages)
{
    if (!testing::can_limit_address_space) GTEST_SKIP() << "a sanitizer's memory is part of the address space";
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    for (const std::size_t megabytes : {2, 4, 6})
        EXPECT_EXIT(multiply_within(megabytes << 20), ::testing::ExitedWithCode(0), "") << megabytes;
}

} // namespace
} // namespace trencadis
