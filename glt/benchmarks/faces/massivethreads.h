/* MassiveThreads: a new unit runs at once, and idle workers steal what its creator has left to do. Units cannot be placed, so
 * that create_to is create, and there are no tasklets. */
#include <myth/myth.h>

#include <string.h>

#define LWT_LIBRARY "massivethreads"
#define LWT_FORM "direct"
#define LWT_RESULT void*
#define LWT_RETURN return NULL

typedef myth_thread_t LwtUlt;
typedef myth_thread_t LwtTasklet;

static inline int lwt_begin(int threads)
{
    myth_globalattr_t attributes;
    memset(&attributes, 0, sizeof attributes); /* its init reads what it then overwrites */
    myth_globalattr_init(&attributes);
    myth_globalattr_set_stacksize(&attributes, LWT_STACK_SIZE);
    myth_globalattr_set_bind_workers(&attributes, 0);
    myth_globalattr_set_n_workers(&attributes, (size_t)threads);
    myth_init_ex(&attributes);
    return myth_get_num_workers() == threads ? 0 : -1;
}

static inline void lwt_end(void) { myth_fini(); }
static inline int lwt_steals(void) { return 1; }
static inline void lwt_yield(void) { myth_yield(); }

static inline void lwt_ult_create(myth_func_t function, void* argument, LwtUlt* ult) { *ult = myth_create(function, argument); }
static inline void lwt_ult_create_to(myth_func_t function, void* argument, LwtUlt* ult, int thread)
{
    (void)thread;
    *ult = myth_create(function, argument);
}
static inline void lwt_ult_join(LwtUlt* ult) { myth_join(*ult, NULL); }

static inline void lwt_tasklet_create(myth_func_t function, void* argument, LwtTasklet* tasklet)
{
    lwt_ult_create(function, argument, tasklet);
}
static inline void lwt_tasklet_create_to(myth_func_t function, void* argument, LwtTasklet* tasklet, int thread)
{
    lwt_ult_create_to(function, argument, tasklet, thread);
}
static inline void lwt_tasklet_join(LwtTasklet* tasklet) { lwt_ult_join(tasklet); }

typedef myth_mutex_t LwtMutex;
static inline void lwt_mutex_create(LwtMutex* mutex) { myth_mutex_init(mutex, NULL); }
static inline void lwt_mutex_lock(LwtMutex* mutex) { myth_mutex_lock(mutex); }
static inline int lwt_mutex_trylock(LwtMutex* mutex) { return myth_mutex_trylock(mutex) == 0; }
static inline void lwt_mutex_unlock(LwtMutex* mutex) { myth_mutex_unlock(mutex); }
static inline void lwt_mutex_free(LwtMutex* mutex) { myth_mutex_destroy(mutex); }
