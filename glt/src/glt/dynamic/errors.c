/* The last error of each OS thread, and the handler. */
#include "glt/dynamic/dispatch.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

struct last_error {
    int status; /* since the last question */
    char text[512];
};
static _Thread_local struct last_error last;

/* One writev, so that lines of several threads do not mix; without stdio, whose buffer would not fit a small stack. */
static void write_to_stderr(int status, const char* message)
{
    struct iovec parts[2] = {{(void*)(uintptr_t)message, strlen(message)}, {(void*)(uintptr_t) "\n", 1}};
    (void)status;
    if (writev(STDERR_FILENO, parts, 2) < 0) return; /* nobody left to tell */
}

static void (*_Atomic handler)(int status, const char* message) = write_to_stderr;
atomic_uint glt_error_count;

void glt_report(int status, const char* message)
{
    last.status = status;
    atomic_fetch_add_explicit(&glt_error_count, 1, memory_order_relaxed);
    if (message != last.text) snprintf(last.text, sizeof last.text, "%s", message);
    atomic_load (&handler)(status, last.text);
}

static int fail(const char* function, int status, const char* what, va_list arguments)
{
    char text[sizeof last.text];
    const int used = snprintf(text, sizeof text, "glt_%s: ", function);
    vsnprintf(text + used, sizeof text - (size_t)used, what, arguments);
    glt_report(status, text);
    return status;
}

int glt_fail(const char* function, int status, const char* what, ...)
{
    va_list arguments;
    va_start(arguments, what);
    fail(function, status, what, arguments);
    va_end(arguments);
    return status;
}

int glt_refuse(const char* function, int status, const char* what, ...)
{
    va_list arguments;
    if (glt_table() == &glt_closed_table)
        return glt_fail(function, GLT_ERROR_STATE, "the library is not initialised: before glt_init or after glt_finalize");
    va_start(arguments, what);
    fail(function, status, what, arguments);
    va_end(arguments);
    return status;
}

int glt_last_status(void)
{
    const int status = last.status;
    last.status = GLT_SUCCESS;
    return status;
}

int glt_last_error(void) { return last.status; }

const char* glt_last_message(void) { return last.text; }

const char* glt_status_text(int status)
{
    static const char* const texts[] = {
        [GLT_SUCCESS] = "success",
        [GLT_BUSY] = "not finished, not free or not set",
        [GLT_TIMEOUT] = "not within the time given",
        [GLT_ERROR_STATE] = "not initialised, finalized or initialised twice",
        [GLT_ERROR_HANDLE] = "the handle is null, or was joined or freed",
        [GLT_ERROR_VALUE] = "a value is out of its range",
        [GLT_ERROR_CONTEXT] = "not allowed where it was called",
        [GLT_ERROR_MISSING] = "the back end is not installed",
        [GLT_ERROR_UNSUPPORTED] = "the back end cannot do it",
        [GLT_ERROR_MEMORY] = "no memory",
        [GLT_ERROR_ENVIRONMENT] = "the system refused",
    };
    return status >= 0 && status < (int)(sizeof texts / sizeof *texts) ? texts[status] : "no status of GLT";
}

void glt_set_error_handler(void (*given)(int status, const char* message))
{
    atomic_store(&handler, given != NULL ? given : write_to_stderr);
}
