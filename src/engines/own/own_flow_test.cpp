#include "engines/own/own_flow.hpp"

#include "base/error.hpp"
#include "engines/own/unfinished.hpp"
#include "graph/task_context.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cfenv>
#include <functional>
#include <string>
#include <thread>
#include <vector>

namespace trencadis {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

const std::vector<WorkerPlace> places(2);
const ComputeUnit units[2];

/// A runtime that runs nothing before it is waited for, and then in the order that the test says: any that keeps the dependences.
class Late final : public OwnFlow {
public:
    explicit Late(WorkerBooks& books, const FlowOptions& options = {}, OwnFlow* parent = nullptr)
        : OwnFlow({"engine 'late'", units, books}, options, parent)
    {
    }
    ~Late() override { Late::await_all(); }
    std::vector<std::size_t> order; ///< of the next wait; empty: as submitted

private:
    void hand_over(std::unique_ptr<OwnTask> task) override { tasks_.push_back(std::move(task)); }
    void await_all() override
    {
        for (std::size_t i = 0; i < tasks_.size(); ++i) run_at_home(*tasks_[order.empty() ? i : order[i]], WorkerId(i % 2));
        for (auto& task : tasks_) finish(std::move(task));
        tasks_.clear();
        order.clear();
    }
    std::vector<std::unique_ptr<OwnTask>> tasks_;
};

std::string message_of(const std::function<void()>& call)
{
    try {
        call();
    } catch (const std::exception& error) {
        return error.what();
    }
    return "";
}

class FlowsOfRuntimes : public ::testing::Test {
protected:
    WorkerBooks books_{places};
    Late flow_{books_};
    double a_ = 0, b_ = 0, c_ = 0;
    std::vector<int> ran_;
    void submit(int number, std::initializer_list<Access> accesses)
    {
        flow_.submit(
            "task", [this, number] { ran_.push_back(number); }, accesses);
    }
    void submit_failing(const char* with, std::initializer_list<Access> accesses)
    {
        flow_.submit(
            "fails", [with] { throw std::runtime_error(with); }, accesses);
    }
    std::string wait()
    {
        return message_of([this] { flow_.wait(); });
    }
};

TEST_F(FlowsOfRuntimes, RethrowTheEarliestFailureWhateverTheTiming)
{
    submit_failing("first", {});
    submit_failing("second", {});
    submit_failing("third", {});
    flow_.order = {2, 0, 1};
    EXPECT_EQ(wait(), "first");
    EXPECT_EQ(wait(), "") << "and forget it";
}

TEST_F(FlowsOfRuntimes, DropWhatDependsOnAFailureAndNothingElse)
{
    submit_failing("here", {readwrite(&a_)});
    submit(1, {read(&a_), write(&b_)});
    submit(2, {write(&b_)});
    submit(3, {readwrite(&c_)});
    EXPECT_EQ(wait(), "here");
    EXPECT_THAT(ran_, ElementsAre(3));
    submit(4, {read(&a_), read(&b_)});
    EXPECT_EQ(wait(), "");
    EXPECT_THAT(ran_, ElementsAre(3, 4)) << "after the wait that reported it all is well again";
}

TEST_F(FlowsOfRuntimes, DoNotMindFailuresOfThoseThatOnlyRead)
{
    submit_failing("reader", {read(&a_)});
    submit(1, {write(&a_)});
    EXPECT_EQ(wait(), "reader");
    EXPECT_THAT(ran_, ElementsAre(1));
}

TEST_F(FlowsOfRuntimes, DropOnlyWhatWasSubmittedAfterAFailureWhereTheOrderIsFree)
{
    submit(1, {concurrent_write(&a_)});
    submit_failing("second", {concurrent_write(&a_)});
    submit(3, {read(&a_)});
    flow_.order = {1, 0, 2};
    EXPECT_EQ(wait(), "second");
    EXPECT_THAT(ran_, ElementsAre(1));
}

TEST_F(FlowsOfRuntimes, EndWhenTheyAreCancelled)
{
    submit(1, {});
    flow_.submit("cancels", [this] { flow_.cancel(); }, {});
    submit(3, {});
    EXPECT_EQ(wait(), "the flow was cancelled");
    EXPECT_THAT(ran_, ElementsAre(1));
    flow_.cancel();
    EXPECT_EQ(message_of([this] { submit(4, {}); }), "the flow was cancelled");
    EXPECT_EQ(wait(), "the flow was cancelled");
    submit(5, {});
    EXPECT_EQ(wait(), "");
    EXPECT_THAT(ran_, ElementsAre(1, 5));
}

TEST_F(FlowsOfRuntimes, EndWithTheFlowAroundThem)
{
    Late inner(books_, {}, &flow_);
    flow_.cancel();
    EXPECT_EQ(message_of([&] { inner.submit("task", [] {}, {}); }), "the flow was cancelled");
    EXPECT_EQ(wait(), "the flow was cancelled");
}

TEST_F(FlowsOfRuntimes, RefuseWhatNoUnitRunsAndDataOfOthersAndNames)
{
    struct OnDevices {
        void run_on_device(TaskContext&) {}
    };
    static constexpr Codelet devices = codelet_of<OnDevices>("on_devices");
    EXPECT_THAT(message_of([&] { flow_.submit(devices, OnDevices{}, std::initializer_list<Access>{}); }),
                HasSubstr("'on_devices'"));
    const Datum far = Datum(&a_, 8).owned_by(3), name = Datum(&a_, 8).at_home(named_only);
    EXPECT_THAT(message_of([&] { submit(1, {read(far)}); }), HasSubstr("engine 'late' works in one process"));
    EXPECT_THAT(message_of([&] { submit(1, {read(name)}); }), HasSubstr("no memory behind it"));
    EXPECT_THAT(message_of([&] { Late(books_, {.window = 0}); }), HasSubstr("window is 0"));
    EXPECT_EQ(wait(), "");
    EXPECT_TRUE(ran_.empty());
}

TEST_F(FlowsOfRuntimes, RefuseDataThatOverlapOthersInUseWhereAsked)
{
    Late careful(books_, {.refuse_overlaps = true});
    double x[4] = {};
    careful.submit("whole", [] {}, {write(x, sizeof x)});
    const auto part = [&] { careful.submit("part", [] {}, {write(x + 1, 8)}); };
    EXPECT_THAT(message_of(part), HasSubstr("shares memory"));
    careful.wait();
    EXPECT_EQ(message_of(part), "") << "the whole is in use no more";
    EXPECT_THAT(message_of([&] { careful.submit("whole", [] {}, {write(x, sizeof x)}); }), HasSubstr("shares memory"));
    careful.wait();
}

TEST_F(FlowsOfRuntimes, RaiseWhatTheirTasksRaisedInTheModesOfTheSubmitter)
{
    volatile double third = 0;
    std::fesetround(FE_UPWARD);
    flow_.submit("divide", [&] { third = 1.0 / (3.0 + 0 * third); }, {});
    std::fesetround(FE_TONEAREST);
    std::feclearexcept(FE_ALL_EXCEPT);
    EXPECT_EQ(wait(), "");
    EXPECT_NE(std::fetestexcept(FE_INEXACT), 0);
    EXPECT_GT(third, 1.0 / 3.0);
}

TEST_F(FlowsOfRuntimes, CollectTheOutcomesOfTheirTasks)
{
    flow_.submit("later", [](TaskContext& context) { context.outcome().report(7); }, {});
    flow_.submit(
        "earlier",
        [](TaskContext& context) { context.flow().submit("inner", [](TaskContext& inner) { inner.outcome().report(4); }, {}); },
        {});
    EXPECT_EQ(wait(), "");
    EXPECT_EQ(flow_.outcome().value(), 4);
}

TEST_F(FlowsOfRuntimes, CountTimeOnceWhereTasksRunInsideTasks)
{
    books_.recorder().start();
    Late inner(books_, {}, &flow_);
    const auto pass = [] { std::this_thread::sleep_for(std::chrono::milliseconds(2)); };
    flow_.submit("outer", [&] { pass(), inner.submit("inner", [&] { pass(), pass(); }, {}), inner.wait(), pass(); }, {});
    EXPECT_EQ(wait(), "");
    const Trace trace = books_.recorder().stop();
    const std::vector<Event>& events = trace.workers[0].events;
    ASSERT_EQ(events.size(), 3u);
    EXPECT_STREQ(events[1].name, "inner");
    EXPECT_FALSE(events[0].continued);
    EXPECT_TRUE(events[2].continued);
    for (const int i : {0, 1}) EXPECT_LE(events[std::size_t(i)].end_ns, events[std::size_t(i) + 1].begin_ns);
    const WorkerTime time = books_.times()[0];
    EXPECT_EQ(time.tasks, 2);
    EXPECT_GE(time.busy_ns, 8'000'000);
    EXPECT_LE(time.busy_ns, trace.span_ns);
}

TEST(UnfinishedTasks, AreWaitedForAndTheCallerIsAskedMeanwhile)
{
    Unfinished unfinished;
    for (int i = 0; i < 3; ++i) unfinished.begin();
    const auto caller = std::this_thread::get_id();
    int asked = 0;
    const std::function<bool()> ask = [&] {
        EXPECT_EQ(std::this_thread::get_id(), caller);
        return ++asked > 1;
    };
    Interruption interruption(&ask);
    std::atomic<bool> stopped{false};
    std::thread runtime([&] {
        while (!stopped) std::this_thread::yield();
        unfinished.end();
        unfinished.end();
    });
    unfinished.await(1, interruption, [&] { stopped = true; });
    EXPECT_GE(asked, 2);
    runtime.join();
    Interruption nobody;
    unfinished.await(1, nobody, [] {});
    unfinished.end();
    unfinished.await(0, nobody, [] {});
}

} // namespace
} // namespace trencadis
