#include "random_graph.hpp"
#include "threads/futex.hpp"

#include <array>
#include <stdexcept>
#include <thread>

namespace trencadis::testing {

namespace {

using Step = GraphPlan::Step;

std::int64_t number(std::uint64_t seed) { return std::int64_t(seed % 1'000'003); }

/// The part of a reduction: starts at zero, is added up.
const Reduction sum_of_numbers{
    sizeof(std::int64_t), [](void* part) { *static_cast<std::int64_t*>(part) = 0; },
    [](void* into, const void* part) { static_cast<Datum*>(into)->plain_sum += *static_cast<const std::int64_t*>(part); }};

/// Registers a task inside a datum and notes whoever must not be there at the same time.
class Inside {
public:
    Inside(Datum& datum, AccessMode mode, Outcome& outcome) : mine_(datum.inside[int(mode)])
    {
        const bool shared = is_shared(mode) && mode != AccessMode::commute;
        if (mine_.fetch_add(1) != 0 && !shared) ++outcome.violations;
        for (int other = 0; other < 6; ++other)
            if (other != int(mode) && datum.inside[other].load() != 0) ++outcome.violations;
    }
    ~Inside() { mine_.fetch_sub(1); }
    Inside(const Inside&) = delete;
    Inside& operator=(const Inside&) = delete;

private:
    std::atomic<int>& mine_;
};

/// What the accesses that read see, and who runs.
std::uint64_t inputs(const Step& step, Datum* data)
{
    std::uint64_t hash = mix(0x5eed, std::uint64_t(step.id));
    for (const GraphPlan::Use& use : step.effective)
        if (use.mode == AccessMode::read || use.mode == AccessMode::readwrite) hash = mix(hash, data[use.datum].value());
    return hash;
}

void pause(int delay)
{
    if (delay == 1) std::this_thread::yield();
    for (int i = 1; i < delay; ++i)
        for (int k = 0; k < 30; ++k) relax();
}

/// One task's writes; `part` is where a reduction goes.
void apply(const GraphPlan::Use& use, Datum& datum, std::uint64_t hash, std::int64_t* part)
{
    switch (use.mode) {
    case AccessMode::read: break;
    case AccessMode::write:
    case AccessMode::readwrite:
        datum.chain = use.mode == AccessMode::write ? hash : mix(datum.chain, hash);
        datum.plain_sum = 0;
        datum.shared_sum.store(0, std::memory_order_relaxed);
        break;
    case AccessMode::concurrent_write: datum.shared_sum.fetch_add(number(hash), std::memory_order_relaxed); break;
    case AccessMode::commute: datum.plain_sum += number(hash); break;
    case AccessMode::reduce: *part += number(hash); break;
    }
}

/// A malleable task: every member of the team sees the same inputs; the data it writes get one number per chunk.
void run_chunks(const Step& step, Datum* data, Outcome& outcome, Chunks chunks, std::uint64_t hash)
{
    for (Index c = chunks.begin; c < chunks.end; ++c) {
        pause(step.delay);
        outcome.chunks_run[std::size_t(step.id)].fetch_add(1);
        data[step.effective.back().datum].shared_sum.fetch_add(number(mix(hash, std::uint64_t(c))), std::memory_order_relaxed);
    }
}

/// Of a malleable task, which must not look at what its team mates write.
std::uint64_t chunk_inputs(const Step& step, Datum* data)
{
    std::uint64_t hash = mix(0xc4a7, std::uint64_t(step.id));
    for (std::size_t u = 0; u + 1 < step.effective.size(); ++u)
        if (step.effective[u].mode == AccessMode::read) hash = mix(hash, data[step.effective[u].datum].value());
    return hash;
}

struct Thrown : std::runtime_error {
    using std::runtime_error::runtime_error;
};

/// The tasks inside a task: run by `children`, on data of their own that start with the parent's hash.
using RunChildren = std::uint64_t (*)(const Step& step, std::uint64_t hash, Outcome& outcome, void* how);

void run_body(const Step& step, Datum* data, Outcome& outcome, TaskContext* context, RunChildren children, void* how)
{
    const auto id = std::size_t(step.id);
    std::array<std::unique_ptr<Inside>, 8> inside;
    for (std::size_t u = 0; u < step.effective.size(); ++u)
        inside[u] = std::make_unique<Inside>(data[step.effective[u].datum], step.effective[u].mode, outcome);
    outcome.ran[id].fetch_add(1);
    std::uint64_t hash = inputs(step, data);
    outcome.result[id] = hash;
    pause(step.delay);
    if (!step.children.empty()) hash = mix(hash, children(step, hash, outcome, how));
    if (step.throws) throw Thrown(std::to_string(step.id));
    for (std::size_t u = 0; u < step.effective.size(); ++u) {
        const GraphPlan::Use& use = step.effective[u];
        std::int64_t* part = nullptr;
        if (use.mode == AccessMode::reduce)
            part = context ? &context->part<std::int64_t>(step.part[u]) : &data[use.datum].plain_sum;
        apply(use, data[use.datum], hash, part);
    }
}

// ---- in order, without any runtime ---------------------------------------------------------------------------------

std::uint64_t digest(const std::vector<Datum>& data)
{
    std::uint64_t hash = 0;
    for (const Datum& datum : data) hash = mix(hash, datum.value());
    return hash;
}

std::vector<Datum> child_data(std::uint64_t hash)
{
    std::vector<Datum> data(GraphPlan::child_data);
    for (Datum& datum : data) datum.chain = hash++;
    return data;
}

void run_step_in_order(const Step& step, Datum* data, Outcome& outcome);

std::uint64_t children_in_order(const Step& step, std::uint64_t hash, Outcome& outcome, void*)
{
    std::vector<Datum> data = child_data(hash);
    for (const Step& child : step.children) run_step_in_order(child, data.data(), outcome);
    return step.waits ? digest(data) : 0;
}

void run_step_in_order(const Step& step, Datum* data, Outcome& outcome)
{
    if (step.chunks) run_chunks(step, data, outcome, {0, step.chunks}, chunk_inputs(step, data));
    else run_body(step, data, outcome, nullptr, children_in_order, nullptr);
}

// ---- through a flow ------------------------------------------------------------------------------------------------

struct StepArgs {
    const Step* step;
    Datum* data;
    Outcome* outcome;

    void run(TaskContext& context) const;
    Flops flops() const { return 100.0 + step->delay; }
};
struct BigStepArgs : StepArgs {
    char padding[200] = {}; // beyond Task::inline_bytes
};
struct ChunkedStepArgs : StepArgs {
    Index chunks() const { return step->chunks; }
    void run(TaskContext& context) const
    {
        const std::uint64_t hash = chunk_inputs(*step, data);
        while (const Chunks c = context.team().next()) run_chunks(*step, data, *outcome, c, hash);
    }
};
constexpr Codelet plain = codelet_of<StepArgs>("plain"), big = codelet_of<BigStepArgs>("big"),
                  chunked = codelet_of<ChunkedStepArgs>("chunked");

void submit(Flow& flow, const Step& step, Datum* data, Outcome& outcome)
{
    std::vector<Access> accesses;
    for (const GraphPlan::Use& use : step.uses)
        accesses.push_back(
            {trencadis::Datum(&data[use.datum]), use.mode, use.mode == AccessMode::reduce ? &sum_of_numbers : nullptr});
    const StepArgs args{&step, data, &outcome};
    const TaskOptions options{.label = nullptr, .priority = step.priority};
    if (step.chunks) flow.submit(chunked, ChunkedStepArgs{args}, accesses, options);
    else if (step.big) flow.submit(big, BigStepArgs{args}, accesses, options);
    else if (step.id % 5 == 0)
        flow.submit(
            "callable", [args](TaskContext& context) { args.run(context); }, accesses, options);
    else flow.submit(plain, args, accesses, options);
}

/// Children that the parent does not wait for outlive its body: a last task that comes after all of them keeps their data.
std::uint64_t children_in_flow(const Step& step, std::uint64_t hash, Outcome& outcome, void* how)
{
    Flow& flow = static_cast<TaskContext*>(how)->flow();
    const auto data = std::make_shared<std::vector<Datum>>(child_data(hash));
    for (const Step& child : step.children) submit(flow, child, data->data(), outcome);
    if (step.waits) {
        flow.wait();
        return digest(*data);
    }
    std::vector<Access> all;
    for (Datum& datum : *data) all.push_back(readwrite(&datum));
    flow.submit(
        "keep the data", [data] {}, all);
    return 0;
}

void StepArgs::run(TaskContext& context) const { run_body(*step, data, *outcome, &context, children_in_flow, &context); }

} // namespace

void run_in_order(const GraphPlan& plan, Outcome& outcome)
{
    for (const Step& step : plan.steps) run_step_in_order(step, outcome.data.data(), outcome);
}

void run_in_flow(const GraphPlan& plan, Outcome& outcome, Flow& flow)
{
    try {
        for (const Step& step : plan.steps) submit(flow, step, outcome.data.data(), outcome);
        flow.wait();
    } catch (const std::exception& error) {
        outcome.exception = error.what();
    }
}

void run_in_flow(const GraphPlan& plan, Outcome& outcome, Executor& executor, const FlowOptions& options)
{
    TaskFlow flow(executor, options);
    run_in_flow(plan, outcome, flow);
}

} // namespace trencadis::testing
