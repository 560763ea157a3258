#include "memory/machine_spaces.hpp"

namespace trencadis {

std::vector<Space> spaces_of(const Machine& machine)
{
    std::vector<Space> spaces;
    for (const MemoryNode& node : machine.nodes) spaces.push_back({node.name, 0, node.host});
    for (const Device& device : machine.devices) spaces.push_back({device.name, device.bytes, -1});
    return spaces;
}

} // namespace trencadis
