#include "random_graph.hpp"

#include <cstdio>
#include <cstdlib>

#include <gtest/gtest.h>

namespace trencadis::testing {
namespace {

std::string print(const GraphPlan& plan)
{
    std::string text;
    for (const GraphPlan::Step& step : plan.steps) text += "  " + describe(step) + "\n";
    return text;
}

/// Engines are made anew every so many graphs: often enough to test that, too.
constexpr int graphs_per_engine = 50;

struct Configuration {
    std::string engine, scheduler;
    int workers;
    FlowOptions flow;

    static Configuration random(Random& random)
    {
        static constexpr int workers[] = {1, 2, 2, 3, 4, 9};
        Configuration setup;
        setup.engine = random.one_in(20) ? "sequential" : "native";
        std::vector<const SchedulerEntry*> schedulers; // every policy that is registered for machines with one memory
        for (const SchedulerEntry* entry : scheduler_entries())
            if (!entry->in_one_memory) schedulers.push_back(entry);
        setup.scheduler = schedulers[std::size_t(random.below(int(schedulers.size())))]->name;
        setup.workers = random.pick(workers);
        return setup;
    }
    void vary(Random& random)
    {
        static constexpr int windows[] = {1, 2, 3, 5, 16, 100, 4096};
        flow.window = random.pick(windows);
        flow.priorities = Priorities(random.below(3));
        static constexpr int throttles[] = {0, 0, 0, 1, 7, 64}, buckets[] = {0, 0, 1, 3, 64};
        flow.traits.throttle = random.pick(throttles);
        flow.traits.buckets = random.pick(buckets);
        flow.traits.discovery = random.one_in(4) ? Discovery::at_steal : Discovery::at_submission;
    }
    std::string text() const
    {
        return engine + " engine, scheduler " + scheduler + ", " + std::to_string(workers) + " workers, window " +
               std::to_string(flow.window) + ", throttle " + std::to_string(flow.traits.throttle) + ", buckets " +
               std::to_string(flow.traits.buckets) + (flow.traits.discovery == Discovery::at_steal ? ", at steal" : "");
    }
};

/// Calls `check(plan, setup, engine)` for many graphs; stops at the first failure.
template <class Check> void for_each_graph(int count, bool failures, Check check)
{
    std::printf("%d graphs, seed %llu (TRENCADIS_TEST_SEED repeats it)\n", count, static_cast<unsigned long long>(test_seed()));
    Random random(mix(test_seed(), failures));
    for (int first = 0; first < count; first += graphs_per_engine) {
        Configuration setup = Configuration::random(random);
        RuntimeUnderTest runtime(setup.engine, setup.scheduler, setup.workers);
        for (int g = first; g < std::min(first + graphs_per_engine, count); ++g) {
            const GraphPlan plan = GraphPlan::random(random, failures);
            setup.vary(random);
            if (std::getenv("TRENCADIS_TEST_VERBOSE"))
                std::fprintf(stderr, "graph %d, %s\n", g, setup.text().c_str()); // to find a hang
            check(plan, setup, runtime.engine());
            if (::testing::Test::HasFailure()) FAIL() << "graph " << g << ", " << setup.text() << "\n" << print(plan);
        }
    }
}

TEST(RandomGraphs, GiveWhatExecutionInOrderGives)
{
    for_each_graph(share_of(10'000), false, [](const GraphPlan& plan, const Configuration& setup, TaskFlowEngine& engine) {
        Outcome expected(plan), seen(plan);
        run_in_order(plan, expected);
        run_in_flow(plan, seen, engine, setup.flow);
        EXPECT_EQ(seen.exception, "");
        EXPECT_EQ(difference(plan, expected, seen), "");
    });
}

TEST(RandomGraphs, WithFailuresDropWhatDependsOnThemAndReportTheEarliest)
{
    for_each_graph(share_of(2500), true, [](const GraphPlan& plan, const Configuration& setup, TaskFlowEngine& engine) {
        const FailureModel model(plan);
        Outcome seen(plan);
        run_in_flow(plan, seen, engine, setup.flow);
        EXPECT_EQ(model.difference(plan, seen), "");
    });
}

} // namespace
} // namespace trencadis::testing
