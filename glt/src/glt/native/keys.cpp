#include "glt/native/keys.hpp"

#include "glt/native/objects.hpp"
#include "trencadis/glt/native/library.h"

#include <algorithm>
#include <cstdlib>
#include <vector>

namespace trencadis::ult {
namespace {

/// Small numbers for keys, used again, so that a unit's values stay few.
struct Numbers {
    Lock lock;
    std::vector<std::uint32_t> free;
    std::uint32_t next = 0;
    std::uint32_t take()
    {
        std::lock_guard hold(lock);
        if (free.empty()) return next++;
        const std::uint32_t number = free.back();
        free.pop_back();
        return number;
    }
    void give(std::uint32_t number)
    {
        std::lock_guard hold(lock);
        free.push_back(number);
    }
};
Numbers numbers;

Unit* owner_of_values(const char* function)
{
    Worker* worker = worker_here;
    Unit* self = worker ? worker->current : foreign_self();
    if (!self) report(GLT_ERROR_MEMORY, "%s: no memory for the value", function);
    return self;
}

Values* grow(Values* values, std::uint32_t number)
{
    const std::uint32_t before = values ? values->size : 0, size = std::max(number + 1, std::max(4u, 2 * before));
    auto* larger = static_cast<Values*>(std::realloc(values, sizeof(Values) + size * sizeof(values->entry[0])));
    if (!larger) return nullptr;
    std::fill_n(reinterpret_cast<char*>(larger->entry + before), (size - before) * sizeof(larger->entry[0]), char{0});
    larger->size = size;
    return larger;
}

} // namespace

void end_values(Unit& unit)
{
    constexpr int rounds = 4; // as POSIX: a destructor may set values anew, but not for ever
    for (int round = 0; round < rounds; ++round) {
        bool some = false;
        for (std::uint32_t i = 0; i < unit.values->size; ++i) {
            void* value = std::exchange(unit.values->entry[i].value, nullptr);
            Slot* key = value ? object_slots.find(unit.values->entry[i].key, Kind::key) : nullptr;
            if (!key || !static_cast<Object*>(key)->key.destructor) continue;
            static_cast<Object*>(key)->key.destructor(value);
            some = true;
        }
        if (!some) break;
    }
    std::free(std::exchange(unit.values, nullptr));
}

void forget_keys()
{
    std::lock_guard hold(numbers.lock);
    numbers.free.clear();
    numbers.next = 0;
}

} // namespace trencadis::ult

using namespace trencadis::ult;

extern "C" {

void glt_native_key_create(void (*destructor)(void*), GLT_key* key)
{
    if (!key) return void(report_no_place("glt_key_create"));
    *key = nullptr;
    Object* object = make_object(Kind::key, "glt_key_create");
    if (!object) return;
    object->key = {destructor, numbers.take()};
    *key = as_handle<GLT_key>(object);
}

void glt_native_key_set(GLT_key key, void* value)
{
    Object* object = object_of(key, Kind::key, "glt_key_set");
    Unit* self = object ? owner_of_values("glt_key_set") : nullptr;
    if (!self) return;
    const std::uint32_t number = object->key.number;
    if (!self->values || self->values->size <= number) {
        Values* larger = grow(self->values, number);
        if (!larger) return void(report(GLT_ERROR_MEMORY, "glt_key_set: no memory for the value"));
        self->values = larger;
    }
    self->values->entry[number] = {reinterpret_cast<std::uint64_t>(key), value};
}

void glt_native_key_get(GLT_key key, void** value)
{
    if (!value) return void(report_no_place("glt_key_get"));
    Object* object = object_of(key, Kind::key, "glt_key_get");
    Unit* self = object ? owner_of_values("glt_key_get") : nullptr;
    if (!self) return;
    const std::uint32_t number = object->key.number;
    const bool set =
        self->values && number < self->values->size && self->values->entry[number].key == reinterpret_cast<std::uint64_t>(key);
    *value = set ? self->values->entry[number].value : nullptr;
}

void glt_native_key_free(GLT_key* key)
{
    Object* object = key ? object_of(*key, Kind::key, "glt_key_free") : nullptr;
    if (key && !object) return;
    const std::uint32_t number = object ? object->key.number : 0;
    if (free_object(reinterpret_cast<void**>(key), Kind::key, "glt_key_free") == GLT_SUCCESS) numbers.give(number);
}

// --- Timers: a start and a stop ---

void glt_native_timer_create(GLT_timer* timer)
{
    if (!timer) return void(report_no_place("glt_timer_create"));
    *timer = nullptr;
    Object* object = make_object(Kind::timer, "glt_timer_create");
    if (!object) return;
    object->timer = {0, 0};
    *timer = as_handle<GLT_timer>(object);
}

void glt_native_timer_start(GLT_timer timer)
{
    if (Object* object = object_of(timer, Kind::timer, "glt_timer_start")) object->timer.start = object->timer.stop = now_ns();
}

void glt_native_timer_stop(GLT_timer timer)
{
    if (Object* object = object_of(timer, Kind::timer, "glt_timer_stop")) object->timer.stop = now_ns();
}

void glt_native_timer_get_secs(GLT_timer timer, double* secs)
{
    if (!secs) return void(report_no_place("glt_timer_get_secs"));
    *secs = 0;
    if (Object* object = object_of(timer, Kind::timer, "glt_timer_get_secs"))
        *secs = 1e-9 * static_cast<double>(object->timer.stop - object->timer.start);
}

void glt_native_timer_free(GLT_timer* timer) { free_object(reinterpret_cast<void**>(timer), Kind::timer, "glt_timer_free"); }
}
