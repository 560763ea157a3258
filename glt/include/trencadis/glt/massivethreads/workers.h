/* MassiveThreads: what its workers do for us when they look for work. The library calls a function of ours there (the hook
 * myth_wsapi_set_stealfunc), in the scheduler of an idle worker and in every other yield. On this hook rest:
 *
 *   placement      units for one worker only come through its inbox; a thief that takes such a unit hands it on;
 *   the main program   is such a unit of worker 0: the library itself would let other workers steal it;
 *   foreign threads    put new units and wakes into a shared inbox: the library aborts where one of its functions is called by
 * them; idle policies      a worker that has found nothing for a while sleeps in the operating system.
 *
 * The library's queues have 131,072 places and abort beyond that. Each worker counts what it has put into its own; from 32,768 on
 * a new unit runs at once (the creator waits in the queue instead), and units that are woken go to an inbox, which has no end. */
#ifndef TRENCADIS_GLT_MASSIVETHREADS_WORKERS_H
#define TRENCADIS_GLT_MASSIVETHREADS_WORKERS_H

#include "../shared/environment.h"
#include "../shared/join.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { GLT_MYTH_QUEUE = 32768 };

struct glt_myth_inbox {
    uint32_t lock;
    struct glt_shared_record *first, *last; /* `first` is read without the lock to see whether it is worth taking */
};

/* The state of one worker, alone on its cache lines. */
struct glt_myth_worker {
    struct glt_myth_inbox inbox;      /* units that only this worker may run */
    long queued;                      /* by this worker alone: put into its queue, less those it has run itself */
    long stolen;                      /* by others, atomic: those of `queued` that they have run */
    struct glt_shared_record* wanted; /* by the yield_to in progress, else null */
    unsigned failures;                /* looks for work in vain, one after the other */
    double idle_since;
    char apart[64];
};

struct glt_myth {
    struct glt_myth_worker* workers;
    struct glt_myth_inbox inbox; /* for any worker */
    uint32_t sleepers, epoch;    /* asleep or about to be; what they sleep on */
    uint32_t registered;         /* workers that have called the hook */
    int idle;                    /* GLT_IDLE_..., GLT_IDLE_SPIN while the library ends */
    myth_steal_func_t steal;     /* the library's own */
    struct glt_shared_record* main_slot;
    struct glt_shared_mask before; /* the main program's processors */
    struct glt_shared_environment environment;
};

GLT_SHARED_VARIABLE struct glt_myth glt_myth;

/* The worker's number and 1; 0 in a foreign thread. */
GLT_SHARED_VARIABLE __thread int glt_myth_rank __attribute__((tls_model("initial-exec")));

#ifdef __x86_64__
/* One load relative to the thread's register each time: nothing to keep over a switch to another thread. */
static inline int glt_shared_thread(void) { return *(volatile int*)&glt_myth_rank - 1; }
#else
GLT_SHARED_APART int glt_shared_thread(void)
{
    __asm__ volatile("" ::: "memory");
    return glt_myth_rank - 1;
}
#endif

/* The record a thread of the library runs: what we gave it at its creation as its data. */
static inline struct glt_shared_record* glt_myth_record(myth_thread_t thread)
{
    return *(struct glt_shared_record**)myth_wsapi_get_hint_ptr(thread);
}

static inline struct glt_shared_record* glt_shared_self(void)
{
    return glt_shared_thread() < 0 ? NULL : glt_myth_record(myth_self());
}

static inline void glt_shared_relax(void) { myth_yield(); }

/* --- Waking idle workers ------------------------------------------------------------------------------------------ */

/* After something became ready. A worker that goes to sleep counts itself and then looks again; where its count comes too late
 * for us to see, and our unit for it, its limit of time ends the sleep: that takes a store of ours that stays unseen for as long
 * as it looks. */
static inline void glt_myth_wake_idle(int workers)
{
    struct glt_myth* all = &glt_myth;
    if (__builtin_expect(__atomic_load_n(&all->sleepers, __ATOMIC_ACQUIRE) == 0, 1)) return;
    __atomic_fetch_add(&all->epoch, 1, __ATOMIC_SEQ_CST);
    glt_shared_futex_wake(&all->epoch, workers);
}

static inline void glt_myth_post(struct glt_myth_inbox* inbox, struct glt_shared_record* record)
{
    record->next = NULL;
    glt_shared_lock(&inbox->lock);
    if (inbox->first) inbox->last->next = record;
    else __atomic_store_n(&inbox->first, record, __ATOMIC_RELAXED);
    inbox->last = record;
    glt_shared_unlock(&inbox->lock);
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    glt_myth_wake_idle(INT_MAX);
}

static inline struct glt_shared_record* glt_myth_collect(struct glt_myth_inbox* inbox)
{
    struct glt_shared_record* record;
    if (!__atomic_load_n(&inbox->first, __ATOMIC_RELAXED)) return NULL;
    glt_shared_lock(&inbox->lock);
    record = inbox->first;
    if (record) __atomic_store_n(&inbox->first, record->next, __ATOMIC_RELAXED);
    glt_shared_unlock(&inbox->lock);
    return record;
}

static inline struct glt_myth_inbox* glt_myth_inbox_of(const struct glt_shared_record* record)
{
    return record->home < 0 ? &glt_myth.inbox : &glt_myth.workers[record->home].inbox;
}

/* --- Counting the queues ------------------------------------------------------------------------------------------ */

static inline void glt_myth_count(struct glt_shared_record* record, int rank)
{
    ++glt_myth.workers[rank].queued;
    record->queued = rank + 1;
}

/* Counts a unit out of its queue or inbox. It calls this itself when it goes on. */
static inline void glt_myth_discount(struct glt_shared_record* me)
{
    int from = me->queued - 1;
    me->queued = 0;
    if (from < 0) return;
    if (from == glt_shared_thread()) --glt_myth.workers[from].queued;
    else __atomic_fetch_add(&glt_myth.workers[from].stolen, 1, __ATOMIC_RELAXED);
}

static inline int glt_myth_full(int rank)
{
    struct glt_myth_worker* worker = &glt_myth.workers[rank];
    return worker->queued >= GLT_MYTH_QUEUE &&
           worker->queued - __atomic_load_n(&worker->stolen, __ATOMIC_RELAXED) >= GLT_MYTH_QUEUE;
}

/* --- Creation ----------------------------------------------------------------------------------------------------- */

GLT_SHARED_APART void* glt_myth_body(void* argument)
{
    struct glt_shared_record* me = (struct glt_shared_record*)argument;
    myth_detach(myth_self()); /* the library's memory goes back at the end, whoever joins the record */
    glt_myth_discount(me);
    glt_shared_run(me);
    return NULL;
}

/* A thread of the library for the record, on the calling worker: into its queue, or running at once. */
static inline myth_thread_t glt_myth_bear(struct glt_shared_record* record, int rank, int at_once)
{
    myth_thread_attr_t attributes;
    myth_thread_t thread = NULL;
    memset(&attributes, 0, sizeof attributes);
    attributes.stacksize = record->stack_size;
    attributes.child_first = at_once;
    attributes.custom_data_size = sizeof record;
    attributes.custom_data = &record;
    if (!at_once) glt_myth_count(record, rank);
    record->stack_size = 0; /* for the next use */
    myth_create_ex(&thread, &attributes, glt_myth_body, record);
    return thread;
}

/* What was in an inbox, ready to run: a thread, or a unit without one yet. The new thread comes off the top of the queue again;
 * NULL where a thief was faster. */
static inline myth_thread_t glt_myth_receive(struct glt_shared_record* record, int rank)
{
    myth_thread_t thread = (myth_thread_t)record->library;
    myth_thread_t top;
    if (thread) {
        record->library = NULL;
        return thread;
    }
    thread = glt_myth_bear(record, rank, 0);
    top = myth_wsapi_runqueue_pop();
    if (top == thread) return thread;
    if (top) myth_wsapi_runqueue_push(top);
    return NULL;
}

/* --- The hook ----------------------------------------------------------------------------------------------------- */

/* Takes the record out of an inbox if it is there. */
static inline int glt_myth_withdraw(struct glt_myth_inbox* inbox, const struct glt_shared_record* wanted)
{
    struct glt_shared_record* before = NULL;
    struct glt_shared_record* at;
    glt_shared_lock(&inbox->lock);
    for (at = inbox->first; at && at != wanted; at = at->next) before = at;
    if (at && before) before->next = at->next;
    if (at && !before) __atomic_store_n(&inbox->first, at->next, __ATOMIC_RELAXED);
    if (at && inbox->last == at) inbox->last = before;
    glt_shared_unlock(&inbox->lock);
    return at != NULL;
}

/* The unit of a yield_to: among the newest of this worker's queue, which all go back but that one, or in its inbox. */
GLT_SHARED_APART myth_thread_t glt_myth_find(int rank, struct glt_shared_record* wanted)
{
    enum { DEPTH = 256 };
    myth_thread_t others[DEPTH];
    myth_thread_t thread = NULL;
    int count = 0;
    while (count < DEPTH && (thread = myth_wsapi_runqueue_pop()) && glt_myth_record(thread) != wanted) others[count++] = thread;
    if (thread && glt_myth_record(thread) != wanted) thread = NULL; /* the last of DEPTH, and among the others */
    while (count > 0) myth_wsapi_runqueue_push(others[--count]);
    if (!thread && glt_myth_withdraw(&glt_myth.workers[rank].inbox, wanted)) thread = glt_myth_receive(wanted, rank);
    return thread;
}

static inline myth_thread_t glt_myth_look(int rank)
{
    struct glt_myth* all = &glt_myth;
    struct glt_shared_record* record = all->workers[rank].wanted;
    if (__builtin_expect(record != NULL, 0)) {
        myth_thread_t thread = glt_myth_find(rank, record);
        all->workers[rank].wanted = NULL;
        if (thread) return thread;
    }
    record = glt_myth_collect(&all->workers[rank].inbox);
    if (!record) record = glt_myth_collect(&all->inbox);
    if (record) return glt_myth_receive(record, rank);
    for (int tries = 0; tries < 2; ++tries) {
        myth_thread_t thread = all->steal(rank);
        if (!thread) return NULL;
        record = glt_myth_record(thread);
        if (!record || record->home < 0 || record->home == rank) return thread;
        record->library = thread;
        glt_myth_post(&all->workers[record->home].inbox, record);
    }
    return NULL;
}

GLT_SHARED_APART void glt_myth_register(int rank)
{
    struct glt_shared_environment* environment = &glt_myth.environment;
    glt_myth_rank = rank + 1;
    if (environment->bind) glt_shared_bind(environment->cpu[rank % environment->num_cpus], NULL);
    __atomic_fetch_add(&glt_myth.registered, 1, __ATOMIC_RELEASE);
}

/* Looks some more times after it has counted itself, then sleeps for a hundredth of a second at most. */
GLT_SHARED_APART myth_thread_t glt_myth_sleep(int rank)
{
    struct glt_myth* all = &glt_myth;
    uint32_t epoch = __atomic_load_n(&all->epoch, __ATOMIC_SEQ_CST);
    myth_thread_t thread = NULL;
    __atomic_fetch_add(&all->sleepers, 1, __ATOMIC_SEQ_CST);
    for (int i = 0; i < 20 && !thread; ++i) {
        thread = glt_myth_look(rank);
        glt_shared_pause();
    }
    if (!thread) glt_shared_futex_wait(&all->epoch, epoch, 0.01);
    __atomic_fetch_sub(&all->sleepers, 1, __ATOMIC_SEQ_CST);
    return thread;
}

/* In the scheduler of an idle worker, which has no current thread; in a yield it must not sleep. */
GLT_SHARED_APART myth_thread_t glt_myth_idle(int rank)
{
    struct glt_myth_worker* worker = &glt_myth.workers[rank];
    int idle = __atomic_load_n(&glt_myth.idle, __ATOMIC_RELAXED);
    glt_shared_pause();
    if (idle == GLT_IDLE_SPIN) return NULL;
    ++worker->failures;
    if (idle == GLT_IDLE_SPIN_SLEEP) {
        if (worker->failures == 1) worker->idle_since = glt_shared_now();
        if (worker->failures % 16 != 0 || glt_shared_now() - worker->idle_since < 50e-6) return NULL;
    } else if (worker->failures < 4) {
        return NULL;
    }
    return glt_myth_sleep(rank);
}

GLT_SHARED_APART myth_thread_t glt_myth_steal(int rank)
{
    myth_thread_t thread;
    if (__builtin_expect(glt_shared_thread() != rank, 0)) glt_myth_register(rank);
    thread = glt_myth_look(rank);
    if (!thread && !myth_self()) thread = glt_myth_idle(rank);
    if (thread) glt_myth.workers[rank].failures = 0;
    return thread;
}

#ifdef __cplusplus
}
#endif

#endif
