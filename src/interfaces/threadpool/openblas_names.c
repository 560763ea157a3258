/* The functions by which threadpoolctl asks and limits an OpenBLAS: for programs that know nothing of us. It finds a library by
 * the beginning of its file's name and calls what it finds in that very file, so that nothing can be put in front; this is such
 * a file, and what it limits are our workers. An OpenBLAS that is there as well has its own. */
#include <limits.h>
#include <trencadis/trencadis.h>

#define SHOWN __attribute__((visibility("default")))

SHOWN int openblas_get_num_threads(void) { return trc_get_num_threads(); }

/* Fewer than one is all, as with OpenBLAS. */
SHOWN void openblas_set_num_threads(int threads) { trc_set_num_threads(threads < 1 ? INT_MAX : threads); }

/* One pool of threads for the process: those of OpenMP are limited for the calling thread alone. */
SHOWN int openblas_get_parallel(void) { return 1; }

/* The first word says that the second one is the version. */
SHOWN const char* openblas_get_config(void) { return "OpenBLAS " TRC_VERSION " (its names, for the workers of trencadis)"; }
SHOWN const char* openblas_get_corename(void) { return "trencadis"; }
