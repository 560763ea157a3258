#include "estimates/refine.hpp"

#include "blas/factorizations/lu.hpp"
#include "blas/level3/level3.hpp"
#include "blas/testing/reference.hpp"

namespace trencadis::estimates {
namespace {

using namespace blas::testing;
using blas::Structure;

template <class T> class Refinements : public ::testing::Test {
};
using Scalars = ::testing::Types<float, double, std::complex<float>, std::complex<double>>;
TYPED_TEST_SUITE(Refinements, Scalars);

/// B = op(A) X for a known X, rounded; solutions of it that are off by some digits.
template <Scalar T> struct Problem {
    Stored<T> X, B, x;
    Problem(Random& random, const Exact<T>& A, Index nrhs) : X(random_matrix<T>(random, A.rows, nrhs)), B(A.rows, nrhs, 2), x(X)
    {
        Sum<T> products(A.rows, nrhs);
        products.add(T(1), A, expand(X, Structure::general));
        for (Index j = 0; j < nrhs; ++j)
            for (Index i = 0; i < A.rows; ++i) {
                B(i, j) = T(products.value(i, j));
                x(i, j) *= T(1 + Real<T>(1e-4) * std::real(random.number<T>()));
            }
    }
    /// Backward errors of a few eps, and forward errors that are below their bounds, which are not far above.
    void check(const std::vector<Real<T>>& ferr, const std::vector<Real<T>>& berr, const std::string& what) const
    {
        for (Index j = 0; j < X.cols; ++j) {
            long double error = 0, size = 0;
            for (Index i = 0; i < X.rows; ++i) {
                error = std::max(error, std::abs(Wide<T>(x(i, j)) - Wide<T>(X(i, j))));
                size = std::max(size, std::abs(Wide<T>(x(i, j))));
            }
            const auto at = std::size_t(j);
            EXPECT_LE(berr[at], 4 * eps<T>) << what;
            EXPECT_LE(error, 2 * ferr[at] * size) << what;      // a bound but for what the estimate misses
            EXPECT_LE(ferr[at], 1e4 * eps<T> * X.rows) << what; // these matrices have conditions below 100
        }
    }
};

TYPED_TEST(Refinements, OfGeneralSystemsBringBackTheLostDigits)
{
    using T = TypeParam;
    Random random(31);
    for (const Op op : {Op::none, Op::trans, Op::conj_trans})
        for (const Index n : {1, 4, 33, 70}) {
            Stored<T> A = random_matrix<T>(random, n, n);
            for (Index i = 0; i < n; ++i) A(i, (i * 3 + 1) % n) += T(Real<T>(n)); // pivots that move rows
            Stored<T> F = A;
            std::vector<Index> pivots(static_cast<std::size_t>(n));
            blas::getrf(n, n, F.data.data(), F.ld, pivots.data());
            Problem<T> problem(random, transformed(op, expand(A, Structure::general)), 3);
            std::vector<Real<T>> ferr(3, -7), berr(3, -7);
            gerfs(op, n, 3, A.data.data(), A.ld, F.data.data(), F.ld, pivots.data(), problem.B.data.data(), problem.B.ld,
                  problem.x.data.data(), problem.x.ld, ferr.data(), berr.data());
            problem.check(ferr, berr, std::string(1, char(op)) + std::to_string(n));
        }
}

TYPED_TEST(Refinements, AreRelativeToTheSolution)
{
    using T = TypeParam;
    using R = Real<T>;
    constexpr Index n = 20;
    Random random(32);
    Stored<T> A = random_matrix<T>(random, n, n), B = random_matrix<T>(random, n, 1);
    for (Index i = 0; i < n; ++i) A(i, i) += T(R(n));
    Stored<T> F = A;
    std::vector<Index> pivots(n);
    blas::getrf(n, n, F.data.data(), F.ld, pivots.data());
    R ferr[2], berr[2];
    for (const int turn : {0, 1}) {
        Stored<T> X = B;
        for (T& x : X.data) x = T(0); // refined from nothing
        gerfs(Op::none, n, 1, A.data.data(), A.ld, F.data.data(), F.ld, pivots.data(), B.data.data(), B.ld, X.data.data(), X.ld,
              ferr + turn, berr + turn);
        for (T& b : B.data) b *= R(1024);
    }
    EXPECT_GT(ferr[0], 0);
    EXPECT_EQ(ferr[0], ferr[1]);
}

TYPED_TEST(Refinements, OfPositiveSystemsReadOneTriangle)
{
    using T = TypeParam;
    Random random(32);
    for (const Uplo uplo : {Uplo::lower, Uplo::upper})
        for (const Index n : {1, 4, 33, 70}) {
            Stored<T> A = random_triangle<T>(random, uplo, n);
            for (Index i = 0; i < n; ++i) A(i, i) += T(Real<T>(2 * n));
            Stored<T> F = A;
            for (Index i = 0; i < n; ++i) F(i, i) = T(std::real(F(i, i)));
            ASSERT_EQ(blas::potrf(uplo, n, F.data.data(), F.ld), 0);
            Problem<T> problem(random, expand(A, Structure::hermitian, uplo), 2);
            std::vector<Real<T>> ferr(2, -7), berr(2, -7);
            porfs(uplo, n, 2, A.data.data(), A.ld, F.data.data(), F.ld, problem.B.data.data(), problem.B.ld,
                  problem.x.data.data(), problem.x.ld, ferr.data(), berr.data());
            problem.check(ferr, berr, std::string(1, char(uplo)) + std::to_string(n));
        }
}

TYPED_TEST(Refinements, OfNothingAreWithoutErrors)
{
    using T = TypeParam;
    std::vector<Real<T>> ferr(2, -7), berr(2, -7);
    T* const none = nullptr;
    gerfs(Op::none, 0, 2, none, 1, none, 1, nullptr, none, 1, none, 1, ferr.data(), berr.data());
    EXPECT_EQ(ferr, std::vector<Real<T>>(2, 0));
    EXPECT_EQ(berr, std::vector<Real<T>>(2, 0));
    berr.assign(2, -7);
    porfs(Uplo::lower, 0, 2, none, 1, none, 1, none, 1, none, 1, ferr.data(), berr.data());
    EXPECT_EQ(berr, std::vector<Real<T>>(2, 0));
    berr.assign(2, -7);
    porfs(Uplo::lower, 3, 0, none, 3, none, 3, none, 3, none, 3, ferr.data(), berr.data());
    EXPECT_EQ(berr, std::vector<Real<T>>(2, -7));
}

TYPED_TEST(Refinements, WithNoNumbersEnd)
{
    using T = TypeParam;
    const Index n = 4;
    for (Index place = 0; place < n * n; ++place) {
        std::vector<T> A(std::size_t(n * n), T(1)), F, b(std::size_t(n), T(1)), x(std::size_t(n), T(1));
        for (Index i = 0; i < n; ++i) A[std::size_t(i + i * n)] = T(8);
        F = A;
        A[std::size_t(place)] = not_a_number<T>();
        std::vector<Index> pivots(static_cast<std::size_t>(n));
        blas::getrf(n, n, F.data(), n, pivots.data());
        Real<T> ferr = 0, berr = 0;
        gerfs(Op::none, n, 1, A.data(), n, F.data(), n, pivots.data(), b.data(), n, x.data(), n, &ferr, &berr);
        EXPECT_TRUE(std::isnan(berr)) << place;
        EXPECT_TRUE(std::isnan(ferr)) << place;
    }
}

} // namespace
} // namespace trencadis::estimates
