/* glt_ult_suspend and glt_ult_resume. Argobots resumes only a unit that is blocked, and would take one that waits for a mutex for
 * such a one. So each unit has a word of ours, kept as the value of a key and read and written under the unit's lock.
 *
 * Under the same lock a cancel leaves its mark (gate.h), and then looks whether the unit is suspended: either the unit sees the
 * mark and does not suspend itself, or the cancel sees it suspended and resumes it. */
#ifndef TRENCADIS_GLT_ARGOBOTS_SUSPEND_H
#define TRENCADIS_GLT_ARGOBOTS_SUSPEND_H

#include "gate.h"

#ifdef __cplusplus
extern "C" {
#endif

#define GLT_ARGOBOTS_RESUMED ((void*)1)   /* a resume came first */
#define GLT_ARGOBOTS_SUSPENDED ((void*)2) /* the unit is blocked, or will be after a few instructions */

GLT_API int glt_ult_suspend(void)
{
    ABT_thread self = ABT_THREAD_NULL;
    ABT_unit_type type = ABT_UNIT_TYPE_EXT;
    void *word = NULL, *waiting = NULL;
    uint32_t* lock;
    int error = ABT_SUCCESS;
    ABT_self_get_type(&type);
    if (type != ABT_UNIT_TYPE_THREAD)
        return glt_shared_refuse("glt_ult_suspend", GLT_ERROR_CONTEXT,
                                 "called by a tasklet or a foreign thread, not by a ULT or the main program");
    ABT_self_get_thread(&self);
    lock = glt_argobots_lock_of(self);
    glt_shared_lock(lock);
    ABT_self_get_specific(glt_argobots.suspended, &word);
    ABT_self_get_specific(glt_argobots.waiting, &waiting);
    if (waiting != GLT_ARGOBOTS_NO_MORE_WAITS)
        error = ABT_self_set_specific(glt_argobots.suspended, word == GLT_ARGOBOTS_RESUMED ? NULL : GLT_ARGOBOTS_SUSPENDED);
    glt_shared_unlock(lock);
    if (error != ABT_SUCCESS) return glt_argobots_failed("glt_ult_suspend", error);
    if (waiting == GLT_ARGOBOTS_NO_MORE_WAITS) GLT_SHARED_SWITCH(ABT_self_yield()); /* and does not come back */
    else if (word != GLT_ARGOBOTS_RESUMED) GLT_SHARED_SWITCH(ABT_self_suspend());
    return GLT_SUCCESS;
}

/* Makes a suspended unit ready; answers 0 when it was not suspended, and then keeps the resume if `keep`. */
GLT_SHARED_APART int glt_argobots_resume(ABT_thread unit, int keep, int* error)
{
    void* word = NULL;
    uint32_t* lock = glt_argobots_lock_of(unit);
    glt_shared_lock(lock);
    *error = ABT_thread_get_specific(unit, glt_argobots.suspended, &word);
    if (*error == ABT_SUCCESS && (word == GLT_ARGOBOTS_SUSPENDED || keep))
        *error =
            ABT_thread_set_specific(unit, glt_argobots.suspended, word == GLT_ARGOBOTS_SUSPENDED ? NULL : GLT_ARGOBOTS_RESUMED);
    glt_shared_unlock(lock);
    if (*error != ABT_SUCCESS || word != GLT_ARGOBOTS_SUSPENDED) return 0;
    *error = glt_argobots_unblock(unit);
    return *error == ABT_SUCCESS;
}

GLT_API int glt_ult_resume(GLT_ult unit)
{
    int error = ABT_SUCCESS;
    if (__builtin_expect(!unit, 0)) return glt_shared_null("glt_ult_resume");
    glt_argobots_resume(unit, 1, &error);
    return error == ABT_SUCCESS ? GLT_SUCCESS : glt_argobots_failed("glt_ult_resume", error);
}

#ifdef __cplusplus
}
#endif

#endif
