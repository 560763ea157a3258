#include "base/error.hpp"
#include "base/module.hpp"
#include "engines/simulated/virtual_time.hpp"

#include <atomic>

namespace trencadis {
namespace {

constexpr Module simgrid{"libtrencadis_simgrid.so", "trc_virtual_time_v1", "no simulation", "SimGrid",
                         "libsimgrid-dev",          "libsimgrid3.32"};

} // namespace

std::string why_no_virtual_time() { return simgrid.why_not(); }

std::unique_ptr<VirtualTime> make_virtual_time()
{
    static std::atomic<bool> made{false};
    const auto make = reinterpret_cast<VirtualTime* (*)()>(simgrid.load());
    if (made.exchange(true))
        throw Error(ErrorCode::environment,
                    "SimGrid has one simulation per process, and this process has had it; start another process");
    return std::unique_ptr<VirtualTime>(make());
}

} // namespace trencadis
