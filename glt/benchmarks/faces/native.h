/* The native library by its own C symbols, without the header-only form around them. */
#define LWT_GLT(name) glt_native_##name
#define LWT_FORM "direct"
#include "glt.h"
