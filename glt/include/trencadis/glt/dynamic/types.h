/* Types of the dynamic form: opaque handles of the size every back end's have. */
#ifndef TRENCADIS_GLT_DYNAMIC_TYPES_H
#define TRENCADIS_GLT_DYNAMIC_TYPES_H

typedef struct glt_unit* GLT_ult;
typedef struct glt_unit* GLT_tasklet;
typedef struct glt_thread* GLT_thread;
typedef struct glt_mutex* GLT_mutex;
typedef struct glt_barrier* GLT_barrier;
typedef struct glt_cond* GLT_cond;
typedef struct glt_counter* GLT_counter;
typedef struct glt_event* GLT_event;
typedef struct glt_key* GLT_key;
typedef struct glt_timer* GLT_timer;

#endif
