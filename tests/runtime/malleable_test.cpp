#include "base/testing/eventually.hpp"
#include "engine_fixture.hpp"

#include <atomic>
#include <chrono>
#include <numeric>
#include <stdexcept>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

namespace trencadis::testing {
namespace {

/// Writes every element of its part of a vector once, some of them per chunk.
struct Fill {
    std::vector<int>* values;
    std::atomic<int>* entered;
    int pause_us;
    int throws_at; ///< chunk that throws, or -1

    Index chunks() const { return Index(values->size()); }
    void run(TaskContext& context) const
    {
        ++*entered;
        while (const Chunks c = context.team().next())
            for (Index i = c.begin; i < c.end; ++i) {
                if (pause_us) std::this_thread::sleep_for(std::chrono::microseconds(pause_us));
                if (i == throws_at) throw std::runtime_error("chunk");
                ++(*values)[std::size_t(i)]; // not atomic: two members with one chunk would be a race
            }
    }
};
constexpr Codelet fill = codelet_of<Fill>("fill");

class Malleable : public ::testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Schedulers, Malleable, ::testing::ValuesIn(representative_schedulers));

TEST_P(Malleable, EachChunkRunsExactlyOnceAndASuccessorSeesThemAll)
{
    RuntimeUnderTest runtime("native", GetParam(), 4);
    std::atomic<int> entered{0};
    const int rounds = share_of(2000);
    for (int round = 0; round < rounds; ++round) {
        std::vector<int> values(std::size_t(1 + round % 40), 0);
        int sum = 0;
        TaskFlow flow(runtime.engine());
        for (int pass = 0; pass < 3; ++pass) flow.submit(fill, Fill{&values, &entered, 0, -1}, {readwrite(&values)});
        flow.submit("sum", [&] { sum = std::accumulate(values.begin(), values.end(), 0); }, {read(&values)});
        flow.wait();
        ASSERT_EQ(sum, 3 * int(values.size())) << "round " << round;
        for (const int value : values) ASSERT_EQ(value, 3);
    }
    EXPECT_GE(entered.load(), 3 * rounds);
}

/// Returns when every worker has begun to run tasks.
void wake_all_workers(TaskFlowEngine& engine)
{
    TaskFlow flow(engine);
    std::atomic<int> arrived{0};
    for (int w = 0; w < engine.workers(); ++w)
        flow.submit("meet",
                    [&] {
                        ++arrived;
                        while (arrived.load() < engine.workers()) std::this_thread::yield();
                    },
                    {});
    flow.wait();
}

TEST_P(Malleable, IdleWorkersJoinALongOperation)
{
    if (!joins(GetParam())) GTEST_SKIP() << GetParam() << " does not join running operations";
    RuntimeUnderTest runtime("native", GetParam(), 4);
    wake_all_workers(runtime.engine());
    std::vector<int> values(100, 0);
    std::atomic<int> entered{0};
    int operations = 0;
    EXPECT_TRUE(eventually([&] { // the first may begin before anybody is idle
        TaskFlow flow(runtime.engine());
        flow.submit("before", [] { std::this_thread::sleep_for(std::chrono::milliseconds(2)); }, {write(&values)});
        flow.submit(fill, Fill{&values, &entered, 500, -1}, {readwrite(&values)});
        ++operations;
        flow.wait();
        return entered.load() > operations;
    })) << "nobody joined";
    std::int64_t shares = 0;
    for (const WorkerTime& time : runtime.engine().times()) shares += time.shares;
    EXPECT_EQ(shares, entered.load() - operations);
}

TEST_P(Malleable, ThoseWhoJoinedLeaveForOtherWork)
{
    RuntimeUnderTest runtime("native", GetParam(), 3);
    for (int round = 0; round < share_of(300); ++round) {
        TaskFlow flow(runtime.engine());
        std::vector<std::vector<int>> values(6, std::vector<int>(12, 0));
        std::atomic<int> entered{0}, plain{0};
        for (auto& v : values) {
            flow.submit(fill, Fill{&v, &entered, round % 4 == 0 ? 20 : 0, -1}, {write(&v)});
            flow.submit("plain", [&] { ++plain; }, {read(&v)});
        }
        flow.wait();
        ASSERT_EQ(plain.load(), 6);
        for (const auto& v : values)
            for (const int value : v) ASSERT_EQ(value, 1);
    }
}

TEST_P(Malleable, AnExceptionInOneChunkFailsTheTaskOnce)
{
    RuntimeUnderTest runtime("native", GetParam(), 4);
    std::atomic<int> entered{0};
    for (int round = 0; round < share_of(2000); ++round) {
        std::vector<int> values(16, 0), others(16, 0);
        std::atomic<int> after{0};
        TaskFlow flow(runtime.engine());
        flow.submit(fill, Fill{&values, &entered, 0, round % 16}, {write(&values)});
        flow.submit("dependant", [&] { ++after; }, {read(&values)});
        for (int k = 0; k < 4; ++k) flow.submit(fill, Fill{&others, &entered, 0, -1}, {readwrite(&others)});
        EXPECT_THROW(flow.wait(), std::runtime_error);
        ASSERT_EQ(after.load(), 0);
        for (const int value : values) ASSERT_LE(value, 1);
        for (const int value : others) ASSERT_EQ(value, 4) << "of a task that has nothing to do with the failed one";
    }
}

TEST_P(Malleable, OneWorkerAloneRunsThemToo)
{
    RuntimeUnderTest runtime("native", GetParam(), 1);
    std::vector<int> values(100, 0);
    std::atomic<int> entered{0};
    TaskFlow flow(runtime.engine());
    flow.submit(fill, Fill{&values, &entered, 0, -1}, {write(&values)});
    flow.wait();
    EXPECT_EQ(entered.load(), 1);
    EXPECT_EQ(std::accumulate(values.begin(), values.end(), 0), 100);
}

TEST_P(Malleable, AnOperationWithoutChunksStillRunsAndReleases)
{
    RuntimeUnderTest runtime("native", GetParam(), 3);
    std::vector<int> none;
    std::atomic<int> entered{0};
    bool after = false;
    TaskFlow flow(runtime.engine());
    flow.submit(fill, Fill{&none, &entered, 0, -1}, {write(&none)});
    flow.submit("after", [&] { after = true; }, {read(&none)});
    flow.wait();
    EXPECT_EQ(entered.load(), 1);
    EXPECT_TRUE(after);
}

} // namespace
} // namespace trencadis::testing
