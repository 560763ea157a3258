#include "session/session_choices.hpp"

#include "base/error.hpp"
#include "base/lasting.hpp"
#include "machine/kernel_speeds.hpp"
#include "machine/speed_cache.hpp"
#include "session/choices.hpp"

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

/// Of those that calibrations are made with.
bool is_calibrated(const SessionOptions& resolved)
{
    return resolved.engine == "native" && resolved.kernels == "native" && resolved.scheduler == "mosaic" &&
           resolved.machine.empty() && resolved.slow.empty() && resolved.devices.empty() && !resolved.reproducible;
}

} // namespace

std::optional<std::filesystem::path> calibration_path()
{
    char host[256] = "";
    if (gethostname(host, sizeof host - 1) != 0) return {};
    return cache_file(std::string(host) + ".choices");
}

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
    if (objective == choices::Objective::rule || !is_calibrated(resolved)) return nullptr;
    auto chooser =
        std::make_unique<choices::Chooser>(calibration_at_hand(kernels).rows, resolved.worker_count, kernels.native(), objective);
    if (chooser->knows()) return chooser;
    if (!asked.objective.empty() && objective != choices::Objective::time)
        throw Error(ErrorCode::bad_argument, "objective '" + asked.objective +
                                                 "' was asked for, and no calibration of this host has joules for " +
                                                 std::to_string(resolved.worker_count) +
                                                 " workers: `trencadis tune` measures them where a meter of energy counts");
    return nullptr;
}

} // namespace trencadis
