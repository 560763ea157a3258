/* A program in two translation units. Both use the library; what the library keeps must be the same for both. */
#pragma once
#include <trencadis/glt.h>

#ifdef __cplusplus
extern "C" {
#endif
/* Adds the squares of 1 .. n to *sum under the mutex, a unit and a tasklet for each; answers how many of them ran. */
int add_squares(int n, GLT_mutex mutex, long* sum);
/* Initialises once more, which must fail; answers the status. */
int initialise_again(void);
int threads_seen_there(void);
#ifdef __cplusplus
}
#endif
