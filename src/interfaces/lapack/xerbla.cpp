#include "interfaces/lapack/xerbla.hpp"

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <dlfcn.h>
#include <utility>

// Weak references: a linker that builds a program with handlers of its own shows them to us, and where there are none we can
// do without. Numbers are passed so that 32-bit and 64-bit readers see the same.
extern "C" {
[[gnu::weak]] void xerbla_(const char* name, const std::int64_t* number, std::size_t length);
[[gnu::weak]] void cblas_xerbla(std::int64_t number, const char* name, const char* form, ...);
[[gnu::weak]] void LAPACKE_xerbla(const char* name, std::int64_t info);
[[gnu::weak]] extern int RowMajorStrg;
}

namespace trencadis::face {
namespace {

/// What was there when we were loaded, or has come since.
template <class F> F* handler(F* at_load, const char* name)
{
    return at_load ? at_load : reinterpret_cast<F*>(dlsym(RTLD_DEFAULT, name));
}

/// Position in the C call of what is number `number` in the column-major call of a row-major one.
int seen_by_caller(const char* routine, int number)
{
    const auto swapped = [&](int a, int b) { return number == a ? b : number == b ? a : number; };
    if (std::strstr(routine, "gemm")) return number == 9 || number == 11 ? swapped(9, 11) : swapped(4, 5);
    if (std::strstr(routine, "symm") || std::strstr(routine, "hemm")) return swapped(4, 5);
    if (std::strstr(routine, "trmm") || std::strstr(routine, "trsm")) return swapped(6, 7);
    return number;
}

} // namespace

void bad_fortran_argument(const char* routine, int number)
{
    char name[] = "      \0";
    std::size_t length = 0;
    for (; length < sizeof name - 1 && routine[length]; ++length)
        name[length] = char(std::toupper(static_cast<unsigned char>(routine[length])));
    const std::int64_t wide = number;
    if (auto* const report = handler(&xerbla_, "xerbla_")) return report(name, &wide, std::max<std::size_t>(length, 6));
    std::fprintf(stderr, " ** On entry to %s parameter number %2d had an illegal value\n", name, number);
}

void bad_cblas_argument(const char* routine, bool row_major, int number, const char* form, int value)
{
    if (auto* const report = handler(&cblas_xerbla, "cblas_xerbla")) {
        struct Turned {
            int* const flag = handler(&RowMajorStrg, "RowMajorStrg");
            explicit Turned(bool row_major)
            {
                if (flag) *flag = row_major;
            }
            ~Turned()
            {
                if (flag) *flag = 0;
            }
        };
        const Turned turned(row_major);
        return report(number, routine, form, value);
    }
    std::fprintf(stderr, "Parameter %d to routine %s was incorrect\n", row_major ? seen_by_caller(routine, number) : number,
                 routine);
    if (*form) std::fprintf(stderr, form, value);
}

Index bad_lapacke_argument(const char* routine, Index info)
{
    if (auto* const report = handler(&LAPACKE_xerbla, "LAPACKE_xerbla")) report(routine, info);
    else if (info <= -1000) std::fprintf(stderr, "Not enough memory to transpose matrix in %s\n", routine);
    else std::fprintf(stderr, "Wrong parameter %d in %s\n", int(-info), routine);
    return info;
}

} // namespace trencadis::face
