#include "observe/flatten.hpp"
#include "observe/recorder.hpp"
#include "observe/test_traces.hpp"

#include <chrono>
#include <thread>

#include <gtest/gtest.h>

namespace trencadis {
namespace {

using testing::event;

/// As an engine does.
void record_one(Recorder& recorder, WorkerId worker, std::uint64_t order)
{
    if (!recorder.enabled()) return;
    const std::int64_t begin = now_ns();
    recorder.record(worker, event("gemm", order, begin, now_ns()));
}

TEST(Clock, AgreesWithTheKernelsMonotonicClockBeforeAndAfterCalibration)
{
    for (int i = 0; i < 30; ++i) {
        const std::int64_t before = detail::monotonic_ns();
        const std::int64_t ours = now_ns();
        const std::int64_t after = detail::monotonic_ns();
        EXPECT_GE(ours, before - 1000);
        EXPECT_LE(ours, after + 20'000) << "10 ppm of the 300 ms this takes, and the counter's offset between cores";
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
}

TEST(Clock, NeverRunsBackwardsOnOneThread)
{
    std::int64_t last = now_ns();
    const std::int64_t end = last + 30'000'000; // over the moment of calibration, if this is the first test
    while (last < end) {
        const std::int64_t now = now_ns();
        ASSERT_GE(now, last);
        last = now;
    }
}

TEST(Recorder, RecordsNothingWhileItIsOff)
{
    Recorder recorder(1);
    EXPECT_FALSE(recorder.enabled());
    recorder.record(0, event("gemm", 0, now_ns(), now_ns()));
    EXPECT_TRUE(recorder.stop().workers.empty());
    recorder.start();
    EXPECT_TRUE(recorder.stop().workers.at(0).events.empty());
}

TEST(Recorder, KeepsEveryEventInOrderAcrossManyChunks)
{
    Recorder recorder(2);
    recorder.describe(1, 7, "P-core");
    for (int round = 0; round < 3; ++round) { // later rounds use the chunks again
        recorder.start();
        for (std::uint64_t i = 0; i < 10'000; ++i) record_one(recorder, 1, i);
        const Trace trace = recorder.stop("title", Origin::emulated);
        EXPECT_EQ(trace.title, "title");
        EXPECT_EQ(trace.origin, Origin::emulated);
        ASSERT_EQ(trace.workers.size(), 2U);
        EXPECT_TRUE(trace.workers[0].events.empty());
        EXPECT_EQ(trace.workers[1].cpu, 7);
        EXPECT_EQ(trace.workers[1].kind, "P-core");
        const std::vector<Event>& events = trace.workers[1].events;
        ASSERT_EQ(events.size(), 10'000U);
        for (std::size_t i = 0; i < events.size(); ++i) {
            ASSERT_EQ(events[i].order, i);
            ASSERT_LE(0, events[i].begin_ns);
            ASSERT_LE(events[i].begin_ns, events[i].end_ns);
            ASSERT_LE(events[i].end_ns, trace.span_ns);
        }
    }
}

TEST(Recorder, CutsEventsAtTheStartOfTheRecordingAndDropsOlderOnes)
{
    Recorder recorder(1);
    const std::int64_t before = now_ns();
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    recorder.start();
    recorder.record(0, event("old", 0, before, before + 1));
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    recorder.record(0, event("cut", 1, before, now_ns()));
    const Trace trace = recorder.stop();
    ASSERT_EQ(trace.workers[0].events.size(), 1U);
    EXPECT_STREQ(trace.workers[0].events[0].name, "cut");
    EXPECT_EQ(trace.workers[0].events[0].begin_ns, 0);
}

TEST(Recorder, CountsWhatIsOverItsLimitAsLost)
{
    Recorder recorder(1, 100);
    recorder.start();
    for (std::uint64_t i = 0; i < 250; ++i) recorder.record(0, event("gemm", i, now_ns(), now_ns()));
    const Trace trace = recorder.stop();
    EXPECT_EQ(trace.workers[0].events.size(), 100U);
    EXPECT_EQ(trace.lost, 150);
    recorder.start();
    EXPECT_EQ(recorder.stop().lost, 0) << "of an earlier recording";
}

TEST(Recorder, CanStartAndStopWhileWorkersRecord)
{
    constexpr int workers = 2;
    Recorder recorder(workers);
    std::atomic<bool> done{false};
    std::vector<std::thread> threads;
    for (int w = 0; w < workers; ++w)
        threads.emplace_back([&, w] {
            for (std::uint64_t i = 0; !done.load(std::memory_order_relaxed); ++i) {
                record_one(recorder, w, i);
                if (i % 64 == 0) std::this_thread::yield();
            }
        });
    std::size_t seen = 0;
    for (int round = 0; round < 100; ++round) {
        recorder.start();
        if (round % 10 == 3) recorder.start(); // drops the first and begins again
        std::this_thread::sleep_for(std::chrono::microseconds(100 + 17 * round));
        const Trace trace = recorder.stop();
        for (const WorkerTrace& worker : trace.workers) {
            seen += worker.events.size();
            for (std::size_t i = 1; i < worker.events.size(); ++i) {
                ASSERT_EQ(worker.events[i].order, worker.events[i - 1].order + 1)
                    << "an event is missing or from another recording";
                ASSERT_GE(worker.events[i].begin_ns, worker.events[i - 1].end_ns);
            }
        }
    }
    done = true;
    for (std::thread& thread : threads) thread.join();
    EXPECT_GT(seen, 0U);
}

TEST(Flatten, LeavesWhatIsInOrderAlone)
{
    std::vector<Event> events{event("a", 0, 0, 5), event("b", 1, 5, 5), event("c", 2, 7, 9)};
    flatten(events);
    ASSERT_EQ(events.size(), 3U);
    EXPECT_FALSE(events[1].continued);
}

TEST(Flatten, CutsATaskAroundThoseThatRanInsideIt)
{
    // As recorded: inner tasks end first.
    std::vector<Event> events{event("inner", 1, 10, 20), event("deep", 3, 35, 40), event("inner", 2, 30, 50),
                              event("outer", 0, 0, 60)};
    flatten(events);
    const std::vector<std::tuple<std::string, std::int64_t, std::int64_t, bool>> expected{
        {"outer", 0, 10, false}, {"inner", 10, 20, false}, {"outer", 20, 30, true}, {"inner", 30, 35, false},
        {"deep", 35, 40, false}, {"inner", 40, 50, true},  {"outer", 50, 60, true}};
    ASSERT_EQ(events.size(), expected.size());
    for (std::size_t i = 0; i < events.size(); ++i) {
        EXPECT_EQ(std::make_tuple(std::string(events[i].name), events[i].begin_ns, events[i].end_ns, events[i].continued),
                  expected[i])
            << i;
        EXPECT_EQ(events[i].flops, events[i].continued ? 0 : 1e6) << "flops are counted once";
    }
}

TEST(Flatten, CountsATaskWhoseWholeTimeWentToThoseInside)
{
    std::vector<Event> events{event("inner", 1, 0, 10), event("outer", 0, 0, 10)};
    flatten(events);
    int outer = 0;
    for (const Event& e : events) outer += std::string_view(e.name) == "outer" && !e.continued;
    EXPECT_EQ(outer, 1);
    for (std::size_t i = 1; i < events.size(); ++i) EXPECT_GE(events[i].begin_ns, events[i - 1].end_ns);
}

TEST(Flatten, GivesCrossingTimeToTheLaterOne)
{
    std::vector<Event> events{event("a", 0, 0, 10), event("b", 1, 8, 15)};
    flatten(events);
    ASSERT_EQ(events.size(), 2U);
    EXPECT_EQ(events[0].end_ns, 8);
    EXPECT_EQ(events[1].begin_ns, 8);
    EXPECT_EQ(events[1].end_ns, 15);
}

} // namespace
} // namespace trencadis
