// Units that are given a task and complete it later: two steps of the protocol.
#include "engines/protocol/protocol.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <stdexcept>
#include <string>
#include <vector>

namespace trencadis {
namespace {

struct ToyWorker;
struct ToyHolder : HolderState<ToyWorker> {
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

/// A carrier whose one unit has a queue of kernels: the oldest ends when somebody waits for it. The owner that drains its flow is
/// the worker's holder.
class Queued final : public WorkerProtocol<Queued, ToyWorker, ToyHolder, ToyWait, ToyFound>, private View {
    friend WorkerProtocol;

public:
    explicit Queued(int slots) : WorkerProtocol({0}), slots_(slots)
    {
        make_scheduler(*this, parse_scheduler("eager"));
        worker_.holder = &holder_;
    }
    ~Queued() override { end_kept_flows(); }
    void ready(Task* chain) override { push(chain, worker_.id); }
    void drain(TaskFlow& flow, std::int64_t target) override
    {
        for (flow_ = &flow, target_ = target; flow.pending() > target;) work_ahead(worker_, slots_);
    }
    void wake_owner(TaskFlow&) override {}
    int workers() const override { return 1; }
    std::span<const ComputeUnit> units() const override { return {&unit_, 1}; }
    std::vector<WorkerTime> times() const override { return {}; }
    Recorder& recorder() override { return recorder_; }
    const Capabilities& capabilities() const override { return abilities_; }

    std::string log; ///< submitted: the label; completed: in brackets
    std::size_t most = 0;

private:
    int kind(WorkerId) const override { return 0; }
    Seconds now() const override { return 0; }
    Seconds run_time(const Task&, WorkerId) const override { return 1; }
    Index chunks_left(WorkerId) const override { return 0; }
    const std::function<bool()>* poll_while_waiting(const std::function<bool()>*) override { return nullptr; }

    ToyWorker* here() { return &worker_; }
    ToyHolder& holder(const ToyWorker& worker) const { return *worker.holder; }
    bool disturbed(const ToyWorker&) const { return flow_->pending() <= target_; }
    ToyFound look(ToyWorker& worker) { return seek(worker); }
    ToyFound joined(ToyWorker&, const Decision&) { return {}; }
    ToyFound idle(ToyWorker&, ToyWait*) { throw std::logic_error("nothing to do for ever"); }
    void execute(ToyWorker&, Task&, bool) { throw std::logic_error("this unit does not run tasks on the spot"); }
    bool can_run(const ToyWorker&, const Task&) const { return false; }
    void start(ToyWorker&, Task& task)
    {
        log += task.label;
        queue_.push_back(&task);
        most = std::max(most, queue_.size());
    }
    void await(ToyWorker& worker)
    {
        Task& task = *queue_.front();
        queue_.pop_front();
        log += std::string("(") + task.label + ')';
        std::exception_ptr failure;
        SharedWork chunks;
        Team team(chunks);
        try {
            TaskFlowContext context(task, team, worker.id);
            task.codelet->core(task.args, context);
        } catch (...) {
            failure = std::current_exception();
        }
        complete(worker, task, failure, 1);
    }
    void wake(int, bool) {}
    void wake_worker(ToyWorker&) {}
    void someone_looks() {}
    bool any_work() const { return true; }
    template <class Body> void with_policy(Body&& body) { body(); }
    int push(Task* chain, WorkerId from)
    {
        push_each(chain, from, [](const Task&) {});
        return 0;
    }
    void taken(const Task&) {}

    const int slots_;
    const ComputeUnit unit_;
    const Capabilities abilities_{};
    Recorder recorder_{1};
    ToyHolder holder_{};
    ToyWorker worker_;
    std::deque<Task*> queue_;
    const TaskFlow* flow_ = nullptr;
    std::int64_t target_ = 0;
};

std::string kernels_of(int slots, std::size_t most)
{
    Queued engine(slots);
    TaskFlow flow(engine);
    int x = 0, y = 0;
    flow.submit("a", [] {}, {readwrite(&x)});
    flow.submit("b", [] {}, {readwrite(&y)});
    flow.submit("c", [] {}, {readwrite(&y)});
    flow.submit("d", [] {}, {readwrite(&x)});
    flow.wait();
    EXPECT_EQ(engine.most, most);
    return engine.log;
}

TEST(UnitsThatCompleteLater, AreGivenTheNextTaskWhileOneRuns)
{
    EXPECT_EQ(kernels_of(1, 1), "a(a)b(b)d(d)c(c)");
    EXPECT_EQ(kernels_of(2, 2), "ab(a)d(b)c(d)(c)") << "what a completion releases goes behind what is in flight";
    EXPECT_EQ(kernels_of(8, 2), "ab(a)d(b)c(d)(c)") << "there are no more than two ready";
}

TEST(UnitsThatCompleteLater, SkipWhatDependsOnAFailedTask)
{
    Queued engine(2);
    TaskFlow flow(engine);
    int x = 0, y = 0;
    flow.submit("a", [] { throw std::runtime_error("bad"); }, {readwrite(&x)});
    flow.submit("b", [] {}, {readwrite(&y)});
    flow.submit("c", [] {}, {readwrite(&x)});
    EXPECT_THROW(flow.wait(), std::runtime_error);
    EXPECT_EQ(engine.log, "ab(a)(b)");
}

} // namespace
} // namespace trencadis
