#include "blas/factorizations/qr.hpp"
#include "drivers/tile_qr.hpp"
#include "kernels/testing/qr.hpp"
#include "session/session.hpp"
#include "session/testing/sessions.hpp"

#include <gmock/gmock.h>
#include <thread>

namespace trencadis {
namespace {

using namespace testing;
using ::testing::HasSubstr;

constexpr const char* forms[] = {"flat", "plasma", "binary", "greedy", "fibonacci"};

template <class T> class TileQrObjects : public ::testing::Test {
};
TYPED_TEST_SUITE(TileQrObjects, Scalars);

TYPED_TEST(TileQrObjects, FormQInEveryForm)
{
    using T = TypeParam;
    for (const char* engine : engines)
        for (const char* form : forms)
            for (const auto& [m, n] : {std::pair<Index, Index>{61, 40}, {40, 61}, {150, 20}, {33, 33}, {1, 1}, {5, 0}, {0, 5}})
                for (const Index nb : {0, 8, 16}) {
                    const Dense<T> A = random_matrix<T>(m, n);
                    Dense<T> F = A;
                    const TileQr<T> factors(session_on(engine), m, n, F.data.data(), F.ld, {.nb = nb, .variant = form});
                    Dense<T> Q(m, std::min(m, n));
                    factors.form(Q.cols, Q.data.data(), Q.ld);
                    const std::string where =
                        std::string(engine) + " " + form + " " + std::to_string(m) + " x " + std::to_string(n);
                    expect_orthonormal(Q, where);
                    if (m > 0) expect_qr_product(A, Q, F, where);
                    if (this->HasFatalFailure()) return;
                }
}
/// A^H (A X - B) = 0 up to rounding, and the rest of B tells the residual's norm.
TYPED_TEST(TileQrObjects, SolveLeastSquares)
{
    using T = TypeParam;
    constexpr Index m = 90, n = 35, nrhs = 3;
    for (const char* engine : engines)
        for (const char* form : forms) {
            const Dense<T> A = random_matrix<T>(m, n), B = random_matrix<T>(m, nrhs);
            Dense<T> F = A, X = B;
            const TileQr<T> factors(session_on(engine), m, n, F.data.data(), F.ld, {.nb = 16, .variant = form});
            ASSERT_EQ(factors.solve(nrhs, X.data.data(), X.ld), 0);
            for (Index c = 0; c < nrhs; ++c) {
                std::vector<Wide<T>> residual;
                long double norm = 0, rest = 0, size = 0;
                for (Index i = 0; i < m; ++i) {
                    Sum<T> sum;
                    for (Index k = 0; k < n; ++k) sum.add(A(i, k), X(k, c));
                    residual.push_back(Wide<T>(B(i, c)) - sum.value);
                    norm += std::norm(residual.back());
                    size += std::norm(Wide<T>(B(i, c)));
                    if (i >= n) rest += std::norm(Wide<T>(X(i, c)));
                }
                const long double bound = limit_of_ratios * m * eps<T> * std::sqrt(size);
                EXPECT_NEAR(std::sqrt(norm), std::sqrt(rest), bound) << form;
                for (Index k = 0; k < n; ++k) {
                    Wide<T> sum = 0;
                    long double column = 0;
                    for (Index i = 0; i < m; ++i) {
                        sum += Wide<T>(A.at(Op::conj_trans, k, i)) * residual[std::size_t(i)];
                        column += std::norm(Wide<T>(A(i, k)));
                    }
                    ASSERT_LE(std::abs(sum), bound * std::sqrt(column)) << form;
                }
            }
        }
}
/// Whatever the timing.
TYPED_TEST(TileQrObjects, HaveTheBitsOfTheSequentialEngineAndServeSeveralThreads)
{
    using T = TypeParam;
    constexpr Index m = 170, n = 130;
    const Dense<T> A = random_matrix<T>(m, n), C = random_matrix<T>(m, 40);
    for (const char* form : forms) {
        const auto applied = [&](const TileQr<T>& factors, Op op) {
            Dense<T> X = C;
            factors.apply(op, X.cols, X.data.data(), X.ld);
            return X;
        };
        Dense<T> wanted = A, F = A;
        const TileQr<T> sequential(session_on("sequential"), m, n, wanted.data.data(), wanted.ld, {.nb = 24, .variant = form});
        const TileQr<T> native(session_on("native"), m, n, F.data.data(), F.ld, {.nb = 24, .variant = form});
        expect_same_bits(F, wanted);
        const Dense<T> X = applied(sequential, Op::none), Y = applied(sequential, Op::conj_trans);
        std::vector<std::thread> threads;
        for (int t = 0; t < 3; ++t)
            threads.emplace_back(
                [&, t] { expect_same_bits(applied(native, t == 0 ? Op::conj_trans : Op::none), t == 0 ? Y : X); });
        for (std::thread& thread : threads) thread.join();
    }
}

TEST(TileQrArguments, SayWhatIsWrong)
{
    Session& session = session_on("sequential");
    std::vector<double> a(9, 1), b(9, 1);
    EXPECT_THAT(refusal(0, [&] { TileQr<double>(session, 3, 3, a.data(), 3, {.variant = "gredy"}); }), HasSubstr("greedy"));
    EXPECT_THAT(refusal(1, [&] { TileQr<double>(session, -1, 3, a.data(), 3); }), HasSubstr("m is -1"));
    EXPECT_THAT(refusal(4, [&] { TileQr<double>(session, 3, 3, a.data(), 2); }), HasSubstr("lda is 2"));
    EXPECT_EQ(a, std::vector<double>(9, 1));
    const TileQr<double> factors(session, 3, 3, a.data(), 3), wide(session, 1, 3, b.data(), 1);
    EXPECT_THAT(refusal(2, [&] { factors.apply(Op::none, -1, b.data(), 3); }), HasSubstr("columns is -1"));
    EXPECT_THAT(refusal(3, [&] { factors.apply(Op::none, 1, a.data(), 3); }), HasSubstr("overlaps"));
    EXPECT_THAT(refusal(1, [&] { factors.form(4, b.data(), 3); }), HasSubstr("columns is 4"));
    EXPECT_THAT(refusal(3, [&] { factors.solve(1, b.data(), 2); }), HasSubstr("ldb is 2"));
    EXPECT_THAT(refusal(0, [&] { wide.solve(1, b.data() + 3, 1); }), HasSubstr("1 x 3"));
    std::vector<std::complex<double>> z(9, 1), w(3);
    const TileQr<std::complex<double>> complex(session, 3, 3, z.data(), 3);
    EXPECT_THAT(refusal(1, [&] { complex.apply(Op::trans, 1, w.data(), 3); }), HasSubstr("op"));
}
TEST(TileQrArguments, NameTheFirstZeroOfRAndLeaveQTimesB)
{
    std::vector<double> a(12), b(4, 1);
    a[0] = 2, a[9] = 3; // columns 1 and 3 of a 4 x 3 matrix
    const TileQr<double> factors(session_on("sequential"), 4, 3, a.data(), 4);
    EXPECT_EQ(factors.solve(1, b.data(), 4), 2);
}

TEST(TallQrVariant, IsOneOfGeqrfAndTheOthersNameTheirObject)
{
    Session& session = session_on("native");
    const Dense<double> A = random_matrix<double>(27000, 21);
    for (const char* variant : {"", "tsqr", "blocked"}) {
        Dense<double> F = A;
        std::vector<double> tau(21);
        geqrf(session, F.rows, F.cols, F.data.data(), F.ld, tau.data(), {.variant = variant});
        Dense<double> Q = F;
        blas::orgqr(Q.rows, Q.cols, Q.cols, Q.data.data(), Q.ld, tau.data());
        expect_orthonormal(Q, variant);
        expect_qr_product(A, Q, F, variant);
    }
    for (const char* form : forms) {
        Dense<double> F = A;
        std::vector<double> tau(21);
        const auto call = [&] { geqrf(session, F.rows, F.cols, F.data.data(), F.ld, tau.data(), {.variant = form}); };
        EXPECT_THAT(refusal(0, call), HasSubstr("TileQr"));
        expect_same_bits(A, F);
    }
}
/// The matrix goes to the plain algorithm as it was, so that what is left of the bad column is as without blocks of rows.
TEST(TallQrVariant, LeavesNoNumbersToThePlainAlgorithm)
{
    for (const double bad : {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
        constexpr Index m = 60000;
        Dense<double> A = random_matrix<double>(m, 9);
        A(31000, 5) = bad;
        Dense<double> F = A, wanted = A;
        std::vector<double> tau(9), plain(9);
        geqrf(session_on("native"), F.rows, F.cols, F.data.data(), F.ld, tau.data());
        blas::geqrf(wanted.rows, wanted.cols, wanted.data.data(), wanted.ld, plain.data(), static_cast<double*>(nullptr),
                    Index(1));
        for (Index j = 0; j < 9; ++j)
            for (Index i = 0; i < m; ++i) ASSERT_EQ(std::isnan(F(i, j)), std::isnan(wanted(i, j))) << i << ", " << j;
    }
}

} // namespace
} // namespace trencadis
