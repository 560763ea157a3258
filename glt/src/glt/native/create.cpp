// Making units and giving them to a worker.
#include "glt/native/objects.hpp"

#include "trencadis/glt/native/library.h"
#include "trencadis/glt/shared/attributes.h"

#include <cstring>

namespace trencadis::ult {
namespace {

constexpr std::uint64_t ids_at_once = 1 << 16;

/// A unit that is in no queue yet; null, reported, without memory.
Unit* make_unit(Worker* worker, void (*function)(void*), void* argument, bool tasklet, const char* name)
{
    auto* unit = static_cast<Unit*>(worker ? unit_slots.take(worker->units) : unit_slots.take());
    if (!unit) [[unlikely]] {
        report(GLT_ERROR_MEMORY, "%s: no memory for a unit", name);
        return nullptr;
    }
    if (worker) {
        if (worker->next_id == worker->end_of_ids) [[unlikely]] {
            worker->next_id = draw_ids(ids_at_once);
            worker->end_of_ids = worker->next_id + ids_at_once;
        }
        unit->id = worker->next_id++;
    } else {
        unit->id = draw_ids(1);
    }
    unit->cancelled.store(0, std::memory_order_relaxed);
    unit->bits.store(tasklet ? Unit::is_tasklet : 0, std::memory_order_relaxed);
    unit->function = function;
    unit->argument = argument;
    unit->join_word.store(Unit::running, std::memory_order_relaxed);
    unit->sp = nullptr;
    unit->stack_class = static_cast<std::uint8_t>(runtime->stack_class);
    unit->counter = 0;
    unit->name = nullptr;
    unit->values = nullptr;
    unit->suspend_word.store(0, std::memory_order_relaxed);
    const std::uint32_t kind = static_cast<std::uint32_t>(tasklet ? Kind::tasklet : Kind::ult);
    unit->tag.store((unit->tag.load(std::memory_order_relaxed) & 0xffff0000u) | kind, std::memory_order_relaxed);
    return unit;
}

/// Into the deque here, or from a foreign thread to whoever has time.
void submit(Worker* worker, Unit* unit)
{
    if (worker) worker->deque.push(unit);
    else runtime->injected.push(unit);
    notify();
}

void submit_to(Worker* worker, Unit* unit, unsigned thread, bool strict)
{
    if (strict) {
        unit->home = static_cast<std::uint16_t>(thread);
        unit->set(Unit::strict);
        if (worker && worker->number == thread) worker->fifo.push(unit);
        else send_home(unit);
    } else if (worker && worker->number == thread) {
        submit(worker, unit);
    } else {
        Worker& there = *runtime->workers[thread];
        there.hints.push(unit);
        light_fence();
        if (!there.wake()) notify();
    }
}

bool thread_exists(int thread, const char* name)
{
    const int count = static_cast<int>(runtime->workers.size());
    if (thread >= 0 && thread < count) return true;
    report(GLT_ERROR_VALUE, "%s: thread %d is not one of 0 to %d", name, thread, count - 1);
    return false;
}

bool able(void (*function)(void*), const void* handle, const char* name)
{
    if (!ready_for(name)) return false;
    if (function && handle) return true;
    if (!function) report(GLT_ERROR_VALUE, "%s: the function is null", name);
    else report(GLT_ERROR_VALUE, "%s: the pointer to where the handle goes is null", name);
    return false;
}

/// What a call that failed leaves.
template <class Handle> void no_unit(Handle* handle)
{
    if (handle) *handle = nullptr;
}

template <class Handle> void create(void (*function)(void*), void* argument, Handle* handle, bool tasklet, const char* name)
{
    Worker* worker = worker_here;
    Unit* unit = able(function, handle, name) ? make_unit(worker, function, argument, tasklet, name) : nullptr;
    if (!unit) [[unlikely]]
        return no_unit(handle);
    *handle = as_handle<Handle>(unit); // before it can run: its function may read it
    submit(worker, unit);
}

template <class Handle>
void create_to(void (*function)(void*), void* argument, Handle* handle, int thread, bool tasklet, const char* name)
{
    Worker* worker = worker_here;
    const bool right = able(function, handle, name) && thread_exists(thread, name);
    Unit* unit = right ? make_unit(worker, function, argument, tasklet, name) : nullptr;
    if (!unit) [[unlikely]]
        return no_unit(handle);
    *handle = as_handle<Handle>(unit);
    submit_to(worker, unit, static_cast<unsigned>(thread), true);
}

/// A status; reports what is wrong with them.
int check(const GLT_attributes& attributes, bool tasklet, const char* name)
{
    if (attributes.thread != GLT_ANY_THREAD && !thread_exists(attributes.thread, name)) return GLT_ERROR_VALUE;
    char wrong[128];
    if (!glt_shared_wrong_attributes(&attributes, tasklet, stack_class_size(stack_classes - 1), wrong, sizeof wrong))
        return GLT_SUCCESS;
    return report(GLT_ERROR_VALUE, "%s: %s", name, wrong);
}

template <class Handle>
int create_with(void (*function)(void*), void* argument, const GLT_attributes* attributes, Handle* handle, bool tasklet,
                const char* name)
{
    GLT_attributes standard;
    if (!attributes) {
        glt_native_attributes_init(&standard);
        attributes = &standard;
    }
    no_unit(handle);
    const void* named = attributes->detached ? static_cast<const void*>(attributes) : handle;
    if (!able(function, named, name)) return !runtime ? GLT_ERROR_STATE : GLT_ERROR_VALUE;
    if (const int status = check(*attributes, tasklet, name); status != GLT_SUCCESS) return status;
    Object* counter = nullptr;
    if (attributes->counter && !(counter = object_of(attributes->counter, Kind::counter, name))) return GLT_ERROR_HANDLE;
    Worker* worker = worker_here;
    Unit* unit = make_unit(worker, function, argument, tasklet, name);
    if (!unit) return GLT_ERROR_MEMORY;
    if (attributes->stack_size && !tasklet) unit->stack_class = static_cast<std::uint8_t>(stack_class_of(attributes->stack_size));
    unit->name = attributes->name;
    if (counter) {
        counter->count.fetch_add(1, std::memory_order_relaxed);
        unit->counter = counter->handle();
    }
    if (handle) *handle = as_handle<Handle>(unit);
    if (attributes->detached) unit->join_word.store(Unit::detached, std::memory_order_relaxed);
    if (attributes->thread == GLT_ANY_THREAD) submit(worker, unit);
    else submit_to(worker, unit, static_cast<unsigned>(attributes->thread), attributes->placement == GLT_PLACE_STRICT);
    return GLT_SUCCESS;
}

} // namespace

std::uint64_t draw_ids(std::uint64_t count)
{
    static std::atomic<std::uint64_t> next{1};
    return next.fetch_add(count, std::memory_order_relaxed);
}

} // namespace trencadis::ult

using namespace trencadis::ult;

extern "C" {

void glt_native_attributes_init(GLT_attributes* attributes)
{
    if (!attributes) return void(report_no_place("glt_attributes_init"));
    std::memset(attributes, 0, sizeof *attributes);
    attributes->thread = GLT_ANY_THREAD;
}

void glt_native_ult_create(void (*function)(void*), void* arg, GLT_ult* unit)
{
    create(function, arg, unit, false, "glt_ult_create");
}

void glt_native_tasklet_create(void (*function)(void*), void* arg, GLT_tasklet* tasklet)
{
    create(function, arg, tasklet, true, "glt_tasklet_create");
}

void glt_native_ult_create_to(void (*function)(void*), void* arg, GLT_ult* unit, int dest)
{
    create_to(function, arg, unit, dest, false, "glt_ult_create_to");
}

void glt_native_tasklet_create_to(void (*function)(void*), void* arg, GLT_tasklet* tasklet, int dest)
{
    create_to(function, arg, tasklet, dest, true, "glt_tasklet_create_to");
}

int glt_native_ult_create_with(void (*function)(void*), void* arg, const GLT_attributes* attributes, GLT_ult* unit)
{
    return create_with(function, arg, attributes, unit, false, "glt_ult_create_with");
}

int glt_native_tasklet_create_with(void (*function)(void*), void* arg, const GLT_attributes* attributes, GLT_tasklet* tasklet)
{
    return create_with(function, arg, attributes, tasklet, true, "glt_tasklet_create_with");
}
}
