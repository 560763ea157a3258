#include "session/session.hpp"

#include <dlfcn.h>
#include <exception>

// What programs tell their BLAS of threads. FlexiBLAS, libblastrampoline (Julia) and many others look OpenBLAS's names up in
// whatever their BLAS is: without them they would limit the library behind ours, and not us.

namespace {

/// A function of the library behind: in a system's BLAS a dependency of ours, else a library of the program.
void* find_behind(const char* name)
{
    Dl_info self{};
    dladdr(reinterpret_cast<void*>(&find_behind), &self);
    void* const own = self.dli_fname ? dlopen(self.dli_fname, RTLD_LAZY | RTLD_NOLOAD) : nullptr;
    void* const found = own ? dlsym(own, name) : nullptr;
    if (own) dlclose(own);
    return found ? found : dlsym(RTLD_DEFAULT, name);
}

/// OpenBLAS's, by a name of it that is not ours.
void limit_behind(int threads)
{
    static const auto limit = reinterpret_cast<void (*)(int)>(find_behind("goto_set_num_threads"));
    if (limit) limit(threads);
}

} // namespace

extern "C" {

int openblas_get_num_threads()
{
    try {
        return trencadis::Session::standard_workers();
    } catch (const std::exception&) {
        return 1; // the calling thread, which computes alone then
    }
}

/// Fewer than one, which OpenBLAS takes for all, is all here, too.
void openblas_set_num_threads(int threads)
{
    limit_behind(threads);
    try {
        trencadis::Session::limit_standard(threads < 1 ? 1 << 20 : threads);
    } catch (const std::exception&) { // there can be no workers, as the next call will say
    }
}

int openblas_get_num_threads_() { return openblas_get_num_threads(); }
void openblas_set_num_threads_(const int* threads) { openblas_set_num_threads(*threads); }

} // extern "C"
