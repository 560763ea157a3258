#include "engines/starpu/flow.hpp"

#include "engines/starpu/bottom_levels.hpp"

#include <algorithm>
#include <utility>

namespace trencadis {
namespace {

thread_local int tasks_here = 0; ///< that the thread is in

/// Workers wake when so many tasks are there: those that wake before spin on the submitter's core for a time slice.
constexpr std::int64_t worth_waking = 64;
/// Enough to see what is critical; few enough that workers do not wait for them for long (some 0.3 us each).
std::size_t most_held(const FlowOptions& options)
{
    if (options.priorities == Priorities::given) return 0;
    return static_cast<std::size_t>(std::min<std::int64_t>(options.window / 2, 1024));
}

} // namespace

StarpuFlow::StarpuFlow(StarpuTenancy& tenancy, const Home& home, const RunOptions& options)
    : OwnFlow(home, options.flow), tenancy_(tenancy), starpu_(tenancy.begin()), interruption_(options.interrupted),
      most_held_(most_held(options.flow))
{
}

StarpuFlow::~StarpuFlow()
{
    StarpuFlow::await_all();
    tenancy_.end();
}

bool StarpuFlow::inside_task() { return tasks_here > 0; }

void StarpuFlow::wake()
{
    since_wake_ = 0;
    tenancy_.wake();
}

void StarpuFlow::await(std::int64_t most)
{
    unfinished_.await(most, interruption_, [this] { cancel(); });
}

void StarpuFlow::await_all()
{
    submit_held();
    for (auto& [address, datum] : data_)
        if (datum.parts) end_group(datum, 0);
    wake();
    await(0);
    for (const auto& [address, datum] : data_) tenancy_.give_back(datum.datum, datum.handle);
    data_.clear();
}

void StarpuFlow::hand_over(std::unique_ptr<OwnTask> task)
{
    if (interruption_.came()) cancel(); // who waits for room for a moment each time is not asked then
    if (most_held_ > 0 && task->codelet().flops) {
        held_.push_back(std::move(task));
        if (held_.size() == most_held_) submit_held();
        return;
    }
    submit_held();
    submit(std::move(task), 0);
    wake();
}

void StarpuFlow::submit_held()
{
    std::vector<double> levels;
    if (!cancelled()) levels = bottom_levels(held_, tenancy_.settings().flops_per_second);
    for (std::size_t i = 0; i < held_.size(); ++i) {
        if (levels.empty()) finish(std::move(held_[i]));
        else submit(std::move(held_[i]), levels[i]);
    }
    held_.clear();
    wake();
}

StarpuFlow::Registered& StarpuFlow::registered(const Datum& datum)
{
    const auto [place, is_new] = data_.try_emplace(datum.address, Registered{datum, nullptr});
    try {
        if (is_new) place->second.handle = tenancy_.take(datum);
    } catch (...) {
        data_.erase(place);
        throw;
    }
    return place->second;
}

/// Those that write together are readers to StarPU, as readers are: what keeps them apart is a task between them that writes.
void StarpuFlow::enter_group(Ticket& ticket, Registered& datum, AccessMode mode)
{
    const auto reads = [](AccessMode of) {
        return of == AccessMode::read || of == AccessMode::concurrent_write || of == AccessMode::reduce;
    };
    const std::span<const Access> accesses = ticket.task->accesses();
    const Reduction* how = nullptr;
    for (const Access& access : accesses)
        if (access.datum.address == datum.datum.address) how = access.reduction;
    const bool goes_on = mode == datum.group && (!datum.parts || &datum.parts->how() == how);
    if (!goes_on && (datum.parts || (reads(mode) && reads(datum.group)))) end_group(datum, ticket.task->priority());
    datum.group = mode;
    if (mode != AccessMode::reduce) return;
    if (!datum.parts) datum.parts = std::make_shared<ReductionParts>(const_cast<void*>(datum.datum.address), *how);
    for (std::size_t i = 0; i < accesses.size(); ++i)
        if (accesses[i].datum.address == datum.datum.address) ticket.reduces.push_back({i, datum.parts});
}

void StarpuFlow::end_group(Registered& datum, double priority)
{
    auto ticket = std::make_unique<Ticket>(*this, nullptr, datum.parts);
    ticket->priority = priority;
    const StarpuRuntime::Use use{datum.handle, AccessMode::readwrite};
    give(ticket, {&use, 1});
    datum.parts = nullptr;
    datum.group = AccessMode::readwrite;
}

/// What cannot be submitted counts as failed: it may be another one than the caller submits just now.
void StarpuFlow::submit(std::unique_ptr<OwnTask> task, double derived)
{
    const std::int64_t most = options().window - 1 - static_cast<std::int64_t>(most_held_);
    if (since_wake_ > std::min(most, worth_waking)) wake();
    await(most);
    auto ticket = std::make_unique<Ticket>(*this, std::move(task));
    OwnTask* const submitted = ticket->task.get();
    ticket->priority = submitted->priority() + derived;
    try {
        uses_.clear();
        submitted->for_each_datum([&](const Datum& named, AccessMode mode) {
            Registered& datum = registered(named);
            enter_group(*ticket, datum, mode);
            uses_.push_back({datum.handle, mode});
        });
        give(ticket, uses_);
    } catch (...) {
        fail(*submitted, std::current_exception());
        finish(std::move(ticket->task));
    }
}

void StarpuFlow::give(std::unique_ptr<Ticket>& ticket, std::span<const StarpuRuntime::Use> uses)
{
    static constexpr Codelet between{"between", nullptr};
    const OwnTask* const task = ticket->task.get();
    unfinished_.begin();
    tenancy_.task_begins();
    ++since_wake_;
    try {
        starpu_.submit({task ? task->codelet() : between, task ? task->label() : between.name, ticket->priority,
                        task ? task->flops() : 0, uses, ticket.get()});
        (void)ticket.release(); // its own, which may be through with it by now
    } catch (...) {
        tenancy_.task_ends();
        unfinished_.end();
        throw;
    }
}

void StarpuFlow::run(Ticket& ticket, int worker)
{
    if (!ticket.task) return ticket.combines ? ticket.combines->combine() : void();
    if (ticket.reduces.empty()) return run_at_home(*ticket.task, worker);
    std::vector<Operand> operands;
    std::size_t acquired = 0;
    try {
        for (const Access& access : ticket.task->accesses())
            operands.push_back({const_cast<void*>(access.datum.address), access.datum.ld, access.datum.rows, access.datum.cols});
        for (const Ticket::Reduces& one : ticket.reduces) {
            operands[one.access].data = one.parts->acquire();
            ++acquired;
        }
        OwnFlow::run(*ticket.task, worker, operands);
    } catch (...) { // no memory
        fail(*ticket.task, std::current_exception());
    }
    for (std::size_t i = 0; i < acquired; ++i) ticket.reduces[i].parts->give_back(operands[ticket.reduces[i].access].data);
}

void StarpuFlow::Ticket::run(int worker, void* const*)
{
    StarpuFlow& its_flow = flow;
    ++tasks_here;
    its_flow.run(*this, worker);
    --tasks_here;
    if (task) its_flow.finish(std::move(task));
    delete this;
    its_flow.tenancy_.task_ends(); // first: who waits wants the core that a worker spins on
    its_flow.unfinished_.end();
}

} // namespace trencadis
