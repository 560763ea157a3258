/* A program and a library it is linked with, which hides its symbols, use the header-only form: there is one GLT in both, or two
 * where the library wants its own. */
#include "trencadis/glt.h"

#include <stdio.h>

#include "linked.h"

#ifdef EXPECT_OWN_STATE
enum { SEEN = 0 };
#else
enum { SEEN = 1 };
#endif

int main(void)
{
    GLT_options options = {NULL, 2, 0, 0, 0};
    if (glt_init_with(&options) != GLT_SUCCESS) return 2;
    const int initialised = linked_library_is_initialised(), threads = linked_library_threads();
    glt_finalize();
    if (initialised == SEEN && threads == 2 * SEEN && !linked_library_is_initialised()) return 0;
    fprintf(stderr, "the library sees %s GLT with %d threads\n", initialised ? "a" : "no", threads);
    return 1;
}
