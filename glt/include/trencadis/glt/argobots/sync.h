/* Mutexes, barriers, conditions and keys: Argobots' own. All of them take foreign threads too, except the keys, which get their
 * values from keys.h there. A tasklet that waits blocks its whole thread. */
#ifndef TRENCADIS_GLT_ARGOBOTS_SYNC_H
#define TRENCADIS_GLT_ARGOBOTS_SYNC_H

#include "runtime.h"

#ifdef __cplusplus
extern "C" {
#endif

GLT_API void glt_mutex_create(GLT_mutex* mutex)
{
    int error = ABT_SUCCESS;
    if (!GLT_SHARED_MAKES("glt_mutex_create", mutex)) return;
    error = ABT_mutex_create(mutex);
    if (__builtin_expect(error == ABT_SUCCESS, 1)) return;
    *mutex = NULL;
    glt_argobots_failed("glt_mutex_create", error);
}

/* A lock that is free is taken without a look at the exceptions: it does not leave the thread. */
GLT_API void glt_mutex_lock(GLT_mutex mutex)
{
    if (!GLT_SHARED_HAS("glt_mutex_lock", mutex)) return;
    if (__builtin_expect(ABT_mutex_trylock(mutex) != ABT_SUCCESS, 0)) GLT_SHARED_SWITCH(ABT_mutex_lock(mutex));
}

GLT_API void glt_mutex_unlock(GLT_mutex mutex)
{
    if (GLT_SHARED_HAS("glt_mutex_unlock", mutex)) ABT_mutex_unlock(mutex);
}

GLT_API int glt_mutex_trylock(GLT_mutex mutex)
{
    return GLT_SHARED_HAS("glt_mutex_trylock", mutex) && ABT_mutex_trylock(mutex) == ABT_SUCCESS;
}

/* Argobots' own turns for ever; the holder may be a unit of this thread. */
GLT_API void glt_mutex_spinlock(GLT_mutex mutex)
{
    if (!GLT_SHARED_HAS("glt_mutex_spinlock", mutex)) return;
    for (int tries = 0; tries < 1000; ++tries) {
        if (ABT_mutex_trylock(mutex) == ABT_SUCCESS) return;
        glt_shared_pause();
    }
    GLT_SHARED_SWITCH(ABT_mutex_lock(mutex));
}

GLT_API void glt_mutex_free(GLT_mutex* mutex)
{
    if (!GLT_SHARED_HOLDS("glt_mutex_free", mutex)) return;
    ABT_mutex_free(mutex);
    *mutex = NULL;
}

GLT_API void glt_barrier_create(int num_waiters, GLT_barrier* barrier)
{
    int error;
    if (!GLT_SHARED_MAKES("glt_barrier_create", barrier)) return;
    if (num_waiters < 1) {
        glt_shared_report(GLT_ERROR_VALUE, "glt_barrier_create: num_waiters is %d, not 1 or more", num_waiters);
        return;
    }
    error = ABT_barrier_create((uint32_t)num_waiters, barrier);
    if (error == ABT_SUCCESS) return;
    *barrier = NULL;
    glt_argobots_failed("glt_barrier_create", error);
}

GLT_API void glt_barrier_wait(GLT_barrier* barrier)
{
    if (GLT_SHARED_HOLDS("glt_barrier_wait", barrier)) GLT_SHARED_SWITCH(ABT_barrier_wait(*barrier));
}

GLT_API void glt_barrier_free(GLT_barrier* barrier)
{
    if (!GLT_SHARED_HOLDS("glt_barrier_free", barrier)) return;
    ABT_barrier_free(barrier);
    *barrier = NULL;
}

GLT_API void glt_cond_create(GLT_cond* cond)
{
    int error;
    if (!GLT_SHARED_MAKES("glt_cond_create", cond)) return;
    error = ABT_cond_create(cond);
    if (error == ABT_SUCCESS) return;
    *cond = NULL;
    glt_argobots_failed("glt_cond_create", error);
}

GLT_API void glt_cond_wait(GLT_cond cond, GLT_mutex mutex)
{
    if (GLT_SHARED_HAS("glt_cond_wait", cond) && GLT_SHARED_HAS("glt_cond_wait", mutex))
        GLT_SHARED_SWITCH(ABT_cond_wait(cond, mutex));
}

GLT_API void glt_cond_signal(GLT_cond cond)
{
    if (GLT_SHARED_HAS("glt_cond_signal", cond)) ABT_cond_signal(cond);
}

GLT_API void glt_cond_broadcast(GLT_cond cond)
{
    if (GLT_SHARED_HAS("glt_cond_broadcast", cond)) ABT_cond_broadcast(cond);
}

GLT_API void glt_cond_free(GLT_cond* cond)
{
    if (!GLT_SHARED_HOLDS("glt_cond_free", cond)) return;
    ABT_cond_free(cond);
    *cond = NULL;
}

#ifdef __cplusplus
}
#endif

#endif
