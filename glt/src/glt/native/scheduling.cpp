// What a unit does with its own core: yield, suspend, migrate; and who it is.
#include "glt/native/objects.hpp"

#include "trencadis/glt/native/library.h"

#include <sched.h>

namespace trencadis::ult {
namespace {

/// The calling ULT or main program; null, reported, in a foreign thread, a tasklet, before init.
Unit* calling_unit(const char* function)
{
    if (!ready_for(function)) return nullptr;
    Worker* worker = worker_here;
    Unit* self = worker ? worker->current : nullptr;
    if (self && !self->has(Unit::is_tasklet)) return self;
    report(GLT_ERROR_CONTEXT, "%s: called in a %s; a ULT or the main program may", function, self ? "tasklet" : "foreign thread");
    return nullptr;
}

int self_of(void** handle, Kind kind, const char* function)
{
    if (!handle) return report_no_place(function);
    if (!ready_for(function)) return GLT_ERROR_STATE;
    Worker* worker = worker_here;
    Unit* self = worker ? worker->current : nullptr;
    const bool same = self && self->has(Unit::is_tasklet) == (kind == Kind::tasklet);
    *handle = same ? as_handle<void*>(self) : nullptr;
    return GLT_SUCCESS;
}

[[gnu::noinline, gnu::cold]] void yield_elsewhere(const char* function)
{
    Worker* worker = worker_here;
    if (!ready_for(function)) return;
    if (worker && worker->current) report(GLT_ERROR_CONTEXT, "%s: called in a tasklet, which runs to its end", function);
    else sched_yield();
}

} // namespace
} // namespace trencadis::ult

using namespace trencadis::ult;

extern "C" {

void glt_native_yield(void)
{
    Worker* worker = worker_here;
    Unit* self = worker ? worker->current : nullptr;
    if (!self || self->has(Unit::is_tasklet)) [[unlikely]]
        return yield_elsewhere("glt_yield");
    obey_cancel(*self);
    worker->yield(self);
    obey_cancel(*self);
}

void glt_native_yield_to(GLT_ult unit)
{
    Worker* worker = worker_here;
    Unit* self = worker ? worker->current : nullptr;
    if (!self || self->has(Unit::is_tasklet)) return yield_elsewhere("glt_yield_to");
    Slot* slot = unit_slots.find(reinterpret_cast<std::uint64_t>(unit), Kind::ult);
    if (!slot) return report_bad_handle(unit, Kind::ult, "glt_yield_to");
    obey_cancel(*self);
    Unit* target = static_cast<Unit*>(slot);
    if (target != self && worker->claim(target)) {
        worker->fifo.push(self);
        worker->switch_to(target, self);
    } else {
        worker->yield(self);
    }
    obey_cancel(*self);
}

int glt_native_ult_suspend(void)
{
    Unit* self = calling_unit("glt_ult_suspend");
    if (!self) return runtime ? GLT_ERROR_CONTEXT : GLT_ERROR_STATE;
    obey_cancel(*self);
    for (;;) {
        std::uint64_t word = Unit::token_kept;
        if (self->suspend_word.compare_exchange_strong(word, 0, std::memory_order_acq_rel)) return GLT_SUCCESS;
        const std::uint64_t sequence = arm(*self), mine = sequence << 2 | Unit::suspended;
        word = 0;
        if (!self->suspend_word.compare_exchange_strong(word, mine, std::memory_order_acq_rel)) continue; // a token came
        const WaitState end = await(*self, sequence, forever);
        word = mine;
        if (self->suspend_word.compare_exchange_strong(word, 0, std::memory_order_acq_rel)) {
            if (end == cancelled_wait) obey_cancel(*self);
            continue; // woken by nobody's resume: a late wake of an earlier wait
        }
        return GLT_SUCCESS;
    }
}

void glt_native_ult_self(GLT_ult* unit) { self_of(reinterpret_cast<void**>(unit), Kind::ult, "glt_ult_self"); }
void glt_native_tasklet_self(GLT_tasklet* tasklet)
{
    self_of(reinterpret_cast<void**>(tasklet), Kind::tasklet, "glt_tasklet_self");
}

void glt_native_workunit_get_thread_id(GLT_thread_id* id)
{
    if (!id) return void(report_no_place("glt_workunit_get_thread_id"));
    if (!ready_for("glt_workunit_get_thread_id")) return;
    *id = worker_here ? static_cast<int>(worker_here->number) : -1;
}

/// From here on the unit is that thread's: no other takes it.
void glt_native_ult_migrate_self_to(GLT_thread_id id)
{
    Unit* self = calling_unit("glt_ult_migrate_self_to");
    if (!self) return;
    const int count = static_cast<int>(runtime->workers.size());
    if (id < 0 || id >= count)
        return void(report(GLT_ERROR_VALUE, "glt_ult_migrate_self_to: thread %d is not one of 0 to %d", id, count - 1));
    if (self->has(Unit::is_main) && id != 0)
        return void(report(GLT_ERROR_CONTEXT, "glt_ult_migrate_self_to: the main program stays on thread 0"));
    obey_cancel(*self);
    self->home = static_cast<std::uint16_t>(id);
    self->set(Unit::strict);
    if (static_cast<int>(worker_here->number) != id) worker_here->move(self);
    obey_cancel(*self);
}

int glt_native_get_thread_num(void) { return worker_here ? static_cast<int>(worker_here->number) : -1; }
int glt_native_get_num_threads(void) { return runtime ? static_cast<int>(runtime->workers.size()) : 0; }
int glt_native_initialized(void) { return runtime != nullptr; }
const char* glt_native_backend_name(void) { return runtime ? "native" : ""; }

int glt_native_can(int capability)
{
    if (capability == GLT_CAN_SANITIZE) return FiberTrace::followed ? GLT_NATIVELY : GLT_CANNOT;
    if (capability >= 0 && capability < GLT_CAPABILITIES) return GLT_NATIVELY;
    report(GLT_ERROR_VALUE, "glt_can: capability %d is not one of 0 to %d", capability, GLT_CAPABILITIES - 1);
    return GLT_CANNOT;
}
}
