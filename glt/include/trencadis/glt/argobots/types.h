/* Handle types over Argobots 1.2 and newer. ULTs and tasklets share one handle type there. */
#ifndef TRENCADIS_GLT_ARGOBOTS_TYPES_H
#define TRENCADIS_GLT_ARGOBOTS_TYPES_H

#include <time.h> /* abt.h uses struct timespec */

#include <abt.h>

#if ABT_NUMVERSION < 10200000
#error "GLT needs Argobots 1.2 or newer"
#endif

typedef ABT_thread GLT_ult;
typedef ABT_thread GLT_tasklet;
typedef ABT_xstream GLT_thread;
typedef ABT_mutex GLT_mutex;
typedef ABT_barrier GLT_barrier;
typedef ABT_cond GLT_cond;
typedef ABT_key GLT_key;
typedef struct glt_argobots_gate* GLT_counter;
typedef struct glt_argobots_gate* GLT_event;
typedef struct glt_shared_timer* GLT_timer;

#endif
