#include "kernels/provider.hpp"

#include "base/error.hpp"

#include <algorithm>

namespace trencadis {
namespace {

constexpr KernelRoutine needed_for_packed_tiles[] = {KernelRoutine::gemm, KernelRoutine::syrk, KernelRoutine::herk,
                                                     KernelRoutine::trsm};

} // namespace

KernelProvider::KernelProvider(About about, RoutineSet routines) : about_(std::move(about)), own_(std::move(routines))
{
    std::get<0>(tables_).fill(own_.s.get());
    std::get<1>(tables_).fill(own_.d.get());
    std::get<2>(tables_).fill(own_.c.get());
    std::get<3>(tables_).fill(own_.z.get());
}

KernelProvider::KernelProvider(std::string name, const KernelProvider& base, std::span<const Choice> choices)
    : about_{std::move(name), base.version(), base.path(), base.native()}, tables_(base.tables_)
{
    for (const auto& [routine, provider] : choices) {
        const auto at = static_cast<std::size_t>(routine);
        std::get<0>(tables_)[at] = std::get<0>(provider->tables_)[at];
        std::get<1>(tables_)[at] = std::get<1>(provider->tables_)[at];
        std::get<2>(tables_)[at] = std::get<2>(provider->tables_)[at];
        std::get<3>(tables_)[at] = std::get<3>(provider->tables_)[at];
        about_.version.append("; ").append(kernel_routine_names[at]).append(": ").append(provider->version());
    }
    // Nothing else is looked at, so that "mkl,gemm=native,..." with all four counts as native, too.
    about_.native =
        std::all_of(std::begin(needed_for_packed_tiles), std::end(needed_for_packed_tiles), [&](KernelRoutine needed) {
            const auto choice =
                std::find_if(choices.begin(), choices.end(), [&](const Choice& c) { return c.routine == needed; });
            return choice == choices.end() ? base.native() : choice->provider->native();
        });
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
