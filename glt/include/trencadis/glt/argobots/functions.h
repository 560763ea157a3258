/* GLT over Argobots, header-only. What Argobots has is called as it is; the rest is said in the headers below. Differences a user
 * of Argobots should know: the main program stays on stream 0; a unit made by glt_ult_create may be stolen, the oldest first; ids
 * start anew in each glt_init with a number of their own, so that none comes twice. */
#ifndef TRENCADIS_GLT_ARGOBOTS_FUNCTIONS_H
#define TRENCADIS_GLT_ARGOBOTS_FUNCTIONS_H

#include "../shared/plain.h"
#include "../shared/timer.h"
#include "gate.h"
#include "keys.h"
#include "setup.h"
#include "suspend.h"
#include "sync.h"
#include "units.h"

#endif
