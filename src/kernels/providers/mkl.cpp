#include "base/error.hpp"
#include "base/lasting.hpp"
#include "kernels/providers/provider.hpp"
#include "kernels/providers/vendor_library.hpp"

namespace trencadis {
namespace {

constexpr Spelling spellings[] = {{"", "_"}};
constexpr int sequential_layer = 1; // MKL_THREADING_SEQUENTIAL
constexpr int lp64_interface = 0;   // MKL_INTERFACE_LP64

const LibraryPlaces& places()
{
    static const LibraryPlaces where{
        "TRENCADIS_MKL_LIBRARY",
        {"libmkl_rt.so.3", "libmkl_rt.so.2"},
        {"libmkl_rt.so.3", "libmkl_rt.so.2", "libmkl_rt.so", "/opt/intel/oneapi/mkl/latest/lib/libmkl_rt.so.*",
         "/opt/intel/oneapi/mkl/latest/lib/intel64/libmkl_rt.so.*"},
    };
    return where;
}

template <class F> F own_function(const VendorLibrary& library, const char* name)
{
    if (F f = library.find_as<F>(name)) return f;
    throw Error(ErrorCode::missing_backend, "mkl kernels: " + library.path + " has no " + name);
}

/// MKL takes its integer width and its threading from the first call in the process. When the program has used MKL
/// before, those stay as they are, and each of our calls sets the calling thread's own count.
void choose_layers(VendorLibrary& library)
{
    if (own_function<int (*)(int)>(library, "MKL_Set_Interface_Layer")(lp64_interface) % 2 != lp64_interface) library.wide = true;
    if (own_function<int (*)(int)>(library, "MKL_Set_Threading_Layer")(sequential_layer) != sequential_layer)
        library.swap_local_threads = own_function<int (*)(int)>(library, "MKL_Set_Num_Threads_Local");
}

std::string version_of(const VendorLibrary& library)
{
    char text[200] = {};
    own_function<void (*)(char*, int)>(library, "MKL_Get_Version_String")(text, sizeof text - 1);
    std::string version(text);
    version.erase(version.find_last_not_of(' ') + 1);
    const auto begin = version.find("Version "), end = version.find("-Product");
    return begin == version.npos ? version : "MKL " + version.substr(begin + 8, end == version.npos ? end : end - begin - 8);
}

std::unique_ptr<VendorLibrary> open()
{
    auto library = std::make_unique<VendorLibrary>();
    library->name = "mkl";
    const std::vector<int> threads_before = thread_ids();
    open_vendor_library(*library, places(), true); // finds its parts beside its own file: a copy would not
    resolve_routines(*library, spellings, true);
    choose_layers(*library);
    library->version = version_of(*library);

    const int previous = library->swap_local_threads ? library->swap_local_threads(1) : 0;
    const int threads = own_function<int (*)()>(*library, "MKL_Get_Max_Threads")();
    if (threads == 1) verify_single_thread(*library, threads_before);
    if (library->swap_local_threads) library->swap_local_threads(previous);
    if (threads != 1)
        throw Error(ErrorCode::missing_backend,
                    "mkl kernels: " + library->path + " was told to use one thread but reports " + std::to_string(threads));
    return library;
}

const KernelProvider& load()
{
    static constinit Lasting<const KernelProvider> provider;
    return provider.get([] { return &lasting_provider(open()); });
}

} // namespace

extern const KernelProviderEntry kernel_provider_mkl{
    {"mkl", "Intel oneMKL, its sequential layer (PyPI's mkl, else the system's)",
     "https://www.intel.com/content/www/us/en/developer/tools/oneapi/onemkl.html"},
    load};

} // namespace trencadis
