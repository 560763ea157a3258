#include "engines/native/lease.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <gtest/gtest.h>
#include <random>
#include <sched.h>
#include <thread>

namespace trencadis {
namespace {

using Cells = std::array<std::uint64_t, 512>;

/// cell <- 3 cell + 1, which done twice shows.
class Step final : public Restartable {
public:
    Step(Cells& cells, std::atomic<long>& alive) : cells_(cells), alive_(alive) { ++alive_; }
    ~Step() override { --alive_; }
    void prepare() override
    {
        for (int repeat = 0; repeat < 20; ++repeat)
            for (std::size_t i = 0; i < cells_.size(); ++i) results_[i] = 3 * static_cast<volatile std::uint64_t&>(cells_[i]) + 1;
    }
    void perform() override
    {
        for (int repeat = 0; repeat < 10; ++repeat)
            for (std::size_t i = 0; i < cells_.size(); ++i) static_cast<volatile std::uint64_t&>(cells_[i]) = results_[i];
    }

private:
    Cells& cells_;
    Cells results_{};
    std::atomic<long>& alive_;
};

TEST(Lease, WhatIsTakenOverAtAnyInstantIsDoneOnce)
{
    if (!can_stop_threads()) GTEST_SKIP() << "signals are delayed here (ThreadSanitizer), or the kernel has no membarrier";
    constexpr int rounds = 4000;
    Lease lease;
    Cells cells{};
    std::atomic<long> alive{0};
    std::atomic<int> begun{0};
    std::atomic<int> done{0}; // rounds, by whomever
    std::atomic<int> left_behind{0};
    std::thread worker([&] {
        for (int round = 0; round < rounds; ++round) {
            while (begun.load() <= round) sched_yield();
            if (lease.run(std::make_unique<Step>(cells, alive), {})) ++done;
            else ++left_behind;
            while (done.load() <= round) sched_yield(); // the taker's turn
        }
    });
    const std::int64_t whole_ns = [] { // how long both steps take here
        Cells own{};
        std::atomic<long> count{0};
        Step step(own, count);
        std::int64_t least = 1'000'000'000;
        for (int i = 0; i < 10; ++i) {
            const auto begin = std::chrono::steady_clock::now();
            step.prepare();
            step.perform();
            least = std::min<std::int64_t>(least, (std::chrono::steady_clock::now() - begin).count());
        }
        return least;
    }();
    int taken = 0, taken_with_work = 0;
    std::minstd_rand random(7);
    std::uint64_t expected = 0;
    bool undisturbed = true;
    for (int round = 0; round < rounds; ++round) {
        ++begun;
        std::uint64_t added = 0;
        const auto until = std::chrono::steady_clock::now() + std::chrono::nanoseconds(random() % (whole_ns * 5 / 4));
        while (std::chrono::steady_clock::now() < until) {}
        while (done.load() == round) {
            const auto sight = lease.look();
            if (!sight || !lease.take(*sight)) continue;
            const std::unique_ptr<Restartable> work(sight->work);
            if (work) work->perform();
            else {
                Step again(cells, alive);
                again.prepare();
                again.perform();
            }
            ++(work ? taken_with_work : taken);
            // What comes next on this data, while the worker may still be where it was stopped.
            for (std::uint64_t& cell : cells) cell += 5;
            added = 5;
            const Cells now = cells;
            for (int look = 0; look < 10; ++look) undisturbed &= cells == now;
            ++done;
        }
        expected = 3 * expected + 1 + added;
        if (round % 100 == 0) sched_yield();
    }
    worker.join();
    EXPECT_TRUE(undisturbed) << "by a worker that was left behind";
    for (const std::uint64_t cell : cells) ASSERT_EQ(cell, expected);
    EXPECT_EQ(left_behind.load(), taken + taken_with_work);
    EXPECT_GT(taken, 0);
    EXPECT_GT(taken_with_work, 0);
    EXPECT_EQ(alive.load(), 0) << "objects that nobody deleted, or deleted twice";
}

TEST(Lease, ShowsItsTermsWhileItRuns)
{
    Lease lease;
    EXPECT_FALSE(lease.look());
    class Looking final : public Restartable {
    public:
        explicit Looking(Lease& lease) : lease_(lease) {}
        void prepare() override { first = lease_.look(); }
        void perform() override
        {
            second = lease_.look();
            EXPECT_EQ(second->work, this);
        }
        std::optional<Lease::Sight> first, second;

    private:
        Lease& lease_;
    };
    ASSERT_TRUE(lease.run(std::make_unique<Looking>(lease), {nullptr, nullptr, true, 3, {4, 9}}));
    EXPECT_FALSE(lease.look());
}

} // namespace
} // namespace trencadis
