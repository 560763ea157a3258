#include "drivers/linear_algebra.hpp"
#include "kernels/testing/reference.hpp"
#include "matrix/testing/address_space.hpp"
#include "matrix/work_memory.hpp"
#include "session/session.hpp"

namespace trencadis {
namespace {

using namespace testing;

constexpr Index n = 1100;

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

std::int64_t tasks_of(const Session& session)
{
    std::int64_t tasks = 0;
    for (const WorkerStatistics& worker : session.statistics()) tasks += worker.tasks;
    return tasks;
}

/// Megabytes for each worker and for all; is that enough for tasks?
void compute_with_and_without(std::size_t each, std::size_t more, bool by_tasks)
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
    session.reset_statistics();
    limit_address_space((each * std::size_t(session.workers()) + more) << 20);
    limited.compute(session, {});
    if ((tasks_of(session) > 1) != by_tasks)
        std::exit(3); // a solve that shares its triangle is one, with whatever memory there is
    std::exit(close(free.C, limited.C) && close(free.X, limited.X) && close(free.A, limited.A) ? 0 : 1);
}

/// Room for the workers' areas and not for images, and none for either.
TEST(LittleMemory, HasLargeCallsRunInPlaceInsteadOfFailing)
{
    if (!can_limit_address_space) GTEST_SKIP() << "a sanitizer's memory is part of the address space";
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    EXPECT_EXIT(compute_with_and_without(4, 3, true), ::testing::ExitedWithCode(0), "");
    EXPECT_EXIT(compute_with_and_without(0, 3, false), ::testing::ExitedWithCode(0), "") << "the caller alone";
}

/// Tall and wide ones, whose blocks of reflectors alone are larger than what is left.
struct QrResults {
    static constexpr Index m = 40000, k = 40;
    Dense<double> A = random_matrix<double>(m, k), L = random_matrix<double>(k, m), Q = A, P = L, C = random_matrix<double>(m, 8),
                  D = C, X = C, G = A;
    std::vector<double> tau = std::vector<double>(k), lq_tau = tau;

    void compute(Session& session)
    {
        geqrf(session, m, k, A.data.data(), A.ld, tau.data(), {});
        gelqf(session, k, m, L.data.data(), L.ld, lq_tau.data(), {});
        for (Index j = 0; j < k; ++j) std::copy_n(&A(0, j), m, &Q(0, j));
        for (Index j = 0; j < m; ++j) std::copy_n(&L(0, j), k, &P(0, j));
        orgqr(session, m, k, k, Q.data.data(), Q.ld, static_cast<const double*>(tau.data()), {});
        orglq(session, k, m, k, P.data.data(), P.ld, static_cast<const double*>(lq_tau.data()), {});
        ormqr(session, Side::left, Op::trans, m, 8, k, static_cast<const double*>(A.data.data()), A.ld,
              static_cast<const double*>(tau.data()), C.data.data(), C.ld, {});
        ormlq(session, Side::left, Op::none, m, 8, k, static_cast<const double*>(L.data.data()), L.ld,
              static_cast<const double*>(lq_tau.data()), D.data.data(), D.ld, {});
        gels(session, Op::none, m, k, 8, G.data.data(), G.ld, X.data.data(), X.ld, {});
    }
};
bool all_close(const Dense<double>& a, const Dense<double>& b)
{
    for (std::size_t i = 0; i < a.data.size(); ++i) // sums of 40,000 products, of what grows with the root of that
        if (!std::isnan(a.data[i]) && !(std::abs(a.data[i] - b.data[i]) <= 40000 * eps<double> * (1 + std::abs(b.data[i]))))
            return false;
    return true;
}
void compute_qr_with_and_without(std::size_t bytes)
{
    QrResults free;
    QrResults limited = free;
    Session session;
    free.compute(session);
    WorkMemory::release();
    limit_address_space(bytes);
    limited.compute(session);
    std::exit(all_close(free.A, limited.A) && all_close(free.L, limited.L) && all_close(free.Q, limited.Q) &&
                      all_close(free.P, limited.P) && all_close(free.C, limited.C) && all_close(free.D, limited.D) &&
                      all_close(free.X, limited.X)
                  ? 0
                  : 1);
}

TEST(LittleMemory, HasTheFamilyOfQrComputedByTheCallerAlone)
{
    if (!can_limit_address_space) GTEST_SKIP() << "a sanitizer's memory is part of the address space";
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    for (const std::size_t kilobytes : {64, 1500, 3500, 9000})
        EXPECT_EXIT(compute_qr_with_and_without(kilobytes << 10), ::testing::ExitedWithCode(0), "") << kilobytes;
}

} // namespace
} // namespace trencadis
