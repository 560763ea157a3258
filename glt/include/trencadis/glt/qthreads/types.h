/* Types of the back end qthreads. Units are records (shared/record.h): a qthread has no handle. */
#ifndef TRENCADIS_GLT_QTHREADS_TYPES_H
#define TRENCADIS_GLT_QTHREADS_TYPES_H

#include <qthread/qthread.h>

#include "../shared/types.h"

typedef qthread_shepherd_id_t* GLT_thread;

#endif
