#include "threads/sleepers.hpp"

#include "base/testing/eventually.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

namespace trencadis {
namespace {

using testing::eventually;

TEST(Sleepers, OverlookNoWakeUp)
{
    constexpr int beds = 3, rounds = 20'000;
    Sleepers sleepers(beds);
    std::atomic<int> tokens{0}, taken{0};
    std::vector<std::thread> threads;
    const auto take = [&] {
        int there = tokens.load();
        while (there > 0)
            if (tokens.compare_exchange_weak(there, there - 1)) return true;
        return false;
    };
    for (int bed = 0; bed < beds; ++bed)
        threads.emplace_back([&, bed] {
            while (taken.load() < rounds) {
                if (take()) {
                    if (++taken == rounds) sleepers.notify_all();
                    continue;
                }
                sleepers.prepare(bed);
                if (tokens.load() > 0 || taken.load() >= rounds) sleepers.cancel(bed);
                else sleepers.wait(bed, -1, bed == 0);
            }
        });
    for (int i = 0; i < rounds; ++i) {
        ++tokens;
        sleepers.notify(1);
        if (i % 64 == 0) {
            EXPECT_TRUE(eventually([&] { return tokens.load() == 0; })) << "in round " << i;
        }
    }
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(taken.load(), rounds);
}

TEST(Sleepers, SleepOnWhereTheyAreSpared)
{
    Sleepers sleepers(3);
    std::atomic<int> up{0};
    std::vector<std::thread> threads;
    for (int bed = 0; bed < 3; ++bed)
        threads.emplace_back([&, bed] {
            sleepers.prepare(bed);
            sleepers.wait(bed, -1, bed == 0);
            up += 1 << bed;
        });
    ASSERT_TRUE(eventually([&] { return sleepers.count() == 3 && sleepers.is_free(0); }));
    std::this_thread::sleep_for(std::chrono::milliseconds(20)); // all asleep, not only about to be
    sleepers.notify(3, 1, 2);
    EXPECT_TRUE(eventually([&] { return up == 0b101; }));
    EXPECT_EQ(sleepers.count(), 1);
    sleepers.notify(1);
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(up, 0b111);
}

/// About so many cycles.
void pause(int count)
{
    for (; count > 0; --count) std::atomic_signal_fence(std::memory_order_seq_cst);
}

/// What a producer brings may come at any instant of going to sleep: the pauses before both move through all of them.
TEST(Sleepers, AreWokenAtWhateverInstantTheyGoToSleep)
{
    Sleepers sleepers(1);
    constexpr int rounds = 200'000;
    std::atomic<int> token{0};
    std::thread sleeper([&] {
        for (int i = 0; i < rounds; ++i) {
            pause(i * 7 % 1024);
            while (token.load(std::memory_order_relaxed) == 0) {
                sleepers.prepare(0);
                if (token.load(std::memory_order_relaxed) != 0) sleepers.cancel(0);
                else sleepers.wait(0, -1, true);
            }
            token.store(0, std::memory_order_release);
        }
    });
    bool overlooked = false;
    for (int i = 0; i < rounds; ++i) {
        pause(i % 1024);
        token.store(1, std::memory_order_relaxed);
        sleepers.notify(1);
        int looks = 0;
        while (token.load(std::memory_order_acquire) != 0 && !overlooked)
            if (++looks == 1000) overlooked = !eventually([&] { return token.load() == 0; });
        if (overlooked) sleepers.notify_one(0);
        while (overlooked && token.load() != 0) std::this_thread::yield();
    }
    EXPECT_FALSE(overlooked);
    sleeper.join();
}

TEST(Sleepers, WhoIsDisplacedIsWokenByNobodyBeforeItsPlaceIsFree)
{
    Sleepers sleepers(2);
    std::atomic<bool> awake{false};
    std::thread sleeper([&] {
        sleepers.prepare(0);
        sleepers.wait(0, -1, true);
        awake = true;
    });
    ASSERT_TRUE(eventually([&] { return sleepers.displace(0); }));
    EXPECT_FALSE(sleepers.displace(0)) << "one at a time";
    sleepers.notify_all();
    sleepers.notify_one(0);
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    EXPECT_FALSE(awake);
    sleepers.restore(0);
    EXPECT_TRUE(sleepers.is_free(0));
    sleepers.notify(1);
    EXPECT_TRUE(eventually([&] { return awake.load(); }));
    sleeper.join();
}

TEST(Sleepers, WhoIsDisplacedCanBeCalledBack)
{
    Sleepers sleepers(1);
    std::atomic<bool> displaced{false};
    std::thread sleeper([&] {
        for (bool woken = false; !woken;) {
            sleepers.prepare(0);
            woken = sleepers.wait(0, 1'000'000, true);
            EXPECT_TRUE(woken || !displaced) << "a limit does not run while the place is another one's";
        }
    });
    ASSERT_TRUE(eventually([&] { return sleepers.displace(0); }));
    displaced = true;
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    sleepers.call_back(0);
    sleeper.join();
    EXPECT_EQ(sleepers.count(), 0);
}

TEST(Sleepers, WakeByThemselvesAfterTheirLimit)
{
    Sleepers sleepers(1);
    sleepers.prepare(0);
    EXPECT_FALSE(sleepers.wait(0, 1'000'000, true));
    EXPECT_EQ(sleepers.count(), 0);
}

TEST(Sleepers, OnlyPlacesThatWereSaidToBeFreeAreTaken)
{
    Sleepers sleepers(1);
    EXPECT_FALSE(sleepers.displace(0)) << "awake";
    sleepers.prepare(0);
    EXPECT_FALSE(sleepers.displace(0)) << "about to sleep";
    sleepers.cancel(0);
    std::thread sleeper([&] {
        sleepers.prepare(0);
        sleepers.wait(0, -1, false);
    });
    ASSERT_TRUE(eventually([&] { return sleepers.count() == 1; }));
    EXPECT_FALSE(sleepers.displace(0)) << "waits for a flow of its own";
    ASSERT_TRUE(eventually([&] { return sleepers.notify_one(0), sleepers.count() == 0; }));
    sleeper.join();
}

} // namespace
} // namespace trencadis
