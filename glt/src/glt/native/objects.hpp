#pragma once
#include "glt/native/wait.hpp"

namespace trencadis::ult {

/// What a mutex, barrier, condition, counter or event is. All have the same layout, and the lock of the queue is not touched when
/// a slot changes hands: who is late with a wake holds it on the successor for a moment, whose waiters look again and wait on.
struct alignas(128) Object : Slot {
    WaitQueue queue;
    union {
        std::atomic<std::uint32_t> mutex_state;
        std::atomic<std::uint32_t> event_set;
        std::atomic<long> count;
        struct {
            std::uint32_t size, arrived;
            std::uint64_t round;
        } barrier;
        struct {
            void (*destructor)(void*);
            std::uint32_t number;
        } key;
        struct {
            std::int64_t start, stop;
        } timer;
    };
    Object() = delete;
};
static_assert(sizeof(Object) == Slots::slot_size);

/// False, and GLT_ERROR_STATE reported for `function`, before init and after finalize.
inline bool ready_for(const char* function)
{
    if (runtime) [[likely]]
        return true;
    report(GLT_ERROR_STATE, "%s: called before glt_init or after glt_finalize", function);
    return false;
}

/// A new object of the kind; null, reported, without memory or before init. `payload` is still as it was left.
Object* make_object(Kind kind, const char* function);
/// Frees it; a status. GLT_ERROR_STATE while somebody waits.
int free_object(void** handle, Kind kind, const char* function);
/// Refuses a call without a place for what it makes or answers; a status.
[[gnu::cold]] int report_no_place(const char* function);
[[gnu::cold]] void report_bad_handle(const void* handle, Kind kind, const char* function);

inline Object* object_of(const void* handle, Kind kind, const char* function)
{
    Slot* slot = object_slots.find(reinterpret_cast<std::uint64_t>(handle), kind);
    if (slot && runtime) [[likely]]
        return static_cast<Object*>(slot);
    report_bad_handle(handle, kind, function);
    return nullptr;
}

template <class Handle> Handle as_handle(Slot* slot) { return reinterpret_cast<Handle>(slot->handle()); }

} // namespace trencadis::ult
