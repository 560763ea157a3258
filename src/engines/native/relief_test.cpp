#include "engines/native/relief.hpp"
#include "observe/clock.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <sched.h>
#include <thread>
#include <vector>

namespace trencadis {
namespace {

constexpr std::int64_t us = 1'000, ms = 1'000'000;

/// The number of a core that this process may use; of the last one where there are fewer.
int usable_core(int number)
{
    cpu_set_t usable;
    CPU_ZERO(&usable);
    sched_getaffinity(0, sizeof usable, &usable);
    int found = -1;
    for (int cpu = 0; cpu < CPU_SETSIZE && number >= 0; ++cpu)
        if (CPU_ISSET(cpu, &usable)) found = cpu, --number;
    return found;
}

class Reliefs : public ::testing::Test {
protected:
    void add_all(Relief& relief, const WorkerPlace& place = {0})
    {
        for (int i = 0; i < 2; ++i) relief.add(posts_[i], place, any_node, runs_[i]);
    }
    Relief::Post posts_[2];
    std::atomic<std::int64_t> runs_[2]{0, 0};
};

TEST_F(Reliefs, LetAHelperLookTwiceBeforeItSleepsForLong)
{
    Relief relief(Relieving::held_up, true);
    add_all(relief);
    Relief::Watch watch(relief, posts_[0]);
    EXPECT_EQ(watch.nap_ns(), 50 * us) << "who has just begun a task may not be seen yet";
    watch.slept(false, 1);
    EXPECT_EQ(watch.nap_ns(), Relief::forever);
}

TEST_F(Reliefs, LetAHelperLookLessAndLessOftenWhileSomebodyRuns)
{
    Relief relief(Relieving::held_up, true);
    add_all(relief);
    runs_[1] = 1;
    Relief::Watch watch(relief, posts_[0]);
    std::int64_t longest = 0;
    for (int i = 0; i < 20; ++i) {
        EXPECT_GE(watch.nap_ns(), longest);
        longest = watch.nap_ns();
        watch.slept(false, 1);
    }
    EXPECT_EQ(longest, 5 * ms);
    watch.slept(false, 8);
    for (int i = 0; i < 3; ++i) watch.slept(false, 8);
    EXPECT_EQ(watch.nap_ns(), 20 * ms) << "of many, each looks the less often";
    watch.slept(true, 8);
    EXPECT_EQ(watch.nap_ns(), 50 * us);
}

TEST_F(Reliefs, DisturbNobodyWhereTheyAreNotWanted)
{
    runs_[1] = 1;
    Relief never(Relieving::never, true);
    add_all(never);
    EXPECT_EQ(Relief::Watch(never, posts_[0]).nap_ns(), Relief::forever);
    Relief units_wander(Relieving::always, false);
    add_all(units_wander);
    EXPECT_EQ(Relief::Watch(units_wander, posts_[0]).nap_ns(), Relief::forever);
    WorkerPlace slow{0};
    slow.slow = 0.5;
    Relief slowed(Relieving::always, true);
    add_all(slowed, slow);
    EXPECT_EQ(Relief::Watch(slowed, posts_[0]).nap_ns(), Relief::forever);
}

/// Who gave its core lately will be needed again, and who spins does not look.
TEST_F(Reliefs, LetAHelperSpinForLongUntilItHasHadToHelp)
{
    if (usable_core(0) == usable_core(1)) GTEST_SKIP() << "one core only";
    std::atomic<bool> ends{false};
    Relief relief(Relieving::always, true);
    for (int i = 0; i < 2; ++i) relief.add(posts_[i], WorkerPlace{usable_core(i)}, any_node, runs_[i]);
    relief.has(posts_[0], ThreadHandle::mine());
    std::thread owner([&] {
        relief.has(posts_[1], ThreadHandle::mine());
        runs_[1] = 1;
        while (!ends) std::this_thread::yield();
    });
    while (runs_[1] == 0) std::this_thread::yield();
    Relief::Watch watch(relief, posts_[0]);
    EXPECT_TRUE(watch.may_spin(4 * ms, now_ns()));
    watch.look();
    ASSERT_EQ(posts_[0].given(), 1);
    EXPECT_TRUE(watch.may_spin(50 * us, now_ns()));
    EXPECT_FALSE(watch.may_spin(200 * us, now_ns()));
    EXPECT_TRUE(watch.may_spin(200 * us, now_ns() + 300 * ms)) << "it was not needed for long";
    runs_[1] = 0;
    EXPECT_TRUE(watch.may_spin(200 * us, now_ns())) << "between calls";
    ends = true;
    owner.join();
}

/// It runs no task of its own, and who waits is no worker: a caller, at its call's end.
TEST_F(Reliefs, HelpWhoHasJoinedACall)
{
    if (usable_core(0) == usable_core(1)) GTEST_SKIP() << "one core only";
    std::atomic<bool> joined{false}, ends{false};
    Relief relief(Relieving::held_up, true);
    for (int i = 0; i < 2; ++i) relief.add(posts_[i], WorkerPlace{usable_core(i)}, any_node, runs_[i]);
    std::thread member([&] {
        relief.has(posts_[1], ThreadHandle::mine());
        const Relief::Joined inside(posts_[1]);
        joined = true;
        while (!ends) std::this_thread::sleep_for(std::chrono::milliseconds(1)); // its time stands still
    });
    while (!joined) std::this_thread::yield();
    bool gave = false;
    for (const std::int64_t end = now_ns() + 20'000 * ms; !gave && now_ns() < end;) gave = relief.help_members(posts_[0]);
    EXPECT_TRUE(gave);
    EXPECT_EQ(posts_[0].given(), 1);
    ends = true;
    member.join();
    EXPECT_FALSE(relief.help_members(posts_[0])) << "it has left";
    Relief never(Relieving::never, true);
    for (int i = 0; i < 2; ++i) never.add(posts_[i], WorkerPlace{usable_core(i)}, any_node, runs_[i]);
    const Relief::Joined inside(posts_[1]);
    EXPECT_FALSE(never.help_members(posts_[0]));
}

/// The owner runs a task on a core that is the helper's for so long; it comes back by itself, and only from its own thread.
TEST_F(Reliefs, MoveAnOwnerThatRunsATaskAndBringItHome)
{
    cpu_set_t before;
    ASSERT_EQ(sched_getaffinity(0, sizeof before, &before), 0);
    const std::vector<int> cores{usable_core(0), usable_core(1)};
    if (cores[0] == cores[1]) GTEST_SKIP() << "one core only";
    Relief relief(Relieving::always, true);
    for (int i = 0; i < 2; ++i) relief.add(posts_[i], WorkerPlace{cores[std::size_t(i)]}, any_node, runs_[i]);
    relief.has(posts_[1], ThreadHandle::mine());
    runs_[1] = 1;
    std::thread([&] {
        relief.has(posts_[0], ThreadHandle::mine());
        Relief::Watch(relief, posts_[0]).look();
        EXPECT_FALSE(relief.is_away(posts_[1])) << "only its own thread takes it home";
        Relief::Watch(relief, posts_[0]).look(); // it is away already
    }).join();
    EXPECT_EQ(posts_[0].given(), 1);
    EXPECT_TRUE(relief.is_away(posts_[1]));
    EXPECT_EQ(sched_getcpu(), cores[0]);
    relief.go_home(posts_[1]);
    EXPECT_FALSE(relief.is_away(posts_[1]));
    EXPECT_EQ(sched_getcpu(), cores[1]);
    relief.stay(posts_[1]);
    std::thread([&] { Relief::Watch(relief, posts_[0]).look(); }).join();
    EXPECT_EQ(posts_[0].given(), 1) << "one that is about to end stays";
    sched_setaffinity(0, sizeof before, &before);
}

} // namespace
} // namespace trencadis
