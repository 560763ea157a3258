/* Two plug-ins in one process, each with its own copy of the header-only form over the same library: the second is refused while
 * the first runs, the first goes on, and they may take turns. Over POSIX threads, where there is no library, both run at once. */
#define _GNU_SOURCE
#include "trencadis/glt.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include "two_plugins.h"

static const struct two_plugins_part* open_part(const char* path)
{
    void* library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!library) fprintf(stderr, "%s\n", dlerror());
    return library ? (const struct two_plugins_part*)dlsym(library, "two_plugins_part") : NULL;
}

static int wrong(const char* what) { return fprintf(stderr, "two_plugins: %s\n", what), 1; }

int main(int argc, char* argv[])
{
    const int both = argc == 4 && strcmp(argv[3], "os") == 0;
    const struct two_plugins_part* first = argc == 4 ? open_part(argv[1]) : NULL;
    const struct two_plugins_part* second = argc == 4 ? open_part(argv[2]) : NULL;
    if (!first || !second || first == second) return wrong("cannot open both");
    for (int round = 0; round < 3; ++round) {
        if (first->start() != GLT_SUCCESS || !first->work()) return wrong("the first does not run");
        if (second->start() != (both ? GLT_SUCCESS : GLT_ERROR_STATE)) return wrong("the second was not answered right");
        if (both && !second->work()) return wrong("the second does not run");
        if (!first->work()) return wrong("the first does not go on");
        if (both) second->end();
        first->end();
        if (second->start() != GLT_SUCCESS || !second->work()) return wrong("the second does not run after the first");
        second->end();
    }
    return 0;
}
