#include "kernels/testing/reference.hpp"
#include "symbols.hpp"

#include <array>
#include <cmath>
#include <complex>
#include <cstdlib>
#include <new>

// LAPACK's estimates take nothing from the heap, as their callers bring arrays of work: they answer where there is no memory left
// at all.

namespace {

thread_local bool exhausted = false;

void* allocate(std::size_t bytes)
{
    if (exhausted) throw std::bad_alloc();
    if (void* const memory = std::malloc(bytes ? bytes : 1)) return memory;
    throw std::bad_alloc();
}

} // namespace

void* operator new(std::size_t bytes) { return allocate(bytes); }
void* operator new[](std::size_t bytes) { return allocate(bytes); }
// A sanitizer has those that do not throw of its own, which would not fit these.
void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept
{
    return exhausted ? nullptr : std::malloc(bytes ? bytes : 1);
}
void* operator new[](std::size_t bytes, const std::nothrow_t&) noexcept
{
    return exhausted ? nullptr : std::malloc(bytes ? bytes : 1);
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete[](void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::size_t) noexcept { std::free(memory); }

namespace trencadis::testing {
namespace {

template <class T> class NoMemory : public ::testing::Test {
};
using Scalars = ::testing::Types<float, double, std::complex<float>, std::complex<double>>;
TYPED_TEST_SUITE(NoMemory, Scalars);

template <class T>
using Condition = void (*)(const char*, const std::int64_t*, const T*, const std::int64_t*, const Real<T>*, Real<T>*, T*, void*,
                           std::int64_t*);

TYPED_TEST(NoMemory, IsNeededByEstimates)
{
    using T = TypeParam;
    using R = Real<T>;
    constexpr std::int64_t n = 50, one = 1;
    const auto named = [](const char* routine) { return address(std::string(1, letter<T>) + routine + "_64_"); };
    const auto lange =
        reinterpret_cast<R (*)(const char*, const std::int64_t*, const std::int64_t*, const T*, const std::int64_t*, R*)>(
            named("lange"));
    const auto gecon = reinterpret_cast<Condition<T>>(named("gecon")), pocon = reinterpret_cast<Condition<T>>(named("pocon"));
    const auto trcon = reinterpret_cast<void (*)(const char*, const char*, const char*, const std::int64_t*, const T*,
                                                 const std::int64_t*, R*, T*, void*, std::int64_t*)>(named("trcon"));
    const auto gerfs =
        reinterpret_cast<void (*)(const char*, const std::int64_t*, const std::int64_t*, const T*, const std::int64_t*, const T*,
                                  const std::int64_t*, const std::int64_t*, const T*, const std::int64_t*, T*,
                                  const std::int64_t*, R*, R*, T*, void*, std::int64_t*)>(named("gerfs"));
    const Dense<T> A = random_triangle<T>(Uplo::lower, n, R(2 * n)), B = random_matrix<T>(n, 1);
    Dense<T> F = A, X = B;
    for (Index j = 0; j < n; ++j)
        for (Index i = 0; i < j; ++i) F(i, j) = T(0);
    const T *const a = F.data.data(), *const b = B.data.data();
    const std::int64_t ld = F.ld, ldb = B.ld;
    std::vector<std::int64_t> pivots(n);
    for (Index i = 0; i < n; ++i) pivots[std::size_t(i)] = i + 1;
    std::vector<T> work(std::size_t(is_complex<T> ? 2 * n : 4 * n));
    const auto answers = [&] {
        std::array<R, 8> found{};
        std::int64_t info[4] = {-7, -7, -7, -7};
        R* const sums = reinterpret_cast<R*>(work.data());
        found[0] = lange("I", &n, &n, a, &ld, sums);
        gecon("1", &n, a, &ld, &found[0], &found[1], work.data(), nullptr, &info[0]);
        pocon("L", &n, a, &ld, &found[0], &found[2], work.data(), nullptr, &info[1]);
        trcon("I", "L", "N", &n, a, &ld, &found[3], work.data(), nullptr, &info[2]);
        gerfs("T", &n, &one, a, &ld, a, &ld, pivots.data(), b, &ldb, X.data.data(), &ldb, &found[4], &found[5], work.data(),
              nullptr, &info[3]);
        for (int i = 0; i < 4; ++i) found[6] += R(std::abs(info[i]));
        return found;
    };
    const auto expected = answers(); // and everything that is made once has been made
    X = B;
    exhausted = true;
    const auto found = answers();
    exhausted = false;
    for (std::size_t i = 0; i < found.size(); ++i) EXPECT_TRUE(found[i] == expected[i] || std::isnan(expected[i])) << i;
    EXPECT_EQ(found[6], 0);
    EXPECT_GT(found[3], 0);
}

/// LAPACKE has a number for it, and the host goes on.
TYPED_TEST(NoMemory, IsWhatLapackeTells)
{
    using T = TypeParam;
    constexpr int n = 20, by_columns = 102, lwork = 2 * n;
    const auto gels = reinterpret_cast<int (*)(int, char, int, int, int, T*, int, T*, int, T*, int)>(
        address("LAPACKE_" + std::string(1, letter<T>) + "gels_work"));
    const Dense<T> A = random_triangle<T>(Uplo::lower, n, Real<T>(2 * n)), B = random_matrix<T>(n, 1);
    Dense<T> F = A, X = B;
    for (Index j = 0; j < n; ++j)
        for (Index i = 0; i < j; ++i) F(i, j) = T(0);
    const Dense<T> given = F;
    std::vector<T> work(lwork);
    const auto solve = [&] {
        return gels(by_columns, 'N', n, n, 1, F.data.data(), int(F.ld), X.data.data(), int(X.ld), work.data(), lwork);
    };
    EXPECT_EQ(solve(), 0); // and everything that is made once has been made
    F = given;
    X = B;
    exhausted = true;
    const int info = solve();
    exhausted = false;
    EXPECT_EQ(info, -1010);
    EXPECT_EQ(solve(), 0) << "nothing had been touched";
}

} // namespace
} // namespace trencadis::testing
