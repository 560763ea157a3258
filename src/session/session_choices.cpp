#include "session/session_choices.hpp"

#include "base/error.hpp"
#include "base/lasting.hpp"
#include "machine/kernel_speeds.hpp"
#include "machine/speed_cache.hpp"
#include "session/choices.hpp"

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <string>

#include <unistd.h>

#ifndef TRENCADIS_VERSION
#error "the build gives the version"
#endif

namespace trencadis {
namespace {

/// Read when the first session asks; later ones choose as it does, whatever has become of the file.
const choices::Calibration& calibration_at_hand(const KernelProvider& kernels)
{
    static constinit Lasting<const choices::Calibration> calibration;
    return calibration.get([&] {
        const int kept_errno = errno;
        auto read = std::make_unique<choices::Calibration>();
        const std::optional<std::filesystem::path> path = calibration_path();
        if (path) *read = choices::Calibration::read(*path, calibration_owner(kernels));
        if (!read->trouble.empty())
            std::fprintf(stderr, "trencadis: the calibration %s %s and is not used; `trencadis tune` makes it anew\n",
                         path->c_str(), read->trouble.c_str());
        errno = kept_errno;
        return read.release();
    });
}

/// Why calls of a session have no calibration: what it has that calibrations are not made with, in words; empty: it has nothing
/// of that kind.
std::string uncalibrated(const SessionOptions& resolved)
{
    if (resolved.reproducible) return "in a reproducible session";
    if (resolved.engine != "native") return "of engine '" + resolved.engine + "'";
    if (resolved.kernels != "native") return "with kernels '" + resolved.kernels + "'";
    if (resolved.scheduler != "mosaic") return "with scheduler '" + resolved.scheduler + "'";
    if (!resolved.machine.empty()) return "on machine '" + resolved.machine + "', which is laid over this one";
    if (!resolved.slow.empty()) return "with cores that are slowed";
    if (!resolved.devices.empty()) return "with devices '" + resolved.devices + "'";
    return {};
}

/// An objective that nothing can go by is no option's to ignore: refused where a session asked for it. The environment's is for
/// all sessions of a process, of which others may have figures: it is said once.
void say_unused(const SessionOptions& asked, choices::Objective objective, const std::string& why)
{
    if (objective == choices::Objective::time) return; // what the rule is for
    const bool by_option = !asked.objective.empty();
    const std::string word(choices::word_of(objective));
    if (by_option) throw Error(ErrorCode::bad_argument, "objective '" + word + "' was asked for, and " + why);
    static std::atomic<bool> said{false};
    if (!said.exchange(true, std::memory_order_relaxed))
        std::fprintf(stderr, "trencadis: TRENCADIS_OBJECTIVE is %s, and %s; calls go by the fixed rule\n", word.c_str(),
                     why.c_str());
}

std::optional<std::filesystem::path> file_of_host(const char* ending)
{
    char host[256] = "";
    if (gethostname(host, sizeof host - 1) != 0) return {};
    return cache_file(std::string(host) + ending);
}

} // namespace

std::optional<std::filesystem::path> calibration_path() { return file_of_host(".choices"); }
std::optional<std::filesystem::path> last_calls_path() { return file_of_host(".calls"); }

choices::Owner calibration_owner(const KernelProvider& kernels)
{
    return {processor_identity(), kernels.name() + ' ' + kernels.version(), TRENCADIS_VERSION};
}

choices::Objective choose_objective(const SessionOptions& asked)
{
    return choices::objective_called(choose(asked.objective, "TRENCADIS_OBJECTIVE", "time"));
}

std::unique_ptr<choices::Chooser> make_chooser(const SessionOptions& asked, const SessionOptions& resolved,
                                               const KernelProvider& kernels)
{
    const choices::Objective objective = choices::objective_called(resolved.objective);
    if (objective == choices::Objective::rule) return nullptr;
    if (const std::string what = uncalibrated(resolved); !what.empty()) {
        const bool by_option = !asked.objective.empty();
        say_unused(asked, objective, "nothing is chosen " + what + (by_option ? ": leave one of the two out" : ""));
        return nullptr;
    }
    auto chooser =
        std::make_unique<choices::Chooser>(calibration_at_hand(kernels).rows, resolved.worker_count, kernels.native(), objective);
    if (chooser->knows()) return chooser;
    say_unused(asked, objective,
               "no calibration of this host has joules for " + std::to_string(resolved.worker_count) +
                   " workers: `trencadis tune` measures them where a meter of energy counts");
    return nullptr;
}

std::unique_ptr<LastCalls> make_last_calls(const SessionOptions& resolved, const KernelProvider& kernels)
{
    const std::optional<std::filesystem::path> path = last_calls_path();
    if (!path || !uncalibrated(resolved).empty()) return nullptr;
    return std::make_unique<LastCalls>(*path, calibration_owner(kernels));
}

} // namespace trencadis
