#include "drivers/linear_algebra.hpp"
#include "kernels/testing/reference.hpp"
#include "session/session.hpp"

namespace trencadis {
namespace {

using namespace testing;

SessionOptions on_engine(const char* engine)
{
    SessionOptions options;
    options.engine = engine;
    return options;
}

/// How a routine can be carried out: small tiles, sizes cut up by themselves, and on the calling thread.
std::vector<RoutineOptions> ways()
{
    std::vector<RoutineOptions> all(1);
    for (const char* const variant : {"packed", "in-place"})
        for (const Index nb : {7, 0}) {
            all.emplace_back();
            all.back().nb = nb;
            all.back().variant = variant;
        }
    return all;
}

template <class T> class ImaginaryDiagonal : public ::testing::Test {
protected:
    using R = Real<T>;

    /// What `call(C)` makes of C must be the same bits, whatever the imaginary parts of the diagonal are.
    template <class Call> void expect_ignored(const Dense<T>& C, const std::string& what, const Call& call) const
    {
        Dense<T> expected = C;
        for (Index j = 0; j < C.cols; ++j) expected(j, j).imag(0);
        call(expected);
        for (const R odd : {std::numeric_limits<R>::quiet_NaN(), std::numeric_limits<R>::infinity(), R(3)}) {
            Dense<T> given = C;
            for (Index j = 0; j < C.cols; ++j) given(j, j).imag(odd);
            call(given);
            for (Index j = 0; j < C.cols; ++j)
                for (Index i = 0; i < C.rows; ++i)
                    ASSERT_TRUE(std::memcmp(&given(i, j), &expected(i, j), sizeof(T)) == 0)
                        << what << " with " << odd << ": " << given(i, j) << " at " << i << ", " << j << " in place of "
                        << expected(i, j);
        }
    }
};
using ComplexScalars = ::testing::Types<std::complex<float>, std::complex<double>>;
TYPED_TEST_SUITE(ImaginaryDiagonal, ComplexScalars);

TYPED_TEST(ImaginaryDiagonal, OfARankUpdateIsNeverRead)
{
    using T = TypeParam;
    using R = Real<T>;
    constexpr Index n = 45, k = 20;
    Session sequential(on_engine("sequential"));
    for (const RoutineOptions& way : ways())
        for (const Uplo uplo : {Uplo::lower, Uplo::upper})
            for (const bool turned : {false, true})
                for (const R beta : {R(1), R(0.5), R(-2)})
                    for (const R alpha : {R(0.75), R(0)}) {
                        if (alpha == 0 && beta == 1) continue; // nothing to do: C stays as it is
                        const Dense<T> A = turned ? random_matrix<T>(k, n) : random_matrix<T>(n, k),
                                       C = random_triangle<T>(uplo, n, 1);
                        const Op op = turned ? Op::conj_trans : Op::none;
                        const std::string what = way.variant + " nb = " + std::to_string(way.nb) + " " + char(uplo) + char(op);
                        this->expect_ignored(C, "herk " + what, [&](Dense<T>& X) {
                            herk(sequential, uplo, op, n, k, alpha, A.data.data(), A.ld, beta, X.data.data(), X.ld, way);
                        });
                        this->expect_ignored(C, "her2k " + what, [&](Dense<T>& X) {
                            her2k(sequential, uplo, op, n, k, T(alpha, alpha), A.data.data(), A.ld, A.data.data(), A.ld, beta,
                                  X.data.data(), X.ld, way);
                        });
                        if (this->HasFatalFailure()) return;
                    }
}

TYPED_TEST(ImaginaryDiagonal, OfAMatrixToFactorIsNeverRead)
{
    using T = TypeParam;
    constexpr Index n = 45;
    Session sequential(on_engine("sequential"));
    for (const RoutineOptions& way : ways())
        for (const Uplo uplo : {Uplo::lower, Uplo::upper}) {
            const Dense<T> A = random_triangle<T>(uplo, n, Real<T>(2 * n)), B = random_matrix<T>(n, 3);
            const std::string what = way.variant + " nb = " + std::to_string(way.nb) + " " + char(uplo);
            this->expect_ignored(A, "potrf " + what,
                                 [&](Dense<T>& X) { EXPECT_EQ(potrf(sequential, uplo, n, X.data.data(), X.ld, way), 0); });
            this->expect_ignored(A, "posv " + what, [&](Dense<T>& X) {
                Dense<T> Y = B;
                EXPECT_EQ(posv(sequential, uplo, n, 3, X.data.data(), X.ld, Y.data.data(), Y.ld, way), 0);
            });
            if (this->HasFatalFailure()) return;
        }
}

/// As in blas/factorizations/hard_diagonal_test.cpp, for whatever carries a solve out.
TYPED_TEST(ImaginaryDiagonal, WhoseInverseIsNoNumberIsDividedBy)
{
    using T = TypeParam;
    using R = Real<T>;
    constexpr Index n = 33, at = 17, others = 20;
    Session sequential(on_engine("sequential"));
    for (const RoutineOptions& way : ways())
        for (const Side side : {Side::left, Side::right})
            for (const Uplo uplo : {Uplo::lower, Uplo::upper})
                for (const Op op : {Op::none, Op::trans, Op::conj_trans}) {
                    const bool left = side == Side::left;
                    Dense<T> A = random_triangle<T>(uplo, n, R(2 * n)),
                             B = left ? random_matrix<T>(n, others) : random_matrix<T>(others, n);
                    const T d(std::numeric_limits<R>::min() / 8, 0);
                    for (Index i = 0; i < n; ++i) (in_triangle(uplo, i, at) ? A(i, at) : A(at, i)) = i == at ? d : T(0);
                    for (Index i = 0; i < others; ++i) (left ? B(at, i) : B(i, at)) *= std::numeric_limits<R>::min();
                    Dense<T> X = B;
                    trsm(sequential, side, uplo, op, Diag::non_unit, B.rows, B.cols, T(1), A.data.data(), A.ld, X.data.data(),
                         X.ld, way);
                    for (Index i = 0; i < others; ++i) {
                        const T x = left ? X(at, i) : X(i, at), b = left ? B(at, i) : B(i, at);
                        const Wide<T> exact = Wide<T>(b) / Wide<T>(d);
                        ASSERT_LE(std::abs(Wide<T>(x) - exact), 12 * eps<T> * std::abs(exact))
                            << way.variant << " nb = " << way.nb << ": " << x << " for " << b;
                    }
                }
}

} // namespace
} // namespace trencadis
