#pragma once

/// What a module offers that carries tasks out on an OpenMP runtime: the same source compiled by two compilers
/// (engines/openmp/module.cpp), each with the runtime that is its own. Plain C between the two sides.
extern "C" {

/// Addresses that a task depends on, by kind; short lists.
struct TrcOpenMpDependences {
    void* const* in;
    void* const* inout;
    void* const* mutexinoutset;
    void* const* inoutset; ///< where the module has it
    int ins, inouts, mutexinoutsets, inoutsets;
};

/// A parallel region. `enter` and `leave` run on each of its threads, `master` on the calling one; when `master` has returned and
/// all tasks have finished, `leave` is called. None of them throws.
struct TrcOpenMpRegion {
    void (*enter)(void* of, int thread, int threads);
    void (*master)(void* of);
    void (*leave)(void* of, int thread);
    void* of;
};

struct TrcOpenMp {
    int version;            ///< of this struct
    const char* compiler;   ///< that made the module, with its version
    int has_inoutset;       ///< does its compiler know it?
    const void* (*entry)(); ///< a function of the runtime by which tasks begin, as it was found: tells which library answers

    void (*parallel)(int threads, const TrcOpenMpRegion* region);
    void (*submit)(const TrcOpenMpDependences* after, int priority, void (*run)(void*), void* argument);
    void (*wait)();                  ///< for the tasks that the running one has submitted
    void (*wait_for)(void* address); ///< for those of them that depend on an address
    int (*level)();                  ///< regions around the calling thread
    int (*thread_limit)();
    int (*most_priority)();
};
}

namespace trencadis {
inline constexpr int openmp_module_version = 1;
inline constexpr const char* openmp_module_symbol = "trc_openmp_v1";
} // namespace trencadis
