#include "base/error.hpp"
#include "scheduling/testing.hpp"

#include <gtest/gtest.h>

namespace trencadis {
namespace {

using testing::DescribedView;
using testing::next_of;

TEST(Central, TakesTheHighestPriorityAndAmongEqualsTheOneThatCameFirst)
{
    const DescribedView view(3);
    const auto eager = parse_scheduler("eager").make(view);
    std::vector<Task> tasks(4);
    const double priorities[] = {1, 5, 5, 3};
    for (int i = 0; i < 4; ++i) {
        tasks[i].priority = priorities[i];
        eager->push(tasks[i], 0);
    }
    for (const int expected : {1, 2, 3, 0}) EXPECT_EQ(next_of(*eager, 0, tasks), expected);
}

TEST(Central, ByAgeIgnoresPriorities)
{
    const DescribedView view(3);
    std::vector<Task> tasks(3);
    tasks[2].priority = 9;
    const auto expect_order = [&](const char* name, std::vector<int> order) {
        const auto scheduler = parse_scheduler(name).make(view);
        for (Task& task : tasks) scheduler->push(task, 0);
        for (const int expected : order) EXPECT_EQ(next_of(*scheduler, 1, tasks), expected) << name;
    };
    expect_order("eager:order=oldest", {0, 1, 2});
    expect_order("ompss-bf", {0, 1, 2});
    expect_order("eager:order=newest", {2, 1, 0});
}

TEST(Central, TasksInsideTasksGoFirstInEveryOrderByAge)
{
    const DescribedView view(2);
    for (const char* name : {"eager", "eager:order=oldest", "eager:order=newest"}) {
        const auto scheduler = parse_scheduler(name).make(view);
        std::vector<Task> tasks(5);
        tasks[2].depth = 1;
        for (Task& task : tasks) scheduler->push(task, 0);
        EXPECT_EQ(next_of(*scheduler, 0, tasks), 2) << name;
    }
}

TEST(BehindParents, WhatATaskSubmitsGoesBeforeItsLaterSiblingsInTheOrderOfSubmission)
{
    const DescribedView view(2);
    const auto libgomp = parse_scheduler("libgomp").make(view);
    std::vector<Task> tasks(7);
    for (int i = 0; i < 3; ++i) libgomp->push(tasks[i], no_worker); // 0 1 2
    EXPECT_EQ(next_of(*libgomp, 0, tasks), 0);
    EXPECT_EQ(next_of(*libgomp, 1, tasks), 1);
    for (int i = 3; i < 7; ++i) tasks[i].depth = 1;
    libgomp->push(tasks[3], 1); // inside 1
    libgomp->push(tasks[4], 0); // inside 0, which stood before 1
    libgomp->push(tasks[5], 0);
    libgomp->push(tasks[6], 1);
    for (const int expected : {4, 5, 3, 6, 2}) EXPECT_EQ(next_of(*libgomp, 0, tasks), expected);
}

TEST(BehindParents, WhatATaskReleasesGoesToTheEnd)
{
    const DescribedView view(2);
    const auto libgomp = parse_scheduler("libgomp").make(view);
    std::vector<Task> tasks(4);
    for (int i = 0; i < 3; ++i) libgomp->push(tasks[i], no_worker);
    EXPECT_EQ(next_of(*libgomp, 0, tasks), 0);
    libgomp->push(tasks[3], 0);
    for (const int expected : {1, 2, 3}) EXPECT_EQ(next_of(*libgomp, 0, tasks), expected);
}

TEST(BehindParents, WhoWaitsForItsOwnTasksTakesTheNewestOfThem)
{
    DescribedView view(2);
    int its = 0, others = 0; // only their addresses count
    view.waiting_worker = 0;
    view.awaited_flow = reinterpret_cast<const TaskFlow*>(&its);
    const auto libgomp = parse_scheduler("libgomp").make(view);
    std::vector<Task> tasks(6);
    for (int i = 0; i < 6; ++i) {
        tasks[i].flow = reinterpret_cast<TaskFlow*>(i == 5 ? &others : &its);
        libgomp->push(tasks[i], no_worker);
    }
    EXPECT_EQ(next_of(*libgomp, 0, tasks), 4);
    EXPECT_EQ(next_of(*libgomp, 1, tasks), 0) << "the oldest of all";
    for (const int expected : {3, 2, 1}) EXPECT_EQ(next_of(*libgomp, 0, tasks), expected);
    EXPECT_EQ(next_of(*libgomp, 0, tasks), 5) << "a foreign one where it has none";
    for (int round = 0; round < 3; ++round) { // places are used anew
        for (const int i : {2, 0}) libgomp->push(tasks[i], no_worker);
        EXPECT_EQ(next_of(*libgomp, 1, tasks), 2);
        EXPECT_EQ(next_of(*libgomp, 0, tasks), 0);
        EXPECT_EQ(next_of(*libgomp, 0, tasks), -1);
    }
    const auto by_age = parse_scheduler("libgomp:waiting=any").make(view);
    for (const int i : {3, 1}) by_age->push(tasks[i], no_worker);
    EXPECT_EQ(next_of(*by_age, 0, tasks), 3);
    EXPECT_THROW((void)parse_scheduler("eager:waiting=newest").make(view), Error);
}

TEST(Libgomp, IsThrottledAt64TasksPerWorkerAndItsTableGrows)
{
    const FlowTraits flow = parse_scheduler("libgomp").flow;
    EXPECT_EQ(flow.throttle_per_worker, 64);
    EXPECT_EQ(flow.buckets, 0);
    EXPECT_TRUE(flow.throttle_ready);
    EXPECT_EQ(parse_scheduler("libgomp:throttle=none").flow.throttle_per_worker, 0) << "a preset's traits can be changed";
}

TEST(Throttle, CountsReadyTasksOnlyWhereItSaysSo)
{
    EXPECT_FALSE(parse_scheduler("libgomp:throttle=8x").flow.throttle_ready);
    const FlowTraits flow = parse_scheduler("eager:throttle=8x-ready").flow;
    EXPECT_EQ(flow.throttle_per_worker, 8);
    EXPECT_TRUE(flow.throttle_ready);
    EXPECT_TRUE(parse_scheduler("eager:throttle=100-ready").flow.throttle_ready);
    for (const char* wrong :
         {"eager:throttle=-ready", "eager:throttle=x-ready", "eager:throttle=0-ready", "eager:throttle=none-ready"})
        EXPECT_THROW((void)parse_scheduler(wrong), Error) << wrong;
}

} // namespace
} // namespace trencadis
