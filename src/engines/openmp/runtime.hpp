#pragma once
#include "engines/openmp/runtime.h"

#include <string>

namespace trencadis::openmp {

/// One of the two runtimes, in a module of its own (engines/openmp/module.cpp).
struct Kind {
    const char* engine;   ///< "openmp-gnu"
    const char* module;   ///< its file
    const char* library;  ///< how the file of its runtime's begins: "libgomp"
    const char* packages; ///< what to install where it is missing
    bool entered_by_kmpc; ///< by LLVM's entry points, which the other one has not
};
extern const Kind gnu, llvm;

/// Why the engine cannot be had here, empty when it can: its module or the runtime is not there, another runtime answers its
/// calls, or the process was forked: these runtimes have threads that a child has not, and would wait for them. Loads the
/// runtime, once in a process and for good; it starts no threads for that.
std::string why_not(const Kind& kind);

/// A runtime that has been loaded.
struct Runtime {
    const TrcOpenMp* functions;
    std::string library; ///< the file that answers
};
/// Throws Error{missing_backend} or, in a forked process, Error{environment} for what `why_not` says.
const Runtime& load(const Kind& kind);

} // namespace trencadis::openmp
