#include "blas/level3/past_triangle.hpp"
#include "blas/testing/framed.hpp"
#include "blas/testing/images.hpp"
#include "blas/testing/reference.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <complex>
#include <cstring>
#include <limits>
#include <vector>

namespace trencadis::blas {
namespace {

using testing::Image;
using testing::Random;

template <class T> class PastTriangle : public ::testing::Test {
public:
    static std::vector<T> matrix(Random& random, Index elements)
    {
        std::vector<T> A(elements);
        for (T& x : A) x = random.template number<T>();
        return A;
    }
    /// An upper one whose inverse is small.
    static std::vector<T> triangle(Random& random, Index n)
    {
        auto U = matrix(random, n * n);
        for (Index i = 0; i < n; ++i) U[i + i * n] += T(Real<T>(2 * n));
        return U;
    }
    static Operand<T> upper(const std::vector<T>& U, Index n)
    {
        Operand<T> operand = general(U.data(), n);
        operand.structure = Structure::triangular;
        operand.uplo = Uplo::upper;
        return operand;
    }
};
using Scalars = ::testing::Types<float, double, std::complex<float>, std::complex<double>>;
TYPED_TEST_SUITE(PastTriangle, Scalars);

/// Where columns of B are contiguous, where rows are, and where they are backwards: the bits of a solve that packs it first. What
/// lies between is not touched, and X is what was packed.
TYPED_TEST(PastTriangle, SolveWhereItLiesAsPacked)
{
    using T = TypeParam;
    Random random(24);
    for (const InstructionSet* set : instruction_set_entries()) {
        const MicroKernel<T>& kernel = set->micro_kernel<T>();
        if (!set->runs_here() || !kernel.solve_in_place) continue;
        for (Index n = 1; n <= 3 * kernel.nr; ++n)
            for (int way = 0; way < 3; ++way) {
                const Index m = random.between(1, 2 * kernel.mr + 1), ld = (way == 0 ? m : n) + random.between(0, 3);
                const Index rs = way == 0 ? 1 : ld, cs = way == 0 ? ld : way == 1 ? 1 : -1, first = way == 2 ? n - 1 : 0;
                if (!moves_in_place(kernel, rs, cs)) continue;
                const auto U = TestFixture::triangle(random, n);
                Image<Real<T>> packed(kernel.left_size(m, n)), X(kernel.left_size(m, n)), triangle(triangle_size(kernel, n));
                pack_triangle(kernel, TestFixture::upper(U, n), n, triangle.data);
                auto B = TestFixture::matrix(random, ld * std::max(m, n)), expected = B;
                T *const in_place = B.data() + first, *const at = expected.data() + first;
                pack_left(kernel, Operand<T>{at, rs, cs}, m, n, packed.data);
                solve_packed(kernel, packed.data, m, 0, m, n, triangle.data);
                unpack_left(kernel, packed.data, m, n, at, rs, cs);
                for (Index i = 0; i < m; i += kernel.mr) {
                    const TrianglePanels panels{n, kernel.nr};
                    for (Index j = 0; j < panels.count(); ++j) {
                        solve_step(kernel, panels.first(j), panels.cols(j), triangle.data + panels.numbers_before(j),
                                   X.data + i * n, kernel.height(m - i), std::min(kernel.mr, m - i), in_place + i * rs, rs, cs,
                                   random.below(2) ? in_place : nullptr);
                    }
                }
                ASSERT_EQ(B, expected) << set->name << ' ' << m << ' ' << n << ' ' << way;
                for (Index i = 0; i < m * n; ++i)
                    ASSERT_EQ(X.data[i], packed.data[i]) << set->name << ' ' << m << ' ' << n << ' ' << way;
            }
    }
}

/// Columns forwards and backwards, whole vectors of rows, and B the last that may be read: the bits of what goes by an image.
/// What is between the columns is neither read nor written.
template <class T> void expect_same_without_image(const MicroKernel<T>& kernel, Index n, bool backwards, Random& random)
{
    using Test = PastTriangle<T>;
    const Index m = kernel.step * random.between(1, 2 * kernel.mr / kernel.step + 1), ld = m + random.between(0, 3),
                cs = backwards ? -ld : ld, first = backwards ? (n - 1) * ld : 0, size = ld * (n - 1) + m;
    const auto U = Test::triangle(random, n);
    const T alpha = random.below(2) ? T(1) : random.template number<T>();
    testing::Guarded<T> solved(size), product(size);
    for (Index i = 0; i < size; ++i)
        solved[i] = product[i] = i % ld < m ? random.template number<T>() : std::numeric_limits<Real<T>>::quiet_NaN();
    const std::vector<T> before(solved.all().begin(), solved.all().end());
    Image<Real<T>> X(kernel.left_size(m, n)), triangle(triangle_size(kernel, n)), factor(triangle_size(kernel, n));
    pack_triangle(kernel, Test::upper(U, n), n, triangle.data);
    pack_factor(kernel, Test::upper(U, n), n, factor.data);

    solve_without_image(kernel, m, n, triangle.data, solved.all().data() + first, cs);
    multiply_without_image(kernel, m, n, factor.data, alpha, product.all().data() + first, cs);

    const auto same = [](const T& a, const T& b) { return std::memcmp(&a, &b, sizeof(T)) == 0; };
    std::vector<T> expected = before;
    pack_left(kernel, Operand<T>{before.data() + first, 1, cs}, m, n, X.data);
    const TrianglePanels panels{n, kernel.nr};
    for (Index i = 0; i < m; i += kernel.mr)
        for (Index j = 0; j < panels.count(); ++j)
            multiply_step(kernel, panels.first(j), panels.cols(j), factor.data + panels.numbers_before(j), X.data + i * n,
                          kernel.height(m - i), std::min(kernel.mr, m - i), alpha, expected.data() + first + i, 1, cs);
    ASSERT_TRUE(std::equal(expected.begin(), expected.end(), product.all().begin(), same)) << "product " << m << ' ' << n;
    expected = before;
    solve_packed(kernel, X.data, m, 0, m, n, triangle.data);
    unpack_left(kernel, X.data, m, n, expected.data() + first, 1, cs);
    ASSERT_TRUE(std::equal(expected.begin(), expected.end(), solved.all().begin(), same)) << "solve " << m << ' ' << n;
}
TYPED_TEST(PastTriangle, WithoutImageAsWithOne)
{
    using T = TypeParam;
    Random random(25);
    for (const InstructionSet* set : instruction_set_entries()) {
        const MicroKernel<T>& kernel = set->micro_kernel<T>();
        if (!set->runs_here() || !kernel.solve_in_place) continue;
        SCOPED_TRACE(set->name);
        for (const bool backwards : {false, true})
            for (Index n = 1; n <= 5 * kernel.nr && !this->HasFatalFailure(); ++n)
                expect_same_without_image(kernel, n, backwards, random);
    }
}

/// Not where the first cache does not hold a panel of B: too many columns, or some that share its sets.
TYPED_TEST(PastTriangle, ImagesWhereColumnsAreManyOrFarApart)
{
    using T = TypeParam;
    const MicroKernel<T>& kernel = micro_kernel<T>();
    if (!kernel.solve_in_place) return;
    const Index kc = 256, rows = 10 * kernel.mr, most = kc * kernel.nr / kernel.mr, page = 4096 / Index(sizeof(T));
    const auto alone = [&](Index n, Index rs, Index cs) { return rows_without_image(kernel, kc, rows, n, rs, cs); };
    const Index alike = kc * kernel.nr * Index(sizeof(T)) * 4 / 3 / 4096; // columns
    EXPECT_EQ(alone(most, 1, 1001), rows);
    EXPECT_EQ(alone(most + 1, 1, 1001), 0);
    EXPECT_EQ(alone(8, 1001, 1), 0);
    EXPECT_EQ(alone(alike, 1, page), rows);
    EXPECT_EQ(alone(alike + 1, 1, page), 0);
    EXPECT_EQ(alone(alike + 1, 1, -3 * page), 0);
    EXPECT_EQ(alone(alike + 1, 1, page + 64), rows);
    EXPECT_EQ(rows_without_image(kernel, kc, rows + kernel.step, 8, 1, 1001), rows + kernel.step);
    EXPECT_EQ(rows_without_image(kernel, kc, rows + kernel.step / 2, 8, 1, 1001), rows);
}

} // namespace
} // namespace trencadis::blas
