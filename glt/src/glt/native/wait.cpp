#include "glt/native/wait.hpp"

#include "glt/native/exit.hpp"

#include <algorithm>
#include <ctime>

namespace trencadis::ult {

std::int64_t now_ns()
{
    timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * std::int64_t{1'000'000'000} + now.tv_nsec;
}

std::int64_t deadline_after(double seconds)
{
    constexpr double longest = 1e9; // 30 years: as good as for ever, and far from the end of the clock
    return now_ns() + static_cast<std::int64_t>(std::min(seconds, longest) * 1e9);
}

std::uint64_t arm(Unit& self)
{
    const std::uint64_t sequence = (self.wait_word.load(std::memory_order_relaxed) >> 3) + 1;
    // A foreign thread is woken by its parker, whether it sleeps already or not.
    const std::uint64_t state = self.has(Unit::is_foreign) ? parked : armed;
    self.wait_word.store(sequence << 3 | state, std::memory_order_release);
    return sequence;
}

bool wake(Unit& unit, std::uint64_t sequence, WaitState how, Turn turn)
{
    std::uint64_t word = unit.wait_word.load(std::memory_order_acquire);
    do
        if (word >> 3 != sequence || ((word & 7) != armed && (word & 7) != parked)) return false;
    while (
        !unit.wait_word.compare_exchange_weak(word, sequence << 3 | how, std::memory_order_acq_rel, std::memory_order_acquire));
    if ((word & 7) == armed) return true; // whoever runs after it on its thread finds out
    if (unit.has(Unit::is_foreign)) unit.parker.unpark();
    else make_ready(&unit, turn);
    return true;
}

namespace {

void start_timer(Unit& self, std::int64_t deadline)
{
    Runtime& all = *runtime;
    bool earlier;
    {
        std::lock_guard hold(all.timers_lock);
        self.deadline = deadline;
        all.timers.insert(&self);
        earlier = all.timers.earliest() < all.next_deadline.load(std::memory_order_relaxed);
        all.next_deadline.store(all.timers.earliest());
    }
    if (earlier && others_idle()) wake_one(); // a sleeper sleeps no longer than to the earliest it knows
}

void stop_timer(Unit& self)
{
    Runtime& all = *runtime;
    std::lock_guard hold(all.timers_lock);
    all.timers.remove(&self);
    all.next_deadline.store(all.timers.earliest());
}

WaitState await_foreign(Unit& self, std::uint64_t sequence, std::int64_t deadline)
{
    for (;;) {
        const std::uint64_t word = self.wait_word.load(std::memory_order_acquire);
        if ((word & 7) != parked) return static_cast<WaitState>(word & 7);
        if (deadline == forever) {
            self.parker.park();
        } else {
            const std::int64_t left = deadline - now_ns();
            if (left > 0) self.parker.park_for(left);
            else wake(self, sequence, timed_out);
        }
    }
}

} // namespace

bool serve_timers()
{
    Runtime& all = *runtime;
    const std::int64_t earliest = all.next_deadline.load(std::memory_order_relaxed);
    if (earliest == forever) return false;
    const std::int64_t now = now_ns();
    if (earliest > now) return false;
    std::lock_guard hold(all.timers_lock);
    bool some = false;
    // A unit leaves the heap before its wait is over for it, so the sequence read here is that of the wait with the deadline.
    while (Unit* unit = all.timers.pop_due(now)) {
        wake(*unit, unit->wait_word.load(std::memory_order_relaxed) >> 3, timed_out);
        some = true;
    }
    all.next_deadline.store(all.timers.earliest());
    return some;
}

WaitState await(Unit& self, std::uint64_t sequence, std::int64_t deadline)
{
    if (self.has(Unit::is_foreign)) return await_foreign(self, sequence, deadline);
    light_fence(); // a cancel either finds the wait announced, or is seen here: it must not be slept through
    if (self.cancelled.load(std::memory_order_relaxed) && !self.has(Unit::exiting)) {
        wake(self, sequence, cancelled_wait);
        return static_cast<WaitState>(self.wait_word.load(std::memory_order_relaxed) & 7);
    }
    if (deadline != forever) start_timer(self, deadline);
    this_worker()->park(&self, sequence);
    if (deadline != forever) stop_timer(self);
    const auto end = static_cast<WaitState>(self.wait_word.load(std::memory_order_acquire) & 7);
    // A cancel wakes whom it finds waiting, also one that may not end here: while its frames are unwound, and while it takes a
    // condition's mutex again. For that one it is a wake for no reason.
    return end == cancelled_wait && self.has(Unit::exiting) ? signalled : end;
}

void WaitQueue::link(Waiter& waiter)
{
    waiter.linked = true;
    waiter.ticket = ++tickets;
    waiter.next = nullptr;
    waiter.previous = last;
    (last ? last->next : first) = &waiter;
    last = &waiter;
}

void WaitQueue::unlink(Waiter& waiter)
{
    waiter.linked = false;
    (waiter.previous ? waiter.previous->next : first) = waiter.next;
    (waiter.next ? waiter.next->previous : last) = waiter.previous;
}

void wake_waiters(WaitQueue& queue, long count)
{
    constexpr int most = 32;
    struct {
        Unit* unit;
        std::uint64_t sequence;
    } batch[most];
    std::uint32_t newest = 0;
    for (bool begun = false, more = true; more && count > 0; begun = true) {
        int taken = 0;
        {
            // A waiter's place is on its stack: it is read under the lock, and only what lasts is taken along.
            std::lock_guard hold(queue.lock);
            if (!begun) newest = queue.tickets; // one that comes back at once is not woken again and again
            more = false;
            while (queue.first && static_cast<std::int32_t>(newest - queue.first->ticket) >= 0) {
                if ((more = taken == most || taken == count)) break;
                Waiter& waiter = *queue.first;
                batch[taken++] = {waiter.unit, waiter.sequence};
                queue.unlink(waiter);
            }
        }
        for (int i = 0; i < taken; ++i)
            if (wake(*batch[i].unit, batch[i].sequence, signalled)) --count;
    }
}

Unit* waiting_self(const char* function)
{
    Worker* worker = worker_here;
    if (!worker) {
        Unit* self = foreign_self();
        if (!self) report(GLT_ERROR_MEMORY, "%s: no memory to wait in", function);
        return self;
    }
    Unit* self = worker->current;
    if (self && !self->has(Unit::is_tasklet)) return self;
    report(GLT_ERROR_CONTEXT, "%s: would wait in a tasklet, which runs to its end; a ULT may wait", function);
    return nullptr;
}

void obey_cancel(Unit& self)
{
    if (self.cancelled.load(std::memory_order_relaxed) && !self.has(Unit::exiting) && !self.has(Unit::is_foreign)) [[unlikely]]
        exit_unit(self);
}

} // namespace trencadis::ult
