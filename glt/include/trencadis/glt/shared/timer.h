/* Timers and the clock, for the back ends whose library has none of a nanosecond's resolution. A back end's types.h says
 * `typedef struct glt_shared_timer *GLT_timer;`. Defines glt_get_wtime and glt_timer_*. */
#ifndef TRENCADIS_GLT_SHARED_TIMER_H
#define TRENCADIS_GLT_SHARED_TIMER_H

#include "status.h"

#include <stdlib.h>

#ifdef __cplusplus
extern "C" {
#endif

struct glt_shared_timer {
    double start, stop; /* of glt_get_wtime */
};

GLT_API double glt_get_wtime(void) { return glt_shared_now(); }

GLT_API void glt_timer_create(GLT_timer* timer)
{
    if (!GLT_SHARED_TELLS("glt_timer_create", timer)) return;
    *timer = (GLT_timer)calloc(1, sizeof(struct glt_shared_timer));
    if (!*timer) glt_shared_report(GLT_ERROR_MEMORY, "glt_timer_create: no memory for a timer");
}

GLT_API void glt_timer_start(GLT_timer timer)
{
    if (GLT_SHARED_HAS("glt_timer_start", timer)) timer->start = timer->stop = glt_shared_now();
}

GLT_API void glt_timer_stop(GLT_timer timer)
{
    if (GLT_SHARED_HAS("glt_timer_stop", timer)) timer->stop = glt_shared_now();
}

GLT_API void glt_timer_get_secs(GLT_timer timer, double* secs)
{
    if (!GLT_SHARED_TELLS("glt_timer_get_secs", secs)) return;
    *secs = GLT_SHARED_HAS("glt_timer_get_secs", timer) ? timer->stop - timer->start : 0;
}

GLT_API void glt_timer_free(GLT_timer* timer)
{
    if (!GLT_SHARED_HOLDS("glt_timer_free", timer)) return;
    free(*timer);
    *timer = NULL;
}

#ifdef __cplusplus
}
#endif

#endif
