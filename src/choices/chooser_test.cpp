#include "choices/chooser.hpp"

#include "algorithms/routines.hpp"
#include "base/error.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <set>
#include <thread>

namespace trencadis::choices {
namespace {

Row row(Index n, const std::string& plan, Seconds seconds, Seconds busy = 0, Joules joules = 0)
{
    return {"potrf", 'd', n, n, 0, 2, plan, seconds, busy, joules};
}
Call potrf(Index n, int precision = 1) { return {"potrf", precision, n, n}; }
std::string chosen(const Chooser& chooser, const Call& call) { return word_of(chooser.choose(call)); }

TEST(Plans, HaveWordsThatLeadBackToThem)
{
    for (const std::string_view routine : chosen_routines())
        for (const Index n : {96, 300, 2000}) {
            const Call call{routine, 1, n, n, routine == "gemm" ? n : 0};
            std::set<std::string> words;
            for (const Plan& plan : plans_for(call, 2, true)) {
                EXPECT_EQ(plan_called(routine, word_of(plan)), plan);
                EXPECT_TRUE(words.insert(word_of(plan)).second) << word_of(plan);
            }
            EXPECT_GT(words.size(), 3u);
            EXPECT_TRUE(words.contains("rule"));
        }
    for (const char* word : {"", "rules", "packed+", "packed+x", "packed 1", "packed+1 ", "packed+99", "-1"})
        EXPECT_FALSE(plan_called("potrf", word)) << word;
    EXPECT_FALSE(plan_called("trtri", "rule"));
}

TEST(Plans, KeepLapacksResultsAndAreNotOfKernelsThatAreNotOurs)
{
    for (const Plan& plan : plans_for({"getrf", 1, 1000, 1000}, 2, true))
        if (plan.form) {
            EXPECT_FALSE(plan.form->other_pivots) << word_of(plan);
            EXPECT_TRUE(plan.form->apart.empty()) << word_of(plan);
        }
    for (const Plan& plan : plans_for(potrf(1000), 2, false)) {
        EXPECT_TRUE(!plan.form || plan.form->own.empty()) << word_of(plan);
    }
}

TEST(Plans, HaveTheCallerAsTheOnlyOfSeveralWorkersWhereACallIsShort)
{
    const auto has_alone = [](Index n, int workers, Breadth breadth = Breadth::tried) {
        return std::ranges::count(plans_for(potrf(n), workers, true, breadth), Plan{.by = Plan::By::alone}) == 1;
    };
    EXPECT_TRUE(has_alone(100, 2));
    EXPECT_TRUE(has_alone(800, 64));
    EXPECT_FALSE(has_alone(100, 1)) << "which is the rule";
    EXPECT_FALSE(has_alone(3000, 2)) << "nobody could interrupt it";
    EXPECT_FALSE(has_alone(100, 2, Breadth::all)) << "of a described machine numbers of cores are considered apart";
}

TEST(Plans, CutIntoTilesThatFitTheCall)
{
    for (const Index n : {1, 7, 31, 33, 100, 777, 6000})
        for (const int workers : {1, 2, 64})
            for (const Plan& plan : plans_for(potrf(n), workers, true)) {
                if (plan.by != Plan::By::tasks) continue;
                const Tiles tiles = tiles_of(plan, potrf(n), workers);
                EXPECT_GE(tiles.nb, 1);
                EXPECT_LE(tiles.nb, n);
            }
}

/// What was measured of the one counts as measured of the other (Chooser).
TEST(Plans, OfTheFirstFormAsItIsHaveTheTilesOfTheRule)
{
    for (const std::string_view routine : {"potrf", "getrf", "geqrf"})
        for (const Index n : {310, 440, 620, 900, 1200, 2600}) {
            const Call call{routine, 1, n, n};
            const Plan same{Plan::By::tasks, &find_routine(routine).forms().front(), 0};
            EXPECT_EQ(tiles_of(same, call, 2).nb, same.form->tile(n, n, sizeof(double), 2)) << routine << ' ' << n;
        }
}

/// Beside a neighbour it is chance which of two is slower, by as much as that.
TEST(Chooser, CountsANeighbourForAFewPerCent)
{
    const auto word = [](Seconds quiet, Seconds busy) {
        const std::vector<Row> rows{row(500, "rule", 1, 2), row(500, "left-looking", quiet, busy)};
        return chosen(Chooser(rows, 2, true, Objective::time), potrf(500));
    };
    EXPECT_EQ(word(1, 1), "left-looking");
    EXPECT_EQ(word(1.04, .5), "rule");
    EXPECT_EQ(word(.9, 40), "left-looking");
    EXPECT_EQ(word(.96, 40), "rule");
}

TEST(Chooser, WithoutACalibrationGoesByTheRule)
{
    const Chooser none({}, 2, true, Objective::time);
    EXPECT_FALSE(none.knows());
    EXPECT_EQ(chosen(none, potrf(500)), "rule");
    const Chooser others({row(500, "rule", 2), row(500, "packed", 1)}, 3, true, Objective::time); // measured with 2 workers
    EXPECT_FALSE(others.knows());
    EXPECT_EQ(chosen(others, potrf(500)), "rule");
    const Chooser without_rule({row(500, "packed", 1)}, 2, true, Objective::time);
    EXPECT_EQ(chosen(without_rule, potrf(500)), "rule");
    const Chooser told({row(500, "rule", 2), row(500, "packed", 1)}, 2, true, Objective::rule);
    EXPECT_EQ(chosen(told, potrf(500)), "rule");
}

TEST(Chooser, TakesWhatWasFasterNearTheSizeAndNothingElseFarAway)
{
    const Chooser chooser({row(500, "rule", 2), row(500, "packed-1", 1), row(500, "in-place", 3)}, 2, true, Objective::time);
    EXPECT_EQ(chosen(chooser, potrf(500)), "packed-1");
    EXPECT_EQ(chosen(chooser, potrf(620)), "packed-1");
    EXPECT_EQ(chosen(chooser, potrf(5000)), "rule");
    EXPECT_EQ(chosen(chooser, potrf(60)), "rule");
    EXPECT_EQ(chosen(chooser, potrf(500, 0)), "rule"); // another precision
    EXPECT_EQ(chosen(chooser, {"getrf", 1, 500, 500}), "rule");
}

TEST(Chooser, GoesFromOnePlanToTheOtherBetweenSizes)
{
    const Chooser chooser({row(400, "rule", 10), row(400, "packed-1", 5), row(400, "packed+1", 9), row(800, "rule", 80),
                           row(800, "packed-1", 72), row(800, "packed+1", 40)},
                          2, true, Objective::time);
    EXPECT_EQ(chosen(chooser, potrf(420)), "packed-1");
    EXPECT_EQ(chosen(chooser, potrf(760)), "packed+1");
}

TEST(Chooser, DoesNotTakeWhatTheRuleTookOnOneSideOfItsLeapForTheOther)
{
    // The rule leaves potrf to the calling thread up to 207: at 200 it is the caller, and as fast; at 280 tasks.
    const Chooser chooser({row(200, "rule", 1.0), row(200, "caller", 1.0), row(200, "packed", 0.8), row(280, "rule", 1.6),
                           row(280, "packed", 1.6), row(280, "in-place", 1.4), row(280, "caller", 3.0)},
                          2, true, Objective::time);
    EXPECT_EQ(chosen(chooser, potrf(198)), "packed");
    const Chooser slow_tiles(
        {row(200, "rule", 1.0), row(200, "caller", 1.0), row(200, "packed", 1.5), row(280, "rule", 1.6), row(280, "caller", 1.9)},
        2, true, Objective::time);
    EXPECT_EQ(chosen(slow_tiles, potrf(214)), "rule") << "its tiles are worth more there than at 200";
    const std::vector<Expected> above = chooser.consider(potrf(214));
    EXPECT_EQ(word_of(above.front().plan), "in-place"); // as at 280: the rule is packed there
    for (const Expected& one : above) EXPECT_TRUE(one.plan.by != Plan::By::caller || one.against > 1.2);
}

TEST(Chooser, LeavesTheRuleWhereItDiffersFromItselfByMoreThanAnotherPlanFromIt)
{
    // At 500 the rule is packed.
    const auto with = [](Seconds twin) {
        const Chooser chooser({row(500, "rule", 2), row(500, "packed", twin), row(500, "in-place", 1.5)}, 2, true,
                              Objective::time);
        return chosen(chooser, potrf(500));
    };
    EXPECT_EQ(with(2), "in-place");
    EXPECT_EQ(with(2.2), "in-place");
    EXPECT_EQ(with(4), "rule");   // 0.53 of the mean, 2.83, and twice itself
    EXPECT_EQ(with(1.1), "rule"); // not packed either
}

TEST(Chooser, KnowsPlansOfOtherWordsWithTheSameTiles)
{
    // At 128 packed-1, packed-2 and packed-3 are all tiles of 32 or so, of which one was measured.
    const Call small = potrf(128);
    const std::vector<Plan> tried = plans_for(small, 2, true);
    std::vector<Row> rows{row(128, "rule", 1), row(128, "caller", 1)};
    for (const Plan& plan : tried)
        if (plan.form && plan.form->name == "packed") rows.push_back(row(128, word_of(plan), 0.5));
    const Chooser chooser(rows, 2, true, Objective::time);
    int packed = 0;
    for (const Expected& one : chooser.consider(potrf(140)))
        if (one.plan.form && one.plan.form->name == "packed") ++packed;
    EXPECT_GT(packed, 0);
}

TEST(Chooser, LeavesTheRuleForTheMoreTheFartherFromWhatWasMeasured)
{
    const Chooser chooser({row(500, "rule", 1), row(500, "packed-1", 0.92)}, 2, true, Objective::time);
    EXPECT_EQ(chosen(chooser, potrf(600)), "packed-1");
    EXPECT_EQ(chosen(chooser, potrf(1000)), "rule");
    const Expected rule = chooser.consider(potrf(1000)).front();
    EXPECT_NEAR(rule.enough, 0.975 * std::exp(-0.1 * std::sqrt(2.0)), 1e-9); // an octave each way
}

TEST(Chooser, GoesFromOneSizeToTheNextInProportion)
{
    // Half as far by the logarithm of the order is half of the logarithm of the ratio, whatever is known farther away.
    const Chooser chooser({row(400, "rule", 1), row(400, "packed-1", 0.8), row(800, "rule", 1), row(800, "packed-1", 1.3),
                           row(1600, "rule", 1), row(1600, "packed-1", 9)},
                          2, true, Objective::time);
    const auto against = [&](Index n) {
        for (const Expected& one : chooser.consider(potrf(n)))
            if (word_of(one.plan) == "packed-1") return one.against;
        return 0.0;
    };
    EXPECT_NEAR(against(400), 0.8, 1e-12);
    EXPECT_NEAR(against(566), std::sqrt(0.8 * 1.3), 1e-3);
    EXPECT_NEAR(against(800), 1.3, 1e-12);
    EXPECT_EQ(chosen(chooser, potrf(450)), "packed-1");
    EXPECT_EQ(chosen(chooser, potrf(550)), "rule") << "nearer to 400, where it is a fifth faster, than to 800";
    EXPECT_LT(against(350), 0.81) << "beyond both ends the nearest counts most";
}

TEST(Chooser, LeavesTheRuleForMoreThanTheScatterOfACalibrationOnly)
{
    const Chooser scatter({row(500, "rule", 1), row(500, "packed-1", 0.985)}, 2, true, Objective::time);
    EXPECT_EQ(chosen(scatter, potrf(500)), "rule");
    const Chooser more({row(500, "rule", 1), row(500, "packed-1", 0.96)}, 2, true, Objective::time);
    EXPECT_EQ(chosen(more, potrf(500)), "packed-1");
}

TEST(Chooser, CountsWhatABusyNeighbourDoes)
{
    const Chooser chooser({row(500, "rule", 1.0, 2.0), row(500, "packed-1", 0.94, 4.0), row(500, "packed+1", 0.95, 1.9)}, 2, true,
                          Objective::time);
    EXPECT_EQ(chosen(chooser, potrf(500)), "packed+1");
}

TEST(Chooser, GoesByJoulesWhereItIsToldSoAndKnowsNothingWithoutThem)
{
    const std::vector<Row> rows{row(500, "rule", 1, 0, 10), row(500, "packed-1", 0.8, 0, 11), row(500, "caller", 1.1, 0, 9.5)};
    EXPECT_EQ(chosen(Chooser(rows, 2, true, Objective::time), potrf(500)), "packed-1");
    EXPECT_EQ(chosen(Chooser(rows, 2, true, Objective::energy), potrf(500)), "caller");
    EXPECT_EQ(chosen(Chooser(rows, 2, true, Objective::energy_delay), potrf(500)), "packed-1");
    EXPECT_FALSE(Chooser({row(500, "rule", 1), row(500, "packed-1", 0.8)}, 2, true, Objective::energy).knows());
    EXPECT_EQ(objective_called("energy-delay"), Objective::energy_delay);
    EXPECT_THROW(objective_called("power"), Error);
}

TEST(Chooser, AnswersTheSameForAllThreadsAndAtAnyTime)
{
    std::vector<Row> rows;
    for (const Index n : {100, 200, 400, 800, 1600})
        for (const Row& one :
             {row(n, "rule", 1), row(n, "packed-1", n < 300 ? 0.8 : 1.1), row(n, "packed+1", n < 300 ? 1.1 : 0.7)})
            rows.push_back(one);
    const Chooser chooser(rows, 2, true, Objective::time), other(rows, 2, true, Objective::time);
    constexpr Index sizes = 3000; // more than are kept
    std::vector<std::string> seen[2] = {std::vector<std::string>(sizes), std::vector<std::string>(sizes)};
    const auto ask = [&](std::vector<std::string>& answers, Index step) {
        for (Index i = 0; i < sizes; ++i) {
            const Index n = (i * step) % sizes;
            answers[std::size_t(n)] = chosen(chooser, potrf(n + 1));
        }
    };
    std::thread thread(ask, std::ref(seen[0]), 1);
    ask(seen[1], 7); // 7 and 3000 have no factor in common
    thread.join();
    for (Index n = 0; n < sizes; ++n) {
        EXPECT_EQ(seen[0][std::size_t(n)], seen[1][std::size_t(n)]) << n;
        EXPECT_EQ(seen[0][std::size_t(n)], chosen(other, potrf(n + 1))) << n;
    }
}

TEST(Chooser, AnswersAKnownCallWithinAMicrosecond)
{
    std::vector<Row> rows;
    for (const std::string_view routine : {"geqrf", "getrf", "potrf"})
        for (const Index n : {100, 200, 400, 800, 1600})
            for (const char* plan : {"rule", "caller"}) rows.push_back({std::string(routine), 'd', n, n, 0, 2, plan, 1.0, 0, 0});
    const Chooser chooser(rows, 2, true, Objective::time);
    double best = 1; // of some, since others use the machine
    for (int attempt = 0; attempt < 20; ++attempt) {
        constexpr int calls = 1000;
        const auto begin = std::chrono::steady_clock::now();
        for (int i = 0; i < calls; ++i) chooser.choose(potrf(500 + i % 10));
        best = std::min(best, std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count() / calls);
    }
    EXPECT_LT(best, 1e-6);
    RecordProperty("nanoseconds_per_choice", std::to_string(1e9 * best));
}

} // namespace
} // namespace trencadis::choices
