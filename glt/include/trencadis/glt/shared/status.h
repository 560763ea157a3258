/* Errors: the last one of each operating system thread and the handler. Defines glt_last_status, glt_last_message,
 * glt_status_text and glt_set_error_handler; a back end reports by glt_shared_report. */
#ifndef TRENCADIS_GLT_SHARED_STATUS_H
#define TRENCADIS_GLT_SHARED_STATUS_H

#include "../../glt.h"
#include "system.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/uio.h>

#ifdef __cplusplus
extern "C" {
#endif

struct glt_shared_last {
    int status;
    char message[256];
};

GLT_SHARED_VARIABLE __thread struct glt_shared_last glt_shared_last;
GLT_SHARED_VARIABLE void (*glt_shared_handler)(int status, const char* message); /* NULL: the standard one */

/* One writev, so that lines of several threads do not mix; no stdio, whose buffer would not fit a small stack. */
GLT_SHARED_APART void glt_shared_print(const char* message)
{
    struct iovec parts[2];
    parts[0].iov_base = (void*)(uintptr_t)message;
    parts[0].iov_len = strlen(message);
    parts[1].iov_base = (void*)(uintptr_t) "\n";
    parts[1].iov_len = 1;
    if (writev(2, parts, 2) < 0) return; /* nobody left to tell */
}

/* Keeps the error for glt_last_status and hands it to the handler; answers with the status, for `return glt_shared_report(...)`.
 */
__attribute__((cold, format(printf, 2, 3))) GLT_SHARED_APART int glt_shared_report(int status, const char* format, ...)
{
    struct glt_shared_last* last = &glt_shared_last;
    void (*handler)(int, const char*) = __atomic_load_n(&glt_shared_handler, __ATOMIC_ACQUIRE);
    va_list values;
    va_start(values, format);
    vsnprintf(last->message, sizeof last->message, format, values);
    va_end(values);
    last->status = status;
    if (handler) handler(status, last->message);
    else glt_shared_print(last->message);
    return status;
}

/* A call with a wrong argument. Where the library does not run, that is the error, whatever else is wrong. */
__attribute__((cold)) GLT_SHARED_APART int glt_shared_refuse(const char* function, int status, const char* what)
{
    if (glt_initialized()) return glt_shared_report(status, "%s: %s", function, what);
    return glt_shared_report(GLT_ERROR_STATE, "%s: before glt_init or after glt_finalize", function);
}

__attribute__((cold)) GLT_SHARED_APART int glt_shared_null(const char* function)
{
    return glt_shared_refuse(function, GLT_ERROR_HANDLE, "the handle is null: it was never created, or was freed");
}

/* Refuses a call without a place for what it makes or answers. */
__attribute__((cold)) GLT_SHARED_APART int glt_shared_no_place(const char* function)
{
    return glt_shared_refuse(function, GLT_ERROR_VALUE, "the pointer to where the result goes is null");
}

/* Whether an object can be made at `place`, which is null from then on until it is. */
#define GLT_SHARED_MAKES(function, place)                                                                                        \
    (__builtin_expect((place) != NULL, 1) ? (*(place) = NULL, glt_initialized() || (glt_shared_null(function), 0))               \
                                          : (glt_shared_no_place(function), 0))
/* Whether there is a handle, or a place with one. */
#define GLT_SHARED_HAS(function, handle) (__builtin_expect((handle) != NULL, 1) ? 1 : (glt_shared_null(function), 0))
#define GLT_SHARED_HOLDS(function, place)                                                                                        \
    (__builtin_expect((place) != NULL && *(place) != NULL, 1) ? 1 : (glt_shared_null(function), 0))
/* Whether an answer can be written. */
#define GLT_SHARED_TELLS(function, place) (__builtin_expect((place) != NULL, 1) ? 1 : (glt_shared_no_place(function), 0))

GLT_SHARED_APART int glt_shared_take_status(void)
{
    int status = glt_shared_last.status;
    glt_shared_last.status = GLT_SUCCESS;
    return status;
}

/* The last status, which is not forgotten by this. */
GLT_SHARED_APART int glt_shared_last_status(void) { return glt_shared_last.status; }

GLT_SHARED_APART const char* glt_shared_message(void)
{
    __asm__ volatile("" ::: "memory"); /* not a constant: the address differs between threads */
    return glt_shared_last.message;
}

GLT_API int glt_last_status(void) { return glt_shared_take_status(); }
GLT_API const char* glt_last_message(void) { return glt_shared_message(); }

GLT_API const char* glt_status_text(int status)
{
    switch (status) {
    case GLT_SUCCESS: return "success";
    case GLT_BUSY: return "busy: not finished, not free or not set";
    case GLT_TIMEOUT: return "the time was over";
    case GLT_ERROR_STATE: return "before glt_init, after glt_finalize, or initialised twice";
    case GLT_ERROR_HANDLE: return "a handle that is null, or already joined or freed";
    case GLT_ERROR_VALUE: return "a value out of its range";
    case GLT_ERROR_CONTEXT: return "not allowed where it was called";
    case GLT_ERROR_MISSING: return "the back end is not installed";
    case GLT_ERROR_UNSUPPORTED: return "this back end cannot do it";
    case GLT_ERROR_MEMORY: return "no memory";
    case GLT_ERROR_ENVIRONMENT: return "the system refused, or a variable cannot be read";
    default: return "no status of GLT";
    }
}

GLT_API void glt_set_error_handler(void (*handler)(int status, const char* message))
{
    __atomic_store_n(&glt_shared_handler, handler, __ATOMIC_RELEASE);
}

#ifdef __cplusplus
}
#endif

#endif
