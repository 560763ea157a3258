/* The header-only form over the native library: each function is one call, which compilers turn into a jump. The library checks
 * its arguments itself, so this form drops no check. */
#ifndef TRENCADIS_GLT_NATIVE_FUNCTIONS_H
#define TRENCADIS_GLT_NATIVE_FUNCTIONS_H

#include "library.h"

#ifdef __cplusplus
extern "C" {
#endif

#define GLT_FUNCTION(result, name, parameters, arguments)                                                                        \
    GLT_API result glt_##name parameters { return glt_native_##name arguments; }
#define GLT_PROCEDURE(name, parameters, arguments)                                                                               \
    GLT_API void glt_##name parameters { glt_native_##name arguments; }
#include "../functions.def"
#include "../statuses.def"
#undef GLT_FUNCTION
#undef GLT_PROCEDURE

#ifdef __cplusplus
}
#endif

#endif
