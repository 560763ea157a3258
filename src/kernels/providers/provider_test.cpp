#include "kernels/providers/provider.hpp"

#include "kernels/providers/vendor_library.hpp"
#include "kernels/testing/lu.hpp"
#include "kernels/testing/reference.hpp"

#include <cstdlib>
#include <dlfcn.h>
#include <gmock/gmock.h>
#include <thread>

namespace trencadis {
namespace {

using namespace testing;
using ::testing::HasSubstr;

/// The code and message of the error that `call` throws.
template <class F> std::pair<ErrorCode, std::string> error_of(F&& call)
{
    try {
        call();
    } catch (const Error& error) {
        return {error.code(), error.what()};
    }
    ADD_FAILURE() << "no error";
    return {};
}

TEST(KernelProviders, AreListedWithAVersionAndAFileOrAReason)
{
    ASSERT_FALSE(kernel_provider_entries().empty());
    for (const KernelProviderEntry* entry : kernel_provider_entries()) {
        const KernelStatus status = kernel_status(*entry);
        EXPECT_NE(status.available, status.version.empty()) << entry->name;
        EXPECT_NE(status.available, status.path.empty()) << entry->name;
        EXPECT_EQ(status.available, status.reason.empty()) << entry->name;
    }
}

TEST(KernelProviders, BeginWithOurOwnWhichNeedsNothing)
{
    const KernelProviderEntry& first = *kernel_provider_entries().front();
    EXPECT_STREQ(first.name, "native");
    const KernelProvider& kernels = first.load();
    EXPECT_TRUE(kernels.native());
    EXPECT_THAT(kernels.version(), ::testing::MatchesRegex("[a-z0-9]+ [0-9]+x[0-9]+"));
    for (const KernelProvider* other : providers()) EXPECT_EQ(other->native(), other == &kernels) << other->name();
}

TEST(KernelProviders, SuggestTheNearestNameForAnUnknownOne)
{
    const auto [code, message] = error_of([] { load_kernels("openblass"); });
    EXPECT_EQ(code, ErrorCode::bad_argument);
    EXPECT_THAT(message, HasSubstr("openblas"));
}

TEST(KernelProviders, NameTheFileThatCouldNotBeOpened)
{
    setenv("TRENCADIS_TEST_LIBRARY", "/nowhere/libblas-of-ours.so", 1);
    VendorLibrary library;
    library.name = "test";
    const auto [code, message] = error_of([&] { open_vendor_library(library, {"TRENCADIS_TEST_LIBRARY", {}, {"libc.so.6"}}); });
    EXPECT_EQ(code, ErrorCode::missing_backend);
    EXPECT_THAT(message, HasSubstr("/nowhere/libblas-of-ours.so"));
    EXPECT_THAT(message, HasSubstr("TRENCADIS_TEST_LIBRARY"));
    unsetenv("TRENCADIS_TEST_LIBRARY");
}

TEST(KernelProviders, RefuseALibraryWithoutTheRoutines)
{
    VendorLibrary library;
    library.name = "test";
    open_vendor_library(library, {"TRENCADIS_TEST_LIBRARY", {}, {"libm.so.6"}}, true);
    const Spelling plain[] = {{"", "_"}};
    const auto [code, message] = error_of([&] { resolve_routines(library, plain, true); });
    EXPECT_EQ(code, ErrorCode::missing_backend);
    EXPECT_THAT(message, HasSubstr("dgemm"));
}

TEST(KernelProviders, LookInAddedFoldersFirst)
{
    add_kernel_library_folder("/proc/self");
    const auto paths = candidate_files({"TRENCADIS_TEST_LIBRARY", {"status"}, {"libm.so.6"}});
    ASSERT_GE(paths.size(), 2u);
    EXPECT_EQ(paths.front(), "/proc/self/status");
    EXPECT_EQ(paths.back(), "libm.so.6");
}

TEST(KernelProviders, OpenAPrivateCopyOfALibraryThatTheProgramUses)
{
    const KernelStatus openblas = kernel_status(find_entry("kernels", kernel_provider_entries(), "openblas"));
    if (!openblas.available) GTEST_SKIP() << openblas.reason;
    VendorLibrary first, second;
    first.name = second.name = "test";
    const LibraryPlaces places{"TRENCADIS_TEST_LIBRARY", {}, {openblas.path}};
    const std::string alone[] = {"OPENBLAS_NUM_THREADS=1"};
    with_environment(alone, [&] {
        open_vendor_library(first, places, true);
        open_vendor_library(second, places, false);
    });
    EXPECT_NE(first.handle, second.handle);
}

TEST(KernelProviders, ShowAnEnvironmentToTheLibraryAlone)
{
    const std::string additions[] = {"TRENCADIS_TEST_VALUE=1"};
    with_environment(additions, [] { EXPECT_STREQ(std::getenv("TRENCADIS_TEST_VALUE"), "1"); });
    EXPECT_EQ(std::getenv("TRENCADIS_TEST_VALUE"), nullptr);
}

TEST(KernelProviders, NoticeALibraryThatComputesOnSeveralThreads)
{
    // A product that hands its work to another thread, as a threaded library would.
    struct Threaded {
        static void gemm(const char*, const char*, const int* m, const int*, const int* k, const double*, const double*,
                         const int*, const double*, const int*, const double*, double* C, const int*)
        {
            static std::atomic<int> turn{0}, done{0};
            static std::thread helper([] {
                for (int seen = 0;;)
                    if (turn.load() != seen) {
                        ++seen;
                        for (volatile int work = 0; work < 2'000'000;) work = work + 1;
                        done.store(seen);
                    } else std::this_thread::sleep_for(std::chrono::microseconds(200));
            });
            static const bool detached = (helper.detach(), true);
            (void)detached;
            const int mine = turn.fetch_add(1) + 1;
            while (done.load() < mine) std::this_thread::sleep_for(std::chrono::microseconds(50));
            C[0] = C[*m * *m - 1] = *k;
        }
    };
    const std::vector<int> before = thread_ids();
    VendorLibrary library;
    library.name = "test";
    library.gemm[1] = reinterpret_cast<void*>(&Threaded::gemm);
    const auto [code, message] = error_of([&] { verify_single_thread(library, before); });
    EXPECT_EQ(code, ErrorCode::missing_backend);
    EXPECT_THAT(message, HasSubstr("one thread"));
}

TEST(KernelProviders, StartNoThreadThatWorks)
{
    for (const KernelProvider* kernels : providers()) {
        const std::vector<int> before = thread_ids();
        Dense<double> A = random_matrix<double>(300, 300), C(300, 300);
        kernels->gemm(Op::none, Op::none, 300, 300, 300, 1.0, A.data.data(), A.ld, A.data.data(), A.ld, 0.0, C.data.data(), C.ld);
        EXPECT_EQ(thread_ids().size(), before.size()) << kernels->name();
    }
}

TEST(KernelProviders, RefuseSizesBeyondTheirIntegers)
{
    for (const KernelProvider* kernels : providers()) {
        double x = 1;
        try {
            kernels->gemm(Op::none, Op::none, 0, 0, 0, 1.0, &x, Index{1} << 33, &x, 1, 0.0, &x, 1);
        } catch (const Error& error) {
            EXPECT_EQ(error.code(), ErrorCode::environment);
        }
    }
}

template <class T> class Factorization : public ::testing::Test {
};
using Scalars = ::testing::Types<float, double, std::complex<float>, std::complex<double>>;
TYPED_TEST_SUITE(Factorization, Scalars);

TYPED_TEST(Factorization, OfEveryProviderIsLapacks)
{
    using T = TypeParam;
    for (const KernelProvider* kernels : providers())
        for (const Uplo uplo : {Uplo::lower, Uplo::upper})
            for (const Index n : {Index(1), Index(23), Index(24), Index(25), Index(49), Index(130)}) {
                const Dense<T> A = random_triangle<T>(uplo, n, Real<T>(2 * n + 2));
                Dense<T> F = A;
                ASSERT_EQ(kernels->potrf(uplo, n, F.data.data(), F.ld), 0) << kernels->name();
                const Op op = uplo == Uplo::lower ? Op::none : herm_op<T>;
                for (Index j = 0; j < n; ++j)
                    for (Index i = j; i < n; ++i) {
                        Sum<T> sum;
                        for (Index k = 0; k <= j; ++k) sum.add(F.at(op, i, k), conjugate(F.at(op, j, k)));
                        expect_within(A.at(op, i, j), sum.value, sum.magnitude, double(n), kernels->name());
                    }
                expect_untouched(A, F, [&](Index i, Index j) { return in_triangle(uplo, i, j); });
                for (const Index bad : {Index(1), n / 2 + 1, n}) {
                    Dense<T> broken = A;
                    broken(bad - 1, bad - 1) = T(std::numeric_limits<Real<T>>::quiet_NaN());
                    EXPECT_EQ(kernels->potrf(uplo, n, broken.data.data(), broken.ld), bad) << kernels->name();
                }
            }
}

TYPED_TEST(Factorization, LuOfEveryProviderIsLapacks)
{
    using T = TypeParam;
    for (const KernelProvider* kernels : providers())
        for (const auto& [m, n] : {std::pair{1, 1}, {5, 3}, {3, 5}, {16, 16}, {17, 17}, {70, 33}, {33, 70}, {130, 130}}) {
            const Dense<T> A = random_matrix<T>(m, n);
            Dense<T> F = A, by_columns = A;
            std::vector<Index> pivots(std::size_t(std::min(m, n))), wanted = pivots;
            ASSERT_EQ(kernels->getrf(m, n, F.data.data(), F.ld, pivots.data()), 0) << kernels->name();
            unblocked_getrf(by_columns, wanted);
            if (sizeof(Real<T>) == 8) {
                EXPECT_EQ(pivots, wanted) << kernels->name();
            }
            expect_lu(A, F, pivots, kernels->name());
            Dense<T> singular = A;
            const Index zero = std::min(m, n) / 2;
            for (Index i = 0; i < m; ++i) singular(i, zero) = T(0);
            EXPECT_EQ(kernels->getrf(m, n, singular.data.data(), singular.ld, pivots.data()), zero + 1) << kernels->name();
        }
}

TYPED_TEST(Factorization, SolvesWithItsLuFactorsAndTheirTransposes)
{
    using T = TypeParam;
    for (const KernelProvider* kernels : providers())
        for (const Index n : {Index(1), Index(20), Index(65)})
            for (const Op op : {Op::none, Op::trans, Op::conj_trans}) {
                const Dense<T> A = random_matrix<T>(n, n), B = random_matrix<T>(n, 3);
                Dense<T> F = A, X = B;
                std::vector<Index> pivots(static_cast<std::size_t>(n));
                ASSERT_EQ(kernels->getrf(n, n, F.data.data(), F.ld, pivots.data()), 0) << kernels->name();
                kernels->getrs(op, n, 3, F.data.data(), F.ld, pivots.data(), X.data.data(), X.ld);
                expect_lu_solution(op, A, F, pivots, X, B, kernels->name());
            }
}

} // namespace
} // namespace trencadis
