#pragma once
#include "base/scalar.hpp"
#include "base/types.hpp"

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace trencadis {

class KernelProvider; // kernels/providers/provider.hpp

/// Position of a scalar type in tables over s, d, c, z.
template <Scalar T> inline constexpr int precision = (is_complex<T> ? 2 : 0) + (sizeof(Real<T>) == 8 ? 1 : 0);

/// How a library spells a routine: `prefix` + "dgemm" + `suffix`.
struct Spelling {
    const char* prefix;
    const char* suffix;
};

/// An opened vendor library: its handle and the entry points of the four precisions. Never closed: its threads and
/// thread-local data may be in use until the process ends.
struct VendorLibrary {
    std::string name;
    std::string version;
    std::string path;
    void* handle = nullptr;
    bool wide = false; ///< 64-bit integers (ILP64)

    void* gemm[4] = {};
    void* symm[4] = {};
    void* hemm[4] = {}; ///< s and d: the same as symm
    void* syrk[4] = {};
    void* herk[4] = {}; ///< s and d: the same as syrk
    void* syr2k[4] = {};
    void* her2k[4] = {}; ///< s and d: the same as syr2k
    void* trmm[4] = {};
    void* trsm[4] = {};
    void* potrf[4] = {}; ///< null: this library has no LAPACK (see recursive_potrf.hpp)
    void* getrf[4] = {}; ///< likewise (recursive_getrf.hpp)

    /// Set only for a library whose thread count belongs to the calling thread and that somebody else had set up before:
    /// sets the caller's thread count and returns the previous one.
    int (*swap_local_threads)(int) = nullptr;

    /// Address of a symbol, or null.
    void* find(const std::string& symbol) const;
    template <class F> F find_as(const std::string& symbol) const { return reinterpret_cast<F>(find(symbol)); }
};

/// Where one provider's library may be.
struct LibraryPlaces {
    const char* variable;                ///< environment variable that names a file; when set, nothing else is tried
    std::vector<std::string> in_folders; ///< relative to each Python environment's and each added folder
    std::vector<std::string> in_system;  ///< file names for the loader, or patterns with `*`
};

/// Paths in the order they are tried.
std::vector<std::string> candidate_files(const LibraryPlaces& places);

/// Variables that only this library's start-up shall see: {"NAME=value", ...}. The environment is swapped for the duration of
/// `body`, not edited, so that other threads reading theirs are not disturbed.
void with_environment(std::span<const std::string> additions, const std::function<void()>& body);

/// Opens the first candidate that the loader accepts into `library` (handle and path), with its symbols kept to itself. A file
/// that the process has loaded already is opened as a copy of its own, so that settings made here are not seen by the program's
/// other users of that library, unless `may_share`. Throws Error{missing_backend} with every path and the loader's reason.
void open_vendor_library(VendorLibrary& library, const LibraryPlaces& places, bool may_share = false);

/// Fills the routine tables with the first spelling under which dgemm exists; returns it. Throws Error{missing_backend}
/// that names a routine the library lacks.
Spelling resolve_routines(VendorLibrary& library, std::span<const Spelling> spellings, bool with_lapack);

/// The provider over a library that is set up and verified; lives until the process ends, as the library does.
const KernelProvider& lasting_provider(std::unique_ptr<VendorLibrary> library);

/// Runs a matrix product large enough to be split and throws Error{missing_backend} when threads other than the
/// caller's did part of it. `threads_before`: see thread_ids().
void verify_single_thread(const VendorLibrary& library, std::span<const int> threads_before);

/// The threads of this process; taken before a library is opened, it tells its threads from the program's.
std::vector<int> thread_ids();

} // namespace trencadis
