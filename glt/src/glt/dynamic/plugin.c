/* One back end as a plug-in: its header-only form, compiled with GLT_STATIC set to its name, as a table. */
#include "trencadis/glt/table.h"

/* clang-format off */
static const struct glt_table table = {
    GLT_TABLE_VERSION, sizeof(struct glt_table), GLT_TEXT(GLT_STATIC),
#define GLT_FUNCTION(result, function, parameters, arguments) glt_##function,
#define GLT_PROCEDURE(function, parameters, arguments) glt_##function,
#include "trencadis/glt/functions.def"
#include "trencadis/glt/statuses.def"
#undef GLT_FUNCTION
#undef GLT_PROCEDURE
};
/* clang-format on */

/* Handles travel through the table as pointers of the dynamic form, and bit 0 of a unit's stays free for the dispatch. */
_Static_assert(sizeof(GLT_ult) == sizeof(void*) && sizeof(GLT_tasklet) == sizeof(void*),
               "a unit's handle has the size of a pointer");
_Static_assert(sizeof(GLT_mutex) == sizeof(void*) && sizeof(GLT_barrier) == sizeof(void*), "handles have the size of a pointer");
_Static_assert(sizeof(GLT_cond) == sizeof(void*) && sizeof(GLT_counter) == sizeof(void*), "handles have the size of a pointer");
_Static_assert(sizeof(GLT_event) == sizeof(void*) && sizeof(GLT_key) == sizeof(void*), "handles have the size of a pointer");
_Static_assert(sizeof(GLT_timer) == sizeof(void*), "handles have the size of a pointer");

const struct glt_table* glt_plugin(void);
const struct glt_table* glt_plugin(void) { return &table; }
