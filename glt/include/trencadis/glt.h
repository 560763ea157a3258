/* GLT: one interface to user-level threads, every library under it.
 *
 * A GLT_thread is an operating system thread bound to a core, with a queue and a scheduler of its own (Argobots: execution
 * stream; Qthreads: shepherd; MassiveThreads: worker). Work units are ULTs (a stack of their own: they may yield, wait, be
 * suspended) and tasklets (no stack of their own where the library has such: they run to their end and may not wait).
 *
 * Two forms, one source:
 *   dynamic      cc prog.c $(pkg-config --cflags --libs glt)
 *   header-only  cc -DGLT_STATIC=native prog.c $(pkg-config --cflags --libs glt-static)
 * In the first the back end is chosen when the program runs, in the second everything is static inline. GLT_STATIC is one of the
 * back ends: native, argobots, qthreads, massivethreads, os. All translation units of a program use the same form and back end.
 * The dynamic form checks its arguments; the header-only form leaves out the checks listed in docs/threads.md.
 *
 * Errors. Functions the published interface does not have answer with a status. Every error (>= GLT_ERROR_STATE), of any
 * function, is also kept for glt_last_status() and handed to the error handler with one line of text, as in "glt_ult_join: the
 * handle is null"; the standard handler writes it to standard error. Nothing aborts the program; a call that fails has done
 * nothing, and a handle that it should have made is null.
 *
 * Threads. Unless a function says otherwise it may be called from any unit, and from operating system threads the library did not
 * create (foreign threads) as far as glt_can() says. A foreign thread waits in the operating system, a unit leaves its core to
 * another.
 *
 * Environment, read by glt_init and for what the options leave open: GLT_BACKEND, GLT_NUM_THREADS, GLT_STACK_SIZE (bytes, or with
 * k, m), GLT_IDLE (spin, spin-sleep, sleep), GLT_BIND (0, 1).
 *
 * Functions of the published interface keep their names and signatures: Castello, Mayo, Sala, Beltran, Balaji, Pena: On the
 * adequacy of lightweight thread approaches for high-level parallel programming models, and GLT: a unified API for lightweight
 * thread libraries, Euro-Par 2017. */
#ifndef TRENCADIS_GLT_H
#define TRENCADIS_GLT_H

#include <stddef.h>
#include <stdint.h>

#ifdef GLT_STATIC
#define GLT_API static inline
#define GLT_TEXT_(x) #x
#define GLT_TEXT(x) GLT_TEXT_(x)
/* clang-format off */
#define GLT_HEADER_(backend, part) GLT_TEXT(glt/backend/part.h)
/* clang-format on */
#define GLT_HEADER(backend, part) GLT_HEADER_(backend, part)
#else
#define GLT_API extern
#endif

#define GLT_TRUE 1
#define GLT_FALSE 0
#define GLT_NULL NULL

/* What a call answers. The first three are answers, the others errors. */
enum {
    GLT_SUCCESS = 0,
    GLT_BUSY = 1,              /* not finished, not free, not set: try again */
    GLT_TIMEOUT = 2,           /* not within the time given */
    GLT_ERROR_STATE = 3,       /* before glt_init, after glt_finalize, or initialised twice */
    GLT_ERROR_HANDLE = 4,      /* null, or already joined or freed */
    GLT_ERROR_VALUE = 5,       /* a number out of its range, a name nobody knows */
    GLT_ERROR_CONTEXT = 6,     /* not allowed where it was called: a tasklet that would wait, a unit that joins itself */
    GLT_ERROR_MISSING = 7,     /* the back end is not installed on this machine */
    GLT_ERROR_UNSUPPORTED = 8, /* this back end cannot do it, see glt_can() */
    GLT_ERROR_MEMORY = 9,
    GLT_ERROR_ENVIRONMENT = 10 /* the system refused: threads, limits, a variable that cannot be read */
};

/* What a back end can do: glt_can(one of these) answers GLT_CANNOT, GLT_EMULATED or GLT_NATIVELY. */
enum { GLT_CANNOT = 0, GLT_EMULATED = 1, GLT_NATIVELY = 2 };
enum {
    GLT_CAN_STEAL,      /* idle threads take units from others' queues */
    GLT_CAN_PLACE,      /* create_to and GLT_PLACE_STRICT: the unit runs on that thread and no other */
    GLT_CAN_TASKLET,    /* tasklets without a stack */
    GLT_CAN_YIELD_TO,   /* the named unit runs next */
    GLT_CAN_MIGRATE,    /* glt_ult_migrate_self_to */
    GLT_CAN_CANCEL,     /* a unit that has begun ends at its next yield or wait; one that has not never runs */
    GLT_CAN_EXIT,       /* glt_ult_exit */
    GLT_CAN_SUSPEND,    /* glt_ult_suspend and glt_ult_resume */
    GLT_CAN_STACK_SIZE, /* per unit */
    GLT_CAN_GUARD,      /* an overflown stack is caught and the unit named */
    GLT_CAN_JOIN,       /* any number of units at any time, in any order */
    GLT_CAN_MUTEX,
    GLT_CAN_BARRIER,
    GLT_CAN_COND,
    GLT_CAN_KEY,
    GLT_CAN_FOREIGN_CREATE, /* foreign threads create units */
    GLT_CAN_FOREIGN_WAIT,   /* foreign threads join, lock, wait */
    GLT_CAN_FOREIGN_RESUME, /* foreign threads resume units, unlock, signal */
    GLT_CAN_IDLE_SPIN,
    GLT_CAN_IDLE_SPIN_SLEEP,
    GLT_CAN_IDLE_SLEEP,
    GLT_CAN_SANITIZE,       /* this build is instrumented: AddressSanitizer and ThreadSanitizer follow the units */
    GLT_CAN_CANCEL_WAITING, /* a unit that already waits, whatever for, ends when it is cancelled */
    GLT_CAPABILITIES        /* how many there are */
};

typedef int GLT_bool;
typedef int GLT_thread_id;   /* 0 .. glt_get_num_threads() - 1; 0 is the thread that called glt_init */
typedef uint64_t GLT_ult_id; /* never used twice in a process */

#ifdef GLT_STATIC
#include GLT_HEADER(GLT_STATIC, types) /* GLT_ult, GLT_tasklet, GLT_thread, GLT_mutex, ... as the library has them */
#else
#include "glt/dynamic/types.h"
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* --- Setup ------------------------------------------------------------------------------------------------------ */

/* What idle threads do: turn; turn for some microseconds, then sleep; sleep. */
enum { GLT_IDLE_STANDARD = 0, GLT_IDLE_SPIN = 1, GLT_IDLE_SPIN_SLEEP = 2, GLT_IDLE_SLEEP = 3 };

/* Set to zero what you leave open: the environment's value then holds, else the standard one. */
typedef struct GLT_options {
    const char* backend; /* standard: native */
    int num_threads;     /* 1 to 4096; standard: the cores this process may use. More threads than cores are allowed. */
    size_t stack_size;   /* bytes of a ULT's stack; standard 65536; GLT_STACK_MIN at least */
    int idle;            /* GLT_IDLE_...; standard GLT_IDLE_SPIN_SLEEP, or what the back end has */
    int bind;            /* threads bound to cores: 1 yes, -1 no; standard yes unless there are more threads than cores */
} GLT_options;
#define GLT_STACK_MIN ((size_t)16384)
#define GLT_MAX_THREADS 4096

/* Starts the threads; the caller becomes thread 0 and stays on its operating system thread. First call of all; again after
 * glt_finalize as often as wanted. argc and argv are not read. */
GLT_API void glt_init(int argc, char* argv[]);
/* As glt_init, with options (NULL: none). GLT_ERROR_MISSING when the back end is not there, GLT_ERROR_VALUE for a bad value; the
 * library then stays as it was. */
GLT_API int glt_init_with(const GLT_options* options);
/* Runs what is ready, ends the threads, gives the memory back. By the thread that called glt_init. Units that wait for ever are
 * named in a message and dropped (GLT_ERROR_STATE). */
GLT_API void glt_finalize(void);
GLT_API int glt_initialized(void);          /* 1 between glt_init and glt_finalize */
GLT_API const char* glt_backend_name(void); /* "" when not initialised */
GLT_API int glt_can(int capability);        /* GLT_CANNOT, GLT_EMULATED or GLT_NATIVELY */

/* The last error on this operating system thread since the last question; GLT_SUCCESS when there was none. */
GLT_API int glt_last_status(void);
/* The text of the last error on this operating system thread; "" at first. Valid until the next error. */
GLT_API const char* glt_last_message(void);
GLT_API const char* glt_status_text(int status);
/* Replaces the handler of errors; NULL brings the standard one back, which writes to standard error. */
GLT_API void glt_set_error_handler(void (*handler)(int status, const char* message));

/* --- Work units ------------------------------------------------------------------------------------------------- */

/* Memory for handles, all null; freed with free(). */
GLT_API GLT_ult* glt_ult_malloc(int number_of_ult);
GLT_API GLT_tasklet* glt_tasklet_malloc(int number_of_tasklets);

/* A unit that runs function(arg): in the queue of the calling thread, from where others may take it (glt_can(GLT_CAN_STEAL)). The
 * handle is freed by glt_ult_free; a function that throws ends the program with a message, glt.hpp hands exceptions to join. */
GLT_API void glt_ult_create(void (*function)(void*), void* arg, GLT_ult* unit);
/* The same with the unit in the queue of thread `dest`, which alone will run it. */
GLT_API void glt_ult_create_to(void (*function)(void*), void* arg, GLT_ult* unit, int dest);
GLT_API void glt_tasklet_create(void (*function)(void*), void* arg, GLT_tasklet* tasklet);
GLT_API void glt_tasklet_create_to(void (*function)(void*), void* arg, GLT_tasklet* tasklet, int dest);

/* The four under the names of the published tables; later versions of that interface call them as above. */
#define glt_ult_creation glt_ult_create
#define glt_ult_creation_to glt_ult_create_to
#define glt_tasklet_creation glt_tasklet_create
#define glt_tasklet_creation_to glt_tasklet_create_to

#define GLT_ANY_THREAD (-1)
enum { GLT_PLACE_HINT = 0, GLT_PLACE_STRICT = 1 };
typedef struct GLT_attributes {
    size_t stack_size;   /* 0: as in the options; of no meaning for tasklets */
    int thread;          /* GLT_ANY_THREAD, or the thread whose queue it joins. Careful: 0 is thread 0. */
    int placement;       /* GLT_PLACE_HINT: others may take it; GLT_PLACE_STRICT, which needs a thread */
    int detached;        /* nobody will join it: `unit` may be NULL, the handle dies with the unit */
    GLT_counter counter; /* if not null: counted up by one now and down when the unit ends */
    const char* name;    /* in messages; not copied; may be NULL */
} GLT_attributes;
/* All attributes standard: any thread, joinable, no counter. NULL in their place says the same. */
GLT_API void glt_attributes_init(GLT_attributes* attributes);
GLT_API int glt_ult_create_with(void (*function)(void*), void* arg, const GLT_attributes* attributes, GLT_ult* unit);
GLT_API int glt_tasklet_create_with(void (*function)(void*), void* arg, const GLT_attributes* attributes, GLT_tasklet* tasklet);

/* Waits for the end of the unit, once per unit. The handle stays for glt_ult_free; the dynamic form marks it as joined, so that
 * it no longer compares equal to copies. */
GLT_API void glt_ult_join(GLT_ult* unit);
GLT_API void glt_tasklet_join(GLT_tasklet* tasklet);
/* Joins the unit unless that was done, gives its memory back and sets the handle to null. */
GLT_API void glt_ult_free(GLT_ult* unit);
GLT_API void glt_tasklet_free(GLT_tasklet* tasklet);
/* GLT_SUCCESS: it had ended and is joined now. GLT_BUSY: it goes on. */
GLT_API int glt_ult_try_join(GLT_ult* unit);
GLT_API int glt_tasklet_try_join(GLT_tasklet* tasklet);
/* GLT_TIMEOUT after `seconds` (0 or more), with the unit still to be joined. */
GLT_API int glt_ult_join_for(GLT_ult* unit, double seconds);
GLT_API int glt_tasklet_join_for(GLT_tasklet* tasklet, double seconds);
/* Nobody will join it: its memory goes back when it ends. Sets the handle to null. */
GLT_API int glt_ult_detach(GLT_ult* unit);
GLT_API int glt_tasklet_detach(GLT_tasklet* tasklet);

/* Lets the other ready units of this thread run. In a foreign thread: yields the processor. */
GLT_API void glt_yield(void);
/* As glt_yield; `unit`, if it is ready and may run here, runs first. */
GLT_API void glt_yield_to(GLT_ult unit);
/* Takes the calling unit off its core until glt_ult_resume; a resume that came first is kept (one, not more). The main program
 * may suspend itself too, with the handle of glt_ult_self. Foreign threads and tasklets: GLT_ERROR_CONTEXT. */
GLT_API int glt_ult_suspend(void);
GLT_API int glt_ult_resume(GLT_ult unit);
/* Ends the calling ULT here, C++ destructors of its frames included where the library can. */
GLT_API void glt_ult_exit(void);
/* Asks the unit to end: at its next yield or wait, in the wait it is in (glt_can(GLT_CAN_CANCEL_WAITING)), or before it begins.
 * It is joined as ever. In a wait for a condition it has the mutex again before its frames are unwound. */
GLT_API void glt_ult_cancel(GLT_ult unit);
GLT_API void glt_tasklet_cancel(GLT_tasklet tasklet);
/* The calling unit, the main program included; null in a foreign thread. The handle is not to be freed. */
GLT_API void glt_ult_self(GLT_ult* unit);
GLT_API void glt_tasklet_self(GLT_tasklet* tasklet);
GLT_API void glt_ult_get_id(GLT_ult_id* id, GLT_ult unit);
/* The thread the caller runs on; -1 in a foreign thread. */
GLT_API void glt_workunit_get_thread_id(GLT_thread_id* id);
/* The caller goes on on thread `id`. */
GLT_API void glt_ult_migrate_self_to(GLT_thread_id id);

/* --- Mutex: not recursive; unlocked by whom you like ------------------------------------------------------------- */

GLT_API void glt_mutex_create(GLT_mutex* mutex);
GLT_API void glt_mutex_lock(GLT_mutex mutex);
GLT_API void glt_mutex_unlock(GLT_mutex mutex);
/* 1 when it took the lock, 0 when not: on every back end. */
GLT_API int glt_mutex_trylock(GLT_mutex mutex);
/* As lock, without leaving the core at once: for sections of a few instructions. Yields after a while. */
GLT_API void glt_mutex_spinlock(GLT_mutex mutex);
GLT_API void glt_mutex_free(GLT_mutex* mutex);

/* --- Barrier: for num_waiters units, again and again --------------------------------------------------------------- */

GLT_API void glt_barrier_create(int num_waiters, GLT_barrier* barrier);
GLT_API void glt_barrier_wait(GLT_barrier* barrier);
GLT_API void glt_barrier_free(GLT_barrier* barrier);

/* --- Condition: wait releases the mutex and takes it again; may return without a signal ----------------------------- */

GLT_API void glt_cond_create(GLT_cond* cond);
GLT_API void glt_cond_wait(GLT_cond cond, GLT_mutex mutex);
GLT_API void glt_cond_signal(GLT_cond cond);
GLT_API void glt_cond_broadcast(GLT_cond cond);
GLT_API void glt_cond_free(GLT_cond* cond);

/* --- Counter: waits for many units at once. Opens when the count is 0. ----------------------------------------------- */

GLT_API int glt_counter_create(long count, GLT_counter* counter);
/* count += change; at 0 all waiters go on. Below 0: GLT_ERROR_VALUE, nothing changed. */
GLT_API int glt_counter_add(GLT_counter counter, long change);
GLT_API int glt_counter_wait(GLT_counter counter);
GLT_API int glt_counter_wait_for(GLT_counter counter, double seconds);
GLT_API int glt_counter_free(GLT_counter* counter);

/* --- Event: set stays set until reset ---------------------------------------------------------------------------- */

GLT_API int glt_event_create(GLT_event* event);
GLT_API int glt_event_set(GLT_event event);
GLT_API int glt_event_reset(GLT_event event);
GLT_API int glt_event_wait(GLT_event event);
GLT_API int glt_event_wait_for(GLT_event event, double seconds);
GLT_API int glt_event_free(GLT_event* event);

/* --- Keys: values local to a unit; the main program and each foreign thread have theirs ----------------------------- */

/* `destructor` (may be NULL) is called with each value that is not NULL when its unit ends. */
GLT_API void glt_key_create(void (*destructor)(void* value), GLT_key* key);
GLT_API void glt_key_set(GLT_key key, void* value);
GLT_API void glt_key_get(GLT_key key, void** value); /* NULL where none was set */
GLT_API void glt_key_free(GLT_key* key);

/* --- Time and numbers ---------------------------------------------------------------------------------------------- */

GLT_API double glt_get_wtime(void); /* seconds of a clock that does not go back */
GLT_API void glt_timer_create(GLT_timer* timer);
GLT_API void glt_timer_start(GLT_timer timer);
GLT_API void glt_timer_stop(GLT_timer timer);
GLT_API void glt_timer_get_secs(GLT_timer timer, double* secs); /* between the last start and stop */
GLT_API void glt_timer_free(GLT_timer* timer);
GLT_API int glt_get_thread_num(void);  /* -1 in a foreign thread */
GLT_API int glt_get_num_threads(void); /* 0 when not initialised */

/* The published queries about modules this interface leaves out: always 0. glt_can() asks about the rest. */
GLT_API int glt_can_event_functions(void);
GLT_API int glt_can_future_functions(void);
GLT_API int glt_can_manage_scheduler(void);
GLT_API int glt_can_scheduler(void);
GLT_API int glt_can_malleability(void);

#ifdef __cplusplus
}
#endif

#ifdef GLT_STATIC
#include GLT_HEADER(GLT_STATIC, functions)
#endif

#endif
