#include "drivers/row_block.hpp"

#include "kernels/testing/reference.hpp"

#include <gtest/gtest.h>

namespace trencadis {
namespace {

using namespace testing;

template <class T> class RowBlocks : public ::testing::Test {
protected:
    static constexpr Index n = 300; // two whole blocks and a part of one
    using Shape = Region::Shape;

    /// Of the whole matrix, where a Hermitian one is given by a triangle; what is not stored is no number.
    static T meant(const Dense<T>& A, Shape shape, Index i, Index j)
    {
        if (shape == Shape::all) return A(i, j);
        if (i == j) return T(std::real(A(i, i)));
        return (shape == Shape::lower) == (i > j) ? A(i, j) : conjugate(A(j, i));
    }
    static Dense<T> stored(Shape shape)
    {
        if (shape == Shape::all) return random_matrix<T>(n, n);
        return random_triangle<T>(shape == Shape::lower ? Uplo::lower : Uplo::upper, n, 0);
    }
    template <class Each> static void each(Shape shape, const Dense<T>& A, const Each& each)
    {
        for (Index b = 0; b < RowBlock<T>::count(n); ++b) each(RowBlock<T>(shape, n, A.data.data(), A.ld, b));
    }
    static constexpr Shape shapes[] = {Shape::all, Shape::lower, Shape::upper};
};
using Scalars = ::testing::Types<double, std::complex<double>>;
TYPED_TEST_SUITE(RowBlocks, Scalars);

TYPED_TEST(RowBlocks, OfAProductAreItsRows)
{
    using T = TypeParam;
    const Index n = this->n;
    for (const auto shape : this->shapes) {
        const Dense<T> A = this->stored(shape), x = random_matrix<T>(n, 1), r0 = random_matrix<T>(n, 1);
        Dense<T> r = r0;
        this->each(shape, A, [&](const RowBlock<T>& rows) { rows.subtract_product(x.data.data(), r.data.data()); });
        for (Index i = 0; i < n; ++i) {
            Sum<T> sum;
            for (Index j = 0; j < n; ++j) sum.add(this->meant(A, shape, i, j), x(j, 0));
            ASSERT_LE(std::abs(Wide<T>(r0(i, 0)) - sum.value - Wide<T>(r(i, 0))), double(n) * eps<T> * (sum.magnitude + 2))
                << int(shape) << " row " << i;
        }
    }
}

TYPED_TEST(RowBlocks, OfModuliAreThoseOfTheWholeMatrixAndShowWhatIsStoredOnce)
{
    using T = TypeParam;
    const Index n = this->n;
    for (const auto shape : this->shapes) {
        const Dense<T> A = this->stored(shape);
        std::vector<int> seen(std::size_t(n * n));
        this->each(shape, A, [&](const RowBlock<T>& rows) {
            Real<T> sums[RowBlock<T>::largest_height];
            rows.sum_moduli(sums, [&](Index j, Index begin, Index end) {
                for (Index i = begin; i < end; ++i) ++seen[std::size_t(i + j * n)];
            });
            for (Index i = 0; i < rows.height(); ++i) {
                Real<T> sum = 0;
                for (Index j = 0; j < n; ++j) sum += std::abs(this->meant(A, shape, rows.first() + i, j));
                ASSERT_NEAR(sums[i], sum, 1e-12 * sum) << int(shape) << " row " << rows.first() + i;
            }
        });
        for (Index j = 0; j < n; ++j)
            for (Index i = 0; i < n; ++i) {
                const bool there =
                    shape == Region::Shape::all || in_triangle(shape == Region::Shape::lower ? Uplo::lower : Uplo::upper, i, j);
                ASSERT_EQ(seen[std::size_t(i + j * n)], int(there)) << int(shape) << " at " << i << ", " << j;
            }
    }
}

} // namespace
} // namespace trencadis
