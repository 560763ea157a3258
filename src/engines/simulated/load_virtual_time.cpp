#include "base/error.hpp"
#include "engines/simulated/virtual_time.hpp"

#include <atomic>
#include <dlfcn.h>
#include <string>
#include <unistd.h>

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

/// The module's file; empty when there is none.
std::string find_module()
{
    for (const std::string& folder : {own_folder(), own_folder() + "/../lib"}) {
        const std::string file = folder + "/" + module_name;
        if (access(file.c_str(), R_OK) == 0) return file;
    }
    return {};
}

} // namespace

std::string why_no_virtual_time()
{
    if (!find_module().empty()) return {};
    return "this build has no SimGrid; on Debian and Ubuntu: apt install libsimgrid-dev, then build again";
}

std::unique_ptr<VirtualTime> make_virtual_time()
{
    static std::atomic<bool> made{false};
    if (const std::string reason = why_no_virtual_time(); !reason.empty())
        throw Error(ErrorCode::missing_backend, "no simulation: " + reason);
    // Local, so that none of the many libraries behind the simulator (one of them a BLAS) is found by anybody else's look-ups.
    void* const module = dlopen(find_module().c_str(), RTLD_NOW | RTLD_LOCAL);
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
