#pragma once
#include "choices/calibration.hpp"
#include "choices/chooser.hpp"
#include "kernels/providers/provider.hpp"
#include "session/last_calls.hpp"
#include "session/session.hpp"

#include <filesystem>
#include <memory>
#include <optional>

/// What this host's calibration (docs/choices.md) says to a session.
namespace trencadis {

/// ${XDG_CACHE_HOME:-~/.cache}/trencadis/<host>.choices; none where neither is set.
std::optional<std::filesystem::path> calibration_path();
/// Of figures that are measured here.
choices::Owner calibration_owner(const KernelProvider& kernels);

/// The objective: asked for, or TRENCADIS_OBJECTIVE, or time. Throws Error{bad_argument} for a word that is none.
choices::Objective choose_objective(const SessionOptions& asked);

/// Null where calls go by rule: `resolved` is a session of another engine, policy or machine than calibrations are of, or a
/// reproducible one, or nothing is known. The file is read once in a process, and what is wrong with it said once. Throws
/// Error{bad_argument} where an objective other than time was asked for in such a session, or one that the calibration has no
/// figures of; of the environment's objective that is said once.
std::unique_ptr<choices::Chooser> make_chooser(const SessionOptions& asked, const SessionOptions& resolved,
                                               const KernelProvider& kernels);

/// ${XDG_CACHE_HOME:-~/.cache}/trencadis/<host>.calls, beside the calibration.
std::optional<std::filesystem::path> last_calls_path();
/// Null of a session that calibrations are not of (what its calls take says nothing about those that are explained), and where
/// there is no cache folder.
std::unique_ptr<LastCalls> make_last_calls(const SessionOptions& resolved, const KernelProvider& kernels);

} // namespace trencadis
