/* Functions that are the same in every back end: memory for handles, attributes, glt_init, the published queries. */
#ifndef TRENCADIS_GLT_SHARED_PLAIN_H
#define TRENCADIS_GLT_SHARED_PLAIN_H

#include "status.h"

#include <stdlib.h>

#ifdef __cplusplus
extern "C" {
#endif

GLT_SHARED_APART void* glt_shared_handles(const char* function, int number, size_t size)
{
    void* handles = NULL;
    if (number < 0) glt_shared_report(GLT_ERROR_VALUE, "%s: the number is %d, not 0 or more", function, number);
    else if (!(handles = calloc(number > 0 ? (size_t)number : 1, size)))
        glt_shared_report(GLT_ERROR_MEMORY, "%s: no memory for %d handles", function, number);
    return handles;
}

GLT_API GLT_ult* glt_ult_malloc(int number_of_ult)
{
    return (GLT_ult*)glt_shared_handles("glt_ult_malloc", number_of_ult, sizeof(GLT_ult));
}

GLT_API GLT_tasklet* glt_tasklet_malloc(int number_of_tasklets)
{
    return (GLT_tasklet*)glt_shared_handles("glt_tasklet_malloc", number_of_tasklets, sizeof(GLT_tasklet));
}

GLT_API void glt_attributes_init(GLT_attributes* attributes)
{
    if (!GLT_SHARED_TELLS("glt_attributes_init", attributes)) return;
    memset(attributes, 0, sizeof *attributes);
    attributes->thread = GLT_ANY_THREAD;
}

GLT_API void glt_init(int argc, char* argv[])
{
    (void)argc;
    (void)argv;
    glt_init_with(NULL);
}

GLT_API int glt_can_event_functions(void) { return 0; }
GLT_API int glt_can_future_functions(void) { return 0; }
GLT_API int glt_can_manage_scheduler(void) { return 0; }
GLT_API int glt_can_scheduler(void) { return 0; }
GLT_API int glt_can_malleability(void) { return 0; }

#ifdef __cplusplus
}
#endif

#endif
