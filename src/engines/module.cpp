#include "engines/module.hpp"

#include "base/error.hpp"

#include <dlfcn.h>
#include <unistd.h>

namespace trencadis {
namespace {

/// The folder of the library or program that this code is in.
std::string own_folder()
{
    Dl_info info{};
    if (!dladdr(reinterpret_cast<void*>(&own_folder), &info) || !info.dli_fname) return ".";
    const std::string file = info.dli_fname;
    const std::size_t slash = file.rfind('/');
    return slash == std::string::npos ? "." : file.substr(0, slash);
}

} // namespace

std::string find_module(const char* name)
{
    for (const std::string& folder : {own_folder(), own_folder() + "/../lib"}) {
        const std::string file = folder + "/" + name;
        if (access(file.c_str(), R_OK) == 0) return file;
    }
    return {};
}

std::string Module::why_not() const
{
    if (!find_module(file).empty()) return {};
    return std::string("this build has no ") + library + "; on Debian and Ubuntu: apt install " + to_build + ", then build again";
}

void* Module::load() const
{
    const auto fail = [this](const std::string& reason) {
        throw Error(ErrorCode::missing_backend, std::string(what) + ": " + reason);
    };
    const std::string path = find_module(file);
    if (path.empty()) fail(why_not());
    void* const module = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!module) fail(dlerror() + std::string("; on Debian and Ubuntu: apt install ") + to_run);
    void* const function = dlsym(module, make);
    if (!function) fail(std::string(file) + " is of another version of trencadis; build again");
    return function;
}

} // namespace trencadis
