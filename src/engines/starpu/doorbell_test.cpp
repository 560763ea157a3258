#include "engines/starpu/doorbell.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <thread>

namespace trencadis {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

TEST(Doorbell, AnotherProcessWakesWhoSleeps)
{
    Doorbell own;
    ASSERT_FALSE(own.dumb());
    const Doorbell::Address address = own.address();
    const std::uint32_t heard = own.rings();
    const pid_t other = fork();
    if (other == 0) {
        Doorbell far(address);
        std::this_thread::sleep_for(20ms);
        far.ring();
        _exit(far.dumb() || !far.is_near());
    }
    const auto begin = Clock::now();
    while (own.rings() == heard && Clock::now() - begin < 30s) own.sleep(heard, 30s);
    EXPECT_LT(Clock::now() - begin, 10s);
    EXPECT_EQ(own.rings(), heard + 1);
    int status = -1;
    ASSERT_EQ(waitpid(other, &status, 0), other);
    EXPECT_EQ(status, 0);
}

TEST(Doorbell, WhatRangBeforeTheSleepEndsIt)
{
    Doorbell own;
    const std::uint32_t heard = own.rings();
    own.ring();
    const auto begin = Clock::now();
    own.sleep(heard, 30s);
    EXPECT_LT(Clock::now() - begin, 10s);
}

TEST(Doorbell, SleepsNoLongerThanItIsTold)
{
    Doorbell own;
    const auto begin = Clock::now();
    own.sleep(own.rings(), 5ms);
    EXPECT_GE(Clock::now() - begin, 4ms);
    EXPECT_LT(Clock::now() - begin, 10s);
}

TEST(Doorbell, AnAddressThatIsNobodysMakesADumbOne)
{
    const Doorbell own;
    Doorbell::Address other_word = own.address(), other_machine = own.address(), other_file = own.address();
    other_word.word += 2;
    other_machine.machine ^= 1;
    other_file.file = 0;
    for (const Doorbell::Address& wrong : {other_word, other_machine, other_file, Doorbell::Address{}}) {
        Doorbell doorbell(wrong);
        EXPECT_TRUE(doorbell.dumb());
        EXPECT_FALSE(doorbell.is_near());
        doorbell.ring(); // nobody hears it
        doorbell.sleep(doorbell.rings(), 1ms);
    }
    EXPECT_EQ(own.rings(), 0u);
}

} // namespace
} // namespace trencadis
