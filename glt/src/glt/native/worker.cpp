#include "glt/native/runtime.hpp"

#include <ctime>
#include <sched.h>
#include <utility>

namespace trencadis::ult {

using boost::context::detail::transfer_t;

constinit thread_local Worker* worker_here = nullptr;

[[gnu::noinline]] Worker* this_worker()
{
    asm volatile("" ::: "memory");
    return worker_here;
}

void Worker::arrived(transfer_t transfer, FiberTrace& here)
{
    here.arrive(departure.trace);
    *departure.sp = transfer.fctx;
    switch (std::exchange(departure.action, Departure::none)) {
    case Departure::none: break;
    case Departure::park: {
        // Woken between its announcement and now, it is still ours to send on.
        std::uint64_t expected = departure.sequence << 3 | armed;
        if (!departure.unit->wait_word.compare_exchange_strong(expected, departure.sequence << 3 | parked,
                                                               std::memory_order_acq_rel, std::memory_order_acquire))
            ready(departure.unit);
        break;
    }
    case Departure::send: send_home(departure.unit); break;
    case Departure::shelve: stacks.give(stack_cache, departure.stack); break;
    }
}

/// Of what `unit` (null: the search for work) begins on.
inline unsigned stack_class_for(const Unit* unit)
{
    return unit && !unit->has(Unit::is_tasklet) ? unit->stack_class : runtime->stack_class;
}

/// Null without memory.
inline Stack* Worker::stack_for(const Unit* unit) { return stacks.take(stack_cache, stack_class_for(unit)); }

/// There is no memory for the stack of `unit`: waits for some, or for another unit that has its own. `self`, if there is one, was
/// about to leave and still runs here: until it has left it stands in no queue, since `next` or a thief would take it to where it
/// left the last time. It is the answer, and goes on, where its wait is over meanwhile, and where a yield finds nobody else.
Unit* Worker::without_stack(Unit* unit, Unit* self, Stack*& stack)
{
    const bool yields = self && fifo.remove(self), parks = self && departure.action == Departure::park;
    tell_of_memory(unit);
    for (bool again = true; again; again = !yields) {
        const timespec moment{0, 1'000'000};
        nanosleep(&moment, nullptr);
        if (unit) fifo.push(unit);
        // Who wakes a unit that is armed leaves it to whoever comes after it on its thread, and puts it nowhere.
        if (parks && (self->wait_word.load(std::memory_order_acquire) & 7) != armed) return self;
        unit = next();
        if (yields && !unit) return self;
        if ((unit && unit->sp) || (stack = stack_for(unit))) {
            if (yields) fifo.push(self);
            return unit;
        }
    }
    fifo.push(unit);
    return self;
}

void Worker::tell_of_memory(const Unit* unit)
{
    constexpr std::int64_t second = 1'000'000'000; // a unit that yields may come here again and again
    const std::int64_t now = now_ns();
    if (told_ != 0 && now - told_ < second) return;
    told_ = now;
    report(GLT_ERROR_MEMORY, "glt: no memory for a stack of %zu bytes; thread %u waits for one",
           stack_class_size(stack_class_for(unit)), number);
}

/// Where to jump so that `unit` runs (null: to a stack that looks for work). Null where there is no memory for that and `self`,
/// who was about to leave, goes on.
inline void* Worker::aim_at(Unit* unit, FiberTrace*& trace, Unit* self)
{
    if (!unit || !unit->sp) {
        Stack* stack = stack_for(unit);
        if (!stack) [[unlikely]] {
            unit = without_stack(unit, self, stack);
            if (self && unit == self) return nullptr;
        }
        if (stack) {
            current = nullptr;
            given = unit;
            entered = stack;
            trace = &stack->trace;
            return stack->sp;
        }
    }
    current = unit;
    trace = &trace_of(unit);
    return unit->sp;
}

void Worker::switch_to(Unit* unit, Unit* self)
{
    FiberTrace* to = nullptr;
    void* target = aim_at(unit, to, self);
    if (!target) [[unlikely]] {
        departure.action = Departure::none;
        return;
    }
    FiberTrace& here = trace_of(self);
    const Exceptions mine = *exceptions;
    departure.sp = &self->sp;
    departure.trace = &here;
    here.leave(*to, false);
    const transfer_t transfer = jump(target, this);
    Worker* worker = static_cast<Worker*>(transfer.data);
    worker->arrived(transfer, here);
    *worker->exceptions = mine;
}

void Worker::leave(Stack* me, Unit* unit)
{
    FiberTrace* to = &base_trace;
    void* target = unit ? aim_at(unit, to, nullptr) : base_sp;
    departure = {&me->sp, Departure::shelve, nullptr, 0, me, &me->trace};
    me->trace.leave(*to, false);
    const transfer_t transfer = jump(target, this);
    Worker* worker = static_cast<Worker*>(transfer.data);
    worker->arrived(transfer, me->trace);
    *worker->exceptions = Exceptions{};
}

void Worker::serve()
{
    FiberTrace* to = nullptr;
    base_trace.adopt();
    void* target = aim_at(nullptr, to, nullptr);
    departure.sp = &base_sp;
    departure.trace = &base_trace;
    base_trace.leave(*to, false);
    const transfer_t transfer = jump(target, this);
    arrived(transfer, base_trace);
}

void Worker::yield(Unit* self)
{
    Unit* unit = next();
    if (!unit) {
        // Alone here. What the unit waits for may be in another thread's queue, or in a thread that lost its core to this one.
        if ((++fruitless_ & 63) == 0 && !(unit = steal()) && (fruitless_ & 1023) == 0) sched_yield();
        if (!unit) return;
    }
    fruitless_ = 0;
    fifo.push(self);
    switch_to(unit, self);
}

void Worker::park(Unit* self, std::uint64_t sequence)
{
    Unit* unit = next();
    departure.action = Departure::park;
    departure.unit = self;
    departure.sequence = sequence;
    switch_to(unit, self);
}

void Worker::move(Unit* self)
{
    Unit* unit = next();
    departure.action = Departure::send;
    departure.unit = self;
    switch_to(unit, self);
}

bool Worker::claim(Unit* unit)
{
    take_in();
    if (hot_ == unit) {
        hot_ = nullptr;
        return true;
    }
    if (fifo.remove(unit)) return true;
    std::vector<Unit*> others;
    Unit* found = nullptr;
    while (!found)
        if (Unit* newest = deque.pop()) (newest == unit ? found : others.emplace_back()) = newest;
        else break;
    for (auto other = others.rbegin(); other != others.rend(); ++other) deque.push(*other);
    return found != nullptr;
}

void Worker::ready(Unit* unit, Turn when)
{
    const bool strict = unit->has(Unit::strict);
    if (strict && unit->home != number) return send_home(unit);
    if (when == Turn::next) {
        Unit* before = std::exchange(hot_, unit);
        if (before) ready(before);
    } else if (strict || when == Turn::last) {
        fifo.push(unit);
    } else {
        deque.push(unit);
        notify();
    }
}

bool Worker::wake()
{
    std::uint32_t expected = 1;
    if (asleep.load(std::memory_order_relaxed) == 0 || !asleep.compare_exchange_strong(expected, 0)) return false;
    runtime->idle.fetch_add(Runtime::searcher - Runtime::sleeper);
    futex_wake(asleep, 1);
    return true;
}

} // namespace trencadis::ult
