/* The first call makes a standard session with devices, whose threads read the clock for the first time meanwhile. Each child is
 * such a process; one in three waited for ever for whom it was waiting. */
#include "guest.h"

static int computes(void)
{
    require(right_product(on_tasks), "a product");
    return 0;
}

int main(void)
{
    setenv("TRENCADIS_DEVICES", "emulated:2", 1);
    for (int turn = 0; turn < 24; ++turn) in_child(computes, "a child that computes");
    return 0;
}
