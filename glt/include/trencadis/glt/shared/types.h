/* Handles of the back ends whose units are records of ours (shared/record.h). */
#ifndef TRENCADIS_GLT_SHARED_TYPES_H
#define TRENCADIS_GLT_SHARED_TYPES_H

typedef struct glt_shared_unit* GLT_ult;
typedef struct glt_shared_unit* GLT_tasklet;
typedef struct glt_shared_mutex* GLT_mutex;
typedef struct glt_shared_barrier* GLT_barrier;
typedef struct glt_shared_cond* GLT_cond;
typedef struct glt_counter* GLT_counter;
typedef struct glt_shared_event* GLT_event;
typedef struct glt_shared_key* GLT_key;
typedef struct glt_shared_timer* GLT_timer;

#endif
