#include "graph/overlaps.hpp"

#include "base/error.hpp"
#include "graph/task_flow.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>
#include <vector>

namespace trencadis {
namespace {

std::set<const char*> bytes_of(const Datum& datum)
{
    std::set<const char*> bytes;
    const char* const begin = static_cast<const char*>(datum.address);
    const Index columns = datum.element ? datum.cols : 1, of_column = datum.element ? datum.rows * datum.element : datum.ld;
    for (Index j = 0; j < columns; ++j)
        for (Index i = 0; i < of_column; ++i) bytes.insert(begin + j * datum.ld * datum.element + i);
    return bytes;
}

class RandomData {
public:
    explicit RandomData(unsigned seed) : random_(seed), memory_(600) {}
    Datum next()
    {
        const char* const at = memory_.data() + upto(200);
        if (upto(4) == 0) return Datum(at, Bytes(upto(20)));
        const Index rows = upto(5), ld = rows + upto(3) + (rows == 0);
        return {at, rows, upto(5), upto(1) ? ld : 8, upto(1) ? 1u : 4u};
    }

private:
    Index upto(Index most) { return Index(random_() % std::uint64_t(most + 1)); }
    std::mt19937 random_;
    std::vector<char> memory_;
};

TEST(Overlap, IsThatOfTheBytes)
{
    constexpr unsigned seed = 20261;
    RandomData data(seed);
    int meet = 0;
    for (int i = 0; i < 20000; ++i) {
        const Datum a = data.next(), b = data.next();
        const std::set<const char*> of_a = bytes_of(a), of_b = bytes_of(b);
        const bool in_common = std::ranges::any_of(of_a, [&](const char* byte) { return of_b.contains(byte); });
        ASSERT_EQ(overlap(a, b), in_common) << "seed " << seed << ", pair " << i;
        ASSERT_EQ(overlap(b, a), in_common) << "seed " << seed << ", pair " << i;
        ASSERT_EQ(span_of(a), of_a.empty() ? 0 : std::uintptr_t(*of_a.rbegin() - *of_a.begin() + 1));
        meet += in_common;
    }
    EXPECT_GT(meet, 1000); // else the pairs would say nothing
    EXPECT_LT(meet, 19000);
}

TEST(Overlap, OfOneColumnNeedsNoLeadingDimension)
{
    const double x[4] = {};
    const Datum column(x, 4, 1, 0, sizeof *x), inside(x + 2, 1, 1, 0, sizeof *x), behind(x + 4, 1, 1, 0, sizeof *x);
    EXPECT_TRUE(overlap(column, inside));
    EXPECT_FALSE(overlap(column, behind));
}

TEST(Overlaps, FindsOneOfThoseKeptIfAnyMeetsTheDatum)
{
    constexpr unsigned seed = 7;
    RandomData data(seed);
    for (int round = 0; round < 300; ++round) {
        Overlaps overlaps;
        std::vector<Datum> kept;
        for (int i = 0; i < 12; ++i) {
            const Datum datum = data.next();
            const auto meets = [&](const Datum& other) { return other.address != datum.address && overlap(other, datum); };
            const std::optional<Datum> found = overlaps.find(datum);
            ASSERT_EQ(found.has_value(), std::ranges::any_of(kept, meets)) << "seed " << seed << ", round " << round;
            if (found) {
                ASSERT_TRUE(meets(*found));
            } else if (std::ranges::none_of(kept, [&](const Datum& other) { return other.address == datum.address; })) {
                overlaps.add(datum);
                kept.push_back(datum);
            }
        }
    }
}

/// Runs nothing before it must.
class Late final : public Executor {
public:
    void ready(Task* chain) override
    {
        for (; chain; chain = chain->next) ready_.push_back(chain);
    }
    void drain(TaskFlow& flow, std::int64_t target) override
    {
        while (flow.pending() > target) {
            Task& task = *ready_.back();
            ready_.pop_back();
            ready(flow.finish(task, nullptr));
        }
    }
    void wake_owner(TaskFlow&) override {}
    bool computes() const override { return false; }

private:
    std::vector<Task*> ready_;
};

class RefusedOverlaps : public testing::Test {
protected:
    void submit(std::initializer_list<Access> accesses)
    {
        flow_.submit(
            "piece", [] {}, accesses);
    }
    std::string refusal(std::initializer_list<Access> accesses)
    {
        try {
            submit(accesses);
        } catch (const Error& error) {
            EXPECT_EQ(error.code(), ErrorCode::bad_argument);
            return error.what();
        }
        return {};
    }
    Datum block(Index row, Index col, Index rows, Index cols) { return {matrix_ + row + col * 8, rows, cols, 8, sizeof(double)}; }

    double matrix_[64] = {};
    Late executor_;
    TaskFlow flow_{executor_, {.refuse_overlaps = true}};
};

TEST_F(RefusedOverlaps, AWholeIsNotNamedBesideItsPartsWhicheverComesFirst)
{
    submit({readwrite(block(0, 0, 8, 4))});
    EXPECT_NE(refusal({read(block(4, 0, 4, 4))}).find("task 'piece'"), std::string::npos);
    submit({readwrite(block(4, 4, 4, 4)), readwrite(block(0, 4, 4, 4))});
    EXPECT_NE(refusal({write(block(0, 4, 8, 4))}), ""); // larger than what begins there
    flow_.wait();
}

TEST_F(RefusedOverlaps, TilesOfOneMatrixAreApart)
{
    for (Index row = 0; row < 8; row += 2)
        for (Index col = 0; col < 8; col += 2) EXPECT_EQ(refusal({readwrite(block(row, col, 2, 2))}), "");
    EXPECT_EQ(refusal({readwrite(block(2, 2, 1, 1))}), ""); // the same datum: it has the dependences
    flow_.wait();
}

TEST_F(RefusedOverlaps, OneTaskDoesNotNameBothEither)
{
    EXPECT_NE(refusal({read(block(0, 0, 8, 8)), write(block(0, 1, 1, 1))}), "");
    EXPECT_EQ(refusal({write(block(0, 1, 1, 1))}), ""); // nothing of the refused task was submitted
    EXPECT_EQ(flow_.pending(), 1);
    flow_.wait();
}

TEST_F(RefusedOverlaps, MemoryIsUsedAgainOnceItsTasksHaveFinished)
{
    submit({readwrite(block(0, 0, 8, 8))});
    flow_.wait();
    EXPECT_EQ(refusal({readwrite(block(0, 1, 2, 2))}), "");
    flow_.wait();
}

TEST_F(RefusedOverlaps, SizesThatNobodyKnowsMeetNothing)
{
    submit({readwrite(block(0, 0, 8, 8))});
    EXPECT_EQ(refusal({readwrite(matrix_ + 3)}), "");
    flow_.wait();
}

TEST_F(RefusedOverlaps, WhatIsLongPastIsForgotten)
{
    std::vector<char> memory(1 << 16);
    for (std::size_t i = 0; i + 4 < memory.size(); ++i) {
        submit({readwrite(memory.data() + i, 4)});
        flow_.wait();
    }
}

TEST(TaskFlow, OverlapsAreNotLookedForUnlessAskedFor)
{
    Late executor;
    TaskFlow flow(executor);
    double a[8];
    flow.submit("whole", [] {}, {readwrite(a, sizeof a)});
    flow.submit("part", [] {}, {readwrite(a + 1, sizeof *a)});
    flow.wait();
}

} // namespace
} // namespace trencadis
