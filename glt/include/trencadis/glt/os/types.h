/* Types of the back end os. Units are records (shared/record.h), each with an operating system thread of its own. */
#ifndef TRENCADIS_GLT_OS_TYPES_H
#define TRENCADIS_GLT_OS_TYPES_H

#include "../shared/types.h"

typedef struct glt_os_thread* GLT_thread;

#endif
