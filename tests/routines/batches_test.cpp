#include "base/error.hpp"
#include "drivers/alone.hpp"
#include "drivers/linear_algebra.hpp"
#include "kernels/testing/reference.hpp"
#include "session/session.hpp"

#include <gtest/gtest.h>

namespace trencadis {
namespace {

using namespace testing;

Session& native()
{
    static Session session;
    return session;
}

/// `count` matrices of rows x cols with leading dimension ld, `stride` apart, random; a gap of NaN behind each.
template <Scalar T> struct Stack {
    Index rows, cols, ld, stride, count;
    std::vector<T> data;
    Stack(Index rows, Index cols, Index count, Real<T> shift = 0)
        : rows(rows), cols(cols), ld(rows + 2), stride((rows + 2) * cols + 5), count(count),
          data(std::size_t(stride * count + 1), T(std::numeric_limits<Real<T>>::quiet_NaN()))
    {
        for (Index k = 0; k < count; ++k)
            for (Index j = 0; j < cols; ++j)
                for (Index i = 0; i < rows; ++i)
                    at(k)[i + j * ld] = i == j ? T(std::real(random_scalar<T>()) + shift) : random_scalar<T>();
    }
    T* at(Index k) { return data.data() + k * stride; }
};
template <Scalar T> void expect_same(const Stack<T>& a, const Stack<T>& b)
{
    EXPECT_EQ(std::memcmp(a.data.data(), b.data.data(), a.data.size() * sizeof(T)), 0);
}

template <class T> class Batches : public ::testing::Test {
};
using Scalars = ::testing::Types<float, double, std::complex<float>, std::complex<double>>;
TYPED_TEST_SUITE(Batches, Scalars);

/// Random ones with nrhs right sides each, and what all calls make of them.
template <Scalar T> struct Problems {
    Index n, nrhs, count;
    Stack<T> A{n, n, count}, P{n, n, count, Real<T>(2 * n + 2)}, B{n, nrhs, count};
    Stack<T> lu = A, cholesky = P, x = B, y = B; ///< by gesv and by posv
    std::vector<Index> ipiv = integers(n * count), info = integers(2 * count);

    static std::vector<Index> integers(Index size) { return std::vector<Index>(std::size_t(size), -7); }
    void solve(Index first, Index some)
    {
        Index* const infos = info.data() + 2 * first;
        gesv_batch(native(), n, nrhs, lu.at(first), lu.ld, lu.stride, ipiv.data() + first * n, x.at(first), x.ld, x.stride, some,
                   infos);
        posv_batch(native(), Uplo::lower, n, nrhs, cholesky.at(first), cholesky.ld, cholesky.stride, y.at(first), y.ld, y.stride,
                   some, infos + some);
    }
    void solve_alone(Index k)
    {
        const KernelProvider& kernels = native().kernels();
        info[std::size_t(2 * k)] = alone::gesv(kernels, n, nrhs, lu.at(k), lu.ld, ipiv.data() + k * n, x.at(k), x.ld);
        info[std::size_t(2 * k + 1)] = alone::posv(kernels, Uplo::lower, n, nrhs, cholesky.at(k), cholesky.ld, y.at(k), y.ld);
    }
    void factor(Index first, Index some)
    {
        Index* const infos = info.data() + 2 * first;
        getrf_batch(native(), n, n, lu.at(first), lu.ld, lu.stride, ipiv.data() + first * n, some, infos);
        potrf_batch(native(), Uplo::lower, n, cholesky.at(first), cholesky.ld, cholesky.stride, some, infos + some);
    }
    void expect_same_factors(const Problems& other) const
    {
        expect_same(lu, other.lu), expect_same(cholesky, other.cholesky);
        EXPECT_EQ(ipiv, other.ipiv);
        EXPECT_EQ(info, other.info);
    }
};

/// Side by side in vectors or not, on the calling thread or by the workers; n = 0, 1 and others.
constexpr std::pair<Index, Index> shapes[] = {{0, 3},     {1, 2000}, {7, 1},   {7, 0},  {7, 13},
                                              {16, 1200}, {33, 300}, {64, 21}, {70, 40}};

TYPED_TEST(Batches, AreTheSameHoweverTheyAreCut)
{
    using T = TypeParam;
    for (const auto& [n, count] : shapes) {
        SCOPED_TRACE(std::to_string(count) + " of " + std::to_string(n));
        Problems<T> whole{n, 3, count}, cut = whole, factors = whole;
        whole.solve(0, count);
        for (Index k = 0, some = 1; k < count; k += some, some = std::min(3 * some, count - k)) cut.solve(k, some);
        whole.expect_same_factors(cut);
        expect_same(whole.x, cut.x), expect_same(whole.y, cut.y);
        factors.factor(0, count);
        whole.expect_same_factors(factors);
    }
}

/// Beyond those that share vectors.
TYPED_TEST(Batches, OfLargeMatricesAreTheRoutinesOneByOne)
{
    using T = TypeParam;
    Problems<T> whole{70, 3, 40}, apart = whole;
    whole.solve(0, 40);
    for (Index k = 0; k < 40; ++k) apart.solve_alone(k);
    whole.expect_same_factors(apart);
    expect_same(whole.x, apart.x), expect_same(whole.y, apart.y);
}

/// Entry by entry |a - b| <= c n eps |b|_max, with c for what a random matrix of this size makes of rounding errors: growth and
/// condition.
template <Scalar T> void expect_close(const Stack<T>& a, const Stack<T>& b, Real<T> c)
{
    for (Index k = 0; k < a.count; ++k) {
        Real<T> largest = 0, difference = 0;
        for (Index j = 0; j < a.cols; ++j)
            for (Index i = 0; i < a.rows; ++i) {
                const std::size_t at = std::size_t(k * a.stride + j * a.ld + i);
                largest = std::max(largest, std::abs(b.data[at]));
                difference = std::max(difference, std::abs(a.data[at] - b.data[at]));
            }
        ASSERT_LE(difference, c * Real<T>(a.rows) * eps<T> * largest) << "matrix " << k;
    }
}
/// The kernels are tested one by one against bounds (blas/batches/side_by_side_test.cpp); this is what the call does with them.
TYPED_TEST(Batches, OfSmallMatricesAreTheRoutinesUpToRounding)
{
    using T = TypeParam;
    for (const auto& [n, count] : shapes) {
        SCOPED_TRACE(std::to_string(count) + " of " + std::to_string(n));
        Problems<T> whole{n, 3, count}, apart = whole;
        whole.solve(0, count);
        for (Index k = 0; k < count; ++k) apart.solve_alone(k);
        for (Index k = 0; k < count; ++k) EXPECT_EQ(apart.info[std::size_t(2 * k)] + apart.info[std::size_t(2 * k + 1)], 0);
        EXPECT_EQ(whole.info, apart.info);
        expect_close(whole.cholesky, apart.cholesky, 4), expect_close(whole.y, apart.y, 4);
        if (n <= 16 && count < 1000) { // few, and small: conditions stay moderate
            EXPECT_EQ(whole.ipiv, apart.ipiv);
            expect_close(whole.lu, apart.lu, 1000), expect_close(whole.x, apart.x, 1000);
        }
    }
}

TYPED_TEST(Batches, TellOfEachProblemApart)
{
    using T = TypeParam;
    const Index n = 20, count = 500, singular = 321, indefinite = 123;
    Stack<T> A(n, n, count), P(n, n, count, Real<T>(2 * n + 2));
    for (Index i = 0; i < n; ++i) A.at(singular)[i + 4 * A.ld] = T(0);
    P.at(indefinite)[6 + 6 * P.ld] = T(-1);
    std::vector<Index> ipiv(std::size_t(n * count), 0), info(std::size_t(count), 0);
    getrf_batch(native(), n, n, A.data.data(), A.ld, A.stride, ipiv.data(), count, info.data());
    for (Index k = 0; k < count; ++k) EXPECT_EQ(info[std::size_t(k)], k == singular ? 5 : 0);
    potrf_batch(native(), Uplo::upper, n, P.data.data(), P.ld, P.stride, count, info.data());
    for (Index k = 0; k < count; ++k) EXPECT_EQ(info[std::size_t(k)], k == indefinite ? 7 : 0);
}

TEST(BatchArguments, AreNumberedInTheirOrder)
{
    double a[32] = {};
    Index ipiv[8], info[2];
    const auto argument_of = [](const auto& call) {
        try {
            call();
        } catch (const Error& error) {
            return error.argument();
        }
        return 0;
    };
    const auto getrf = [&](Index n, Index stride, Index count, Index* pivots, Index* infos) {
        return argument_of([&] { getrf_batch(native(), n, n, a, Index(4), stride, pivots, count, infos); });
    };
    EXPECT_EQ(getrf(-1, 16, 2, ipiv, info), 1);
    EXPECT_EQ(getrf(4, 15, 2, ipiv, info), 5) << "the second matrix would begin inside the first";
    EXPECT_EQ(getrf(4, 0, 1, ipiv, info), 0) << "there is no second one";
    EXPECT_EQ(getrf(4, Index(1) << 62, 2, ipiv, info), 5);
    EXPECT_EQ(getrf(4, 16, 2, nullptr, info), 6);
    EXPECT_EQ(getrf(4, 16, -1, ipiv, info), 7);
    EXPECT_EQ(getrf(4, 16, 2, ipiv, nullptr), 8);
    EXPECT_EQ(getrf(0, 0, 2, nullptr, info), 0) << "nothing lies anywhere";
    double* const nowhere = nullptr;
    EXPECT_EQ(argument_of([&] {
                  gesv_batch(native(), Index(4), Index(1), nowhere, Index(4), Index(0), nullptr, nowhere, Index(4), Index(0),
                             Index(0), nullptr);
              }),
              0)
        << "there are none";
    EXPECT_EQ(argument_of([&] {
                  posv_batch(native(), Uplo::lower, Index(4), Index(0), a, Index(4), Index(16), nowhere, Index(4), Index(0),
                             Index(2), info);
              }),
              0)
        << "no right sides";
    EXPECT_EQ(argument_of([&] { potrf_batch(native(), Uplo::lower, Index(4), nowhere, Index(3), Index(0), Index(0), info); }), 4)
        << "a leading dimension is looked at all the same";
    EXPECT_EQ(argument_of([&] {
                  gesv_batch(native(), Index(4), Index(4), a, Index(4), Index(16), ipiv, a, Index(4), Index(16), Index(2), info);
              }),
              7)
        << "the right side is the matrix";
}

/// Two problems of order 2 in one array: a right side may lie in any matrix, its own or the other.
TEST(BatchArguments, AreRefusedWhereARightSideLiesInAnyMatrix)
{
    const auto is_refused = [](Index at_a, Index stride_a, Index at_b, Index stride_b) {
        std::vector<double> all(32, 0.0);
        for (const Index i : {Index(0), stride_a}) all[std::size_t(at_a + i)] = all[std::size_t(at_a + i + 3)] = 1;
        Index ipiv[4], info[2];
        const auto is_seventh = [](const auto& call) {
            try {
                call();
            } catch (const Error& error) {
                return error.argument() == 7;
            }
            return false;
        };
        double *const A = all.data() + at_a, *const B = all.data() + at_b;
        const bool general = is_seventh([&] {
            gesv_batch(native(), Index(2), Index(1), A, Index(2), stride_a, ipiv, B, Index(2), stride_b, Index(2), info);
        });
        EXPECT_EQ(general, is_seventh([&] {
                      posv_batch(native(), Uplo::lower, Index(2), Index(1), A, Index(2), stride_a, B, Index(2), stride_b,
                                 Index(2), info);
                  }));
        return general;
    };
    for (const Index at : {0, 2, 4, 6}) EXPECT_TRUE(is_refused(0, 4, at, 2)) << at << ": the matrices have eight elements";
    EXPECT_FALSE(is_refused(0, 4, 8, 2));
    EXPECT_TRUE(is_refused(4, 4, 0, 4)) << "the second right side is in the first matrix";
    EXPECT_TRUE(is_refused(4, 6, 0, 6)) << "records, and the second right side is in the first matrix";
    EXPECT_TRUE(is_refused(0, 6, 6, 6)) << "the first right side is in the second matrix";
    EXPECT_FALSE(is_refused(0, 6, 4, 6)) << "records of a matrix and its right side";
    EXPECT_FALSE(is_refused(2, 6, 0, 6)) << "and the other way round";
    EXPECT_FALSE(is_refused(4, 4, 0, 2)) << "all right sides before all matrices";
}

} // namespace
} // namespace trencadis
