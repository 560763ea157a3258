#include "symbols.hpp"

#include <climits>
#include <functional>
#include <pthread.h>
#include <vector>

namespace trencadis::testing {
namespace {

/// A routine's Fortran symbol with arguments that stay where they are; found beforehand, as a program's linker does it.
template <class... Pointers> std::function<void()> prepared(const std::string& name, const Pointers*... arguments)
{
    const auto function = reinterpret_cast<void (*)(const Pointers*...)>(address(name));
    return [=] { function(arguments...); };
}

/// Every routine in one precision, n x n; few enough operations for the calling thread.
template <Scalar T> struct Calls {
    std::int32_t n, info = 0;
    T one{1};
    Real<T> real_one{1};
    std::vector<T> A, B, C;
    std::vector<std::function<void()>> all;

    explicit Calls(std::int32_t order) : n(order), A(n * n, T(1)), B(n * n, T(1)), C(n * n, T(1))
    {
        for (std::int32_t i = 0; i < n; ++i) A[i * (n + 1)] = T(Real<T>(2 * n));
        const auto name = [](const char* routine) { return letter<T> + std::string(routine) + "_"; };
        T *const a = A.data(), *const b = B.data(), *const c = C.data();
        all.push_back(prepared(name("gemm"), "N", "T", &n, &n, &n, &one, a, &n, b, &n, &one, c, &n));
        all.push_back(prepared(name("symm"), "L", "U", &n, &n, &one, a, &n, b, &n, &one, c, &n));
        all.push_back(prepared(name("syrk"), "U", "N", &n, &n, &one, a, &n, &one, c, &n));
        all.push_back(prepared(name("syr2k"), "L", "N", &n, &n, &one, a, &n, b, &n, &one, c, &n));
        if constexpr (is_complex<T>) {
            all.push_back(prepared(name("herk"), "U", "C", &n, &n, &real_one, a, &n, &real_one, c, &n));
            all.push_back(prepared(name("her2k"), "L", "C", &n, &n, &one, a, &n, b, &n, &real_one, c, &n));
        }
        all.push_back(prepared(name("trmm"), "R", "L", "T", "N", &n, &n, &one, a, &n, b, &n));
        all.push_back(prepared(name("trsm"), "L", "U", "N", "N", &n, &n, &one, a, &n, b, &n));
        all.push_back(prepared(name("potrf"), "L", &n, a, &n, &info));
        all.push_back(prepared(name("potrs"), "L", &n, &n, a, &n, b, &n, &info));
    }
};

struct Order {
    const std::vector<std::function<void()>>* calls;
    std::size_t first;
};
void* run(void* order)
{
    const auto& [calls, first] = *static_cast<Order*>(order);
    for (std::size_t i = 0; i < calls->size(); ++i) (*calls)[(first + i) % calls->size()]();
    return nullptr;
}

/// On a thread with the smallest stack that there may be.
void run_on_a_small_stack(Order order)
{
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    ASSERT_EQ(pthread_attr_setstacksize(&attributes, 16384), 0); // PTHREAD_STACK_MIN, which the C library may compute at run time
    pthread_t thread;
    ASSERT_EQ(pthread_create(&thread, &attributes, run, &order), 0);
    pthread_join(thread, nullptr);
    pthread_attr_destroy(&attributes);
}

template <Scalar T> void first_calls(std::int32_t n, std::size_t first)
{
    const Calls<T> calls(n);
    run_on_a_small_stack({&calls.all, first});
    std::exit(calls.info == 0 && !::testing::Test::HasFailure() ? 0 : 1);
}

template <class T> class SmallStack : public ::testing::Test {
protected:
    void SetUp() override
    {
        if (std::getenv("TRENCADIS_TILE")) GTEST_SKIP() << "tasks are submitted, which needs more";
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
        GTEST_SKIP() << "a sanitizer's frames are larger";
#endif
        GTEST_FLAG_SET(death_test_style, "threadsafe"); // a process in which nothing was called before
    }
};
using Scalars = ::testing::Types<float, double, std::complex<float>, std::complex<double>>;
TYPED_TEST_SUITE(SmallStack, Scalars);

TYPED_TEST(SmallStack, IsEnoughForTheFirstCallsOfAProcess)
{
    for (const std::size_t first : {0, 6, 8})
        EXPECT_EXIT(first_calls<TypeParam>(60, first), ::testing::ExitedWithCode(0), "") << "beginning with call " << first;
}

TYPED_TEST(SmallStack, IsEnoughForEveryRoutineOnTheCallingThread)
{
    EXPECT_EXIT(
        {
            for (const std::int32_t n : {1, 2, 7, 8, 9, 25, 41, 60, 61}) {
                const Calls<TypeParam> calls(n);
                run_on_a_small_stack({&calls.all, 0});
            }
            std::exit(::testing::Test::HasFailure());
        },
        ::testing::ExitedWithCode(0), "");
}

} // namespace
} // namespace trencadis::testing
