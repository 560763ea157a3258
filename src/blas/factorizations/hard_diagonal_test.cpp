#include "blas/level3/level3.hpp"

#include "blas/testing/reference.hpp"

namespace trencadis::blas {
namespace {

using namespace testing;

template <class T> class HardDiagonal : public ::testing::Test {
public:
    using R = Real<T>;
    static constexpr R tiny = std::numeric_limits<R>::min(), huge = std::numeric_limits<R>::max();
    /// 1 / d overflows, or is subnormal.
    static std::vector<T> values()
    {
        const R least = std::numeric_limits<R>::denorm_min();
        std::vector<T> all{T(tiny / 8), T(-tiny / 64), T(least * 3), T(huge / 2)};
        if constexpr (is_complex<T>) {
            all.push_back({0, -tiny / 8});
            all.push_back({tiny / 16, least});
            all.push_back({huge / 4, -huge / 8});
        }
        return all;
    }
};
using Scalars = ::testing::Types<float, double, std::complex<float>, std::complex<double>>;
TYPED_TEST_SUITE(HardDiagonal, Scalars);

/// Unknown `at` stands alone in its equation: x = b / d. The other unknowns are as with a diagonal of one there.
TYPED_TEST(HardDiagonal, IsDividedByWhereItsInverseIsNoNormalNumber)
{
    using T = TypeParam;
    using R = Real<T>;
    Random random(77);
    for_all_setups([&](const std::string& where) {
        for (const T d : this->values())
            for (const Index n : {1, 5, 9, 30})
                for (const bool left : {false, true}) {
                    const Uplo uplo = random.uplo();
                    const Op op = random.op();
                    const Index at = random.below(n), others = 13;
                    auto A = random_triangle<T>(random, uplo, n);
                    for (Index i = 0; i < n; ++i) {
                        A(i, i) = T(R(2 * n));
                        (in_part(uplo, i, at) ? A(i, at) : A(at, i)) = T(i == at);
                    }
                    auto B = random_matrix<T>(random, left ? n : others, left ? others : n);
                    const auto line = [&](Stored<T>& X, Index i) -> T& { return left ? X(at, i) : X(i, at); };
                    const R scale = std::real(std::abs(Wide<T>(d))) < 1 ? TestFixture::tiny : TestFixture::huge / 8;
                    for (Index i = 0; i < others; ++i) line(B, i) *= scale;
                    auto X = B, as_with_one = B;
                    const Side side = left ? Side::left : Side::right;
                    const auto solve = [&](Stored<T>& Y) {
                        trsm(side, uplo, op, Diag::non_unit, Y.rows, Y.cols, T(1), A.data.data(), A.ld, Y.data.data(), Y.ld);
                    };
                    solve(as_with_one);
                    A(at, at) = d;
                    solve(X);
                    const T seen = op == Op::conj_trans ? conjugate(d) : d;
                    for (Index i = 0; i < others; ++i) {
                        const Wide<T> exact = Wide<T>(line(B, i)) / Wide<T>(seen);
                        const long double error = std::abs(Wide<T>(line(X, i)) - exact);
                        ASSERT_LE(error, 4 * rounding<T> * eps<T> * std::abs(exact))
                            << where << " n = " << n << " d = " << d << ": " << line(X, i) << " for " << line(B, i);
                        line(X, i) = line(as_with_one, i);
                    }
                    ASSERT_EQ(std::memcmp(X.data.data(), as_with_one.data.data(), X.data.size() * sizeof(T)), 0) << where;
                }
    });
}

} // namespace
} // namespace trencadis::blas
