// Engine `starpu` beyond what the conformance tests ask of every engine.
#include "../runtime/random_graph.hpp"

#include "base/error.hpp"
#include "session/session.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <ctime>
#include <functional>
#include <memory>
#include <sched.h>
#include <stdexcept>
#include <string>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

namespace trencadis::testing {
namespace {

using ::testing::HasSubstr;
using namespace std::chrono_literals;

class Starpu : public ::testing::Test {
protected:
    void SetUp() override
    {
        const std::string reason = entry().why_not();
        if (!reason.empty()) GTEST_SKIP() << reason;
        if (sanitized) GTEST_SKIP() << "the sanitizers cannot follow StarPU's own locks";
    }
    static const EngineEntry& entry() { return find_entry("engine", engine_entries(), "starpu"); }
    static std::unique_ptr<Engine> make(int workers, const std::string& policy = "", const std::string& models = "")
    {
        EngineParts parts{std::vector<WorkerPlace>(std::size_t(workers)), parse_scheduler("eager"), nullptr};
        parts.policy = policy;
        parts.models = models;
        return entry().make(std::move(parts));
    }
    static std::string message_of(const std::function<void()>& call)
    {
        try {
            call();
        } catch (const std::exception& error) {
            return error.what();
        }
        return "";
    }
    /// What the child's body answers; 255: it had to be ended.
    static int in_child(const std::function<int()>& body)
    {
        const pid_t child = fork();
        if (child == 0) std::exit(body());
        int status = 0;
        for (int turn = 0; turn < 1000; ++turn) {
            if (waitpid(child, &status, WNOHANG) == child) return WIFEXITED(status) ? WEXITSTATUS(status) : 254;
            std::this_thread::sleep_for(10ms);
        }
        kill(child, SIGKILL);
        waitpid(child, &status, 0);
        return 255;
    }
    static int forty_two(Engine& engine)
    {
        int answer = 0;
        engine.run({}, [&](Flow& flow) { flow.submit("task", [&] { answer = 42; }, {write(&answer)}); });
        return answer;
    }
};

TEST_F(Starpu, GivesForRandomGraphsWhatExecutionInOrderGives)
{
    std::printf("seed %llu (TRENCADIS_TEST_SEED repeats it)\n", static_cast<unsigned long long>(test_seed()));
    Random random(mix(test_seed(), 7));
    static constexpr int windows[] = {1, 2, 3, 5, 16, 100, 4096};
    std::unique_ptr<Engine> engine;
    std::unique_ptr<Flow> opened;
    // No more workers than small machines have cores: idle ones spin, and the others would wait for time slices.
    for (int g = 0; g < share_of(300); ++g) {
        if (g % 50 == 0) {
            opened.reset();
            engine = make(1 + g / 50 % 2, g < 100 ? "prio" : "lws");
            opened = engine->open_flow({.window = random.pick(windows)});
        }
        const GraphPlan plan = GraphPlan::random(random);
        Outcome expected(plan), seen(plan);
        run_in_order(plan, expected);
        if (random.one_in(2)) run_in_flow(plan, seen, *opened);
        else
            engine->run({.flow = {.window = random.pick(windows), .priorities = Priorities(random.below(3))}},
                        [&](Flow& flow) { run_in_flow(plan, seen, flow); });
        std::string text;
        for (const GraphPlan::Step& step : plan.steps) text += "  " + describe(step) + "\n";
        ASSERT_EQ(seen.exception + difference(plan, expected, seen), "") << "graph " << g << "\n" << text;
    }
}

TEST_F(Starpu, TakesMoreDataThanStarpuHasRoomForInATask)
{
    constexpr std::size_t count = 40;
    const auto engine = make(2);
    std::array<int, count> numbers{};
    std::vector<Access> all;
    for (int& number : numbers) all.push_back(readwrite(&number, sizeof number));
    engine->run({}, [&](Flow& flow) {
        for (int round = 0; round < 20; ++round) {
            for (std::size_t i = 0; i < count; ++i)
                flow.submit("one", [&numbers, i] { numbers[i] += 1; }, {readwrite(&numbers[i], sizeof(int))});
            flow.submit(
                "all", [&numbers] { std::ranges::rotate(numbers, numbers.begin() + 1), numbers[0] *= 2; }, all);
        }
    });
    std::array<int, count> expected{};
    for (int round = 0; round < 20; ++round) {
        for (int& number : expected) number += 1;
        std::ranges::rotate(expected, expected.begin() + 1), expected[0] *= 2;
    }
    EXPECT_EQ(numbers, expected);
}

TEST_F(Starpu, RefusesMoreWorkersThanItsBuildHasAndNamesTheCap)
{
    const int most = entry().most_workers();
    EXPECT_THAT(message_of([&] { make(most + 1); }), HasSubstr("at most " + std::to_string(most) + " workers, and " +
                                                               std::to_string(most + 1) + " were asked for: StarPU"));
    SessionOptions options;
    options.engine = "starpu";
    options.worker_count = most + 1;
    EXPECT_THAT(message_of([&] { Session session(options); }), HasSubstr("at most " + std::to_string(most) + " workers"));
    EXPECT_EQ(forty_two(*make(most)), 42);
}

TEST_F(Starpu, TakesItsOwnPoliciesByNameAndRefusesOthers)
{
    SessionOptions options;
    options.engine = "starpu";
    options.worker_count = 1;
    for (const std::string name : {"mosaic", "heteroprio"}) { // which would end the process
        options.scheduler = name;
        EXPECT_THAT(message_of([&] { Session session(options); }),
                    HasSubstr("unknown scheduler of engine 'starpu' '" + name + "'"));
    }
    for (const std::string name : {"eager", "dmdas", "ws"}) {
        options.scheduler = name;
        Session session(options);
        EXPECT_EQ(session.options().scheduler, name);
        int ran = 0;
        session.run([&](Flow& flow) { flow.submit("task", [&] { ++ran; }, {}); });
        EXPECT_EQ(ran, 1);
    }
    options.scheduler.clear();
    EXPECT_EQ(Session(options).options().scheduler, entry().policies().front());
    EXPECT_THAT(Session(options).runtime(), HasSubstr("StarPU 1."));
}

TEST_F(Starpu, IsSharedByEnginesThatWantItAlikeAndStartedAnewForOthers)
{
    const auto two = make(2), also_two = make(2), one = make(1);
    EXPECT_EQ(forty_two(*two), 42);
    EXPECT_EQ(forty_two(*one), 42);
    {
        const auto flow = two->open_flow({});
        EXPECT_EQ(forty_two(*also_two), 42);
        EXPECT_THAT(message_of([&] { forty_two(*one); }), HasSubstr("StarPU has one set of workers in a process"));
    }
    EXPECT_EQ(forty_two(*one), 42);
}

TEST_F(Starpu, RunsBesideTheNativeEngine)
{
    RuntimeUnderTest native("native", "mosaic", 2);
    const auto engine = make(2);
    int inner = 0;
    engine->run({}, [&](Flow& flow) {
        flow.submit("outer", [&] { native.engine().run({}, [&](Flow& f) { f.submit("inner", [&] { inner = 1; }, {}); }); }, {});
    });
    EXPECT_EQ(inner, 1);
    native.engine().run({}, [&](Flow& flow) { flow.submit("outer", [&] { inner += forty_two(*engine); }, {}); });
    EXPECT_EQ(inner, 43);
}

TEST_F(Starpu, CarriesACallInsideItsTasksOutOnTheSpot)
{
    const auto engine = make(1); // whose worker must not wait for itself
    int answer = 0;
    std::string refusal;
    engine->run({}, [&](Flow& flow) {
        flow.submit("outer", [&] { answer = forty_two(*engine), refusal = message_of([&] { engine->open_flow({}); }); }, {});
    });
    EXPECT_EQ(answer, 42);
    EXPECT_THAT(refusal, HasSubstr("cannot open a flow"));
}

TEST_F(Starpu, CarriesExceptionsToTheWaitAndDropsWhatDependsOnThem)
{
    const auto engine = make(2);
    int datum = 0, dependent = 0, other = 0;
    const std::string said = message_of([&] {
        engine->run({}, [&](Flow& flow) {
            flow.submit("fails", [] { throw std::runtime_error("early"); }, {write(&datum)});
            flow.submit("depends", [&] { ++dependent; }, {read(&datum)});
            flow.submit("does not", [&] { ++other; }, {write(&other)});
            flow.submit("fails too", [] { throw std::logic_error("late"); }, {});
        });
    });
    EXPECT_EQ(said, "early");
    EXPECT_EQ(dependent, 0);
    EXPECT_EQ(other, 1);
    EXPECT_EQ(forty_two(*engine), 42);
}

/// While it waits for the end, and while it submits more than may be in flight.
TEST_F(Starpu, EndsWithinASecondWhenItIsInterrupted)
{
    const auto engine = make(2);
    for (const int tasks : {3000, 1'000'000}) {
        std::atomic<int> ran{0};
        const auto begin = std::chrono::steady_clock::now();
        const std::function<bool()> interrupted = [&] { return std::chrono::steady_clock::now() - begin > 60ms; };
        double data[2] = {};
        const auto call = [&] {
            engine->run({.interrupted = &interrupted}, [&](Flow& flow) {
                for (int i = 0; i < tasks; ++i)
                    flow.submit("task", [&] { ++ran, std::this_thread::sleep_for(1ms); }, {readwrite(&data[i % 2])});
            });
        };
        EXPECT_EQ(message_of(call), "the flow was cancelled");
        EXPECT_LT(std::chrono::steady_clock::now() - begin, 3s);
        EXPECT_LT(ran, 3000);
    }
}

TEST_F(Starpu, TellsAForkedChildThatItsWorkersAreNotThere)
{
    auto engine = make(2);
    EXPECT_EQ(forty_two(*engine), 42);
    const auto says_so = [&] {
        const std::string said = message_of([&] { forty_two(*engine); }) + message_of([&] { forty_two(*make(1)); });
        return said.find("before a fork") < said.rfind("before a fork") ? 7 : 1;
    };
    EXPECT_EQ(in_child(says_so), 7);
    EXPECT_EQ(forty_two(*engine), 42) << "and the parent goes on";
    engine.reset();
    EXPECT_EQ(in_child([] { return forty_two(*make(1)); }), 42) << "a child of a process that has ended it has one of its own";
}

TEST_F(Starpu, SleepsBetweenCalls)
{
    const auto engine = make(2);
    EXPECT_EQ(forty_two(*engine), 42);
    const auto flow = engine->open_flow({});
    std::this_thread::sleep_for(20ms);
    const std::clock_t before = std::clock(); // of all threads
    std::this_thread::sleep_for(200ms);
    EXPECT_LT(double(std::clock() - before) / CLOCKS_PER_SEC, 0.1) << "two that spin take 0.4 s, where there are two cores";
}

TEST_F(Starpu, LeavesTheProcessAsItWas)
{
    struct State {
        cpu_set_t affinity;
        std::vector<std::string> environment;
        std::vector<void*> handlers;
        static State now()
        {
            State state{};
            sched_getaffinity(0, sizeof state.affinity, &state.affinity);
            for (char** entry = environ; *entry; ++entry) state.environment.emplace_back(*entry);
            for (int signal = 1; signal < 32; ++signal) {
                struct sigaction action {};
                sigaction(signal, nullptr, &action);
                state.handlers.push_back(reinterpret_cast<void*>(action.sa_handler));
            }
            return state;
        }
    };
    const State before = State::now();
    ::testing::internal::CaptureStderr();
    ::testing::internal::CaptureStdout();
    const auto engine = make(3); // more than the cores of small machines, of which it would warn
    EXPECT_EQ(forty_two(*engine), 42);
    EXPECT_EQ(::testing::internal::GetCapturedStdout() + ::testing::internal::GetCapturedStderr(), "");
    const State after = State::now();
    EXPECT_TRUE(CPU_EQUAL(&before.affinity, &after.affinity));
    EXPECT_EQ(before.environment, after.environment);
    EXPECT_EQ(before.handlers, after.handlers);
}

TEST_F(Starpu, DoesWithoutAFolderThatCannotBeWritten) { EXPECT_EQ(forty_two(*make(1, "dmdas", "/proc/nowhere")), 42); }

} // namespace
} // namespace trencadis::testing
