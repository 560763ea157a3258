#pragma once
#include "base/float_modes.hpp"
#include "base/without_signals.hpp"

#include <array>
#include <csignal>
#include <mutex>

namespace trencadis::devices {

/// While it lives, this thread may call a driver that starts threads and sets handlers of signals, as LLVM inside some does: its
/// threads take no signals and compute in the standard modes, and the handlers are the process's own again afterwards. One at a
/// time: another one that began meanwhile would take the driver's handlers for the process's.
class AsGuest {
public:
    AsGuest() : alone_(one_at_a_time())
    {
        for (int signal = 1; signal < signals; ++signal) sigaction(signal, nullptr, &before_[std::size_t(signal)]);
    }
    ~AsGuest()
    {
        for (int signal = 1; signal < signals; ++signal) {
            struct sigaction now {};
            const struct sigaction& then = before_[std::size_t(signal)];
            if (sigaction(signal, nullptr, &now) != 0) continue;
            if (now.sa_handler != then.sa_handler || now.sa_flags != then.sa_flags) sigaction(signal, &then, nullptr);
        }
    }
    AsGuest(const AsGuest&) = delete;
    AsGuest& operator=(const AsGuest&) = delete;
    /// While it lives, the caller takes its signals: where it only waits for a thread of its own.
    WithoutSignals::Heard hear_signals() const { return WithoutSignals::Heard(masked_); }

private:
    static std::recursive_mutex& one_at_a_time()
    {
        static auto* const mutex = new std::recursive_mutex; // for good, as the drivers are
        return *mutex;
    }
    static constexpr int signals = 32; ///< the real-time ones are nobody's
    const std::lock_guard<std::recursive_mutex> alone_;
    std::array<struct sigaction, signals> before_{};
    WithoutSignals masked_;
    StandardFloatModes modes_;
};

} // namespace trencadis::devices
