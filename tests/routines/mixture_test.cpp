#include "base/error.hpp"
#include "drivers/linear_algebra.hpp"
#include "kernels/testing/reference.hpp"
#include "session/session.hpp"

#include <gmock/gmock.h>

namespace trencadis {
namespace {

using namespace testing;
using ::testing::HasSubstr;

/// A vendor's kernels that are on this machine, and a session with one of their routines beside ours.
class MixedSession : public ::testing::Test {
protected:
    void SetUp() override
    {
        for (const KernelProvider* provider : providers())
            if (!provider->native()) vendor = provider;
        if (!vendor) GTEST_SKIP() << "no kernel library on this machine";
    }
    SessionOptions with(const std::string& routine) const
    {
        SessionOptions options;
        options.engine = "sequential";
        options.kernels = "native," + routine + "=" + vendor->name();
        return options;
    }

    const KernelProvider* vendor = nullptr;
};

TEST_F(MixedSession, RunsPackedOnlyWhereThatLeavesNoChosenKernelOut)
{
    for (const char* const routine : {"gemm", "symm", "hemm", "syrk", "herk", "syr2k", "her2k", "trmm", "trsm"}) {
        const Session session(with(routine));
        EXPECT_EQ(default_variant(session, routine), "in-place") << routine;
        EXPECT_EQ(session.options().kernels, with(routine).kernels);
    }
    const Session only_symm(with("symm"));
    EXPECT_EQ(default_variant(only_symm, "potrf"), "packed") << "none of its kernels is symm";
    EXPECT_EQ(default_variant(only_symm, "hemm"), "in-place") << "which is symm in real numbers";
    for (const char* const update : {"gemm", "syrk", "trsm"}) {
        const Session session(with(update));
        EXPECT_EQ(default_variant(session, "potrf"), "in-place") << update;
        EXPECT_EQ(default_variant(session, "posv"), "in-place") << update;
    }
    EXPECT_EQ(default_variant(Session(with("potrf")), "potrf"), "packed") << "its tiles on the diagonal are anybody's";
}

TEST_F(MixedSession, SaysWhichKernelsThePackedVariantNeeds)
{
    Session session(with("symm"));
    RoutineOptions packed;
    packed.variant = "packed";
    std::vector<double> A(16, 1), C(16);
    try {
        symm(session, Side::left, Uplo::lower, 4, 4, 1.0, A.data(), 4, A.data(), 4, 0.0, C.data(), 4, packed);
        FAIL() << "ran";
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), ErrorCode::bad_argument);
        EXPECT_THAT(error.what(), HasSubstr("'packed' needs the kernels 'native' for symm, gemm"));
    }
}

/// One tile is one call of the kernel, and kernels round differently.
TEST_F(MixedSession, FactorsTheTilesOnTheDiagonalWithTheKernelThatWasChosen)
{
    constexpr Index n = 150;
    const Dense<double> A = random_triangle<double>(Uplo::lower, n, 2 * n);
    Session session(with("potrf"));
    for (const char* const variant : {"packed", "in-place"}) {
        RoutineOptions one_tile;
        one_tile.nb = n;
        one_tile.variant = variant;
        Dense<double> ours = A, theirs = A, own = A;
        EXPECT_EQ(potrf(session, Uplo::lower, n, ours.data.data(), ours.ld, one_tile), 0);
        vendor->potrf(Uplo::lower, n, theirs.data.data(), theirs.ld);
        load_kernels("native").potrf(Uplo::lower, n, own.data.data(), own.ld);
        const auto same = [n = A.data.size()](const Dense<double>& x, const Dense<double>& y) {
            return std::memcmp(x.data.data(), y.data.data(), n * sizeof(double)) == 0;
        };
        ASSERT_FALSE(same(own, theirs)) << "this matrix does not tell the kernels apart";
        EXPECT_TRUE(same(ours, theirs)) << variant;
    }
}

} // namespace
} // namespace trencadis
