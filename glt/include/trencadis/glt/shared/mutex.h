/* Mutexes, conditions and barriers for units and foreign threads alike. An uncontended lock or unlock is one atomic instruction;
 * the libraries' own would leave foreign threads out, do not end cancelled units and cannot tell glt_finalize who waits for ever.
 * A back end's types.h says `typedef struct glt_shared_mutex *GLT_mutex;` and so on. */
#ifndef TRENCADIS_GLT_SHARED_MUTEX_H
#define TRENCADIS_GLT_SHARED_MUTEX_H

#include "wait.h"

#ifdef __cplusplus
extern "C" {
#endif

struct glt_shared_mutex {
    uint32_t state; /* 0 free, 1 taken, 2 taken and the list may not be empty */
    struct glt_shared_waiters waiters;
};

/* Before memory is freed in which somebody may still be looking for its waiter, see glt_shared_leave_lock. */
static inline void glt_shared_await_leavers(void)
{
    if (__builtin_expect(__atomic_load_n(&glt_shared_leavers, __ATOMIC_SEQ_CST) == 0, 1)) return;
    glt_shared_lock(&glt_shared_leave_lock);
    glt_shared_unlock(&glt_shared_leave_lock);
}

/* Memory for an object in *handle, or a report in the name of `function`. */
GLT_SHARED_APART void* glt_shared_object(const char* function, size_t size)
{
    void* object = calloc(1, size);
    if (!object) glt_shared_report(GLT_ERROR_MEMORY, "%s: no memory", function);
    return object;
}

GLT_API void glt_mutex_create(GLT_mutex* mutex)
{
    if (GLT_SHARED_MAKES("glt_mutex_create", mutex))
        *mutex = (GLT_mutex)glt_shared_object("glt_mutex_create", sizeof(struct glt_shared_mutex));
}

GLT_API void glt_mutex_free(GLT_mutex* mutex)
{
    if (!GLT_SHARED_HOLDS("glt_mutex_free", mutex)) return;
    if (__atomic_load_n(&(*mutex)->state, __ATOMIC_ACQUIRE) != 0) {
        glt_shared_report(GLT_ERROR_STATE, "glt_mutex_free: the mutex is locked; unlock it first");
    } else {
        glt_shared_await_leavers();
        /* An unlock writes the state and then gives up the list's lock. Who saw the state, took the mutex and gave it back may be
         * here in between: after this nobody has the lock any more. */
        glt_shared_lock(&(*mutex)->waiters.lock);
        glt_shared_unlock(&(*mutex)->waiters.lock);
        free(*mutex);
        *mutex = NULL;
    }
}

static inline int glt_shared_mutex_try(struct glt_shared_mutex* mutex)
{
    uint32_t unlocked = 0;
    return __atomic_compare_exchange_n(&mutex->state, &unlocked, 1, 0, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED);
}

/* The state becomes 2 and the waiter enters the list under the list's lock, where unlock looks once it has seen a 2: none is
 * missed. Unlock hands the mutex over, the state stays taken: whoever came first has it first. 0: the caller was cancelled, and
 * has it not. */
GLT_SHARED_APART int glt_shared_mutex_wait(struct glt_shared_mutex* mutex, int open)
{
    struct glt_shared_waiter waiter;
    struct glt_shared_record* me = glt_shared_self();
    int waits;
    glt_shared_waiter_init(&waiter, me);
    glt_shared_lock(&mutex->waiters.lock);
    if (__atomic_exchange_n(&mutex->state, 2, __ATOMIC_ACQUIRE) == 0) {
        glt_shared_unlock(&mutex->waiters.lock);
        return 1;
    }
    waits = !open || glt_shared_will_block_open(me);
    if (!open) glt_shared_will_block(me);
    if (waits) glt_shared_waiters_add(&mutex->waiters, &waiter);
    glt_shared_unlock(&mutex->waiters.lock);
    if (!waits || glt_shared_wait(&waiter)) return waits;
    glt_shared_withdraw(&mutex->waiters, &waiter, NULL);
    return 0;
}

/* For a unit that was checked before, or must have the mutex whatever it is told. */
static inline void glt_shared_mutex_take(struct glt_shared_mutex* mutex)
{
    if (__builtin_expect(!glt_shared_mutex_try(mutex), 0)) glt_shared_mutex_wait(mutex, 0);
}

GLT_SHARED_APART void glt_shared_mutex_lock_slowly(struct glt_shared_mutex* mutex)
{
    if (glt_shared_may_wait("glt_mutex_lock", glt_shared_self()) == GLT_SUCCESS && !glt_shared_mutex_wait(mutex, 1))
        glt_shared_check_cancel(glt_shared_self());
}

GLT_API void glt_mutex_lock(GLT_mutex mutex)
{
    if (!GLT_SHARED_HAS("glt_mutex_lock", mutex)) return;
    if (__builtin_expect(!glt_shared_mutex_try(mutex), 0)) glt_shared_mutex_lock_slowly(mutex);
}

GLT_API int glt_mutex_trylock(GLT_mutex mutex)
{
    return GLT_SHARED_HAS("glt_mutex_trylock", mutex) && glt_shared_mutex_try(mutex);
}

GLT_API void glt_mutex_spinlock(GLT_mutex mutex)
{
    if (!GLT_SHARED_HAS("glt_mutex_spinlock", mutex)) return;
    for (int i = 0; i < 100; ++i) {
        if (__atomic_load_n(&mutex->state, __ATOMIC_RELAXED) == 0 && glt_shared_mutex_try(mutex)) return;
        glt_shared_pause();
    }
    glt_mutex_lock(mutex);
}

GLT_SHARED_APART void glt_shared_mutex_unlock_slowly(struct glt_shared_mutex* mutex)
{
    struct glt_shared_waiter* waiter;
    glt_shared_lock(&mutex->waiters.lock);
    if (__atomic_load_n(&mutex->state, __ATOMIC_RELAXED) == 0) { /* so only the first time round */
        glt_shared_unlock(&mutex->waiters.lock);
        glt_shared_report(GLT_ERROR_STATE, "glt_mutex_unlock: the mutex is not locked");
        return;
    }
    for (;;) {
        waiter = glt_shared_waiters_take(&mutex->waiters);
        __atomic_store_n(&mutex->state, !waiter ? 0 : mutex->waiters.first ? 2 : 1, __ATOMIC_RELEASE);
        glt_shared_unlock(&mutex->waiters.lock);
        if (!waiter || glt_shared_wake(waiter)) return;
        glt_shared_lock(&mutex->waiters.lock); /* that one was cancelled: the next */
    }
}

GLT_API void glt_mutex_unlock(GLT_mutex mutex)
{
    uint32_t alone = 1;
    if (!GLT_SHARED_HAS("glt_mutex_unlock", mutex)) return;
    if (__builtin_expect(!__atomic_compare_exchange_n(&mutex->state, &alone, 0, 0, __ATOMIC_RELEASE, __ATOMIC_RELAXED), 0))
        glt_shared_mutex_unlock_slowly(mutex);
}

/* --- Conditions ------------------------------------------------------------------------------------------------- */

struct glt_shared_cond {
    struct glt_shared_waiters waiters;
};

GLT_API void glt_cond_create(GLT_cond* cond)
{
    if (GLT_SHARED_MAKES("glt_cond_create", cond))
        *cond = (GLT_cond)glt_shared_object("glt_cond_create", sizeof(struct glt_shared_cond));
}

GLT_API void glt_cond_free(GLT_cond* cond)
{
    if (!GLT_SHARED_HOLDS("glt_cond_free", cond)) return;
    glt_shared_await_leavers();
    free(*cond);
    *cond = NULL;
}

/* In the list before the mutex is free: a signal given under the mutex after that finds the waiter. The mutex is given up under
 * the list's lock, so that the unit wakes nobody any more once it counts as blocked. */
GLT_API void glt_cond_wait(GLT_cond cond, GLT_mutex mutex)
{
    struct glt_shared_waiter waiter;
    struct glt_shared_record* me = glt_shared_self();
    int waits;
    if (!GLT_SHARED_HAS("glt_cond_wait", cond) || !GLT_SHARED_HAS("glt_cond_wait", mutex)) return;
    if (glt_shared_may_wait("glt_cond_wait", me) != GLT_SUCCESS) return;
    if (__atomic_load_n(&mutex->state, __ATOMIC_RELAXED) == 0) {
        glt_shared_report(GLT_ERROR_STATE, "glt_cond_wait: the mutex is not locked");
        return;
    }
    glt_shared_waiter_init(&waiter, me);
    glt_shared_lock(&cond->waiters.lock);
    glt_shared_waiters_add(&cond->waiters, &waiter);
    glt_mutex_unlock(mutex);
    waits = glt_shared_will_block_open(me);
    if (!waits) glt_shared_waiters_remove(&cond->waiters, &waiter);
    glt_shared_unlock(&cond->waiters.lock);
    if (waits && !glt_shared_wait(&waiter)) glt_shared_withdraw(&cond->waiters, &waiter, NULL);
    glt_shared_mutex_take(mutex);
    if (me) glt_shared_check_cancel(me);
}

GLT_API void glt_cond_signal(GLT_cond cond)
{
    struct glt_shared_waiter* waiter;
    if (!GLT_SHARED_HAS("glt_cond_signal", cond)) return;
    do { /* one that was cancelled is none */
        glt_shared_lock(&cond->waiters.lock);
        waiter = glt_shared_waiters_take(&cond->waiters);
        glt_shared_unlock(&cond->waiters.lock);
    } while (waiter && !glt_shared_wake(waiter));
}

GLT_API void glt_cond_broadcast(GLT_cond cond)
{
    struct glt_shared_waiter* first;
    if (!GLT_SHARED_HAS("glt_cond_broadcast", cond)) return;
    glt_shared_lock(&cond->waiters.lock);
    first = glt_shared_waiters_take_all(&cond->waiters);
    glt_shared_unlock(&cond->waiters.lock);
    glt_shared_wake_all(first);
}

/* --- Barriers --------------------------------------------------------------------------------------------------- */

struct glt_shared_barrier {
    int expected, arrived; /* under the list's lock */
    struct glt_shared_waiters waiters;
};

GLT_API void glt_barrier_create(int num_waiters, GLT_barrier* barrier)
{
    if (!GLT_SHARED_MAKES("glt_barrier_create", barrier)) return;
    if (num_waiters < 1) {
        glt_shared_report(GLT_ERROR_VALUE, "glt_barrier_create: num_waiters is %d, not 1 or more", num_waiters);
        return;
    }
    *barrier = (GLT_barrier)glt_shared_object("glt_barrier_create", sizeof(struct glt_shared_barrier));
    if (*barrier) (*barrier)->expected = num_waiters;
}

GLT_API void glt_barrier_free(GLT_barrier* barrier)
{
    if (!GLT_SHARED_HOLDS("glt_barrier_free", barrier)) return;
    glt_shared_await_leavers();
    free(*barrier);
    *barrier = NULL;
}

/* The last one takes all others out of the list before it lets go of the lock: the barrier is ready for the next round at once.
 */
GLT_API void glt_barrier_wait(GLT_barrier* barrier)
{
    struct glt_shared_barrier* at;
    struct glt_shared_waiter waiter;
    struct glt_shared_record* me = glt_shared_self();
    int waits;
    if (!GLT_SHARED_HOLDS("glt_barrier_wait", barrier)) return;
    at = *barrier;
    if (glt_shared_may_wait("glt_barrier_wait", me) != GLT_SUCCESS) return;
    glt_shared_waiter_init(&waiter, me);
    glt_shared_lock(&at->waiters.lock);
    if (++at->arrived == at->expected) {
        struct glt_shared_waiter* first = glt_shared_waiters_take_all(&at->waiters);
        at->arrived = 0;
        glt_shared_unlock(&at->waiters.lock);
        glt_shared_wake_all(first);
        return;
    }
    waits = glt_shared_will_block_open(me);
    if (waits) glt_shared_waiters_add(&at->waiters, &waiter);
    else --at->arrived;
    glt_shared_unlock(&at->waiters.lock);
    if (waits && glt_shared_wait(&waiter)) return;
    if (waits) glt_shared_withdraw(&at->waiters, &waiter, &at->arrived);
    glt_shared_check_cancel(me);
}

#ifdef __cplusplus
}
#endif

#endif
