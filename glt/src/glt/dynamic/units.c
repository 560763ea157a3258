/* Work units: what a caller can get wrong is found here, the rest is the back end's.
 *
 * A unit that was joined is marked in bit 0 of the caller's variable, so that a second join through it is found whatever the back
 * end is. The back ends never see that bit, and their handles leave it 0. Copies of a handle are the back end's to check. */
#include "glt/dynamic/dispatch.h"

#include "trencadis/glt/shared/attributes.h"

#include <string.h>

static inline GLT_ult bare(GLT_ult unit) { return (GLT_ult)((uintptr_t)unit & ~(uintptr_t)1); }
static inline GLT_ult marked(GLT_ult unit) { return (GLT_ult)((uintptr_t)unit | 1); }
static inline int is_marked(GLT_ult unit) { return (int)((uintptr_t)unit & 1); }
static inline int can_join(const GLT_ult* unit) { return unit != NULL && *unit != NULL && !is_marked(*unit); }

GLT_COLD static int refuse_handle(const char* function, GLT_ult unit)
{
    if (unit == NULL)
        return glt_refuse(function, GLT_ERROR_HANDLE, "the handle is null: the unit was never created, or was freed or detached");
    return glt_refuse(function, GLT_ERROR_HANDLE, "the unit was joined already, which is done once");
}

GLT_COLD static int refuse_unit(const char* function, const GLT_ult* unit)
{
    if (unit == NULL) return glt_refuse(function, GLT_ERROR_HANDLE, "the pointer to the handle is null");
    return refuse_handle(function, *unit);
}

/* --- Creation --------------------------------------------------------------------------------------------------- */

GLT_COLD static int refuse_creation(const char* function, void (*body)(void*))
{
    if (body == NULL) return glt_refuse(function, GLT_ERROR_VALUE, "the function is null");
    return glt_refuse(function, GLT_ERROR_VALUE, "the pointer to where the handle goes is null");
}

GLT_COLD static int refuse_thread(const char* function, int thread)
{
    return glt_refuse(function, GLT_ERROR_VALUE, "thread %d was asked for, there are 0 to %d", thread, glt_get_num_threads() - 1);
}

static inline int is_thread(int thread)
{
    return (unsigned)thread < (unsigned)atomic_load_explicit(&glt_threads, memory_order_relaxed);
}

void glt_ult_create(void (*function)(void*), void* arg, GLT_ult* unit)
{
    if (unit != NULL) *unit = NULL;
    if (GLT_UNLIKELY(function == NULL || unit == NULL)) refuse_creation("ult_create", function);
    else glt_table()->ult_create(function, arg, unit);
}

void glt_tasklet_create(void (*function)(void*), void* arg, GLT_tasklet* tasklet)
{
    if (tasklet != NULL) *tasklet = NULL;
    if (GLT_UNLIKELY(function == NULL || tasklet == NULL)) refuse_creation("tasklet_create", function);
    else glt_table()->tasklet_create(function, arg, tasklet);
}

void glt_ult_create_to(void (*function)(void*), void* arg, GLT_ult* unit, int dest)
{
    if (unit != NULL) *unit = NULL;
    if (GLT_UNLIKELY(function == NULL || unit == NULL)) refuse_creation("ult_create_to", function);
    else if (GLT_UNLIKELY(!is_thread(dest))) refuse_thread("ult_create_to", dest);
    else glt_table()->ult_create_to(function, arg, unit, dest);
}

void glt_tasklet_create_to(void (*function)(void*), void* arg, GLT_tasklet* tasklet, int dest)
{
    if (tasklet != NULL) *tasklet = NULL;
    if (GLT_UNLIKELY(function == NULL || tasklet == NULL)) refuse_creation("tasklet_create_to", function);
    else if (GLT_UNLIKELY(!is_thread(dest))) refuse_thread("tasklet_create_to", dest);
    else glt_table()->tasklet_create_to(function, arg, tasklet, dest);
}

static const GLT_attributes standard_attributes = {.thread = GLT_ANY_THREAD};

void glt_attributes_init(GLT_attributes* attributes)
{
    if (attributes != NULL) *attributes = standard_attributes;
    else glt_refuse("attributes_init", GLT_ERROR_VALUE, "the pointer to the attributes is null");
}

/* GLT_SUCCESS, or the status that was reported. */
static int check_attributes(const char* function, void (*body)(void*), const GLT_attributes* attributes, const GLT_ult* unit,
                            int tasklet)
{
    char wrong[128];
    if (body == NULL || (unit == NULL && !attributes->detached)) return refuse_creation(function, body);
    if (attributes->thread != GLT_ANY_THREAD && !is_thread(attributes->thread))
        return refuse_thread(function, attributes->thread);
    if (glt_shared_wrong_attributes(attributes, tasklet, SIZE_MAX, wrong, sizeof wrong))
        return glt_refuse(function, GLT_ERROR_VALUE, "%s", wrong);
    return GLT_SUCCESS;
}

int glt_ult_create_with(void (*function)(void*), void* arg, const GLT_attributes* attributes, GLT_ult* unit)
{
    if (unit != NULL) *unit = NULL;
    if (attributes == NULL) attributes = &standard_attributes;
    const int status = check_attributes("ult_create_with", function, attributes, unit, 0);
    return status != GLT_SUCCESS ? status : glt_table()->ult_create_with(function, arg, attributes, unit);
}

int glt_tasklet_create_with(void (*function)(void*), void* arg, const GLT_attributes* attributes, GLT_tasklet* tasklet)
{
    if (tasklet != NULL) *tasklet = NULL;
    if (attributes == NULL) attributes = &standard_attributes;
    const int status = check_attributes("tasklet_create_with", function, attributes, tasklet, 1);
    return status != GLT_SUCCESS ? status : glt_table()->tasklet_create_with(function, arg, attributes, tasklet);
}

GLT_ult* glt_ult_malloc(int number_of_ult)
{
    if (number_of_ult >= 0) return glt_table()->ult_malloc(number_of_ult);
    glt_refuse("ult_malloc", GLT_ERROR_VALUE, "%d handles were asked for; 0 or more", number_of_ult);
    return NULL;
}

GLT_tasklet* glt_tasklet_malloc(int number_of_tasklets)
{
    if (number_of_tasklets >= 0) return glt_table()->tasklet_malloc(number_of_tasklets);
    glt_refuse("tasklet_malloc", GLT_ERROR_VALUE, "%d handles were asked for; 0 or more", number_of_tasklets);
    return NULL;
}

/* --- Join and free ------------------------------------------------------------------------------------------------ */

void glt_ult_join(GLT_ult* unit)
{
    if (GLT_UNLIKELY(!can_join(unit))) {
        refuse_unit("ult_join", unit);
        return;
    }
    if (glt_table()->status_of_ult_join(unit) == GLT_SUCCESS) *unit = marked(*unit);
}

void glt_tasklet_join(GLT_tasklet* tasklet)
{
    if (GLT_UNLIKELY(!can_join(tasklet))) {
        refuse_unit("tasklet_join", tasklet);
        return;
    }
    if (glt_table()->status_of_tasklet_join(tasklet) == GLT_SUCCESS) *tasklet = marked(*tasklet);
}

/* `call` waits for the unit, at most for some time: GLT_SUCCESS says that it is joined. */
#define JOIN_OR_NOT(function, unit, call)                                                                                        \
    if (GLT_UNLIKELY(!can_join(unit))) return refuse_unit(function, unit);                                                       \
    const int status = glt_table()->call;                                                                                        \
    if (status == GLT_SUCCESS) *(unit) = marked(*(unit));                                                                        \
    return status

int glt_ult_try_join(GLT_ult* unit) { JOIN_OR_NOT("ult_try_join", unit, ult_try_join(unit)); }

int glt_tasklet_try_join(GLT_tasklet* tasklet) { JOIN_OR_NOT("tasklet_try_join", tasklet, tasklet_try_join(tasklet)); }

int glt_ult_join_for(GLT_ult* unit, double seconds)
{
    if (GLT_UNLIKELY(!(seconds >= 0)) && can_join(unit)) return glt_refuse_seconds("ult_join_for", seconds);
    JOIN_OR_NOT("ult_join_for", unit, ult_join_for(unit, seconds));
}

int glt_tasklet_join_for(GLT_tasklet* tasklet, double seconds)
{
    if (GLT_UNLIKELY(!(seconds >= 0)) && can_join(tasklet)) return glt_refuse_seconds("tasklet_join_for", seconds);
    JOIN_OR_NOT("tasklet_join_for", tasklet, tasklet_join_for(tasklet, seconds));
}

/* Ends the life of the caller's handle with `call(handle)`, unless that fails. */
static inline void release(GLT_ult* unit, int (*call)(GLT_ult*))
{
    GLT_ult handle = bare(*unit);
    if (call(&handle) == GLT_SUCCESS) *unit = NULL;
}

void glt_ult_free(GLT_ult* unit)
{
    if (GLT_UNLIKELY(unit == NULL || *unit == NULL)) refuse_unit("ult_free", unit);
    else release(unit, glt_table()->status_of_ult_free);
}

void glt_tasklet_free(GLT_tasklet* tasklet)
{
    if (GLT_UNLIKELY(tasklet == NULL || *tasklet == NULL)) refuse_unit("tasklet_free", tasklet);
    else release(tasklet, glt_table()->status_of_tasklet_free);
}

#define DETACH(function, unit, call)                                                                                             \
    if (GLT_UNLIKELY(!can_join(unit))) return refuse_unit(function, unit);                                                       \
    const int status = glt_table()->call;                                                                                        \
    if (status == GLT_SUCCESS) *(unit) = NULL;                                                                                   \
    return status

int glt_ult_detach(GLT_ult* unit) { DETACH("ult_detach", unit, ult_detach(unit)); }

int glt_tasklet_detach(GLT_tasklet* tasklet) { DETACH("tasklet_detach", tasklet, tasklet_detach(tasklet)); }

/* --- While they run ------------------------------------------------------------------------------------------------ */

static inline int is_alive(GLT_ult unit) { return unit != NULL && !is_marked(unit); }

void glt_yield(void) { glt_table()->yield(); }

void glt_yield_to(GLT_ult unit)
{
    if (GLT_UNLIKELY(!is_alive(unit))) refuse_handle("yield_to", unit);
    else glt_table()->yield_to(unit);
}

int glt_ult_suspend(void) { return glt_table()->ult_suspend(); }

int glt_ult_resume(GLT_ult unit)
{
    return GLT_UNLIKELY(!is_alive(unit)) ? refuse_handle("ult_resume", unit) : glt_table()->ult_resume(unit);
}

void glt_ult_exit(void) { glt_table()->ult_exit(); }

void glt_ult_cancel(GLT_ult unit)
{
    if (GLT_UNLIKELY(!is_alive(unit))) refuse_handle("ult_cancel", unit);
    else glt_table()->ult_cancel(unit);
}

void glt_tasklet_cancel(GLT_tasklet tasklet)
{
    if (GLT_UNLIKELY(!is_alive(tasklet))) refuse_handle("tasklet_cancel", tasklet);
    else glt_table()->tasklet_cancel(tasklet);
}

void glt_ult_self(GLT_ult* unit)
{
    if (unit != NULL) {
        *unit = NULL;
        glt_table()->ult_self(unit);
    } else {
        glt_refuse("ult_self", GLT_ERROR_VALUE, "the pointer to where the handle goes is null");
    }
}

void glt_tasklet_self(GLT_tasklet* tasklet)
{
    if (tasklet != NULL) {
        *tasklet = NULL;
        glt_table()->tasklet_self(tasklet);
    } else {
        glt_refuse("tasklet_self", GLT_ERROR_VALUE, "the pointer to where the handle goes is null");
    }
}

/* A joined unit keeps its number until it is freed. */
void glt_ult_get_id(GLT_ult_id* id, GLT_ult unit)
{
    if (id != NULL) *id = 0;
    if (id == NULL) glt_refuse("ult_get_id", GLT_ERROR_VALUE, "the pointer to where the id goes is null");
    else if (unit == NULL) refuse_handle("ult_get_id", unit);
    else glt_table()->ult_get_id(id, bare(unit));
}

void glt_workunit_get_thread_id(GLT_thread_id* id)
{
    if (id != NULL) {
        *id = -1;
        glt_table()->workunit_get_thread_id(id);
    } else {
        glt_refuse("workunit_get_thread_id", GLT_ERROR_VALUE, "the pointer to where the id goes is null");
    }
}

void glt_ult_migrate_self_to(GLT_thread_id id)
{
    if (GLT_UNLIKELY(!is_thread(id))) refuse_thread("ult_migrate_self_to", id);
    else glt_table()->ult_migrate_self_to(id);
}
