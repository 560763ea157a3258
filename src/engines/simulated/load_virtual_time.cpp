#include "base/error.hpp"
#include "engines/simulated/virtual_time.hpp"

#include <atomic>
#include <dlfcn.h>
#include <string>

namespace trencadis {
namespace {

constexpr const char* module_name = "libtrencadis_simgrid.so";

/// The folder of the library or program that this code is in.
std::string own_folder()
{
    Dl_info info{};
    if (!dladdr(reinterpret_cast<void*>(&own_folder), &info) || !info.dli_fname) return ".";
    const std::string file = info.dli_fname;
    const std::size_t slash = file.rfind('/');
    return slash == std::string::npos ? "." : file.substr(0, slash);
}

/// Local, so that none of the many libraries behind the simulator (one of them a BLAS) is found by anybody else's look-ups.
void* open_module(std::string& reason)
{
    for (const std::string& folder : {own_folder(), own_folder() + "/../lib"}) {
        if (void* module = dlopen((folder + "/" + module_name).c_str(), RTLD_NOW | RTLD_LOCAL)) return module;
        const char* message = dlerror();
        if (reason.empty() && message) reason = message;
    }
    return nullptr;
}

} // namespace

std::unique_ptr<VirtualTime> make_virtual_time()
{
    static std::atomic<bool> made{false};
    std::string reason;
    void* const module = open_module(reason);
    if (!module)
        throw Error(
            ErrorCode::missing_backend,
            std::string("simulation needs SimGrid 3.32 or later when trencadis is built (on Debian and Ubuntu: apt install "
                        "libsimgrid-dev, then build again): ") +
                reason);
    const auto make = reinterpret_cast<VirtualTime* (*)()>(dlsym(module, "trc_virtual_time_v1"));
    if (!make)
        throw Error(ErrorCode::missing_backend, std::string(module_name) + " is of another version of trencadis; build again");
    if (made.exchange(true))
        throw Error(ErrorCode::environment,
                    "SimGrid has one simulation per process, and this process has had it; start another process");
    return std::unique_ptr<VirtualTime>(make());
}

} // namespace trencadis
