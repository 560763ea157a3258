#include "algorithms/tall_qr.hpp"

#include "blas/factorizations/qr.hpp"
#include "kernels/testing/in_order.hpp"
#include "kernels/testing/qr.hpp"

namespace trencadis {
namespace {

using namespace testing;

template <class T> class TallMatrices : public ::testing::Test {
};
using Scalars = ::testing::Types<float, double, std::complex<float>, std::complex<double>>;
TYPED_TEST_SUITE(TallMatrices, Scalars);

template <Scalar T> struct Factored {
    Dense<T> F;
    std::vector<T> tau;
    bool done;

    Factored(const Dense<T>& A, Index blocks, const KernelProvider& kernels = load_kernels("native"),
             IllConditioned ill = IllConditioned::factored)
        : F(A), tau(std::size_t(A.cols))
    {
        TallQr<T> call(A.rows, A.cols, F.data.data(), F.ld, tau.data(), blocks, ill);
        InOrder executor(&kernels, 1);
        TaskFlow flow(executor);
        call.submit(flow);
        flow.wait();
        done = call.done();
    }
    /// As LAPACK's orgqr makes it of V and tau.
    Dense<T> q() const
    {
        Dense<T> Q = F;
        blas::orgqr(Q.rows, Q.cols, Q.cols, Q.data.data(), Q.ld, tau.data());
        return Q;
    }
};

template <Scalar T> void expect_tall_qr(const Dense<T>& A, const Factored<T>& factored, const std::string& where)
{
    ASSERT_TRUE(factored.done) << where;
    const Dense<T> Q = factored.q();
    expect_orthonormal(Q, where);
    expect_qr_product(A, Q, factored.F, where);
    expect_untouched(A, factored.F, [](Index, Index) { return true; });
    for (Index j = 0; j < A.cols; ++j) EXPECT_EQ(std::imag(factored.F(j, j)), 0) << where;
}
std::string shape(Index m, Index n, Index blocks)
{
    return std::to_string(m) + " x " + std::to_string(n) + " in " + std::to_string(blocks) + " blocks";
}

TYPED_TEST(TallMatrices, AreFactoredInAnyNumberOfBlocks)
{
    using T = TypeParam;
    for (const Index n : {1, 2, 5, 16, 33})
        for (const Index blocks : {1, 2, 3, 4, 7, 8})
            for (const Index m : {blocks * n, blocks * n + 1, 9 * blocks * n + 3}) {
                const Dense<T> A = random_matrix<T>(m, n);
                expect_tall_qr(A, Factored<T>(A, blocks), shape(m, n, blocks));
                if (this->HasFatalFailure()) return;
            }
}
TYPED_TEST(TallMatrices, HaveTheFactorsOfLapack)
{
    using T = TypeParam;
    constexpr Index m = 700, n = 12;
    const Dense<T> A = random_matrix<T>(m, n);
    const Factored<T> factored(A, 5);
    Dense<T> wanted = A;
    std::vector<T> tau(n);
    blas::geqrf(m, n, wanted.data.data(), wanted.ld, tau.data(), static_cast<T*>(nullptr), Index(1));
    // Well-conditioned, so that R and V are what they are up to a few roundings of numbers of the columns' size.
    for (Index j = 0; j < n; ++j) {
        ASSERT_LE(std::abs(factored.tau[std::size_t(j)] - tau[std::size_t(j)]), 1000 * eps<T>);
        for (Index i = 0; i < m; ++i) ASSERT_LE(std::abs(factored.F(i, j) - wanted(i, j)), 1000 * eps<T>) << i << ", " << j;
    }
}
TYPED_TEST(TallMatrices, AreFactoredWithEveryProvider)
{
    using T = TypeParam;
    for (const KernelProvider* kernels : providers()) {
        const Dense<T> A = random_matrix<T>(500, 70);
        expect_tall_qr(A, Factored<T>(A, 3, *kernels), kernels->name());
    }
}
/// Neither a Gram matrix nor signs see these as they are.
TYPED_TEST(TallMatrices, MayBeIllConditioned)
{
    using T = TypeParam;
    const bool wide = sizeof(Real<T>) == 8;
    for (const double condition : {1e2, 1e4, 1e6, 1e10, 1e15}) {
        if (condition > 1e6 && !wide) continue;
        const Dense<T> A = ill_conditioned_matrix<T>(600, 14, Real<T>(condition));
        expect_tall_qr(A, Factored<T>(A, 4), "condition " + std::to_string(condition));
    }
}
TYPED_TEST(TallMatrices, MayHaveBlocksOfWhichSomeAreGood)
{
    using T = TypeParam;
    for (const Index bad : {0, 1, 3}) { // of four blocks
        Dense<T> A = random_matrix<T>(800, 11);
        for (Index i = 200 * bad; i < 200 * (bad + 1); ++i) A(i, 4) = A(i, 3), A(i, 7) = T(0);
        expect_tall_qr(A, Factored<T>(A, 4), "block " + std::to_string(bad));
    }
}
TYPED_TEST(TallMatrices, AreLeftWhereManyBlocksNeedReflectors)
{
    using T = TypeParam;
    Dense<T> A = random_matrix<T>(900, 6);
    for (Index i = 0; i < 100; ++i) A(i, 2) = A(i, 1); // a block of nine
    const KernelProvider& kernels = load_kernels("native");
    expect_tall_qr(A, Factored<T>(A, 9, kernels, IllConditioned::left), "one block of nine");
    for (Index i = 800; i < 900; ++i) A(i, 2) = A(i, 1);
    const Factored<T> left(A, 9, kernels, IllConditioned::left);
    EXPECT_FALSE(left.done);
    expect_same_bits(A, left.F);
}
TYPED_TEST(TallMatrices, MayBeDeficientOrZero)
{
    using T = TypeParam;
    Dense<T> A = random_matrix<T>(300, 9);
    for (Index i = 0; i < 300; ++i) A(i, 0) = A(i, 5) = T(0), A(i, 7) = A(i, 6), A(i, 8) = A(i, 1) + A(i, 2);
    expect_tall_qr(A, Factored<T>(A, 3), "deficient");
    for (Index j = 0; j < 9; ++j)
        for (Index i = 0; i < 300; ++i) A(i, j) = T(0);
    expect_tall_qr(A, Factored<T>(A, 3), "zero");
    for (Index j = 0; j < 9; ++j) A(j, j) = T(1);
    expect_tall_qr(A, Factored<T>(A, 3), "identity");
    for (Index j = 0; j < 9; ++j) A(j, j) = T(-1);
    expect_tall_qr(A, Factored<T>(A, 3), "minus identity");
    for (Index j = 0; j < 9; ++j) A(j, j) = T(0), A(299 - j, j) = T(1);
    expect_tall_qr(A, Factored<T>(A, 3), "identity at the bottom");
}
TYPED_TEST(TallMatrices, MayBeOfAnyScale)
{
    using T = TypeParam;
    using Limits = std::numeric_limits<Real<T>>;
    for (const Real<T> scale : {Limits::max() / 1000, std::sqrt(Limits::max()), std::sqrt(Limits::min()), Limits::min() * 1000}) {
        Dense<T> A = random_matrix<T>(400, 8);
        for (Index j = 0; j < 8; ++j)
            for (Index i = 0; i < 400; ++i) A(i, j) *= scale;
        expect_tall_qr(A, Factored<T>(A, 4), "scale " + std::to_string(std::log10(scale)));
    }
    Dense<T> A = random_matrix<T>(400, 8); // each column its own
    for (Index j = 0; j < 8; ++j)
        for (Index i = 0; i < 400; ++i) A(i, j) *= std::pow(Real<T>(10), Real<T>(4 * j - 16));
    expect_tall_qr(A, Factored<T>(A, 4), "columns of different size");
}
TYPED_TEST(TallMatrices, StayAsTheyAreWithNoNumbers)
{
    using T = TypeParam;
    using Limits = std::numeric_limits<Real<T>>;
    for (const Real<T> bad : {Limits::quiet_NaN(), Limits::infinity(), -Limits::infinity()})
        for (const Index i : {0, 39, 40, 79, 119})
            for (const Index j : {0, 3, 5}) {
                Dense<T> A = random_matrix<T>(120, 6);
                for (Index r = 40; r < 80; ++r) A(r, 2) = A(r, 1); // a block that would be factored in place
                A(i, j) = T(bad);
                const Factored<T> factored(A, 3);
                EXPECT_FALSE(factored.done);
                expect_same_bits(A, factored.F);
            }
}
TYPED_TEST(TallMatrices, AreCutIntoBlocksOfManyRows)
{
    using T = TypeParam;
    EXPECT_TRUE(TallQr<T>::suits(100000, 200));
    EXPECT_TRUE(TallQr<T>::suits(1000000, 16));
    EXPECT_FALSE(TallQr<T>::suits(1000, 16));
    EXPECT_FALSE(TallQr<T>::suits(5000, 200));
    EXPECT_FALSE(TallQr<T>::suits(5000, 0));
    const Dense<T> A = random_matrix<T>(10000, 21); // more than one piece of rows in a block
    expect_tall_qr(A, Factored<T>(A, 0), "10000 x 21");
}

} // namespace
} // namespace trencadis
