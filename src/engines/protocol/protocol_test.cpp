#include "engines/protocol/protocol.hpp"

#include <gtest/gtest.h>

#include <deque>
#include <new>
#include <stdexcept>
#include <string>
#include <vector>

namespace trencadis {
namespace {

struct ToyWorker;
struct ToyHolder : HolderState<ToyWorker> {
    int number = 0;
    const ToyHolder* guest = nullptr;
};
struct ToyWorker : WorkerState<ToyHolder> {
    ToyHolder* holder = nullptr;
};
struct ToyWait : WaitState<ToyHolder> {};
struct ToyFound {
    Task* task = nullptr;
    bool offer = false;
    explicit operator bool() const { return task; }
};

/// A carrier without threads: the caller is the one worker's first holder, and who takes the worker over runs on the stack of who
/// gives it away, until that one is asked back.
class Toy final : public WorkerProtocol<Toy, ToyWorker, ToyHolder, ToyWait, ToyFound>, private View {
    friend WorkerProtocol;

public:
    explicit Toy(const SchedulerSpec& scheduler, int most_holders = 100) : WorkerProtocol({0}), most_holders_(most_holders)
    {
        make_scheduler(*this, scheduler);
        worker_.holder = &new_holder(worker_);
    }
    explicit Toy(const char* scheduler, int most_holders = 100) : Toy(parse_scheduler(scheduler), most_holders) {}

    void ready(Task* chain) override { push(chain, worker_.id); }
    void drain(TaskFlow& flow, std::int64_t target) override
    {
        ToyWait wait{{flow, target}};
        work_off(worker_, wait);
    }
    void wake_owner(TaskFlow& flow) override { ask_back(*static_cast<ToyWait*>(flow.waiter())->holder); }
    int workers() const override { return 1; }
    std::vector<WorkerTime> times() const override { return {}; }
    Recorder& recorder() override { return recorder_; }
    std::span<const ComputeUnit> units() const override { return {&unit_, 1}; }
    const Capabilities& capabilities() const override { return abilities_; }

    int holder_now() const { return worker_.holder->number; }
    bool offered() const { return offered_; } ///< what runs now
    int holders() const { return static_cast<int>(holders_.size()); }

private:
    const std::function<bool()>* poll_while_waiting(const std::function<bool()>*) override { return nullptr; }
    int kind(WorkerId) const override { return 0; }
    Seconds now() const override { return 0; }
    Seconds run_time(const Task&, WorkerId) const override { return 1; }
    Index chunks_left(WorkerId) const override { return 0; }

    ToyWorker* here() { return &worker_; }
    ToyHolder& holder(const ToyWorker& worker) const { return *worker.holder; }
    ToyHolder& new_holder(ToyWorker& worker)
    {
        if (holders() == most_holders_) throw std::runtime_error("no more holders");
        holders_.push_back(std::make_unique<ToyHolder>(ToyHolder{{&worker}, holders()}));
        return *holders_.back();
    }
    void pass(ToyWorker& worker, ToyHolder& self, ToyHolder& next)
    {
        worker.holder = &next;
        work(worker, next);
        worker.holder = &worker.succession.give_back(next);
        if (worker.holder != &self) throw std::logic_error("handed on to one that is lower on the stack");
    }
    void wake_worker(ToyWorker&) {}
    void wake(int, bool) {}
    void someone_looks() {}
    bool disturbed(const ToyWorker& worker) const { return worker.succession.wanted(); }
    ToyFound look(ToyWorker& worker) { return seek(worker); }
    ToyFound joined(ToyWorker&, const Decision&) { return {}; }
    ToyFound idle(ToyWorker&, ToyWait*) { throw std::logic_error("nothing to do for ever"); }
    void act(ToyWorker& worker, const ToyFound& found) { execute(worker, *found.task, found.offer); }
    void execute(ToyWorker& worker, Task& task, bool offer)
    {
        offered_ = offer;
        if (!task.flow->may_run(task)) return conclude(worker, task, nullptr, 0);
        SharedWork chunks;
        Team team(chunks);
        TaskFlowContext context(task, team, worker.id);
        task.codelet->core(task.args, context);
        context.finish_children();
        conclude(worker, task, nullptr, 1);
    }
    bool any_work() const { return true; }
    template <class Body> void with_policy(Body&& body) { body(); }
    int push(Task* chain, WorkerId from)
    {
        push_each(chain, from, [](const Task&) {});
        return 0;
    }
    void taken(const Task&) {}

    const ComputeUnit unit_;
    const Capabilities abilities_{};
    Recorder recorder_{1};
    std::vector<std::unique_ptr<ToyHolder>> holders_;
    ToyWorker worker_;
    const int most_holders_;
    bool offered_ = false;
};

/// What it was told.
struct Told {
    int pushed = 0, finished = 0, skipped = 0;
    bool room = true, offers = false, memory = true;
};
Told* told = nullptr;

/// The oldest first.
class TellTale final : public Scheduler {
public:
    void push(Task& task, WorkerId) override
    {
        if (!told->memory) throw std::bad_alloc();
        ++told->pushed;
        tasks_.push_back(&task);
    }
    Decision pop(WorkerId) override
    {
        if (tasks_.empty()) return {};
        Task* task = tasks_.front();
        tasks_.pop_front();
        return {.run = task, .offer = told->offers};
    }
    void finished(const Task&, WorkerId, Seconds took) override { ++(took > 0 ? told->finished : told->skipped); }
    bool wants_finished() const override { return true; }
    bool bounded() const override { return true; }
    bool has_room(WorkerId) const override { return told->room; }

private:
    std::deque<Task*> tasks_;
};
const SchedulerEntry tell_tale{
    {"tell-tale", "", ""}, false, [](const View&, const SchedulerOptions&) -> std::unique_ptr<Scheduler> {
        return std::make_unique<TellTale>();
    }};
SchedulerSpec telling(Told& to)
{
    told = &to;
    return {&tell_tale, SchedulerOptions(), {}, "tell-tale"};
}

TEST(WorkerProtocol, RunsWhatATaskReleasesAfterIt)
{
    Toy toy("eager");
    std::string order;
    TaskFlow flow(toy);
    int x = 0;
    for (const char name : {'a', 'b', 'c'}) flow.submit("adds", [&order, name] { order += name; }, {readwrite(&x)});
    flow.wait();
    EXPECT_EQ(order, "abc");
    EXPECT_EQ(toy.holders(), 1) << "nobody had to take the worker over";
}

/// The waiter's own tasks run on its stack; another one's would keep it there, and may need what it holds.
TEST(WorkerProtocol, HandsTheWorkerOverForATaskThatIsNotTheWaitersOwn)
{
    Told to;
    Toy toy(telling(to));
    std::string order;
    int outer = -1, other = -1, after = -1;
    TaskFlow flow(toy);
    flow.submit("outer",
                [&](TaskContext& context) {
                    outer = toy.holder_now();
                    context.flow().submit("inner", [&] { order += 'i'; }, {});
                    context.flow().wait();
                    after = toy.holder_now();
                    order += 'o';
                },
                {});
    flow.submit("other",
                [&] {
                    other = toy.holder_now();
                    order += 'x';
                },
                {});
    flow.wait();
    EXPECT_EQ(order, "xio");
    EXPECT_NE(outer, other);
    EXPECT_EQ(outer, after) << "it has the worker back";
    EXPECT_EQ(toy.holders(), 2);
}

TEST(WorkerProtocol, HandsATaskOverWithThePolicysOfferToShareIt)
{
    Told to;
    Toy toy(telling(to));
    TaskFlow flow(toy);
    bool offered = false;
    flow.submit("outer",
                [&](TaskContext& context) {
                    context.flow().submit("inner", [] {}, {});
                    to.offers = true;
                    context.flow().wait();
                },
                {});
    flow.submit("other", [&] { offered = toy.offered(); }, {});
    flow.wait();
    EXPECT_EQ(toy.holders(), 2);
    EXPECT_TRUE(offered);
}

TEST(WorkerProtocol, UsesASpareHolderAgain)
{
    Told to;
    Toy toy(telling(to));
    TaskFlow flow(toy);
    int ran = 0;
    for (int round = 0; round < 5; ++round) {
        flow.submit("outer",
                    [&](TaskContext& context) {
                        context.flow().submit("inner", [&] { ++ran; }, {});
                        context.flow().wait();
                    },
                    {});
        flow.submit("other", [&] { ++ran; }, {});
        flow.wait();
    }
    EXPECT_EQ(ran, 10);
    EXPECT_EQ(toy.holders(), 2);
}

TEST(WorkerProtocol, RunsTheTaskItselfWhereNobodyCanTakeTheWorkerOver)
{
    Told to;
    Toy toy(telling(to), 1);
    TaskFlow flow(toy);
    int other = -1;
    flow.submit("outer",
                [&](TaskContext& context) {
                    context.flow().submit("inner", [] {}, {});
                    context.flow().wait();
                },
                {});
    flow.submit("other", [&] { other = toy.holder_now(); }, {});
    flow.wait();
    EXPECT_EQ(other, 0);
}

TEST(WorkerProtocol, FindsDependencesWhenThereIsNothingElse)
{
    Toy toy("eager");
    std::string order;
    FlowOptions options;
    options.traits.discovery = Discovery::at_steal;
    TaskFlow flow(toy, options);
    int x = 0;
    for (const char name : {'a', 'b', 'c'}) flow.submit("adds", [&order, name] { order += name; }, {readwrite(&x)});
    EXPECT_EQ(order, "");
    flow.wait();
    EXPECT_EQ(order, "abc");
}

TEST(WorkerProtocol, TellsThePolicyTheEndOfEveryTaskThatItGaveOut)
{
    Told to;
    Toy toy(telling(to));
    TaskFlow flow(toy);
    for (int i = 0; i < 3; ++i) flow.submit("runs", [] {}, {});
    flow.wait();
    EXPECT_EQ(to.finished, 3);
    for (int i = 0; i < 4; ++i) flow.submit("is cancelled", [] {}, {});
    flow.cancel();
    EXPECT_THROW(flow.wait(), Error);
    EXPECT_EQ(to.pushed, 7);
    EXPECT_EQ(to.skipped, 4);
}

TEST(WorkerProtocol, RunsATaskAtOnceWhereThePolicyHasNoRoom)
{
    Told to;
    to.room = false;
    Toy toy(telling(to));
    TaskFlow flow(toy);
    int ran = 0;
    flow.submit("runs", [&] { ++ran; }, {});
    EXPECT_EQ(ran, 1);
    EXPECT_EQ(to.pushed, 0);
    flow.wait();
}

TEST(WorkerProtocol, RunsWhatThePolicyHasNoMemoryForBehindWhatItHas)
{
    Told to;
    Toy toy(telling(to));
    std::string order;
    TaskFlow flow(toy);
    flow.submit("has a place", [&] { order += 'p'; }, {});
    to.memory = false;
    for (const char name : {'a', 'b', 'c'}) flow.submit("has none", [&order, name] { order += name; }, {});
    to.memory = true;
    flow.submit("has a place", [&] { order += 'q'; }, {});
    flow.wait();
    EXPECT_EQ(order, "pqabc");
    flow.submit("later", [&] { order += 'z'; }, {});
    flow.wait();
    EXPECT_EQ(order, "pqabcz");
}

TEST(WorkerProtocol, RunsWhatATaskReleasesWhereThePolicyHasNoMemory)
{
    Told to;
    Toy toy(telling(to));
    std::string order;
    TaskFlow flow(toy);
    int x = 0;
    flow.submit("first", [&] { to.memory = false; }, {readwrite(&x)});
    for (const char name : {'a', 'b', 'c'}) flow.submit("adds", [&order, name] { order += name; }, {readwrite(&x)});
    flow.wait();
    EXPECT_EQ(order, "abc");
}

TEST(Overflow, GivesEachTaskOnceInOrderToWhoMayHaveIt)
{
    std::vector<Task> tasks(4);
    Overflow overflow;
    for (int i = 0; i < 4; ++i) {
        tasks[std::size_t(i)].node = static_cast<std::int16_t>(i % 2);
        overflow.add(tasks[std::size_t(i)]);
    }
    const auto odd = [](const Task& task) { return task.node == 1; };
    const auto any = [](const Task&) { return true; };
    EXPECT_EQ(overflow.take(odd), &tasks[1]);
    EXPECT_EQ(overflow.take(odd), &tasks[3]) << "the last one";
    EXPECT_EQ(overflow.take(odd), nullptr);
    overflow.add(tasks[1]);
    EXPECT_EQ(overflow.take(any), &tasks[0]);
    EXPECT_EQ(overflow.take(any), &tasks[2]);
    EXPECT_EQ(overflow.take(any), &tasks[1]);
    EXPECT_FALSE(overflow.any());
}

TEST(Succession, GivesTheWorkerBackToWhoAskedLastAndKeepsTheOtherAsSpare)
{
    Succession<ToyHolder> succession;
    ToyHolder a{{nullptr}}, b{{nullptr}}, c{{nullptr}};
    int told_times = 0;
    succession.ask_back(a, [&] { ++told_times; });
    succession.ask_back(b, [&] { ++told_times; });
    EXPECT_EQ(told_times, 2);
    EXPECT_EQ(&succession.give_back(c), &b);
    EXPECT_TRUE(succession.wanted());
    EXPECT_EQ(succession.take(false), &c) << "a spare one, where there is a task to run";
    EXPECT_EQ(succession.take(true), &a);
    EXPECT_FALSE(succession.wanted());
    EXPECT_EQ(succession.take(true), nullptr);
    a.waits = true;
    succession.put_back(a);
    EXPECT_TRUE(succession.wanted());
}

TEST(Succession, BringsAGuestBackOnlyWhenTheHolderHasNothingToGoOnWith)
{
    Succession<ToyHolder> succession;
    ToyHolder own{{nullptr}}, guest{{nullptr}};
    guest.guest = &guest;
    succession.ask_back(guest, [] {});
    EXPECT_EQ(succession.take(true), nullptr);
    EXPECT_TRUE(succession.wanted());
    EXPECT_EQ(&succession.give_back(own), &guest);
    EXPECT_EQ(succession.take(false), nullptr) << "who makes way for a guest is not spare";
}

} // namespace
} // namespace trencadis
