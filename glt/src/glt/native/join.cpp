// The end of units: join, free, detach, cancel, exit.
#include "glt/native/exit.hpp"
#include "glt/native/objects.hpp"

#include "trencadis/glt/native/library.h"

namespace trencadis::ult {
namespace {

Unit* unit_of(const void* handle, Kind kind, const char* function)
{
    Slot* slot = unit_slots.find(reinterpret_cast<std::uint64_t>(handle), kind);
    if (slot && runtime) [[likely]]
        return static_cast<Unit*>(slot);
    report_bad_handle(handle, kind, function);
    return nullptr;
}

int bad(void) { return runtime ? GLT_ERROR_HANDLE : GLT_ERROR_STATE; }

/// The end of a unit that has ended, for one of those who ask.
bool take_end(Unit& unit, std::uint64_t& word)
{
    word = Unit::done;
    return unit.join_word.compare_exchange_strong(word, Unit::joined, std::memory_order_acq_rel, std::memory_order_acquire);
}

int not_joinable(std::uint64_t word, const char* function)
{
    const char* why = word == Unit::joined     ? "was joined already"
                      : word == Unit::detached ? "is detached"
                                               : "is being joined by another";
    return report(GLT_ERROR_HANDLE, "%s: the unit %s", function, why);
}

/// Takes the joiner's name off the unit; true if the unit ended before that.
bool give_up(Unit& unit, Unit& self)
{
    std::uint64_t expected = reinterpret_cast<std::uint64_t>(&self);
    return !unit.join_word.compare_exchange_strong(expected, Unit::running, std::memory_order_acq_rel, std::memory_order_acquire);
}

/// Waits with the joiner's name in the unit's join word. The end of the unit changes the word, then reads join_sequence; here
/// the sequence is written before the word is looked at: one of the two sees the other. As long as the name stands there, nobody
/// else joins or frees the unit; taking it off is the last touch.
int wait_for_end(Unit& unit, Unit& self, std::int64_t deadline, const char* function)
{
    const auto name = reinterpret_cast<std::uint64_t>(&self), ended = name + Unit::done;
    std::uint64_t sequence = arm(self), word = Unit::running;
    self.join_sequence.store(sequence, std::memory_order_relaxed);
    if (!unit.join_word.compare_exchange_strong(word, name, std::memory_order_seq_cst, std::memory_order_acquire))
        return word == Unit::done && take_end(unit, word) ? GLT_SUCCESS : not_joinable(word, function);
    for (;;) {
        const WaitState end = await(self, sequence, deadline);
        if (unit.join_word.load(std::memory_order_acquire) == ended) break;
        if (end == timed_out) {
            if (give_up(unit, self)) break;
            return GLT_TIMEOUT;
        }
        if (end == cancelled_wait) {
            if (give_up(unit, self)) unit.join_word.store(Unit::done, std::memory_order_release); // left to the next
            obey_cancel(self);
        }
        sequence = arm(self);
        self.join_sequence.store(sequence, std::memory_order_seq_cst);
        if (unit.join_word.load(std::memory_order_seq_cst) == ended) break;
    }
    unit.join_word.store(Unit::joined, std::memory_order_release);
    return GLT_SUCCESS;
}

int join(Unit& unit, std::int64_t deadline, const char* function);

int join_slowly(Unit& unit, std::uint64_t word, std::int64_t deadline, const char* function)
{
    if (word != Unit::running) return not_joinable(word, function);
    if (unit.has(Unit::is_main)) return report(GLT_ERROR_CONTEXT, "%s: the main program cannot be joined", function);
    Worker* worker = worker_here;
    if (worker && worker->current == &unit) return report(GLT_ERROR_CONTEXT, "%s: a unit cannot join itself", function);
    if (worker && unit.has(Unit::is_tasklet) && worker->run_here(&unit)) return join(unit, deadline, function);
    Unit* self = waiting_self(function);
    if (!self) return GLT_ERROR_CONTEXT;
    obey_cancel(*self);
    return wait_for_end(unit, *self, deadline, function);
}

int join(Unit& unit, std::int64_t deadline, const char* function)
{
    std::uint64_t word = unit.join_word.load(std::memory_order_acquire);
    if (word == Unit::done && take_end(unit, word)) [[likely]]
        return GLT_SUCCESS;
    return join_slowly(unit, word, deadline, function);
}

int join_handle(const void* const* handle, Kind kind, const char* function)
{
    Unit* unit = unit_of(handle ? *handle : nullptr, kind, function);
    return unit ? join(*unit, forever, function) : bad();
}

int join_for(const void* const* handle, Kind kind, double seconds, const char* function)
{
    Unit* unit = unit_of(handle ? *handle : nullptr, kind, function);
    if (!unit) return bad();
    if (!(seconds >= 0)) return report(GLT_ERROR_VALUE, "%s: seconds is %g, not 0 or more", function, seconds);
    return join(*unit, deadline_after(seconds), function);
}

int try_join(const void* const* handle, Kind kind, const char* function)
{
    Unit* unit = unit_of(handle ? *handle : nullptr, kind, function);
    if (!unit) return bad();
    std::uint64_t word = unit->join_word.load(std::memory_order_acquire);
    if (word == Unit::done && take_end(*unit, word)) return GLT_SUCCESS;
    return word == Unit::running ? GLT_BUSY : not_joinable(word, function);
}

void release(Unit* unit)
{
    if (Worker* worker = this_worker()) unit_slots.give(worker->units, unit);
    else unit_slots.give(unit);
}

int free_unit(void** handle, Kind kind, const char* function)
{
    Unit* unit = unit_of(handle ? *handle : nullptr, kind, function);
    if (!unit) return bad();
    if (unit->join_word.load(std::memory_order_acquire) != Unit::joined)
        if (const int status = join(*unit, forever, function); status != GLT_SUCCESS) return status;
    if (!Slots::end(unit)) { // freed by another while we waited
        report_bad_handle(*handle, kind, function);
        return bad();
    }
    release(unit);
    *handle = nullptr;
    return GLT_SUCCESS;
}

int detach(void** handle, Kind kind, const char* function)
{
    Unit* unit = unit_of(handle ? *handle : nullptr, kind, function);
    if (!unit) return bad();
    if (unit->has(Unit::is_main)) return report(GLT_ERROR_CONTEXT, "%s: the main program cannot be detached", function);
    std::uint64_t word = Unit::running;
    if (!unit->join_word.compare_exchange_strong(word, Unit::detached, std::memory_order_acq_rel)) {
        if (word != Unit::done || !take_end(*unit, word)) return not_joinable(word, function);
        if (!Slots::end(unit)) return report(GLT_ERROR_HANDLE, "%s: the unit was freed at the same time", function);
        release(unit);
    }
    *handle = nullptr;
    return GLT_SUCCESS;
}

void cancel(const void* handle, Kind kind, const char* function)
{
    Unit* unit = unit_of(handle, kind, function);
    if (!unit) return;
    if (unit->has(Unit::is_main)) return void(report(GLT_ERROR_CONTEXT, "%s: the main program cannot be cancelled", function));
    unit->cancelled.store(1, std::memory_order_seq_cst);
    heavy_fence(); // it either sees that when it begins to wait, or we see it waiting
    const std::uint64_t word = unit->wait_word.load(std::memory_order_seq_cst);
    if ((word & 7) == armed || (word & 7) == parked) wake(*unit, word >> 3, cancelled_wait);
}

const void* const* address(GLT_ult* unit) { return reinterpret_cast<const void* const*>(unit); }

} // namespace
} // namespace trencadis::ult

using namespace trencadis::ult;

extern "C" {

int glt_native_status_of_ult_join(GLT_ult* unit) { return join_handle(address(unit), Kind::ult, "glt_ult_join"); }
int glt_native_status_of_tasklet_join(GLT_tasklet* tasklet)
{
    return join_handle(address(tasklet), Kind::tasklet, "glt_tasklet_join");
}
int glt_native_status_of_ult_free(GLT_ult* unit) { return free_unit(reinterpret_cast<void**>(unit), Kind::ult, "glt_ult_free"); }
int glt_native_status_of_tasklet_free(GLT_tasklet* tasklet)
{
    return free_unit(reinterpret_cast<void**>(tasklet), Kind::tasklet, "glt_tasklet_free");
}
void glt_native_ult_join(GLT_ult* unit) { glt_native_status_of_ult_join(unit); }
void glt_native_tasklet_join(GLT_tasklet* tasklet) { glt_native_status_of_tasklet_join(tasklet); }
void glt_native_ult_free(GLT_ult* unit) { glt_native_status_of_ult_free(unit); }
void glt_native_tasklet_free(GLT_tasklet* tasklet) { glt_native_status_of_tasklet_free(tasklet); }
int glt_native_ult_try_join(GLT_ult* unit) { return try_join(address(unit), Kind::ult, "glt_ult_try_join"); }
int glt_native_tasklet_try_join(GLT_tasklet* tasklet)
{
    return try_join(address(tasklet), Kind::tasklet, "glt_tasklet_try_join");
}
int glt_native_ult_join_for(GLT_ult* unit, double seconds)
{
    return join_for(address(unit), Kind::ult, seconds, "glt_ult_join_for");
}
int glt_native_tasklet_join_for(GLT_tasklet* tasklet, double seconds)
{
    return join_for(address(tasklet), Kind::tasklet, seconds, "glt_tasklet_join_for");
}
int glt_native_ult_detach(GLT_ult* unit) { return detach(reinterpret_cast<void**>(unit), Kind::ult, "glt_ult_detach"); }
int glt_native_tasklet_detach(GLT_tasklet* tasklet)
{
    return detach(reinterpret_cast<void**>(tasklet), Kind::tasklet, "glt_tasklet_detach");
}
void glt_native_ult_cancel(GLT_ult unit) { cancel(unit, Kind::ult, "glt_ult_cancel"); }
void glt_native_tasklet_cancel(GLT_tasklet tasklet) { cancel(tasklet, Kind::tasklet, "glt_tasklet_cancel"); }

void glt_native_ult_exit(void)
{
    if (!ready_for("glt_ult_exit")) return;
    Worker* worker = worker_here;
    Unit* self = worker ? worker->current : nullptr;
    if (!self || self->has(Unit::is_tasklet) || self->has(Unit::is_main))
        return void(report(GLT_ERROR_CONTEXT, "glt_ult_exit: called outside of a ULT that glt_ult_create made"));
    exit_unit(*self);
}

void glt_native_ult_get_id(GLT_ult_id* id, GLT_ult unit)
{
    if (!id) return void(report_no_place("glt_ult_get_id"));
    if (Unit* known = unit_of(unit, Kind::ult, "glt_ult_get_id")) *id = known->id;
}

int glt_native_ult_resume(GLT_ult unit)
{
    Unit* target = unit_of(unit, Kind::ult, "glt_ult_resume");
    if (!target) return bad();
    std::uint64_t word = target->suspend_word.load(std::memory_order_acquire);
    for (;;) {
        if (word == Unit::token_kept) return GLT_SUCCESS;
        const std::uint64_t next = word == 0 ? Unit::token_kept : 0;
        if (!target->suspend_word.compare_exchange_weak(word, next, std::memory_order_acq_rel, std::memory_order_acquire))
            continue;
        if (word != 0) wake(*target, word >> 2, signalled);
        return GLT_SUCCESS;
    }
}
}
