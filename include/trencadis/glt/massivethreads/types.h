/* Types of the back end massivethreads. Units are records (shared/record.h): a thread of the library cannot carry what a handle promises. */
#ifndef TRENCADIS_GLT_MASSIVETHREADS_TYPES_H
#define TRENCADIS_GLT_MASSIVETHREADS_TYPES_H

/* A compiler told -std=c11 hides this type, which the header of the library needs. */
#include <unistd.h>
#ifndef __useconds_t_defined
typedef unsigned int useconds_t;
#define __useconds_t_defined
#endif
#include <myth/myth.h>

typedef struct glt_shared_unit* GLT_ult;
typedef struct glt_shared_unit* GLT_tasklet;
typedef int* GLT_thread;
typedef struct glt_shared_mutex* GLT_mutex;
typedef struct glt_shared_barrier* GLT_barrier;
typedef struct glt_shared_cond* GLT_cond;
typedef struct glt_counter* GLT_counter;
typedef struct glt_shared_event* GLT_event;
typedef struct glt_shared_key* GLT_key;
typedef struct glt_shared_timer* GLT_timer;

#endif
