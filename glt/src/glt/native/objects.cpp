#include "glt/native/objects.hpp"

namespace trencadis::ult {

namespace {
const char* name_of(Kind kind)
{
    switch (kind) {
    case Kind::ult: return "ULT";
    case Kind::tasklet: return "tasklet";
    case Kind::mutex: return "mutex";
    case Kind::barrier: return "barrier";
    case Kind::cond: return "condition";
    case Kind::counter: return "counter";
    case Kind::event: return "event";
    case Kind::key: return "key";
    case Kind::timer: return "timer";
    default: return "handle";
    }
}
} // namespace

void report_bad_handle(const void* handle, Kind kind, const char* function)
{
    if (!runtime) report(GLT_ERROR_STATE, "%s: called before glt_init or after glt_finalize", function);
    else if (!handle) report(GLT_ERROR_HANDLE, "%s: the handle is null", function);
    else
        report(GLT_ERROR_HANDLE, "%s: the handle %p names no %s; it was freed, or is something else", function, handle,
               name_of(kind));
}

int report_no_place(const char* function)
{
    if (!ready_for(function)) return GLT_ERROR_STATE;
    return report(GLT_ERROR_VALUE, "%s: the pointer to where the result goes is null", function);
}

Object* make_object(Kind kind, const char* function)
{
    if (!ready_for(function)) return nullptr;
    Worker* worker = worker_here;
    Slot* slot = worker ? object_slots.take(worker->objects) : object_slots.take();
    if (!slot) {
        report(GLT_ERROR_MEMORY, "%s: no memory for a %s", function, name_of(kind));
        return nullptr;
    }
    slot->tag.store((slot->tag.load(std::memory_order_relaxed) & 0xffff0000u) | static_cast<std::uint32_t>(kind),
                    std::memory_order_release);
    return static_cast<Object*>(slot);
}

int free_object(void** handle, Kind kind, const char* function)
{
    Object* object = object_of(handle ? *handle : nullptr, kind, function);
    if (!object) return runtime ? GLT_ERROR_HANDLE : GLT_ERROR_STATE;
    {
        std::lock_guard hold(object->queue.lock);
        if (!object->queue.empty()) return report(GLT_ERROR_STATE, "%s: somebody waits for the %s", function, name_of(kind));
        if (kind == Kind::mutex && object->mutex_state.load() != 0)
            return report(GLT_ERROR_STATE, "%s: the mutex is locked; unlock it first", function);
        if (!Slots::end(object))
            return report(GLT_ERROR_HANDLE, "%s: the %s was freed at the same time", function, name_of(kind));
    }
    Worker* worker = worker_here;
    if (worker) object_slots.give(worker->objects, object);
    else object_slots.give(object);
    *handle = nullptr;
    return GLT_SUCCESS;
}

} // namespace trencadis::ult
