/* Through GLT: the dynamic library, or header-only over the back end that GLT_STATIC names. LWT_GLT(name) is the function of
 * GLT that a face calls; faces/native.h puts the native library's own symbols in its place. */
#include <trencadis/glt.h>

#ifndef LWT_GLT
#define LWT_GLT(name) glt_##name
#ifdef GLT_STATIC
#define LWT_FORM "header-only"
#else
#define LWT_FORM "dynamic"
#endif
#endif
#define LWT_LIBRARY LWT_GLT(backend_name)()
#define LWT_RESULT void
#define LWT_RETURN return

typedef GLT_ult LwtUlt;
typedef GLT_tasklet LwtTasklet;

static int lwt_work_is_stolen; /* asked once: the answer does not change while the library runs */

static inline int lwt_begin(int threads)
{
    GLT_options options = {0};
    options.num_threads = threads;
    options.stack_size = LWT_STACK_SIZE;
    options.bind = -1;
    const int status = LWT_GLT(init_with)(&options);
    if (status != GLT_SUCCESS) return status;
    lwt_work_is_stolen = LWT_GLT(can)(GLT_CAN_STEAL) != GLT_CANNOT;
    return LWT_GLT(get_num_threads)() == threads ? 0 : -1;
}

static inline void lwt_end(void) { LWT_GLT(finalize)(); }
static inline int lwt_steals(void) { return lwt_work_is_stolen; }
static inline void lwt_yield(void) { LWT_GLT(yield)(); }

static inline void lwt_ult_create(void (*function)(void*), void* argument, LwtUlt* ult)
{
    LWT_GLT(ult_create)(function, argument, ult);
}
static inline void lwt_ult_create_to(void (*function)(void*), void* argument, LwtUlt* ult, int thread)
{
    LWT_GLT(ult_create_to)(function, argument, ult, thread);
}
static inline void lwt_ult_join(LwtUlt* ult) { LWT_GLT(ult_free)(ult); }

static inline void lwt_tasklet_create(void (*function)(void*), void* argument, LwtTasklet* tasklet)
{
    LWT_GLT(tasklet_create)(function, argument, tasklet);
}
static inline void lwt_tasklet_create_to(void (*function)(void*), void* argument, LwtTasklet* tasklet, int thread)
{
    LWT_GLT(tasklet_create_to)(function, argument, tasklet, thread);
}
static inline void lwt_tasklet_join(LwtTasklet* tasklet) { LWT_GLT(tasklet_free)(tasklet); }

typedef GLT_mutex LwtMutex;
static inline void lwt_mutex_create(LwtMutex* mutex) { LWT_GLT(mutex_create)(mutex); }
static inline void lwt_mutex_lock(LwtMutex* mutex) { LWT_GLT(mutex_lock)(*mutex); }
static inline int lwt_mutex_trylock(LwtMutex* mutex) { return LWT_GLT(mutex_trylock)(*mutex); }
static inline void lwt_mutex_unlock(LwtMutex* mutex) { LWT_GLT(mutex_unlock)(*mutex); }
static inline void lwt_mutex_free(LwtMutex* mutex) { LWT_GLT(mutex_free)(mutex); }
