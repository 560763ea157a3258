// What every engine says of itself (Capabilities) is what it does: each claim is tried on each engine of the build, and
// each claim that is not made is shown to be missing or refused by name.
#include "../runtime/engine_fixture.hpp"
#include "toy_engine.hpp"

#include "base/error.hpp"
#include "base/testing/eventually.hpp"
#include "session/session.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
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

/// Engines that compute, and the toy; the others take no time of ours (engines/simulated tests them in virtual time).
std::vector<std::string> computing_engines()
{
    std::vector<std::string> names{toy.name};
    for (const EngineEntry* entry : engine_entries())
        if (entry->capabilities.computes && (!entry->why_not || entry->why_not().empty())) names.emplace_back(entry->name);
    return names;
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
                                for (int turn = 0; turn < 2000 && most.load() < 2; ++turn) std::this_thread::yield();
                                --inside;
                            },
                            {access});
        });
        return most;
    }
};
INSTANTIATE_TEST_SUITE_P(All, Engines, ::testing::ValuesIn(computing_engines()), [](const auto& info) { return info.param; });

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
                        for (int turn = 0; turn < 200'000 && !second.load(); ++turn) std::this_thread::yield();
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

/// One worker, kept busy while the others become ready.
TEST_P(Engines, PreferTheLargerPriorityWhereTheySaySo)
{
    const auto engine = make(1, "cats");
    std::vector<int> order;
    double gate = 0;
    engine->run({}, [&](Flow& flow) {
        flow.submit("gate", [] {}, {write(&gate)});
        for (int i = 0; i < 8; ++i)
            flow.submit("task", [&order, i] { order.push_back(i); }, {read(&gate)}, {.priority = double(i)});
    });
    const bool by_priority = order == std::vector<int>{7, 6, 5, 4, 3, 2, 1, 0};
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

TEST_P(Engines, RefuseDataOfOtherProcessesUnlessTheySaySo)
{
    ASSERT_FALSE(can_.owners) << "a new engine that has owners: show here that it keeps to them";
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
INSTANTIATE_TEST_SUITE_P(All, EnginesOfSessions, ::testing::Values("sequential", "native"),
                         [](const auto& info) { return info.param; });

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
    options.scheduler = "eager";
    const std::string said = refusal_of(options);
    const std::string wanted = can_.schedules_itself ? "engine '" + GetParam() + "' chooses the next task itself" : "";
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
    EXPECT_EQ(refusal_of(options).find("relief 'always'") != std::string::npos, !can_.parallel);
    options.relief = "";
    const int core = Session(options).options().workers.front();
    options.slow[core] = 0.5;
    EXPECT_EQ(refusal_of(options).find("cannot emulate slow cores") != std::string::npos, !can_.emulates_slow);
}

} // namespace
} // namespace trencadis
