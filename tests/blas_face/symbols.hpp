#pragma once
#include "base/scalar.hpp"

#include <cstdint>
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <string>

/// The symbols of libtrencadis_lapack.so as a program finds them: by name.
namespace trencadis::testing {

/// How one family of programs spells a routine, and its integers.
struct Family {
    std::string prefix, suffix;
    bool wide; ///< 64-bit integers
    std::string name(const std::string& routine) const { return prefix + routine + suffix; }
};
inline const Family fortran_families[] = {
    {"", "_", false}, {"scipy_", "_", false}, {"", "_64_", true}, {"", "_64", true}, {"scipy_", "_64_", true}};
inline const Family cblas_families[] = {{"cblas_", "", false},
                                        {"scipy_cblas_", "", false},
                                        {"cblas_", "64_", true},
                                        {"cblas_", "_64", true},
                                        {"scipy_cblas_", "64_", true}};

inline void* address(const std::string& name)
{
    void* const found = dlsym(RTLD_DEFAULT, name.c_str());
    EXPECT_NE(found, nullptr) << name;
    return found;
}

template <Scalar T>
inline constexpr char letter = is_complex<T> ? (sizeof(Real<T>) == 4 ? 'c' : 'z') : (sizeof(T) == 4 ? 's' : 'd');

/// Calls a Fortran routine: every argument goes by address, integers as the family has them.
template <Scalar T, class... Arguments> void call(const Family& family, const char* routine, const Arguments&... arguments);

namespace detail {
/// An argument as Fortran takes it. Integers are widened or not; arrays are their own address.
struct Passed {
    std::int64_t wide = 0;
    std::int32_t narrow = 0;
    const void* where = nullptr;
};
inline Passed pass(std::int64_t value) { return {value, std::int32_t(value), nullptr}; }
template <class V> Passed pass(const V& value) requires(!std::integral<V> || std::same_as<V, char>) { return {0, 0, &value}; }
template <class V> Passed pass(V* const& array) { return {0, 0, array}; }
inline const void* at(const Passed& passed, bool wide)
{
    return passed.where ? passed.where : wide ? static_cast<const void*>(&passed.wide) : &passed.narrow;
}
template <class> using Address = const void*;
} // namespace detail

template <Scalar T, class... Arguments> void call(const Family& family, const char* routine, const Arguments&... arguments)
{
    const detail::Passed passed[] = {detail::pass(arguments)...};
    const auto function =
        reinterpret_cast<void (*)(detail::Address<Arguments>...)>(address(family.name(std::string(1, letter<T>) + routine)));
    [&]<std::size_t... i>(std::index_sequence<i...>) { function(detail::at(passed[i], family.wide)...); }
    (std::index_sequence_for<Arguments...>{});
}

} // namespace trencadis::testing
