#pragma once
#include "engines/engine.hpp"

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

namespace trencadis {

/// The kernel speeds that a session begins with and leaves to later ones, in the cache folder. Of a session whose cores are
/// emulated nothing is kept: its speeds are nobody's.
class KeptSpeeds {
public:
    KeptSpeeds() = default; ///< keeps nothing
    /// `kernels`: who computes.
    KeptSpeeds(const std::string& host, const std::string& kernels);

    KernelSpeeds read() const { return file_ ? KernelSpeeds::read(*file_) : KernelSpeeds{}; }
    /// The folder beside them for what an engine's own runtime finds out; empty: nothing is kept.
    std::string folder() const { return file_ ? std::filesystem::path(*file_).replace_extension(".models").string() : ""; }
    /// A run has ended: what was seen is written now and then, since a session that serves a whole program may never end. Any
    /// thread; errno stays as it is. The lock-free look at the clock is all that this costs otherwise.
    void note_run(const Engine& engine, std::int64_t now_ns) noexcept;
    /// Likewise, at the session's end; nothing when there was no run.
    void end(const Engine& engine) noexcept;

private:
    void write(const Engine& engine) const noexcept;

    std::optional<std::filesystem::path> file_;
    std::atomic<std::int64_t> next_ns_{0}; ///< 0: no run yet
};

} // namespace trencadis
