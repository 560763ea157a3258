#pragma once
#include "base/error.hpp"

#include <hwloc.h>

#include <memory>
#include <string>

namespace trencadis {

/// hwloc's handles with an owner. hwloc reads HWLOC_XMLFILE, HWLOC_SYNTHETIC and HWLOC_THISSYSTEM by itself.
struct TopologyDeleter {
    void operator()(hwloc_topology* topology) const { hwloc_topology_destroy(topology); }
};
using Topology = std::unique_ptr<hwloc_topology, TopologyDeleter>;

struct BitmapDeleter {
    void operator()(hwloc_bitmap_s* bitmap) const { hwloc_bitmap_free(bitmap); }
};
using Bitmap = std::unique_ptr<hwloc_bitmap_s, BitmapDeleter>;

/// Looking for devices has the drivers of all of them started in this process, by hwloc's plug-ins: some take handlers of
/// signals for themselves, for good.
enum class Devices { left_out, looked_for };

/// Throws Error{environment} when hwloc cannot read the machine, or the file or description it was told to read instead.
Topology load_topology(Devices devices);
/// The value of an info pair of the first object of this type, or "".
std::string info_of(hwloc_topology_t topology, hwloc_obj_type_t type, const char* name);

} // namespace trencadis
