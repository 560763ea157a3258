#include "engines/openmp/engine.hpp"

namespace trencadis {

extern const EngineEntry engine_openmp_gnu;
const EngineEntry engine_openmp_gnu{
    {"openmp-gnu", "tasks of GNU's OpenMP runtime: commutes in order, concurrent writers by empty tasks", "libgomp of GCC"},
    openmp::OpenMpEngine::abilities(false),
    [](EngineParts parts) -> std::unique_ptr<Engine> {
        return std::make_unique<openmp::OpenMpEngine>(std::move(parts), openmp::gnu, engine_openmp_gnu.capabilities);
    },
    [] { return openmp::why_not(openmp::gnu); },
};

} // namespace trencadis
