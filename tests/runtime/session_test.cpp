#include "base/testing/eventually.hpp"
#include "drivers/linear_algebra.hpp"
#include "observe/summary.hpp"
#include "random_graph.hpp"
#include "session/session.hpp"
#include "threads/futex.hpp"

#include <atomic>
#include <chrono>
#include <limits>
#include <sched.h>
#include <stdexcept>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace trencadis::testing {
namespace {

using std::chrono::milliseconds;
using ::testing::HasSubstr;

/// Random graphs through Session::run.
void run_graphs(Session& session, int count, std::uint64_t seed)
{
    Random random(seed);
    for (int g = 0; g < count; ++g) {
        const GraphPlan plan = GraphPlan::random(random);
        Outcome expected(plan), seen(plan);
        run_in_order(plan, expected);
        session.run([&](Flow&) { run_in_flow(plan, seen, session.executor(), {}); });
        ASSERT_EQ(seen.exception, "");
        ASSERT_EQ(difference(plan, expected, seen), "") << "graph " << g << " of seed " << seed;
    }
}

std::string message_of(const std::function<void()>& call)
{
    try {
        call();
    } catch (const std::exception& error) {
        return error.what();
    }
    return "nothing was thrown";
}

/// Default options with one thing changed.
template <class T> SessionOptions with(T SessionOptions::*option, T value)
{
    SessionOptions options;
    options.*option = std::move(value);
    return options;
}

/// Confines the calling thread, and what it starts, to the first of its cores while alive.
class OneCore {
public:
    OneCore()
    {
        sched_getaffinity(0, sizeof before_, &before_);
        while (!CPU_ISSET(cpu_, &before_)) ++cpu_;
        cpu_set_t one;
        CPU_ZERO(&one);
        CPU_SET(cpu_, &one);
        sched_setaffinity(0, sizeof one, &one);
    }
    ~OneCore() { sched_setaffinity(0, sizeof before_, &before_); }
    OneCore(const OneCore&) = delete;
    OneCore& operator=(const OneCore&) = delete;
    int cpu() const { return cpu_; }

private:
    cpu_set_t before_;
    int cpu_ = 0;
};

TEST(SessionUnderLoad, ServesSeveralCallersAtOnce)
{
    Session session;
    std::vector<std::thread> callers;
    for (int c = 0; c < 4; ++c)
        callers.emplace_back([&, c] { run_graphs(session, share_of(200), mix(test_seed(), 20 + std::uint64_t(c))); });
    for (std::thread& caller : callers) caller.join();
}

TEST(SessionUnderLoad, LivesBesideAnotherOneAndMayCallIt)
{
    Session one, two;
    std::thread caller([&] { run_graphs(one, share_of(100), mix(test_seed(), 31)); });
    run_graphs(two, share_of(100), mix(test_seed(), 32));
    caller.join();
    int inner = 0;
    one.run([&](Flow& flow) {
        flow.submit("calls the other", [&] { two.run([&](Flow& other) { other.submit("inner", [&] { ++inner; }, {}); }); }, {});
    });
    EXPECT_EQ(inner, 1);
}

TEST(SessionUnderLoad, MayBeCalledFromInsideItsOwnTasks)
{
    Session session;
    std::atomic<int> ran{0};
    session.run([&](Flow& flow) {
        for (int i = 0; i < 20; ++i)
            flow.submit("calls", [&] { session.run([&](Flow& inner) { inner.submit("inner", [&] { ++ran; }, {}); }); }, {});
    });
    EXPECT_EQ(ran.load(), 20);
}

TEST(SessionUnderLoad, InAProcessPinnedToOneCoreHasOneWorkerThere)
{
    const OneCore confined;
    Session session;
    EXPECT_EQ(session.workers(), 1);
    EXPECT_EQ(session.options().workers, std::vector<int>{confined.cpu()});
    run_graphs(session, share_of(100), mix(test_seed(), 41));
    EXPECT_THAT(message_of([] { Session(with(&SessionOptions::worker_count, 2)); }), HasSubstr("may use 1 cores"));
}

TEST(SessionUnderLoad, StopsWithinASecondWhenInterruptedAndCanBeUsedAgain)
{
    Session session;
    int data = 0;
    const auto call = [&] {
        const auto begin = std::chrono::steady_clock::now();
        try {
            session.run(
                [&](Flow& flow) {
                    for (;;) flow.submit("long", [] { std::this_thread::sleep_for(milliseconds(2)); }, {readwrite(&data)});
                },
                [&] { return std::chrono::steady_clock::now() - begin > milliseconds(60); });
            ADD_FAILURE() << "run returned";
        } catch (const Error& error) {
            EXPECT_EQ(error.code(), ErrorCode::cancelled);
        }
    };
    EXPECT_LT(soonest(call, std::chrono::seconds(1)), std::chrono::seconds(1));
    session.run([&](Flow& flow) { flow.submit("sets", [&] { data = 7; }, {write(&data)}); });
    EXPECT_EQ(data, 7);
}

TEST(SessionUnderLoad, RethrowsWhatABodyOrATaskThrows)
{
    Session session;
    for (int round = 0; round < share_of(200); ++round) {
        EXPECT_EQ(message_of([&] { session.run([](Flow&) { throw std::runtime_error("body"); }); }), "body");
        EXPECT_EQ(message_of([&] {
                      session.run([](Flow& flow) { flow.submit("throws", [] { throw std::runtime_error("task"); }, {}); });
                  }),
                  "task");
    }
}

TEST(SessionUnderLoad, CountsTasksAndTimeAndForgetsThemOnRequest)
{
    Session session;
    session.reset_statistics();
    const auto work = [&] {
        session.run([](Flow& flow) {
            for (int i = 0; i < 50; ++i) flow.submit("sleeps", [] { std::this_thread::sleep_for(milliseconds(1)); }, {});
        });
    };
    work();
    std::int64_t tasks = 0;
    double busy = 0, idle = 0;
    for (const WorkerStatistics& worker : session.statistics()) {
        tasks += worker.tasks;
        busy += worker.busy;
        idle += worker.idle;
        EXPECT_GE(worker.busy, 0);
        EXPECT_GE(worker.idle, 0);
    }
    EXPECT_GE(tasks, 50);
    EXPECT_LE(tasks, 51) << "the run itself may count as one";
    EXPECT_GE(busy, 0.050);
    EXPECT_LT(idle, busy + 0.050);
    session.reset_statistics();
    for (const WorkerStatistics& worker : session.statistics()) {
        EXPECT_EQ(worker.tasks, 0);
        EXPECT_LT(worker.busy, 1e-3);
    }
}

TEST(SessionUnderLoad, TracesEveryTaskOnceWithItsLabel)
{
    Session session;
    session.start_trace();
    session.run([](Flow& flow) {
        static int data[4];
        for (int i = 0; i < 100; ++i) flow.submit("step", [] { std::this_thread::yield(); }, {readwrite(&data[i % 4])});
    });
    const Trace trace = session.stop_trace();
    int steps = 0;
    for (const WorkerTrace& worker : trace.workers)
        for (const Event& event : worker.events) {
            if (event.kind == EventKind::idle) continue;
            EXPECT_STREQ(event.name, "step");
            steps += !event.continued;
        }
    EXPECT_EQ(steps, 100);
    EXPECT_EQ(trace.origin, Origin::measured);
    EXPECT_TRUE(session.stop_trace().workers.empty()) << "no recording is going on any more";
}

TEST(SessionUnderLoad, TracesATaskThatWaitsInPiecesAndCountsItOnce)
{
    struct Outer {
        Flops flops() const { return 1000; }
        void run(TaskContext& context) const
        {
            for (int i = 0; i < 3; ++i) {
                context.flow().submit("inner", [] { std::this_thread::sleep_for(milliseconds(1)); }, {});
                context.flow().wait();
            }
        }
    };
    static constexpr Codelet outer = codelet_of<Outer>("outer");
    SessionOptions options = with(&SessionOptions::worker_count, 1);
    Session session(options);
    session.start_trace();
    session.run([](Flow& flow) { flow.submit(outer, Outer{}, std::initializer_list<Access>{}); });
    const Summary summary = summarise(session.stop_trace());
    ASSERT_EQ(summary.kernels.size(), 2U);
    const bool first = summary.kernels[0].name == "outer";
    const KernelSummary &waiting = summary.kernels[first ? 0 : 1], &inside = summary.kernels[first ? 1 : 0];
    EXPECT_EQ(inside.calls, 3);
    EXPECT_EQ(waiting.calls, 1);
    EXPECT_LE(waiting.total_s + inside.total_s, summary.span_s) << "on one worker no time counts twice";
    EXPECT_NEAR(waiting.gflops * waiting.total_s, 1000e-9, 1e-12) << "flops count once";
}

std::int64_t shortest_task_ns(const WorkerTrace& worker)
{
    std::int64_t shortest = std::numeric_limits<std::int64_t>::max();
    for (const Event& event : worker.events)
        if (event.kind == EventKind::task) shortest = std::min(shortest, event.end_ns - event.begin_ns);
    return shortest;
}

TEST(SessionUnderLoad, EmulatesASlowCoreAndSaysSo)
{
    const Session probe;
    if (probe.workers() < 2) GTEST_SKIP() << "needs two cores";
    const std::vector<int> cores = {probe.options().workers[0], probe.options().workers[1]};
    SessionOptions options = with(&SessionOptions::workers, cores);
    options.slow = {{cores[1], 0.2}};
    Session session(options);
    session.start_trace();
    session.run([](Flow& flow) {
        for (int i = 0; i < 150; ++i)
            flow.submit("spins",
                        [] {
                            const auto end = std::chrono::steady_clock::now() + milliseconds(1);
                            while (std::chrono::steady_clock::now() < end) relax();
                        },
                        {});
    });
    const Trace trace = session.stop_trace();
    EXPECT_EQ(trace.origin, Origin::emulated);
    // The shortest of many, because neighbours on the machine only ever make a task longer.
    EXPECT_LT(shortest_task_ns(trace.workers[0]), 3'000'000);
    EXPECT_GE(shortest_task_ns(trace.workers[1]), 4'900'000) << "1 ms at a fifth of the speed";
}

TEST(SessionUnderLoad, RefusesWhatItCannotBeMadeOfInWords)
{
    EXPECT_THAT(message_of([] { Session(with(&SessionOptions::scheduler, std::string("eagre"))); }), HasSubstr("eager"));
    EXPECT_THAT(message_of([] { Session(with(&SessionOptions::engine, std::string("natve"))); }), HasSubstr("native"));
    EXPECT_THAT(message_of([] { Session(with(&SessionOptions::window, std::int64_t{-1})); }), HasSubstr("-1"));
    EXPECT_THAT(message_of([] { Session(with(&SessionOptions::workers, std::vector<int>{100'000})); }), HasSubstr("100000"));
    EXPECT_THAT(message_of([] { Session(with(&SessionOptions::slow, std::map<int, double>{{0, 0.0}})); }), HasSubstr("fraction"));
}

TEST(SessionUnderLoad, IsRefusedInAForkedChildWhereItsWorkersAreNot)
{
    if (sanitized) GTEST_SKIP() << "sanitizers do not follow a fork of a process with threads";
    Session session;
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
        const Index n = 80; // short enough to be shared; the caller alone can do it, too
        std::vector<double> A(n * n, 1.0), C(n * n);
        try {
            gemm(session, Op::none, Op::none, n, n, n, 1.0, A.data(), n, A.data(), n, 0.0, C.data(), n);
        } catch (const Error&) {
            _exit(2);
        }
        if (C != std::vector<double>(n * n, double(n))) _exit(3);
        try {
            session.run([](Flow&) {});
        } catch (const Error& error) {
            _exit(error.code() == ErrorCode::environment ? 42 : 1);
        }
        _exit(0);
    }
    int status = 0;
    waitpid(child, &status, 0);
    EXPECT_TRUE(WIFEXITED(status));
    EXPECT_EQ(WEXITSTATUS(status), 42);
}

} // namespace
} // namespace trencadis::testing
