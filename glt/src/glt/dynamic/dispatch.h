/* The dynamic form: libglt.so checks arguments and calls through the table of the back end that glt_init chose. Nothing of
 * trencadis is used here, so that the library can be used without it. */
#pragma once

#include "trencadis/glt/table.h"

#include <stdatomic.h>

#define GLT_COLD __attribute__((cold, noinline))
#define GLT_FORMAT(text, arguments) __attribute__((format(printf, text, arguments)))
#define GLT_UNLIKELY(condition) __builtin_expect(!!(condition), 0)

/* Hidden, so that they are reached without the dynamic linker's tables. */
#pragma GCC visibility push(hidden)

/* Never null: before glt_init and after glt_finalize it is glt_closed_table, whose functions report GLT_ERROR_STATE. So a call
 * needs no branch for it. Written by init and finalize only. */
extern _Atomic(const struct glt_table*) glt_current;
extern const struct glt_table glt_closed_table;

static inline const struct glt_table* glt_table(void) { return atomic_load_explicit(&glt_current, memory_order_acquire); }

/* Threads of the back end that runs; 0 before glt_init and after glt_finalize. */
extern atomic_int glt_threads;

/* How many errors the process has seen, on all threads. */
extern atomic_uint glt_error_count;

/* Keeps the error for this OS thread and hands it to the handler. The plug-ins report through it too. */
GLT_COLD void glt_report(int status, const char* message);
/* Reports "glt_<function>: <what>" and returns `status`. */
GLT_COLD int glt_fail(const char* function, int status, const char* what, ...) GLT_FORMAT(3, 4);
/* As glt_fail, for calls that need an initialised library: when it is not, that is the error, whatever else is wrong. */
GLT_COLD int glt_refuse(const char* function, int status, const char* what, ...) GLT_FORMAT(3, 4);
GLT_COLD int glt_refuse_seconds(const char* function, double seconds);
/* The status of this OS thread's last error, without forgetting it. */
GLT_COLD int glt_last_error(void);

/* The table of a plug-in, loaded if it was not; NULL when it is not there, with the error reported for `function`. */
GLT_COLD const struct glt_table* glt_find_plugin(const char* function, const char* name);

#pragma GCC visibility pop
