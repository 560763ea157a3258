/* GLT over Qthreads 1.2x (Wheeler, Murphy, Thain 2008): a thread is a shepherd with one worker, a ULT a qthread, a tasklet a
 * qthread without a stack (QTHREAD_SPAWN_SIMPLE).
 *
 * Wrapped: fork, yield, migrate_to, shep. Emulated over records and one full/empty word per unit: join, detach, suspend and
 * resume, mutex, condition, barrier, counter, event, keys, cancel, exit. A unit stays on the shepherd it was created to, by
 * glt_ult_create the creator's: the library's standard scheduler does not steal. glt_yield_to is refused: the library cannot
 * choose who comes next. glt_ult_exit and a cancel unwind the unit's frames, destructors of C++ included. Stacks are of one size
 * for all units and have no guard page (unless the library was built with them). A foreign thread forks by itself; its other
 * calls wait in the operating system, and what must run on a shepherd (filling a word) is sent there as a unit without a stack.
 * The library keeps some memory for each foreign thread that forked, until glt_finalize. Idle shepherds turn, which is all the
 * library has. The policies that sleep add one unit to each shepherd, which sleeps in the operating system while nothing else is
 * ready there; it takes part in every turn of yields. */
#ifndef TRENCADIS_GLT_QTHREADS_FUNCTIONS_H
#define TRENCADIS_GLT_QTHREADS_FUNCTIONS_H

#define GLT_SHARED_RECORD_MEMBERS                                                                                                \
    aligned_t word; /* see glt_shared_block */                                                                                   \
    uint32_t park;

#include "../shared/environment.h"
#include "../shared/join.h"
#include "../shared/plain.h"
#include "../shared/timer.h"

#include "idle.h"
#include "life.h"

#ifdef __cplusplus
extern "C" {
#endif

GLT_API int glt_can(int capability)
{
    switch (capability) {
    case GLT_CAN_PLACE:
    case GLT_CAN_TASKLET:
    case GLT_CAN_MIGRATE:
    case GLT_CAN_FOREIGN_CREATE:
    case GLT_CAN_IDLE_SPIN: return GLT_NATIVELY;
    case GLT_CAN_CANCEL:
    case GLT_CAN_CANCEL_WAITING:
    case GLT_CAN_EXIT:
    case GLT_CAN_SUSPEND:
    case GLT_CAN_JOIN:
    case GLT_CAN_MUTEX:
    case GLT_CAN_BARRIER:
    case GLT_CAN_COND:
    case GLT_CAN_KEY:
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
GLT_API const char* glt_backend_name(void) { return glt_shared_process.running ? "qthreads" : ""; }
GLT_API int glt_get_num_threads(void) { return glt_shared_process.num_threads; }
/* NO_SHEPHERD is -1 as a number of 16 bits. */
GLT_API int glt_get_thread_num(void) { return (int16_t)qthread_shep(); }
GLT_API void glt_workunit_get_thread_id(GLT_thread_id* id)
{
    if (GLT_SHARED_TELLS("glt_workunit_get_thread_id", id)) *id = (int16_t)qthread_shep();
}

/* The library's own yield does nothing in a foreign thread and before the start. */
GLT_API void glt_yield(void)
{
    if (__builtin_expect(__atomic_load_n(&glt_shared_process.look_closer, __ATOMIC_RELAXED) != 0, 0) &&
        !glt_shared_look_closer("glt_yield"))
        return;
    GLT_SHARED_SWITCH(qthread_yield_(0));
}

GLT_API void glt_yield_to(GLT_ult unit)
{
    if (!glt_shared_record_of(unit)) glt_shared_bad_handle("glt_yield_to", unit);
    else
        glt_shared_report(GLT_ERROR_UNSUPPORTED,
                          "glt_yield_to: Qthreads cannot choose who comes next; glt_yield lets all others run");
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
        me->home = id;
        GLT_SHARED_SWITCH(qthread_migrate_to((qthread_shepherd_id_t)id));
        glt_qthreads_wake_idle();
    }
}

#ifdef __cplusplus
}
#endif

#endif
