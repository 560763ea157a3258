#include "engine_fixture.hpp"

#include <atomic>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

namespace trencadis::testing {
namespace {

/// What a runtime of the literature does past a bound, seen from outside.
class FlowTraitsOnWorkers : public ::testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Schedulers, FlowTraitsOnWorkers, ::testing::Values("mosaic", "eager", "ws"));

/// Submits `count` independent tasks from inside a task; how many of them ran on the submitting thread before it waited, and the
/// largest number pending seen by the submitter.
struct Seen {
    int inline_runs = 0;
    std::int64_t most_pending = 0;
};
Seen submit_many(TaskFlowEngine& engine, int count, const FlowTraits& traits)
{
    Seen seen;
    TaskFlow root(engine, {.traits = traits});
    root.submit("submits",
                [&](TaskContext& context) {
                    const std::thread::id me = std::this_thread::get_id();
                    bool submitting = true;
                    for (int i = 0; i < count; ++i) {
                        context.flow().submit(
                            "counts", [&, me] { seen.inline_runs += submitting && std::this_thread::get_id() == me; }, {});
                        seen.most_pending = std::max(seen.most_pending, static_cast<TaskFlow&>(context.flow()).pending());
                    }
                    submitting = false;
                    context.flow().wait(); // the tasks use the variables above
                },
                {});
    root.wait();
    return seen;
}

TEST_P(FlowTraitsOnWorkers, BelowTheThrottleNothingRunsInline)
{
    RuntimeUnderTest runtime("native", GetParam(), 1); // nobody else takes anything away
    EXPECT_EQ(submit_many(runtime.engine(), 64, {.throttle = 64}).inline_runs, 0);
}

TEST_P(FlowTraitsOnWorkers, PastTheThrottleEveryFurtherTaskRunsInline)
{
    RuntimeUnderTest runtime("native", GetParam(), 1);
    const Seen seen = submit_many(runtime.engine(), 100, {.throttle = 64});
    EXPECT_EQ(seen.inline_runs, 36);
    EXPECT_EQ(seen.most_pending, 64);
}

TEST_P(FlowTraitsOnWorkers, AThrottlePerWorkerCountsTheWorkers)
{
    RuntimeUnderTest runtime("native", GetParam(), 1);
    EXPECT_EQ(submit_many(runtime.engine(), 20, {.throttle_per_worker = 16}).inline_runs, 4);
}

TEST_P(FlowTraitsOnWorkers, AnInlineTaskWaitsForWhatItDependsOn)
{
    for (const int workers : {1, 2, 4}) {
        RuntimeUnderTest runtime("native", GetParam(), workers);
        std::vector<int> order;
        TaskFlow root(runtime.engine(), {.traits = {.throttle = 3}});
        int datum = 0;
        root.submit("submits",
                    [&](TaskContext& context) {
                        for (int i = 0; i < 200; ++i)
                            context.flow().submit("appends", [&, i] { order.push_back(i); }, {readwrite(&datum)});
                    },
                    {});
        root.wait();
        ASSERT_EQ(order.size(), 200U);
        for (int i = 0; i < 200; ++i) EXPECT_EQ(order[std::size_t(i)], i);
    }
}

TEST_P(FlowTraitsOnWorkers, DependencesFoundAtStealAreFoundByOthersThanTheSubmitter)
{
    RuntimeUnderTest runtime("native", GetParam(), 2);
    TaskFlow flow(runtime.engine(), {.traits = {.discovery = Discovery::at_steal}});
    std::vector<int> order;
    int datum = 0;
    for (int i = 0; i < 500; ++i) flow.submit("appends", [&, i] { order.push_back(i); }, {readwrite(&datum)});
    flow.wait(); // the owner is not a worker: it cannot have run or connected any
    ASSERT_EQ(order.size(), 500U);
    for (int i = 0; i < 500; ++i) EXPECT_EQ(order[std::size_t(i)], i);
    EXPECT_FALSE(flow.has_undiscovered());
}

} // namespace
} // namespace trencadis::testing
