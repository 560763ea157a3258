#include "engine_fixture.hpp"

#include <atomic>
#include <stdexcept>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

namespace trencadis::testing {
namespace {

struct Choice {
    const char* scheduler;
    int workers;
};
void PrintTo(const Choice& choice, std::ostream* out) { *out << choice.scheduler << " with " << choice.workers << " workers"; }

class Failures : public ::testing::TestWithParam<Choice> {
protected:
    RuntimeUnderTest runtime_{"native", GetParam().scheduler, GetParam().workers};
    TaskFlowEngine& engine() { return runtime_.engine(); }
};
INSTANTIATE_TEST_SUITE_P(Native, Failures,
                         ::testing::Values(Choice{"eager", 2}, Choice{"ws", 2}, Choice{"eager", 1}, Choice{"ws", 6},
                                           Choice{"the", 3}, Choice{"numa-ws", 2}, Choice{"cats", 2}, Choice{"heft", 3},
                                           Choice{"locality-default", 2}, Choice{"virtual-cores", 2}, Choice{"libgomp", 2},
                                           Choice{"libomp", 3}));

std::string message_of_wait(TaskFlow& flow)
{
    try {
        flow.wait();
    } catch (const std::exception& error) {
        return error.what();
    }
    return {};
}

ErrorCode code_of_wait(TaskFlow& flow)
{
    try {
        flow.wait();
    } catch (const Error& error) {
        return error.code();
    }
    return ErrorCode{};
}

TEST_P(Failures, TheEarliestSubmittedIsRethrownAlsoWhenALaterOneThrewBefore)
{
    if (GetParam().workers < 2) GTEST_SKIP() << "needs the later task to run while the earlier one does";
    for (int round = 0; round < 200; ++round) {
        TaskFlow flow(engine());
        std::atomic<bool> later_threw{false};
        flow.submit("earlier",
                    [&] {
                        while (!later_threw.load()) std::this_thread::yield();
                        throw std::runtime_error("earlier");
                    },
                    {});
        flow.submit("later",
                    [&] {
                        later_threw.store(true);
                        throw std::runtime_error("later");
                    },
                    {});
        ASSERT_EQ(message_of_wait(flow), "earlier");
    }
}

TEST_P(Failures, DependantsAreNotRunOthersAreAndTheFlowCanBeUsedAgain)
{
    TaskFlow flow(engine());
    for (int round = 0; round < 300; ++round) {
        int a = 0, b = 0, c = 0;
        std::atomic<int> wrong{0}, right{0};
        flow.submit("throws", [] { throw std::runtime_error("first"); }, {write(&a)});
        flow.submit("reads it", [&] { ++wrong; }, {read(&a), write(&b)});
        flow.submit("reads what that would have written", [&] { ++wrong; }, {read(&b)});
        flow.submit("unrelated", [&] { ++right; }, {write(&c)});
        flow.submit("after the unrelated one", [&] { ++right; }, {readwrite(&c)});
        ASSERT_EQ(message_of_wait(flow), "first");
        ASSERT_EQ(wrong.load(), 0);
        ASSERT_EQ(right.load(), 2);
        // The failure is forgotten with the wait that reported it.
        flow.submit("reads it again", [&] { ++right; }, {read(&a)});
        ASSERT_EQ(message_of_wait(flow), "");
        ASSERT_EQ(right.load(), 3);
    }
}

TEST_P(Failures, OfATaskInsideATaskReachTheOuterWait)
{
    for (const bool waits : {false, true}) {
        TaskFlow flow(engine());
        int a = 0;
        bool after = false, dependant = false;
        flow.submit("outer",
                    [&](TaskContext& context) {
                        context.flow().submit("inner", [] { throw std::runtime_error("inner"); }, {});
                        if (waits) context.flow().wait();
                        after = true;
                    },
                    {write(&a)});
        flow.submit("dependant", [&] { dependant = true; }, {read(&a)});
        EXPECT_EQ(message_of_wait(flow), "inner");
        EXPECT_EQ(after, !waits);
        EXPECT_FALSE(dependant);
    }
}

/// Counts objects alive, and copies of what was never alive.
struct Counted {
    static std::atomic<int> alive;
    Counted() { ++alive; }
    Counted(const Counted&) { ++alive; }
    Counted(Counted&&) noexcept { ++alive; }
    ~Counted() { --alive; }
};
std::atomic<int> Counted::alive{0};

TEST_P(Failures, EveryCallableIsDestroyedWhetherItRanOrNot)
{
    {
        TaskFlow flow(engine());
        int a = 0;
        for (int i = 0; i < 100; ++i)
            flow.submit("counted",
                        [i, counted = Counted()] {
                            if (i == 50) throw std::runtime_error("50");
                        },
                        {readwrite(&a)});
        EXPECT_EQ(message_of_wait(flow), "50");
        EXPECT_EQ(Counted::alive.load(), 0);
        for (int i = 0; i < 100; ++i) {
            if (i == 50) flow.cancel();
            try {
                flow.submit("counted", [counted = Counted()] {}, {readwrite(&a)});
            } catch (const Error& error) {
                EXPECT_EQ(error.code(), ErrorCode::cancelled);
            }
        }
    }
    EXPECT_EQ(Counted::alive.load(), 0);
}

TEST_P(Failures, ADestructorWaitsAndDropsTheException)
{
    for (int round = 0; round < 200; ++round) {
        std::atomic<int> ran{0};
        {
            TaskFlow flow(engine());
            for (int i = 0; i < 10; ++i)
                flow.submit("throws",
                            [&] {
                                ++ran;
                                throw std::runtime_error("dropped");
                            },
                            {});
        }
        ASSERT_EQ(ran.load(), 10);
    }
}

/// Submits tasks until cancelled; returns how many went in.
int submit_until_cancelled(TaskFlow& flow, std::atomic<int>& ran, std::atomic<bool>& no_more, std::atomic<int>& begun_late)
{
    int data[8] = {};
    int submitted = 0;
    try {
        for (;; ++submitted)
            flow.submit("short",
                        [&] {
                            ++ran;
                            if (no_more.load()) ++begun_late;
                        },
                        {readwrite(&data[submitted % 8])});
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), ErrorCode::cancelled);
    }
    return submitted;
}

TEST_P(Failures, CancelFromAnotherThreadEndsSubmissionAndWhatHasNotBegun)
{
    for (int round = 0; round < 30; ++round) {
        TaskFlow flow(engine(), {.window = 64});
        std::atomic<int> ran{0}, begun_late{0};
        std::atomic<bool> no_more{false};
        std::thread canceller([&] {
            while (ran.load() < 100 * (round % 5)) std::this_thread::yield();
            flow.cancel();
        });
        const int submitted = submit_until_cancelled(flow, ran, no_more, begun_late);
        canceller.join();
        EXPECT_EQ(code_of_wait(flow), ErrorCode::cancelled);
        no_more = true;
        EXPECT_LE(ran.load(), submitted);
        bool again = false;
        flow.submit("after the wait", [&] { again = true; }, {});
        flow.wait();
        EXPECT_TRUE(again) << "a flow can be used again";
        EXPECT_EQ(begun_late.load(), 0) << "a task began after wait had returned";
    }
}

TEST_P(Failures, CancelInsideATaskStopsWhatComesAfterIt)
{
    for (int round = 0; round < 100; ++round) {
        TaskFlow flow(engine());
        int a = 0, ran = 0;
        for (int i = 0; i < 20; ++i) {
            try {
                flow.submit("counts",
                            [&, i] {
                                ++ran;
                                if (i == 10) flow.cancel();
                            },
                            {readwrite(&a)});
            } catch (const Error& error) {
                ASSERT_EQ(error.code(), ErrorCode::cancelled); // the task was there before the submission's end
            }
        }
        ASSERT_EQ(code_of_wait(flow), ErrorCode::cancelled);
        ASSERT_EQ(ran, 11);
    }
}

TEST_P(Failures, CancelOfAFlowReachesTheFlowsInsideItsTasks)
{
    for (int round = 0; round < 30; ++round) {
        TaskFlow flow(engine());
        std::atomic<bool> inside{false};
        int ran = 0;
        flow.submit("outer",
                    [&](TaskContext& context) {
                        int a = 0;
                        for (int i = 0;; ++i) // ends by the exception of submit
                            context.flow().submit("inner",
                                                  [&, i] {
                                                      ++ran;
                                                      if (i == 20) inside = true;
                                                  },
                                                  {readwrite(&a)});
                    },
                    {});
        while (!inside.load()) std::this_thread::yield();
        flow.cancel();
        EXPECT_EQ(code_of_wait(flow), ErrorCode::cancelled);
        EXPECT_GE(ran, 21);
    }
}

TEST_P(Failures, AnExceptionGoesBeforeCancellation)
{
    TaskFlow flow(engine());
    std::atomic<bool> threw{false};
    flow.submit("throws",
                [&] {
                    threw = true;
                    throw std::runtime_error("mine");
                },
                {});
    while (!threw.load()) std::this_thread::yield();
    flow.cancel();
    EXPECT_EQ(message_of_wait(flow), "mine");
}

TEST_P(Failures, BadArgumentsAreRefusedInWords)
{
    EXPECT_THROW(TaskFlow(engine(), {.window = 0}), Error);
    TaskFlow flow(engine());
    int a = 0;
    flow.submit("asks for a part that is none", [](TaskContext& context) { (void)context.part(0); }, {readwrite(&a)});
    EXPECT_NE(message_of_wait(flow).find("not a reduce access"), std::string::npos);
    flow.submit("asks for a part beyond the last", [](TaskContext& context) { (void)context.part(7); }, {readwrite(&a)});
    EXPECT_NE(message_of_wait(flow).find("not a reduce access"), std::string::npos);
}

} // namespace
} // namespace trencadis::testing
