#include "trencadis/glt.h"

#pragma GCC visibility push(default)
#include "linked.h"
#pragma GCC visibility pop

int linked_library_is_initialised(void) { return glt_initialized(); }
int linked_library_threads(void) { return glt_get_num_threads(); }
