/* A process whose files may not be long (RLIMIT_FSIZE): a write beyond that would end it, and what the library keeps of calls is
   not the program's affair. */
#include "guest.h"
#include <sys/resource.h>

static int limited(void)
{
    const struct rlimit none = {0, RLIM_INFINITY};
    require(setrlimit(RLIMIT_FSIZE, &none) == 0, "the limit");
    require(right_product(on_tasks), "a product");
    usleep(1200000); /* from then on calls are kept */
    require(right_product(on_tasks), "a product later");
    return 0; /* and at the end */
}

int main(void)
{
    char folder[] = "/tmp/trencadis-guest-XXXXXX", removal[sizeof folder + 8];
    require(mkdtemp(folder) != NULL && setenv("XDG_CACHE_HOME", folder, 1) == 0, "a cache folder");
    snprintf(removal, sizeof removal, "rm -r %s", folder);
    in_child(limited, "the end of a process whose files are limited");
    return system(removal);
}
