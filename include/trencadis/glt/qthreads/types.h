/* Types of the back end qthreads. Units are records (shared/record.h): a qthread has no handle. */
#ifndef TRENCADIS_GLT_QTHREADS_TYPES_H
#define TRENCADIS_GLT_QTHREADS_TYPES_H

#include <qthread/qthread.h>

typedef struct glt_shared_unit* GLT_ult;
typedef struct glt_shared_unit* GLT_tasklet;
typedef qthread_shepherd_id_t* GLT_thread;
typedef struct glt_shared_mutex* GLT_mutex;
typedef struct glt_shared_barrier* GLT_barrier;
typedef struct glt_shared_cond* GLT_cond;
typedef struct glt_counter* GLT_counter;
typedef struct glt_shared_event* GLT_event;
typedef struct glt_shared_key* GLT_key;
typedef struct glt_shared_timer* GLT_timer;

#endif
