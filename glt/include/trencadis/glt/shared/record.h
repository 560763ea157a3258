/* A unit's record, for libraries whose own handle cannot carry what the interface promises.
 *
 * A handle is the record's address with the generation of its present use in the upper 16 bits (user space of x86-64 and AArch64
 * has addresses of 48 bits). Records come from slabs that are never given back to the system and never hold anything else, so
 * that a stale handle still finds a record and sees that its generation has moved on: a double free, a join after a free, through
 * whichever copy. The generation is the lower half of `uses`, which also makes the id, unique as long as no record is used 2^32
 * times.
 *
 * A back end may define GLT_SHARED_RECORD_MEMBERS before it includes this file: members of its own at the end of a record. They
 * are zero in a new record and otherwise as the last use left them.
 *
 * Records are taken from and given back to a cache without locks. A cache belongs to one GLT thread; whoever has none (a foreign
 * thread) names no cache and works on the shared list under a lock. A caller must not switch units between asking for its
 * thread's number and the end of the call. */
#ifndef TRENCADIS_GLT_SHARED_RECORD_H
#define TRENCADIS_GLT_SHARED_RECORD_H

#include "status.h"

#include <stdlib.h>

#ifndef GLT_SHARED_RECORD_MEMBERS
#define GLT_SHARED_RECORD_MEMBERS
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* Bits of a record's state. Each is set once per use by an atomic or; who finds its bit set already came too late. */
enum {
    GLT_SHARED_STARTED = 1,   /* the function has begun: a cancel now needs the unit's help */
    GLT_SHARED_ENDED = 2,     /* the function is over, everything it wrote is seen by who reads this bit */
    GLT_SHARED_WAITED = 4,    /* somebody sleeps until the end and is to be woken */
    GLT_SHARED_JOINED = 8,    /* joined, or being joined */
    GLT_SHARED_DETACHED = 16, /* nobody will join: whoever of detach and end comes second gives the record back */
    GLT_SHARED_CANCELLED = 32,
    GLT_SHARED_TASKLET = 64,
    GLT_SHARED_FREED = 128,    /* glt_..._free has it */
    GLT_SHARED_BLOCKED = 256,  /* off its thread until somebody wakes it, who clears the bit */
    GLT_SHARED_LIVE = 512,     /* in use: taken and not released */
    GLT_SHARED_OPEN = 1024,    /* with BLOCKED: a cancel ends the wait; never set together with CANCELLED */
    GLT_SHARED_CUT = 2048,     /* a cancel has ended the wait; until the unit has seen it */
    GLT_SHARED_LEAVING = 4096, /* its frames are being unwound: it may wait, and is not cancelled again */
    GLT_SHARED_TAKEN = 8192    /* with JOINED: the joiner is through, and does not touch the record any more */
};

struct glt_shared_values; /* of keys, see key.h */
struct glt_shared_waiter; /* see wait.h */
struct glt_shared_frame;  /* see unit.h */

struct glt_shared_record {
    uint32_t state;
    uint32_t index; /* of the record in the process; never changes */
    uint32_t uses;  /* counted up by release; atomic, since stale handles are compared at any time */
    int32_t home;   /* the thread that alone may run it, or -1 */
    void (*function)(void*);
    void* argument;
    void* library;             /* the library's own handle, if it has one */
    struct glt_counter* count; /* GLT_counter of the attributes, or null */
    const char* name;          /* of the attributes, or null */
    struct glt_shared_values* values;
    struct glt_shared_record* next;   /* in a free list, or a list of the back end's */
    struct glt_shared_waiter* joiner; /* valid with GLT_SHARED_WAITED */
    struct glt_shared_frame* frame;   /* where glt_ult_exit goes to; of the unit alone */
    uint32_t suspension;              /* see glt_ult_suspend in unit.h */
    uint32_t wakes;                   /* how often it was woken; atomic */
    GLT_SHARED_RECORD_MEMBERS
};

enum { GLT_SHARED_SLAB = 128, GLT_SHARED_BATCH = 64 };

struct glt_shared_slab {
    struct glt_shared_slab* next;
    struct glt_shared_record records[GLT_SHARED_SLAB];
};

/* The records that one GLT thread keeps at hand, alone on their cache lines. */
struct glt_shared_cache {
    struct glt_shared_record* free;
    int length;
    char apart[128 - sizeof(void*) - sizeof(int)];
};

struct glt_shared_records {
    uint32_t lock; /* of all but the caches */
    uint32_t next_index;
    struct glt_shared_record* free;
    struct glt_shared_slab* slabs; /* so that a leak checker finds them */
    struct glt_shared_cache* caches;
    int num_caches;
};

GLT_SHARED_VARIABLE struct glt_shared_records glt_shared_records;

/* Called with the lock held; 0 when there is no memory. */
static inline int glt_shared_records_grow(struct glt_shared_records* all)
{
    struct glt_shared_slab* slab = NULL;
    size_t bytes = (sizeof *slab + 63) / 64 * 64;
    slab = (struct glt_shared_slab*)aligned_alloc(64, bytes);
    if (!slab) return 0;
    memset((void*)slab, 0, sizeof *slab);
    slab->next = all->slabs;
    all->slabs = slab;
    for (int i = GLT_SHARED_SLAB - 1; i >= 0; --i) {
        struct glt_shared_record* record = &slab->records[i];
        record->index = all->next_index + (uint32_t)i;
        record->uses = 1;
        record->next = all->free;
        all->free = record;
    }
    all->next_index += GLT_SHARED_SLAB;
    return 1;
}

/* Moves up to `number` records from the shared list to *list; answers how many there were. */
GLT_SHARED_APART int glt_shared_records_fetch(struct glt_shared_record** list, int number)
{
    struct glt_shared_records* all = &glt_shared_records;
    int count = 0;
    glt_shared_lock(&all->lock);
    if (all->free || glt_shared_records_grow(all)) {
        for (; count < number && all->free; ++count) {
            struct glt_shared_record* record = all->free;
            all->free = record->next;
            record->next = *list;
            *list = record;
        }
    }
    glt_shared_unlock(&all->lock);
    return count;
}

/* Moves `number` records of *list, which has as many, to the shared list. */
GLT_SHARED_APART void glt_shared_records_return(struct glt_shared_record** list, int number)
{
    struct glt_shared_records* all = &glt_shared_records;
    glt_shared_lock(&all->lock);
    while (number-- > 0) {
        struct glt_shared_record* record = *list;
        *list = record->next;
        record->next = all->free;
        all->free = record;
    }
    glt_shared_unlock(&all->lock);
}

/* One cache for each GLT thread; by glt_init_with, before any unit. 0 when there is no memory. */
static inline int glt_shared_records_open(int num_caches)
{
    struct glt_shared_records* all = &glt_shared_records;
    all->caches = (struct glt_shared_cache*)calloc((size_t)num_caches, sizeof *all->caches);
    all->num_caches = all->caches ? num_caches : 0;
    return all->caches != NULL;
}

/* By glt_finalize, when no other thread uses records. The records stay for the next glt_init. */
static inline void glt_shared_records_close(void)
{
    struct glt_shared_records* all = &glt_shared_records;
    for (int i = 0; i < all->num_caches; ++i) glt_shared_records_return(&all->caches[i].free, all->caches[i].length);
    free(all->caches);
    all->caches = NULL;
    all->num_caches = 0;
}

/* A record in its first state: GLT_SHARED_LIVE alone, no home, no values, no counter, no name. `cache` is the calling GLT
 * thread's number, or -1 without one. NULL when there is no memory (not reported). */
static inline struct glt_shared_record* glt_shared_record_take(int cache)
{
    struct glt_shared_records* all = &glt_shared_records;
    struct glt_shared_record* record = NULL;
    if (cache >= 0 && cache < all->num_caches) {
        struct glt_shared_cache* own = &all->caches[cache];
        if (__builtin_expect(!own->free, 0)) own->length += glt_shared_records_fetch(&own->free, GLT_SHARED_BATCH);
        record = own->free;
        if (!record) return NULL;
        own->free = record->next;
        --own->length;
    } else if (glt_shared_records_fetch(&record, 1) == 0) {
        return NULL;
    }
    record->home = -1;
    record->count = NULL;
    record->name = NULL;
    record->library = NULL;
    record->values = NULL;
    record->suspension = 0;
    __atomic_store_n(&record->state, GLT_SHARED_LIVE, __ATOMIC_RELEASE);
    return record;
}

/* Ends this use of the record: handles of it are stale from here on. */
static inline void glt_shared_record_release(struct glt_shared_record* record, int cache)
{
    struct glt_shared_records* all = &glt_shared_records;
    __atomic_store_n(&record->state, 0, __ATOMIC_RELAXED);
    __atomic_store_n(&record->uses, record->uses + 1, __ATOMIC_RELEASE);
    if (cache >= 0 && cache < all->num_caches) {
        struct glt_shared_cache* own = &all->caches[cache];
        record->next = own->free;
        own->free = record;
        if (__builtin_expect(++own->length >= 4 * GLT_SHARED_BATCH, 0)) {
            glt_shared_records_return(&own->free, 2 * GLT_SHARED_BATCH);
            own->length -= 2 * GLT_SHARED_BATCH;
        }
    } else {
        record->next = NULL;
        glt_shared_records_return(&record, 1);
    }
}

static inline uint64_t glt_shared_record_id(const struct glt_shared_record* record)
{
    return (uint64_t)record->uses << 32 | record->index;
}

/* The handle of the record's present use. */
static inline void* glt_shared_record_handle(const struct glt_shared_record* record)
{
    return (void*)((uintptr_t)record | (uintptr_t)record->uses << 48);
}

/* The record of a handle; NULL when the handle is null or stale. */
static inline struct glt_shared_record* glt_shared_record_of(const void* handle)
{
    uintptr_t bits = (uintptr_t)handle;
    struct glt_shared_record* record = (struct glt_shared_record*)(bits & (((uintptr_t)1 << 48) - 1));
    if (__builtin_expect(!record, 0)) return NULL;
    if (__builtin_expect((uint16_t)__atomic_load_n(&record->uses, __ATOMIC_ACQUIRE) != (uint16_t)(bits >> 48), 0)) return NULL;
    return record;
}

/* Sets bits of the state and answers the state before. What the caller wrote before is seen by who finds the bits set. */
static inline uint32_t glt_shared_record_mark(struct glt_shared_record* record, uint32_t bits)
{
    return __atomic_fetch_or(&record->state, bits, __ATOMIC_ACQ_REL);
}

static inline uint32_t glt_shared_record_state(const struct glt_shared_record* record)
{
    return __atomic_load_n(&record->state, __ATOMIC_ACQUIRE);
}

#ifdef __cplusplus
}
#endif

#endif
