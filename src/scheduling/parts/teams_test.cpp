#include "base/error.hpp"
#include "scheduling/parts/teams.hpp"
#include "scheduling/testing.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace trencadis {
namespace {

using testing::DescribedView;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::next_of;

using Teams = std::vector<TeamMembers>;

TEST(EvenTeams, HaveTheSameNumberOfEachKindTheFastestLeading)
{
    EXPECT_EQ(even_teams(DescribedView(std::vector<int>{0, 0, 0, 0, 1, 1, 1, 1})), (Teams{{4, 0}, {5, 1}, {6, 2}, {7, 3}}));
    EXPECT_EQ(even_teams(DescribedView(std::vector<int>{0, 0, 1, 1, 1, 1})), (Teams{{2, 4, 0}, {3, 5, 1}}));
    EXPECT_EQ(even_teams(DescribedView(std::vector<int>{0, 1, 2})), (Teams{{2, 1, 0}}));
    EXPECT_EQ(even_teams(DescribedView(3)), (Teams{{0}, {1}, {2}})) << "one kind: nobody is paired";
}

TEST(EvenTeams, StayWithinAMemoryNodeSoThatADeviceIsOnItsOwn)
{
    DescribedView view(std::vector<int>{0, 0, 1, 1, 2});
    view.nodes = {0, 1, 0, 1, 7};
    EXPECT_EQ(even_teams(view), (Teams{{2, 0}, {3, 1}, {4}}));
}

TEST(ParsedTeams, AreListedLeaderFirstAndTheRestIsOnItsOwn)
{
    EXPECT_EQ(parse_teams("4+0/5+1", 7), (Teams{{4, 0}, {5, 1}, {2}, {3}, {6}}));
}

TEST(ParsedTeams, AreRefusedInWords)
{
    const auto message = [](const char* text) -> std::string {
        try {
            parse_teams(text, 8);
        } catch (const Error& error) {
            return error.what();
        }
        return "";
    };
    EXPECT_THAT(message("4+x"), HasSubstr("'x' is not a worker's number"));
    EXPECT_THAT(message(""), HasSubstr("'' is not a worker's number"));
    EXPECT_THAT(message("4+8"), HasSubstr("there is no worker 8, workers are 0 to 7"));
    EXPECT_THAT(message("-1"), HasSubstr("there is no worker -1"));
    EXPECT_THAT(message("4+0/5+0"), HasSubstr("worker 0 is named twice; write teams=4+0/5+1"));
}

class VirtualCores : public ::testing::Test {
protected:
    VirtualCores()
    {
        view_.speeds = {1, 1, 3, 3};
        for (Task& task : tasks_) task.codelet = &shared;
    }
    static constexpr Codelet shared{"shared", nullptr, nullptr, [](const void*, const Kernels*) { return Index{8}; }};
    static constexpr Codelet alone{"alone", nullptr};
    void start(const std::string& name) { scheduler_ = parse_scheduler(name).make(view_); }
    int next(WorkerId worker) { return next_of(*scheduler_, worker, tasks_); }

    DescribedView view_{std::vector<int>{0, 0, 1, 1}};
    std::unique_ptr<Scheduler> scheduler_;
    std::vector<Task> tasks_ = std::vector<Task>(6);
};

TEST_F(VirtualCores, LeadersRunAndFollowersJoinTheirLeaderOnly)
{
    start("virtual-cores");
    for (int i = 0; i < 3; ++i) scheduler_->push(tasks_[i], no_worker);
    EXPECT_EQ(next(0), -1) << "a follower runs nothing";
    const Decision decision = scheduler_->pop(2);
    EXPECT_EQ(decision.run, &tasks_[0]);
    EXPECT_TRUE(decision.offer) << "its follower may come later";
    view_.chunks = {0, 0, 7, 0};
    EXPECT_EQ(scheduler_->pop(0).join, 2);
    EXPECT_EQ(scheduler_->pop(1).join, no_worker) << "worker 3 leads it";
    EXPECT_EQ(next(3), 1);
    view_.chunks = {0, 0, 7, 2};
    EXPECT_EQ(scheduler_->pop(1).join, 3);
    EXPECT_EQ(next(2), 2);
    EXPECT_EQ(scheduler_->pop(3).join, no_worker) << "a leader without work does not join another team";
    EXPECT_THAT(scheduler_->followers(2), ElementsAre(0));
    EXPECT_TRUE(scheduler_->followers(0).empty());
}

TEST_F(VirtualCores, ThePolicyInsideSeesTheTeamsAsItsWorkers)
{
    start("virtual-cores:inside=ws");
    scheduler_->push(tasks_[0], 3);
    scheduler_->push(tasks_[1], 1); // a follower: onto its team's deque
    EXPECT_EQ(next(2), 0) << "stolen from the other team, the oldest";
    EXPECT_EQ(next(3), 1);
}

TEST_F(VirtualCores, ATeamIsAsFastAsItsMembersTogetherWhereTheOperationIsShared)
{
    // Alone: 12 / 3 = 4 s. As a team of 3 + 1: 3 s. The team of one fast core takes the task that is not shared.
    view_ = DescribedView(std::vector<int>{0, 1, 1});
    view_.speeds = {1, 3, 3};
    view_.free = {0, 0.5, 0};
    for (const Codelet* codelet : {&shared, &alone}) {
        start("virtual-cores:teams=1+0,inside=dmda");
        tasks_[0].codelet = codelet;
        tasks_[0].flops = 12;
        scheduler_->push(tasks_[0], 0);
        EXPECT_EQ(next(codelet == &shared ? 1 : 2), 0);
    }
}

TEST_F(VirtualCores, OptionsReachThePolicyInside)
{
    start("virtual-cores:inside=ws:deque=locked;bound=1,teams=2+0/3+1");
    EXPECT_TRUE(scheduler_->bounded());
    scheduler_->push(tasks_[0], 0);
    EXPECT_FALSE(scheduler_->has_room(0));
    EXPECT_FALSE(scheduler_->has_room(2)) << "the same team";
    EXPECT_TRUE(scheduler_->has_room(3));
}

TEST_F(VirtualCores, WhatNoLeaderCanRunIsRunByAFollower)
{
    view_.can = [](const Task&, int kind) { return kind == 0; };
    start("virtual-cores");
    scheduler_->push(tasks_[0], 2);
    EXPECT_EQ(next(2), -1);
    EXPECT_EQ(next(1), 0);
}

TEST_F(VirtualCores, RefusesWhatItCannotHoldInside)
{
    const auto message = [this](const char* name) -> std::string {
        try {
            start(name);
        } catch (const Error& error) {
            return error.what();
        }
        return "";
    };
    EXPECT_THAT(message("virtual-cores:inside=virtual-cores"), HasSubstr("teams of teams"));
    EXPECT_THAT(message("virtual-cores:inside=xkaapi"), HasSubstr("give them to virtual-cores itself"));
    EXPECT_THAT(message("virtual-cores:inside=eagre"), HasSubstr("did you mean 'eager'"));
    EXPECT_THAT(message("virtual-cores:teams=9"), HasSubstr("there is no worker 9"));
}

} // namespace
} // namespace trencadis
