/* A library that computes when it is opened, while the loader's lock is held. */
#include "guest.h"

__attribute__((constructor)) static void compute(void) { require(right_product(on_tasks), "a product from a constructor"); }
