#include "drivers/linear_algebra.hpp"

#include "algorithms/tile_size.hpp"
#include "base/testing/eventually.hpp"
#include "graph/task_flow.hpp"
#include "kernels/testing/reference.hpp"
#include "session/session.hpp"

#include <atomic>
#include <chrono>
#include <gmock/gmock.h>
#include <thread>

namespace trencadis {
namespace {

using namespace testing;
using ::testing::HasSubstr;

SessionOptions options_for(const char* engine, const char* scheduler)
{
    SessionOptions options;
    options.engine = engine;
    options.scheduler = scheduler;
    return options;
}
Session& native(std::string_view scheduler = "mosaic")
{
    static Session mosaic(options_for("native", "mosaic")), eager(options_for("native", "eager")),
        ws(options_for("native", "ws"));
    return scheduler == "ws" ? ws : scheduler == "eager" ? eager : mosaic;
}
Session& sequential()
{
    static Session session(options_for("sequential", ""));
    return session;
}

template <class T> class Routines : public ::testing::Test {
protected:
    static Dense<T> positive_definite(Uplo uplo, Index n) { return random_triangle<T>(uplo, n, Real<T>(2 * n + 2)); }
};
using Scalars = ::testing::Types<float, double, std::complex<float>, std::complex<double>>;
TYPED_TEST_SUITE(Routines, Scalars);

/// Tiles this small are below the flops at which cores share one, so that all engines make the same kernel calls.
constexpr Index nb = 24;

TYPED_TEST(Routines, GiveTheBitsOfTheSequentialEngineOnEveryScheduler)
{
    using T = TypeParam;
    constexpr Index n = 5 * nb + 7, nrhs = nb + 5;
    for (const char* scheduler : {"mosaic", "eager", "ws"})
        for (const Uplo uplo : {Uplo::lower, Uplo::upper})
            for (const char* variant : {"in-place", "tile-layout"}) {
                const Dense<T> A = this->positive_definite(uplo, n), B = random_matrix<T>(n, nrhs);
                Dense<T> F1 = A, F2 = A, X1 = B, X2 = B;
                const RoutineOptions options{.nb = nb, .variant = variant};
                ASSERT_EQ(potrf(sequential(), uplo, n, F1.data.data(), F1.ld, options), 0);
                ASSERT_EQ(potrf(native(scheduler), uplo, n, F2.data.data(), F2.ld, options), 0);
                expect_same_bits(F1, F2);
                potrs(sequential(), uplo, n, nrhs, F1.data.data(), F1.ld, X1.data.data(), X1.ld, {.nb = nb});
                potrs(native(scheduler), uplo, n, nrhs, F1.data.data(), F1.ld, X2.data.data(), X2.ld, {.nb = nb});
                expect_same_bits(X1, X2);
            }
}

TYPED_TEST(Routines, ProductsGiveTheBitsOfTheSequentialEngine)
{
    using T = TypeParam;
    constexpr Index m = 2 * nb + 5, n = 3 * nb - 1, k = 2 * nb + 1;
    const Dense<T> A = random_matrix<T>(m, k), B = random_matrix<T>(n, k), C = random_matrix<T>(m, n);
    const Dense<T> triangle = random_triangle<T>(Uplo::upper, m, Real<T>(2 * m)), S = random_triangle<T>(Uplo::lower, m, 0);
    std::vector<std::vector<Dense<T>>> results;
    for (Session* session : {&sequential(), &native()}) {
        std::vector<Dense<T>> r{C, C, S, S};
        gemm(*session, Op::none, herm_op<T>, m, n, k, T(2), A.data.data(), A.ld, B.data.data(), B.ld, T(-1), r[0].data.data(),
             C.ld, {.nb = nb});
        trsm(*session, Side::left, Uplo::upper, Op::trans, Diag::non_unit, m, n, T(3), triangle.data.data(), triangle.ld,
             r[1].data.data(), C.ld, {.nb = nb});
        syrk(*session, Uplo::lower, Op::none, m, k, T(2), A.data.data(), A.ld, T(-1), r[2].data.data(), S.ld, {.nb = nb});
        herk(*session, Uplo::lower, Op::none, m, k, Real<T>(2), A.data.data(), A.ld, Real<T>(-1), r[3].data.data(), S.ld,
             {.nb = nb});
        results.push_back(r);
    }
    for (std::size_t i = 0; i < 4; ++i) expect_same_bits(results[0][i], results[1][i]);
}

/// Every side, triangle and operation against the kernels' own whole-matrix routine: both are within the bound of
/// substitution of the exact solution, whose entries are below 1 here because A is dominated by its diagonal.
TYPED_TEST(Routines, TrsmServesBothSidesAndEveryFlag)
{
    using T = TypeParam;
    constexpr Index m = 2 * nb + 3, n = nb + 9;
    for (const Side side : {Side::left, Side::right})
        for (const Uplo uplo : {Uplo::lower, Uplo::upper})
            for (const Op op : {Op::none, Op::trans, Op::conj_trans})
                for (const Diag diag : {Diag::unit, Diag::non_unit}) {
                    const Index order = side == Side::left ? m : n;
                    Dense<T> A = random_triangle<T>(uplo, order, Real<T>(2 * order));
                    for (T& entry : A.data) entry = entry / Real<T>(2 * order); // unit diagonals dominate, too
                    const Dense<T> B = random_matrix<T>(m, n);
                    Dense<T> X = B, Y = B;
                    const T alpha = T(0.5);
                    trsm(native(), side, uplo, op, diag, m, n, alpha, A.data.data(), A.ld, X.data.data(), X.ld, {.nb = nb});
                    native().kernels().trsm(side, uplo, op, diag, m, n, alpha, A.data.data(), A.ld, Y.data.data(), Y.ld);
                    for (Index j = 0; j < n; ++j)
                        for (Index i = 0; i < m; ++i)
                            ASSERT_LE(std::abs(X(i, j) - Y(i, j)),
                                      8 * Real<T>(order) * Real<T>(rounding<T>) * eps<T> * std::sqrt(Real<T>(2)))
                                << char(side) << char(uplo) << char(op) << char(diag);
                    expect_untouched(B, X, [](Index, Index) { return true; });
                }
}

TYPED_TEST(Routines, LeaveABadMatrixTheSameWhateverTheTiming)
{
    using T = TypeParam;
    constexpr Index n = 6 * nb;
    for (const Index bad : {Index(1), nb + 3, 3 * nb, n}) {
        Dense<T> A = this->positive_definite(Uplo::lower, n);
        A(bad - 1, bad - 1) = T(-1);
        if (bad + nb < n) A(bad + nb, bad + nb) = T(-1);
        const Dense<T> B = random_matrix<T>(n, 2);
        Dense<T> F = A, X = B;
        ASSERT_EQ(posv(sequential(), Uplo::lower, n, 2, F.data.data(), F.ld, X.data.data(), X.ld, {.nb = nb}), bad);
        expect_same_bits(X, B);
        for (int repetition = 0; repetition < 5; ++repetition) {
            Dense<T> G = A;
            ASSERT_EQ(potrf(native(), Uplo::lower, n, G.data.data(), G.ld, {.nb = nb}), bad);
            expect_same_bits(F, G);
        }
    }
}

TYPED_TEST(Routines, AreRightAtSizesThatTheyCutAndShareByThemselves)
{
    using T = TypeParam;
    constexpr Index n = 600; // above the direct limit; tiles large enough to be shared
    const Dense<T> A = this->positive_definite(Uplo::upper, n);
    Dense<T> b(n, 1), F = A;
    for (Index i = 0; i < n; ++i) b(i, 0) = random_scalar<T>();
    Dense<T> x = b;
    ASSERT_EQ(posv(native(), Uplo::upper, n, 1, F.data.data(), F.ld, x.data.data(), x.ld), 0);
    for (Index i = 0; i < n; ++i) {
        Sum<T> sum;
        for (Index k = 0; k < n; ++k) sum.add(in_triangle(Uplo::upper, i, k) ? A(i, k) : conjugate(A(k, i)), x(k, 0));
        // Higham, theorem 10.4, as in the test of the algorithm
        expect_within(b(i, 0), sum.value, 2 * sum.magnitude + std::abs(Wide<T>(b(i, 0))), 3.0 * double(n), "solution");
    }
    expect_untouched(A, F, [](Index i, Index j) { return in_triangle(Uplo::upper, i, j); });
}

/// Against the kernels' own whole product; entries are at most sqrt(2) in modulus, so that each sum is at most 2 k + 2.
TYPED_TEST(Routines, MultiplyAtSizesThatTheyCutAndShareByThemselves)
{
    using T = TypeParam;
    constexpr Index k = 310;
    for (const auto& [m, n] : {std::pair<Index, Index>{530, 410}, {40, 1100}, {1100, 40}}) { // the last two are thin
        const Dense<T> A = random_matrix<T>(k, m), B = random_matrix<T>(k, n), C = random_matrix<T>(m, n);
        Dense<T> ours = C, whole = C;
        gemm(native(), herm_op<T>, Op::none, m, n, k, T(1), A.data.data(), A.ld, B.data.data(), B.ld, T(1), ours.data.data(),
             ours.ld);
        native().kernels().gemm(herm_op<T>, Op::none, m, n, k, T(1), A.data.data(), A.ld, B.data.data(), B.ld, T(1),
                                whole.data.data(), whole.ld);
        for (Index j = 0; j < n; ++j)
            for (Index i = 0; i < m; ++i)
                ASSERT_LE(std::abs(ours(i, j) - whole(i, j)),
                          2 * Real<T>(k + 2) * Real<T>(rounding<T>) * eps<T> * Real<T>(2 * k + 2));
        expect_untouched(C, ours, [](Index, Index) { return true; });
    }
}

TYPED_TEST(Routines, DoNothingForEmptyProblems)
{
    using T = TypeParam;
    T* const none = nullptr;
    EXPECT_EQ(potrf<T>(native(), Uplo::lower, 0, none, 1), 0);
    EXPECT_EQ(posv<T>(native(), Uplo::lower, 0, 3, none, 1, none, 1), 0);
    potrs<T>(native(), Uplo::lower, 0, 0, none, 1, none, 1);
    gemm<T>(native(), Op::none, Op::none, 0, 3, 3, T(1), none, 1, random_matrix<T>(3, 3).data.data(), 6, T(0), none, 1);
    T c = T(3);
    gemm<T>(native(), Op::none, Op::none, 1, 1, 0, T(1), none, 1, none, 1, T(0), &c, 1, {.nb = 1});
    EXPECT_EQ(c, T(0));
}

/// The argument number and message of the error that `call` throws.
template <class F> std::pair<int, std::string> blamed(F&& call)
{
    try {
        call();
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), ErrorCode::bad_argument);
        return {error.argument(), error.what()};
    }
    ADD_FAILURE() << "no error";
    return {};
}

/// A tile as large as one likes is the matrix.
TEST(Routines, TakeTilesLargerThanTheMatrix)
{
    constexpr Index n = 300;
    const Dense<double> A = random_triangle<double>(Uplo::lower, n, 2.0 * n), B = random_matrix<double>(n, n);
    for (const Index huge : {Index{n}, Index{1} << 30}) {
        const RoutineOptions options{.nb = huge};
        Dense<double> C(n, n), D = B, E = B, F = A;
        gemm(native(), Op::none, Op::none, n, n, n, 1.0, B.data.data(), B.ld, B.data.data(), B.ld, 0.0, C.data.data(), C.ld,
             options);
        trsm(native(), Side::left, Uplo::lower, Op::none, Diag::non_unit, n, n, 1.0, A.data.data(), A.ld, D.data.data(), D.ld,
             options);
        trmm(native(), Side::left, Uplo::lower, Op::none, Diag::non_unit, n, n, 1.0, A.data.data(), A.ld, E.data.data(), E.ld,
             options);
        EXPECT_EQ(potrf(native(), Uplo::lower, n, F.data.data(), F.ld, options), 0);
        double product = 0;
        for (Index k = 0; k < n; ++k) product += B(1, k) * B(k, 2);
        EXPECT_NEAR(C(1, 2), product, 1e-11);
        EXPECT_NEAR(A(0, 0) * D(0, 5), B(0, 5), 1e-13);
        EXPECT_NEAR(E(0, 5), A(0, 0) * B(0, 5), 1e-13 * std::abs(A(0, 0)));
        EXPECT_NEAR(F(0, 0) * F(0, 0), A(0, 0), 1e-12 * A(0, 0));
    }
    Dense<double> C(n, n);
    try {
        gemm(native(), Op::none, Op::none, n, n, n, 1.0, B.data.data(), B.ld, B.data.data(), B.ld, 0.0, C.data.data(), C.ld,
             {.nb = Index{1} << 31});
        ADD_FAILURE() << "nothing was thrown";
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), ErrorCode::bad_argument);
        EXPECT_THAT(error.what(), HasSubstr("2^31"));
    }
}

TEST(RoutineArguments, AreCheckedBeforeAnythingIsTouched)
{
    double a[4] = {4, 0, 0, 4}, c = 0;
    EXPECT_EQ(blamed([&] { potrf(native(), Uplo::lower, 5, a, 3); }),
              std::pair(4, std::string("lda is 3, must be at least max(1, rows) = 5")));
    EXPECT_EQ(blamed([&] { potrf(native(), Uplo::lower, 2, a, 2, {.nb = -1}); }).first, 0);
    EXPECT_THAT(blamed([&] { potrf(native(), Uplo::lower, 2, a, 2, {.nb = 0, .variant = "tiled-layout"}); }).second,
                HasSubstr("tile-layout"));
    EXPECT_THAT(blamed([&] {
                    gemm(native(), Op::none, Op::none, 1, 1, 1, 1.0, a, 1, a, 1, 1.0, &c, 1, {.nb = 0, .variant = "x"});
                }).second,
                HasSubstr("in-place"));
    EXPECT_EQ(blamed([&] { tasks(native(), -1); }).first, 2);
    EXPECT_EQ(a[0], 4);
}

/// By tiles of 16 a Cholesky factorization of it has a million tasks.
constexpr Index large = 3000;
std::vector<double> large_definite()
{
    std::vector<double> A(large * large, 0.5);
    for (Index i = 0; i < large; ++i) A[std::size_t(i * (large + 1))] = large;
    return A;
}

TEST(Routines, StopWithinASecondWhenInterrupted)
{
    std::vector<double> A = large_definite();
    std::atomic<bool> asked{false};
    const auto call = [&] {
        try {
            potrf(native(), Uplo::lower, large, A.data(), large, {.nb = 16, .interrupted = [&] { return asked = true; }});
            FAIL() << "not interrupted";
        } catch (const Error& error) {
            EXPECT_EQ(error.code(), ErrorCode::cancelled);
        }
    };
    EXPECT_LT(soonest(call, std::chrono::seconds(1)), std::chrono::seconds(1));
    EXPECT_TRUE(asked);
}

/// A caller that takes part submits as long as the window is not full: it has to be asked meanwhile too.
TEST(Routines, StopWithinASecondWhenInterruptedWhileTheyAreSubmitted)
{
    SessionOptions options;
    options.window = 10'000'000;
    Session session(options);
    std::vector<double> A = large_definite();
    bool asked = false;
    const auto call = [&] {
        std::this_thread::sleep_for(std::chrono::milliseconds(20)); // its workers sleep
        EXPECT_THROW(potrf(session, Uplo::lower, large, A.data(), large, {.nb = 16, .interrupted = [&] { return asked = true; }}),
                     Error);
    };
    EXPECT_LT(soonest(call, std::chrono::seconds(1)), std::chrono::seconds(1));
    EXPECT_TRUE(asked);
}

TEST(Routines, MayBeCalledFromSeveralThreadsAtOnce)
{
    constexpr Index n = 200;
    const Dense<double> A = random_triangle<double>(Uplo::lower, n, 2 * n + 2);
    Dense<double> expected = A;
    potrf(sequential(), Uplo::lower, n, expected.data.data(), expected.ld, {.nb = 24});
    std::vector<std::thread> callers;
    for (int c = 0; c < 4; ++c)
        callers.emplace_back([&] {
            for (int i = 0; i < 5; ++i) {
                Dense<double> F = A;
                EXPECT_EQ(potrf(native(), Uplo::lower, n, F.data.data(), F.ld, {.nb = 24}), 0);
                expect_same_bits(expected, F);
            }
        });
    for (std::thread& caller : callers) caller.join();
}

/// As happens when a kernel library's own LAPACK calls a BLAS that has been put in front of it.
TEST(Routines, MayBeCalledFromInsideATask)
{
    constexpr Index n = 200;
    const Dense<double> A = random_triangle<double>(Uplo::lower, n, 2 * n + 2);
    Dense<double> expected = A;
    potrf(sequential(), Uplo::lower, n, expected.data.data(), expected.ld, {.nb = 24});
    for (const char* scheduler : {"mosaic", "eager", "ws"}) {
        std::vector<Dense<double>> factors(8, A);
        native(scheduler).run([&](Flow& flow) {
            for (Dense<double>& F : factors)
                flow.submit("outer", [&] { potrf(native(scheduler), Uplo::lower, n, F.data.data(), F.ld, {.nb = 24}); },
                            {readwrite(F.data.data())});
        });
        for (const Dense<double>& F : factors) expect_same_bits(expected, F);
    }
}

TEST(Routines, RunTheEmptyCholeskyGraph)
{
    for (Session* session : {&sequential(), &native("mosaic"), &native("eager"), &native("ws")}) {
        EXPECT_EQ(tasks(*session, 0), 0);
        EXPECT_EQ(tasks(*session, 10), 10 + 90 + 120);
    }
}

TEST(TileSizes, AreMultiplesOfTheRegisterBlocksAndLeaveWorkForEveryWorker)
{
    for (const int workers : {1, 2, 8, 64})
        for (const std::size_t element : {4u, 8u, 16u})
            for (const Index n : {100, 500, 1024, 4096, 20000}) {
                for (const Index nb :
                     {cholesky_tile(n, element, workers), product_tile(n, n, element, workers), depth_tile(n, element)}) {
                    EXPECT_EQ(nb % 16, 0);
                    EXPECT_GE(nb, 32);
                    EXPECT_LE(nb, 1280);
                }
                const Index tiles = (n - 1) / product_tile(n, n, element, workers) + 1;
                if (product_tile(n, n, element, workers) > 64) {
                    EXPECT_GE(tiles * tiles, 4 * workers);
                }
            }
}

} // namespace
} // namespace trencadis
