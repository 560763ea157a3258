#include "kernels/providers/provider.hpp"

#include "base/error.hpp"

#include <algorithm>
#include <utility>

namespace trencadis {
namespace {

constexpr std::array real_twins{std::pair{KernelRoutine::symm, KernelRoutine::hemm},
                                std::pair{KernelRoutine::syrk, KernelRoutine::herk},
                                std::pair{KernelRoutine::syr2k, KernelRoutine::her2k}};

bool chosen(std::span<const KernelProvider::Choice> choices, KernelRoutine routine)
{
    return std::any_of(choices.begin(), choices.end(), [&](const KernelProvider::Choice& c) { return c.routine == routine; });
}

} // namespace

KernelProvider::KernelProvider(About about, RoutineSet routines) : about_(std::move(about)), own_(std::move(routines))
{
    std::get<0>(tables_).fill(own_.s.get());
    std::get<1>(tables_).fill(own_.d.get());
    std::get<2>(tables_).fill(own_.c.get());
    std::get<3>(tables_).fill(own_.z.get());
    native_.fill(about_.native);
}

KernelProvider::KernelProvider(std::string name, const KernelProvider& base, std::span<const Choice> choices)
    : about_{std::move(name), base.version(), base.path(), false}, native_(base.native_), tables_(base.tables_)
{
    for (const auto& [routine, provider] : choices) {
        take(routine, *provider);
        about_.version.append("; ").append(kernel_routine_names[static_cast<std::size_t>(routine)]).append(": ");
        about_.version.append(provider->version());
        for (const auto& [symmetric, hermitian] : real_twins)
            if (routine == symmetric && !chosen(choices, hermitian)) take_real(hermitian, *provider);
    }
    about_.native = native();
}

void KernelProvider::take(KernelRoutine routine, const KernelProvider& from)
{
    const auto at = static_cast<std::size_t>(routine);
    take_real(routine, from);
    std::get<2>(tables_)[at] = std::get<2>(from.tables_)[at];
    std::get<3>(tables_)[at] = std::get<3>(from.tables_)[at];
    native_[at] = from.native_[at];
}

void KernelProvider::take_real(KernelRoutine routine, const KernelProvider& from)
{
    const auto at = static_cast<std::size_t>(routine);
    std::get<0>(tables_)[at] = std::get<0>(from.tables_)[at];
    std::get<1>(tables_)[at] = std::get<1>(from.tables_)[at];
    native_[at] = native_[at] && from.native_[at];
}

bool KernelProvider::native() const
{
    return native(KernelRoutine::gemm) && native(KernelRoutine::syrk) && native(KernelRoutine::herk) &&
           native(KernelRoutine::trsm);
}

KernelStatus kernel_status(const KernelProviderEntry& entry)
{
    try {
        const KernelProvider& provider = entry.load();
        return {true, provider.version(), provider.path(), {}};
    } catch (const Error& error) {
        return {false, {}, {}, error.what()};
    }
}

} // namespace trencadis
