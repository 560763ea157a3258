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

Stack* Worker::stack_for(Unit*& unit)
{
    const unsigned wanted = unit && !unit->has(Unit::is_tasklet) ? unit->stack_class : runtime->stack_class;
    if (Stack* stack = stacks.take(stack_cache, wanted)) [[likely]]
        return stack;
    report(GLT_ERROR_MEMORY, "glt: no memory for a stack of %zu bytes; thread %u waits for one", stack_class_size(wanted),
           number);
    for (;;) {
        const timespec moment{0, 1'000'000};
        nanosleep(&moment, nullptr);
        if (unit) fifo.push(unit);
        unit = next();
        if (unit && unit->sp) return nullptr;
        const unsigned needed = unit && !unit->has(Unit::is_tasklet) ? unit->stack_class : runtime->stack_class;
        if (Stack* stack = stacks.take(stack_cache, needed)) return stack;
    }
}

/// Where to jump so that `unit` runs (null: to a stack that looks for work).
inline void* Worker::aim_at(Unit* unit, FiberTrace*& trace)
{
    if (!unit || !unit->sp) {
        if (Stack* stack = stack_for(unit)) {
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
    void* target = aim_at(unit, to);
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
    void* target = unit ? aim_at(unit, to) : base_sp;
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
    void* target = aim_at(nullptr, to);
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
