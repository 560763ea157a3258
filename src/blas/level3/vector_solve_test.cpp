#include "blas/level3/vector_solve.hpp"

#include "blas/testing/reference.hpp"
#include "graph/testing/both_ends.hpp"

namespace trencadis::blas {
namespace {

using namespace testing;

template <class T> class VectorSolves : public ::testing::Test {
};
using Scalars = ::testing::Types<float, double, std::complex<float>, std::complex<double>>;
TYPED_TEST_SUITE(VectorSolves, Scalars);

TYPED_TEST(VectorSolves, HaveASmallBackwardErrorAndReadOneTriangle)
{
    using T = TypeParam;
    Random random(1);
    for_all_setups([&](const std::string& setup) {
        for (const Uplo uplo : {Uplo::lower, Uplo::upper})
            for (const Op op : {Op::none, Op::trans, Op::conj_trans})
                for (const Diag diag : {Diag::unit, Diag::non_unit})
                    for (const Index n : {0, 1, 2, 31, 32, 33, 67, 100}) {
                        Stored<T> A = random_triangle<T>(random, uplo, n, diag);
                        for (T& a : A.data) a /= Real<T>(n); // also with ones on the diagonal solutions stay small
                        for (Index i = 0; diag == Diag::non_unit && i < n; ++i) A(i, i) += T(2);
                        const Stored<T> b = random_matrix<T>(random, n, 1);
                        Stored<T> x = b;
                        solve_vector(uplo, op, diag, n, A.data.data(), A.ld, x.data.data());
                        const Exact<T> whole = transformed(op, expand(A, Structure::triangular, uplo, diag)),
                                       solution = expand(x, Structure::general);
                        Sum<T> residual(n, 1);
                        residual.add(T(1), whole, solution);
                        // Higham, theorem 8.5, with the division's error in complex arithmetic: (|A| |x| + |b|) n eps.
                        for (Index i = 0; i < n; ++i)
                            ASSERT_LE(std::abs(residual.value(i, 0) - Wide<T>(b(i, 0))),
                                      rounding<T> * (n + 4) * eps<T> * residual.magnitude[std::size_t(i)])
                                << setup << " " << char(uplo) << char(op) << char(diag) << " n = " << n;
                        for (std::size_t i = std::size_t(n); i < b.data.size(); ++i)
                            ASSERT_EQ(std::memcmp(&b.data[i], &x.data[i], sizeof(T)), 0) << "touched behind the end";
                    }
    });
}

TYPED_TEST(VectorSolves, ByBandsHaveASmallBackwardErrorAndTheSameBitsWithHelpers)
{
    using T = TypeParam;
    Random random(3);
    Index n = 100;
    while (vector_band<T>(n) == n) ++n;
    n += 75;
    for (const Uplo uplo : {Uplo::lower, Uplo::upper})
        for (const Op op : {Op::none, Op::trans, Op::conj_trans}) {
            Stored<T> A = random_triangle<T>(random, uplo, n, Diag::non_unit);
            for (T& a : A.data) a /= Real<T>(n);
            for (Index i = 0; i < n; ++i) A(i, i) += T(2);
            const Stored<T> b = random_matrix<T>(random, n, 1);
            Stored<T> alone = b, x = b;
            solve_vector(uplo, op, Diag::non_unit, n, A.data.data(), A.ld, alone.data.data());
            int shared = 0;
            const auto share = [&](Index chunks, Flops, const std::function<void(Team&)>& work) {
                if (++shared % 3 == 0) return false; // nobody has time for it
                trencadis::testing::work_from_both_ends(chunks, work);
                return true;
            };
            solve_vector(uplo, op, Diag::non_unit, n, A.data.data(), A.ld, x.data.data(), {2, share});
            EXPECT_GE(shared, 2);
            EXPECT_EQ(std::memcmp(x.data.data(), alone.data.data(), x.data.size() * sizeof(T)), 0) << char(uplo) << char(op);
            const Exact<T> whole = transformed(op, expand(A, Structure::triangular, uplo, Diag::non_unit)),
                           solution = expand(x, Structure::general);
            Sum<T> residual(n, 1);
            residual.add(T(1), whole, solution);
            for (Index i = 0; i < n; ++i)
                ASSERT_LE(std::abs(residual.value(i, 0) - Wide<T>(b(i, 0))),
                          rounding<T> * (n + 4) * eps<T> * residual.magnitude[std::size_t(i)])
                    << char(uplo) << char(op) << " at " << i;
        }
}

template <class T> class ColumnKernels : public ::testing::Test {
};
TYPED_TEST_SUITE(ColumnKernels, Scalars);

template <Scalar T> long double size_of(T x)
{
    return std::abs((long double)(std::real(x))) + std::abs((long double)(std::imag(x)));
}

TYPED_TEST(ColumnKernels, FindSumsAndLargestModuliOfAnyLength)
{
    using T = TypeParam;
    using R = Real<T>;
    Random random(2);
    for_all_setups([&](const std::string& setup) {
        const ColumnKernel<T>& kernel = blas::setup<T>().kernel.columns;
        for (const Index m : {0, 1, 3, 7, 16, 63, 255, 256, 257, 600}) {
            const Stored<T> a = random_matrix<T>(random, m, 1);
            std::vector<R> rows(std::size_t(m) + 1, R(0.5));
            long double sum = 0, largest = 0, squares = 0;
            for (Index i = 0; i < m; ++i) {
                const long double modulus = std::abs(Wide<T>(a(i, 0)));
                sum += modulus, squares += modulus * modulus, largest = std::max(largest, modulus);
            }
            const long double bound = (m + 8) * eps<T>;
            ASSERT_NEAR(kernel.sum(m, a.data.data(), rows.data()), sum, bound * sum) << setup << m;
            ASSERT_EQ(kernel.sum(m, a.data.data(), nullptr), kernel.sum(m, a.data.data(), nullptr));
            ASSERT_NEAR(kernel.largest(m, a.data.data()), largest, 4 * eps<T> * largest) << setup << m;
            ASSERT_NEAR(kernel.squares(m * planes<T>, reinterpret_cast<const R*>(a.data.data()), R(2)), 4 * squares,
                        bound * 4 * squares);
            for (Index i = 0; i < m; ++i)
                ASSERT_NEAR(rows[std::size_t(i)], 0.5L + std::abs(Wide<T>(a(i, 0))), 8 * eps<T>) << setup << m << " at " << i;
            ASSERT_EQ(rows.back(), R(0.5)) << "touched behind the end";
        }
    });
}

TYPED_TEST(ColumnKernels, MultiplySizesWithVectorsBesideThem)
{
    using T = TypeParam;
    using R = Real<T>;
    Random random(3);
    for_all_setups([&](const std::string& setup) {
        const ColumnKernel<T>& kernel = blas::setup<T>().kernel.columns;
        for (const Index m : {0, 1, 5, 33})
            for (const Index k : {0, 1, 3, 4, 9}) {
                const Stored<T> A = random_matrix<T>(random, m, k);
                const std::size_t rows = std::size_t(m), columns = std::size_t(k);
                std::vector<R> x(rows + 1, R(0.25)), s(columns + 1, R(0.75)), y(rows + 1, R(1)), r(columns + 1, R(1));
                kernel.add_sizes(m, k, A.data.data(), A.ld, s.data(), y.data());
                kernel.size_dots(m, k, A.data.data(), A.ld, x.data(), r.data());
                for (Index i = 0; i < m; ++i) {
                    long double sum = 1;
                    for (Index j = 0; j < k; ++j) sum += 0.75L * size_of(A(i, j));
                    ASSERT_NEAR(y[std::size_t(i)], sum, (k + 4) * eps<T> * sum) << setup;
                }
                for (Index j = 0; j < k; ++j) {
                    long double sum = 0;
                    for (Index i = 0; i < m; ++i) sum += 0.25L * size_of(A(i, j));
                    ASSERT_NEAR(r[std::size_t(j)], sum, (m + 4) * eps<T> * sum) << setup;
                }
                ASSERT_EQ(y.back(), R(1));
                ASSERT_EQ(r.back(), R(1));
            }
    });
}

TYPED_TEST(ColumnKernels, FindModuliOfTheLargestAndSmallestNumbers)
{
    using T = TypeParam;
    using R = Real<T>;
    for_all_setups([&](const std::string& setup) {
        const ColumnKernel<T>& kernel = blas::setup<T>().kernel.columns;
        for (const R size :
             {std::numeric_limits<R>::max() / 4, std::numeric_limits<R>::min() * 4, std::numeric_limits<R>::denorm_min() * 8})
            for (const Index m : {1, 5, 300}) {
                std::vector<T> a(std::size_t(m), T(0));
                if constexpr (is_complex<T>) a.back() = T(size * R(0.5), size * R(0.5));
                else a.back() = -size;
                const R expected = std::abs(a.back());
                ASSERT_NEAR(kernel.largest(m, a.data()) / expected, 1, 0.07) << setup; // a denormal's last digit
                ASSERT_NEAR(kernel.sum(m, a.data(), nullptr) / expected, 1, 0.07) << setup;
                a.front() = T(std::numeric_limits<R>::infinity());
                ASSERT_EQ(kernel.largest(m, a.data()), std::numeric_limits<R>::infinity());
                a.back() = not_a_number<T>();
                ASSERT_TRUE(std::isnan(kernel.largest(m, a.data())));
                ASSERT_TRUE(std::isnan(kernel.sum(m, a.data(), nullptr)));
            }
    });
}

} // namespace
} // namespace trencadis::blas
