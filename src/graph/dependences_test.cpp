#include "graph/dependences.hpp"

#include <gtest/gtest.h>

#include <array>
#include <deque>

namespace trencadis {
namespace {

/// A table and tasks without an engine: join by hand, leave by hand.
class DependenceTableTest : public testing::TestWithParam<int> {
protected:
    struct One {
        Task task;
        std::array<AccessNode, 4> nodes;
        bool granted = false;
    };
    One& join(std::initializer_list<Access> accesses)
    {
        One& one = tasks_.emplace_back();
        one.task.dead_groups = nullptr;
        one.task.doomed = false;
        one.task.unmet = static_cast<int>(accesses.size());
        table_.reserve(4);
        int i = 0;
        for (const Access& access : accesses) {
            AccessNode& node = one.nodes[i++];
            node = {};
            node.task = &one.task;
            node.mode = access.mode;
            if (table_.join(node, access)) --one.task.unmet;
        }
        one.task.access_count = i;
        return one;
    }
    static bool ready(const One& one) { return one.task.unmet == 0; }
    void finish(One& one, bool spoilt = false)
    {
        for (int i = 0; i < one.task.access_count; ++i)
            for (AccessNode* member = leave(one.nodes[i], spoilt); member;) {
                AccessNode* next = member->next_waiting;
                --member->task->unmet;
                member = next;
            }
        table_.recycle(std::exchange(one.task.dead_groups, nullptr));
    }

    int x_ = 0, y_ = 0;
    std::deque<One> tasks_;
    DependenceTable table_{GetParam()};
};
/// Growing, one list for all, a few lists.
INSTANTIATE_TEST_SUITE_P(Lists, DependenceTableTest, testing::Values(0, 1, 7));

TEST_P(DependenceTableTest, ReadersGoTogetherAndTheWriterWaitsForAllOfThem)
{
    One& first = join({read(&x_)});
    One& second = join({read(&x_)});
    One& writer = join({write(&x_)});
    EXPECT_TRUE(ready(first) && ready(second));
    EXPECT_FALSE(ready(writer));
    finish(second);
    EXPECT_FALSE(ready(writer));
    finish(first);
    EXPECT_TRUE(ready(writer));
}

TEST_P(DependenceTableTest, ReadersThatComeAfterAWriterWaitForItAndAreReleasedTogether)
{
    One& writer = join({readwrite(&x_)});
    One& first = join({read(&x_)});
    One& second = join({read(&x_)});
    EXPECT_TRUE(ready(writer));
    EXPECT_FALSE(ready(first) || ready(second));
    finish(writer);
    EXPECT_TRUE(ready(first) && ready(second));
}

TEST_P(DependenceTableTest, TwoWritersFollowEachOtherInTheOrderOfSubmission)
{
    One& first = join({write(&x_)});
    One& second = join({write(&x_)});
    One& third = join({write(&x_)});
    finish(first);
    EXPECT_TRUE(ready(second));
    EXPECT_FALSE(ready(third));
}

TEST_P(DependenceTableTest, EachSharedModeFormsAGroupOfItsOwn)
{
    const Reduction sum{sizeof(int), [](void* p) { *static_cast<int*>(p) = 0; },
                        [](void* into, const void* part) { *static_cast<int*>(into) += *static_cast<const int*>(part); }};
    One& writers = join({concurrent_write(&x_)});
    One& also = join({concurrent_write(&x_)});
    One& commuting = join({commute(&x_)});
    One& reducing = join({reduce(&x_, sum)});
    One& reader = join({read(&x_)});
    EXPECT_TRUE(ready(writers) && ready(also));
    EXPECT_FALSE(ready(commuting) || ready(reducing) || ready(reader));
    finish(writers);
    finish(also);
    EXPECT_TRUE(ready(commuting));
    finish(commuting);
    EXPECT_TRUE(ready(reducing));
    EXPECT_FALSE(ready(reader));
    finish(reducing);
    EXPECT_TRUE(ready(reader));
}

TEST_P(DependenceTableTest, ATaskOnTwoDataWaitsForBoth)
{
    One& x = join({write(&x_)});
    One& y = join({write(&y_)});
    One& both = join({read(&x_), read(&y_)});
    finish(y);
    EXPECT_FALSE(ready(both));
    finish(x);
    EXPECT_TRUE(ready(both));
}

TEST_P(DependenceTableTest, WhatFollowsAFailedWriterIsDoomedButWhatFollowsAFailedReaderIsNot)
{
    One& bad_reader = join({read(&y_)});
    One& bad_writer = join({write(&x_)});
    One& after_reader = join({write(&y_)});
    One& after_writer = join({read(&x_)});
    finish(bad_reader, true);
    finish(bad_writer, true);
    One& late = join({read(&x_)});
    EXPECT_FALSE(after_reader.task.doomed);
    EXPECT_TRUE(after_writer.task.doomed);
    EXPECT_TRUE(late.task.doomed);
}

TEST_P(DependenceTableTest, DataAtRestAreForgottenSoThatTheTableDoesNotGrowWithTheirNumber)
{
    std::vector<int> data(100'000);
    for (int& datum : data) finish(join({readwrite(&datum)}));
    EXPECT_LT(table_.size(), 100u);
}

TEST_P(DependenceTableTest, ManyDataInUseAreAllKept)
{
    std::vector<int> data(10'000);
    std::vector<One*> first;
    for (int& datum : data) first.push_back(&join({write(&datum)}));
    for (std::size_t i = 0; i < data.size(); ++i) {
        One& second = join({read(&data[i])});
        ASSERT_FALSE(ready(second)) << "datum " << i;
        finish(*first[i]);
        ASSERT_TRUE(ready(second)) << "datum " << i;
        finish(second);
    }
}

} // namespace
} // namespace trencadis
