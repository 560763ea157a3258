/* Waits with a limit: Argobots has none for joins, and spins in those it has. */
#ifndef TRENCADIS_GLT_ARGOBOTS_POLL_H
#define TRENCADIS_GLT_ARGOBOTS_POLL_H

#include "runtime.h"

#ifdef __cplusplus
extern "C" {
#endif

/* One step of waiting without being woken: others run; with nobody else to run, and in a foreign thread, the operating system's thread
 * sleeps a little. `step` counts from 0. */
GLT_SHARED_APART void glt_argobots_poll(unsigned step)
{
    uint32_t nothing = 0;
    ABT_bool open_empty = ABT_TRUE, strict_empty = ABT_TRUE;
    int rank = glt_argobots_rank();
    if (rank >= 0) {
        ABT_thread_yield();
        rank = glt_argobots_rank();
        ABT_pool_is_empty(glt_argobots.streams[rank].open, &open_empty);
        ABT_pool_is_empty(glt_argobots.streams[rank].strict, &strict_empty);
    }
    if (step >= 64 && open_empty && strict_empty) glt_shared_futex_wait(&nothing, 0, step < 1024 ? 2e-5 : 2e-4);
}

#ifdef __cplusplus
}
#endif

#endif
