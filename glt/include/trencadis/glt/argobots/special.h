/* Units with something that Argobots does not know: a counter, a name, keys with destructors to be called when the unit ends
 * (Argobots calls them when it is freed). They begin in glt_argobots_start, with a record as their argument; all others cost
 * nothing.
 *
 * Argobots ends a cancelled unit without a word. A special unit that has not begun gives up its record to glt_ult_cancel, which
 * counts its counter down; of one that has begun the record is hung to a key, whose destructor does so when the unit is freed.
 * The record is the unit's argument in Argobots until one of them takes it; the unit's lock decides who. */
#ifndef TRENCADIS_GLT_ARGOBOTS_SPECIAL_H
#define TRENCADIS_GLT_ARGOBOTS_SPECIAL_H

#include "runtime.h"

#include <stdlib.h>

#ifdef __cplusplus
extern "C" {
#endif

struct glt_argobots_special {
    void (*function)(void*);
    void* argument;
    GLT_counter counter;
    const char* name;
    struct glt_argobots_special *before, *after; /* in the list of those with a name */
    int begun, hung;                             /* under the unit's lock */
};

/* All live keys, and the units with a name. */
struct glt_argobots_entry {
    ABT_key key;
    void (*destructor)(void*);
    uint64_t serial; /* of the key: Argobots may use a handle again */
};

struct glt_argobots_keys {
    uint32_t lock;
    int count, space;
    uint64_t serials;
    struct glt_argobots_entry* entries;
    struct glt_argobots_special* named;
};

GLT_SHARED_VARIABLE struct glt_argobots_keys glt_argobots_keys;

static inline void glt_argobots_enlist(struct glt_argobots_special* special)
{
    if (!special->name) return;
    glt_shared_lock(&glt_argobots_keys.lock);
    special->after = glt_argobots_keys.named;
    if (special->after) special->after->before = special;
    glt_argobots_keys.named = special;
    glt_shared_unlock(&glt_argobots_keys.lock);
}

static inline void glt_argobots_strike(struct glt_argobots_special* special)
{
    if (!special->name) return;
    glt_shared_lock(&glt_argobots_keys.lock);
    if (special->before) special->before->after = special->after;
    else glt_argobots_keys.named = special->after;
    if (special->after) special->after->before = special->before;
    glt_shared_unlock(&glt_argobots_keys.lock);
}

/* What the end of a unit owes to others, once. */
GLT_SHARED_APART void glt_argobots_settle(void* record)
{
    struct glt_argobots_special* special = (struct glt_argobots_special*)record;
    GLT_counter counter = special->counter;
    glt_argobots_strike(special);
    free(special);
    if (counter) glt_counter_add(counter, -1);
}

/* The destructors of the calling unit's keys. One may set further values: POSIX' four rounds. */
GLT_SHARED_APART void glt_argobots_destroy_values(void)
{
    struct glt_argobots_keys* all = &glt_argobots_keys;
    int called = 1;
    for (int round = 0; round < 4 && called; ++round) {
        called = 0;
        for (int i = 0;; ++i) {
            struct glt_argobots_entry entry;
            void* value = NULL;
            int over;
            glt_shared_lock(&all->lock);
            over = i >= all->count;
            if (!over) entry = all->entries[i];
            if (!over && entry.destructor && ABT_self_get_specific(entry.key, &value) == ABT_SUCCESS && value)
                ABT_self_set_specific(entry.key, NULL);
            glt_shared_unlock(&all->lock);
            if (over) break;
            if (!value) continue;
            entry.destructor(value);
            called = 1;
        }
    }
}

/* The record of the calling unit, now for the caller alone; NULL when glt_ult_cancel was faster. `begin`: it stays the unit's. */
static inline struct glt_argobots_special* glt_argobots_claim(int begin)
{
    ABT_thread self = ABT_THREAD_NULL;
    struct glt_argobots_special* special = NULL;
    uint32_t* lock;
    ABT_self_get_thread(&self);
    lock = glt_argobots_lock_of(self);
    glt_shared_lock(lock);
    ABT_self_get_arg((void**)&special);
    if (special && begin) {
        special->begun = 1;
    } else if (special) {
        ABT_self_set_arg(NULL);
        if (special->hung) ABT_self_set_specific(glt_argobots.special, NULL);
    }
    glt_shared_unlock(lock);
    return special;
}

static inline void glt_argobots_end(void)
{
    struct glt_argobots_special* special;
    glt_argobots_destroy_values();
    special = glt_argobots_claim(0);
    if (special) glt_argobots_settle(special);
}

GLT_SHARED_APART void glt_argobots_start(void* unused)
{
    struct glt_argobots_special* special = glt_argobots_claim(1); /* the argument may be gone already */
    (void)unused;
    if (!special) return;
    special->function(special->argument);
    glt_argobots_end();
}

/* Before glt_ult_exit and after glt_ult_cancel of units that may be special. */
static inline int glt_argobots_is_special(ABT_thread unit)
{
    void (*function)(void*) = NULL;
    return ABT_thread_get_thread_func(unit, &function) == ABT_SUCCESS && function == glt_argobots_start;
}

GLT_SHARED_APART void glt_argobots_cancel_special(ABT_thread unit)
{
    struct glt_argobots_special* special = NULL;
    uint32_t* lock = glt_argobots_lock_of(unit);
    glt_shared_lock(lock);
    ABT_thread_get_arg(unit, (void**)&special);
    if (special && !special->begun) {
        ABT_thread_set_arg(unit, NULL);
    } else if (special) {
        special->hung = ABT_thread_set_specific(unit, glt_argobots.special, special) == ABT_SUCCESS;
        special = NULL;
    }
    glt_shared_unlock(lock);
    if (special) glt_argobots_settle(special);
}

/* NULL, reported, when there is no memory. */
GLT_SHARED_APART struct glt_argobots_special* glt_argobots_special(const char* caller, void (*function)(void*), void* argument,
                                                                   const GLT_attributes* attributes)
{
    struct glt_argobots_special* special = (struct glt_argobots_special*)calloc(1, sizeof *special);
    if (!special) {
        glt_shared_report(GLT_ERROR_MEMORY, "%s: no memory for a unit", caller);
        return NULL;
    }
    special->function = function;
    special->argument = argument;
    special->counter = attributes ? attributes->counter : NULL;
    special->name = attributes ? attributes->name : NULL;
    glt_argobots_enlist(special);
    if (special->counter) glt_counter_add(special->counter, 1);
    return special;
}

#ifdef __cplusplus
}
#endif

#endif
