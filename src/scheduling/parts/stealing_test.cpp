#include "scheduling/parts/combining_deque.hpp"
#include "scheduling/parts/lock_free_deque.hpp"
#include "scheduling/parts/locked_deque.hpp"
#include "scheduling/testing.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <set>
#include <thread>

namespace trencadis {
namespace {

using testing::DescribedView;
using testing::next_of;

/// ---- the deques -------------------------------------------------------------------------------------------------

template <class Deque> class Deques : public ::testing::Test {
};
using AllDeques = ::testing::Types<LockFreeDeque, LockedDeque, CombiningDeque>;
TYPED_TEST_SUITE(Deques, AllDeques);

TYPED_TEST(Deques, GiveTheOwnerTheNewestAndAThiefTheOldestAlsoAfterGrowing)
{
    TypeParam deque;
    typename TypeParam::Thief thief;
    std::vector<Task> tasks(1000);
    for (Task& task : tasks) deque.push(&task);
    EXPECT_EQ(deque.size(), 1000);
    EXPECT_EQ(deque.take(), &tasks[999]);
    for (int i = 0; i < 999; ++i) EXPECT_EQ(deque.steal(thief), &tasks[i]);
    EXPECT_EQ(deque.steal(thief), nullptr);
    EXPECT_EQ(deque.take(), nullptr);
    EXPECT_EQ(deque.size(), 0);
}

TYPED_TEST(Deques, LoseAndDoubleNothingUnderThieves)
{
    constexpr int count = 200'000;
    std::vector<Task> tasks(1000);
    TypeParam deque;
    std::vector<std::atomic<int>> taken(tasks.size());
    std::atomic<bool> done{false};
    std::atomic<long> got{0};
    const auto note = [&](Task* task) {
        ++taken[task - tasks.data()];
        ++got;
    };
    std::vector<std::thread> thieves;
    for (int t = 0; t < 3; ++t)
        thieves.emplace_back([&] {
            typename TypeParam::Thief self;
            while (!done)
                if (Task* task = deque.steal(self)) note(task);
                else std::this_thread::yield();
        });
    for (int i = 0; i < count; ++i) {
        deque.push(&tasks[i % tasks.size()]);
        if (i % 3 == 0)
            if (Task* task = deque.take()) note(task);
        // Near the end of the deque owner and thieves meet.
        if (i % 64 == 0)
            while (Task* task = deque.take()) note(task);
    }
    while (Task* task = deque.take()) note(task);
    while (got < count) std::this_thread::yield();
    done = true;
    for (std::thread& thief : thieves) thief.join();
    for (const auto& times : taken) EXPECT_EQ(times, count / static_cast<int>(tasks.size()));
}

TEST(CombiningDeque, OneThiefServesAllRequestsThatWaitAtAVictim)
{
    constexpr int thieves = 4;
    CombiningDeque deque;
    std::vector<Task> tasks(3); // one fewer than thieves: the last is told that there is none
    for (Task& task : tasks) deque.push(&task);
    std::vector<CombiningDeque::Thief> requests(thieves);
    std::vector<Task*> answers(thieves);
    std::vector<std::thread> threads;
    {
        const auto held = deque.hold_requests();
        for (int t = 0; t < thieves; ++t) threads.emplace_back([&, t] { answers[t] = deque.steal(requests[t]); });
        while (deque.gathered() < thieves) std::this_thread::yield();
        EXPECT_EQ(deque.combined(), 0);
    }
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(deque.combined(), thieves - 1) << "one lock for all of them";
    EXPECT_EQ(std::set<Task*>(answers.begin(), answers.end()), (std::set<Task*>{nullptr, &tasks[0], &tasks[1], &tasks[2]}));
}

TEST(CombiningDeque, TheOwnerGoesOnWhileRequestsWait)
{
    CombiningDeque deque;
    std::vector<Task> tasks(10);
    for (int i = 0; i < 8; ++i) deque.push(&tasks[i]);
    CombiningDeque::Thief request;
    Task* answer = nullptr;
    std::thread thief;
    {
        const auto held = deque.hold_requests();
        thief = std::thread([&] { answer = deque.steal(request); });
        while (deque.gathered() < 1) std::this_thread::yield();
        deque.push(&tasks[8]);
        EXPECT_EQ(deque.take(), &tasks[8]);
        EXPECT_EQ(deque.take(), &tasks[7]);
    }
    thief.join();
    EXPECT_EQ(answer, &tasks[0]);
}

/// ---- the policies -----------------------------------------------------------------------------------------------

class Stealers : public ::testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Kinds, Stealers, ::testing::Values("ws", "ws:deque=locked", "the", "libomp", "xkaapi", "libkomp"));

TEST_P(Stealers, AWorkerTakesItsNewestAndAThiefTheOldest)
{
    const DescribedView view(3);
    const auto ws = parse_scheduler(GetParam()).make(view);
    std::vector<Task> tasks(3);
    for (Task& task : tasks) ws->push(task, 0);
    EXPECT_EQ(next_of(*ws, 1, tasks), 0);
    EXPECT_EQ(next_of(*ws, 0, tasks), 2);
    EXPECT_EQ(next_of(*ws, 2, tasks), 1);
}

TEST_P(Stealers, ABatchFromOutsideComesInOrderAndItsRestIsExposed)
{
    const DescribedView view(3);
    const auto ws = parse_scheduler(GetParam()).make(view);
    std::vector<Task> tasks(3);
    for (Task& task : tasks) ws->push(task, no_worker);
    const Decision decision = ws->pop(1);
    EXPECT_EQ(decision.run, &tasks[0]);
    EXPECT_EQ(decision.exposed, 2);
    EXPECT_EQ(next_of(*ws, 1, tasks), 1);
    EXPECT_EQ(next_of(*ws, 0, tasks), 2);
}

TEST_P(Stealers, GiveEachTaskOnceToRealThreads)
{
    constexpr int workers = 4, count = 40'000;
    const DescribedView view(workers);
    const auto ws = parse_scheduler(GetParam()).make(view);
    std::vector<Task> tasks(count);
    std::vector<std::atomic<int>> runs(count);
    std::atomic<int> got{0}, next{0};
    std::vector<std::thread> threads;
    for (WorkerId worker = 0; worker < workers; ++worker)
        threads.emplace_back([&, worker] {
            while (got < count) {
                // Few sources and many thieves: only the first worker releases, in small batches.
                for (int i = 0; worker == 0 && i < 5 && next < count; ++i) ws->push(tasks[next++], next % 7 ? 0 : no_worker);
                if (const Task* task = ws->pop(worker).run) {
                    ++runs[task - tasks.data()];
                    ++got;
                } else std::this_thread::yield();
            }
        });
    for (std::thread& thread : threads) thread.join();
    for (int i = 0; i < count; ++i) ASSERT_EQ(runs[i], 1) << "task " << i;
}

TEST(Bound, AFullDequeHasNoRoomUntilATaskIsTaken)
{
    const DescribedView view(2);
    for (const char* name : {"ws:bound=2", "ws:deque=locked,bound=2", "the:bound=2"}) {
        const auto ws = parse_scheduler(name).make(view);
        EXPECT_TRUE(ws->bounded());
        std::vector<Task> tasks(2);
        ws->push(tasks[0], 0);
        EXPECT_TRUE(ws->has_room(0)) << name;
        ws->push(tasks[1], 0);
        EXPECT_FALSE(ws->has_room(0)) << name;
        EXPECT_TRUE(ws->has_room(1)) << "another worker's deque is empty";
        EXPECT_EQ(next_of(*ws, 1, tasks), 0);
        EXPECT_TRUE(ws->has_room(0)) << name;
    }
}

TEST(Bound, OfLibompIs256)
{
    const DescribedView view(2);
    const auto libomp = parse_scheduler("libomp").make(view);
    std::vector<Task> tasks(256);
    for (Task& task : tasks) {
        EXPECT_TRUE(libomp->has_room(0));
        libomp->push(task, 0);
    }
    EXPECT_FALSE(libomp->has_room(0));
}

TEST(Victims, OnTheThiefsOwnNodeComeFirstWhenNear)
{
    for (int seed = 0; seed < 20; ++seed) {
        DescribedView view(6);
        view.nodes = {0, 1, 0, 1, 0, 1};
        const auto ws = parse_scheduler("ws:victims=near,seed=" + std::to_string(seed)).make(view);
        std::vector<Task> tasks(6);
        for (int i = 0; i < 6; ++i) ws->push(tasks[i], i);
        EXPECT_EQ(next_of(*ws, 1, tasks), 1) << "its own";
        const std::set<int> near{next_of(*ws, 1, tasks), next_of(*ws, 1, tasks)};
        EXPECT_EQ(near, (std::set<int>{3, 5})) << "seed " << seed;
        const std::set<int> far{next_of(*ws, 1, tasks), next_of(*ws, 1, tasks), next_of(*ws, 1, tasks)};
        EXPECT_EQ(far, (std::set<int>{0, 2, 4})) << "seed " << seed;
    }
}

TEST(Victims, RoundRobinReturnsToTheOneThatGaveLast)
{
    const DescribedView view(4);
    const auto ws = parse_scheduler("ws:victims=round-robin").make(view);
    std::vector<Task> tasks(4);
    ws->push(tasks[0], 2);
    ws->push(tasks[1], 2);
    ws->push(tasks[2], 1);
    EXPECT_EQ(next_of(*ws, 3, tasks), 2) << "the ring of worker 3 is 0, 1, 2";
    ws->push(tasks[3], 0);
    EXPECT_EQ(next_of(*ws, 3, tasks), 0) << "from 1, which is empty now, on to 2 and not to 0";
    EXPECT_EQ(next_of(*ws, 3, tasks), 1);
    EXPECT_EQ(next_of(*ws, 3, tasks), 3);
}

TEST(Victims, AreRandomAndTheSameForTheSameSeed)
{
    const auto first_victims = [](int seed) {
        const DescribedView view(8);
        std::vector<int> victims;
        for (int round = 0; round < 10; ++round) {
            const auto ws = parse_scheduler("ws:seed=" + std::to_string(seed * 100 + round)).make(view);
            std::vector<Task> tasks(8);
            for (int i = 1; i < 8; ++i) ws->push(tasks[i], i);
            victims.push_back(next_of(*ws, 0, tasks));
        }
        return victims;
    };
    EXPECT_EQ(first_victims(1), first_victims(1));
    EXPECT_NE(first_victims(1), first_victims(2));
    const std::vector<int> seen = first_victims(3);
    EXPECT_GT((std::set<int>(seen.begin(), seen.end()).size()), 2U);
}

TEST(Affinity, ATaskGoesToTheNodeWithMostOfItsBytes)
{
    DescribedView view(4);
    view.nodes = {0, 0, 7, 7};
    std::vector<Task> tasks(3);
    view.valid = [&](const Task& task, int node) { return &task == &tasks[1] && node == 7 ? 100 : 10; };
    const auto xkaapi = parse_scheduler("xkaapi").make(view);
    for (Task& task : tasks) xkaapi->push(task, 0);
    EXPECT_EQ(next_of(*xkaapi, 2, tasks), 1);
    EXPECT_EQ(next_of(*xkaapi, 0, tasks), 2) << "equal bytes everywhere: it stays with the one that released it";
}

TEST(Presets, OfXKaapiAndLibkompDifferInWhenDependencesAreFound)
{
    EXPECT_EQ(parse_scheduler("xkaapi").flow.discovery, Discovery::at_steal);
    EXPECT_EQ(parse_scheduler("libkomp").flow.discovery, Discovery::at_submission);
    EXPECT_EQ(parse_scheduler("libkomp").flow.buckets, 0) << "its table grows";
    EXPECT_GT(parse_scheduler("libomp").flow.buckets, 0) << "its table does not";
}

} // namespace
} // namespace trencadis
