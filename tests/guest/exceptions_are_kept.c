/* What the library reckons with beside a call (a session's beginning, whether devices take part) raises no floating-point
 * exception in the program, whether it has them trapped or not, and leaves the program's modes alone. */
#define _GNU_SOURCE
#include "guest.h"

#include <fenv.h>

/* What the product below is exact for: it raises nothing itself. */
static const int ours = FE_DIVBYZERO | FE_INVALID | FE_OVERFLOW | FE_UNDERFLOW;
static int trapped, rounding;
static const char* devices;

/* A child of its own each time, as the first calls are what reckons most. */
static int computes(void)
{
    setenv("TRENCADIS_TILE", "60", 1);
    if (devices) setenv("TRENCADIS_DEVICES", devices, 1);
    require(fesetround(rounding) == 0, "a way to round");
    for (int i = 0; i < 6; ++i) {
        feclearexcept(FE_ALL_EXCEPT);
        const int trap = feenableexcept(trapped) == -1 ? 0 : trapped; /* some processors cannot */
        const int right = right_product(on_tasks);
        const int raised = fetestexcept(ours), traps = fegetexcept();
        fedisableexcept(FE_ALL_EXCEPT);
        require(right, "the product is right");
        require(raised == 0, "no exception of ours is left in the program");
        require(traps == trap && fegetround() == rounding, "the modes are the program's");
    }
    return 0;
}

int main(void)
{
    /* Devices are measured: the first ones where no core has been, the others where one has. */
    char folder[] = "/tmp/exceptions_are_kept_XXXXXX", removal[64];
    static const char* const words[] = {NULL, "emulated:2", "emulated:2,always=yes", "emulated,speed=1GFlop/s,latency=1ms"};
    static const int ways[] = {FE_TONEAREST, FE_UPWARD, FE_TOWARDZERO};
    require(mkdtemp(folder) != NULL, "a folder");
    setenv("XDG_CACHE_HOME", folder, 1);
    for (size_t w = 0; w < sizeof words / sizeof *words; ++w)
        for (size_t r = 0; r < sizeof ways / sizeof *ways; ++r)
            for (int traps = 0; traps < 2; ++traps) {
                devices = words[w], rounding = ways[r], trapped = traps ? ours : 0;
                in_child(computes, devices ? devices : "without devices");
            }
    snprintf(removal, sizeof removal, "rm -r %s", folder);
    return system(removal) != 0;
}
