/* GLT over MassiveThreads 1.0 (Nakashima, Taura 2014): a thread is a worker, a unit a thread of the library, made parent-first,
 * so that creation does not switch (child-first beyond 32,768 ready units, see workers.h).
 *
 * Wrapped: create, yield, the library's variable without a condition (for blocking), the stealing itself. Emulated over records:
 * join, detach, suspend and resume, mutex, condition, barrier, counter, event, keys, cancel, exit; tasklets are units with a
 * stack. Placement, the main program's staying on worker 0, yield_to, foreign threads and the sleeping idle policies use the
 * library's hook for stealing (workers.h): a unit placed on another worker runs there when that worker's own queue is empty, or
 * one of its units yields. glt_ult_exit and a cancel unwind the unit's frames, destructors of C++ included. The library's stacks
 * have no guard page. A stack stays with the worker its unit ended on: where one worker creates and others steal without end, the
 * library's lists of free stacks grow with the number of steals. */
#ifndef TRENCADIS_GLT_MASSIVETHREADS_FUNCTIONS_H
#define TRENCADIS_GLT_MASSIVETHREADS_FUNCTIONS_H

#define GLT_SHARED_RECORD_MEMBERS                                                                                                \
    myth_uncond_t sleep; /* see glt_shared_block */                                                                              \
    uint32_t park;                                                                                                               \
    int queued;        /* 1 + the worker in whose queue it was counted, or 0 */                                                  \
    size_t stack_size; /* 0: as all */

#include "../shared/environment.h"
#include "../shared/join.h"
#include "../shared/plain.h"
#include "../shared/timer.h"

#include "life.h"
#include "workers.h"

#ifdef __cplusplus
extern "C" {
#endif

GLT_API int glt_can(int capability)
{
    switch (capability) {
    case GLT_CAN_STEAL:
    case GLT_CAN_STACK_SIZE:
    case GLT_CAN_IDLE_SPIN: return GLT_NATIVELY;
    case GLT_CAN_PLACE:
    case GLT_CAN_TASKLET:
    case GLT_CAN_YIELD_TO:
    case GLT_CAN_MIGRATE:
    case GLT_CAN_CANCEL:
    case GLT_CAN_CANCEL_WAITING:
    case GLT_CAN_EXIT:
    case GLT_CAN_SUSPEND:
    case GLT_CAN_JOIN:
    case GLT_CAN_MUTEX:
    case GLT_CAN_BARRIER:
    case GLT_CAN_COND:
    case GLT_CAN_KEY:
    case GLT_CAN_FOREIGN_CREATE:
    case GLT_CAN_FOREIGN_WAIT:
    case GLT_CAN_FOREIGN_RESUME:
    case GLT_CAN_IDLE_SPIN_SLEEP:
    case GLT_CAN_IDLE_SLEEP: return GLT_EMULATED;
    default:
        if (capability < 0 || capability >= GLT_CAPABILITIES)
            glt_shared_report(GLT_ERROR_VALUE, "glt_can: capability %d, not 0 to %d", capability, GLT_CAPABILITIES - 1);
        return GLT_CANNOT;
    }
}

GLT_API int glt_initialized(void) { return glt_shared_process.running; }
GLT_API const char* glt_backend_name(void) { return glt_shared_process.running ? "massivethreads" : ""; }
GLT_API int glt_get_num_threads(void) { return glt_shared_process.num_threads; }
GLT_API int glt_get_thread_num(void) { return glt_shared_thread(); }
GLT_API void glt_workunit_get_thread_id(GLT_thread_id* id)
{
    if (GLT_SHARED_TELLS("glt_workunit_get_thread_id", id)) *id = glt_shared_thread();
}

GLT_API void glt_yield(void)
{
    if (__builtin_expect(__atomic_load_n(&glt_shared_process.look_closer, __ATOMIC_RELAXED) != 0, 0) &&
        !glt_shared_look_closer("glt_yield"))
        return;
    if (__builtin_expect(glt_shared_thread() < 0, 0)) glt_shared_sched_yield();
    else GLT_SHARED_SWITCH(myth_yield());
}

/* The hook finds the named unit in this worker's queue or inbox. */
GLT_API void glt_yield_to(GLT_ult unit)
{
    struct glt_shared_record* record = glt_shared_record_of(unit);
    int rank = glt_shared_thread();
    if (!record) {
        glt_shared_bad_handle("glt_yield_to", unit);
    } else if (rank < 0) {
        glt_shared_sched_yield();
    } else if (!__atomic_load_n(&glt_shared_process.look_closer, __ATOMIC_RELAXED) || glt_shared_look_closer("glt_yield_to")) {
        glt_myth.workers[rank].wanted = record;
        GLT_SHARED_SWITCH(myth_yield_ex(myth_yield_option_steal_first));
    }
}

GLT_API void glt_ult_migrate_self_to(GLT_thread_id id)
{
    struct glt_shared_record* me = glt_shared_self();
    if (id < 0 || id >= glt_shared_process.num_threads) {
        glt_shared_bad_thread("glt_ult_migrate_self_to", id);
    } else if (!me || me == glt_shared_process.main_program || (glt_shared_record_state(me) & GLT_SHARED_TASKLET)) {
        glt_shared_report(GLT_ERROR_CONTEXT, "glt_ult_migrate_self_to: only ULTs move; the main program stays on thread 0");
    } else {
        glt_shared_check_cancel(me);
        glt_myth_move(me, id);
    }
}

#ifdef __cplusplus
}
#endif

#endif
