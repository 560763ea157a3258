#include "base/error.hpp"
#include "kernels/testing/reference.hpp"
#include "session/alone.hpp"
#include "session/linear_algebra.hpp"
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

/// One that is computed on the calling thread, and enough of them for the workers; n = 0, 1 and others.
constexpr std::pair<Index, Index> shapes[] = {{0, 3}, {1, 2000}, {7, 1}, {7, 0}, {16, 1200}, {33, 300}};

TYPED_TEST(Batches, AreTheRoutinesOneByOne)
{
    using T = TypeParam;
    const KernelProvider& kernels = native().kernels();
    for (const auto& [n, count] : shapes) {
        SCOPED_TRACE(std::to_string(count) + " of " + std::to_string(n));
        const Index nrhs = 3;
        const Stack<T> A(n, n, count), P(n, n, count, Real<T>(2 * n + 2)), B(n, nrhs, count);
        Stack<T> a = A, a1 = A, p = P, p1 = P, b = B, b1 = B, c = B, c1 = B;
        std::vector<Index> ipiv(std::size_t(n * count)), ipiv1 = ipiv, info(std::size_t(count), -7), info1 = info;
        gesv_batch(native(), n, nrhs, a.data.data(), a.ld, a.stride, ipiv.data(), b.data.data(), b.ld, b.stride, count,
                   info.data());
        for (Index k = 0; k < count; ++k)
            info1[std::size_t(k)] = alone::gesv(kernels, n, nrhs, a1.at(k), a.ld, ipiv1.data() + k * n, b1.at(k), b.ld);
        expect_same(a, a1), expect_same(b, b1);
        EXPECT_EQ(ipiv, ipiv1);
        EXPECT_EQ(info, info1);
        posv_batch(native(), Uplo::lower, n, nrhs, p.data.data(), p.ld, p.stride, c.data.data(), c.ld, c.stride, count,
                   info.data());
        for (Index k = 0; k < count; ++k)
            info1[std::size_t(k)] = alone::posv(kernels, Uplo::lower, n, nrhs, p1.at(k), p.ld, c1.at(k), c.ld);
        expect_same(p, p1), expect_same(c, c1);
        EXPECT_EQ(info, info1);
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
    EXPECT_EQ(argument_of([&] {
                  gesv_batch(native(), Index(4), Index(4), a, Index(4), Index(16), ipiv, a, Index(4), Index(16), Index(2), info);
              }),
              7)
        << "the right side is the matrix";
}

} // namespace
} // namespace trencadis
