#include "choices/machine_choice.hpp"

#include "base/error.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <set>
#include <vector>

namespace trencadis::choices {
namespace {

struct Elsewhere {
    explicit Elsewhere(const char* name, int count = 0) : machine(load_machine(name))
    {
        units.machine = &machine;
        units.cores.resize(count ? std::size_t(count) : machine.cores.size());
        std::iota(units.cores.begin(), units.cores.end(), 0);
        units.submit = units.take = 2.5e-7;
    }
    Machine machine;
    DescribedCores units;
};
Call square(std::string_view routine, Index n) { return {routine, 1, n, n, routine == "gemm" ? n : 0}; }

TEST(ChoicesElsewhere, OneCoreTakesItsOperationsOverItsRate)
{
    Elsewhere uniform("uniform64", 1); // 10 GFlop/s in every kernel, at every size
    uniform.units.submit = uniform.units.take = 0;
    for (const char* routine : {"potrf", "gemm"})
        for (const char* word : {"caller", "rule", "in-place"}) {
            const Call call = square(routine, 600);
            // Terms of order n^2, which tiles count otherwise: 3 n / 2 of n^2 / 2.
            EXPECT_NEAR(foreseen_of(*plan_called(routine, word), call, uniform.units) * 1e10 / flops_of(call), 1, 3.0 / 600)
                << routine << ' ' << word;
        }
}

TEST(ChoicesElsewhere, TheRuleIsWhatItComesTo)
{
    EXPECT_EQ(plan_of_rule(square("potrf", 96), 16, true).by, Plan::By::caller);
    EXPECT_EQ(word_of(plan_of_rule(square("potrf", 600), 16, true)), "packed");
    EXPECT_EQ(word_of(plan_of_rule(square("getrf", 600), 16, true)), "packed");
    EXPECT_EQ(word_of(plan_of_rule(square("getrf", 600), 16, false)), "panel");
    EXPECT_EQ(word_of(plan_of_rule({"geqrf", 1, 100'000, 100}, 16, true)), "tsqr");
    const Elsewhere server("server-2s", 16);
    for (const char* routine : {"potrf", "getrf", "geqrf", "gemm"}) {
        const Call call = square(routine, 700);
        const Plan rule = plan_of_rule(call, 16, is_ours_elsewhere(call));
        EXPECT_EQ(foreseen_of({}, call, server.units), foreseen_of(rule, call, server.units)) << routine;
    }
}

TEST(ChoicesElsewhere, WhatIsChosenIsExpectedToBeNoWorseThanAnyOther)
{
    constexpr double worth_it = 1 / 0.975; // the rule stays, and all the cores, where less is to be gained
    const Elsewhere server("server-2s", 32);
    for (const char* routine : {"potrf", "getrf", "geqrf", "gemm"})
        for (const Index n : {96, 300, 1100}) {
            const Call call = square(routine, n);
            const std::vector<ByCores> all = consider_elsewhere(call, server.units);
            EXPECT_TRUE(all.front().chosen && all.front().considered.front().chosen);
            const Seconds chosen = all.front().considered.front().seconds;
            ASSERT_GT(chosen, 0) << routine << ' ' << n;
            for (const ByCores& by : all)
                for (const Expected& expected : by.considered)
                    EXPECT_TRUE(expected.seconds <= 0 || chosen <= expected.seconds * worth_it * worth_it)
                        << word_of(expected.plan);
        }
}

TEST(ChoicesElsewhere, MoreWidthsAreConsideredThanACalibrationHasTimeFor)
{
    for (const char* routine : {"potrf", "getrf", "geqrf", "gemm"}) {
        std::set<std::string> tried, all;
        for (const Plan& plan : plans_for(square(routine, 2000), 32, true)) tried.insert(word_of(plan));
        for (const Plan& plan : plans_for(square(routine, 2000), 32, true, Breadth::all)) {
            all.insert(word_of(plan));
            EXPECT_EQ(plan_called(routine, word_of(plan)), plan);
        }
        EXPECT_GT(all.size(), tried.size()) << routine;
    }
}

TEST(ChoicesElsewhere, FarMemoriesLeaveSmallCallsToFewerCores)
{
    Elsewhere sgi("uv2000");
    const std::vector<ByCores> small = consider_elsewhere(square("getrf", 440), sgi.units);
    const std::vector<ByCores> large = consider_elsewhere(square("getrf", 900), sgi.units);
    EXPECT_LT(small.front().workers, large.front().workers);
    std::set<int> counts;
    for (const ByCores& by : small) EXPECT_TRUE(counts.insert(by.workers).second);
    EXPECT_TRUE(counts.contains(48));
}

TEST(ChoicesElsewhere, AGraphThatIsTooLargeIsNotForeseen)
{
    const Elsewhere server("server-2s", 16);
    const Plan narrow = *plan_called("potrf", "packed-8");
    const Call call = square("potrf", 2000); // tiles of 32: 63 in a row, 45,000 tasks
    EXPECT_TRUE(std::isfinite(foreseen_of(narrow, call, server.units)));
    EXPECT_TRUE(std::isinf(foreseen_of(narrow, call, server.units, 1e-3))) << "more than a millisecond of submission";
}

} // namespace
} // namespace trencadis::choices
