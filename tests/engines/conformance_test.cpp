// What every engine says of itself (Capabilities) is what it does: each claim is tried on each engine of the build, and
// each claim that is not made is shown to be missing or refused by name.
#include "../runtime/engine_fixture.hpp"
#include "toy_engine.hpp"

#include "base/error.hpp"
#include "base/sanitized.hpp"
#include "base/testing/eventually.hpp"
#include "session/session.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <vector>

namespace trencadis {
namespace {

using namespace testing;
using ::testing::HasSubstr;

const EngineEntry toy{{"toy", "", ""}, ToyEngine::abilities, [](EngineParts parts) -> std::unique_ptr<Engine> {
                          return std::make_unique<ToyEngine>(parts);
                      }};

/// Engines of the build that compute; the others take no time of ours (engines/simulated tests them in virtual time).
const std::vector<std::string>& computing_engines()
{
    static const std::vector<std::string> found = [] {
        std::vector<std::string> names;
        for (const EngineEntry* entry : engine_entries()) {
            const std::string reason = entry->why_not ? entry->why_not() : "";
            if (!reason.empty()) std::printf("engine '%s' is not tried: %s\n", entry->name, reason.c_str());
            else if (sanitized && std::string_view(entry->name).starts_with("starpu"))
                std::printf("engine '%s' is not tried: the sanitizers cannot follow its locks\n", entry->name);
            else if (entry->capabilities.computes) names.emplace_back(entry->name);
        }
        return names;
    }();
    return found;
}
std::vector<std::string> engines_and_the_toy()
{
    std::vector<std::string> names = computing_engines();
    names.emplace_back(toy.name);
    return names;
}
/// GoogleTest takes no dashes.
std::string test_name(const ::testing::TestParamInfo<std::string>& info)
{
    std::string name = info.param;
    std::ranges::replace(name, '-', '_');
    return name;
}

/// Or until the time is over, whatever else the machine does.
template <class Condition> void wait_until(Condition condition, std::chrono::milliseconds at_most)
{
    const auto end = std::chrono::steady_clock::now() + at_most;
    while (!condition() && std::chrono::steady_clock::now() < end) std::this_thread::yield();
}

class Engines : public ::testing::TestWithParam<std::string> {
protected:
    static constexpr int workers = 3;
    const EngineEntry& entry_ = GetParam() == toy.name ? toy : find_entry("engine", engine_entries(), GetParam());
    const Capabilities& can_ = entry_.capabilities;
    std::unique_ptr<Threads> threads_ = threads_under_test().make();
    std::unique_ptr<Engine> engine_ = make(can_.parallel ? workers : 1);

    std::unique_ptr<Engine> make(int count, const char* scheduler = "eager") const
    {
        EngineParts parts{std::vector<WorkerPlace>(std::size_t(count)), parse_scheduler(scheduler), threads_.get()};
        return entry_.make(std::move(parts));
    }
    /// How many of `count` tasks that access one datum so were ever inside at once, when each waits a while for another.
    int most_together(int count, const Access& access)
    {
        std::atomic<int> inside{0}, most{0};
        engine_->run({}, [&](Flow& flow) {
            for (int i = 0; i < count; ++i)
                flow.submit("together",
                            [&] {
                                const int now = ++inside;
                                int seen = most.load();
                                while (seen < now && !most.compare_exchange_weak(seen, now))
                                    ;
                                wait_until([&] { return most.load() >= 2; }, std::chrono::milliseconds(can_.parallel ? 2 : 0));
                                --inside;
                            },
                            {access});
        });
        return most;
    }
};
INSTANTIATE_TEST_SUITE_P(All, Engines, ::testing::ValuesIn(engines_and_the_toy()), test_name);

TEST_P(Engines, SayOfThemselvesWhatTheirEntrySays)
{
    const Capabilities &made = engine_->capabilities(), &listed = can_;
    EXPECT_EQ(std::memcmp(&made, &listed, sizeof made), 0) << "all members are bool";
    EXPECT_EQ(engine_->workers(), int(engine_->units().size()));
    for (const ComputeUnit& unit : engine_->units()) EXPECT_EQ(unit.kind, UnitKind::core);
}

TEST_P(Engines, RunTasksAtTheSameTimeWhereTheySaySo)
{
    double one = 0;
    EXPECT_EQ(most_together(200, read(&one)) > 1, can_.parallel);
}

TEST_P(Engines, WriteConcurrentlyWhereTheySaySo)
{
    double one = 0;
    const int most = most_together(200, concurrent_write(&one));
    EXPECT_EQ(most > 1, can_.concurrent_write && can_.parallel);
}

/// One at a time always; in another order than that of submission where the engine says so.
TEST_P(Engines, KeepCommutingTasksApart)
{
    double one = 0;
    EXPECT_EQ(most_together(50, commute(&one)), 1);
}

/// A chain on commuting data whose first task waits for the second: it ends only where a ready one may overtake.
TEST_P(Engines, LetCommutingTasksOvertakeWhereTheySaySo)
{
    if (!can_.parallel) return; // in order is one of the orders
    double one = 0, other = 0;
    std::atomic<bool> second{false};
    bool overtaken = false;
    engine_->run({}, [&](Flow& flow) {
        flow.submit("slow",
                    [&] {
                        wait_until([&] { return second.load(); }, std::chrono::milliseconds(can_.commute ? 10'000 : 100));
                        overtaken = second.load();
                    },
                    {readwrite(&other)});
        flow.submit("first", [] {}, {commute(&one), read(&other)});
        flow.submit("second", [&] { second = true; }, {commute(&one)});
    });
    EXPECT_EQ(overtaken, can_.commute);
}

TEST_P(Engines, ReduceOnPartsOfTheirOwnWhereTheySaySo)
{
    static const Reduction sum{
        sizeof(double), [](void* part) { *static_cast<double*>(part) = 0; },
        [](void* into, const void* part) { *static_cast<double*>(into) += *static_cast<const double*>(part); }};
    double total = 1;
    std::set<void*> parts;
    std::mutex mutex;
    engine_->run({}, [&](Flow& flow) {
        for (int i = 0; i < 40; ++i)
            flow.submit("add",
                        [&](TaskContext& context) {
                            auto& part = context.part<double>(0);
                            part += 1;
                            const std::lock_guard lock(mutex);
                            parts.insert(&part);
                        },
                        {reduce(&total, sum)});
    });
    EXPECT_EQ(total, 41);
    std::set<SpaceId> memories;
    for (const ComputeUnit& unit : engine_->units()) memories.insert(unit.memory);
    if (can_.reduction) EXPECT_FALSE(parts.contains(&total)) << "who reduces adds to parts";
    else EXPECT_LE(parts.size(), memories.size()) << "who does not adds to the datum, wherever that is";
}

TEST_P(Engines, FoldOneReductionBeforeAnotherOfTheSameDatum)
{
    static const Reduction sum{
        sizeof(double), [](void* part) { *static_cast<double*>(part) = 0; },
        [](void* into, const void* part) { *static_cast<double*>(into) += *static_cast<const double*>(part); }};
    static const Reduction product{
        sizeof(double), [](void* part) { *static_cast<double*>(part) = 1; },
        [](void* into, const void* part) { *static_cast<double*>(into) *= *static_cast<const double*>(part); }};
    double value = 1;
    engine_->run({}, [&](Flow& flow) {
        for (int round = 0; round < 2; ++round) {
            for (int i = 0; i < 2; ++i)
                flow.submit("add", [](TaskContext& context) { context.part<double>(0) += 3; }, {reduce(&value, sum)});
            for (int i = 0; i < 2; ++i)
                flow.submit("multiply", [](TaskContext& context) { context.part<double>(0) *= 5; }, {reduce(&value, product)});
        }
    });
    EXPECT_EQ(value, ((1 + 6) * 25 + 6) * 25);
}

TEST_P(Engines, NestWhereTheySaySo)
{
    int inside = 0;
    const auto nest = [&] {
        engine_->run({}, [&](Flow& flow) {
            flow.submit("outer",
                        [&](TaskContext& context) {
                            context.flow().submit("inner", [&] { inside = 1; }, {write(&inside)});
                            context.flow().submit("after", [&] { inside *= 2; }, {readwrite(&inside)});
                        },
                        {});
        });
    };
    if (can_.nesting) nest();
    else EXPECT_THROW(nest(), Error);
    EXPECT_EQ(inside, can_.nesting ? 2 : 0);
}

TEST_P(Engines, CancelWhereTheySaySo)
{
    ASSERT_TRUE(can_.cancellation) << "a new engine that cannot: say here how it refuses";
    std::atomic<int> ran{0};
    double one = 0;
    const auto call = [&] {
        engine_->run({}, [&](Flow& flow) {
            for (int i = 0; i < 100; ++i)
                flow.submit("task",
                            [&] {
                                ++ran;
                                flow.cancel();
                            },
                            {readwrite(&one)});
        });
    };
    EXPECT_THROW(call(), Error);
    EXPECT_LT(ran, 100);
    engine_->run({}, [&](Flow& flow) { flow.submit("again", [&] { ran = -1; }, {}); });
    EXPECT_EQ(ran, -1);
}

/// One worker takes them, once all of them wait; of two, since a lone one may run everything when it is submitted.
TEST_P(Engines, PreferTheLargerPriorityWhereTheySaySo)
{
    // One without them may give both of the first tasks to one worker, and then nothing comes of waiting.
    const auto at_most = std::chrono::milliseconds(can_.priorities ? 10'000 : can_.parallel ? 50 : 0);
    engine_.reset(); // some can have one set of workers at a time
    const auto engine = make(can_.parallel ? 2 : 1, "cats");
    std::vector<int> order;
    std::atomic<int> ran{0};
    std::atomic<bool> submitted{false}, held{false};
    double gate = 0;
    engine->run({}, [&](Flow& flow) {
        flow.submit("hold",
                    [&] {
                        held = true;
                        wait_until([&] { return ran == 8; }, at_most);
                    },
                    {});
        // Until the other worker holds, or it would take a task as soon as this one has made the first of them ready.
        flow.submit("gate", [&] { wait_until([&] { return submitted && held; }, at_most); }, {write(&gate)});
        for (int i = 0; i < 8; ++i)
            flow.submit("task", [&, i] { order.push_back(i), ++ran; }, {read(&gate)}, {.priority = double(i * 3 % 8)});
        submitted = true;
    });
    const bool by_priority = order == std::vector<int>{5, 2, 7, 4, 1, 6, 3, 0};
    EXPECT_EQ(by_priority, can_.priorities) << ::testing::PrintToString(order);
}

TEST_P(Engines, ShareMalleableTasksWhereTheySaySo)
{
    struct Cut {
        std::set<std::thread::id>* who;
        std::mutex* mutex;
        void run(TaskContext& context)
        {
            while (const Chunks chunks = context.team().next()) {
                std::this_thread::sleep_for(std::chrono::microseconds(100) * (chunks.end - chunks.begin));
                const std::lock_guard lock(*mutex);
                who->insert(std::this_thread::get_id());
            }
        }
        Index chunks() const { return 200; }
    };
    static constexpr Codelet codelet = codelet_of<Cut>("cut");
    std::set<std::thread::id> who;
    std::mutex mutex;
    // One after the other: the first may begin before anybody is idle, and then it is not cut up.
    int datum = 0;
    std::size_t most = 0;
    const auto several = [&] {
        for (int i = 0; i < 5; ++i)
            engine_->run({},
                         [&](Flow& flow) {
                             who.clear();
                             flow.submit("before", [] { std::this_thread::sleep_for(std::chrono::milliseconds(2)); },
                                         {write(&datum)});
                             flow.submit(codelet, Cut{&who, &mutex}, {readwrite(&datum)});
                         }),
                most = std::max(most, who.size());
        return most > 1;
    };
    EXPECT_EQ(can_.malleable ? eventually(several) : several(), can_.malleable);
}

/// Those that have owners keep to them in shared runs (tests/processes); other flows are of one process in every engine.
TEST_P(Engines, RefuseDataOfOtherProcessesInFlowsOfOne)
{
    double one = 0;
    int ran = 0;
    Datum far(&one, Bytes(sizeof one));
    far.owner = 3;
    const auto call = [&] {
        engine_->run({}, [&](Flow& flow) {
            flow.submit("near", [&] { ++ran; }, {readwrite(&one)});
            flow.submit("far", [&] { ran = 100; }, {readwrite(far)});
        });
    };
    try {
        call();
        ADD_FAILURE() << "nothing was refused";
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), ErrorCode::bad_argument);
        EXPECT_THAT(error.what(), HasSubstr("'" + GetParam() + "'"));
        EXPECT_THAT(error.what(), HasSubstr("process 3"));
    }
    EXPECT_LE(ran, 1);
}

/// A codelet for devices alone has no unit here.
TEST_P(Engines, RefuseCodeletsThatNoneOfTheirUnitsRuns)
{
    struct OnDevices {
        void run_on_device(TaskContext&) {}
    };
    struct OnLargeUnits {
        void run(TaskContext&) {}
        bool can_run_on(const ComputeUnit& unit) const { return unit.memory > 1000; }
    };
    static constexpr Codelet devices = codelet_of<OnDevices>("on_devices"), large = codelet_of<OnLargeUnits>("on_large");
    const auto refused = [&](const Codelet& codelet, const auto& args) -> std::string {
        try {
            engine_->run({}, [&](Flow& flow) { flow.submit(codelet, args, std::initializer_list<Access>{}); });
        } catch (const Error& error) {
            return error.what();
        }
        return "nothing was refused";
    };
    EXPECT_THAT(refused(devices, OnDevices{}), HasSubstr("'on_devices'"));
    EXPECT_THAT(refused(large, OnLargeUnits{}), HasSubstr("'on_large'"));
}

// ---- sessions: wishes that the engine has no use for ----------------------------------------------------------------

class EnginesOfSessions : public ::testing::TestWithParam<std::string> {
protected:
    const Capabilities& can_ = find_entry("engine", engine_entries(), GetParam()).capabilities;
};
INSTANTIATE_TEST_SUITE_P(All, EnginesOfSessions, ::testing::ValuesIn(computing_engines()), test_name);

std::string refusal_of(const SessionOptions& options)
{
    try {
        Session session(options);
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), ErrorCode::bad_argument);
        return error.what();
    }
    return "";
}

TEST_P(EnginesOfSessions, RefuseASchedulerIfTheyScheduleThemselves)
{
    SessionOptions options;
    options.engine = GetParam();
    options.worker_count = 1;
    options.scheduler = "mosaic";
    const std::string said = refusal_of(options);
    std::string wanted;
    if (can_.schedules_itself)
        wanted = find_entry("engine", engine_entries(), GetParam()).policies
                     ? "unknown scheduler of engine '" + GetParam() + "' 'mosaic'"
                     : "engine '" + GetParam() + "' chooses the next task itself";
    EXPECT_EQ(said.substr(0, wanted.size()), wanted);
    EXPECT_EQ(said.empty(), !can_.schedules_itself);
}

TEST_P(EnginesOfSessions, RefuseMoreWorkersThanTheyHave)
{
    SessionOptions options;
    options.engine = GetParam();
    options.worker_count = 2;
    const std::string said = refusal_of(options);
    const std::string wanted = "engine '" + GetParam() + "' has one worker, and 2 were asked for";
    const bool has_two = can_.parallel && std::thread::hardware_concurrency() > 1;
    EXPECT_EQ(said.starts_with(wanted), !can_.parallel) << said;
    EXPECT_EQ(said.empty(), has_two) << said;
}

TEST_P(EnginesOfSessions, RefuseReliefAndSlowCoresUnlessTheyHaveThem)
{
    SessionOptions options;
    options.engine = GetParam();
    options.relief = "always";
    EXPECT_EQ(refusal_of(options).find("relief 'always'") != std::string::npos, !can_.parallel || can_.schedules_itself);
    options.relief = "";
    const int core = Session(options).options().workers.front();
    options.slow[core] = 0.5;
    EXPECT_EQ(refusal_of(options).find("cannot emulate slow cores") != std::string::npos, !can_.emulates_slow);
}

} // namespace
} // namespace trencadis
