#include "base/lasting.hpp"
#include "base/of_thread.hpp"

#include <gtest/gtest.h>

#include <stdexcept>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace trencadis {
namespace {

TEST(Lasting, IsMadeOnceAndAgainOnlyAfterAFailure)
{
    static constinit Lasting<int> number;
    int made = 0;
    const auto make = [&]() -> int* {
        if (++made == 1) throw std::runtime_error("not yet");
        return new int(made);
    };
    EXPECT_THROW(number.get(make), std::runtime_error);
    EXPECT_EQ(number.get(make), 2);
    EXPECT_EQ(number.get(make), 2);
    EXPECT_EQ(made, 2);
}

TEST(Lasting, MayAskForAnotherWhileItIsMade)
{
    static constinit Lasting<int> inner, outer;
    EXPECT_EQ(outer.get([] { return new int(inner.get([] { return new int(7); }) + 1); }), 8);
}

struct Guarded {
    ProcessLock lock;
    int first = 0, second = 0; ///< equal, whenever the lock is free
};
constinit Lasting<Guarded> guarded;

/// 0 when the child finds the lock free, and whole what it guards.
int look_in_child()
{
    const pid_t child = fork();
    if (child == 0) {
        alarm(10);
        Guarded& here = guarded.get();
        const std::lock_guard lock(here.lock);
        _exit(here.first == here.second ? 0 : 1);
    }
    int status = -1;
    waitpid(child, &status, 0);
    return status;
}

TEST(ProcessLock, IsFreeInAForkedChildAndWhatItGuardsIsWhole)
{
    std::atomic<bool> stop{false};
    std::thread other([&] {
        while (!stop) {
            const std::lock_guard lock(guarded.get().lock);
            ++guarded.get().first;
            std::this_thread::yield();
            ++guarded.get().second;
        }
    });
    for (int i = 0; i < 30; ++i) ASSERT_EQ(look_in_child(), 0);
    stop = true;
    other.join();
}

TEST(ProcessLock, LetsItsHolderFork)
{
    const std::lock_guard lock(guarded.get().lock);
    EXPECT_EQ(look_in_child(), 0);
}

TEST(Forks, AreCountedInTheChild)
{
    const int here = forks_so_far();
    const pid_t child = fork();
    if (child == 0) _exit(forks_so_far() - here);
    int status = 0;
    waitpid(child, &status, 0);
    EXPECT_EQ(WEXITSTATUS(status), 1);
    EXPECT_EQ(forks_so_far(), here);
}

/// Counts those that live.
struct Counted {
    static inline std::atomic<int> alive{0};
    Counted() { ++alive; }
    ~Counted() { --alive; }
};

TEST(OfThread, EndsWithTheThread)
{
    std::thread([] {
        EXPECT_EQ((&of_thread<Counted, Counted>()), (&of_thread<Counted, Counted>()));
        EXPECT_EQ(Counted::alive, 1);
    }).join();
    EXPECT_EQ(Counted::alive, 0);
}

TEST(OfThread, CanBeAskedForAfterItHasEnded)
{
    pthread_key_t late; // younger than Counted's, so that its destructor runs after that one
    ASSERT_EQ(pthread_key_create(&late,
                                 [](void*) {
                                     EXPECT_EQ(Counted::alive, 0);
                                     static_cast<void>(of_thread<Counted, Counted>());
                                     EXPECT_EQ(Counted::alive, 1);
                                 }),
              0);
    std::thread([late] {
        pthread_setspecific(late, &late);
        static_cast<void>(of_thread<Counted, Counted>());
    }).join();
    EXPECT_EQ(Counted::alive, 0); // the late one has ended, too
    pthread_key_delete(late);
}

} // namespace
} // namespace trencadis
