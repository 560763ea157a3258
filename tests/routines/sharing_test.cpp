#include "base/sanitized.hpp"
#include "base/testing/eventually.hpp"
#include "drivers/linear_algebra.hpp"
#include "kernels/testing/reference.hpp"
#include "session/session.hpp"

#include <gtest/gtest.h>

#include <cstring>

namespace trencadis {
namespace {

using namespace testing;

/// Short calls that follow one another, so that the workers stay awake and take part without tasks.
template <class T> class ShortCalls : public ::testing::Test {
protected:
    void SetUp() override
    {
        if (session().workers() < 2) GTEST_SKIP() << "needs two cores";
        if (session().options().relief == "always") GTEST_SKIP() << "everything is a task then";
    }
    static Session& session()
    {
        static Session made;
        return made;
    }
    static const KernelProvider& kernels() { return session().kernels(); }
    static std::int64_t joined()
    {
        std::int64_t sum = 0;
        for (const WorkerStatistics& worker : session().statistics()) sum += worker.shares;
        return sum;
    }
    /// Calls `ours`, which is to change a copy of C as `kernel` does, until others have taken part in it. Entries are random and
    /// at most sqrt(2) in modulus; each is a sum of `length` products of two.
    template <class Ours, class Kernel>
    static void expect_same(const char* what, const Dense<T>& C, Index length, const Ours& ours, const Kernel& kernel)
    {
        Dense<T> wanted = C;
        kernel(wanted);
        const double bound = 4 * double(length + 3) * rounding<T> * double(eps<T>) * double(length + 1);
        int rounds = 0; // sanitized calls are so slow that the others sleep between them
        EXPECT_TRUE(eventually([&] {
            std::int64_t before = 0;
            Dense<T> got = C;
            for (int call = 0; call < 5; ++call) { // the first ones wake the others
                before = joined();
                got = C;
                ours(got);
            }
            for (Index j = 0; j < C.cols; ++j)
                for (Index i = 0; i < C.rows; ++i)
                    if (!std::isnan(std::real(wanted(i, j))))
                        EXPECT_LE(double(std::abs(got(i, j) - wanted(i, j))), bound) << what << " at " << i << ", " << j;
                    else EXPECT_TRUE(std::isnan(std::real(got(i, j)))) << what << " at " << i << ", " << j;
            return joined() > before || ::testing::Test::HasFailure() || (sanitized && ++rounds == 10);
        })) << what
            << ": nobody took part";
    }
    static T factor()
    {
        if constexpr (is_complex<T>) return T(0.75, -0.5);
        else return T(0.75);
    }
};
using Scalars = ::testing::Types<float, double, std::complex<float>, std::complex<double>>;
TYPED_TEST_SUITE(ShortCalls, Scalars);

TYPED_TEST(ShortCalls, ProductsAreTheKernelsOwn)
{
    using T = TypeParam;
    using Base = ShortCalls<T>;
    const T alpha = Base::factor(), beta = T(0.5);
    for (const Op op_a : {Op::none, Op::trans})
        for (const Op op_b : {Op::none, Op::trans})
            // The last three go by slices of rows and of columns.
            for (const auto [m, n, k] : {std::array<Index, 3>{131, 97, 115},
                                         {64, 64, 64},
                                         {250, 33, 70},
                                         {29, 260, 101},
                                         {700, 40, 90},
                                         {37, 710, 650},
                                         {300, 700, 30}}) {
                const Dense<T> A = op_a == Op::none ? random_matrix<T>(m, k) : random_matrix<T>(k, m),
                               B = op_b == Op::none ? random_matrix<T>(k, n) : random_matrix<T>(n, k), C = random_matrix<T>(m, n);
                Base::expect_same(
                    "gemm", C, k,
                    [&](Dense<T>& X) {
                        gemm(Base::session(), op_a, op_b, m, n, k, alpha, A.data.data(), A.ld, B.data.data(), B.ld, beta,
                             X.data.data(), X.ld);
                    },
                    [&](Dense<T>& X) {
                        Base::kernels().gemm(op_a, op_b, m, n, k, alpha, A.data.data(), A.ld, B.data.data(), B.ld, beta,
                                             X.data.data(), X.ld);
                    });
            }
}

TYPED_TEST(ShortCalls, SymmetricAndHermitianProductsAreTheKernelsOwn)
{
    using T = TypeParam;
    using Base = ShortCalls<T>;
    const T alpha = Base::factor(), beta = T(0.5);
    const Index m = 121, n = 99;
    for (const Side side : {Side::left, Side::right})
        for (const Uplo uplo : {Uplo::lower, Uplo::upper}) {
            const Index order = side == Side::left ? m : n;
            const Dense<T> A = random_triangle<T>(uplo, order, 0), B = random_matrix<T>(m, n), C = random_matrix<T>(m, n);
            const auto arguments = [&](auto&& call, Dense<T>& X) {
                call(side, uplo, m, n, alpha, A.data.data(), A.ld, B.data.data(), B.ld, beta, X.data.data(), X.ld);
            };
            Base::expect_same(
                "symm", C, order + 1, [&](Dense<T>& X) { arguments([](auto... x) { symm(Base::session(), x...); }, X); },
                [&](Dense<T>& X) { arguments([](auto... x) { Base::kernels().symm(x...); }, X); });
            Base::expect_same(
                "hemm", C, order + 1, [&](Dense<T>& X) { arguments([](auto... x) { hemm(Base::session(), x...); }, X); },
                [&](Dense<T>& X) { arguments([](auto... x) { Base::kernels().hemm(x...); }, X); });
        }
}

TYPED_TEST(ShortCalls, RankUpdatesAreTheKernelsOwnAndKeepToTheirTriangle)
{
    using T = TypeParam;
    using Base = ShortCalls<T>;
    const Real<T> alpha = Real<T>(0.75), beta = Real<T>(0.5);
    const Index n = 140, k = 75;
    for (const Uplo uplo : {Uplo::lower, Uplo::upper})
        for (const bool transposed : {false, true}) {
            const Dense<T> A = transposed ? random_matrix<T>(k, n) : random_matrix<T>(n, k), C = random_triangle<T>(uplo, n, 0);
            const Op symmetric = transposed ? Op::trans : Op::none, hermitian = transposed ? Op::conj_trans : Op::none;
            Base::expect_same(
                "syrk", C, k + 1,
                [&](Dense<T>& X) {
                    syrk(Base::session(), uplo, symmetric, n, k, T(alpha), A.data.data(), A.ld, T(beta), X.data.data(), X.ld);
                },
                [&](Dense<T>& X) {
                    Base::kernels().syrk(uplo, symmetric, n, k, T(alpha), A.data.data(), A.ld, T(beta), X.data.data(), X.ld);
                });
            Dense<T> hostile = C; // the imaginary parts of the diagonal are never read
            if constexpr (is_complex<T>)
                for (Index i = 0; i < n; ++i) hostile(i, i).imag(std::numeric_limits<Real<T>>::quiet_NaN());
            Base::expect_same(
                "herk", hostile, k + 1,
                [&](Dense<T>& X) {
                    herk(Base::session(), uplo, hermitian, n, k, alpha, A.data.data(), A.ld, beta, X.data.data(), X.ld);
                },
                [&](Dense<T>& X) {
                    Base::kernels().herk(uplo, hermitian, n, k, alpha, A.data.data(), A.ld, beta, X.data.data(), X.ld);
                });
        }
}

TYPED_TEST(ShortCalls, TriangularSolvesAreTheKernelsOwn)
{
    using T = TypeParam;
    using Base = ShortCalls<T>;
    const T alpha = Base::factor();
    const Index m = 115, n = 90;
    for (const Side side : {Side::left, Side::right})
        for (const Uplo uplo : {Uplo::lower, Uplo::upper})
            for (const Op op : {Op::none, Op::conj_trans})
                for (const Diag diag : {Diag::non_unit, Diag::unit}) {
                    const Index order = side == Side::left ? m : n;
                    Dense<T> A = random_triangle<T>(uplo, order, Real<T>(order));
                    if (diag == Diag::unit) // so that the solution stays as small as the right-hand sides
                        for (T& a : A.data) a *= Real<T>(1) / Real<T>(order);
                    const Dense<T> B = random_matrix<T>(m, n);
                    const auto arguments = [&](auto&& call, Dense<T>& X) {
                        call(side, uplo, op, diag, m, n, alpha, A.data.data(), A.ld, X.data.data(), X.ld);
                    };
                    Base::expect_same(
                        "trsm", B, order, [&](Dense<T>& X) { arguments([](auto... x) { trsm(Base::session(), x...); }, X); },
                        [&](Dense<T>& X) { arguments([](auto... x) { Base::kernels().trsm(x...); }, X); });
                }
}

/// Slices of B: no sum is taken in another order.
TYPED_TEST(ShortCalls, TriangularProductsHaveTheKernelsBits)
{
    using T = TypeParam;
    using Base = ShortCalls<T>;
    const T alpha = Base::factor();
    for (const auto& [m, n] : {std::pair<Index, Index>{115, 90}, {97, 110}, {230, 201}})
        for (const Side side : {Side::left, Side::right})
            for (const Uplo uplo : {Uplo::lower, Uplo::upper})
                for (const Op op : {Op::none, Op::conj_trans}) {
                    const Dense<T> A = random_triangle<T>(uplo, side == Side::left ? m : n, 0), B = random_matrix<T>(m, n);
                    Dense<T> last = B, whole = B;
                    const auto arguments = [&](auto&& call, Dense<T>& X) {
                        call(side, uplo, op, Diag::non_unit, m, n, alpha, A.data.data(), A.ld, X.data.data(), X.ld);
                    };
                    Base::expect_same(
                        "trmm", B, std::max(m, n),
                        [&](Dense<T>& X) {
                            arguments([](auto... x) { trmm(Base::session(), x...); }, X);
                            last = X;
                        },
                        [&](Dense<T>& X) { arguments([](auto... x) { Base::kernels().trmm(x...); }, X); });
                    arguments([](auto... x) { Base::kernels().trmm(x...); }, whole);
                    Dense<T> tasks = B; // which a trace wants to see
                    Base::session().start_trace();
                    arguments([](auto... x) { trmm(Base::session(), x...); }, tasks);
                    std::size_t seen = 0;
                    for (const WorkerTrace& worker : Base::session().stop_trace().workers) seen += worker.events.size();
                    EXPECT_TRUE(m < 200 || seen > 0) << "no tasks";
                    for (const Dense<T>* got : {&last, &tasks})
                        EXPECT_EQ(std::memcmp(got->data.data(), whole.data.data(), whole.data.size() * sizeof(T)), 0)
                            << m << " x " << n;
                }
}

/// One infinity changes how all sums are taken, whoever takes part.
TYPED_TEST(ShortCalls, TriangularProductsWithAnInfinityHaveTheKernelsBits)
{
    using T = TypeParam;
    using Base = ShortCalls<T>;
    const Index m = 230, n = 201;
    const Dense<T> A = random_triangle<T>(Uplo::lower, m, 0);
    Dense<T> B = random_matrix<T>(m, n);
    B(3, 0) = std::numeric_limits<Real<T>>::infinity();
    Dense<T> whole = B;
    Base::kernels().trmm(Side::left, Uplo::lower, Op::none, Diag::non_unit, m, n, T(1), A.data.data(), A.ld, whole.data.data(),
                         whole.ld);
    for (int call = 0; call < 20; ++call) {
        Dense<T> got = B;
        trmm(Base::session(), Side::left, Uplo::lower, Op::none, Diag::non_unit, m, n, T(1), A.data.data(), A.ld, got.data.data(),
             got.ld);
        for (Index j = 1; j < n; ++j)
            ASSERT_EQ(std::memcmp(&got(0, j), &whole(0, j), std::size_t(m) * sizeof(T)), 0)
                << "column " << j << ", call " << call;
    }
}

} // namespace
} // namespace trencadis
