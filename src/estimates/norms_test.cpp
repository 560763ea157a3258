#include "estimates/norms.hpp"

#include "blas/testing/reference.hpp"

namespace trencadis::estimates {
namespace {

using namespace blas::testing;
using blas::Structure;

template <class T> class Norms : public ::testing::Test {
};
using Scalars = ::testing::Types<float, double, std::complex<float>, std::complex<double>>;
TYPED_TEST_SUITE(Norms, Scalars);

/// By the definition, with moduli of a whole matrix.
template <Scalar T> long double defined(Norm norm, const Exact<T>& A)
{
    std::vector<long double> rows(std::size_t(A.rows)), columns(std::size_t(A.cols));
    long double most = 0, squares = 0;
    for (Index j = 0; j < A.cols; ++j)
        for (Index i = 0; i < A.rows; ++i) {
            const long double modulus = std::abs(A(i, j));
            rows[std::size_t(i)] += modulus, columns[std::size_t(j)] += modulus;
            most = std::max(most, modulus), squares += modulus * modulus;
        }
    const auto largest = [](const std::vector<long double>& sums) {
        return sums.empty() ? 0 : *std::max_element(sums.begin(), sums.end());
    };
    return norm == Norm::max   ? most
           : norm == Norm::one ? largest(columns)
           : norm == Norm::inf ? largest(rows)
                               : std::sqrt(squares);
}

constexpr Norm all_norms[] = {Norm::max, Norm::one, Norm::inf, Norm::frobenius};

void one_after_the_other(Index count, const std::function<void(Index)>& part)
{
    for (Index i = 0; i < count; ++i) part(i);
}

/// As a whole, with memory lent, and in several parts.
template <Scalar T> void expect_norms(const Measured<T>& A, const Exact<T>& whole, const std::string& what)
{
    std::vector<Real<T>> work(std::size_t(whole.rows) + 1, std::numeric_limits<Real<T>>::quiet_NaN());
    for (const Norm which : all_norms) {
        const long double expected = defined(which, whole);
        const auto check = [&](Real<T> found, const std::string& how) {
            ASSERT_NEAR(found, expected, (whole.rows + whole.cols + 10) * eps<T> * expected)
                << what << " " << char(which) << " " << whole.rows << " x " << whole.cols << " " << how;
        };
        check(norm(which, A), "whole");
        check(norm(which, A, work.data()), "whole, with memory");
        for (const Index parts : {1, 3, 1000})
            check(norm(which, A, parts, one_after_the_other), std::to_string(parts) + " parts");
    }
    ASSERT_TRUE(std::isnan(work.back())) << "behind the memory";
}

/// Of an m x n trapezoid, the rest zero.
template <Scalar T> Exact<T> trapezoid(const Stored<T>& A, Uplo uplo, Diag diag)
{
    Exact<T> whole(A.rows, A.cols);
    for (Index j = 0; j < A.cols; ++j)
        for (Index i = 0; i < A.rows; ++i)
            if (i == j && diag == Diag::unit) whole(i, j) = 1;
            else if (in_part(uplo, i, j)) whole(i, j) = Wide<T>(A(i, j));
    return whole;
}

TYPED_TEST(Norms, AreThoseOfTheDefinition)
{
    using T = TypeParam;
    Random random(11);
    for_all_setups([&](const std::string& setup) {
        for (const Index m : {0, 1, 5, 40})
            for (const Index n : {0, 1, 7, 40}) {
                const Stored<T> A = random_matrix<T>(random, m, n);
                expect_norms(Measured<T>::general(m, n, A.data.data(), A.ld), expand(A, Structure::general), setup);
                for (const Uplo uplo : {Uplo::lower, Uplo::upper})
                    for (const Diag diag : {Diag::unit, Diag::non_unit}) {
                        if (m > n && uplo == Uplo::upper && diag == Diag::unit) continue; // LAPACK's row sums count ones below it
                        Stored<T> B = A;
                        for (Index j = 0; j < n; ++j)
                            for (Index i = 0; i < m; ++i)
                                if (!in_part(uplo, i, j) || (i == j && diag == Diag::unit)) B(i, j) = not_a_number<T>();
                        expect_norms(Measured<T>::triangular(uplo, diag, m, n, B.data.data(), B.ld), trapezoid(B, uplo, diag),
                                     setup);
                    }
            }
        for (const Uplo uplo : {Uplo::lower, Uplo::upper})
            for (const Index n : {0, 1, 2, 33}) {
                const Stored<T> A = random_triangle<T>(random, uplo, n);
                expect_norms(Measured<T>::symmetric(uplo, n, A.data.data(), A.ld), expand(A, Structure::symmetric, uplo), setup);
                expect_norms(Measured<T>::hermitian(uplo, n, A.data.data(), A.ld), expand(A, Structure::hermitian, uplo), setup);
            }
    });
}

TYPED_TEST(Norms, DoNotOverflowOrVanishOnTheWay)
{
    using T = TypeParam;
    using R = Real<T>;
    Random random(12);
    const Stored<T> A = random_matrix<T>(random, 9, 9);
    for (const int exponent : {std::numeric_limits<R>::max_exponent - 8, std::numeric_limits<R>::min_exponent + 8}) {
        const R scale = std::ldexp(R(1), exponent);
        Stored<T> B = A;
        for (T& value : B.data) value *= scale;
        for (const Norm which : all_norms) {
            const auto of = [&](const Stored<T>& M, bool mirrored) {
                return mirrored ? norm(which, Measured<T>::hermitian(Uplo::lower, 9, M.data.data(), M.ld))
                                : norm(which, Measured<T>::general(9, 9, M.data.data(), M.ld));
            };
            for (const bool mirrored : {false, true})
                ASSERT_NEAR(of(B, mirrored) / scale / of(A, mirrored), 1, 40 * double(eps<T>)) << char(which);
        }
    }
    const std::vector<T> zeros(81, T(0));
    for (const Norm which : all_norms) EXPECT_EQ(norm(which, Measured<T>::general(9, 9, zeros.data(), 9)), 0);
}

TYPED_TEST(Norms, AreNaNWhereAnElementIsAndInfiniteWhereOneIsThat)
{
    using T = TypeParam;
    using R = Real<T>;
    Random random(13);
    const Index n = 7;
    for (Index j = 0; j < n; ++j)
        for (Index i = 0; i < n; ++i)
            for (const Norm which : all_norms) {
                Stored<T> A = random_matrix<T>(random, n, n);
                const auto general = [&] {
                    return norm(which, Measured<T>::general(n, n, A.data.data(), A.ld), 2, one_after_the_other);
                };
                const auto mirrored = [&] {
                    return norm(which, Measured<T>::hermitian(i >= j ? Uplo::lower : Uplo::upper, n, A.data.data(), A.ld));
                };
                A(i, j) = T(-std::numeric_limits<R>::infinity());
                EXPECT_EQ(general(), std::numeric_limits<R>::infinity()) << char(which) << i << j;
                EXPECT_EQ(mirrored(), std::numeric_limits<R>::infinity()) << char(which) << i << j;
                A(i, j) = not_a_number<T>();
                EXPECT_TRUE(std::isnan(general())) << char(which) << i << j;
                EXPECT_TRUE(std::isnan(mirrored())) << char(which) << i << j;
            }
}

TYPED_TEST(Norms, OfAComplexDiagonalAreNaNWhereOnePartIsThoughTheOtherIsInfinite)
{
    using T = TypeParam;
    using R = Real<T>;
    if constexpr (is_complex<T>) {
        const R infinity = std::numeric_limits<R>::infinity(), nan = std::numeric_limits<R>::quiet_NaN();
        for (const T bad : {T(infinity, nan), T(nan, infinity)}) {
            const T A[4] = {T(1), T(2), T(3), bad};
            const auto symmetric = Measured<T>::symmetric(Uplo::lower, 2, A, 2);
            const auto triangle = Measured<T>::triangular(Uplo::upper, Diag::non_unit, 2, 2, A, 2);
            EXPECT_TRUE(std::isnan(norm(Norm::frobenius, symmetric))) << "sums of squares of parts, as LAPACK's lassq";
            EXPECT_TRUE(std::isnan(norm(Norm::frobenius, triangle)));
            EXPECT_EQ(norm(Norm::max, symmetric), infinity) << "moduli";
            EXPECT_EQ(norm(Norm::one, triangle), infinity);
        }
        const T A[4] = {T(1), T(2), T(3), T(4, nan)};
        EXPECT_EQ(norm(Norm::frobenius, Measured<T>::hermitian(Uplo::lower, 2, A, 2)), std::sqrt(R(25))) << "it is not read";
    }
}

} // namespace
} // namespace trencadis::estimates
