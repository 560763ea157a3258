#include "engines/own/own_flow.hpp"

#include "base/error.hpp"
#include "graph/refusals.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <utility>
#include <vector>

namespace trencadis {

OwnFlow::OwnFlow(const Home& home, const FlowOptions& options, OwnFlow* parent) : home_(home), options_(options), parent_(parent)
{
    if (options.window < 1)
        throw Error(ErrorCode::bad_argument, "window is " + std::to_string(options.window) + ", must be at least 1");
    if (options.refuse_overlaps) in_use_ = std::make_unique<InUse>();
}

bool OwnFlow::cancelled() const
{
    for (const OwnFlow* flow = this; flow; flow = flow->parent_)
        if (flow->cancelled_.load(std::memory_order_relaxed)) return true;
    return false;
}

/// A flow of several processes goes on after a cancellation, since others wait for what it sends, and what is a name here is
/// memory with its owner.
void OwnFlow::check(const Codelet& codelet, const Arguments& arguments, std::span<const Access> accesses, const char* label) const
{
    if (cancelled() && !home_.owners) throw Error(ErrorCode::cancelled, "the flow was cancelled");
    for (const Access& access : accesses) {
        if (home_.owners) break;
        if (access.datum.owner != 0) [[unlikely]]
            refuse_owner(home_.engine, label, access.datum);
        if (access.datum.is_name()) [[unlikely]]
            refuse_name(label);
    }
    if (std::ranges::none_of(home_.units, [&](const ComputeUnit& unit) { return unit.can_run(codelet, arguments.data); }))
        throw Error(ErrorCode::missing_backend,
                    std::string("the kernel '") + codelet.name + "' has no unit of " + home_.engine + " that can run it");
}

/// As TaskFlow does: of a datum that is in use only one that is larger than before can be new in what it shares.
void OwnFlow::require_apart(std::span<const Access> accesses, const char* label)
{
    const std::lock_guard lock(in_use_->mutex);
    const auto names = [&](const void* address) {
        return std::ranges::any_of(accesses, [&](const Access& access) { return access.datum.address == address; });
    };
    for (const Access& access : accesses) {
        if (span_of(access.datum) == 0) continue;
        while (const std::optional<Datum> other = in_use_->data.find(access.datum)) {
            if (names(other->address) || in_use_->tasks.contains(other->address)) refuse_overlap(label, access.datum, *other);
            in_use_->data.remove(other->address);
        }
        in_use_->data.add(access.datum);
    }
    for (const Access& access : accesses) ++in_use_->tasks[access.datum.address];
    if (in_use_->data.size() > 4 * in_use_->tasks.size() + 64)
        in_use_->data.remove_if([&](const Datum& datum) { return !in_use_->tasks.contains(datum.address); });
}

void OwnFlow::take(const Codelet& codelet, const Arguments& arguments, std::span<const Access> accesses,
                   const TaskOptions& options)
{
    check(codelet, arguments, accesses, options.label ? options.label : codelet.name);
    TaskOptions placed = options;
    if (placed.node == any_node) placed.node = options_.node;
    auto task = std::make_unique<OwnTask>(*this, submitted_, codelet, arguments, accesses, placed, home_.owners);
    if (in_use_) require_apart(accesses, task->label());
    ++submitted_;
    try {
        hand_over(std::move(task));
    } catch (...) {
        use_ends(accesses);
        throw;
    }
}

void OwnFlow::wait()
{
    await_all();
    const bool was_cancelled = cancelled();
    cancelled_.store(false, std::memory_order_relaxed);
    const FloatModes::Raised raised = raised_.exchange(0, std::memory_order_relaxed);
    std::exception_ptr failure;
    {
        const std::lock_guard lock(mutex_);
        failure = std::exchange(failure_, nullptr);
        spoilt_.clear();
        all_spoilt_ = false;
        failed_.store(false, std::memory_order_relaxed);
    }
    raise_quietly(raised);
    if (failure) std::rethrow_exception(failure);
    if (was_cancelled) throw Error(ErrorCode::cancelled, "the flow was cancelled");
}

bool OwnFlow::may_run(const OwnTask& task) noexcept
{
    if (cancelled()) return false;
    if (!failed_.load(std::memory_order_relaxed)) [[likely]]
        return true;
    const std::lock_guard lock(mutex_);
    return !all_spoilt_ && std::ranges::none_of(task.accesses(), [&](const Access& access) {
        const auto found = spoilt_.find(access.datum.address);
        return found != spoilt_.end() && found->second < task.order();
    });
}

void OwnFlow::spoil(const OwnTask& task) noexcept
{
    if (!failed_.load(std::memory_order_relaxed)) return; // cancelled: nothing runs anyway
    const std::lock_guard lock(mutex_);
    try {
        for (const Access& access : task.accesses())
            if (is_writing(access.mode)) {
                std::uint64_t& first = spoilt_.try_emplace(access.datum.address, task.order()).first->second;
                first = std::min(first, task.order());
            }
    } catch (...) { // no memory
        all_spoilt_ = true;
    }
}

void OwnFlow::fail(const OwnTask& task, std::exception_ptr failure) noexcept
{
    {
        const std::lock_guard lock(mutex_);
        if (!failure_ || task.order() < failure_order_) {
            failure_ = std::move(failure);
            failure_order_ = task.order();
        }
        failed_.store(true, std::memory_order_relaxed);
    }
    spoil(task);
}

void OwnFlow::run(OwnTask& task, WorkerId worker, std::span<const Operand> operands, InnerFlows* inner) noexcept
{
    if (!may_run(task)) return spoil(task);
    try {
        const RunningTask running(home_.books, worker, task, task.order());
        const FloatModes::Raised raised = task.run(home_.units[std::size_t(worker)], worker, operands, *this, inner);
        if (raised & ~raised_.load(std::memory_order_relaxed)) raised_.fetch_or(raised, std::memory_order_relaxed);
    } catch (...) {
        fail(task, std::current_exception());
    }
}

void OwnFlow::run_at_home(OwnTask& task, WorkerId worker, InnerFlows* inner) noexcept
{
    constexpr std::size_t usual = 8;
    const std::span<const Access> accesses = task.accesses();
    std::array<Operand, usual> here;
    std::vector<Operand> elsewhere;
    try {
        if (accesses.size() > usual) elsewhere.resize(accesses.size());
    } catch (...) {
        return fail(task, std::current_exception());
    }
    Operand* const operands = elsewhere.empty() ? here.data() : elsewhere.data();
    for (std::size_t i = 0; i < accesses.size(); ++i) operands[i] = at_home(accesses[i].datum);
    run(task, worker, {operands, accesses.size()}, inner);
}

void OwnFlow::use_ends(std::span<const Access> accesses) noexcept
{
    if (!in_use_) return;
    const std::lock_guard lock(in_use_->mutex);
    for (const Access& access : accesses)
        if (const auto users = in_use_->tasks.find(access.datum.address); --users->second == 0) in_use_->tasks.erase(users);
}

} // namespace trencadis
