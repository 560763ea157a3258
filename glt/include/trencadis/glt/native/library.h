/* The symbols of the native library: glt_native_<name> for every function of functions.def. */
#ifndef TRENCADIS_GLT_NATIVE_LIBRARY_H
#define TRENCADIS_GLT_NATIVE_LIBRARY_H

#include "../../glt.h"

#ifdef __cplusplus
extern "C" {
#endif

#define GLT_FUNCTION(result, name, parameters, arguments)                                                                        \
    __attribute__((visibility("default"))) extern result glt_native_##name parameters;
#define GLT_PROCEDURE(name, parameters, arguments)                                                                               \
    __attribute__((visibility("default"))) extern void glt_native_##name parameters;
#include "../functions.def"
#include "../statuses.def"
#undef GLT_FUNCTION
#undef GLT_PROCEDURE

#ifdef __cplusplus
}
#endif

#endif
