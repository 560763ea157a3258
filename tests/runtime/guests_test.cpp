#include "engine_fixture.hpp"
#include "graph/waiting.hpp"
#include "session/session.hpp"
#include "threads/testing/eventually.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <thread>
#include <vector>

namespace trencadis::testing {
namespace {

class Guests : public ::testing::TestWithParam<const char*> {
protected:
    /// A call of the calling thread's in a worker's place: `submit` to the flow, which is then waited for.
    template <class Submit> void call(Engine& engine, const Submit& submit)
    {
        TaskFlow flow(engine);
        ASSERT_TRUE(eventually([&] {
            return engine.attend(flow, [&] {
                submit(flow);
                flow.wait();
            });
        }));
    }
};

TEST_P(Guests, RunTheirTasksThemselvesWhereNobodyElseDoes)
{
    RuntimeUnderTest runtime("native", GetParam(), 1);
    std::vector<std::thread::id> ran(20);
    call(runtime.engine(), [&](TaskFlow& flow) {
        for (auto& id : ran) flow.submit("task", [&id] { id = std::this_thread::get_id(); }, {readwrite(&ran)});
    });
    for (const auto& id : ran) EXPECT_EQ(id, std::this_thread::get_id());
}

TEST_P(Guests, LeaveTheWorkerToItselfAgain)
{
    RuntimeUnderTest runtime("native", GetParam(), 1);
    for (int round = 0; round < share_of(200); ++round) {
        call(runtime.engine(), [&](TaskFlow& flow) { flow.submit("task", [] {}, {}); });
        std::thread::id ran;
        TaskFlow flow(runtime.engine()); // of a thread outside: the worker's own unit runs it
        flow.submit("task", [&] { ran = std::this_thread::get_id(); }, {});
        flow.wait();
        EXPECT_NE(ran, std::this_thread::get_id());
    }
}

/// With one worker: the guest's task can only go on when somebody else's runs, which needs the worker.
TEST_P(Guests, GiveTheWorkerAwayWhileTheirTaskWaits)
{
    RuntimeUnderTest runtime("native", GetParam(), 1);
    for (int round = 0; round < share_of(100); ++round) {
        TaskEvent begun, event;
        std::thread other([&] {
            begun.wait();
            TaskFlow flow(runtime.engine());
            flow.submit("sets", [&] { event.set(); }, {});
            flow.wait();
        });
        int steps = 0;
        call(runtime.engine(), [&](TaskFlow& flow) {
            flow.submit("waits",
                        [&] {
                            begun.set();
                            event.wait();
                            ++steps;
                        },
                        {readwrite(&steps)});
            flow.submit("goes on", [&] { ++steps; }, {readwrite(&steps)});
        });
        other.join();
        EXPECT_EQ(steps, 2);
    }
}

TEST_P(Guests, GiveTheWorkerAwayWhileTheyWaitForTasksInsideTheirs)
{
    RuntimeUnderTest runtime("native", GetParam(), 2);
    for (int round = 0; round < share_of(200); ++round) {
        std::atomic<int> count{0};
        std::vector<std::thread> callers;
        for (int caller = 0; caller < 4; ++caller)
            callers.emplace_back([&] {
                TaskFlow flow(runtime.engine());
                const auto submit = [&] {
                    for (int i = 0; i < 4; ++i)
                        flow.submit("outer",
                                    [&](TaskContext& context) {
                                        for (int j = 0; j < 4; ++j) context.flow().submit("inner", [&] { ++count; }, {});
                                        context.flow().wait();
                                    },
                                    {});
                    flow.wait();
                };
                if (!runtime.engine().attend(flow, submit)) submit();
            });
        for (std::thread& caller : callers) caller.join();
        EXPECT_EQ(count, 4 * 4 * 4);
    }
}

/// With one worker. The unit that a guest displaces changes: the first one waits in a task of somebody else's when the guest comes back, so
/// that another one sleeps when the next guest comes and goes with a task that it found.
TEST(Guest, LeavesTheTaskThatItFoundToWhoeverSleepsInItsPlace)
{
    RuntimeUnderTest runtime("native", "eager", 1);
    Engine& engine = runtime.engine();
    TaskEvent guest_waits, guest_may_go_on, other_may_go_on;
    std::thread first([&] {
        TaskFlow flow(engine);
        const auto waits = [&] {
            guest_waits.set();
            guest_may_go_on.wait();
        };
        EXPECT_TRUE(eventually([&] {
            return engine.attend(flow, [&] {
                flow.submit("waits", waits, {});
                flow.wait();
            });
        }));
    });
    guest_waits.wait();
    TaskFlow other(engine);
    other.submit("waits too",
                 [&] {
                     guest_may_go_on.set(); // before the worker has a unit that sleeps
                     other_may_go_on.wait();
                 },
                 {});
    first.join();

    TaskFlow found(engine), second(engine);
    std::atomic<bool> ran{false};
    int datum = 0;
    EXPECT_TRUE(eventually([&] {
        return engine.attend(second, [&] {
            second.submit("before", [&] { found.submit("found", [&] { ran = true; }, {}); }, {readwrite(&datum)});
            second.submit("behind it", [] {}, {readwrite(&datum)});
            second.wait();
        });
    }));
    EXPECT_TRUE(eventually([&] { return ran.load(); }));
    if (!ran) std::abort(); // the flow would wait for ever
    other_may_go_on.set();
    other.wait();
}

TEST_P(Guests, LeaveACallThatLastsToTheWorkers)
{
    RuntimeUnderTest runtime("native", GetParam(), 1);
    std::vector<std::thread::id> ran(12);
    call(runtime.engine(), [&](TaskFlow& flow) {
        for (auto& id : ran)
            flow.submit("long",
                        [&id] {
                            std::this_thread::sleep_for(std::chrono::milliseconds(5));
                            id = std::this_thread::get_id();
                        },
                        {readwrite(&ran)});
    });
    EXPECT_EQ(ran.front(), std::this_thread::get_id());
    EXPECT_NE(ran.back(), std::this_thread::get_id());
}

TEST_P(Guests, ThrowWhatTheirTasksThrow)
{
    RuntimeUnderTest runtime("native", GetParam(), 1);
    TaskFlow flow(runtime.engine());
    const auto throwing = [&] {
        flow.submit("throws", [] { throw Error(ErrorCode::environment, "on purpose"); }, {});
        flow.wait();
    };
    ASSERT_TRUE(eventually([&] { return runtime.engine().has_room(); }));
    EXPECT_THROW(runtime.engine().attend(flow, throwing), Error);
    call(runtime.engine(), [](TaskFlow& next) { next.submit("task", [] {}, {}); });
}

INSTANTIATE_TEST_SUITE_P(Schedulers, Guests, ::testing::ValuesIn(representative_schedulers));

TEST(GuestsOfASession, StayAwayFromCoresThatItWasNotGiven)
{
    const std::vector<int> cores = Session().options().workers;
    if (cores.size() < 2) GTEST_SKIP() << "needs two cores";
    SessionOptions options;
    options.workers = {cores[0]};
    Session session(options);
    cpu_set_t before, other;
    ASSERT_EQ(sched_getaffinity(0, sizeof before, &before), 0);
    CPU_ZERO(&other);
    CPU_SET(cores[1], &other);
    ASSERT_EQ(sched_setaffinity(0, sizeof other, &other), 0);
    int wrong = 0;
    for (int round = 0; round < 20; ++round) {
        std::this_thread::sleep_for(std::chrono::milliseconds(5)); // so that the worker sleeps
        session.run([&](Flow& flow) { flow.submit("task", [&] { wrong += sched_getcpu() != cores[0]; }, {}); });
    }
    sched_setaffinity(0, sizeof before, &before);
    EXPECT_EQ(wrong, 0);
}

} // namespace
} // namespace trencadis::testing
