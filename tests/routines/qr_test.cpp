#include "blas/factorizations/pivoted_qr.hpp"
#include "blas/factorizations/qr.hpp"

#include "blas/testing/reflectors.hpp"
#include "drivers/linear_algebra.hpp"
#include "session/session.hpp"
#include "session/testing/sessions.hpp"

#include <cstring>

namespace trencadis {
namespace {

using namespace blas::testing;
using namespace testing;

template <class T> class QrRoutines : public ::testing::Test {
};
TYPED_TEST_SUITE(QrRoutines, Scalars);

struct Shape {
    Index m, n;
};
constexpr Shape shapes[] = {{1, 1}, {9, 9}, {49, 49}, {100, 37}, {37, 100}, {64, 64}, {130, 70}};

template <Scalar T> std::vector<T> tau_for(const Stored<T>& A) { return std::vector<T>(std::size_t(std::min(A.rows, A.cols))); }

template <class Body> void everywhere(const Body& body)
{
    for (const char* engine : engines)
        for (const Index nb : {5, 16, 24, 200})
            for (const Shape s : shapes) {
                body(session_on(engine), RoutineOptions{.nb = nb}, s,
                     std::string(engine) + " nb " + std::to_string(nb) + ": " + std::to_string(s.m) + " x " +
                         std::to_string(s.n));
                if (::testing::Test::HasFatalFailure()) return;
            }
}

TYPED_TEST(QrRoutines, FactorByTasksInEveryShapeAndBlockSize)
{
    using T = TypeParam;
    Random random(31);
    everywhere([&](Session& session, const RoutineOptions& options, Shape s, const std::string& what) {
        auto A = random_matrix<T>(random, s.m, s.n);
        const auto before = A;
        auto tau = tau_for(A);
        geqrf(session, s.m, s.n, A.data.data(), A.ld, tau.data(), options);
        expect_qr(before, A, tau, what);
        if (::testing::Test::HasFatalFailure()) return;
        auto L = before;
        auto same = before;
        gelqf(session, s.m, s.n, L.data.data(), L.ld, tau.data(), options);
        std::vector<T> wanted(tau.size());
        blas::gelqf(s.m, s.n, same.data.data(), same.ld, wanted.data());
        // Well conditioned: the reflectors are those of one core up to rounding.
        ASSERT_LE(distance<T>(exact(L), exact(same)), 1000 * (s.m + s.n) * eps<T> * frobenius<T>(exact(before))) << what;
        for (std::size_t i = 0; i < tau.size(); ++i) ASSERT_LE(std::abs(tau[i] - wanted[i]), 1000 * (s.m + s.n) * eps<T>) << what;
    });
}

/// By tasks as by one core, c n eps apart: both apply the same unitary matrix.
template <Scalar T> void expect_same(const Stored<T>& found, const Stored<T>& wanted, Index n, const std::string& what)
{
    ASSERT_LE(distance<T>(exact(found), exact(wanted)), rounding<T> * 8 * (n + 10) * eps<T> * (1 + frobenius<T>(exact(wanted))))
        << what;
}

TYPED_TEST(QrRoutines, FormQByTasks)
{
    using T = TypeParam;
    Random random(32);
    everywhere([&](Session& session, const RoutineOptions& options, Shape s, const std::string& what) {
        if (s.m < s.n) return;
        auto A = random_matrix<T>(random, s.m, s.n);
        auto tau = tau_for(A);
        geqrf(session, s.m, s.n, A.data.data(), A.ld, tau.data());
        auto B = adjoint(A);
        for (const Index k : {s.n, s.n / 2}) {
            auto Q = A, wanted = A;
            orgqr(session, s.m, s.n, k, Q.data.data(), Q.ld, tau.data(), options);
            blas::orgqr(s.m, s.n, k, wanted.data.data(), wanted.ld, tau.data());
            expect_same(Q, wanted, s.m, what);
            auto P = B;
            orglq(session, s.n, s.m, k, P.data.data(), P.ld, tau.data(), options);
            expect_same(P, adjoint(wanted), s.m, what + " rows");
        }
    });
}

TYPED_TEST(QrRoutines, ApplyQByTasksFromBothSides)
{
    using T = TypeParam;
    Random random(33);
    everywhere([&](Session& session, const RoutineOptions& options, Shape s, const std::string& what) {
        if (s.m < s.n) return;
        auto A = random_matrix<T>(random, s.m, s.n);
        auto tau = tau_for(A);
        geqrf(session, s.m, s.n, A.data.data(), A.ld, tau.data());
        const auto B = adjoint(A);
        for (const Side side : {Side::left, Side::right})
            for (const Op op : {Op::none, herm_op<T>}) {
                const auto C = side == Side::left ? random_matrix<T>(random, s.m, 43) : random_matrix<T>(random, 43, s.m);
                auto found = C, wanted = C;
                ormqr(session, side, op, C.rows, C.cols, s.n, A.data.data(), A.ld, tau.data(), found.data.data(), C.ld, options);
                blas::ormqr(side, op, C.rows, C.cols, s.n, A.data.data(), A.ld, tau.data(), wanted.data.data(), C.ld);
                expect_same(found, wanted, s.m, what);
                found = wanted = C;
                ormlq(session, side, op, C.rows, C.cols, s.n, B.data.data(), B.ld, tau.data(), found.data.data(), C.ld, options);
                blas::ormlq(side, op, C.rows, C.cols, s.n, B.data.data(), B.ld, tau.data(), wanted.data.data(), C.ld);
                expect_same(found, wanted, s.m, what + " rows");
            }
    });
}

/// With triangles of every width, narrower and wider than the panels, as by one core; what is below the triangles is not touched.
TYPED_TEST(QrRoutines, KeepLapacksTrianglesByTasks)
{
    using T = TypeParam;
    Random random(35);
    everywhere([&](Session& session, const RoutineOptions& options, Shape s, const std::string& what) {
        const Index k = std::min(s.m, s.n);
        for (const Index width : {Index(1), Index(7), Index(24), k}) {
            if (width > k) continue;
            const auto A = random_matrix<T>(random, s.m, s.n), before = random_matrix<T>(random, width, k);
            auto found = A, wanted = A, t = before, wanted_t = before;
            geqrt(session, s.m, s.n, width, found.data.data(), A.ld, t.data.data(), t.ld, options);
            geqrt(session, s.m, s.n, width, wanted.data.data(), A.ld, wanted_t.data.data(), t.ld);
            const std::string where = what + " triangles of " + std::to_string(width);
            ASSERT_LE(distance<T>(exact(found), exact(wanted)), 1000 * (s.m + s.n) * eps<T> * frobenius<T>(exact(A))) << where;
            ASSERT_LE(distance<T>(exact(t), exact(wanted_t)), 1000 * (s.m + s.n) * eps<T> * frobenius<T>(exact(wanted_t)))
                << where;
            for (Index j = 0; j < k; ++j)
                for (Index i = j % width + 1; i < width; ++i) ASSERT_EQ(t(i, j), before(i, j)) << where;
            for (const Side side : {Side::left, Side::right})
                for (const Op op : {Op::none, herm_op<T>}) {
                    const auto C = side == Side::left ? random_matrix<T>(random, s.m, 13) : random_matrix<T>(random, 13, s.m);
                    auto applied = C, same = C;
                    const auto apply = [&](Stored<T>& to, const RoutineOptions& how) {
                        gemqrt(session, side, op, C.rows, C.cols, k, width, static_cast<const T*>(wanted.data.data()), A.ld,
                               static_cast<const T*>(wanted_t.data.data()), t.ld, to.data.data(), C.ld, how);
                    };
                    apply(applied, options);
                    apply(same, {});
                    expect_same(applied, same, s.m, where);
                }
        }
    });
}

TEST(LapacksTriangles, AreWorkForEverybodyWhereTheyAreLarge)
{
    Random random(36);
    const Index n = 400, width = 32;
    auto A = random_matrix<double>(random, n, n), C = A;
    std::vector<double> t(std::size_t(width * n));
    Session& session = session_on("native");
    const auto tasks_of = [&](const auto& call) {
        session.reset_statistics();
        call();
        std::uint64_t tasks = 0;
        for (const WorkerStatistics& worker : session.statistics()) tasks += std::uint64_t(worker.tasks);
        return tasks;
    };
    EXPECT_GT(tasks_of([&] { geqrt(session, n, n, width, A.data.data(), A.ld, t.data(), width); }), 10U);
    EXPECT_GT(tasks_of([&] {
                  gemqrt(session, Side::left, Op::trans, n, n, n, width, static_cast<const double*>(A.data.data()), A.ld,
                         static_cast<const double*>(t.data()), width, C.data.data(), C.ld);
              }),
              10U);
}

/// Sizes that are cut up by themselves, against LAPACK's test ratio: |A - Q R| / (n |A| eps) in Frobenius norms, with Q formed.
TYPED_TEST(QrRoutines, KeepLapacksRatiosWhereTheyChooseTheirBlocks)
{
    using T = TypeParam;
    Random random(34);
    const Index m = 420, n = 400;
    const auto A = random_matrix<T>(random, m, n);
    Session& session = session_on("native");
    auto Q = A;
    auto tau = tau_for(A);
    geqrf(session, m, n, Q.data.data(), Q.ld, tau.data());
    auto R = random_matrix<T>(random, m, n);
    for (Index j = 0; j < n; ++j)
        for (Index i = 0; i < m; ++i) R(i, j) = i <= j ? Q(i, j) : T(0);
    ormqr(session, Side::left, Op::none, m, n, n, Q.data.data(), Q.ld, tau.data(), R.data.data(), R.ld);
    expect_same(R, A, m, "Q R");
    orgqr(session, m, n, n, Q.data.data(), Q.ld, tau.data());
    auto I = Q;
    ormqr(session, Side::left, herm_op<T>, m, n, 0, Q.data.data(), Q.ld, tau.data(), I.data.data(), I.ld);
    expect_same(I, Q, m, "no reflectors");
    Stored<T> gram(n, n, 0);
    gemm(session, herm_op<T>, Op::none, n, n, m, T(1), Q.data.data(), Q.ld, Q.data.data(), Q.ld, T(0), gram.data.data(), gram.ld);
    EXPECT_LE(distance<T>(exact(gram), identity<T>(n, n)), rounding<T> * 30 * n * eps<T>);
}

/// A P = Q R, and the diagonal of R does not grow: by more than norms may be off that are brought along (Drmac, Bujanovic 2008).
template <Scalar T>
void expect_pivoted(const Stored<T>& A, const Stored<T>& F, const std::vector<Index>& order, const std::vector<T>& tau,
                    Index fixed, const std::string& what)
{
    Stored<T> exchanged = A;
    std::vector<bool> seen(order.size());
    for (Index j = 0; j < A.cols; ++j) {
        const Index from = order[std::size_t(j)] - 1;
        ASSERT_TRUE(from >= 0 && from < A.cols && !seen[std::size_t(from)]) << what;
        seen[std::size_t(from)] = true;
        for (Index i = 0; i < A.rows; ++i) exchanged(i, j) = A(i, from);
    }
    expect_qr(exchanged, F, tau, what);
    for (Index j = fixed + 1; j < std::min(A.rows, A.cols); ++j)
        ASSERT_LE(std::abs(F(j, j)), std::abs(F(j - 1, j - 1)) * (1 + 100 * A.rows * std::sqrt(eps<T>))) << what << ": " << j;
}

TYPED_TEST(QrRoutines, ExchangeColumnsInEveryShapeAndBlockSize)
{
    using T = TypeParam;
    Random random(37);
    everywhere([&](Session& session, const RoutineOptions& options, Shape s, const std::string& what) {
        const auto A = random_matrix<T>(random, s.m, s.n);
        for (const Index fixed : {Index(0), std::min<Index>(3, s.n)}) {
            auto F = A;
            auto tau = tau_for(A);
            std::vector<Index> order(std::size_t(s.n));
            for (Index j = 0; j < fixed; ++j) order[std::size_t(s.n - 1 - j)] = 1;
            geqp3(session, s.m, s.n, F.data.data(), F.ld, order.data(), tau.data(), options);
            expect_pivoted(A, F, order, tau, std::min(s.m, fixed), what);
            if (::testing::Test::HasFatalFailure()) return;
            for (Index j = 0; j < fixed; ++j) ASSERT_EQ(order[std::size_t(j)], s.n - fixed + j + 1) << what;
        }
    });
}

TYPED_TEST(QrRoutines, ExchangeColumnsAsOneCoreDoes)
{
    using T = TypeParam;
    Random random(38);
    const Index n = 300;
    auto A = random_matrix<T>(random, n, n);
    for (Index j = 0; j < n; ++j) // apart, so that no rounding decides
        for (Index i = 0; i < n; ++i) A(i, j) *= Real<T>(1 + (j * 77 % n) * 0.3);
    auto alone = A;
    auto tau = tau_for(A);
    std::vector<Index> wanted(std::size_t(n), 0);
    blas::geqp3(n, n, alone.data.data(), alone.ld, wanted.data(), tau.data());
    auto checked = A;
    std::vector<Index> checked_order;
    auto checked_tau = tau;
    for (int again = 0; again < 20; ++again) { // who helps is another matter each time
        auto F = A;
        std::vector<Index> order(std::size_t(n), 0);
        geqp3(session_on("native"), n, n, F.data.data(), F.ld, order.data(), tau.data());
        ASSERT_TRUE(std::equal(order.begin(), order.begin() + 20, wanted.begin()));
        const bool as_before = std::memcmp(F.data.data(), checked.data.data(), F.data.size() * sizeof(T)) == 0;
        if (as_before && order == checked_order && tau == checked_tau) continue; // bit for bit what was right
        expect_pivoted(A, F, order, tau, 0, "native");
        checked = F, checked_order = order, checked_tau = tau;
    }
}

/// It goes column by column on the calling thread and hardly ever waits for tasks; half a second of work on a fast core.
TEST(QrWithPivoting, AsksBetweenColumnsWhetherToGoOn)
{
    Random random(39);
    const Index n = 2000;
    const auto A = random_matrix<double>(random, n, n);
    for (const char* engine : engines) {
        auto F = A;
        auto tau = tau_for(A);
        std::vector<Index> order(std::size_t(n), 0);
        int asked = 0;
        try {
            geqp3(session_on(engine), n, n, F.data.data(), F.ld, order.data(), tau.data(),
                  {.nb = 0, .interrupted = [&] { return ++asked == 2; }, .variant = {}});
            FAIL() << "not cancelled on " << engine << ", asked " << asked << " times";
        } catch (const Error& error) {
            EXPECT_EQ(error.code(), ErrorCode::cancelled) << engine;
        }
        EXPECT_EQ(asked, 2) << engine << ": nobody is asked after a call was cancelled";
        EXPECT_EQ(tau.back(), 0) << engine << ": the last column was not reached";
    }
}

} // namespace
} // namespace trencadis
