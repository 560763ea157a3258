/* The same program as C++. */
#include "two_sources_main.c"
