/* GLT over the operating system alone: every unit is a POSIX thread, for debugging. Debuggers, profilers and sanitizers see what
 * they know, and a program that works here and not elsewhere relies on units that run at the same time.
 *
 * A GLT thread is a number only, with a processor if threads are bound: a unit has the number it was given by its creation, else
 * the next in turn, and runs on that processor; who runs when is the system's. So a unit runs while its creator does not wait,
 * several of one thread take turns by the clock, and nothing is idle: waits sleep. Tasklets are threads too. glt_yield gives up
 * the processor. glt_yield_to is refused: the system chooses who comes next. glt_ult_exit and a cancel unwind the unit's frames,
 * destructors of C++ included. GLT_OS_MOST_UNITS units may live at once, or as many as the system allows: then creating one fails
 * with GLT_ERROR_ENVIRONMENT. Units that wait for ever when glt_finalize comes keep their threads asleep until the process ends.
 */
#ifndef TRENCADIS_GLT_OS_FUNCTIONS_H
#define TRENCADIS_GLT_OS_FUNCTIONS_H

#define GLT_SHARED_RECORD_MEMBERS                                                                                                \
    size_t stack;   /* bytes */                                                                                                  \
    uint32_t token; /* see glt_shared_block */                                                                                   \
    int32_t number; /* of its GLT thread */

#define GLT_SHARED_UNITS_SLEEP 1

#include "../shared/environment.h"
#include "../shared/join.h"
#include "../shared/plain.h"
#include "../shared/timer.h"

#include "life.h"

#ifdef __cplusplus
extern "C" {
#endif

GLT_API int glt_can(int capability)
{
    switch (capability) {
    case GLT_CAN_MIGRATE:
    case GLT_CAN_STACK_SIZE:
    case GLT_CAN_FOREIGN_CREATE:
    case GLT_CAN_FOREIGN_WAIT:
    case GLT_CAN_FOREIGN_RESUME:
    case GLT_CAN_IDLE_SLEEP: return GLT_NATIVELY;
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    case GLT_CAN_SANITIZE: return GLT_NATIVELY; /* else they see the threads, and not what these wait for */
#endif
    case GLT_CAN_STEAL: /* the system lets a ready thread run wherever it may */
    case GLT_CAN_PLACE:
    case GLT_CAN_TASKLET:
    case GLT_CAN_CANCEL:
    case GLT_CAN_CANCEL_WAITING:
    case GLT_CAN_EXIT:
    case GLT_CAN_SUSPEND:
    case GLT_CAN_JOIN:
    case GLT_CAN_MUTEX:
    case GLT_CAN_BARRIER:
    case GLT_CAN_COND:
    case GLT_CAN_KEY: return GLT_EMULATED;
    default:
        if (capability < 0 || capability >= GLT_CAPABILITIES)
            glt_shared_report(GLT_ERROR_VALUE, "glt_can: capability %d, not 0 to %d", capability, GLT_CAPABILITIES - 1);
        return GLT_CANNOT;
    }
}

GLT_API int glt_initialized(void) { return glt_shared_process.running; }
GLT_API const char* glt_backend_name(void) { return glt_shared_process.running ? "os" : ""; }
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
    glt_shared_sched_yield();
}

GLT_API void glt_yield_to(GLT_ult unit)
{
    if (!glt_shared_record_of(unit)) glt_shared_bad_handle("glt_yield_to", unit);
    else
        glt_shared_report(GLT_ERROR_UNSUPPORTED,
                          "glt_yield_to: the operating system chooses who comes next; glt_yield lets all others run");
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
        me->home = me->number = id;
        glt_os_bind(id);
    }
}

#ifdef __cplusplus
}
#endif

#endif
