#include "kernels/providers/vendor_library.hpp"

#include "base/error.hpp"
#include "base/lasting.hpp"

#include <cstring>
#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <memory>
#include <mutex>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

namespace trencadis {
namespace {

std::string path_of(void* handle, const std::string& fallback)
{
    link_map* map = nullptr;
    if (dlinfo(handle, RTLD_DI_LINKMAP, &map) == 0 && map && map->l_name && *map->l_name) return map->l_name;
    return fallback;
}

/// Opens a copy in memory of the file: another inode, hence for the loader another library with its own data. Null on failure.
void* open_private_copy(const std::string& path)
{
    const int source = open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (source < 0) return nullptr;
    struct stat about {};
    const int copy = fstat(source, &about) == 0 ? memfd_create("trencadis-kernels", MFD_CLOEXEC) : -1;
    void* handle = nullptr;
    if (copy >= 0) {
        off_t done = 0;
        while (done < about.st_size && sendfile(copy, source, &done, about.st_size - done) > 0) {}
        if (done == about.st_size) handle = dlopen(("/proc/self/fd/" + std::to_string(copy)).c_str(), RTLD_NOW | RTLD_LOCAL);
        close(copy);
    }
    close(source);
    return handle;
}

/// Null, with the loader's reason in `reason`, when this file cannot be used.
void* open_one(const std::string& file, bool may_share, std::string& path, std::string& reason)
{
    path = file;
    if (void* loaded = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NOLOAD)) {
        path = path_of(loaded, file);
        if (may_share) return loaded;
        void* copy = open_private_copy(path);
        dlclose(loaded);
        if (!copy) reason = path + ": in use by this program, and no private copy of it could be opened";
        return copy;
    }
    void* handle = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (handle) path = path_of(handle, file);
    else reason = dlerror();
    return handle;
}

void* required(const VendorLibrary& library, const std::string& symbol)
{
    if (void* address = library.find(symbol)) return address;
    throw Error(ErrorCode::missing_backend, library.name + " kernels: " + library.path + " has no " + symbol);
}

} // namespace

void* VendorLibrary::find(const std::string& symbol) const { return dlsym(handle, symbol.c_str()); }

void with_environment(std::span<const std::string> additions, const std::function<void()>& body)
{
    const std::lock_guard one_at_a_time(first_uses());
    // Kept for good: another thread's getenv, or a library that keeps the pointers, may still look at them.
    static constinit Lasting<std::vector<std::unique_ptr<std::vector<char*>>>> all_changed;
    std::vector<char*>& changed = *all_changed.get().emplace_back(std::make_unique<std::vector<char*>>());
    for (const std::string& addition : additions) changed.push_back(strdup(addition.c_str()));
    char** const original = environ;
    for (char** entry = original; entry && *entry; ++entry) changed.push_back(*entry);
    changed.push_back(nullptr);
    struct Restore {
        char** original;
        ~Restore() { environ = original; }
    } restore{original};
    environ = changed.data();
    body();
}

void open_vendor_library(VendorLibrary& library, const LibraryPlaces& places, bool may_share)
{
    const std::vector<std::string> candidates = candidate_files(places);
    std::string tried;
    for (const std::string& file : candidates) {
        std::string reason;
        library.handle = open_one(file, may_share, library.path, reason);
        if (library.handle) return;
        tried += (tried.empty() ? "" : "; ") + reason;
    }
    throw Error(ErrorCode::missing_backend, library.name + " kernels: no library could be opened (" +
                                                (tried.empty() ? "none found" : tried) + "); set " + places.variable +
                                                " to its file");
}

Spelling resolve_routines(VendorLibrary& library, std::span<const Spelling> spellings, bool with_lapack)
{
    const Spelling* spelling = nullptr;
    for (const Spelling& s : spellings)
        if (!spelling && library.find(std::string(s.prefix) + "dgemm" + s.suffix)) spelling = &s;
    if (!spelling) throw Error(ErrorCode::missing_backend, library.name + " kernels: " + library.path + " has no dgemm");
    for (int p = 0; p < 4; ++p) {
        const auto symbol = [&](const char* routine) {
            return required(library, std::string(spelling->prefix) + "sdcz"[p] + routine + spelling->suffix);
        };
        const bool real = p < 2;
        library.gemm[p] = symbol("gemm");
        library.symm[p] = symbol("symm");
        library.hemm[p] = real ? library.symm[p] : symbol("hemm");
        library.syrk[p] = symbol("syrk");
        library.herk[p] = real ? library.syrk[p] : symbol("herk");
        library.syr2k[p] = symbol("syr2k");
        library.her2k[p] = real ? library.syr2k[p] : symbol("her2k");
        library.trmm[p] = symbol("trmm");
        library.trsm[p] = symbol("trsm");
        if (!with_lapack) continue;
        library.potrf[p] = symbol("potrf");
        library.getrf[p] = symbol("getrf");
    }
    return *spelling;
}

} // namespace trencadis
