// Barrier, counter, event: a queue and a condition that is looked at under its lock.
#include "glt/native/objects.hpp"

#include "glt/native/keys.hpp"
#include "trencadis/glt/native/library.h"

namespace trencadis::ult {
namespace {

constexpr long everybody = std::numeric_limits<long>::max();

/// A status: waits until `ready()`, `seconds` at most (negative: no limit).
template <class Ready> int wait_status(Object& object, double seconds, const char* function, Ready ready)
{
    if (ready()) return GLT_SUCCESS;
    Unit* self = waiting_self(function);
    if (!self) return GLT_ERROR_CONTEXT;
    obey_cancel(*self);
    const WaitState end = wait_until(object.queue, *self, seconds < 0 ? forever : deadline_after(seconds), ready);
    if (end == cancelled_wait) obey_cancel(*self);
    return end == signalled ? GLT_SUCCESS : GLT_TIMEOUT;
}

int bad(void) { return runtime ? GLT_ERROR_HANDLE : GLT_ERROR_STATE; }

int bad_time(const char* function, double seconds)
{
    return report(GLT_ERROR_VALUE, "%s: seconds is %g, not 0 or more", function, seconds);
}

/// A status. At 0 all waiters go on.
int add(Object& counter, long change)
{
    long before = counter.count.load(std::memory_order_relaxed), after;
    do
        if (__builtin_add_overflow(before, change, &after) || after < 0) return GLT_ERROR_VALUE;
    while (!counter.count.compare_exchange_weak(before, after, std::memory_order_acq_rel, std::memory_order_relaxed));
    if (after == 0) wake_waiters(counter.queue, everybody);
    return GLT_SUCCESS;
}

int wait_counter(GLT_counter counter, double seconds, const char* function)
{
    Object* object = object_of(counter, Kind::counter, function);
    if (!object) return bad();
    return wait_status(*object, seconds, function, [=] { return object->count.load(std::memory_order_acquire) == 0; });
}

int wait_event(GLT_event event, double seconds, const char* function)
{
    Object* object = object_of(event, Kind::event, function);
    if (!object) return bad();
    return wait_status(*object, seconds, function, [=] { return object->event_set.load(std::memory_order_acquire) != 0; });
}

} // namespace

void count_down(std::uint64_t counter)
{
    if (Slot* slot = object_slots.find(counter, Kind::counter)) add(*static_cast<Object*>(slot), -1);
}

} // namespace trencadis::ult

using namespace trencadis::ult;

extern "C" {

void glt_native_barrier_create(int num_waiters, GLT_barrier* barrier)
{
    if (!barrier) return void(report_no_place("glt_barrier_create"));
    *barrier = nullptr;
    if (num_waiters < 1)
        return void(report(GLT_ERROR_VALUE, "glt_barrier_create: num_waiters is %d, not 1 or more", num_waiters));
    Object* object = make_object(Kind::barrier, "glt_barrier_create");
    if (!object) return;
    object->barrier = {static_cast<std::uint32_t>(num_waiters), 0, 0};
    *barrier = as_handle<GLT_barrier>(object);
}

void glt_native_barrier_wait(GLT_barrier* barrier)
{
    Object* object = object_of(barrier ? *barrier : nullptr, Kind::barrier, "glt_barrier_wait");
    Unit* self = object ? waiting_self("glt_barrier_wait") : nullptr;
    if (!self) return;
    obey_cancel(*self);
    auto& state = object->barrier;
    std::unique_lock hold(object->queue.lock);
    const std::uint64_t round = state.round;
    if (++state.arrived == state.size) {
        state.arrived = 0;
        ++state.round;
        hold.unlock();
        return wake_waiters(object->queue, everybody);
    }
    hold.unlock();
    const WaitState end = wait_until(object->queue, *self, forever, [&] { return state.round != round; });
    if (end != cancelled_wait) return;
    hold.lock();
    if (state.round == round) --state.arrived; // as if it had not come
    hold.unlock();
    obey_cancel(*self);
}

void glt_native_barrier_free(GLT_barrier* barrier)
{
    free_object(reinterpret_cast<void**>(barrier), Kind::barrier, "glt_barrier_free");
}

int glt_native_counter_create(long count, GLT_counter* counter)
{
    if (!counter) return report_no_place("glt_counter_create");
    *counter = nullptr;
    if (count < 0) return report(GLT_ERROR_VALUE, "glt_counter_create: count is %ld, not 0 or more", count);
    Object* object = make_object(Kind::counter, "glt_counter_create");
    if (!object) return runtime ? GLT_ERROR_MEMORY : GLT_ERROR_STATE;
    object->count.store(count, std::memory_order_relaxed);
    *counter = as_handle<GLT_counter>(object);
    return GLT_SUCCESS;
}

int glt_native_counter_add(GLT_counter counter, long change)
{
    Object* object = object_of(counter, Kind::counter, "glt_counter_add");
    if (!object) return bad();
    if (add(*object, change) == GLT_SUCCESS) return GLT_SUCCESS;
    return report(GLT_ERROR_VALUE, "glt_counter_add: change is %ld, which would leave 0 and up; the count is %ld", change,
                  object->count.load());
}

int glt_native_counter_wait(GLT_counter counter) { return wait_counter(counter, -1, "glt_counter_wait"); }

int glt_native_counter_wait_for(GLT_counter counter, double seconds)
{
    if (!(seconds >= 0)) return bad_time("glt_counter_wait_for", seconds);
    return wait_counter(counter, seconds, "glt_counter_wait_for");
}

int glt_native_counter_free(GLT_counter* counter)
{
    return free_object(reinterpret_cast<void**>(counter), Kind::counter, "glt_counter_free");
}

int glt_native_event_create(GLT_event* event)
{
    if (!event) return report_no_place("glt_event_create");
    *event = nullptr;
    Object* object = make_object(Kind::event, "glt_event_create");
    if (!object) return runtime ? GLT_ERROR_MEMORY : GLT_ERROR_STATE;
    object->event_set.store(0, std::memory_order_relaxed);
    *event = as_handle<GLT_event>(object);
    return GLT_SUCCESS;
}

int glt_native_event_set(GLT_event event)
{
    Object* object = object_of(event, Kind::event, "glt_event_set");
    if (!object) return bad();
    object->event_set.store(1, std::memory_order_release);
    wake_waiters(object->queue, everybody);
    return GLT_SUCCESS;
}

int glt_native_event_reset(GLT_event event)
{
    Object* object = object_of(event, Kind::event, "glt_event_reset");
    if (!object) return bad();
    object->event_set.store(0, std::memory_order_release);
    return GLT_SUCCESS;
}

int glt_native_event_wait(GLT_event event) { return wait_event(event, -1, "glt_event_wait"); }

int glt_native_event_wait_for(GLT_event event, double seconds)
{
    if (!(seconds >= 0)) return bad_time("glt_event_wait_for", seconds);
    return wait_event(event, seconds, "glt_event_wait_for");
}

int glt_native_event_free(GLT_event* event)
{
    return free_object(reinterpret_cast<void**>(event), Kind::event, "glt_event_free");
}
}
