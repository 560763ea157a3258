#include <dlfcn.h>

namespace {

/// threadpoolctl looks through the files that are loaded, by name: src/interfaces/threadpool. It may look before anything was
/// computed. Its functions are for nobody else, and stay out of the scope in which programs look for OpenBLAS's. Without the
/// file programs cannot limit us this way.
__attribute__((constructor)) void open_controls()
{
    if (!dlopen("libopenblas-trencadis.so", RTLD_LAZY | RTLD_LOCAL)) dlerror(); // which the program did not ask for
}

} // namespace
