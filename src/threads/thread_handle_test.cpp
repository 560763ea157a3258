#include "threads/thread_handle.hpp"

#include <atomic>
#include <chrono>
#include <gtest/gtest.h>
#include <sched.h>
#include <thread>
#include <vector>

namespace trencadis {
namespace {

TEST(ThreadHandle, ProcessorTimeGrowsWhileAThreadRunsAndStandsStillWhileItSleeps)
{
    std::atomic<bool> over{false}, sleeps{false};
    std::atomic<int> known{0};
    ThreadHandle handle;
    std::thread other([&] {
        handle = ThreadHandle::mine();
        known = 1;
        while (!sleeps.load()) {}
        known = 2;
        while (!over.load()) std::this_thread::sleep_for(std::chrono::milliseconds(200));
    });
    while (known.load() != 1) sched_yield();
    const std::int64_t first = handle.cpu_ns();
    const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(10);
    while (handle.cpu_ns() == first && std::chrono::steady_clock::now() < until) sched_yield();
    EXPECT_GT(handle.cpu_ns(), first);
    sleeps = true;
    while (known.load() != 2) sched_yield();
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    const std::int64_t asleep = handle.cpu_ns();
    bool same = false; // it wakes now and then
    for (int i = 0; i < 10 && !same; ++i) {
        const std::int64_t before = handle.cpu_ns();
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
        same = handle.cpu_ns() == before;
    }
    EXPECT_TRUE(same) << asleep;
    over = true;
    other.join();
    EXPECT_EQ(ThreadHandle{}.cpu_ns(), -1);
}

std::vector<int> allowed_cores()
{
    cpu_set_t allowed;
    sched_getaffinity(0, sizeof allowed, &allowed);
    std::vector<int> cores;
    for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu)
        if (CPU_ISSET(cpu, &allowed)) cores.push_back(cpu);
    return cores;
}

TEST(ThreadHandle, AThreadGoesOnWhereItIsMoved)
{
    std::atomic<bool> known{false}, over{false};
    std::atomic<int> runs_on{-1};
    ThreadHandle handle;
    std::thread other([&] {
        handle = ThreadHandle::mine();
        known = true;
        while (!over.load()) runs_on = sched_getcpu();
    });
    while (!known.load()) sched_yield();
    for (const int cpu : allowed_cores()) {
        EXPECT_TRUE(handle.move_to(cpu));
        const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(10);
        while (runs_on.load() != cpu && std::chrono::steady_clock::now() < until) sched_yield();
        EXPECT_EQ(runs_on.load(), cpu);
    }
    over = true;
    other.join();
}

TEST(ThreadHandle, NobodyIsMovedToACoreThatIsNone)
{
    for (const int cpu : {-1, CPU_SETSIZE - 1, CPU_SETSIZE, 1 << 20}) EXPECT_FALSE(ThreadHandle::mine().move_to(cpu)) << cpu;
    EXPECT_FALSE(ThreadHandle{}.move_to(allowed_cores().front())) << "that would be the caller";
}

} // namespace
} // namespace trencadis
