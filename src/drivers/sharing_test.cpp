#include "drivers/sharing.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace trencadis {
namespace {

/// Ten columns in slices of two, of which some member has no memory for any.
struct Shared {
    std::vector<int> made = std::vector<int>(10);
    bool memory = true;
    SharedWork work{5};

    void compute(Index first, Index count)
    {
        if (!memory) throw Error(ErrorCode::out_of_memory, "none");
        for (Index i = first; i < first + count; ++i) ++made[std::size_t(i)];
    }
    template <class Operation> void join_without_memory(const Operation& slices)
    {
        memory = false;
        Team member(work, nullptr, 1, true);
        slices.work(member);
        memory = true;
    }
};

TEST(Slices, AreTwoForEachWorkerWhereNobodyHasMoreByThat)
{
    EXPECT_EQ(slice_size(768, 2, 64, 24), 192);
    EXPECT_EQ(slice_size(700, 2, 64, 24), 360); // 4 of 192 would be 384 for one
    EXPECT_EQ(slice_size(400, 2, 64, 24), 216); // 4 of 120 are 240
    EXPECT_EQ(slice_size(380, 2, 64, 24), 192); // narrow: one for each
    EXPECT_EQ(slice_size(100, 2, 64, 24), 120); // one in all
    EXPECT_EQ(slice_size(3200, 4, 64, 8), 400);
}

TEST(Slices, OfAMemberWithoutMemoryAreTheCallers)
{
    Shared shared;
    const auto compute = [&](Index first, Index count) { shared.compute(first, count); };
    const Slices slices(10, 2, compute, true);
    shared.join_without_memory(slices);
    shared.join_without_memory(slices);
    Team caller(shared.work);
    slices.work(caller);
    EXPECT_EQ(shared.made, (std::vector<int>{1, 1, 1, 1, 1, 1, 0, 0, 0, 0})) << "the members took one each";
    slices.finish();
    EXPECT_EQ(shared.made, std::vector<int>(10, 1));
}

TEST(Slices, ThatMayHaveBegunAreNotMadeAgain)
{
    Shared shared;
    const auto compute = [&](Index first, Index count) { shared.compute(first, count); };
    const Slices slices(10, 2, compute);
    EXPECT_THROW(shared.join_without_memory(slices), Error);
}

TEST(Slices, OfTheCallerFailWithTheCall)
{
    Shared shared;
    shared.memory = false;
    const auto compute = [&](Index first, Index count) { shared.compute(first, count); };
    const Slices slices(10, 2, compute, true);
    Team caller(shared.work);
    EXPECT_THROW(slices.work(caller), Error);
}

} // namespace
} // namespace trencadis
