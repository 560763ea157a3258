#include "engines/starpu/shared_flow.hpp"

#include "base/error.hpp"
#include "engines/starpu/bottom_levels.hpp"
#include "graph/owner_computes.hpp"
#include "graph/refusals.hpp"

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

namespace trencadis {
namespace {

constexpr std::size_t most_tasks_held = 1024;

/// What this thread submits becomes ready before a worker can have it.
thread_local bool submitting = false;

/// What is there for the order alone has one, which is sent.
std::size_t bytes_of(const Datum& datum) { return std::size_t(std::max(datum.bytes(), 1.0)); }

bool holds(const Datum& whole, const Datum& part)
{
    if (part.bytes() > whole.bytes()) return false;
    return part.element != whole.element || (part.rows <= whole.rows && part.cols <= whole.cols);
}

AccessMode one_at_a_time(AccessMode mode)
{
    switch (mode) {
    case AccessMode::concurrent_write: return AccessMode::commute;
    case AccessMode::reduce: return AccessMode::readwrite;
    default: return mode;
    }
}

} // namespace

SharedFlow::SharedFlow(StarpuTenancy& tenancy, StarpuGroup& group, NamedMemory& memory, const Home& home,
                       const RunOptions& options, const AtHome& at_home)
    : OwnFlow(home, options.flow), tenancy_(tenancy), group_(group), at_home_(at_home), interruption_(options.interrupted),
      most_held_(std::min<std::size_t>(std::size_t(options.flow.window) / 2, most_tasks_held)), plan_(group.rank()),
      memory_(memory), sent_to_(std::size_t(group.size())), received_from_(std::size_t(group.size())), starpu_(tenancy.begin())
{
}

SharedFlow::~SharedFlow()
{
    SharedFlow::await_all();
    tenancy_.end();
}

void SharedFlow::hand_over(std::unique_ptr<OwnTask> task)
{
    if (interruption_.came()) cancel();
    const std::int16_t executor = executor_of(task->accesses());
    if (executor < 0 || executor >= group_.size())
        throw Error(ErrorCode::bad_argument, std::string("task '") + task->label() + "' is for process " +
                                                 std::to_string(executor) + " of " + std::to_string(group_.size()));
    require_first_shape(*task);
    held_.push_back(std::move(task));
    if (held_.size() >= most_held_) submit_held();
}

void SharedFlow::require_first_shape(const OwnTask& task)
{
    std::vector<const void*> fresh; // of a task that is refused nobody is to remember anything
    for (const Access& access : task.accesses()) {
        const auto [first, is_new] = first_named_.try_emplace(access.datum.address, access.datum);
        if (is_new) fresh.push_back(access.datum.address);
        if (is_new || holds(first->second, access.datum)) continue;
        const Datum known = first->second;
        for (const void* const address : fresh) first_named_.erase(address);
        refuse_larger(task.label(), access.datum, known);
    }
}

void SharedFlow::submit_held()
{
    std::vector<std::unique_ptr<OwnTask>> held = std::exchange(held_, {}); // whatever becomes of one, none is submitted twice
    const std::vector<double> levels = bottom_levels(held, tenancy_.settings().flops_per_second);
    for (std::size_t i = 0; i < held.size(); ++i) submit(std::move(held[i]), levels[i]);
}

void SharedFlow::await_all()
{
    submit_held();
    unfinished_.await(0, interruption_, [this] { cancel(); });
    for (const auto& [address, datum] : data_) {
        if (!datum.handle) continue;
        if (datum.datum.is_name()) starpu_.leave(datum.handle);
        else tenancy_.give_back(datum.datum, datum.handle);
    }
    data_.clear();
    first_named_.clear();
    numbered_.clear();
    plan_.clear();
}

SharedFlow::Registered& SharedFlow::known(const Datum& datum)
{
    const auto [place, is_new] = data_.try_emplace(datum.address, Registered{datum, Number(numbered_.size())});
    if (!is_new) return place->second;
    if (at_home_) place->second.datum = datum.owner == group_.rank() ? at_home_(datum) : datum.at_home(named_only);
    numbered_.push_back(&place->second);
    return place->second;
}

/// StarPU does not let anybody read what nobody has written. Work memory that a form begins to use so is zero.
StarpuRuntime::Handle SharedFlow::handle_of(Registered& datum, bool overwrites)
{
    if (datum.handle) return datum.handle;
    if (!datum.datum.is_name()) return datum.handle = tenancy_.take(datum.datum);
    const std::size_t bytes = bytes_of(datum.datum);
    datum.memory = std::make_shared<NamedMemory::Value>(memory_, bytes);
    if (!overwrites) std::memset(datum.memory->data(), 0, bytes);
    Datum here = datum.datum.at_home(any_node);
    here.address = datum.memory->data();
    here.ld = here.element ? Index(here.rows) : Index(bytes);
    return datum.handle = starpu_.enter(here);
}

/// What fails here leaves the others without what they wait for.
void SharedFlow::submit(std::unique_ptr<OwnTask> task, double derived)
try {
    const std::int16_t executor = executor_of(task->accesses());
    const double priority = task->priority() + derived;
    uses_.clear();
    task->for_each_datum([&](const Datum& datum, AccessMode mode) {
        const bool last = std::ranges::any_of(
            task->accesses(), [&](const Access& access) { return access.last && access.datum.address == datum.address; });
        uses_.push_back(
            {known(datum).number, datum.owner, mode, last, last && known(datum).datum.is_name() && datum.owner == group_.rank()});
    });
    const OwnerComputes::Step& step = plan_.next(executor, uses_);
    for (const OwnerComputes::Move& one : step.before) move(one, priority);
    if (executor == group_.rank()) give(std::move(task), priority);
    else finish(std::move(task));
    for (const OwnerComputes::Move& one : step.after) move(one, priority);
    for (const Number number : step.dropped) drop(number);
} catch (const std::exception& failure) {
    if (group_.size() == 1) throw;
    group_.abort(failure.what());
}

void SharedFlow::move(const OwnerComputes::Move& move, double priority)
{
    Registered& datum = *numbered_[move.datum];
    const std::size_t bytes = bytes_of(datum.datum);
    if (!move.sends) memory_.await_room(bytes, interruption_, [this] { cancel(); });
    const StarpuRuntime::Handle handle = handle_of(datum, !move.sends);
    auto message = std::make_unique<Message>(Message{*this, datum.memory});
    unfinished_.begin();
    if (move.sends) {
        group_.send(handle, move.other, sent_to_[std::size_t(move.other)]++, priority, &SharedFlow::arrived, message.get());
        ++sent_messages_;
        sent_bytes_ += double(bytes);
    } else group_.receive(handle, move.other, received_from_[std::size_t(move.other)]++, &SharedFlow::arrived, message.get());
    (void)message.release(); // its own now
}

void SharedFlow::arrived(void* message)
{
    const std::unique_ptr<Message> ours(static_cast<Message*>(message));
    SharedFlow& flow = ours->flow;
    ours->memory = nullptr; // before the flow may go
    flow.unfinished_.end();
}

void SharedFlow::drop(Number number)
{
    Registered& datum = *numbered_[number];
    if (!datum.handle || !datum.datum.is_name()) return;
    starpu_.leave_later(datum.handle);
    datum.handle = nullptr;
    datum.memory->drop();
    datum.memory = nullptr;
}

void SharedFlow::give(std::unique_ptr<OwnTask> task, double priority)
{
    unfinished_.await(options().window - 1, interruption_, [this] { cancel(); });
    auto ticket = std::make_unique<Ticket>(*this, std::move(task));
    const OwnTask& submitted = *ticket->task;
    given_.clear();
    submitted.for_each_datum([&](const Datum& named, AccessMode mode) {
        Registered& datum = known(named);
        given_.push_back({handle_of(datum, mode == AccessMode::write), one_at_a_time(mode)});
        if (datum.memory) ticket->uses.push_back(datum.memory);
    });
    for (const Access& access : submitted.accesses()) {
        const StarpuRuntime::Handle handle = known(access.datum).handle;
        const auto same = [&](const StarpuRuntime::Use& use) { return use.handle == handle; };
        ticket->places.push_back(std::uint32_t(std::ranges::find_if(given_, same) - given_.begin()));
    }
    unfinished_.begin();
    submitting = true;
    try {
        starpu_.submit({submitted.codelet(), submitted.label(), priority, submitted.flops(), given_, ticket.get(), true});
        (void)ticket.release(); // its own, which may be through with it by now
    } catch (...) {
        submitting = false;
        unfinished_.end();
        throw;
    }
    submitting = false;
    tenancy_.wake();
}

void SharedFlow::run(Ticket& ticket, int worker, void* const* places)
{
    std::vector<Operand> operands;
    try {
        for (std::size_t i = 0; i < ticket.places.size(); ++i) {
            operands.push_back(starpu_.place(places, ticket.places[i]));
            const Datum& datum = ticket.task->accesses()[i].datum;
            if (!datum.element) operands.back().ld = datum.ld;
        }
        OwnFlow::run(*ticket.task, worker, operands);
    } catch (...) { // no memory
        fail(*ticket.task, std::current_exception());
    }
}

/// Only tasks that can run keep workers awake: those that wait for messages may wait for long.
void SharedFlow::Ticket::ready()
{
    flow.tenancy_.task_begins();
    if (!submitting) flow.tenancy_.wake_for_ready_task();
}

void SharedFlow::Ticket::run(int worker, void* const* where)
{
    SharedFlow& its_flow = flow;
    its_flow.run(*this, worker, where);
    its_flow.finish(std::move(task));
    delete this;
    its_flow.tenancy_.task_ends();
    its_flow.unfinished_.end();
}

} // namespace trencadis
