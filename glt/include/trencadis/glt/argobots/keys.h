/* Keys: Argobots' own in units. A foreign thread has a list of values of its own, which ends with it; and since Argobots calls
 * destructors when a unit is freed, not when it ends, units made while there are keys with destructors are special (special.h).
 * In the main program glt_finalize calls them. A unit made before the first such key keeps Argobots' time. */
#ifndef TRENCADIS_GLT_ARGOBOTS_KEYS_H
#define TRENCADIS_GLT_ARGOBOTS_KEYS_H

#include "special.h"

#include <pthread.h>

#ifdef __cplusplus
extern "C" {
#endif

struct glt_argobots_value {
    struct glt_argobots_value* next;
    uint64_t serial;
    void* value;
};

GLT_SHARED_VARIABLE __thread struct glt_argobots_value* glt_argobots_values;
GLT_SHARED_VARIABLE pthread_key_t glt_argobots_thread_end; /* once it is made, under the lock of the keys */
GLT_SHARED_VARIABLE int glt_argobots_thread_end_made;

/* A foreign thread ends: its values' destructors, of keys that still live. */
GLT_SHARED_APART void glt_argobots_leave(void* unused)
{
    (void)unused;
    while (glt_argobots_values) {
        struct glt_argobots_value* gone = glt_argobots_values;
        void (*destructor)(void*) = NULL;
        glt_argobots_values = gone->next;
        glt_shared_lock(&glt_argobots_keys.lock);
        for (int i = 0; i < glt_argobots_keys.count; ++i)
            if (glt_argobots_keys.entries[i].serial == gone->serial) destructor = glt_argobots_keys.entries[i].destructor;
        glt_shared_unlock(&glt_argobots_keys.lock);
        if (destructor && gone->value) destructor(gone->value);
        free(gone);
    }
}

/* Before the first value of the calling foreign thread: its end is to clear them. The system has a limited number of keys, which
 * the program may have used up, and may have given back since the last time. A status. */
GLT_SHARED_APART int glt_argobots_at_thread_end(void)
{
    int made;
    glt_shared_lock(&glt_argobots_keys.lock);
    if (!glt_argobots_thread_end_made)
        glt_argobots_thread_end_made = pthread_key_create(&glt_argobots_thread_end, glt_argobots_leave) == 0;
    made = glt_argobots_thread_end_made;
    glt_shared_unlock(&glt_argobots_keys.lock);
    if (!made)
        return glt_shared_report(GLT_ERROR_ENVIRONMENT,
                                 "glt_key_set: the system has no key left by which it would tell of this thread's end");
    if (pthread_setspecific(glt_argobots_thread_end, &glt_argobots_keys) == 0) return GLT_SUCCESS;
    return glt_shared_report(GLT_ERROR_MEMORY, "glt_key_set: no memory for a value");
}

/* The entry of a key, with the lock held; NULL for a key that was freed. */
static inline struct glt_argobots_entry* glt_argobots_entry_of(ABT_key key)
{
    struct glt_argobots_keys* all = &glt_argobots_keys;
    for (int i = 0; i < all->count; ++i)
        if (all->entries[i].key == key) return &all->entries[i];
    return NULL;
}

GLT_API void glt_key_create(void (*destructor)(void* value), GLT_key* key)
{
    struct glt_argobots_keys* all = &glt_argobots_keys;
    ABT_key handle = ABT_KEY_NULL;
    int error;
    if (!GLT_SHARED_MAKES("glt_key_create", key)) return;
    error = ABT_key_create(destructor, &handle);
    if (error != ABT_SUCCESS) {
        glt_argobots_failed("glt_key_create", error);
        return;
    }
    glt_shared_lock(&all->lock);
    if (all->count == all->space) {
        int space = all->space ? 2 * all->space : 16;
        struct glt_argobots_entry* entries = (struct glt_argobots_entry*)realloc(all->entries, (size_t)space * sizeof *entries);
        if (entries) all->entries = entries, all->space = space;
    }
    if (all->count < all->space) {
        struct glt_argobots_entry* entry = &all->entries[all->count++];
        entry->key = *key = handle;
        entry->destructor = destructor;
        entry->serial = ++all->serials;
    }
    glt_shared_unlock(&all->lock);
    if (*key && destructor) __atomic_fetch_add(&glt_argobots.destructors, 1, __ATOMIC_RELAXED);
    if (*key) return;
    ABT_key_free(&handle);
    glt_shared_report(GLT_ERROR_MEMORY, "glt_key_create: no memory for a key");
}

/* The caller's value is forgotten without a destructor, as is everybody's in POSIX. */
GLT_API void glt_key_free(GLT_key* key)
{
    struct glt_argobots_keys* all = &glt_argobots_keys;
    struct glt_argobots_entry* entry;
    if (!GLT_SHARED_HOLDS("glt_key_free", key)) return;
    ABT_self_set_specific(*key, NULL);
    glt_shared_lock(&all->lock);
    entry = glt_argobots_entry_of(*key);
    if (entry) {
        if (entry->destructor) __atomic_fetch_sub(&glt_argobots.destructors, 1, __ATOMIC_RELAXED);
        *entry = all->entries[--all->count];
    }
    glt_shared_unlock(&all->lock);
    ABT_key_free(key);
    *key = NULL;
}

/* A foreign thread's value of a key; with `make`, one is made where there is none, or a report. */
GLT_SHARED_APART struct glt_argobots_value* glt_argobots_foreign_value(ABT_key key, int make)
{
    struct glt_argobots_value* value;
    struct glt_argobots_entry* entry;
    uint64_t serial = 0;
    glt_shared_lock(&glt_argobots_keys.lock);
    entry = glt_argobots_entry_of(key);
    if (entry) serial = entry->serial;
    glt_shared_unlock(&glt_argobots_keys.lock);
    for (value = glt_argobots_values; value && serial; value = value->next)
        if (value->serial == serial) return value;
    if (!make || (!glt_argobots_values && glt_argobots_at_thread_end() != GLT_SUCCESS)) return NULL;
    if (!serial || !(value = (struct glt_argobots_value*)calloc(1, sizeof *value))) {
        glt_shared_report(GLT_ERROR_MEMORY, "glt_key_set: no memory for a value, or the key was freed");
        return NULL;
    }
    value->serial = serial;
    value->next = glt_argobots_values;
    glt_argobots_values = value;
    return value;
}

GLT_SHARED_APART void glt_argobots_key_set_failed(ABT_key key, void* value, int error)
{
    struct glt_argobots_value* mine;
    if (error != ABT_ERR_INV_XSTREAM) {
        glt_argobots_failed("glt_key_set", error);
        return;
    }
    mine = glt_argobots_foreign_value(key, value != NULL);
    if (mine) mine->value = value;
}

GLT_API void glt_key_set(GLT_key key, void* value)
{
    int error;
    if (!GLT_SHARED_HAS("glt_key_set", key)) return;
    error = ABT_key_set(key, value);
    if (__builtin_expect(error != ABT_SUCCESS, 0)) glt_argobots_key_set_failed(key, value, error);
}

GLT_SHARED_APART void glt_argobots_key_get_failed(ABT_key key, void** value)
{
    struct glt_argobots_value* mine = glt_argobots_foreign_value(key, 0);
    *value = mine ? mine->value : NULL;
}

GLT_API void glt_key_get(GLT_key key, void** value)
{
    if (!GLT_SHARED_TELLS("glt_key_get", value)) return;
    if (__builtin_expect(!key, 0)) {
        *value = NULL;
        glt_shared_null("glt_key_get");
        return;
    }
    if (__builtin_expect(ABT_key_get(key, value) != ABT_SUCCESS, 0)) glt_argobots_key_get_failed(key, value);
}

#ifdef __cplusplus
}
#endif

#endif
