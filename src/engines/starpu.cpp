#include "engines/starpu/engine.hpp"

namespace trencadis {

extern const EngineEntry engine_starpu;
const EngineEntry engine_starpu{
    {"starpu", "StarPU finds the dependences, schedules and runs the tasks", "Augonnet, Thibault, Namyst, Wacrenier 2011"},
    StarpuEngine::abilities,
    [](EngineParts parts) { return std::unique_ptr<Engine>(std::make_unique<StarpuEngine>(parts)); },
    why_no_starpu,
    [] { return StarpuTenancy::caps().workers; },
    StarpuTenancy::policies,
};

} // namespace trencadis
