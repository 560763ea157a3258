#include "base/error.hpp"
#include "base/lasting.hpp"
#include "kernels/providers/provider.hpp"
#include "kernels/providers/vendor_library.hpp"

namespace trencadis {
namespace {

constexpr Spelling spellings[] = {{"scipy_", "_"}, {"", "_"}, {"scipy_", "_64_"}, {"", "_64_"}};

/// The wheel `scipy-openblas32` first: it is the newest and nobody else's. Debian's flavours differ in threading; the
/// OpenMP one comes last because its thread count is OpenMP's.
const LibraryPlaces& places()
{
    static const LibraryPlaces where{
        "TRENCADIS_OPENBLAS_LIBRARY",
        {"scipy_openblas32/lib/libscipy_openblas.so", "scipy_openblas64/lib/libscipy_openblas64_.so"},
        {"/usr/lib/*/openblas-pthread/libopenblas.so.0", "/usr/lib/*/openblas-serial/libopenblas.so.0", "libopenblas.so.0",
         "libopenblas.so"},
    };
    return where;
}

/// OpenBLAS's own functions carry the prefix, and in ILP64 builds a suffix without the final underscore.
template <class F> F own_function(const VendorLibrary& library, const Spelling& spelling, const char* name)
{
    const std::string plain = std::string(spelling.prefix) + name;
    if (F f = library.find_as<F>(plain)) return f;
    if (F f = library.find_as<F>(plain + "64_")) return f;
    throw Error(ErrorCode::missing_backend, "openblas kernels: " + library.path + " has no " + plain);
}

std::string core_name(const VendorLibrary& library, const Spelling& spelling)
{
    return own_function<const char* (*)()>(library, spelling, "openblas_get_corename")();
}

std::unique_ptr<VendorLibrary> open()
{
    auto library = std::make_unique<VendorLibrary>();
    library->name = "openblas";
    const std::vector<int> threads_before = thread_ids();
    // Without this a pool of threads is started that spins for some 25 ms and then sleeps for good.
    const std::string alone[] = {"OPENBLAS_NUM_THREADS=1"};
    with_environment(alone, [&] { open_vendor_library(*library, places()); });
    const Spelling spelling = resolve_routines(*library, spellings, true);
    const std::string config = own_function<const char* (*)()>(*library, spelling, "openblas_get_config")();
    library->wide = config.find("USE64BITINT") != std::string::npos;
    library->version = config.substr(0, config.find(' ', config.find(' ') + 1)) + " " + core_name(*library, spelling);

    own_function<void (*)(int)>(*library, spelling, "openblas_set_num_threads")(1);
    if (const int threads = own_function<int (*)()>(*library, spelling, "openblas_get_num_threads")(); threads != 1)
        throw Error(ErrorCode::missing_backend,
                    "openblas kernels: " + library->path + " was told to use one thread but reports " + std::to_string(threads));
    verify_single_thread(*library, threads_before);
    return library;
}

const KernelProvider& load()
{
    static constinit Lasting<const KernelProvider> provider;
    return provider.get([] { return &lasting_provider(open()); });
}

} // namespace

extern const KernelProviderEntry kernel_provider_openblas{
    {"openblas", "OpenBLAS, one thread per call (PyPI's scipy-openblas32, else the system's)",
     "https://github.com/OpenMathLib/OpenBLAS"},
    load};

} // namespace trencadis
