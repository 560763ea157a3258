#include "threads/event_count.hpp"
#include "threads/lock.hpp"
#include "threads/parker.hpp"
#include "threads/threads.hpp"

#include <gtest/gtest.h>

#include <mutex>
#include <sched.h>
#include <thread>
#include <vector>

namespace trencadis {
namespace {

TEST(Lock, LetsOneInAtATime)
{
    Lock lock;
    long counter = 0;
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t)
        threads.emplace_back([&] {
            for (int i = 0; i < 50'000; ++i) {
                std::lock_guard hold(lock);
                ++counter;
            }
        });
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(counter, 200'000);
}

TEST(Parker, KeepsATokenThatCameFirst)
{
    Parker parker;
    parker.unpark();
    parker.park();
    EXPECT_FALSE(parker.park_for(1'000'000)) << "one token, one park";
}

TEST(EventCount, NoChangeIsMissed)
{
    EventCount changed;
    std::atomic<int> ball{0};
    constexpr int rounds = 20'000;
    std::thread other([&] {
        for (int i = 0; i < rounds; ++i) {
            while (ball.load() != 1) {
                const std::uint32_t key = changed.prepare();
                if (ball.load() == 1) changed.cancel();
                else changed.wait(key);
            }
            ball.store(0);
            changed.notify_all();
        }
    });
    for (int i = 0; i < rounds; ++i) {
        ball.store(1);
        changed.notify_all();
        while (ball.load() != 0) {
            const std::uint32_t key = changed.prepare();
            if (ball.load() == 0) changed.cancel();
            else changed.wait(key);
        }
    }
    other.join();
}

/// The contract, over every back end of the build.
class EveryThreads : public testing::TestWithParam<const ThreadsEntry*> {
protected:
    std::unique_ptr<Threads> threads_ = GetParam()->make();
};

TEST_P(EveryThreads, AUnitSleepsUntilItIsResumedAndKeepsAResumeThatCameFirst)
{
    std::atomic<int> stage{0};
    const auto unit = threads_->start(-1, [&](Unit& self) {
        self.suspend();
        stage = 1;
        self.suspend();
        stage = 2;
    });
    unit->resume();
    while (stage != 1) std::this_thread::yield();
    unit->resume();
    while (stage != 2) std::this_thread::yield();
}

TEST_P(EveryThreads, AUnitRunsOnTheCoreItWasGiven)
{
    cpu_set_t allowed;
    ASSERT_EQ(sched_getaffinity(0, sizeof allowed, &allowed), 0);
    for (int cpu = 0; cpu < 64; ++cpu) {
        if (!CPU_ISSET(cpu, &allowed)) continue;
        std::atomic<int> seen{-1};
        threads_->start(cpu, [&](Unit&) { seen = sched_getcpu(); }).reset();
        EXPECT_EQ(seen, cpu);
    }
}

INSTANTIATE_TEST_SUITE_P(Registry, EveryThreads, testing::ValuesIn(threads_entries().begin(), threads_entries().end()),
                         [](const auto& info) { return std::string(info.param->name); });

} // namespace
} // namespace trencadis
