#pragma once
#include "glt/native/runtime.hpp"

#include <mutex>

namespace trencadis::ult {

// One way to wait for everything, for units and foreign threads alike. A wait has a sequence number of its own; wait_word says
// how far it is:
//   armed      announced; the waiter still runs
//   parked     off its core (a foreign thread: about to sleep in the operating system)
//   signalled, timed_out, cancelled_wait     how it ended; whoever changes armed or parked to one of these wakes the waiter
// A wait may end for no reason (a late wake of an earlier one), so all callers look again at what they wait for.

/// Seconds as a point in time; `never` for none.
constexpr std::int64_t forever = TimerHeap<Unit>::never;
std::int64_t deadline_after(double seconds);

/// Announces a wait of the calling unit or thread; the number goes to whoever is to wake it.
std::uint64_t arm(Unit& self);
/// The wait `sequence` until it is woken, `deadline` or a cancel. Never cancelled_wait for a unit that is `exiting`: it waits
/// until it has what it waits for.
WaitState await(Unit& self, std::uint64_t sequence, std::int64_t deadline);
/// Ends the wait; false if it had ended already.
bool wake(Unit& unit, std::uint64_t sequence, WaitState how, Turn turn = Turn::any);

/// The caller as something that can wait; null, and GLT_ERROR_CONTEXT reported for `function`, where it is a tasklet.
Unit* waiting_self(const char* function);
/// The calling foreign thread's record; null without memory.
Unit* foreign_self();
/// If the caller is to end, unwinds it: after a wait that was cancelled, at a yield.
void obey_cancel(Unit& self);

/// A place in a wait queue, on the waiter's stack.
struct Waiter {
    Unit* unit;
    std::uint64_t sequence = 0;
    Waiter* next = nullptr;
    Waiter* previous = nullptr;
    std::uint32_t ticket = 0;
    bool linked = false;
};

/// Waiters in the order they came. The lock also guards what they wait for; it is held for a few instructions and never over a
/// switch.
struct WaitQueue {
    Lock lock;
    std::uint32_t tickets; ///< given out so far
    Waiter* first;
    Waiter* last;
    void link(Waiter& waiter);
    void unlink(Waiter& waiter);
    bool empty() const { return first == nullptr; }
};

/// Wakes the first `count` of those who wait now; the caller does not hold the lock.
void wake_waiters(WaitQueue& queue, long count);

/// Waits until `ready()`, which is asked under the queue's lock. `signalled`: ready.
template <class Ready> WaitState wait_until(WaitQueue& queue, Unit& self, std::int64_t deadline, Ready ready)
{
    Waiter waiter{&self};
    WaitState end = signalled;
    for (;;) {
        {
            std::lock_guard hold(queue.lock);
            if (waiter.linked) queue.unlink(waiter);
            if (ready()) return signalled;
            if (end != signalled) return end;
            waiter.sequence = arm(self);
            queue.link(waiter);
        }
        end = await(self, waiter.sequence, deadline);
    }
}

} // namespace trencadis::ult
