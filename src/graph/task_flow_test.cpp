#include "graph/task_flow.hpp"

#include "base/error.hpp"
#include "graph/info.hpp"

#include <gtest/gtest.h>

#include <deque>
#include <stdexcept>
#include <string>
#include <vector>

namespace trencadis {
namespace {

/// Keeps ready tasks until the flow must be drained, then runs them newest first: an order no dependence may rely on.
class LastFirst final : public Executor {
public:
    void ready(Task* chain) override
    {
        while (chain) {
            Task* next = chain->next;
            ready_.push_back(chain);
            chain = next;
        }
    }
    void drain(TaskFlow& flow, std::int64_t target) override
    {
        while (flow.pending() > target) {
            ASSERT_FALSE(ready_.empty()) << "a task waits for nothing";
            Task& task = *ready_.back();
            ready_.pop_back();
            std::exception_ptr failure;
            if (task.flow->may_run(task)) {
                SharedWork work;
                Team team(work);
                try {
                    TaskFlowContext context(task, team, 0);
                    task.codelet->core(task.args, context);
                    context.finish_children();
                } catch (...) {
                    failure = std::current_exception();
                }
            }
            ready(task.flow->finish(task, failure));
        }
    }
    void wake_owner(TaskFlow&) override { FAIL() << "nobody sleeps here"; }
    std::deque<Task*> ready_;
};

TEST(TaskFlow, RunsAChainOfWritersInOrder)
{
    LastFirst executor;
    TaskFlow flow(executor);
    std::string word;
    for (const char c : std::string("mosaic")) flow.submit("append", [&word, c] { word += c; }, {readwrite(&word)});
    flow.wait();
    EXPECT_EQ(word, "mosaic");
}

TEST(TaskFlow, KeepsTheNumberOfPendingTasksWithinTheWindow)
{
    LastFirst executor;
    TaskFlow flow(executor, {.window = 7});
    std::int64_t most = 0;
    for (int i = 0; i < 1000; ++i) {
        flow.submit("nothing", [] {}, {});
        most = std::max(most, flow.pending());
    }
    flow.wait();
    EXPECT_LE(most, 7);
    EXPECT_GE(most, 5);
}

/// A task that says how many flops it has, or one that does not.
template <bool counted> struct Piece {
    Flops amount;
    void run(TaskContext&) {}
    Flops flops() const requires counted { return amount; }
};

TEST(TaskFlow, AnEarlyTaskRanksByThePathThroughTasksWithoutAFlopCount)
{
    static constexpr Codelet counted = codelet_of<Piece<true>>("counted"), uncounted = codelet_of<Piece<false>>("uncounted");
    LastFirst executor;
    TaskFlow flow(executor);
    int panel = 0, image = 0;
    flow.submit(counted, Piece<true>{1e9}, {write(&panel)});
    flow.submit(uncounted, Piece<false>{}, {read(&panel), write(&image)});
    for (int i = 0; i < 100; ++i) flow.submit(counted, Piece<true>{1e9}, {readwrite(&image)});
    EXPECT_GT(executor.ready_.front()->priority.load(), 50) << "seconds; those submitted last may not count yet";
    flow.wait();
}

TEST(TaskFlow, ReadersOfADatumAreReadyInTheOrderThatItsTraitsSay)
{
    const auto order = [](bool oldest) {
        LastFirst executor;
        TaskFlow flow(executor, {.traits = {.release_oldest = oldest}});
        int x = 0, y = 0;
        std::string ready;
        flow.submit("writes", [] {}, {write(&x), write(&y)});
        for (const char c : std::string("abc")) flow.submit("reads", [&ready, c] { ready = c + ready; }, {read(&x)});
        for (const char c : std::string("de")) flow.submit("reads", [&ready, c] { ready = c + ready; }, {read(&y)});
        flow.wait(); // the last that became ready runs first
        return ready;
    };
    EXPECT_EQ(order(true), "abcde");
    EXPECT_EQ(order(false), "cbaed");
}

TEST(TaskFlow, RethrowsTheFailureOfTheEarliestTaskAndDoesNotRunWhatDependsOnIt)
{
    LastFirst executor;
    TaskFlow flow(executor);
    int x = 0, y = 0;
    bool dependant = false, independent = false;
    flow.submit("early", [] { throw std::runtime_error("early"); }, {write(&x)});
    flow.submit("late", [] { throw std::runtime_error("late"); }, {write(&y)});
    flow.submit("dependant", [&] { dependant = true; }, {read(&x)});
    flow.submit("independent", [&] { independent = true; }, {});
    try {
        flow.wait();
        FAIL() << "nothing was thrown";
    } catch (const std::runtime_error& error) {
        EXPECT_STREQ(error.what(), "early");
    }
    EXPECT_FALSE(dependant);
    EXPECT_TRUE(independent);
    flow.submit("again", [&] { dependant = true; }, {readwrite(&x)});
    flow.wait();
    EXPECT_TRUE(dependant) << "after wait the flow starts afresh";
}

TEST(TaskFlow, ACancelledFlowRunsNothingMoreAndSaysSo)
{
    LastFirst executor;
    TaskFlow flow(executor);
    int ran = 0;
    for (int i = 0; i < 10; ++i) flow.submit("count", [&] { ++ran; }, {});
    flow.cancel();
    EXPECT_THROW(flow.submit("more", [] {}, {}), Error);
    EXPECT_THROW(flow.wait(), Error);
    EXPECT_EQ(ran, 0);
}

TEST(TaskFlow, FoldsPrivatePartsBeforeTheNextReader)
{
    LastFirst executor;
    TaskFlow flow(executor);
    static const Reduction sum{
        sizeof(long), [](void* p) { *static_cast<long*>(p) = 0; },
        [](void* into, const void* part) { *static_cast<long*>(into) += *static_cast<const long*>(part); }};
    long total = 1000, seen = 0;
    for (long i = 1; i <= 10; ++i)
        flow.submit("add", [i](TaskContext& context) { context.part<long>(0) += i; }, {reduce(&total, sum)});
    flow.submit("see", [&] { seen = total; }, {read(&total)});
    for (long i = 1; i <= 10; ++i)
        flow.submit("add", [i](TaskContext& context) { context.part<long>(0) += i; }, {reduce(&total, sum)});
    flow.wait();
    EXPECT_EQ(seen, 1055);
    EXPECT_EQ(total, 1110) << "a reduction that no access closes is folded by wait";
}

TEST(TaskFlow, NamingADatumTwiceMeansTheStrongerAccess)
{
    LastFirst executor;
    TaskFlow flow(executor);
    std::vector<int> order;
    int x = 0;
    flow.submit("first", [&] { order.push_back(1); }, {read(&x), write(&x)});
    flow.submit("second", [&] { order.push_back(2); }, {read(&x), read(&x)});
    flow.submit("third", [&] { order.push_back(3); }, {commute(&x), readwrite(&x)});
    flow.wait();
    EXPECT_EQ(order, (std::vector{1, 2, 3}));
}

TEST(TaskFlow, CarriesArgumentsAndAccessListsOfAnySize)
{
    LastFirst executor;
    TaskFlow flow(executor);
    std::array<long, 100> big{};
    big[99] = 7;
    std::vector<char> data(50);
    std::vector<Access> accesses;
    for (char& c : data) accesses.push_back(readwrite(&c));
    long seen = 0;
    flow.submit(
        "big", [big, &seen] { seen = big[99]; }, accesses);
    flow.submit("last", [&seen] { seen *= 6; }, {readwrite(&data[49])});
    flow.wait();
    EXPECT_EQ(seen, 42);
}

TEST(TaskFlow, TasksInsideATaskFinishBeforeIt)
{
    LastFirst executor;
    TaskFlow flow(executor);
    int inner = 0, seen = -1, datum = 0;
    flow.submit("outer",
                [&](TaskContext& context) {
                    for (int i = 0; i < 5; ++i) context.flow().submit("inner", [&] { ++inner; }, {commute(&inner)});
                },
                {write(&datum)});
    flow.submit("after", [&] { seen = inner; }, {read(&datum)});
    flow.wait();
    EXPECT_EQ(seen, 5);
}

TEST(TaskFlow, PartOfAnAccessThatDoesNotReduceIsAnError)
{
    LastFirst executor;
    TaskFlow flow(executor);
    int x = 0;
    flow.submit("wrong", [](TaskContext& context) { context.part(0); }, {write(&x)});
    EXPECT_THROW(flow.wait(), Error);
    flow.submit("wrong", [](TaskContext& context) { context.part(-1); }, {write(&x)});
    EXPECT_THROW(flow.wait(), Error);
}

TEST(TaskFlow, AWindowOfNothingIsRefused)
{
    LastFirst executor;
    EXPECT_THROW(TaskFlow(executor, {.window = 0}), Error);
}

TEST(TaskFlow, TheSmallestIndexReportedIsItsOutcomeWhateverTheOrder)
{
    LastFirst executor; // runs the last one submitted first
    TaskFlow flow(executor);
    int data[3] = {};
    Index before = -1;
    const auto report = [](Index index) { return [index](TaskContext& context) { context.outcome().report(index); }; };
    flow.submit("second", report(7), {write(&data[0])});
    flow.submit("first", report(5), {write(&data[1])});
    flow.submit("asks", [&](TaskContext& context) { before = context.outcome().reached(6); }, {read(&data[1])});
    flow.wait();
    EXPECT_EQ(flow.outcome().value(), 5);
    EXPECT_EQ(before, 1);
    flow.reuse();
    EXPECT_EQ(flow.outcome().value(), 0);
}

TEST(TaskFlow, FlowsInsideHandTheirOutcomeUpWhenTheTaskHasFinished)
{
    LastFirst executor;
    TaskFlow flow(executor);
    int datum = 0;
    Index inside = -1, after = -1;
    flow.submit("outer",
                [&](TaskContext& context) {
                    int* const inner = &datum;
                    context.flow().submit("inner", [](TaskContext& c) { c.outcome().report(3); }, {write(inner)});
                    inside = context.outcome().value();
                },
                {write(&datum)});
    flow.submit("after", [&](TaskContext& context) { after = context.outcome().value(); }, {read(&datum)});
    flow.wait();
    EXPECT_EQ(inside, 0); // what is reported inside is the task's when it has finished
    EXPECT_EQ(after, 3);
    EXPECT_EQ(flow.outcome().value(), 3);
}

TEST(Info, KeepsTheSmallestIndex)
{
    Info info;
    EXPECT_EQ(info.value(), 0);
    info.report(9);
    info.report(4);
    info.report(6);
    EXPECT_EQ(info.value(), 4);
    EXPECT_TRUE(info.reached(4));
    EXPECT_FALSE(info.reached(3));
}

TEST(SharedWork, GivesEachChunkOnceAndALoneCoreAllAtOnce)
{
    SharedWork work(5, 1);
    Team a(work), b(work);
    std::vector<int> taken(5);
    for (bool more = true; more;) {
        more = false;
        for (Team* team : {&a, &b})
            if (const Chunks chunks = team->next()) {
                for (Index i = chunks.begin; i < chunks.end; ++i) ++taken[i];
                more = true;
            }
    }
    EXPECT_EQ(taken, std::vector(5, 1));
    SharedWork alone(5, 5);
    const Chunks all = Team(alone).next();
    EXPECT_EQ(all.end - all.begin, 5);
}

} // namespace
} // namespace trencadis
