// Conditions: wait gives the mutex away, signal and broadcast bring waiters back.
#include <mutex>

#include "suite.hpp"

namespace trencadis::suite {
namespace {

GLT_SUITE(CondTest);

struct Cond {
    GLT_cond handle = GLT_NULL;
    Cond() { glt_cond_create(&handle); }
    ~Cond() { glt_cond_free(&handle); }
    void wait(Mutex& mutex) { glt_cond_wait(handle, mutex.handle); }
    void signal() { glt_cond_signal(handle); }
    void broadcast() { glt_cond_broadcast(handle); }
};

TEST_P(CondTest, WaitTrulyReleasesTheMutexAndTakesItAgain)
{
    Mutex mutex;
    Cond cond;
    bool waiting = false, go = false, held = false; // guarded by the mutex
    Units waiter(1, [&](int) {
        mutex.lock();
        waiting = true;
        while (!go) cond.wait(mutex);
        held = glt_mutex_trylock(mutex.handle) == 0; // it is this unit's again
        mutex.unlock();
    });
    yield_until([&] { // takes the mutex although the waiter never unlocks it
        mutex.lock();
        const bool waits = waiting;
        mutex.unlock();
        return waits;
    });
    mutex.lock();
    go = true;
    cond.signal();
    for (int i = 0; i < 20; ++i) glt_yield(); // the waiter cannot go on before the mutex is free
    EXPECT_FALSE(held);
    mutex.unlock();
    waiter.wait();
    EXPECT_TRUE(held);
}

TEST_P(CondTest, CarriesABoundedQueue)
{
    Mutex mutex;
    Cond not_full, not_empty;
    const int per_producer = scaled(500), producers = 3, consumers = 3;
    std::vector<int> queue;
    std::size_t most = 0;
    long produced = 0, consumed = 0;
    run_units(producers + consumers, [&](int me) {
        for (int i = 0; i < per_producer; ++i) {
            mutex.lock();
            if (me < producers) {
                while (queue.size() == 4) not_full.wait(mutex);
                queue.push_back(me * per_producer + i);
                produced += queue.back();
                most = std::max(most, queue.size());
                not_empty.signal();
            } else {
                while (queue.empty()) not_empty.wait(mutex);
                consumed += queue.back();
                queue.pop_back();
                not_full.signal();
            }
            mutex.unlock();
        }
    });
    EXPECT_TRUE(queue.empty());
    EXPECT_LE(most, 4u);
    EXPECT_EQ(produced, consumed);
}

TEST_P(CondTest, BroadcastWakesAllAndSignalOne)
{
    Mutex mutex;
    Cond cond;
    int waiting = 0, tickets = 0, through = 0;
    const int units = 20;
    Units waiters(units, [&](int) {
        mutex.lock();
        waiting++;
        while (tickets == 0) cond.wait(mutex);
        tickets--;
        through++;
        mutex.unlock();
    });
    const auto locked = [&](auto&& section) {
        mutex.lock();
        const bool result = section();
        mutex.unlock();
        return result;
    };
    yield_until([&] { return locked([&] { return waiting == units; }); });
    for (int i = 1; i <= 5; ++i) { // one ticket and one signal bring one waiter through
        locked([&] {
            tickets++;
            cond.signal();
            return true;
        });
        yield_until([&] { return locked([&] { return through == i; }); });
    }
    locked([&] {
        tickets = units - 5;
        cond.broadcast();
        return true;
    });
    waiters.wait();
    EXPECT_EQ(through, units);
    EXPECT_EQ(tickets, 0);
}

TEST_P(CondTest, SignalsWithoutWaitersAreNoErrorAndLeaveTheNextOneInOrder)
{
    Mutex mutex;
    Cond cond;
    for (int i = 0; i < 10; ++i) {
        cond.signal();
        cond.broadcast();
    }
    EXPECT_EQ(glt_last_status(), GLT_SUCCESS);
    int stage = 0; // guarded by the mutex; a wait may end without a signal, the condition holds all the same
    Units waiter(1, [&](int) {
        const std::lock_guard hold(mutex);
        stage = 1;
        while (stage != 2) cond.wait(mutex);
        stage = 3;
    });
    const auto stage_is = [&](int wanted) {
        const std::lock_guard hold(mutex);
        return stage == wanted;
    };
    yield_until([&] { return stage_is(1); });
    for (int i = 0; i < 50; ++i) glt_yield();
    EXPECT_TRUE(stage_is(1));
    mutex.lock();
    stage = 2;
    mutex.unlock();
    cond.signal();
    waiter.wait();
    EXPECT_TRUE(stage_is(3));
}

TEST_P(CondTest, SignalsComeFromOutsideTheMutexToo)
{
    Mutex mutex;
    Cond cond;
    const int rounds = scaled(500);
    int turn = 0; // whose turn it is, by its parity
    run_units(2, [&](int me) {
        for (int i = 0; i < rounds; ++i) {
            mutex.lock();
            while (turn % 2 != me) cond.wait(mutex);
            turn++;
            mutex.unlock();
            cond.signal();
        }
    });
    EXPECT_EQ(turn, 2 * rounds);
}

TEST_P(CondTest, ForeignThreadsWaitAndSignal)
{
    if (glt_can(GLT_CAN_FOREIGN_WAIT) == GLT_CANNOT || glt_can(GLT_CAN_FOREIGN_RESUME) == GLT_CANNOT) {
        Cond cond; // MutexTest has the refusal of waiting
        Foreign([&] { can_or_refuses(GLT_CAN_FOREIGN_RESUME, [&] { cond.signal(); }); });
        return;
    }
    Mutex mutex;
    Cond cond;
    const int rounds = scaled(100);
    int turn = 0;
    const auto play = [&](int me) {
        for (int i = 0; i < rounds; ++i) {
            mutex.lock();
            while (turn % 2 != me) cond.wait(mutex);
            turn++;
            cond.broadcast();
            mutex.unlock();
        }
    };
    {
        Foreign other([&] { play(1); });
        play(0);
    }
    EXPECT_EQ(turn, 2 * rounds);
}

} // namespace
} // namespace trencadis::suite
