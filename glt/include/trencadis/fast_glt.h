/* The published name of the header-only form: programs that say #include <fast_glt.h> use the native back end unless they are
 * compiled with -DGLT_STATIC=<another>. Linked with $(pkg-config --libs glt-static). */
#ifndef TRENCADIS_FAST_GLT_H
#define TRENCADIS_FAST_GLT_H

#ifndef GLT_STATIC
#define GLT_STATIC native
#endif
#include "glt.h"

#endif
