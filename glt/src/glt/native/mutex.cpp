#include "glt/native/objects.hpp"

#include "trencadis/glt/native/library.h"

#include <sched.h>

namespace trencadis::ult {
namespace {

// mutex_state: who takes it from 0 holds it. 2 is written only under the queue's lock, by one that then waits or holds.
constexpr std::uint32_t unlocked = 0, locked = 1, locked_with_waiters = 2;
constexpr int spins = 100; ///< a section of some tens of nanoseconds is cheaper to sit out than a switch

bool try_lock(Object& mutex)
{
    std::uint32_t expected = unlocked;
    return mutex.mutex_state.load(std::memory_order_relaxed) == unlocked &&
           mutex.mutex_state.compare_exchange_strong(expected, locked, std::memory_order_acquire, std::memory_order_relaxed);
}

bool spin(Object& mutex, int turns)
{
    for (int i = 0; i < turns; ++i) {
        if (try_lock(mutex)) return true;
        relax();
    }
    return false;
}

/// False when the caller was cancelled, or may not wait.
bool lock_slowly(Object& mutex, const char* function)
{
    if (runtime->may_spin && spin(mutex, spins)) return true;
    Unit* self = waiting_self(function);
    if (!self) return false;
    const WaitState end = wait_until(mutex.queue, *self, forever, [&] {
        return mutex.mutex_state.exchange(locked_with_waiters, std::memory_order_acquire) == unlocked;
    });
    if (end == signalled) return true;
    obey_cancel(*self);
    return false;
}

/// As a condition's wait must end, for one that is cancelled too: with the mutex.
void lock_for_sure(Object& mutex, Unit& self)
{
    if (try_lock(mutex)) return;
    const std::uint8_t before = self.bits.load(std::memory_order_relaxed);
    self.set(Unit::exiting);
    lock_slowly(mutex, "glt_cond_wait");
    self.bits.store(before, std::memory_order_relaxed);
}

bool unlock(Object& mutex)
{
    const std::uint32_t before = mutex.mutex_state.exchange(unlocked, std::memory_order_release);
    if (before == locked_with_waiters) [[unlikely]]
        wake_waiters(mutex.queue, 1);
    return before != unlocked;
}

} // namespace
} // namespace trencadis::ult

using namespace trencadis::ult;

extern "C" {

void glt_native_mutex_create(GLT_mutex* mutex)
{
    if (!mutex) return void(report_no_place("glt_mutex_create"));
    *mutex = nullptr;
    Object* object = make_object(Kind::mutex, "glt_mutex_create");
    if (!object) return;
    object->mutex_state.store(unlocked, std::memory_order_relaxed);
    *mutex = as_handle<GLT_mutex>(object);
}

void glt_native_mutex_lock(GLT_mutex mutex)
{
    Object* object = object_of(mutex, Kind::mutex, "glt_mutex_lock");
    if (object && !try_lock(*object)) lock_slowly(*object, "glt_mutex_lock");
}

void glt_native_mutex_unlock(GLT_mutex mutex)
{
    Object* object = object_of(mutex, Kind::mutex, "glt_mutex_unlock");
    if (object && !unlock(*object)) report(GLT_ERROR_STATE, "glt_mutex_unlock: the mutex is not locked");
}

int glt_native_mutex_trylock(GLT_mutex mutex)
{
    Object* object = object_of(mutex, Kind::mutex, "glt_mutex_trylock");
    return object && try_lock(*object);
}

void glt_native_mutex_spinlock(GLT_mutex mutex)
{
    Object* object = object_of(mutex, Kind::mutex, "glt_mutex_spinlock");
    if (!object) return;
    for (int round = 0; round < 16; ++round) {
        if (spin(*object, runtime->may_spin ? 200 : 1)) return;
        Worker* worker = this_worker();
        if (worker && worker->current && !worker->current->has(Unit::is_tasklet)) {
            obey_cancel(*worker->current);
            worker->yield(worker->current);
        } else {
            sched_yield();
        }
    }
    lock_slowly(*object, "glt_mutex_spinlock"); // the holder is off its core for long: out of the way
}

void glt_native_mutex_free(GLT_mutex* mutex) { free_object(reinterpret_cast<void**>(mutex), Kind::mutex, "glt_mutex_free"); }

// --- Condition: only the queue; the lock of the object orders signals and waits ---

void glt_native_cond_create(GLT_cond* cond)
{
    if (!cond) return void(report_no_place("glt_cond_create"));
    *cond = nullptr;
    if (Object* object = make_object(Kind::cond, "glt_cond_create")) *cond = as_handle<GLT_cond>(object);
}

void glt_native_cond_wait(GLT_cond cond, GLT_mutex mutex)
{
    Object* object = object_of(cond, Kind::cond, "glt_cond_wait");
    Object* held = object ? object_of(mutex, Kind::mutex, "glt_cond_wait") : nullptr;
    Unit* self = held ? waiting_self("glt_cond_wait") : nullptr;
    if (!self) return;
    obey_cancel(*self);
    if (held->mutex_state.load(std::memory_order_relaxed) == unlocked)
        return void(report(GLT_ERROR_STATE, "glt_cond_wait: the mutex is not locked; the caller must hold it"));
    Waiter waiter{self};
    {
        std::lock_guard hold(object->queue.lock);
        waiter.sequence = arm(*self);
        object->queue.link(waiter);
    }
    unlock(*held); // from here on a signal finds us
    await(*self, waiter.sequence, forever);
    {
        std::lock_guard hold(object->queue.lock);
        if (waiter.linked) object->queue.unlink(waiter);
    }
    lock_for_sure(*held, *self);
    obey_cancel(*self);
}

void glt_native_cond_signal(GLT_cond cond)
{
    if (Object* object = object_of(cond, Kind::cond, "glt_cond_signal")) wake_waiters(object->queue, 1);
}

void glt_native_cond_broadcast(GLT_cond cond)
{
    if (Object* object = object_of(cond, Kind::cond, "glt_cond_broadcast"))
        wake_waiters(object->queue, std::numeric_limits<long>::max());
}

void glt_native_cond_free(GLT_cond* cond) { free_object(reinterpret_cast<void**>(cond), Kind::cond, "glt_cond_free"); }
}
