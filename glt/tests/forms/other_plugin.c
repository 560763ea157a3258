/* Files beside the plug-ins that libglt.so must not take for one: compiled with OTHER_NAME, OTHER_VERSION, or neither. */
#include "trencadis/glt/table.h"

#ifdef OTHER_NAME
const struct glt_table* glt_plugin(void);
const struct glt_table* glt_plugin(void)
{
    static const struct glt_table table = {.version = OTHER_VERSION, .size = sizeof(struct glt_table), .name = OTHER_NAME};
    return &table;
}
#else
int nothing_here(void);
int nothing_here(void) { return 0; }
#endif
