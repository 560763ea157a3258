/* Types of the back end massivethreads. Units are records (shared/record.h): a thread of the library cannot carry what a handle
 * promises. */
#ifndef TRENCADIS_GLT_MASSIVETHREADS_TYPES_H
#define TRENCADIS_GLT_MASSIVETHREADS_TYPES_H

/* A compiler told -std=c11 hides this type, which the header of the library needs. */
#include <unistd.h>
#ifndef __useconds_t_defined
typedef unsigned int useconds_t;
#define __useconds_t_defined
#endif
#include <myth/myth.h>

#include "../shared/types.h"

typedef int* GLT_thread;

#endif
