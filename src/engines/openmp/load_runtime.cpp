#include "base/error.hpp"
#include "base/lasting.hpp"
#include "base/sanitized.hpp"
#include "engines/module.hpp"
#include "engines/openmp/runtime.hpp"

#include <cstdlib>
#include <dlfcn.h>
#include <memory>

namespace trencadis::openmp {

const Kind gnu{"openmp-gnu", "libtrencadis_openmp_gnu.so", "libgomp", "g++ and libgomp1", false};
const Kind llvm{"openmp-llvm", "libtrencadis_openmp_llvm.so", "libomp", "clang-19 and libomp-19-dev", true};

namespace {

/// The module's own libraries come before those of the program, which may have brought the other runtime with it; the sanitizers
/// do not bear that.
constexpr int only_its_own = sanitized ? 0 : RTLD_DEEPBIND;

/// The file that a function is in, links followed: under one runtime's name there may lie another one.
std::string file_of(const void* function)
{
    Dl_info info{};
    if (!dladdr(function, &info) || !info.dli_fname) return {};
    const std::unique_ptr<char, void (*)(void*)> path(realpath(info.dli_fname, nullptr), std::free);
    return path ? path.get() : info.dli_fname;
}

bool has_kmpc(const std::string& file)
{
    void* const library = dlopen(file.c_str(), RTLD_NOW | RTLD_NOLOAD);
    if (!library) return false;
    const bool has = dlsym(library, "__kmpc_fork_call") != nullptr;
    dlclose(library);
    return has;
}

std::string to_install(const Kind& kind) { return std::string("; on Debian and Ubuntu: apt install ") + kind.packages; }

/// Why it cannot be had; empty when it is in `found`.
std::string open_module(const Kind& kind, Runtime& found)
{
    if (find_module(kind.module).empty()) return "this build has no module for it" + to_install(kind) + ", then build again";
    void* const module = dlopen(find_module(kind.module).c_str(), RTLD_NOW | RTLD_LOCAL | only_its_own);
    if (!module) return dlerror() + to_install(kind);
    const auto* const functions = static_cast<const TrcOpenMp*>(dlsym(module, openmp_module_symbol));
    if (!functions || functions->version != openmp_module_version)
        return std::string(kind.module) + " is of another version of trencadis; build again";
    const std::string file = file_of(functions->entry());
    const std::string name = file.substr(file.rfind('/') + 1);
    if (!name.starts_with(kind.library) || has_kmpc(file) != kind.entered_by_kmpc)
        return file + " answers its calls, which is not " + kind.library + "; leave it out of LD_PRELOAD and LD_LIBRARY_PATH";
    found = {functions, file};
    return {};
}

struct Loaded {
    explicit Loaded(const Kind& kind) : reason(open_module(kind, runtime)) {}
    Runtime runtime{};
    const std::string reason; ///< why there is none
};
constinit Lasting<Loaded> loaded[2];

const Loaded& look_for(const Kind& kind)
{
    return loaded[kind.entered_by_kmpc].get([&kind] { return new Loaded(kind); });
}

} // namespace

std::string why_not(const Kind& kind)
{
    if (forks_so_far() > 0)
        return "this process was forked, and OpenMP's runtimes wait for threads that are not in it; start it anew (\"spawn\")";
    return look_for(kind).reason;
}

const Runtime& load(const Kind& kind)
{
    if (const std::string reason = why_not(kind); !reason.empty())
        throw Error(forks_so_far() > 0 ? ErrorCode::environment : ErrorCode::missing_backend,
                    std::string("no engine '") + kind.engine + "': " + reason);
    return look_for(kind).runtime;
}

} // namespace trencadis::openmp
