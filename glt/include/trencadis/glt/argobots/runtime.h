/* What GLT keeps over Argobots: for each execution stream two pools, one that it alone serves and one that others steal from. */
#ifndef TRENCADIS_GLT_ARGOBOTS_RUNTIME_H
#define TRENCADIS_GLT_ARGOBOTS_RUNTIME_H

#include "../shared/environment.h"
#include "../shared/exceptions.h"
#include "../shared/status.h"
#include "../shared/system.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The state of one execution stream, alone on its cache lines. */
struct glt_argobots_stream {
    ABT_pool strict; /* glt_ult_create_to, GLT_PLACE_STRICT, migrated units, on stream 0 the main program */
    ABT_pool open;   /* everything else; the newest first for its stream, the oldest first for thieves */
    ABT_xstream self;
    uint32_t
        asleep; /* set by the stream before it sleeps; who exchanges it for 0 wakes the stream and counts it off `sleepers` */
    uint32_t looking; /* while draining: 0 only between an empty look at all pools and the next look; written by the stream */
    uint32_t begun;   /* units it has run; written by the stream */
    uint32_t seed;    /* where the next theft begins */
    uint32_t turn;    /* of its two pools */
    char apart[128 - 2 * sizeof(ABT_pool) - sizeof(ABT_xstream) - 5 * sizeof(uint32_t)];
};

struct glt_argobots_runtime {
    /* Read by every creation: */
    struct glt_argobots_stream* streams;
    int num_threads;      /* 0 when not initialised */
    uint32_t sleepers;    /* streams with `asleep` set */
    uint32_t destructors; /* keys with a destructor: units are then started by glt_argobots_start */
    uint32_t next;        /* where a foreign thread puts its next unit */
    /* Else: */
    uint32_t draining; /* glt_finalize waits until nothing is ready; streams nap instead of sleeping */
    uint32_t reapers;  /* units of our own that wait for detached ones */
    uint64_t first_id; /* added to Argobots' ids, which begin anew with each ABT_init */
    ABT_key suspended; /* a unit's suspend word, see suspend.h */
    ABT_key waiting;   /* a unit's waiter while it waits at a gate, see gate.h */
    ABT_key special;   /* frees the record of a cancelled unit, see special.h */
    ABT_thread main;   /* the main program */
    struct glt_shared_environment environment;
};

GLT_SHARED_VARIABLE struct glt_argobots_runtime glt_argobots;

/* Short locks for what belongs to one unit, chosen by its handle. Taken by streams and foreign threads, never over a switch. */
enum { GLT_ARGOBOTS_LOCKS = 64 };
GLT_SHARED_VARIABLE uint32_t glt_argobots_locks[GLT_ARGOBOTS_LOCKS];

static inline uint32_t* glt_argobots_lock_of(ABT_thread unit)
{
    return &glt_argobots_locks[((uintptr_t)unit >> 6) % GLT_ARGOBOTS_LOCKS];
}

/* The caller's thread; -1 in a foreign thread. A call into the library, whose answer no compiler keeps over a switch of units. */
static inline int glt_argobots_rank(void)
{
    int rank = -1;
    ABT_xstream_self_rank(&rank);
    return rank;
}

/* The caller's thread, or one after the other for foreign threads. */
static inline struct glt_argobots_stream* glt_argobots_near(void)
{
    int rank = glt_argobots_rank();
    if (__builtin_expect(rank < 0, 0))
        rank = (int)(__atomic_fetch_add(&glt_argobots.next, 1, __ATOMIC_RELAXED) % (uint32_t)glt_argobots.num_threads);
    return &glt_argobots.streams[rank];
}

static inline void glt_argobots_nothing(void* unused) { (void)unused; }

/* A stream asleep in its strict pool is woken by anything put there. Answers 0 when it was awake. */
static inline int glt_argobots_wake(struct glt_argobots_stream* stream)
{
    if (!__atomic_load_n(&stream->asleep, __ATOMIC_RELAXED) || !__atomic_exchange_n(&stream->asleep, 0, __ATOMIC_ACQ_REL))
        return 0;
    __atomic_fetch_sub(&glt_argobots.sleepers, 1, __ATOMIC_RELAXED);
    ABT_task_create(stream->strict, glt_argobots_nothing, NULL, NULL);
    return 1;
}

/* Something was put into `stream`'s open pool: wakes it, else another one that would steal. */
GLT_SHARED_APART void glt_argobots_wake_for(struct glt_argobots_stream* stream)
{
    int number = glt_argobots.num_threads, first = (int)(stream - glt_argobots.streams);
    for (int i = 0; i < number; ++i)
        if (glt_argobots_wake(&glt_argobots.streams[(first + i) % number])) return;
}

/* After each push into an open pool. The read may come too early to see a stream that is falling asleep: such a stream looks
 * again within milliseconds, so that no fence is paid for here. */
static inline void glt_argobots_pushed(struct glt_argobots_stream* stream)
{
    if (__builtin_expect(__atomic_load_n(&glt_argobots.sleepers, __ATOMIC_RELAXED) != 0, 0)) glt_argobots_wake_for(stream);
}

__attribute__((cold)) GLT_SHARED_APART int glt_argobots_failed(const char* function, int error)
{
    char text[64] = "an unknown error";
    size_t length = 0;
    if (ABT_error_get_str(error, NULL, &length) == ABT_SUCCESS && length < sizeof text) ABT_error_get_str(error, text, NULL);
    return glt_shared_report(error == ABT_ERR_MEM ? GLT_ERROR_MEMORY : GLT_ERROR_ENVIRONMENT, "%s: Argobots answers %s", function,
                             text);
}

#ifdef __cplusplus
}
#endif

#endif
