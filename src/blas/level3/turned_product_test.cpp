#include "blas/level3/turned_product.hpp"

#include "blas/testing/reference.hpp"

#include <array>
#include <cstring>

namespace trencadis::blas {
namespace {

using namespace testing;

template <class T> class TurnedProducts : public ::testing::Test {
protected:
    Random random{93};

    /// Those of the same product whose A lies by columns. C's padding is NaN, and all of it where it is not read.
    void expect_bits_of_columns(Index m, Index n, Index k, Op op_b, T beta)
    {
        auto A = random_matrix<T>(random, k, m), by_columns = random_matrix<T>(random, m, k), C = random_matrix<T>(random, m, n);
        const auto B = op_b == Op::none ? random_matrix<T>(random, k, n) : random_matrix<T>(random, n, k);
        for (Index p = 0; p < k; ++p)
            for (Index i = 0; i < m; ++i) by_columns.data[i + p * by_columns.ld] = A.data[p + i * A.ld];
        if (beta == T(0)) std::fill(C.data.begin(), C.data.end(), T(NAN));
        auto wanted = C;
        Product<T> x{m,
                     n,
                     k,
                     T(1.5),
                     general(by_columns.data.data(), by_columns.ld),
                     general(B.data.data(), B.ld, op_b),
                     beta,
                     wanted.data.data(),
                     1,
                     wanted.ld};
        EXPECT_FALSE(is_turned(x));
        multiply(x);
        x.A = general(A.data.data(), A.ld, Op::trans);
        x.C = C.data.data();
        ASSERT_TRUE(multiply_turned(x, setup<T>()));
        EXPECT_EQ(std::memcmp(wanted.data.data(), C.data.data(), C.data.size() * sizeof(T)), 0) << m << " x " << n << " x " << k;
    }
};
using Reals = ::testing::Types<float, double>;
TYPED_TEST_SUITE(TurnedProducts, Reals);

/// Less and more than one piece of rows, the last one shorter or not.
TYPED_TEST(TurnedProducts, HaveTheBitsOfAnAByColumns)
{
    using T = TypeParam;
    for (const auto& [m, n, k] :
         {std::array<Index, 3>{192, 5, 192}, {512, 64, 300}, {1100, 17, 700}, {200, 33, 1000}, {1030, 9, 193}})
        for (const Op op_b : {Op::none, Op::trans})
            for (const T beta : {T(0), T(1), T(0.75)}) this->expect_bits_of_columns(m, n, k, op_b, beta);
}

TEST(TurnedProduct, IsNoneOfManyColumnsOrFewRowsOrOfStructure)
{
    double x = 0;
    const Product<double> turned{192, 64, 192, 1.0, general(&x, Index(192), Op::trans), general(&x, Index(192)), 0.0, &x, 1, 192};
    EXPECT_TRUE(is_turned(turned));
    const auto with = [&](const auto& change) {
        Product<double> other = turned;
        change(other);
        return is_turned(other);
    };
    EXPECT_FALSE(with([](auto& other) { other.n = 65; }));
    EXPECT_FALSE(with([](auto& other) { other.n = 4; }));
    EXPECT_FALSE(with([](auto& other) { other.m = 191; }));
    EXPECT_FALSE(with([](auto& other) { other.k = 191; }));
    EXPECT_FALSE(with([](auto& other) { other.alpha = 0; }));
    EXPECT_FALSE(with([](auto& other) { other.part = Part::lower; }));
    EXPECT_FALSE(with([](auto& other) { other.B.structure = Structure::symmetric; }));
    EXPECT_FALSE(with([](auto& other) { std::swap(other.rs, other.cs); }));
}

} // namespace
} // namespace trencadis::blas
