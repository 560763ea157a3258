#include "session/array_turns.hpp"

#include "base/error.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <stdexcept>

namespace trencadis {
namespace {

constexpr int a = 0, b = 0, c = 0; // arrays, as they are named

ArrayTurns::Arrays arrays(std::initializer_list<const void*> names) { return names; }

TEST(ArrayTurns, AreTakenAtOnceByCallsOnOtherArrays)
{
    ArrayTurns turns;
    const auto first = turns.wait_for(arrays({&a, &b}), {});
    const auto second = turns.wait_for(arrays({&c, &c}), {});
    const auto third = turns.wait_for(arrays({}), {});
    EXPECT_TRUE(first && second && third);
}

TEST(ArrayTurns, OfTheSameArrayComeInTheOrderOfTheCalls)
{
    ArrayTurns turns;
    auto first = turns.wait_for(arrays({&a}), {});
    std::atomic<int> asked{0}, order{0};
    const auto call = [&](ArrayTurns::Arrays its) {
        const auto turn = turns.wait_for(std::move(its), [&] { return ++asked, false; });
        return ++order;
    };
    auto second = std::async(std::launch::async, call, arrays({&b, &a}));
    while (asked == 0) std::this_thread::yield();
    auto third = std::async(std::launch::async, call, arrays({&b})); // nobody has b, but the second call is to
    for (const int now = asked; asked < now + 3;) std::this_thread::yield();
    EXPECT_EQ(order, 0);
    first.reset();
    EXPECT_EQ(second.get(), 1);
    EXPECT_EQ(third.get(), 2);
}

TEST(ArrayTurns, AreGivenUpByWhoIsStopped)
{
    ArrayTurns turns;
    auto first = turns.wait_for(arrays({&a}), {});
    try {
        (void)turns.wait_for(arrays({&a, &b}), [] { return true; });
        ADD_FAILURE() << "the first call still has a";
    } catch (const Error& stopped) {
        EXPECT_EQ(stopped.code(), ErrorCode::cancelled);
    }
    EXPECT_THROW((void)turns.wait_for(arrays({&a, &b}), []() -> bool { throw std::runtime_error("enough"); }),
                 std::runtime_error);
    EXPECT_TRUE(turns.wait_for(arrays({&b}), {})) << "nobody waits any more";
}

TEST(ArrayTurns, BegunWithoutWaitingAreWaitedFor)
{
    ArrayTurns turns;
    auto first = turns.wait_for(arrays({&a}), {});
    const auto second = turns.begin(arrays({&a}));
    first.reset();
    EXPECT_THROW((void)turns.wait_for(arrays({&a}), [] { return true; }), Error);
}

} // namespace
} // namespace trencadis
