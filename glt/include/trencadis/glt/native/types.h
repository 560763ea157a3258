/* Handles of the native back end: the address of a slot with the slot's generation in the upper 16 bits, so that a handle that
 * was freed, also through a copy of it, is known as such. Never followed by the program. */
#ifndef TRENCADIS_GLT_NATIVE_TYPES_H
#define TRENCADIS_GLT_NATIVE_TYPES_H

typedef struct glt_native_unit* GLT_ult;
typedef struct glt_native_unit* GLT_tasklet;
typedef struct glt_native_thread* GLT_thread;
typedef struct glt_native_mutex* GLT_mutex;
typedef struct glt_native_barrier* GLT_barrier;
typedef struct glt_native_cond* GLT_cond;
typedef struct glt_native_counter* GLT_counter;
typedef struct glt_native_event* GLT_event;
typedef struct glt_native_key* GLT_key;
typedef struct glt_native_timer* GLT_timer;

#endif
