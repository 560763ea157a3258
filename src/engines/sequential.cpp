#include "engines/task_flow_engine.hpp"
#include "observe/clock.hpp"
#include "observe/stopwatch.hpp"

#include <atomic>
#include <mutex>
#include <utility>

namespace trencadis {
namespace {

thread_local const std::function<bool()>* polled = nullptr;
thread_local std::int64_t next_poll_ns = 0;
thread_local Stopwatch stopwatch;
constexpr std::int64_t poll_interval_ns = 50'000'000;

/// Runs every task when it is submitted, on the submitting thread: each finds its dependences met, because all before it have
/// finished. The oracle for the other engines, which must give what it gives.
class Sequential final : public TaskFlowEngine {
public:
    static constexpr Capabilities abilities{.schedules_itself = true,
                                            .commute = true,
                                            .concurrent_write = true,
                                            .reduction = true,
                                            .nesting = true,
                                            .cancellation = true};

    explicit Sequential(EngineParts parts) : parts_(std::move(parts)), unit_{.kernels = parts_.kernels}, recorder_(1)
    {
        recorder_.describe(0, parts_.workers[0].cpu, parts_.workers[0].kind_name);
    }

    ~Sequential() override { end_kept_flows(); }

    void ready(Task* chain) override
    {
        while (chain) {
            Task* task = chain;
            chain = task->next;
            Task* released = run(*task);
            if (released) { // tasks that waited for their turn on commute data
                Task** end = &released;
                while (*end) end = &(*end)->next;
                *end = chain;
                chain = released;
            }
        }
    }
    void drain(TaskFlow&, std::int64_t) override {} // nothing is ever pending
    void wake_owner(TaskFlow&) override {}

    const Capabilities& capabilities() const override { return abilities; }
    const char* name() const override { return "engine 'sequential'"; }
    std::span<const ComputeUnit> units() const override { return {&unit_, 1}; }
    int workers() const override { return 1; }
    std::vector<WorkerTime> times() const override
    {
        return {{busy_ns_.load(std::memory_order_relaxed), tasks_.load(std::memory_order_relaxed), 0}};
    }
    Recorder& recorder() override { return recorder_; }
    const std::function<bool()>* poll_while_waiting(const std::function<bool()>* poll) override
    {
        next_poll_ns = now_ns() + poll_interval_ns;
        return std::exchange(polled, poll);
    }

private:
    Task* run(Task& task)
    {
        TaskFlow& flow = *task.flow;
        std::exception_ptr failure;
        if (polled && now_ns() > next_poll_ns) {
            next_poll_ns = now_ns() + poll_interval_ns;
            if ((*polled)()) flow.cancel();
        }
        if (flow.may_run(task)) {
            const auto account = [this](const Segment& piece, std::int64_t end_ns) {
                busy_ns_.fetch_add(end_ns - piece.begin_ns, std::memory_order_relaxed);
                std::lock_guard lock(recording_);
                recorder_.record(0, event_of(piece, end_ns));
            };
            // On another engine's worker, a body that waits has other tasks run on this thread: the thread's stopwatch would then
            // be left out of turn, and keep a task that is gone.
            Stopwatch own;
            Stopwatch& watch = here() ? own : stopwatch;
            const Segment outer = watch.begin(&task, EventKind::task, account);
            try {
                run_body(task);
            } catch (...) {
                failure = std::current_exception();
            }
            watch.end(outer, account);
            tasks_.fetch_add(1, std::memory_order_relaxed);
        }
        return flow.finish(task, failure);
    }

    void run_body(Task& task) const
    {
        const SameSums sums(task.flow->float_modes().same_sums());
        const Index chunks = unit_.chunks(*task.codelet, task.args);
        SharedWork work(chunks, chunks);
        Team team(work);
        TaskFlowContext context(task, team, 0);
        task.codelet->core(task.args, context);
        context.finish_children();
    }

    EngineParts parts_;
    const ComputeUnit unit_;
    std::mutex recording_; ///< several threads may submit, each to a flow of its own
    Recorder recorder_;
    std::atomic<std::int64_t> busy_ns_{0}, tasks_{0};
};

} // namespace

extern const EngineEntry engine_sequential;
const EngineEntry engine_sequential{
    {"sequential", "each task when it is submitted, in order, on the caller's thread: the oracle", "trencadis"},
    Sequential::abilities,
    [](EngineParts parts) { return std::unique_ptr<Engine>(std::make_unique<Sequential>(std::move(parts))); },
};

} // namespace trencadis
