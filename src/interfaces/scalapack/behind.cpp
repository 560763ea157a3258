#include "interfaces/scalapack/behind.hpp"

#include "interfaces/lapack/compute.hpp"

#include <array>
#include <cctype>
#include <cstdio>
#include <cstdlib>
#include <dlfcn.h>
#include <string>

namespace trencadis::scalapack {
namespace {

constexpr int routines = int(Routine::count);
using Names = std::array<std::string, routines>;

template <Scalar T> constexpr char letter = is_complex<T> ? (sizeof(T) == 8 ? 'C' : 'Z') : sizeof(T) == 4 ? 'S' : 'D';

Names names_of(char letter)
{
    Names names{"POTRF", "POTRS", "POSV", "GETRF", "GETRS", "GESV", "GEQRF", "GEMM", "TRSM"};
    for (std::string& name : names) name = std::string{'P', letter} + name;
    return names;
}

/// What comes after us in the order of look-ups, or in the library whose checks we call.
void* find_behind(const std::string& symbol)
{
    if (void* const next = dlsym(RTLD_NEXT, symbol.c_str())) return next;
    Dl_info its{};
    if (!dladdr(reinterpret_cast<void*>(&chk1mat_), &its)) return nullptr;
    void* const library = dlopen(its.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
    return library ? dlsym(library, symbol.c_str()) : nullptr;
}

template <Scalar T> std::array<void*, routines> find_all()
{
    std::array<void*, routines> found;
    for (int at = 0; at < routines; ++at) {
        std::string symbol = name_of<T>(Routine(at)) + std::string("_");
        for (char& each : symbol) each = char(std::tolower(static_cast<unsigned char>(each)));
        found[at] = find_behind(symbol);
    }
    return found;
}

} // namespace

thread_local constinit int Inside::depth_ = 0;

Grid Grid::of(int context)
{
    Grid grid{context, -1, -1, -1, -1};
    Cblacs_gridinfo(context, &grid.rows, &grid.cols, &grid.row, &grid.col);
    return grid;
}

template <Scalar T> const char* name_of(Routine routine)
{
    static const auto* const names = new Names(names_of(letter<T>)); // for good: static objects may call as they go
    return (*names)[int(routine)].c_str();
}

template <Scalar T> void* behind(Routine routine)
{
    static const auto found = find_all<T>();
    if (void* const there = found[int(routine)]) return there;
    std::fprintf(stderr, "trencadis: no ScaLAPACK behind this library has %s\n", name_of<T>(routine));
    std::abort();
}

template <Scalar T> void tell(Routine routine, int m, int n, const char* who)
{
    if (face::settings().verbose) std::fprintf(stderr, "trencadis: %s %dx%d %s\n", name_of<T>(routine), m, n, who);
}

void give_up(int context, const char* routine, const char* reason) noexcept
{
    std::fprintf(stderr, "trencadis: %s cannot be computed: %s\n", routine, reason);
    Cblacs_abort(context, 1);
    std::abort();
}

#define TRC_INSTANTIATE(T)                                                                                                       \
    template const char* name_of<T>(Routine);                                                                                    \
    template void* behind<T>(Routine);                                                                                           \
    template void tell<T>(Routine, int, int, const char*);
TRC_INSTANTIATE(float)
TRC_INSTANTIATE(double)
TRC_INSTANTIATE(std::complex<float>)
TRC_INSTANTIATE(std::complex<double>)

} // namespace trencadis::scalapack
