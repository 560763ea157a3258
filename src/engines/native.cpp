#include "engines/native/engine.hpp"

namespace trencadis {

extern const EngineEntry engine_native;
const EngineEntry engine_native{
    {"native", "one pinned worker per core, idle workers join running operations", "trencadis"},
    NativeEngine::abilities,
    [](EngineParts parts) { return std::unique_ptr<Engine>(std::make_unique<NativeEngine>(with_devices(std::move(parts)))); },
};

} // namespace trencadis
