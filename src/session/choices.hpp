#pragma once
#include "engines/engine.hpp"
#include "kernels/providers/provider.hpp"
#include "machine/machine.hpp"
#include "session/session.hpp"

#include <string>
#include <vector>

/// What a session takes where its options leave the choice: the environment's, then the standard.
namespace trencadis {

/// `given`, or the environment's `variable`, or `standard`.
std::string choose(const std::string& given, const char* variable, const char* standard);

inline std::string choose_engine(const std::string& given) { return choose(given, "TRENCADIS_ENGINE", "native"); }
inline std::string choose_kernels(const std::string& given) { return choose(given, "TRENCADIS_KERNELS", "native"); }
inline std::string choose_threads(const std::string& given) { return choose(given, "TRENCADIS_THREADS_BACKEND", "native"); }

/// The machine that a session sees: this one, or the described one that is to be laid over it.
Machine choose_machine(const std::string& given);
/// Where pages count as lying on a described machine; empty without one. Throws Error{bad_argument}.
std::string choose_pages(const std::string& given, const std::string& machine);

/// Of sessions that are made by name. Workers of a described machine share cores, so that each is held up by its neighbours all
/// the time: then the standard is never.
std::string choose_relief(const std::string& given, const std::string& machine);
/// Throws Error{bad_argument} when there is no such word.
Relieving relieving_named(const std::string& word);

/// A word for devices as others: not even those of the environment.
inline constexpr const char* no_devices = "none";
/// What is asked for by name, then, of a session that may have some, the environment's; empty: none.
std::string choose_devices(const SessionOptions& options, bool has_devices);
/// By name, and some: "none" asks for none.
bool asks_for_devices(const SessionOptions& options);

/// Tasks in flight: asked for, or the standard. Throws Error{bad_argument} below 0.
std::int64_t choose_window(const SessionOptions& options);

/// Asked for, or TRENCADIS_REPRODUCIBLE=1. Throws Error{bad_argument} for another word than 0 or 1, and together with devices.
bool choose_reproducible(const SessionOptions& options);

/// The workers that calls are cut up for where the number of them must not matter: enough tasks for many, tiles large enough for
/// one.
constexpr int planned_workers = 4;

/// The cores that the workers sit on: those named, or the first of the allowed ones up to a number given or
/// TRENCADIS_NUM_THREADS; where neither is given as many as the quota of the process's control groups is worth. Throws
/// Error{bad_argument} for what the process may not use.
std::vector<int> choose_cores(const SessionOptions& options, const Machine& machine);

/// Of an engine with other processes: each of those on a machine, as Open MPI's mpirun counts them, gets its share of the cores,
/// or so many in turn as `cores` has where their number was chosen. Cores that were named stay.
struct SharedCores {
    bool bound = true; ///< workers stay on their cores; false: there are more than cores, and they go where there is room
};
SharedCores share_cores(const SessionOptions& options, const EngineEntry& engine, const Machine& machine,
                        std::vector<int>& cores);

} // namespace trencadis
