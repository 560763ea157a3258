#include "base/error.hpp"
#include "base/lasting.hpp"
#include "base/module.hpp"
#include "base/sanitized.hpp"
#include "engines/openmp/runtime.hpp"

#include <cstdlib>
#include <dlfcn.h>
#include <memory>
#include <pthread.h>
#include <unistd.h>

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

/// Where a library looks for `environ` that looks at its own libraries first: in the C library. Null where everybody does.
char*** environment_of_c_library()
{
    void* const c_library = dlopen("libc.so.6", RTLD_LAZY | RTLD_NOLOAD);
    if (!c_library) return nullptr;
    auto* const place = static_cast<char***>(dlsym(c_library, "environ"));
    dlclose(c_library);
    return place == &environ ? nullptr : place;
}

/// libomp reads `environ` when it is first called, and in a forked child. A program that has a place for it in its own data
/// leaves the C library's empty.
void show_environment()
{
    static char*** const place = environment_of_c_library();
    if (place) *place = environ;
}

/// A function of a library that is loaded already; null where it has none of that name.
void* function_of(const std::string& file, const char* name)
{
    void* const library = dlopen(file.c_str(), RTLD_NOW | RTLD_NOLOAD);
    if (!library) return nullptr;
    void* const function = dlsym(library, name);
    dlclose(library);
    return function;
}
bool has_kmpc(const std::string& file) { return function_of(file, "__kmpc_fork_call") != nullptr; }

/// libomp takes the cores of the thread that calls it first for all there are, and gives every thread of the program that calls
/// it those. We bind threads ourselves, so it is told to keep its hands off, unless the program's environment says otherwise.
void leave_affinity_alone(const std::string& file)
{
    if (void* const set = function_of(file, "kmp_set_defaults"))
        reinterpret_cast<void (*)(const char*)>(set)("KMP_AFFINITY=disabled");
}

std::string to_install(const Kind& kind) { return std::string("; on Debian and Ubuntu: apt install ") + kind.packages; }

/// Why it cannot be had; empty when it is in `found`.
std::string open_module(const Kind& kind, Runtime& found)
{
    if (find_module(kind.module).empty()) return "this build has no module for it" + to_install(kind) + ", then build again";
    show_environment();
    static const int at_forks = pthread_atfork(show_environment, nullptr, nullptr);
    if (at_forks != 0) return "there is no memory for it";
    void* const module = dlopen(find_module(kind.module).c_str(), RTLD_NOW | RTLD_LOCAL | only_its_own);
    if (!module) return dlerror() + to_install(kind);
    const auto* const functions = static_cast<const TrcOpenMp*>(dlsym(module, openmp_module_symbol));
    if (!functions || functions->version != openmp_module_version)
        return std::string(kind.module) + " is of another version of trencadis; build again";
    const std::string file = file_of(functions->entry());
    const std::string name = file.substr(file.rfind('/') + 1);
    if (!name.starts_with(kind.library) || has_kmpc(file) != kind.entered_by_kmpc)
        return file + " answers its calls, which is not " + kind.library + "; leave it out of LD_PRELOAD and LD_LIBRARY_PATH";
    if (kind.entered_by_kmpc) leave_affinity_alone(file);
    functions->thread_limit(); // the first call, while the environment can be seen
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
