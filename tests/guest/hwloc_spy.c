/* A plug-in of hwloc that looks for devices and, as some drivers do, takes the program's handler of SIGTERM for itself. */
#include <hwloc.h>
#include <hwloc/plugins.h>
#include <signal.h>
#include <stdlib.h>

static void taken(int number) { (void)number; }

static int discover(struct hwloc_backend* backend, struct hwloc_disc_status* status)
{
    (void)backend;
    (void)status;
    signal(SIGTERM, taken);
    return 0;
}

static struct hwloc_backend* instantiate(struct hwloc_topology* topology, struct hwloc_disc_component* component,
                                         unsigned excluded, const void* a, const void* b, const void* c)
{
    struct hwloc_backend* const backend = hwloc_backend_alloc(topology, component);
    (void)excluded, (void)a, (void)b, (void)c;
    if (backend) backend->discover = discover;
    return backend;
}

static struct hwloc_disc_component opencl = {"opencl", HWLOC_DISC_PHASE_IO, HWLOC_DISC_PHASE_GLOBAL, instantiate, 10, 1, NULL};

HWLOC_DECLSPEC extern const struct hwloc_component hwloc_opencl_component;
const struct hwloc_component hwloc_opencl_component = {HWLOC_COMPONENT_ABI, NULL, NULL, HWLOC_COMPONENT_TYPE_DISC, 0, &opencl};
