// Mutual exclusion by lock, trylock and spinlock, among units and with foreign threads.
#include "suite.hpp"

namespace trencadis::suite {
namespace {

GLT_SUITE(MutexTest);

struct Guarded { // the counter is not atomic: only exclusion keeps it right
    long count = 0;
    std::atomic<int> inside = 0;
    std::atomic<int> overlaps = 0;

    void enter(bool yield_inside)
    {
        overlaps += inside.fetch_add(1) != 0;
        const long before = count;
        if (yield_inside) glt_yield();
        count = before + 1;
        inside.fetch_sub(1);
    }
};

TEST_P(MutexTest, KeepsUnitsApart)
{
    Mutex mutex;
    Guarded guarded;
    const int rounds = scaled(500);
    run_units(32, [&](int) {
        for (int i = 0; i < rounds; ++i) {
            mutex.lock();
            guarded.enter(i % 50 == 0);
            mutex.unlock();
        }
    });
    EXPECT_EQ(guarded.count, 32L * rounds);
    EXPECT_EQ(guarded.overlaps, 0);
}

TEST_P(MutexTest, IsHandedOverAmongManyMoreUnitsThanThreads)
{
    Mutex mutex;
    Guarded guarded;
    const int rounds = scaled(20);
    run_units(256, [&](int) {
        for (int i = 0; i < rounds; ++i) {
            mutex.lock();
            guarded.enter(true); // all others queue up meanwhile
            mutex.unlock();
        }
    });
    EXPECT_EQ(guarded.count, 256L * rounds);
    EXPECT_EQ(guarded.overlaps, 0);
}

TEST_P(MutexTest, TrylockAnswersOneWhenItTookTheLock)
{
    Mutex mutex;
    EXPECT_EQ(glt_mutex_trylock(mutex.handle), 1);
    EXPECT_EQ(glt_mutex_trylock(mutex.handle), 0);
    run_units(4, [&](int) { EXPECT_EQ(glt_mutex_trylock(mutex.handle), 0); });
    mutex.unlock();
    run_units(4, [&](int) {
        yield_until([&] { return glt_mutex_trylock(mutex.handle) == 1; });
        mutex.unlock();
    });
    mutex.lock();
    EXPECT_EQ(glt_mutex_trylock(mutex.handle), 0);
    mutex.unlock();
}

TEST_P(MutexTest, TrylockKeepsUnitsApart)
{
    Mutex mutex;
    Guarded guarded;
    std::atomic<long> taken = 0;
    run_units(16, [&](int) {
        for (int i = 0; i < 200; ++i) {
            if (glt_mutex_trylock(mutex.handle)) {
                guarded.enter(i % 10 == 0);
                taken++;
                mutex.unlock();
            }
            glt_yield();
        }
    });
    EXPECT_EQ(guarded.count, taken);
    EXPECT_EQ(guarded.overlaps, 0);
    EXPECT_GT(taken, 0);
}

TEST_P(MutexTest, SpinlockKeepsUnitsApartAndDoesNotStarveTheHolder)
{
    Mutex mutex;
    Guarded guarded;
    const int rounds = scaled(100);
    run_units(16, [&](int) {
        for (int i = 0; i < rounds; ++i) {
            if (i % 4) glt_mutex_spinlock(mutex.handle);
            else mutex.lock(); // both kinds on one mutex
            guarded.enter(i % 10 == 0);
            mutex.unlock();
        }
    });
    EXPECT_EQ(guarded.count, 16L * rounds);
    EXPECT_EQ(guarded.overlaps, 0);
}

TEST_P(MutexTest, IsUnlockedByWhomYouLike)
{
    Mutex mutex;
    for (int i = 0; i < 20; ++i) {
        mutex.lock();
        run_units(1, [&](int) { mutex.unlock(); });
        EXPECT_EQ(glt_mutex_trylock(mutex.handle), 1);
        mutex.unlock();
    }
    // A unit waits in lock while another one, not the owner, unlocks.
    std::atomic<bool> got = false;
    mutex.lock();
    auto wait = [&] {
        mutex.lock();
        got = true;
        mutex.unlock();
    };
    GLT_ult waiter = create(wait);
    for (int i = 0; i < 20; ++i) glt_yield();
    EXPECT_FALSE(got);
    run_units(1, [&](int) { mutex.unlock(); });
    glt_ult_free(&waiter);
    EXPECT_TRUE(got);
}

TEST_P(MutexTest, AWaiterLeavesItsCoreToOthers)
{
    Mutex mutex;
    mutex.lock();
    Units waiters(2 * threads(), [&](int) {
        mutex.lock();
        mutex.unlock();
    });
    std::atomic<int> ran = 0;
    run_units(20, [&](int) { ran++; }); // all threads hold waiters, and still these run
    EXPECT_EQ(ran, 20);
    mutex.unlock();
    waiters.wait();
}

TEST_P(MutexTest, KeepsUnitsAndForeignThreadsApart)
{
    Mutex mutex;
    Foreign([&] {
        if (can_or_refuses(GLT_CAN_FOREIGN_WAIT, [&] { mutex.lock(); })) {
            mutex.lock();
            mutex.unlock();
        }
    });
    if (glt_can(GLT_CAN_FOREIGN_WAIT) == GLT_CANNOT || glt_can(GLT_CAN_FOREIGN_RESUME) == GLT_CANNOT) return;
    Guarded guarded;
    const int rounds = scaled(200);
    const auto work = [&] {
        for (int i = 0; i < rounds; ++i) {
            mutex.lock();
            guarded.enter(i % 20 == 0);
            mutex.unlock();
        }
    };
    {
        Foreign one(work), two(work);
        run_units(8, [&](int) { work(); });
    }
    EXPECT_EQ(guarded.count, 10L * rounds);
    EXPECT_EQ(guarded.overlaps, 0);
}

TEST_P(MutexTest, ManyAreCreatedAndFreedEachUnlockedAtFirstAndWithoutALeak)
{
    const auto use = [](int count) {
        int right = 0;
        for (int i = 0; i < count; ++i) {
            Mutex mutex;
            right += glt_mutex_trylock(mutex.handle) == 1 && glt_mutex_trylock(mutex.handle) == 0;
            mutex.unlock();
        }
        return right;
    };
    EXPECT_EQ(use(2000), 2000);
    long growth = 0;
    for (int round = 0; round < 3; ++round) { // a leak grows in each; something else of the process may grow once
        const long before = resident_kib();
        EXPECT_EQ(use(50000), 50000);
        growth = resident_kib() - before;
        if (growth < 600) break;
    }
    if (!sanitized) { // which keep what was freed for a while
        EXPECT_LT(growth, 600) << "50,000 of 16 bytes would be 800 KiB";
    }
}

/// Something with a count of those who use it, under a mutex inside it: the last one frees both.
struct Counted {
    GLT_mutex mutex = GLT_NULL;
    int users;
    explicit Counted(int count) : users(count) { glt_mutex_create(&mutex); }
    void drop()
    {
        const bool last = --users == 0;
        glt_mutex_unlock(mutex);
        if (!last) return;
        glt_mutex_free(&mutex);
        delete this;
    }
};

TEST_P(MutexTest, TheLastToUnlockMayFreeIt)
{
    const int users = 4;
    for (int round = 0; round < scaled(300); ++round) {
        auto* counted = new Counted(users);
        run_units(users, [&](int i) {
            if (i % 2) glt_mutex_lock(counted->mutex);
            else
                while (!glt_mutex_trylock(counted->mutex)) glt_yield();
            if (i % 3 == 0) glt_yield(); // others wait for it
            counted->drop();
        });
    }
}

} // namespace
} // namespace trencadis::suite
