#include "base/module.hpp"

#include "base/error.hpp"
#include "base/own_folder.hpp"

#include <dlfcn.h>
#include <unistd.h>

namespace trencadis {

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
