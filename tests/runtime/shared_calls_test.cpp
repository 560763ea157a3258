#include "base/error.hpp"
#include "base/testing/eventually.hpp"
#include "drivers/linear_algebra.hpp"
#include "engine_fixture.hpp"
#include "session/session.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <cfenv>
#include <chrono>
#include <functional>
#include <thread>
#include <vector>

namespace trencadis::testing {
namespace {

using namespace std::chrono_literals;

/// As the arithmetic of this thread has it; the C library answers for another unit.
bool rounds_upwards()
{
    const volatile double one = 1, three = 3;
    return one / three > 1.0 / 3;
}

/// Calls that are shared out without tasks, on as many workers as are wanted.
class SharedCalls : public ::testing::Test {
protected:
    using Work = std::function<void(Team&)>;
    static bool in_this_thread(std::thread::id id) { return id == std::this_thread::get_id(); }
    static void drop(Team& team)
    {
        while (team.next()) {}
    }
    /// One that has nothing to do gives the other one the time to take a chunk, a little of it: it may not have come.
    static void leave_it_to_the_other(const std::atomic<bool>& has_done_it, Team& team)
    {
        eventually([&] { return has_done_it || team.remaining() == 0; }, 20ms);
        drop(team);
    }
    /// Until one call was shared out; work may have been done before, but not by several.
    static void share(TaskFlowEngine& engine, Index chunks, const Work& work)
    {
        ASSERT_TRUE(eventually([&] {
            engine.call_sharing()->rouse(engine.workers(), 0);
            return engine.call_sharing()->share_out(chunks, work, 0);
        }));
    }
    /// The same until another thread has taken part as well. One that went to sleep just as the call was opened does not come:
    /// the call is given up soon then, and made again.
    static void share_with_others(TaskFlowEngine& engine, Index chunks, const Work& work)
    {
        ASSERT_TRUE(eventually([&] {
            std::atomic<bool> others{false};
            const auto caller = std::this_thread::get_id();
            share(engine, chunks, [&](Team& team) {
                if (!in_this_thread(caller)) others = true;
                else if (!eventually([&] { return others || team.remaining() == 0; }, 20ms)) return drop(team);
                work(team);
            });
            return others.load();
        }));
    }
};

TEST_F(SharedCalls, DoEveryChunkOnceWhoeverComes)
{
    for (const int workers : {2, 3, 8}) {
        RuntimeUnderTest runtime("native", "mosaic", workers, Relieving::never); // who is late is late again
        for (int round = 0; round < share_of(300); ++round) {
            const Index chunks = 1 + round % 97;
            std::vector<std::atomic<int>> done(static_cast<std::size_t>(chunks));
            share(runtime.engine(), chunks, [&](Team& team) {
                while (const Chunks c = team.next_of_two_ends(1 + team.remaining() / 8)) {
                    if (round % 7 == 0) std::this_thread::sleep_for(std::chrono::microseconds(round % 50));
                    for (Index i = c.begin; i < c.end; ++i) ++done[std::size_t(i)];
                }
            });
            for (const auto& times : done) ASSERT_EQ(times, 1);
        }
    }
}

TEST_F(SharedCalls, AreJoinedByThoseWhoAreAwake)
{
    RuntimeUnderTest runtime("native", "mosaic", 2);
    std::int64_t joined = 0;
    share_with_others(runtime.engine(), 2, [](Team& team) {
        while (team.next()) {}
    });
    ASSERT_TRUE(eventually([&] { // counted a little later
        joined = 0;
        for (const WorkerTime& time : runtime.engine().times()) joined += time.shares;
        return joined > 0;
    }));
}

/// After silence nobody is awake: a call that takes long enough wakes who can help, a shorter one leaves them asleep.
TEST_F(SharedCalls, WakeWhoSleepsWhereTheCallIsLongEnough)
{
    RuntimeUnderTest runtime("native", "mosaic", 3, Relieving::never);
    CallSharing& sharing = *runtime.engine().call_sharing();
    std::atomic<int> others{0};
    ASSERT_TRUE(eventually([&] {
        std::this_thread::sleep_for(20ms);
        if (sharing.spinning() > 0) return false;
        EXPECT_FALSE(sharing.is_worth_waking(1e5));
        EXPECT_TRUE(sharing.is_worth_waking(1e11));
        if (sharing.spinning() > 0) return false; // somebody has woken by himself
        const bool short_one = sharing.share_out(2, drop, 1e5);
        const auto caller = std::this_thread::get_id();
        const bool long_one = sharing.share_out(
            2,
            [&](Team& team) {
                if (!in_this_thread(caller)) ++others;
                else eventually([&] { return others > 0; });
                drop(team);
            },
            1e11);
        EXPECT_FALSE(short_one);
        EXPECT_TRUE(long_one);
        return true;
    }));
    EXPECT_GT(others, 0);
}

/// The call is over when all chunks are, also one that another thread is late with.
TEST_F(SharedCalls, WaitForThoseWhoHaveJoined)
{
    RuntimeUnderTest runtime("native", "mosaic", 2, Relieving::never);
    for (int round = 0; round < 5; ++round) {
        int late = 0; // not atomic: what a member wrote must have come to the caller
        std::atomic<bool> begun{false};
        const auto caller = std::this_thread::get_id();
        ASSERT_TRUE(eventually([&] {
            share_with_others(runtime.engine(), 2, [&](Team& team) {
                if (in_this_thread(caller)) return leave_it_to_the_other(begun, team);
                while (team.next()) {
                    begun = true;
                    std::this_thread::sleep_for(5ms);
                    late = 1;
                }
            });
            return begun.load();
        }));
        EXPECT_EQ(late, 1);
    }
}

TEST_F(SharedCalls, ComputeInTheCallersModesAndTellItWhatWasRaised)
{
    RuntimeUnderTest runtime("native", "mosaic", 2);
    const auto caller = std::this_thread::get_id();
    std::atomic<bool> otherwise{false}, raised{false};
    std::fesetround(FE_UPWARD);
    ASSERT_TRUE(eventually([&] {
        std::feclearexcept(FE_ALL_EXCEPT);
        share_with_others(runtime.engine(), 2, [&](Team& team) {
            if (!rounds_upwards()) otherwise = true;
            volatile double zero = 0, one = 1;
            if (in_this_thread(caller)) return leave_it_to_the_other(raised, team);
            while (team.next()) {
                one = one / zero;
                raised = true;
            }
        });
        return raised.load();
    }));
    const int flags = std::fetestexcept(FE_DIVBYZERO | FE_INVALID | FE_OVERFLOW);
    std::fesetround(FE_TONEAREST);
    std::feclearexcept(FE_ALL_EXCEPT);
    EXPECT_FALSE(otherwise);
    EXPECT_EQ(flags, FE_DIVBYZERO);
    std::atomic<bool> again{false}; // the worker is itself again, and so are the caller's modes
    share_with_others(runtime.engine(), 2, [&](Team&) { again = again || rounds_upwards(); });
    EXPECT_FALSE(again);
}

TEST_F(SharedCalls, PassOnWhatTheCallerOrAMemberThrows)
{
    RuntimeUnderTest runtime("native", "mosaic", 2);
    TaskFlowEngine& engine = runtime.engine();
    const auto caller = std::this_thread::get_id();
    for (const bool mine : {true, false}) {
        std::atomic<bool> thrown{false}, caught{false};
        ASSERT_TRUE(eventually([&] {
            try {
                share_with_others(engine, 2, [&](Team& team) {
                    if (in_this_thread(caller) != mine) return leave_it_to_the_other(thrown, team);
                    if (!team.next()) return;
                    thrown = true;
                    throw Error(ErrorCode::bad_argument, "thrown");
                });
            } catch (const Error&) {
                caught = true;
            }
            return thrown.load();
        }));
        EXPECT_TRUE(caught) << (mine ? "the caller's" : "the member's");
    }
    share(engine, 3, [](Team& team) {
        while (team.next()) {}
    }); // and can be used again
}

/// One that has no memory for its part, say, has only not helped.
TEST_F(SharedCalls, GoOnWithoutAMemberThatFailsBeforeItHasBegun)
{
    RuntimeUnderTest runtime("native", "mosaic", 2);
    const auto caller = std::this_thread::get_id();
    std::atomic<int> failed{0};
    std::atomic<Index> done{0};
    EXPECT_NO_THROW(share_with_others(runtime.engine(), 10, [&](Team& team) {
        if (!in_this_thread(caller)) {
            ++failed;
            throw Error(ErrorCode::out_of_memory, "none for you");
        }
        eventually([&] { return failed > 0; });
        while (const Chunks c = team.next()) done += c.end - c.begin;
    }));
    EXPECT_GT(failed, 0);
    EXPECT_GE(done, 10);
}

TEST_F(SharedCalls, AreNotForWhoWantsToSeeTasks)
{
    const auto nothing = [](Team& team) {
        while (team.next()) {}
    };
    std::vector<WorkerPlace> slow(2);
    slow[1].slow = 0.5;
    RuntimeUnderTest one("native", "mosaic", 1), emulated("native", "mosaic", slow, Relieving::never),
        moving("native", "mosaic", 2, Relieving::always), traced("native", "mosaic", 2), sequential("sequential", "mosaic", 1);
    EXPECT_EQ(sequential.engine().call_sharing(), nullptr);
    traced.engine().recorder().start();
    for (int i = 0; i < 1000; ++i)
        for (RuntimeUnderTest* runtime : {&one, &emulated, &moving, &traced}) {
            runtime->engine().call_sharing()->rouse(8, 0);
            ASSERT_FALSE(runtime->engine().call_sharing()->share_out(10, nothing, 0));
        }
    traced.engine().recorder().stop({}, Origin::measured);
    share(traced.engine(), 10, nothing);
    bool inside = true;
    TaskFlow flow(traced.engine());
    flow.submit("task", [&] { inside = traced.engine().call_sharing()->share_out(10, nothing, 0); }, {});
    flow.wait();
    EXPECT_FALSE(inside);
}

/// Whose core was taken away, and who was no faster on another one, is likely to be late again: there are no open calls for a
/// while, then again.
TEST_F(SharedCalls, AreTasksForAWhileAfterAMemberWasLate)
{
    RuntimeUnderTest relieved("native", "mosaic", 2, Relieving::held_up), alone("native", "mosaic", 2, Relieving::never);
    const auto caller = std::this_thread::get_id();
    for (RuntimeUnderTest* runtime : {&relieved, &alone}) {
        TaskFlowEngine& engine = runtime->engine();
        EXPECT_FALSE(engine.call_sharing()->is_wary());
        std::atomic<bool> begun{false};
        bool wary = false;
        ASSERT_TRUE(eventually([&] { // the other may not come, or not in time to take a chunk
            share(engine, 2, [&](Team& team) {
                if (in_this_thread(caller)) return leave_it_to_the_other(begun, team);
                if (!team.next()) return;
                begun = true;
                std::this_thread::sleep_for(3ms);
            });
            wary = engine.call_sharing()->is_wary();
            return begun.load();
        }));
        EXPECT_EQ(wary, runtime == &relieved);
        EXPECT_TRUE(eventually([&] { return !engine.call_sharing()->is_wary(); }));
        share(engine, 2, drop);
    }
}

/// Calls of every kind from many threads: nothing is done twice, forgotten or left waiting for ever.
TEST_F(SharedCalls, LiveBesideFlowsAndGuests)
{
    for (const char* scheduler : {"mosaic", "ws", "eager"}) {
        RuntimeUnderTest runtime("native", scheduler, 3);
        TaskFlowEngine& engine = runtime.engine();
        std::atomic<int> shared{0};
        std::atomic<bool> wrong{false};
        std::vector<std::thread> callers;
        for (int caller = 0; caller < 6; ++caller)
            callers.emplace_back([&, caller] {
                for (int round = 0; round < share_of(2000); ++round) {
                    std::atomic<Index> done{0};
                    const auto add = [&](Team& team) {
                        while (const Chunks c = team.next_of_two_ends(2)) done += c.end - c.begin;
                    };
                    TaskFlow flow(engine);
                    Index wanted = 20;
                    const auto tasks = [&] {
                        for (int i = 0; i < 20; ++i) flow.submit("task", [&] { ++done; }, {});
                        flow.wait();
                    };
                    if (caller % 3 == 0) tasks();
                    else if (caller % 3 == 1) {
                        if (!engine.call_sharing()->attend(flow, tasks)) wanted = 0;
                    } else if (engine.call_sharing()->share_out(20, add, round % 2 ? 1e9 : 0)) ++shared;
                    else wanted = 0;
                    if (done != wanted) wrong = true;
                    if (round % 64 == 0) std::this_thread::sleep_for(std::chrono::microseconds(100));
                }
            });
        for (std::thread& caller : callers) caller.join();
        EXPECT_FALSE(wrong);
        share(engine, 5, [](Team& team) {
            while (team.next()) {}
        });
    }
}

} // namespace
} // namespace trencadis::testing
