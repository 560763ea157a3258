/* Keys: values in the unit's record; foreign threads keep theirs in a thread-local variable, which a key of the operating
 * system's threads clears at their end. A back end's types.h says `typedef struct glt_shared_key *GLT_key;`.
 *
 * A value carries its key's id, which is never used twice: the value of a freed key is never found through a later one, and needs
 * no search when the key is freed. A freed key keeps its memory, for units that still have a value of it. */
#ifndef TRENCADIS_GLT_SHARED_KEY_H
#define TRENCADIS_GLT_SHARED_KEY_H

#include "mutex.h"

#include <pthread.h>

#ifdef __cplusplus
extern "C" {
#endif

struct glt_shared_key {
    void (*destructor)(void*);
    uint64_t id;                 /* 0: freed */
    struct glt_shared_key* next; /* of the freed ones */
};

struct glt_shared_value {
    uint64_t id;
    struct glt_shared_key* key;
    void* value;
};

/* Followed in memory by `room` values. */
struct glt_shared_values {
    int count, room;
};

static inline struct glt_shared_value* glt_shared_value_at(struct glt_shared_values* values, int i)
{
    return (struct glt_shared_value*)(void*)(values + 1) + i;
}

struct glt_shared_keys {
    uint32_t lock;
    uint64_t last_id;
    struct glt_shared_key* freed; /* used again */
    pthread_key_t foreign;        /* with `foreign_made`; its value is not null in a thread that has some of ours */
    int foreign_made;
};

GLT_SHARED_VARIABLE struct glt_shared_keys glt_shared_keys;
GLT_SHARED_VARIABLE __thread struct glt_shared_values* glt_shared_foreign_values;

/* When a unit ends: destructors may set values again, so a few rounds, as POSIX does it. */
GLT_SHARED_APART void glt_shared_values_end(struct glt_shared_values** values)
{
    for (int round = 0; *values && round < 4; ++round) {
        int called = 0;
        for (int i = 0; i < (*values)->count; ++i) {
            struct glt_shared_value* at = glt_shared_value_at(*values, i);
            void* value = at->value;
            at->value = NULL;
            if (!value || __atomic_load_n(&at->key->id, __ATOMIC_ACQUIRE) != at->id || !at->key->destructor) continue;
            called = 1;
            at->key->destructor(value);
        }
        if (!called) break;
    }
    free(*values);
    *values = NULL;
}

GLT_SHARED_APART void glt_shared_foreign_end(void* unused)
{
    (void)unused;
    glt_shared_values_end(&glt_shared_foreign_values);
}

/* Before the first value of the calling foreign thread: its end is to clear them. The system has a limited number of keys, which
 * the program may have used up, and may have given back since the last time. A status. */
GLT_SHARED_APART int glt_shared_foreign_begin(void)
{
    struct glt_shared_keys* all = &glt_shared_keys;
    int made;
    glt_shared_lock(&all->lock);
    if (!all->foreign_made) all->foreign_made = pthread_key_create(&all->foreign, glt_shared_foreign_end) == 0;
    made = all->foreign_made;
    glt_shared_unlock(&all->lock);
    if (!made)
        return glt_shared_report(GLT_ERROR_ENVIRONMENT,
                                 "glt_key_set: the system has no key left by which it would tell of this thread's end");
    if (pthread_setspecific(all->foreign, all) == 0) return GLT_SUCCESS;
    return glt_shared_report(GLT_ERROR_MEMORY, "glt_key_set: no memory for the value");
}

GLT_SHARED_APART struct glt_shared_values** glt_shared_own_values(void)
{
    struct glt_shared_record* me = glt_shared_self();
    __asm__ volatile("" ::: "memory");
    return me ? &me->values : &glt_shared_foreign_values;
}

GLT_API void glt_key_create(void (*destructor)(void* value), GLT_key* key)
{
    struct glt_shared_keys* all = &glt_shared_keys;
    struct glt_shared_key* made;
    if (!GLT_SHARED_MAKES("glt_key_create", key)) return;
    glt_shared_lock(&all->lock);
    made = all->freed;
    if (made) all->freed = made->next;
    glt_shared_unlock(&all->lock);
    if (!made) made = (struct glt_shared_key*)glt_shared_object("glt_key_create", sizeof *made);
    *key = made;
    if (!made) return;
    made->destructor = destructor;
    __atomic_store_n(&made->id, __atomic_add_fetch(&all->last_id, 1, __ATOMIC_RELAXED), __ATOMIC_RELEASE);
}

GLT_API void glt_key_free(GLT_key* key)
{
    struct glt_shared_keys* all = &glt_shared_keys;
    struct glt_shared_key* freed = key ? *key : NULL;
    if (!freed || __atomic_exchange_n(&freed->id, 0, __ATOMIC_ACQ_REL) == 0) {
        glt_shared_refuse("glt_key_free", GLT_ERROR_HANDLE, "the handle is null, or the key was freed before");
        return;
    }
    glt_shared_lock(&all->lock);
    freed->next = all->freed;
    all->freed = freed;
    glt_shared_unlock(&all->lock);
    *key = NULL;
}

/* A place for one more value. */
static inline struct glt_shared_value* glt_shared_values_grow(struct glt_shared_values** values)
{
    struct glt_shared_values* old = *values;
    if (!old || old->count == old->room) {
        int room = old ? 2 * old->room : 4;
        struct glt_shared_values* grown =
            (struct glt_shared_values*)realloc(old, sizeof *grown + (size_t)room * sizeof(struct glt_shared_value));
        if (!grown) return NULL;
        if (!old) grown->count = 0;
        grown->room = room;
        *values = grown;
    }
    return glt_shared_value_at(*values, (*values)->count++);
}

GLT_API void glt_key_set(GLT_key key, void* value)
{
    struct glt_shared_values** values = glt_shared_own_values();
    struct glt_shared_value *place = NULL, *stale = NULL;
    uint64_t id = key ? __atomic_load_n(&key->id, __ATOMIC_ACQUIRE) : 0;
    if (id == 0) {
        glt_shared_refuse("glt_key_set", GLT_ERROR_HANDLE, "the handle is null, or the key was freed");
        return;
    }
    for (int i = 0; *values && i < (*values)->count && !place; ++i) {
        struct glt_shared_value* at = glt_shared_value_at(*values, i);
        if (at->id == id) place = at;
        if (__atomic_load_n(&at->key->id, __ATOMIC_RELAXED) != at->id) stale = at;
    }
    if (!place && !value) return; /* none is set */
    if (!*values && values == &glt_shared_foreign_values && glt_shared_foreign_begin() != GLT_SUCCESS) return;
    if (!place) place = stale;
    if (!place) place = glt_shared_values_grow(values);
    if (!place) {
        glt_shared_report(GLT_ERROR_MEMORY, "glt_key_set: no memory for the value");
        return;
    }
    place->id = id;
    place->key = key;
    place->value = value;
}

GLT_API void glt_key_get(GLT_key key, void** value)
{
    struct glt_shared_values* values = *glt_shared_own_values();
    uint64_t id = key ? __atomic_load_n(&key->id, __ATOMIC_ACQUIRE) : 0;
    if (!GLT_SHARED_TELLS("glt_key_get", value)) return;
    *value = NULL;
    if (id == 0) {
        glt_shared_refuse("glt_key_get", GLT_ERROR_HANDLE, "the handle is null, or the key was freed");
        return;
    }
    for (int i = 0; values && i < values->count; ++i)
        if (glt_shared_value_at(values, i)->id == id) *value = glt_shared_value_at(values, i)->value;
}

#ifdef __cplusplus
}
#endif

#endif
