#include "base/error.hpp"
#include "base/lasting.hpp"
#include "kernels/providers/provider.hpp"
#include "kernels/providers/vendor_library.hpp"
#include "kernels/providers/x86_features.hpp"

#include <cstdlib>
#include <cstring>

namespace trencadis {
namespace {

constexpr Spelling spellings[] = {{"", "_"}};

const LibraryPlaces& places()
{
    static const LibraryPlaces where{
        "TRENCADIS_BLIS_LIBRARY",
        {"libblis.so.4", "libblis.so"},
        {"/usr/lib/*/blis-pthread/libblis.so.4", "/usr/lib/*/blis-serial/libblis.so.4", "libblis.so.4", "libblis.so"},
    };
    return where;
}

template <class F> F own_function(const VendorLibrary& library, const char* name)
{
    if (F f = library.find_as<F>(name)) return f;
    throw Error(ErrorCode::missing_backend, std::string("blis kernels: ") + library.path + " has no " + name);
}

/// BLIS 0.9 takes AVX-512 processors that it does not know by name for haswell or generic (seen: 15 and 57 instead of 100
/// GFlop/s in dgemm). Its own variable names a family by number, which differs between versions; the user's choice stands.
std::vector<std::string> better_family(const VendorLibrary& library)
{
    if (!has_avx512() || std::getenv("BLIS_ARCH_TYPE")) return {};
    const auto name = own_function<const char* (*)(int)>(library, "bli_arch_string");
    for (int id = 0; id < 8; ++id)
        if (const char* text = name(id); text && std::strcmp(text, "skx") == 0) return {"BLIS_ARCH_TYPE=" + std::to_string(id)};
    return {};
}

std::unique_ptr<VendorLibrary> open()
{
    auto library = std::make_unique<VendorLibrary>();
    library->name = "blis";
    const std::vector<int> threads_before = thread_ids();
    open_vendor_library(*library, places());
    with_environment(better_family(*library), own_function<void (*)()>(*library, "bli_init"));
    // BLIS brings no LAPACK. libflame, its companion, takes its BLAS from the process's global symbols, that is from whatever
    // the program uses; the factorization is therefore built on BLIS's own level 3.
    resolve_routines(*library, spellings, false);
    const auto family = own_function<const char* (*)(int)>(*library, "bli_arch_string");
    library->wide = own_function<int (*)()>(*library, "bli_info_get_blas_int_type_size")() == 64;
    library->version = std::string("BLIS ") + own_function<const char* (*)()>(*library, "bli_info_get_version_str")() + " " +
                       family(own_function<int (*)()>(*library, "bli_arch_query_id")());

    own_function<void (*)(std::intptr_t)>(*library, "bli_thread_set_num_threads")(1);
    if (const auto threads = own_function<std::intptr_t (*)()>(*library, "bli_thread_get_num_threads")(); threads != 1)
        throw Error(ErrorCode::missing_backend,
                    "blis kernels: " + library->path + " was told to use one thread but reports " + std::to_string(threads));
    verify_single_thread(*library, threads_before);
    return library;
}

const KernelProvider& load()
{
    static constinit Lasting<const KernelProvider> provider;
    return provider.get([] { return &lasting_provider(open()); });
}

} // namespace

extern const KernelProviderEntry kernel_provider_blis{
    {"blis", "BLIS, one thread per call; the factorization on its level 3", "https://github.com/flame/blis"}, load};

} // namespace trencadis
