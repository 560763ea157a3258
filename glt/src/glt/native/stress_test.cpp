// Races of the native back end, each driven into its narrow places by random delays.
#define GLT_STATIC native
#include "trencadis/glt.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <random>
#include <thread>
#include <vector>

namespace trencadis::ult {
namespace {

std::atomic<int> errors{0};
void count_error(int, const char*) { ++errors; }

/// Four threads, more than most machines of a test have cores, so that the system interrupts them anywhere.
class NativeStress : public testing::Test {
protected:
    void SetUp() override
    {
        errors = 0;
        glt_set_error_handler(count_error);
        GLT_options options{};
        options.num_threads = 4;
        options.bind = -1;
        ASSERT_EQ(glt_init_with(&options), GLT_SUCCESS);
    }
    void TearDown() override
    {
        glt_finalize();
        EXPECT_EQ(errors.load(), 0);
        glt_set_error_handler(nullptr);
    }
};

void delay(unsigned seed)
{
    seed *= 2654435761u;
    for (unsigned i = seed >> 24; i > 0; --i) asm volatile("");
    if ((seed >> 8) % 64 == 0) std::this_thread::yield();
    if ((seed >> 16) % 1024 == 0) std::this_thread::sleep_for(std::chrono::microseconds(50));
}

struct Count {
    std::atomic<int> ended{0};
    unsigned seed = 0;
};

TEST_F(NativeStress, AJoinThatGivesUpLeavesTheUnitToBeJoinedOnce)
{
    std::mt19937 random(1);
    for (int round = 0; round < 3000; ++round) {
        Count count;
        count.seed = random();
        GLT_ult unit;
        glt_ult_create(
            [](void* argument) {
                auto& mine = *static_cast<Count*>(argument);
                delay(mine.seed);
                if (mine.seed % 2) glt_yield();
                ++mine.ended;
            },
            &count, &unit);
        int tries = 0;
        while (glt_ult_join_for(&unit, 1e-6 * (random() % 4)) == GLT_TIMEOUT) ++tries;
        ASSERT_EQ(count.ended, 1) << "after " << tries << " attempts";
        glt_ult_free(&unit);
    }
}

TEST_F(NativeStress, DetachedUnitsEndOnceHoweverLateTheyAreDetached)
{
    Count count;
    constexpr int units = 5000;
    for (int i = 0; i < units; ++i) {
        GLT_ult unit;
        glt_ult_create([](void* argument) { ++static_cast<Count*>(argument)->ended; }, &count, &unit);
        delay(static_cast<unsigned>(i));
        if (i % 3 == 0) glt_yield();
        ASSERT_EQ(glt_ult_detach(&unit), GLT_SUCCESS);
    }
    while (count.ended < units) glt_yield();
}

struct PingPong {
    GLT_ult unit;
    std::atomic<long> received{0};
    std::atomic<long> sent{0};
    static constexpr long rounds = 5000;
};

TEST_F(NativeStress, NoResumeIsLostBetweenUnitsAndForeignThreads)
{
    PingPong game;
    glt_ult_create(
        [](void* argument) {
            auto& mine = *static_cast<PingPong*>(argument);
            for (long i = 0; i < PingPong::rounds; ++i) {
                while (mine.sent.load() <= i) ASSERT_EQ(glt_ult_suspend(), GLT_SUCCESS);
                delay(static_cast<unsigned>(i));
                mine.received.store(i + 1);
            }
        },
        &game, &game.unit);
    std::thread foreign([&] {
        for (long i = 0; i < PingPong::rounds; ++i) {
            while (game.received.load() < i) std::this_thread::yield();
            game.sent.store(i + 1);
            delay(static_cast<unsigned>(7 * i));
            EXPECT_EQ(glt_ult_resume(game.unit), GLT_SUCCESS);
        }
    });
    glt_ult_join(&game.unit);
    foreign.join();
    EXPECT_EQ(game.received, PingPong::rounds);
    glt_ult_free(&game.unit);
}

struct Guarded {
    GLT_mutex mutex;
    GLT_cond changed;
    long inside = 0, total = 0, tokens = 0;
    std::atomic<int> begun{0}, cancelled{0};
};

TEST_F(NativeStress, MutexesExcludeUnitsAndForeignThreadsAlike)
{
    Guarded shared;
    glt_mutex_create(&shared.mutex);
    const auto work = [](void* argument) {
        auto& mine = *static_cast<Guarded*>(argument);
        for (unsigned i = 0; i < 300; ++i) {
            if (i % 4 == 3) glt_mutex_spinlock(mine.mutex);
            else glt_mutex_lock(mine.mutex);
            EXPECT_EQ(++mine.inside, 1);
            delay(i * 31);
            if (i % 16 == 0) glt_yield();
            ++mine.total;
            --mine.inside;
            glt_mutex_unlock(mine.mutex);
        }
    };
    std::vector<GLT_ult> units(20);
    for (GLT_ult& unit : units) glt_ult_create(work, &shared, &unit);
    std::thread first(work, &shared), second(work, &shared);
    for (GLT_ult& unit : units) glt_ult_free(&unit);
    first.join();
    second.join();
    EXPECT_EQ(shared.total, 22 * 300);
    glt_mutex_free(&shared.mutex);
}

/// Takes tokens until it is cancelled.
void consume(void* argument)
{
    auto& mine = *static_cast<Guarded*>(argument);
    struct Leaving {
        Guarded& of;
        bool held = false;
        ~Leaving()
        {
            ++of.cancelled;
            if (held) glt_mutex_unlock(of.mutex);
        }
    } leaving{mine};
    ++mine.begun; // one that is cancelled before never runs
    for (;;) {
        glt_mutex_lock(mine.mutex);
        leaving.held = true;
        while (mine.tokens == 0) glt_cond_wait(mine.changed, mine.mutex);
        --mine.tokens;
        ++mine.total;
        leaving.held = false;
        glt_mutex_unlock(mine.mutex);
        glt_yield();
    }
}

TEST_F(NativeStress, ConditionsHandOverEveryTokenAlthoughWaitersAreCancelled)
{
    Guarded shared;
    glt_mutex_create(&shared.mutex);
    glt_cond_create(&shared.changed);
    std::vector<GLT_ult> units(8);
    for (GLT_ult& unit : units) glt_ult_create(consume, &shared, &unit);
    constexpr long tokens = 4000;
    for (unsigned i = 0; i < tokens; ++i) {
        glt_mutex_lock(shared.mutex);
        ++shared.tokens;
        glt_mutex_unlock(shared.mutex);
        glt_cond_signal(shared.changed);
        delay(i);
        if (i % 1000 == 500) glt_ult_cancel(units[i / 1000]);
    }
    for (;; glt_yield()) {
        glt_mutex_lock(shared.mutex);
        const bool all = shared.tokens == 0;
        if (!all) glt_cond_broadcast(shared.changed);
        glt_mutex_unlock(shared.mutex);
        if (all) break;
    }
    for (GLT_ult& unit : units) glt_ult_cancel(unit);
    for (GLT_ult& unit : units) glt_ult_free(&unit);
    EXPECT_EQ(shared.total, tokens);
    EXPECT_EQ(shared.cancelled, shared.begun) << "destructors ran";
    glt_cond_free(&shared.changed);
    glt_mutex_free(&shared.mutex);
}

struct Timed {
    GLT_event event;
    std::atomic<int> set{0}, late{0};
    unsigned seed = 0;
};

TEST_F(NativeStress, TimedWaitsEndOnceWhetherTheTimeOrTheEventComesFirst)
{
    std::mt19937 random(9);
    for (int round = 0; round < 300; ++round) {
        Timed shared;
        shared.seed = random();
        ASSERT_EQ(glt_event_create(&shared.event), GLT_SUCCESS);
        std::vector<GLT_ult> units(10);
        for (GLT_ult& unit : units)
            glt_ult_create(
                [](void* argument) {
                    auto& mine = *static_cast<Timed*>(argument);
                    const int status = glt_event_wait_for(mine.event, 1e-6 * (mine.seed % 100));
                    ++(status == GLT_SUCCESS ? mine.set : mine.late);
                },
                &shared, &unit);
        delay(shared.seed);
        for (unsigned i = 0; i < shared.seed % 8; ++i) glt_yield();
        ASSERT_EQ(glt_event_set(shared.event), GLT_SUCCESS);
        for (GLT_ult& unit : units) glt_ult_free(&unit);
        EXPECT_EQ(shared.set + shared.late, 10);
        ASSERT_EQ(glt_event_free(&shared.event), GLT_SUCCESS);
    }
}

TEST_F(NativeStress, AUnitThatHandlesAnExceptionMayLeaveItsCore)
{
    std::vector<GLT_ult> units(50);
    static std::atomic<int> right{0};
    right = 0;
    for (std::size_t i = 0; i < units.size(); ++i)
        glt_ult_create(
            [](void* argument) {
                const auto mine = reinterpret_cast<std::intptr_t>(argument);
                for (int round = 0; round < 20; ++round) try {
                        throw mine;
                    } catch (std::intptr_t& outer) {
                        glt_yield();
                        try {
                            throw static_cast<int>(mine);
                        } catch (int inner) {
                            glt_yield();
                            if (inner == mine && outer == mine && std::uncaught_exceptions() == 0) ++right;
                        }
                        try {
                            std::rethrow_exception(std::current_exception());
                        } catch (std::intptr_t again) {
                            EXPECT_EQ(again, mine);
                        }
                    }
            },
            reinterpret_cast<void*>(i), &units[i]);
    for (GLT_ult& unit : units) glt_ult_free(&unit);
    EXPECT_EQ(right, 50 * 20);
}

struct Hops {
    std::atomic<int> done{0};
};

TEST_F(NativeStress, UnitsThatMigrateAreWhereTheyWanted)
{
    Hops hops;
    std::vector<GLT_ult> units(40);
    for (GLT_ult& unit : units)
        glt_ult_create(
            [](void* argument) {
                for (int i = 0; i < 100; ++i) {
                    glt_ult_migrate_self_to(i % 4);
                    EXPECT_EQ(glt_get_thread_num(), i % 4);
                    if (i % 7 == 0) {
                        glt_yield();
                        EXPECT_EQ(glt_get_thread_num(), i % 4);
                    }
                }
                ++static_cast<Hops*>(argument)->done;
            },
            &hops, &unit);
    for (GLT_ult& unit : units) glt_ult_free(&unit);
    EXPECT_EQ(hops.done, 40);
}

TEST_F(NativeStress, ACounterMayBeFreedByTheOneItWoke)
{
    for (int round = 0; round < 1000; ++round) {
        GLT_counter counter;
        ASSERT_EQ(glt_counter_create(0, &counter), GLT_SUCCESS);
        GLT_attributes attributes;
        glt_attributes_init(&attributes);
        attributes.detached = 1;
        attributes.counter = counter;
        for (int i = 0; i < 8; ++i)
            ASSERT_EQ(glt_ult_create_with([](void*) { delay(7); }, nullptr, &attributes, nullptr), GLT_SUCCESS);
        ASSERT_EQ(glt_counter_wait(counter), GLT_SUCCESS);
        // The last to count down may still be on its way out of the counter: then there is somebody else's at its place.
        int status;
        while ((status = glt_counter_free(&counter)) != GLT_SUCCESS) ASSERT_EQ(status, GLT_SUCCESS);
    }
}

} // namespace
} // namespace trencadis::ult
