/* Mutexes, barriers, conditions, counters, events, keys and timers: null handles, null pointers and wrong numbers are found here.
 */
#include "glt/dynamic/dispatch.h"

GLT_COLD static int refuse_null(const char* function)
{
    return glt_refuse(function, GLT_ERROR_HANDLE, "the handle is null: it was never created, or was freed");
}

GLT_COLD static int refuse_pointer(const char* function, const void* pointer)
{
    return pointer == NULL ? glt_refuse(function, GLT_ERROR_HANDLE, "the pointer to the handle is null") : refuse_null(function);
}

GLT_COLD static int refuse_place(const char* function, const char* what)
{
    return glt_refuse(function, GLT_ERROR_VALUE, "the pointer to where %s goes is null", what);
}

int glt_refuse_seconds(const char* function, double seconds)
{
    return glt_refuse(function, GLT_ERROR_VALUE, "%g seconds were given; 0 or more", seconds);
}

/* The shapes that most functions have. `handle` is a handle, `place` where one is or goes. */
/* clang-format off */
#define GLT_CREATE(function, Type)                                                             \
    void glt_##function(Type *place)                                                           \
    {                                                                                          \
        if (GLT_UNLIKELY(place == NULL)) { refuse_place(#function, "the handle"); return; }    \
        *place = NULL;                                                                         \
        glt_table()->function(place);                                                          \
    }
#define GLT_USE(function, Type)                                                                \
    void glt_##function(Type handle)                                                           \
    {                                                                                          \
        if (GLT_UNLIKELY(handle == NULL)) { refuse_null(#function); return; }                  \
        glt_table()->function(handle);                                                         \
    }
#define GLT_ASK(function, Type)                                                                \
    int glt_##function(Type handle)                                                            \
    {                                                                                          \
        if (GLT_UNLIKELY(handle == NULL)) return refuse_null(#function);                       \
        return glt_table()->function(handle);                                                  \
    }
#define GLT_ASK_FOR(function, Type)                                                            \
    int glt_##function(Type handle, double seconds)                                            \
    {                                                                                          \
        if (GLT_UNLIKELY(handle == NULL)) return refuse_null(#function);                       \
        if (GLT_UNLIKELY(!(seconds >= 0))) return glt_refuse_seconds(#function, seconds);      \
        return glt_table()->function(handle, seconds);                                         \
    }
#define GLT_USE_PLACE(function, Type)                                                          \
    void glt_##function(Type *place)                                                           \
    {                                                                                          \
        if (GLT_UNLIKELY(place == NULL || *place == NULL)) { refuse_pointer(#function, place); return; } \
        glt_table()->function(place);                                                          \
    }
#define GLT_ASK_PLACE(function, Type)                                                          \
    int glt_##function(Type *place)                                                            \
    {                                                                                          \
        if (GLT_UNLIKELY(place == NULL || *place == NULL)) return refuse_pointer(#function, place); \
        return glt_table()->function(place);                                                   \
    }

GLT_CREATE(mutex_create, GLT_mutex)
GLT_USE(mutex_lock, GLT_mutex)
GLT_USE(mutex_unlock, GLT_mutex)
GLT_USE(mutex_spinlock, GLT_mutex)
GLT_USE_PLACE(mutex_free, GLT_mutex)

GLT_USE_PLACE(barrier_wait, GLT_barrier)
GLT_USE_PLACE(barrier_free, GLT_barrier)

GLT_CREATE(cond_create, GLT_cond)
GLT_USE(cond_signal, GLT_cond)
GLT_USE(cond_broadcast, GLT_cond)
GLT_USE_PLACE(cond_free, GLT_cond)

GLT_ASK(counter_wait, GLT_counter)
GLT_ASK_FOR(counter_wait_for, GLT_counter)
GLT_ASK_PLACE(counter_free, GLT_counter)

GLT_ASK(event_set, GLT_event)
GLT_ASK(event_reset, GLT_event)
GLT_ASK(event_wait, GLT_event)
GLT_ASK_FOR(event_wait_for, GLT_event)
GLT_ASK_PLACE(event_free, GLT_event)

GLT_USE_PLACE(key_free, GLT_key)

GLT_CREATE(timer_create, GLT_timer)
GLT_USE(timer_start, GLT_timer)
GLT_USE(timer_stop, GLT_timer)
GLT_USE_PLACE(timer_free, GLT_timer)
/* clang-format on */

/* 0 says that the lock was not taken. */
int glt_mutex_trylock(GLT_mutex mutex)
{
    if (mutex != NULL) return glt_table()->mutex_trylock(mutex);
    refuse_null("mutex_trylock");
    return 0;
}

void glt_barrier_create(int num_waiters, GLT_barrier* barrier)
{
    if (barrier != NULL) *barrier = NULL;
    if (barrier == NULL) refuse_place("barrier_create", "the handle");
    else if (num_waiters < 1)
        glt_refuse("barrier_create", GLT_ERROR_VALUE, "a barrier for %d units was asked for; at least 1", num_waiters);
    else glt_table()->barrier_create(num_waiters, barrier);
}

void glt_cond_wait(GLT_cond cond, GLT_mutex mutex)
{
    if (GLT_UNLIKELY(cond == NULL)) refuse_null("cond_wait");
    else if (GLT_UNLIKELY(mutex == NULL))
        glt_refuse("cond_wait", GLT_ERROR_HANDLE, "the mutex is null: it was never created, or was freed");
    else glt_table()->cond_wait(cond, mutex);
}

int glt_counter_create(long count, GLT_counter* counter)
{
    if (counter == NULL) return refuse_place("counter_create", "the handle");
    *counter = NULL;
    if (count < 0) return glt_refuse("counter_create", GLT_ERROR_VALUE, "a count of %ld was given; 0 or more", count);
    return glt_table()->counter_create(count, counter);
}

int glt_counter_add(GLT_counter counter, long change)
{
    return GLT_UNLIKELY(counter == NULL) ? refuse_null("counter_add") : glt_table()->counter_add(counter, change);
}

int glt_event_create(GLT_event* event)
{
    if (event == NULL) return refuse_place("event_create", "the handle");
    *event = NULL;
    return glt_table()->event_create(event);
}

void glt_key_create(void (*destructor)(void* value), GLT_key* key)
{
    if (key != NULL) {
        *key = NULL;
        glt_table()->key_create(destructor, key);
    } else {
        refuse_place("key_create", "the handle");
    }
}

void glt_key_set(GLT_key key, void* value)
{
    if (GLT_UNLIKELY(key == NULL)) refuse_null("key_set");
    else glt_table()->key_set(key, value);
}

void glt_key_get(GLT_key key, void** value)
{
    if (GLT_UNLIKELY(value == NULL)) {
        refuse_place("key_get", "the value");
        return;
    }
    *value = NULL;
    if (GLT_UNLIKELY(key == NULL)) refuse_null("key_get");
    else glt_table()->key_get(key, value);
}

void glt_timer_get_secs(GLT_timer timer, double* secs)
{
    if (secs == NULL) {
        refuse_place("timer_get_secs", "the time");
        return;
    }
    *secs = 0;
    if (timer == NULL) refuse_null("timer_get_secs");
    else glt_table()->timer_get_secs(timer, secs);
}
