/* A library whose constructor computes, opened by a program that has not computed, and by one that has. */
#include "guest.h"
#include <dlfcn.h>

static const char* library;
static int open_it(void)
{
    require(dlopen(library, RTLD_NOW) != NULL, "the library");
    return 0;
}
static int compute_and_open_it(void)
{
    require(right_product(on_tasks), "a product");
    return open_it();
}

int main(int count, char** words)
{
    require(count == 2, "the library's name");
    library = words[1];
    in_child(open_it, "to open a library that computes");
    in_child(compute_and_open_it, "to open it later");
    return 0;
}
