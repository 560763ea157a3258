// Engines whose dependences a runtime finds, under load: what tests/runtime does with ours.
#include "random_graph.hpp"

#include "base/error.hpp"
#include "base/sanitized.hpp"
#include "session/session.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <functional>
#include <sched.h>
#include <stdexcept>
#include <thread>

namespace trencadis::testing {
namespace {

using std::chrono::milliseconds;
using ::testing::HasSubstr;

const std::vector<std::string>& own_engines()
{
    static const std::vector<std::string> found = [] {
        std::vector<std::string> names;
        for (const std::string name : {"openmp-gnu", "openmp-llvm", "starpu"}) {
            std::string reason = find_entry("engine", engine_entries(), name).why_not();
            if (sanitized && name == "starpu") reason = "the sanitizers cannot follow its locks";
            if (reason.empty()) names.emplace_back(name);
            else std::printf("engine '%s' is not tried: %s\n", name.c_str(), reason.c_str());
        }
        return names;
    }();
    return found;
}

std::unique_ptr<Engine> make(const std::string& engine, int workers)
{
    EngineParts parts{std::vector<WorkerPlace>(std::size_t(workers)), parse_scheduler("eager"), nullptr};
    return find_entry("engine", engine_entries(), engine).make(std::move(parts));
}

std::string message_of(const std::function<void()>& call)
{
    try {
        call();
    } catch (const std::exception& error) {
        return error.what();
    }
    return "";
}

class OwnEngines : public ::testing::TestWithParam<std::string> {
protected:
    std::unique_ptr<Engine> engine_ = make(GetParam(), 2);
};
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(OwnEngines);
INSTANTIATE_TEST_SUITE_P(All, OwnEngines, ::testing::ValuesIn(own_engines()), [](const auto& info) {
    std::string name = info.param;
    std::ranges::replace(name, '-', '_');
    return name;
});

FlowOptions random_options(Random& random)
{
    static constexpr int windows[] = {1, 2, 3, 5, 16, 100, 4096};
    return {.window = random.pick(windows)};
}

/// StarPU's idle workers spin: where they are more than the cores the others wait for time slices.
int most_workers(const std::string& name) { return name == "starpu" ? 2 : 5; }

/// `check(plan, seen)` for many graphs on engines with one to five workers, in runs and in flows that are opened.
template <class Check> void for_each_graph(const std::string& name, int count, bool failures, Check check)
{
    std::printf("%d graphs, seed %llu (TRENCADIS_TEST_SEED repeats it)\n", count, static_cast<unsigned long long>(test_seed()));
    Random random(mix(test_seed(), failures));
    static constexpr int workers[] = {1, 2, 2, 3, 5};
    std::unique_ptr<Engine> engine;
    std::unique_ptr<Flow> opened;
    for (int g = 0; g < count; ++g) {
        if (g % 50 == 0) {
            opened.reset();
            engine = make(name, std::min(random.pick(workers), most_workers(name)));
            opened = engine->open_flow(random_options(random));
        }
        const GraphPlan plan = GraphPlan::random(random, failures);
        Outcome seen(plan);
        const bool in_run = !random.one_in(4);
        if (in_run) engine->run({random_options(random)}, [&](Flow& flow) { run_in_flow(plan, seen, flow); });
        else run_in_flow(plan, seen, *opened);
        const std::string difference = check(plan, seen);
        if (difference.empty()) continue;
        std::string text;
        for (const GraphPlan::Step& step : plan.steps) text += "  " + describe(step) + "\n";
        FAIL() << difference << "\ngraph " << g << ", " << engine->workers() << " workers, " << (in_run ? "run" : "opened")
               << "\n"
               << text;
    }
}

TEST_P(OwnEngines, GiveWhatExecutionInOrderGives)
{
    for_each_graph(GetParam(), share_of(600), false, [](const GraphPlan& plan, const Outcome& seen) {
        Outcome expected(plan);
        run_in_order(plan, expected);
        return seen.exception + difference(plan, expected, seen);
    });
}

TEST_P(OwnEngines, WithFailuresDropWhatDependsOnThemAndReportTheEarliest)
{
    for_each_graph(GetParam(), share_of(300), true,
                   [](const GraphPlan& plan, const Outcome& seen) { return FailureModel(plan).difference(plan, seen); });
}

TEST_P(OwnEngines, ServeSeveralCallersAtOnce)
{
    const auto call = [&](std::uint64_t seed) {
        Random random(mix(test_seed(), seed));
        for (int g = 0; g < share_of(50); ++g) {
            const GraphPlan plan = GraphPlan::random(random);
            Outcome expected(plan), seen(plan);
            run_in_order(plan, expected);
            engine_->run({}, [&](Flow& flow) { run_in_flow(plan, seen, flow); });
            EXPECT_EQ(difference(plan, expected, seen), "");
        }
    };
    std::thread other([&] { call(1); });
    call(2);
    other.join();
}

TEST_P(OwnEngines, RethrowWhatABodyThrowsAndCanBeUsedAgain)
{
    int ran = 0;
    EXPECT_EQ(message_of([&] {
                  engine_->run({}, [&](Flow& flow) {
                      flow.submit("before", [&] { ++ran; }, {});
                      throw std::runtime_error("body");
                  });
              }),
              "body");
    EXPECT_EQ(ran, 1) << "what was submitted runs";
    engine_->run({}, [&](Flow& flow) { flow.submit("again", [&] { ++ran; }, {}); });
    EXPECT_EQ(ran, 2);
}

/// A task takes 2 ms; on a machine that others use, too, the bound is what all of them would take.
TEST_P(OwnEngines, StopSoonWhenInterrupted)
{
    const auto caller = std::this_thread::get_id();
    const auto stopped_after = [&](int tasks, bool chain) {
        double data[2] = {};
        const auto begin = std::chrono::steady_clock::now();
        const std::function<bool()> interrupted = [&] {
            EXPECT_EQ(std::this_thread::get_id(), caller);
            return std::chrono::steady_clock::now() - begin > milliseconds(60);
        };
        const auto run = [&] {
            engine_->run({.interrupted = &interrupted}, [&](Flow& flow) {
                for (int i = 0; i < tasks; ++i)
                    flow.submit("long", [] { std::this_thread::sleep_for(milliseconds(2)); },
                                {readwrite(&data[chain ? 0 : i % 2])});
            });
        };
        EXPECT_EQ(message_of(run), "the flow was cancelled");
        return std::chrono::steady_clock::now() - begin;
    };
    EXPECT_LT(stopped_after(1'000'000, false), milliseconds(4000)) << "while it submits";
    EXPECT_LT(stopped_after(2000, true), milliseconds(4000)) << "while it waits";
}

TEST_P(OwnEngines, CancelFlowsInsideTasksWithTheOneAround)
{
    const std::unique_ptr<Flow> flow = engine_->open_flow({});
    std::atomic<bool> inside{false};
    flow->submit("outer",
                 [&](TaskContext& context) {
                     int a = 0;
                     for (;;) context.flow().submit("inner", [&] { inside = true; }, {readwrite(&a)}); // ends by its exception
                 },
                 {});
    while (!inside) std::this_thread::yield();
    flow->cancel();
    EXPECT_EQ(message_of([&] { flow->wait(); }), "the flow was cancelled");
    flow->submit("again", [&] { inside = false; }, {});
    flow->wait();
    EXPECT_FALSE(inside);
}

TEST_P(OwnEngines, RunInsideTheirOwnTasksAndInsideEachOthers)
{
    std::atomic<int> ran{0};
    const auto native = std::make_unique<RuntimeUnderTest>("native", "eager", 2);
    std::vector<std::unique_ptr<Engine>> engines;
    for (const std::string& name : own_engines()) engines.push_back(make(name, 2));
    engine_->run({}, [&](Flow& flow) {
        for (int i = 0; i < 10; ++i)
            flow.submit("outer",
                        [&] {
                            const auto inner = [&](Flow& other) {
                                for (int j = 0; j < 10; ++j) other.submit("inner", [&] { ++ran; }, {});
                            };
                            engine_->run({}, inner);
                            for (const auto& engine : engines) engine->run({}, inner);
                            native->engine().run({}, inner);
                        },
                        {});
    });
    EXPECT_EQ(ran, 10 * 10 * (2 + int(engines.size())));
}

TEST_P(OwnEngines, GiveTheCallerItsAffinityBack)
{
    cpu_set_t before, inside, after;
    sched_getaffinity(0, sizeof before, &before);
    if (CPU_COUNT(&before) < 2) GTEST_SKIP() << "needs two cores";
    EngineParts parts{std::vector<WorkerPlace>(1), parse_scheduler("eager"), nullptr};
    while (!CPU_ISSET(++parts.workers[0].cpu, &before)) {}
    const int core = parts.workers[0].cpu;
    const auto engine = find_entry("engine", engine_entries(), GetParam()).make(std::move(parts));
    engine->run({}, [&](Flow& flow) { flow.submit("asks", [&] { sched_getaffinity(0, sizeof inside, &inside); }, {}); });
    sched_getaffinity(0, sizeof after, &after);
    EXPECT_EQ(CPU_COUNT(&inside), 1);
    EXPECT_TRUE(CPU_ISSET(core, &inside));
    EXPECT_TRUE(CPU_EQUAL(&before, &after));
}

TEST_P(OwnEngines, CountTimeAndTraceTasksOnce)
{
    engine_->recorder().start();
    double data[4] = {};
    engine_->run({}, [&](Flow& flow) {
        for (int i = 0; i < 100; ++i) flow.submit("step", [] { std::this_thread::yield(); }, {readwrite(&data[i % 4])});
    });
    int steps = 0;
    std::int64_t counted = 0;
    for (const WorkerTrace& worker : engine_->recorder().stop().workers)
        for (const Event& event : worker.events) steps += event.kind == EventKind::task && !event.continued;
    for (const WorkerTime& time : engine_->times()) counted += time.tasks;
    EXPECT_EQ(steps, 100);
    EXPECT_EQ(counted, 100);
}

} // namespace
} // namespace trencadis::testing
