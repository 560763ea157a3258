#include "trencadis/trencadis.hpp"

#include <array>
#include <atomic>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <sys/wait.h>
#include <unistd.h>

namespace {

using trencadis::DataFlow;
using trencadis::Running;

trencadis::SessionOptions two_workers()
{
    trencadis::SessionOptions options;
    options.worker_count = 2;
    return options;
}

TEST(CxxFlow, OrdersTasksByTheDataThatTheyName)
{
    trencadis::Session session(two_workers());
    DataFlow flow(session);
    long x = 1;
    std::array<long, 50> copies{};
    for (long i = 0; i < 50; ++i) {
        flow.submit("double", [&x] { x = 2 * x % 1'000'003; }, {trencadis::readwrite(&x, sizeof x)});
        flow.submit("copy", [&x, &copy = copies[std::size_t(i)]] { copy = x; },
                    {trencadis::read(&x), trencadis::write(&copies[std::size_t(i)])});
    }
    flow.wait();
    long expected = 1;
    for (const long copy : copies) ASSERT_EQ(copy, expected = 2 * expected % 1'000'003);
}

/// Its tasks are in the other process: a child of a fork is told so, and can end.
TEST(CxxFlow, IsLeftAloneByAForkedChild)
{
    trencadis::Session session(two_workers());
    std::atomic<bool> go{false};
    auto flow = std::make_unique<DataFlow>(session);
    flow->submit("waits", [&go] { go.wait(false); }, {});
    const pid_t child = fork();
    if (child == 0) {
        alarm(20);
        const auto told = [](auto&& call) {
            try {
                call();
            } catch (const trencadis::Error& error) {
                return error.code() == trencadis::ErrorCode::environment;
            }
            return false;
        };
        const bool all = told([&] { flow->wait(); }) && told([&] { flow->cancel(); });
        flow.reset();
        _exit(all ? 0 : 1);
    }
    int status = -1;
    EXPECT_EQ(waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
    go = true;
    go.notify_all();
    flow->wait();
}

TEST(CxxFlow, TakesMoreAccessesThanMostTasksHave)
{
    trencadis::Session session(two_workers());
    DataFlow flow(session, 4);
    std::vector<int> data(20, 0);
    std::vector<trencadis::Access> all;
    for (int& d : data) all.push_back(trencadis::readwrite(&d));
    for (int round = 0; round < 30; ++round)
        flow.submit(
            "all",
            [&] {
                for (int& d : data) ++d;
            },
            all);
    flow.wait();
    EXPECT_EQ(data, std::vector<int>(20, 30));
}

TEST(CxxFlow, RethrowsTheExceptionOfTheEarliestTaskAndDoesNotRunWhatDependsOnIt)
{
    trencadis::Session session(two_workers());
    DataFlow flow(session);
    int x = 0;
    bool ran = false;
    flow.submit("throws", [] { throw std::out_of_range("first"); }, {trencadis::readwrite(&x)});
    flow.submit("after", [&] { ran = true; }, {trencadis::readwrite(&x)});
    try {
        flow.wait();
        FAIL() << "nothing was thrown";
    } catch (const std::out_of_range& error) {
        EXPECT_STREQ(error.what(), "first");
    }
    EXPECT_FALSE(ran);
    flow.submit("again", [&] { ran = true; }, {trencadis::readwrite(&x)});
    flow.wait();
    EXPECT_TRUE(ran);
}

template <std::size_t bytes> void expect_destroyed_whatever_happens()
{
    trencadis::Session session(two_workers());
    const auto counter = std::make_shared<int>();
    {
        DataFlow flow(session);
        int x = 0;
        const auto body = [counter, rest = std::array<char, bytes>{}](Running&) { (void)rest; };
        flow.submit("runs", body, {trencadis::readwrite(&x)});
        flow.submit("throws", [counter] { throw 1; }, {trencadis::readwrite(&x)});
        flow.submit("never runs", body, {trencadis::readwrite(&x)});
        EXPECT_THROW(flow.wait(), int);
        flow.cancel();
        EXPECT_TRUE(flow.cancelled());
        EXPECT_THROW(flow.submit("cancelled", body, {trencadis::readwrite(&x)}), trencadis::Error);
        EXPECT_THROW(flow.wait(), trencadis::Error);
    }
    EXPECT_EQ(counter.use_count(), 1) << bytes;
}

TEST(CxxFlow, DestroysEachCallableOnceWhetherItRanOrNot)
{
    expect_destroyed_whatever_happens<1>();
    expect_destroyed_whatever_happens<64>();
    expect_destroyed_whatever_happens<1000>(); // does not fit into the task
}

TEST(CxxFlow, TakesCallablesThatCanOnlyBeMoved)
{
    trencadis::Session session(two_workers());
    DataFlow flow(session);
    int x = 0;
    flow.submit("moved", [&x, value = std::make_unique<int>(5)] { x = *value; }, {trencadis::write(&x)});
    flow.wait();
    EXPECT_EQ(x, 5);
}

TEST(CxxFlow, RunsTasksInsideTasks)
{
    trencadis::Session session(two_workers());
    DataFlow flow(session);
    std::atomic<int> leaves{0};
    int x = 0, seen = 0;
    flow.submit("parent",
                [&](Running& running) {
                    EXPECT_GE(running.worker(), 0);
                    EXPECT_LT(running.worker(), session.workers());
                    for (int i = 0; i < 10; ++i) running.flow().submit("leaf", [&] { ++leaves; }, {});
                },
                {trencadis::readwrite(&x)});
    flow.submit("after", [&] { seen = leaves; }, {trencadis::readwrite(&x)});
    flow.wait();
    EXPECT_EQ(seen, 10) << "a task finishes after those inside it";
}

TEST(CxxFlow, CombinesThePrivatePartsOfAReduction)
{
    trencadis::Session session(two_workers());
    DataFlow flow(session);
    long sum = 7;
    const trencadis::Reduction add{
        sizeof(long), [](void* part) { *static_cast<long*>(part) = 0; },
        [](void* into, const void* part) { *static_cast<long*>(into) += *static_cast<const long*>(part); }};
    for (long i = 1; i <= 100; ++i)
        flow.submit("add", [i](Running& running) { running.part<long>(0) += i; }, {trencadis::reduce(&sum, add)});
    flow.wait();
    EXPECT_EQ(sum, 7 + 5050);
}

/// A part and the whole, from other addresses, would have no dependence.
TEST(CxxFlow, RefusesDataThatOverlap)
{
    trencadis::Session session(two_workers());
    DataFlow flow(session);
    double row[8] = {};
    std::atomic<bool> go{false};
    flow.submit("whole", [&go] { go.wait(false); }, {trencadis::readwrite(row, sizeof row)});
    try {
        flow.submit("part", [] {}, {trencadis::readwrite(row + 2, sizeof *row)});
        ADD_FAILURE() << "nothing was refused";
    } catch (const trencadis::Error& error) {
        EXPECT_EQ(error.code(), trencadis::ErrorCode::bad_argument);
        EXPECT_NE(std::string(error.what()).find("task 'part'"), std::string::npos) << error.what();
    }
    go = true;
    go.notify_all();
    flow.wait();
    flow.submit("part", [&row] { row[2] = 5; }, {trencadis::readwrite(row + 2, sizeof *row)}); // once the whole is not in use
    flow.wait();
    EXPECT_EQ(row[2], 5);
}

TEST(CxxFlow, SaysWhatIsWrongWithAWindow)
{
    trencadis::Session session(two_workers());
    try {
        DataFlow flow(session, -1);
        FAIL();
    } catch (const trencadis::Error& error) {
        EXPECT_EQ(error.code(), trencadis::ErrorCode::bad_argument);
        EXPECT_EQ(error.argument(), 2);
    }
}

} // namespace
