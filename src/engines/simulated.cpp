#include "engines/simulated/engine.hpp"

namespace trencadis {

extern const EngineEntry engine_simulated;
const EngineEntry engine_simulated{
    {"simulated", "a described machine in virtual time, for `trencadis simulate`", "SimGrid, Casanova et al. 2014"},
    simulated::VirtualEngine::abilities,
    [](EngineParts parts) { return std::unique_ptr<Engine>(std::make_unique<simulated::VirtualEngine>(std::move(parts))); },
    &why_no_virtual_time,
};

} // namespace trencadis
