#include "base/error.hpp"
#include "engines/module_file.hpp"
#include "engines/simulated/virtual_time.hpp"

#include <atomic>
#include <dlfcn.h>
#include <string>

namespace trencadis {
namespace {

constexpr const char* module_name = "libtrencadis_simgrid.so";

} // namespace

std::string why_no_virtual_time()
{
    if (!find_module(module_name).empty()) return {};
    return "this build has no SimGrid; on Debian and Ubuntu: apt install libsimgrid-dev, then build again";
}

std::unique_ptr<VirtualTime> make_virtual_time()
{
    static std::atomic<bool> made{false};
    if (const std::string reason = why_no_virtual_time(); !reason.empty())
        throw Error(ErrorCode::missing_backend, "no simulation: " + reason);
    // Local, so that none of the many libraries behind the simulator (one of them a BLAS) is found by anybody else's look-ups.
    void* const module = dlopen(find_module(module_name).c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!module) throw Error(ErrorCode::missing_backend, std::string("no simulation: ") + dlerror());
    const auto make = reinterpret_cast<VirtualTime* (*)()>(dlsym(module, "trc_virtual_time_v1"));
    if (!make)
        throw Error(ErrorCode::missing_backend, std::string(module_name) + " is of another version of trencadis; build again");
    if (made.exchange(true))
        throw Error(ErrorCode::environment,
                    "SimGrid has one simulation per process, and this process has had it; start another process");
    return std::unique_ptr<VirtualTime>(make());
}

} // namespace trencadis
