#include "base/sanitized.hpp"
#include "threads/backends/glt/plugin.hpp"
#include "threads/lock.hpp"
#include "threads/parker.hpp"
#include "threads/threads.hpp"
#include "trencadis/glt/native/library.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <mutex>
#include <sched.h>
#include <signal.h>
#include <stdexcept>
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

/// Our lightweight threads through GLT's table of functions, as the other libraries are reached: what runs through it is then
/// tested where none of them is there.
const ThreadsEntry native_by_table{
    {"native_by_table", "", ""},
    [] {
        static const glt_table table{
            GLT_TABLE_VERSION,
            sizeof(glt_table),
            "native",
#define GLT_FUNCTION(result, function, parameters, arguments) glt_native_##function,
#define GLT_PROCEDURE(function, parameters, arguments) glt_native_##function,
#include "trencadis/glt/functions.def"
#include "trencadis/glt/statuses.def"
#undef GLT_FUNCTION
#undef GLT_PROCEDURE
        };
        return make_glt_threads(table);
    },
};

std::vector<const ThreadsEntry*> back_ends()
{
    std::vector<const ThreadsEntry*> entries(threads_entries().begin(), threads_entries().end());
    entries.push_back(&native_by_table);
    return entries;
}

/// The contract, over every back end of the build that is there.
class EveryThreads : public testing::TestWithParam<const ThreadsEntry*> {
protected:
    void SetUp() override
    {
        const std::string reason = GetParam()->why_not ? GetParam()->why_not() : "";
        if (!reason.empty()) GTEST_SKIP() << GetParam()->name << ": " << reason;
        if (sanitized && GetParam()->why_not) GTEST_SKIP() << "the sanitizers cannot follow the library's switches of stacks";
        threads_ = GetParam()->make();
    }
    std::unique_ptr<Seat> make_seat(int cpu = -1) { return std::move(threads_->make_seats({cpu}).front()); }
    std::unique_ptr<Threads> threads_;
};

TEST_P(EveryThreads, UnitsPassTheirSeatToEachOtherAndTheLastOneLeavesIt)
{
    std::vector<int> order;
    WorkUnit *one = nullptr, *two = nullptr;
    {
        const auto seat = make_seat();
        one = &seat->make_unit([&] {
            order.push_back(1);
            seat->pass(*one, *two);
            order.push_back(3);
            seat->pass(*one, *two);
            order.push_back(5);
            return nullptr;
        });
        two = &seat->make_unit([&] {
            order.push_back(2);
            seat->pass(*two, *one);
            order.push_back(4);
            return one;
        });
        seat->give(*one);
    }
    EXPECT_THAT(order, testing::ElementsAre(1, 2, 3, 4, 5));
}

TEST_P(EveryThreads, AUnitThatNeverHadTheSeatDoesNotRun)
{
    bool ran = false;
    {
        const auto seat = make_seat();
        seat->make_unit([&] {
            ran = true;
            return nullptr;
        });
        WorkUnit& other = seat->make_unit([] { return nullptr; });
        seat->give(other);
    }
    EXPECT_FALSE(ran);
}

TEST_P(EveryThreads, AUnitMakesFurtherOnesAndASeatMayBeGivenAgain)
{
    constexpr int most = 300;
    int made = 0, ended = 0;
    std::function<WorkUnit*()> body;
    {
        const auto seat = make_seat();
        body = [&]() -> WorkUnit* {
            ++ended;
            return made < most ? (++made, &seat->make_unit(body)) : nullptr;
        };
        seat->give(seat->make_unit(body));
    }
    EXPECT_EQ(made, most);
    EXPECT_EQ(ended, most + 1);
}

TEST_P(EveryThreads, APassCostsNoDepthOfStack)
{
    constexpr int rounds = 100'000;
    long sum = 0;
    WorkUnit *one = nullptr, *two = nullptr;
    {
        const auto seat = make_seat();
        one = &seat->make_unit([&] {
            for (int i = 0; i < rounds; ++i, ++sum) seat->pass(*one, *two);
            return two;
        });
        two = &seat->make_unit([&] {
            for (int i = 0; i < rounds; ++i, ++sum) seat->pass(*two, *one);
            return nullptr;
        });
        seat->give(*one);
    }
    EXPECT_EQ(sum, 2 * rounds);
}

TEST_P(EveryThreads, AnExceptionBeingHandledStaysWithItsUnit)
{
    std::string seen;
    WorkUnit *one = nullptr, *two = nullptr;
    {
        const auto seat = make_seat();
        one = &seat->make_unit([&] {
            try {
                throw std::runtime_error("one");
            } catch (const std::exception&) {
                seat->pass(*one, *two);
                try {
                    throw; // the one that this unit handles
                } catch (const std::exception& error) {
                    seen += error.what();
                }
            }
            return two;
        });
        two = &seat->make_unit([&] {
            seen += std::current_exception() ? "?" : "";
            try {
                throw std::runtime_error("two ");
            } catch (const std::exception& error) {
                seat->pass(*two, *one);
                seen += std::string(", ") + error.what();
            }
            return nullptr;
        });
        seat->give(*one);
    }
    EXPECT_EQ(seen, "one, two ");
}

TEST_P(EveryThreads, AUnitHasRoomForWhatKernelsPutOnTheStack)
{
    std::size_t sum = 0;
    {
        const auto seat = make_seat();
        seat->give(seat->make_unit([&] {
            volatile char room[1'500'000];
            for (std::size_t i = 0; i < sizeof room; i += 4096) room[i] = 1;
            for (std::size_t i = 0; i < sizeof room; i += 4096) sum += room[i];
            return nullptr;
        }));
    }
    EXPECT_EQ(sum, (1'500'000 + 4095) / 4096U);
}

TEST_P(EveryThreads, UnitsRunOnTheCoreOfTheirSeat)
{
    cpu_set_t allowed;
    ASSERT_EQ(sched_getaffinity(0, sizeof allowed, &allowed), 0);
    for (int cpu = 0; cpu < 64; ++cpu) {
        if (!CPU_ISSET(cpu, &allowed)) continue;
        int seen = -1, seen_next = -1;
        WorkUnit* next = nullptr;
        {
            const auto seat = make_seat(cpu);
            WorkUnit& first = seat->make_unit([&] {
                seen = sched_getcpu();
                next = &seat->make_unit([&] {
                    seen_next = sched_getcpu();
                    return nullptr;
                });
                return next;
            });
            seat->give(first);
        }
        EXPECT_EQ(seen, cpu);
        EXPECT_EQ(seen_next, cpu);
    }
}

TEST_P(EveryThreads, SeatsRunAtTheSameTimeAlsoThoseOfTwoSessions)
{
    const auto others = GetParam()->make();
    std::atomic<int> there{0};
    {
        auto seats = threads_->make_seats({-1, -1, -1});
        for (auto& seat : others->make_seats({-1, -1})) seats.push_back(std::move(seat));
        for (const auto& seat : seats)
            seat->give(seat->make_unit([&] {
                ++there;
                while (there < 5) std::this_thread::yield(); // the core is not passed on
                return nullptr;
            }));
    }
    EXPECT_EQ(there, 5);
}

TEST_P(EveryThreads, UnitsTakeNoSignals)
{
    bool blocked = false;
    {
        const auto seat = make_seat();
        seat->give(seat->make_unit([&] {
            sigset_t mask;
            pthread_sigmask(SIG_SETMASK, nullptr, &mask);
            blocked = sigismember(&mask, SIGINT) == 1;
            return nullptr;
        }));
    }
    EXPECT_TRUE(blocked);
}

INSTANTIATE_TEST_SUITE_P(Registry, EveryThreads, testing::ValuesIn(back_ends()),
                         [](const auto& info) { return std::string(info.param->name); });

} // namespace
} // namespace trencadis
