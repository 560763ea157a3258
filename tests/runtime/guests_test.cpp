#include "base/testing/eventually.hpp"
#include "engine_fixture.hpp"
#include "graph/waiting.hpp"
#include "session/session.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <deque>
#include <thread>
#include <vector>

namespace trencadis::testing {
namespace {

class Guests : public ::testing::TestWithParam<const char*> {
protected:
    /// A call of the calling thread's in a worker's place: `submit` to the flow, which is then waited for.
    template <class Submit> void call(TaskFlowEngine& engine, const Submit& submit)
    {
        TaskFlow flow(engine);
        ASSERT_TRUE(eventually([&] {
            return engine.call_sharing()->attend(flow, [&] {
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
                if (!runtime.engine().call_sharing()->attend(flow, submit)) submit();
            });
        for (std::thread& caller : callers) caller.join();
        EXPECT_EQ(count, 4 * 4 * 4);
    }
}

/// With one worker. The unit that a guest displaces changes: the first one waits in a task of somebody else's when the guest
/// comes back, so that another one sleeps when the next guest comes and goes with a task that it found.
TEST(Guest, LeavesTheTaskThatItFoundToWhoeverSleepsInItsPlace)
{
    RuntimeUnderTest runtime("native", "eager", 1);
    TaskFlowEngine& engine = runtime.engine();
    TaskEvent guest_waits, guest_may_go_on, other_may_go_on;
    std::thread first([&] {
        TaskFlow flow(engine);
        const auto waits = [&] {
            guest_waits.set();
            guest_may_go_on.wait();
        };
        EXPECT_TRUE(eventually([&] {
            return engine.call_sharing()->attend(flow, [&] {
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
        return engine.call_sharing()->attend(second, [&] {
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

/// The oldest first, and others may join each from its beginning.
class Offering final : public Scheduler {
public:
    void push(Task& task, WorkerId) override { tasks_.push_back(&task); }
    Decision pop(WorkerId) override
    {
        if (tasks_.empty()) return {};
        Task* const task = tasks_.front();
        tasks_.pop_front();
        return {.run = task, .offer = true};
    }

private:
    std::deque<Task*> tasks_;
};
const SchedulerEntry offering{
    {"offering", "", ""}, false, [](const View&, const SchedulerOptions&) -> std::unique_ptr<Scheduler> {
        return std::make_unique<Offering>();
    }};

/// Sees how much of it was handed out at once: all, unless it is offered to others.
struct Pieces {
    static constexpr Index count = 8;
    std::atomic<Index>* first;
    Index chunks() const { return count; }
    void run(TaskContext& context) const
    {
        const Chunks got = context.team().next();
        first->store(got.end - got.begin);
        while (context.team().next()) {}
    }
};
constexpr Codelet pieces = codelet_of<Pieces>("pieces");

/// One worker, so that nobody is ever idle while a task runs. `call` has the guest find a task that is not its own, behind a task
/// of its own that runs `submit`.
template <class Call> void expect_the_offer_is_kept(const Call& call)
{
    RuntimeUnderTest runtime("native", SchedulerSpec{&offering, SchedulerOptions(), {}, "offering"}, std::vector<WorkerPlace>(1),
                             Relieving::never);
    TaskFlowEngine& engine = runtime.engine();
    std::atomic<Index> first{0};
    TaskFlow found(engine), its(engine);
    const auto submit = [&] { found.submit(pieces, Pieces{&first}, std::initializer_list<Access>{}); };
    EXPECT_TRUE(eventually([&] {
        return engine.call_sharing()->attend(its, [&] {
            call(its, submit);
            its.wait();
        });
    }));
    found.wait();
    EXPECT_GT(first, 0);
    EXPECT_LT(first, Pieces::count) << "it was offered to nobody";
}

TEST(Guest, LeavesTheTaskThatItFoundWithThePolicysOfferToShareIt)
{
    expect_the_offer_is_kept([](TaskFlow& its, const auto& submit) {
        static int datum = 0;
        its.submit("before", submit, {readwrite(&datum)});
        its.submit("behind it", [] {}, {readwrite(&datum)});
    });
}

TEST(Guest, HandsATaskOverWithThePolicysOfferToShareIt)
{
    expect_the_offer_is_kept([](TaskFlow& its, const auto& submit) {
        its.submit("outer",
                   [submit](TaskContext& context) {
                       submit();
                       context.flow().submit("inner", [] {}, {});
                       context.flow().wait();
                   },
                   {});
    });
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
    ASSERT_TRUE(eventually([&] { return runtime.engine().call_sharing()->has_room(); }));
    EXPECT_THROW(runtime.engine().call_sharing()->attend(flow, throwing), Error);
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
