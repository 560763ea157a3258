#include "devices/cuda/start.hpp"

#include "base/environment.hpp"
#include "base/lasting.hpp"
#include "devices/quantity.hpp"

#include <condition_variable>
#include <memory>
#include <mutex>
#include <system_error>
#include <thread>

namespace trencadis::devices::cuda {
namespace {

struct Start {
    const int made_after = forks_so_far(); ///< in a process that was forked nobody carries it on
    std::mutex mutex;
    std::condition_variable returned;
    std::optional<Result> code;
};

} // namespace

/// The thread is left to itself where it does not come back: it touches nothing but the driver, and what it shares with us.
std::optional<Result> start_driver(const Api& api, std::chrono::milliseconds patience)
{
    static auto* const under_way =
        new std::shared_ptr<Start>; // for good: who never returns may outlast what the process destroys
    if (!*under_way || (*under_way)->made_after != forks_so_far()) {
        const auto fresh = std::make_shared<Start>();
        try {
            std::thread([fresh, init = api.cuInit] {
                const Result code = init(0);
                const std::lock_guard lock(fresh->mutex);
                fresh->code = code;
                fresh->returned.notify_all();
            }).detach();
        } catch (const std::system_error&) { // no thread is to be had
            return api.cuInit(0);
        }
        *under_way = fresh;
    }
    const std::shared_ptr<Start> start = *under_way;
    std::unique_lock lock(start->mutex);
    if (!start->returned.wait_for(lock, patience, [&] { return start->code.has_value(); })) return std::nullopt;
    *under_way = nullptr;
    return start->code;
}

std::chrono::milliseconds patience_with_drivers()
{
    constexpr long standard = 120, most = 86400;
    const char* const text = environment("TRENCADIS_DRIVER_SECONDS");
    return std::chrono::seconds(text && *text ? read_count("TRENCADIS_DRIVER_SECONDS", text, most) : standard);
}

} // namespace trencadis::devices::cuda
