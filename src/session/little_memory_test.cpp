#include "kernels/testing/reference.hpp"
#include "matrix/testing/address_space.hpp"
#include "matrix/work_memory.hpp"
#include "session/linear_algebra.hpp"
#include "session/session.hpp"

namespace trencadis {
namespace {

using namespace testing;

constexpr Index n = 700;

struct Results {
    Dense<double> A = random_triangle<double>(Uplo::lower, n, 2 * n), B = random_matrix<double>(n, n), C = B, X = B;

    void compute(Session& session, const RoutineOptions& options)
    {
        gemm(session, Op::none, Op::none, n, n, n, 1.0, B.data.data(), B.ld, B.data.data(), B.ld, 0.5, C.data.data(), C.ld,
             options);
        trsm(session, Side::left, Uplo::lower, Op::none, Diag::non_unit, n, n, 1.0, A.data.data(), A.ld, X.data.data(), X.ld,
             options);
        if (potrf(session, Uplo::lower, n, A.data.data(), A.ld, options) != 0) std::exit(2);
    }
};

/// Sums of n products of numbers below one, rounded in another order.
bool close(const Dense<double>& a, const Dense<double>& b)
{
    for (Index j = 0; j < n; ++j)
        for (Index i = 0; i < n; ++i)
            if (!std::isnan(a(i, j)) && !(std::abs(a(i, j) - b(i, j)) <= n * eps<double> * n)) return false;
    return true;
}

void compute_with_and_without(std::size_t bytes)
{
    Results free;
    Results limited = free;
    Session session;
    session.run([](Flow&) {});
    {
        SessionOptions options;
        options.engine = "sequential";
        Session oracle(options);
        RoutineOptions in_place;
        in_place.variant = "in-place";
        free.compute(oracle, in_place);
    }
    WorkMemory::release();
    limit_address_space(bytes);
    limited.compute(session, {});
    std::exit(close(free.C, limited.C) && close(free.X, limited.X) && close(free.A, limited.A) ? 0 : 1);
}

TEST(LittleMemory, HasLargeCallsRunInPlaceInsteadOfFailing)
{
    if (!can_limit_address_space) GTEST_SKIP() << "a sanitizer's memory is part of the address space";
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    EXPECT_EXIT(compute_with_and_without(4 << 20), ::testing::ExitedWithCode(0), "");
}

} // namespace
} // namespace trencadis
