#include "graph/task_flow.hpp"

#include "base/error.hpp"
#include "graph/refusals.hpp"

#include <algorithm>

namespace trencadis {

namespace {
constexpr std::int64_t credit_step = 64;

/// Writes nodes for the accesses; of several to one datum the first stays, with the mode that covers all.
void fill_nodes(Task& task, std::span<const Access> accesses)
{
    task.has_commute = task.has_reduce = false;
    for (int i = 0; i < task.access_count; ++i) {
        AccessNode& node = task.accesses[i];
        node.task = &task;
        node.group = nullptr;
        node.mode = accesses[i].mode;
        task.data[i] = accesses[i].datum;
        for (int j = 0; j < i; ++j) {
            AccessNode& earlier = task.accesses[j];
            if (accesses[j].datum.address != accesses[i].datum.address || !earlier.task) continue;
            if (earlier.mode != node.mode) earlier.mode = AccessMode::readwrite;
            node.task = nullptr;
            break;
        }
    }
    for (int i = 0; i < task.access_count; ++i) {
        task.has_commute |= task.accesses[i].task && task.accesses[i].mode == AccessMode::commute;
        task.has_reduce |= task.accesses[i].task && task.accesses[i].mode == AccessMode::reduce;
    }
}
} // namespace

TaskFlow::TaskFlow(Executor& executor, const FlowOptions& options, TaskFlow* parent)
    : executor_(executor), options_(options), parent_(parent), depth_(parent ? parent->depth_ + 1 : 0)
{
    if (options.window < 1)
        throw Error(ErrorCode::bad_argument, "window is " + std::to_string(options.window) + ", must be at least 1");
    const FlowTraits& traits = options.traits;
    throttle_ = traits.throttle_per_worker ? traits.throttle_per_worker * executor.workers() : traits.throttle;
    if (options.refuse_overlaps && !traits.buckets && !at_steal()) overlaps_ = std::make_unique<Overlaps>();
}

TaskFlow::~TaskFlow()
{
    executor_.drain(*this, 0);
    if (at_steal()) executor_.forget(*this);
    dependences_.clear();
}

bool TaskFlow::cancelled() const
{
    for (const TaskFlow* flow = this; flow; flow = flow->parent_)
        if (flow->cancelled_.load(std::memory_order_relaxed)) return true;
    return false;
}

/// Everything that may throw happens here, before the task is known to anybody.
void TaskFlow::make_room(std::size_t accesses)
{
    if (credit_ == 0) {
        if (pending() >= options_.window) executor_.drain(*this, options_.window - (options_.window + 3) / 4);
        credit_ = std::clamp<std::int64_t>(options_.window - pending(), 1, credit_step);
        state_.fetch_add(one_task * credit_, std::memory_order_relaxed);
    }
    std::unique_lock lock(discovery_mutex_, std::defer_lock);
    if (at_steal()) lock.lock();
    if (AccessGroup* groups = pool_.collect_groups()) dependences_.recycle(groups);
    dependences_.reserve(static_cast<int>(accesses) + undiscovered_accesses_);
}

/// Of a datum that is in use only one that is larger than before can be new in what it shares.
void TaskFlow::require_apart(std::span<const Access> accesses, const char* label)
{
    const auto names = [&](const Datum& datum) {
        return std::ranges::any_of(accesses, [&](const Access& access) { return access.datum.address == datum.address; });
    };
    for (const Access& access : accesses) {
        const std::uintptr_t span = span_of(access.datum);
        DependenceTable::Entry* const known = dependences_.in_use(access.datum.address);
        if (span == 0 || (known && known->span >= span)) continue;
        while (const std::optional<Datum> other = overlaps_->find(access.datum)) {
            if (names(*other) || dependences_.in_use(other->address)) refuse_overlap(label, access.datum, *other);
            overlaps_->remove(other->address);
        }
        if (known) known->span = span;
        overlaps_->add(access.datum);
    }
    if (overlaps_->size() > 4 * dependences_.capacity())
        overlaps_->remove_if([&](const Datum& datum) { return !names(datum) && !dependences_.in_use(datum.address); });
}

Task& TaskFlow::begin(const Codelet& codelet, const Arguments& arguments, std::span<const Access> accesses,
                      const TaskOptions& options)
{
    executor_.submitting(*this);
    if (cancelled()) throw Error(ErrorCode::cancelled, "the flow was cancelled");
    const char* const label = options.label ? options.label : codelet.name;
    for (const Access& access : accesses) {
        if (access.datum.owner != 0) [[unlikely]]
            refuse_owner(executor_.name(), label, access.datum);
        if (access.datum.is_name() && executor_.computes()) [[unlikely]]
            refuse_name(label);
    }
    const bool anywhere = codelet.core && !codelet.can; // every executor has cores
    if (!anywhere && executor_.computes() && !executor_.can_run(codelet, arguments.data))
        throw Error(ErrorCode::missing_backend,
                    std::string("the kernel '") + codelet.name + "' can only be simulated; no kernel library here computes it");
    make_room(accesses.size());
    if (overlaps_) require_apart(accesses, label);
    Task& task = pool_.take();
    task.codelet = &codelet;
    task.label = label;
    task.flow = this;
    task.access_count = static_cast<int>(accesses.size());
    task.depth = depth_;
    task.node = static_cast<std::int16_t>(options.node != any_node ? options.node : options_.node);
    task.args = task.storage;
    task.accesses = task.nodes;
    task.data = task.named;
    try {
        if (arguments.bytes > Task::inline_bytes) task.args = ::operator new (arguments.bytes, std::align_val_t{64});
        if (accesses.size() > Task::inline_accesses) {
            task.accesses = new AccessNode[accesses.size()];
            task.data = new Datum[accesses.size()];
        }
    } catch (...) {
        if (task.accesses != task.nodes) delete[] task.accesses;
        if (task.args != task.storage) ::operator delete (task.args, std::align_val_t{64});
        task.dead_groups = nullptr;
        pool_.give_back(task);
        throw;
    }
    fill_nodes(task, accesses);
    task.dead_groups = nullptr;
    task.doomed.store(false, std::memory_order_relaxed);
    task.priority.store(options.priority, std::memory_order_relaxed);
    task.order.store(submitted_++, std::memory_order_relaxed);
    return task;
}

void TaskFlow::take(const Codelet& codelet, const Arguments& arguments, std::span<const Access> accesses,
                    const TaskOptions& options)
{
    const StandardFloatModes standard;
    const Flops flops = codelet.flops ? codelet.flops(arguments.data) : 0;
    Task& task = begin(codelet, arguments, accesses, options);
    task.flops = flops;
    arguments.move(task.args, arguments.data);
    commit(task, accesses);
}

void TaskFlow::commit(Task& task, std::span<const Access> accesses) noexcept
{
    --credit_;
    task.next = nullptr;
    if (at_steal()) return postpone(task, accesses);
    if (throttle_ && throttled()) return run_inline(task, accesses);
    if (connect(task, accesses, 0)) {
        if (Task* chain = admit(&task)) executor_.submitted(*chain);
    } else if (options_.traits.throttle_ready) waiting_.fetch_add(1, std::memory_order_relaxed);
}

/// Asked when the task at hand is among the pending ones.
bool TaskFlow::throttled() const
{
    if (!options_.traits.throttle_ready) return pending() > throttle_;
    return pending() - 1 - waiting_.load(std::memory_order_relaxed) > throttle_;
}

/// Enters the task into the graph; true when nothing keeps it from running. `held`: units that the caller keeps, so that it does
/// not become ready before they are given back.
bool TaskFlow::connect(Task& task, std::span<const Access> accesses, int held) noexcept
{
    // Once some tasks have levels all do: the paths to the end of the graph lead through the others, too.
    const bool derive = options_.priorities == Priorities::derived ||
                        (options_.priorities == Priorities::automatic && (task.codelet->flops || bottom_levels_));
    if (derive) derive_priority(task, accesses);
    // One unit is the submitter's own, so that the task cannot start half submitted.
    task.unmet.store(task.access_count + 1 + held, std::memory_order_relaxed);
    int granted = 1;
    for (int i = 0; i < task.access_count; ++i)
        granted += task.accesses[i].task ? dependences_.join(task.accesses[i], accesses[i]) : true;
    // Acquire: if we took the last unit, what the releasing tasks wrote is visible to whom we pass the task on.
    return task.unmet.fetch_sub(granted, std::memory_order_acq_rel) == granted;
}

/// Too many tasks are pending: the submitter waits for what the task depends on, helping meanwhile, and runs it itself. Each
/// turn of the loop ends when one more task has finished.
void TaskFlow::run_inline(Task& task, std::span<const Access> accesses) noexcept
{
    connect(task, accesses, 1);
    while (true) {
        // Counted before the look: what the task still waits for then is among those counted, because a task that finishes first
        // releases others and then stops counting. The other way round it might be over in between, and we would wait for
        // ourselves.
        const std::int64_t target = pending() - 1;
        if (task.unmet.load(std::memory_order_acquire) == 1) break;
        executor_.drain(*this, target);
    }
    task.unmet.store(0, std::memory_order_relaxed);
    Task* admitted = admit(&task);
    if (admitted && !executor_.run_here(task)) executor_.ready(admitted);
}

void TaskFlow::postpone(Task& task, std::span<const Access> accesses) noexcept
{
    try {
        Postponed entry{&task, {accesses.begin(), accesses.end()}};
        std::lock_guard lock(discovery_mutex_);
        undiscovered_.push_back(std::move(entry));
        undiscovered_accesses_ += static_cast<int>(accesses.size());
        undiscovered_count_.store(static_cast<std::int64_t>(undiscovered_.size()), std::memory_order_release);
    } catch (const std::bad_alloc&) {
        // No memory to put it off: find its dependences now, after those of all before it.
        int found = 1;
        while (found)
            if (Task* chain = discover(64, found)) executor_.ready(chain);
        std::unique_lock lock(discovery_mutex_);
        const bool unhindered = connect(task, accesses, 0);
        lock.unlock();
        if (!unhindered) return;
        if (Task* chain = admit(&task)) executor_.ready(chain);
        return;
    }
    executor_.undiscovered(*this);
}

Task* TaskFlow::discover(int count, int& found) noexcept
{
    Task* unhindered = nullptr;
    Task** end = &unhindered;
    std::unique_lock lock(discovery_mutex_);
    for (found = 0; found < count && !undiscovered_.empty(); ++found) {
        const Postponed& entry = undiscovered_.front();
        undiscovered_accesses_ -= static_cast<int>(entry.accesses.size());
        if (connect(*entry.task, entry.accesses, 0)) {
            *end = entry.task;
            end = &entry.task->next;
        }
        undiscovered_.pop_front();
    }
    undiscovered_count_.store(static_cast<std::int64_t>(undiscovered_.size()), std::memory_order_release);
    lock.unlock();
    return unhindered ? admit(unhindered) : nullptr;
}

void Executor::submitted(Task& task) { ready(&task); }

std::span<const ComputeUnit> Executor::units() const
{
    static constexpr ComputeUnit one_core;
    return {&one_core, 1};
}

bool Executor::can_run(const Codelet& codelet, const void* args) const
{
    return std::ranges::any_of(units(), [&](const ComputeUnit& unit) { return unit.can_run(codelet, args); });
}

void Executor::undiscovered(TaskFlow& flow)
{
    int found = 1;
    while (found)
        if (Task* chain = flow.discover(1, found)) ready(chain);
}

void TaskFlow::derive_priority(Task& task, std::span<const Access> accesses) noexcept
{
    try {
        if (!bottom_levels_) bottom_levels_ = std::make_unique<BottomLevels>(options_.window);
        bottom_levels_->add(task, {task.accesses, accesses.size()}, accesses, executor_.estimate(*task.codelet, task.flops),
                            task.priority.load(std::memory_order_relaxed));
    } catch (const std::bad_alloc&) {
        // A priority is advice: without memory for it the task keeps the caller's.
    }
}

/// A task all of whose accesses are granted still waits for its turn on commute data. All or none are claimed at once,
/// so that two tasks cannot hold one each and wait for the other. Takes a chain, returns those that may run.
Task* TaskFlow::admit(Task* chain)
{
    Task* admitted = nullptr;
    Task** end = &admitted;
    while (chain) {
        Task* task = chain;
        chain = chain->next;
        if (task->has_commute && !claim(*task)) continue;
        task->next = nullptr;
        *end = task;
        end = &task->next;
    }
    return admitted;
}

bool TaskFlow::claim(Task& task)
{
    std::lock_guard lock(rare_mutex_);
    const auto commutes = [](const AccessNode& node) { return node.task && node.mode == AccessMode::commute; };
    AccessNode* const nodes = task.accesses;
    for (int i = 0; i < task.access_count; ++i) {
        if (!commutes(nodes[i]) || !nodes[i].group->commute_taken) continue;
        task.next = nodes[i].group->parked;
        nodes[i].group->parked = &task;
        return false;
    }
    for (int i = 0; i < task.access_count; ++i)
        if (commutes(nodes[i])) nodes[i].group->commute_taken = true;
    return true;
}

/// The turn passes on; returns the tasks that waited for it, to be admitted again.
Task* TaskFlow::give_up_claims(Task& task)
{
    std::lock_guard lock(rare_mutex_);
    Task* waiting = nullptr;
    for (int i = 0; i < task.access_count; ++i) {
        const AccessNode& node = task.accesses[i];
        if (!node.task || node.mode != AccessMode::commute) continue;
        node.group->commute_taken = false;
        while (Task* parked = node.group->parked) {
            node.group->parked = parked->next;
            parked->next = waiting;
            waiting = parked;
        }
    }
    return waiting;
}

void* TaskFlow::part(Task& task, int access)
{
    const bool known = access >= 0 && access < task.access_count && task.accesses[access].task;
    if (!known || task.accesses[access].mode != AccessMode::reduce)
        throw Error(ErrorCode::bad_argument,
                    "access " + std::to_string(access) + " of task '" + task.label + "' is not a reduce access");
    AccessNode& node = task.accesses[access];
    if (node.part) return node.part;
    std::lock_guard lock(rare_mutex_);
    return node.part = acquire_part(*node.group);
}

void TaskFlow::note_failure(std::uint64_t order, std::exception_ptr failure)
{
    std::lock_guard lock(rare_mutex_);
    if (failure_ && failure_order_ <= order) return;
    failure_ = std::move(failure);
    failure_order_ = order;
}

void TaskFlow::free_blocks(Task& task)
{
    if (task.codelet->destroy) task.codelet->destroy(task.args);
    if (task.args != task.storage) ::operator delete (task.args, std::align_val_t{64});
    if (task.accesses != task.nodes) delete[] task.accesses;
    if (task.data != task.named) delete[] task.data;
}

Task* TaskFlow::finish(Task& task, std::exception_ptr failure)
{
    const bool spoilt = failure || task.doomed.load(std::memory_order_relaxed);
    if (failure) note_failure(task.order.load(std::memory_order_relaxed), std::move(failure));
    if (task.has_reduce) {
        std::lock_guard lock(rare_mutex_);
        for (int i = 0; i < task.access_count; ++i) {
            AccessNode& node = task.accesses[i];
            if (node.task && node.mode == AccessMode::reduce && node.part) return_part(*node.group, node.part);
        }
    }
    Task* ready = task.has_commute ? give_up_claims(task) : nullptr;
    Task** end = &ready;
    while (*end) end = &(*end)->next;
    for (int i = 0; i < task.access_count; ++i) {
        AccessNode* member = leave(task.accesses[i], spoilt); // the last submitted first
        Task** const first = end;
        while (member) {
            AccessNode* next = member->next_waiting;
            Task* waiting = member->task;
            member->part = nullptr;
            // Release: what this task wrote; acquire: what the other predecessors wrote.
            if (waiting->unmet.fetch_sub(1, std::memory_order_acq_rel) == 1) {
                if (options_.traits.throttle_ready) waiting_.fetch_sub(1, std::memory_order_relaxed);
                Task** const at = options_.traits.release_oldest ? first : end;
                waiting->next = std::exchange(*at, waiting);
                if (!waiting->next) end = &waiting->next;
            }
            member = next;
        }
    }
    ready = ready ? admit(ready) : nullptr;
    free_blocks(task);
    task.order.store(Task::finished, std::memory_order_relaxed);
    pool_.give_back(task);
    // From here on the flow may be gone, unless the word says that its owner sleeps until we wake it.
    const std::int64_t before = state_.fetch_sub(one_task, std::memory_order_acq_rel);
    if (before == suspended + one_task) executor_.wake_owner(*this);
    return ready;
}

void TaskFlow::settle_credit()
{
    if (credit_) state_.fetch_sub(one_task * credit_, std::memory_order_relaxed);
    credit_ = 0;
}

bool TaskFlow::begin_suspension(std::int64_t target, void* waiter)
{
    settle_credit();
    target_ = target;
    waiter_ = waiter;
    // Release publishes waiter_ to the finisher that sees the bit. From here on the word counts down to the target; if it is
    // there already, no finisher will reach it from above any more, so nobody wakes us: take the bit back.
    const std::int64_t before = state_.fetch_add(suspended - one_task * target, std::memory_order_acq_rel);
    if (before > one_task * target) return true;
    end_suspension(target);
    return false;
}

bool TaskFlow::end_suspension(std::int64_t target)
{
    target_ = 0;
    const std::int64_t before = state_.fetch_sub(suspended - one_task * target, std::memory_order_acq_rel);
    return before > suspended;
}

void TaskFlow::wait()
{
    {
        std::unique_lock lock(discovery_mutex_, std::defer_lock);
        if (at_steal()) lock.lock();
        if (bottom_levels_) bottom_levels_->sweep();
    }
    executor_.drain(*this, 0);
    dependences_.clear();
    const bool was_cancelled = cancelled();
    cancelled_.store(false, std::memory_order_relaxed);
    lost_values_.store(false, std::memory_order_relaxed);
    std::unique_lock lock(rare_mutex_);
    if (std::exception_ptr failure = std::exchange(failure_, nullptr)) {
        lock.unlock();
        std::rethrow_exception(failure);
    }
    if (was_cancelled) throw Error(ErrorCode::cancelled, "the flow was cancelled");
}

} // namespace trencadis
