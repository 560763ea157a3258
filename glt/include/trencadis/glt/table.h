/* A back end as a table of functions: what a plug-in hands to the dynamic library. Plug-ins export
 *     const struct glt_table *glt_plugin(void);
 * A plug-in is compiled against its library's own handle types, which are all of a pointer's size and passed on unread. */
#ifndef TRENCADIS_GLT_TABLE_H
#define TRENCADIS_GLT_TABLE_H

#include "../glt.h"

#define GLT_TABLE_VERSION 2

struct glt_table {
    uint32_t version; /* GLT_TABLE_VERSION */
    uint32_t size;    /* sizeof(struct glt_table) */
    const char* name;
#define GLT_FUNCTION(result, function, parameters, arguments) result(*function) parameters;
#define GLT_PROCEDURE(function, parameters, arguments) void(*function) parameters;
#include "functions.def"
#include "statuses.def"
#undef GLT_FUNCTION
#undef GLT_PROCEDURE
};

#endif
