#include "engines/module_file.hpp"

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

} // namespace trencadis
