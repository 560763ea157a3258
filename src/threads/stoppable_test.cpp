#include "threads/stoppable.hpp"

#include <atomic>
#include <cfenv>
#include <chrono>
#include <gtest/gtest.h>
#include <random>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <thread>
#include <unistd.h>
#include <vector>

namespace trencadis {
namespace {

void* forbidden_page() { return mmap(nullptr, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0); }

/// Counts for ever.
class Counting final : public Stoppable {
public:
    std::atomic<bool> stop{false};
    volatile long count = 0;

private:
    void body() override
    {
        while (true) count = count + 1;
    }
    bool stopped() const override { return stop.load(std::memory_order_relaxed); }
};

class Returning final : public Stoppable {
    void body() override {}
    bool stopped() const override { return false; }
};

#define NEEDS_STOPPING                                                                                                           \
    if (!can_stop_threads()) GTEST_SKIP() << "signals are delayed here (ThreadSanitizer), or the kernel has no membarrier"

TEST(Stoppable, ABodyThatReturnsWasNotStopped)
{
    Returning body;
    EXPECT_TRUE(body.run());
}

/// The reader may not see a count that changes: that would be an instruction of the body after it was stopped.
void stop_and_watch(int rounds, bool same_core)
{
    std::atomic<Counting*> now{nullptr};
    std::atomic<bool> over{false};
    ThreadHandle handle;
    std::thread victim([&] {
        handle = ThreadHandle::mine();
        while (!over.load()) {
            Counting body;
            now.store(&body);
            ASSERT_FALSE(body.run());
            while (now.load() && !over.load()) sched_yield();
        }
    });
    if (same_core) {
        cpu_set_t core;
        CPU_ZERO(&core);
        CPU_SET(sched_getcpu(), &core);
        pthread_setaffinity_np(victim.native_handle(), sizeof core, &core);
    }
    std::minstd_rand random(1);
    for (int i = 0; i < rounds; ++i) {
        Counting* body;
        while (!(body = now.load())) sched_yield();
        const auto until = std::chrono::steady_clock::now() + std::chrono::nanoseconds(random() % 50'000);
        while (std::chrono::steady_clock::now() < until) {}
        body->stop.store(true);
        stop_thread(handle);
        const long count = body->count;
        for (int look = 0; look < 20; ++look) {
            ASSERT_EQ(body->count, count) << "round " << i;
            if (look % 5 == 0) sched_yield();
        }
        if (i + 1 == rounds) over.store(true);
        now.store(nullptr);
    }
    victim.join();
}

TEST(Stoppable, NothingOfABodyRunsAfterItWasStopped)
{
    NEEDS_STOPPING;
    stop_and_watch(3000, false);
}

TEST(Stoppable, NothingOfABodyRunsAfterItWasStoppedWhileItWaitedForItsCore)
{
    NEEDS_STOPPING;
    stop_and_watch(500, true);
}

TEST(Stoppable, ASignalForABodyThatIsOverDoesNothing)
{
    NEEDS_STOPPING;
    const ThreadHandle mine = ThreadHandle::mine();
    stop_thread(mine);
    Returning body;
    EXPECT_TRUE(body.run());
    stop_thread(mine);
}

TEST(Stoppable, AThreadThatBlocksSignalsIsStoppedToo)
{
    NEEDS_STOPPING;
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before); // inherited
    stop_and_watch(20, false);
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

TEST(Stoppable, IsRefusedWhereTheProgramUsesTheSignal)
{
    NEEDS_STOPPING;
    struct sigaction theirs = {}, ours;
    theirs.sa_handler = [](int) {};
    sigaction(SIGURG, &theirs, &ours);
    EXPECT_FALSE(can_stop_threads());
    sigaction(SIGURG, &ours, nullptr);
    EXPECT_TRUE(can_stop_threads());
}

/// In a process of its own, in which their handler comes first.
TEST(StoppableDeathTest, AHandlerThatWasThereBeforeIsCalled)
{
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    struct sigaction theirs = {}, before;
    theirs.sa_handler = [](int) { _exit(7); };
    sigaction(SIGSEGV, &theirs, &before);
    EXPECT_EXIT(
        {
            prepare_stopping();
            *static_cast<volatile char*>(forbidden_page()) = 1;
        },
        ::testing::ExitedWithCode(7), "");
    sigaction(SIGSEGV, &before, nullptr);
}

/// Its fault comes before the signal.
class Faulting final : public Stoppable {
public:
    std::atomic<bool> stop{false};
    volatile char* gone = nullptr;

private:
    void body() override
    {
        stop = true;
        *gone = 1;
    }
    bool stopped() const override { return stop.load(); }
};

TEST(Stoppable, AFaultInABodyThatWasStoppedEndsIt)
{
    NEEDS_STOPPING;
    void* const page = forbidden_page();
    const auto fault = [&] {
        for (int i = 0; i < 3; ++i) {
            Faulting body;
            body.gone = static_cast<volatile char*>(page);
            EXPECT_FALSE(body.run());
        }
    };
    fault();
    sigset_t all, before; // a worker takes no signals
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    std::thread(fault).join();
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    munmap(page, 4096);
}

TEST(Stoppable, ABodyThatWasStoppedBeforeItBeganDoesNotBegin)
{
    NEEDS_STOPPING;
    Counting body;
    body.stop = true;
    ASSERT_TRUE(stop_thread(ThreadHandle::mine()));
    EXPECT_FALSE(body.run());
    EXPECT_EQ(body.count, 0);
}

TEST(Stoppable, RoundingIsThatOfBefore)
{
    NEEDS_STOPPING;
    void* const page = forbidden_page();
    ASSERT_EQ(std::fesetround(FE_UPWARD), 0);
    Faulting body;
    body.gone = static_cast<volatile char*>(page);
    EXPECT_FALSE(body.run());
    EXPECT_EQ(std::fegetround(), FE_UPWARD);
    volatile double one = 1, three = 3;
    const double up = one / three;
    std::fesetround(FE_TONEAREST);
    EXPECT_GT(up, one / three);
    munmap(page, 4096);
}

TEST(StoppableDeathTest, AnotherFaultGoesToWhomeverHandledItBefore)
{
    NEEDS_STOPPING;
    EXPECT_DEATH(*static_cast<volatile char*>(forbidden_page()) = 1, "");
}

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

} // namespace
} // namespace trencadis
