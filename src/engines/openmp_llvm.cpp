#include "engines/openmp/engine.hpp"

namespace trencadis {

extern const EngineEntry engine_openmp_llvm;
const EngineEntry engine_openmp_llvm{
    {"openmp-llvm", "tasks of LLVM's OpenMP runtime: mutexinoutset commutes, inoutset writes concurrently", "libomp of LLVM"},
    openmp::OpenMpEngine::abilities(true),
    [](EngineParts parts) -> std::unique_ptr<Engine> {
        return std::make_unique<openmp::OpenMpEngine>(std::move(parts), openmp::llvm, engine_openmp_llvm.capabilities);
    },
    [] { return openmp::why_not(openmp::llvm); },
};

} // namespace trencadis
