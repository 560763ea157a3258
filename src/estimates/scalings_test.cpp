#include "estimates/scalings.hpp"

#include "blas/testing/reference.hpp"

namespace trencadis::estimates {
namespace {

using namespace blas::testing;

template <class T> class Scalings : public ::testing::Test {
};
using Scalars = ::testing::Types<float, double, std::complex<float>, std::complex<double>>;
TYPED_TEST_SUITE(Scalings, Scalars);

template <Scalar T> Real<T> size_of(T x) { return is_complex<T> ? std::abs(std::real(x)) + std::abs(std::imag(x)) : std::abs(x); }
bool is_power_of_two(double x)
{
    int exponent = 0;
    return std::frexp(x, &exponent) == 0.5;
}

TYPED_TEST(Scalings, MakeTheLargestOfEachRowAndColumnOne)
{
    using T = TypeParam;
    using R = Real<T>;
    Random random(41);
    for (const Factors kind : {Factors::exact, Factors::powers})
        for (const Index m : {1, 3, 20})
            for (const Index n : {1, 5, 20}) {
                Stored<T> A = random_matrix<T>(random, m, n);
                R largest = 0;
                for (Index j = 0; j < n; ++j)
                    for (Index i = 0; i < m; ++i) {
                        A(i, j) *= std::ldexp(R(1), int(random.between(-20, 20)));
                        largest = std::max(largest, size_of(A(i, j)));
                    }
                std::vector<R> r(std::size_t(m), -7), c(std::size_t(n), -7);
                R rowcnd = -7, colcnd = -7, amax = -7;
                ASSERT_EQ(geequ(kind, m, n, A.data.data(), A.ld, r.data(), c.data(), &rowcnd, &colcnd, &amax), 0);
                std::vector<R> rows(r.size()), columns(c.size());
                for (Index j = 0; j < n; ++j)
                    for (Index i = 0; i < m; ++i) {
                        const R size = size_of(A(i, j)) * r[std::size_t(i)];
                        rows[std::size_t(i)] = std::max(rows[std::size_t(i)], size);
                        columns[std::size_t(j)] = std::max(columns[std::size_t(j)], size * c[std::size_t(j)]);
                    }
                const R most = kind == Factors::exact ? 1 + 4 * R(eps<T>) : 2,
                        least = kind == Factors::exact ? 1 - 4 * R(eps<T>) : R(0.5);
                for (const std::vector<R>* all : {&rows, &columns})
                    for (const R size : *all) EXPECT_TRUE(least <= size && size <= most) << size;
                for (const std::vector<R>* all : {&r, &c})
                    for (const R factor : *all) EXPECT_TRUE(kind == Factors::exact || is_power_of_two(factor)) << factor;
                EXPECT_NEAR(rowcnd, *std::min_element(r.begin(), r.end()) / *std::max_element(r.begin(), r.end()), 4 * eps<T>);
                EXPECT_NEAR(colcnd, *std::min_element(c.begin(), c.end()) / *std::max_element(c.begin(), c.end()), 4 * eps<T>);
                if (kind == Factors::exact) {
                    EXPECT_EQ(amax, largest);
                } else {
                    EXPECT_TRUE(is_power_of_two(amax) && amax <= 2 * largest && 2 * amax > largest) << amax << " " << largest;
                }
            }
}

TYPED_TEST(Scalings, NameARowOrAColumnOfZeros)
{
    using T = TypeParam;
    using R = Real<T>;
    const Index m = 4, n = 3;
    std::vector<T> A(std::size_t(m * n), T(1));
    R r[4], c[3], rowcnd, colcnd, amax = -7;
    for (Index i = 0; i < m; ++i) A[std::size_t(i + 1 * m)] = T(0);
    EXPECT_EQ(geequ(Factors::exact, m, n, A.data(), m, r, c, &rowcnd, &colcnd, &amax), m + 2);
    for (Index j = 0; j < n; ++j) A[std::size_t(2 + j * m)] = T(0);
    EXPECT_EQ(geequ(Factors::powers, m, n, A.data(), m, r, c, &rowcnd, &colcnd, &amax), 3);
    EXPECT_EQ(amax, 1);
    EXPECT_EQ(geequ(Factors::exact, 0, n, A.data(), m, r, c, &rowcnd, &colcnd, &amax), 0);
    EXPECT_EQ(rowcnd, 1);
    EXPECT_EQ(colcnd, 1);
    EXPECT_EQ(amax, 0);
}

/// As LAPACK has it; a factor made of what is not scaled would go with the order of the rows.
TYPED_TEST(Scalings, NameAColumnThatIsZeroOnceTheRowsAreScaled)
{
    using T = TypeParam;
    using R = Real<T>;
    const R large = std::numeric_limits<R>::max() / 8, small = std::numeric_limits<R>::min() * 8;
    const T A[4] = {T(large), T(2 * large), T(small), T(-small)}; // 2 x 2
    for (const Factors kind : {Factors::exact, Factors::powers}) {
        R r[2], c[2], rowcnd, colcnd, amax;
        EXPECT_EQ(geequ(kind, 2, 2, A, 2, r, c, &rowcnd, &colcnd, &amax), 2 + 2);
    }
}

TYPED_TEST(Scalings, OfARowOrAColumnOfNothingButNaNsAreNoNumbers)
{
    using T = TypeParam;
    using R = Real<T>;
    const T nan = not_a_number<T>();
    const T A[6] = {T(1), T(2), nan, nan, T(4), nan}; // 2 x 3
    R r[3], c[3], rowcnd, colcnd, amax;
    EXPECT_EQ(geequ(Factors::exact, 2, 3, A, 2, r, c, &rowcnd, &colcnd, &amax), 0) << "not a column of zeros";
    EXPECT_EQ(r[0], R(1) / 4) << "NaNs beside numbers are passed over";
    EXPECT_EQ(c[0], 1);
    EXPECT_TRUE(std::isnan(c[1]));
    EXPECT_EQ(geequ(Factors::powers, 3, 2, A, 3, r, c, &rowcnd, &colcnd, &amax), 0);
    EXPECT_TRUE(std::isnan(r[2]));
    EXPECT_FALSE(std::isnan(r[0]));
    const T all[1] = {nan};
    EXPECT_EQ(geequ(Factors::exact, 1, 1, all, 1, r, c, &rowcnd, &colcnd, &amax), 0);
    EXPECT_TRUE(std::isnan(rowcnd));
}

TYPED_TEST(Scalings, OfPositiveMatricesMakeTheDiagonalOnes)
{
    using T = TypeParam;
    using R = Real<T>;
    Random random(42);
    for (const Factors kind : {Factors::exact, Factors::powers})
        for (const Index n : {1, 2, 17}) {
            Stored<T> A(n, n, 1); // NaN but for the diagonal
            for (Index i = 0; i < n; ++i)
                A(i, i) = T(std::ldexp(std::abs(std::real(random.number<T>())) + R(0.1), int(random.between(-30, 30))));
            std::vector<R> s(std::size_t(n), -7);
            R scond = -7, amax = -7, most = 0;
            ASSERT_EQ(poequ(kind, n, A.data.data(), A.ld, s.data(), &scond, &amax), 0);
            for (Index i = 0; i < n; ++i) {
                const R factor = s[std::size_t(i)], one = factor * std::real(A(i, i)) * factor;
                most = std::max(most, std::real(A(i, i)));
                EXPECT_TRUE(kind == Factors::exact ? std::abs(one - 1) < 4 * eps<T> : 0.25 <= one && one <= 4) << one;
                EXPECT_TRUE(kind == Factors::exact || is_power_of_two(factor)) << factor;
            }
            EXPECT_EQ(amax, most);
            A(n - 1, n - 1) = T(-1);
            EXPECT_EQ(poequ(kind, n, A.data.data(), A.ld, s.data(), &scond, &amax), n);
            A(n - 1, n - 1) = T(0);
            EXPECT_EQ(poequ(kind, n, A.data.data(), A.ld, s.data(), &scond, &amax), n);
        }
    R scond = -7, amax = -7;
    EXPECT_EQ(poequ(Factors::exact, 0, static_cast<const T*>(nullptr), 1, static_cast<R*>(nullptr), &scond, &amax), 0);
    EXPECT_EQ(scond, 1);
    EXPECT_EQ(amax, 0);
}

} // namespace
} // namespace trencadis::estimates
