#include "blas/factorizations/pivoted_qr.hpp"

#include "blas/testing/reflectors.hpp"

#include <numeric>
#include <thread>

namespace trencadis::blas {
namespace {

using namespace testing;

template <class T> class PivotedQr : public ::testing::Test {
};
using Scalars = ::testing::Types<float, double, std::complex<float>, std::complex<double>>;
TYPED_TEST_SUITE(PivotedQr, Scalars);

template <Scalar T> struct Factored {
    Stored<T> A;
    std::vector<Index> order;
    std::vector<T> tau;
};
template <Scalar T> Factored<T> factored(const Stored<T>& A, std::vector<Index> order = {})
{
    Factored<T> made{A, std::move(order), std::vector<T>(std::size_t(std::min(A.rows, A.cols)))};
    made.order.resize(std::size_t(A.cols));
    geqp3(A.rows, A.cols, made.A.data.data(), A.ld, made.order.data(), made.tau.data());
    return made;
}
/// With blocks of so many columns; 0: without memory.
template <Scalar T> Factored<T> factored_by_blocks(const Stored<T>& A, Index block, const PivotingHelp<T>& help = {})
{
    Factored<T> made{A, std::vector<Index>(std::size_t(A.cols)), std::vector<T>(std::size_t(std::min(A.rows, A.cols)))};
    std::iota(made.order.begin(), made.order.end(), 1);
    const PivotingRoom<T> room(A.cols, block);
    factor_free_columns(A.rows, A.cols, 0, made.A.data.data(), A.ld, made.order.data(), made.tau.data(), room, help);
    return made;
}

template <Scalar T> void expect_order(const Factored<T>& f, const std::string& what)
{
    std::vector<Index> sorted = f.order, all(f.order.size());
    std::sort(sorted.begin(), sorted.end());
    std::iota(all.begin(), all.end(), 1);
    ASSERT_EQ(sorted, all) << what;
}
template <Scalar T> Stored<T> exchanged(const Stored<T>& A, const std::vector<Index>& order)
{
    Stored<T> B = A;
    for (Index j = 0; j < A.cols; ++j)
        for (Index i = 0; i < A.rows; ++i) B(i, j) = A(i, order[std::size_t(j)] - 1);
    return B;
}
/// The square of what column l has in the rows j .. of R.
template <Scalar T> long double rest(const Stored<T>& A, Index j, Index l)
{
    long double squares = 0;
    for (Index i = j; i <= std::min(l, A.rows - 1); ++i) squares += std::norm(std::complex<long double>(A(i, l)));
    return squares;
}
/// No column behind is longer than the one that was chosen: by more than norms may be off that are found anew where sqrt(eps) of
/// their squares is left (Drmac, Bujanovic 2008), and by rounding errors of the whole.
template <Scalar T> void expect_longest_first(const Factored<T>& f, Index from, const std::string& what)
{
    const Index k = std::min(f.A.rows, f.A.cols);
    const long double noise = 100 * f.A.rows * eps<T> * (k > from ? std::abs(Wide<T>(f.A(from, from))) : 0);
    for (Index j = from; j < k; ++j)
        for (Index l = j + 1; l < f.A.cols; ++l)
            ASSERT_LE(std::sqrt(rest(f.A, j, l)),
                      std::sqrt(rest(f.A, j, j)) * (1 + 100 * f.A.rows * std::sqrt((long double)eps<T>)) + noise)
                << what << ": column " << l << " in step " << j;
}
template <Scalar T> void expect_factored(const Stored<T>& A, const Factored<T>& f, const std::string& what, Index fixed = 0)
{
    expect_order(f, what);
    if (::testing::Test::HasFatalFailure()) return;
    expect_qr(exchanged(A, f.order), f.A, f.tau, what);
    if (::testing::Test::HasFatalFailure()) return;
    expect_longest_first(f, std::min(A.rows, fixed), what);
}

struct Shape {
    Index m, n;
};
const std::vector<Shape> shapes = {{0, 0}, {0, 3},   {3, 0},   {1, 1},   {1, 5},    {5, 1},    {3, 3},    {9, 8},
                                   {8, 9}, {33, 31}, {31, 33}, {65, 40}, {40, 100}, {150, 90}, {100, 130}};
template <Scalar T> Stored<T> graded(Random& random, Index m, Index n)
{
    auto A = random_matrix<T>(random, m, n);
    for (Index j = 0; j < n; ++j)
        for (Index i = 0; i < m; ++i) A(i, j) *= Real<T>(std::pow(0.8, (7 * j) % (n + 1)));
    return A;
}

TYPED_TEST(PivotedQr, FactorsEveryShapeWithTheLongestColumnFirst)
{
    using T = TypeParam;
    Random random(51);
    for_all_setups([&](const std::string& where) {
        for (const Shape s : shapes) {
            const std::string what = where + " " + std::to_string(s.m) + " x " + std::to_string(s.n);
            for (const auto& A : {random_matrix<T>(random, s.m, s.n), graded<T>(random, s.m, s.n)})
                expect_factored(A, factored(A), what);
            if (::testing::Test::HasFatalFailure()) return;
        }
    });
}

/// What LAPACK does, column by column with exact numbers: which column comes next.
template <Scalar T> std::vector<Index> exact_order(const Stored<T>& A)
{
    Exact<T> B = exact(A);
    std::vector<Index> order(std::size_t(A.cols));
    std::iota(order.begin(), order.end(), 1);
    for (Index j = 0; j < std::min(A.rows, A.cols); ++j) {
        const auto length = [&](Index l) {
            long double squares = 0;
            for (Index i = j; i < A.rows; ++i) squares += std::norm(std::complex<long double>(B(i, l)));
            return squares;
        };
        Index best = j;
        for (Index l = j + 1; l < A.cols; ++l)
            if (length(l) > length(best)) best = l;
        std::swap(order[std::size_t(j)], order[std::size_t(best)]);
        for (Index i = 0; i < A.rows; ++i) std::swap(B(i, j), B(i, best));
        const long double norm = std::sqrt(length(j));
        if (norm == 0) continue;
        // Gram and Schmidt's projection of what is right of it: the same lengths.
        for (Index l = j + 1; l < A.cols; ++l) {
            Wide<T> sum = 0;
            for (Index i = j; i < A.rows; ++i) sum += times(wide_conjugate<T>(B(i, j)), B(i, l));
            const Wide<T> corner = B(j, j), size = std::abs(corner) == 0 ? Wide<T>(1) : corner / std::abs(corner);
            // The reflector that takes the column to -size norm e_1.
            const Wide<T> first = corner + size * norm;
            const Wide<T> dot = sum + wide_conjugate<T>(size) * norm * B(j, l);
            const Wide<T> scale = Wide<T>(1) / (norm * (norm + std::abs(corner)));
            B(j, l) -= times(times(first, scale), dot);
            for (Index i = j + 1; i < A.rows; ++i) B(i, l) -= times(times(B(i, j), scale), dot);
        }
    }
    return order;
}

TYPED_TEST(PivotedQr, TakesTheColumnsInTheOrderOfExactNumbers)
{
    using T = TypeParam;
    Random random(52);
    for (const Shape s : {Shape{20, 12}, {12, 20}, {70, 50}}) {
        auto A = random_matrix<T>(random, s.m, s.n);
        for (Index j = 0; j < s.n; ++j) // so far apart that no rounding decides
            for (Index i = 0; i < s.m; ++i) A(i, j) *= Real<T>(std::pow(1.5, (11 * j) % s.n));
        EXPECT_EQ(factored(A).order, exact_order(A)) << s.m << " x " << s.n;
    }
}

TYPED_TEST(PivotedQr, NormsOfKahansMatrixAreFoundAnewInTime)
{
    using T = TypeParam;
    for (const Index n : {Index(30), Index(90)})
        for (const double c : {0.2, 0.6, 0.9}) {
            Stored<T> A(n, n, 2);
            for (Index j = 0; j < n; ++j)
                for (Index i = 0; i < n; ++i)
                    A(i, j) = T(Real<T>(i > j ? 0 : std::pow(1 - c * c, 0.5 * double(i)) * (i == j ? 1 : -c)));
            expect_factored(A, factored(A), "Kahan " + std::to_string(n) + " " + std::to_string(c));
        }
}

TYPED_TEST(PivotedQr, TheDiagonalShowsTheRankOfAProduct)
{
    using T = TypeParam;
    Random random(53);
    const Index n = 80, rank = 13;
    const auto X = random_matrix<T>(random, n, rank), Y = random_matrix<T>(random, rank, n);
    Stored<T> A(n, n, 2);
    for (Index j = 0; j < n; ++j)
        for (Index i = 0; i < n; ++i) {
            Wide<T> sum = 0;
            for (Index l = 0; l < rank; ++l) sum += times(Wide<T>(X(i, l)), Wide<T>(Y(l, j)));
            A(i, j) = T(sum);
        }
    const auto f = factored(A);
    expect_factored(A, f, "rank");
    Index large = 0;
    for (Index i = 0; i < n; ++i) large += std::abs(f.A(i, i)) > 1000 * eps<T> * std::abs(f.A(0, 0));
    EXPECT_EQ(large, rank);
}

TYPED_TEST(PivotedQr, OfColumnsOfEqualLengthTheFirstIsTaken)
{
    using T = TypeParam;
    const Index n = 40;
    const auto order_of = [&](const auto& element) {
        Stored<T> A(n, n, 1);
        for (Index j = 0; j < n; ++j)
            for (Index i = 0; i < n; ++i) A(i, j) = T(Real<T>(element(i, j)));
        return factored(A).order;
    };
    std::vector<Index> in_order(n);
    std::iota(in_order.begin(), in_order.end(), 1);
    EXPECT_EQ(order_of([](Index i, Index j) { return i == j; }), in_order);
    EXPECT_EQ(order_of([](Index i, Index j) { return i == n - 1 - j; }), in_order);
    EXPECT_EQ(order_of([](Index, Index) { return 0; }), in_order);
    // Of three longest ones the first; the others of each pair are gone with it.
    const auto pairs = order_of([](Index i, Index j) { return i == j / 2 ? (j / 2 == 7 || j / 2 == 11 ? 2 : 1) : 0; });
    EXPECT_EQ((std::vector<Index>(pairs.begin(), pairs.begin() + 3)), (std::vector<Index>{15, 23, 3}));
}

TYPED_TEST(PivotedQr, EqualColumnsStayEqualWhereverTheyStand)
{
    using T = TypeParam;
    Random random(54);
    const Index m = 57, n = 90;
    auto A = random_matrix<T>(random, m, n);
    for (Index j = 45; j < n; ++j)
        for (Index i = 0; i < m; ++i) A(i, j) = A(i, j - 45);
    const auto f = factored(A);
    for (Index j = 0; j < 40; ++j) EXPECT_LE(f.order[std::size_t(j)], 45) << j;
}

TYPED_TEST(PivotedQr, FixedColumnsComeFirstAsTheyStand)
{
    using T = TypeParam;
    Random random(55);
    for (const Shape s : {Shape{30, 20}, {20, 30}, {5, 12}}) {
        const auto A = random_matrix<T>(random, s.m, s.n);
        std::vector<Index> given(std::size_t(s.n)), fixed;
        for (Index j = 1; j < s.n; j += 3) given[std::size_t(j)] = -j, fixed.push_back(j + 1);
        for (const bool all : {false, true}) {
            if (all)
                for (Index j = 0; j < s.n; ++j) given[std::size_t(j)] = 1;
            const auto f = factored(A, given);
            if (all) fixed.resize(std::size_t(s.n)), std::iota(fixed.begin(), fixed.end(), 1);
            expect_factored(A, f, "fixed", Index(fixed.size()));
            for (std::size_t j = 0; j < fixed.size(); ++j) EXPECT_EQ(f.order[j], fixed[j]);
        }
    }
}

TYPED_TEST(PivotedQr, PowersOfTwoChangeNothingButTheSize)
{
    using T = TypeParam;
    Random random(56);
    const auto A = graded<T>(random, 40, 30);
    const auto wanted = factored(A);
    const int far = sizeof(Real<T>) == 4 ? 110 : 995; // 1e33 and 1e-33, 1e299 and 1e-299
    for (const int power : {far, -far}) {
        auto B = A;
        for (T& x : B.data) x *= std::ldexp(Real<T>(1), power);
        const auto f = factored(B);
        EXPECT_EQ(f.order, wanted.order) << power;
        expect_factored(B, f, "scaled");
    }
}

TYPED_TEST(PivotedQr, NaNAndInfinityEndAndLeaveAnOrder)
{
    using T = TypeParam;
    using R = Real<T>;
    Random random(57);
    for (const Shape s : {Shape{5, 4}, {4, 5}})
        for (const R bad : {std::numeric_limits<R>::quiet_NaN(), std::numeric_limits<R>::infinity()})
            for (Index j = 0; j < s.n; ++j)
                for (Index i = 0; i < s.m; ++i) {
                    auto A = random_matrix<T>(random, s.m, s.n);
                    A(i, j) = T(bad);
                    for (const Index block : {0, 1, 3}) {
                        const auto f = factored_by_blocks(A, block);
                        expect_order(f, "not a number");
                        const bool first = std::isnan(bad) ? j == 0 : true; // a NaN is not longer, infinity is
                        EXPECT_EQ(f.order[0] == j + 1, first) << i << ", " << j;
                        EXPECT_TRUE(std::any_of(f.A.data.begin(), f.A.data.end(), [](const T& x) { return x != x; }));
                    }
                }
}

TYPED_TEST(PivotedQr, BlocksOfEveryWidthAndNoneGiveTheSameOrder)
{
    using T = TypeParam;
    Random random(58);
    for (const Shape s : {Shape{50, 37}, {37, 50}}) {
        const auto A = graded<T>(random, s.m, s.n);
        const auto wanted = factored(A);
        for (const Index block : {0, 1, 2, 7, 64}) {
            const auto f = factored_by_blocks(A, block);
            EXPECT_EQ(f.order, wanted.order) << block;
            expect_factored(A, f, "blocks of " + std::to_string(block));
        }
    }
}

/// Three threads that take part in every step, each when it gets to it.
template <Scalar T> PivotingHelp<T> three_threads(int& calls)
{
    return {.share =
                [&calls](Index chunks, Flops, const std::function<void(Team&)>& work) {
                    SharedWork all(chunks);
                    std::vector<std::thread> threads;
                    for (int i = 0; i < 3; ++i)
                        threads.emplace_back([&, i] {
                            Team team(all, nullptr, 1, i > 0);
                            work(team);
                        });
                    for (std::thread& thread : threads) thread.join();
                    ++calls;
                    return true;
                },
            .subtract = {}};
}

TYPED_TEST(PivotedQr, WhoSharesTheStepsMakesNoDifferenceToABit)
{
    using T = TypeParam;
    Random random(59);
    const auto A = random_matrix<T>(random, 60, 70);
    int calls = 0;
    const auto alone = factored_by_blocks(A, 16), shared = factored_by_blocks(A, 16, three_threads<T>(calls));
    EXPECT_GT(calls, 50);
    EXPECT_EQ(alone.order, shared.order);
    EXPECT_EQ(std::memcmp(alone.A.data.data(), shared.A.data.data(), alone.A.data.size() * sizeof(T)), 0);
}

TYPED_TEST(PivotedQr, NormsAreThatOfTheColumnWithoutOverflow)
{
    using T = TypeParam;
    using R = Real<T>;
    for (const R size : {R(1), std::numeric_limits<R>::max() / 8, std::numeric_limits<R>::min()}) {
        const std::vector<T> x(9, T(size));
        EXPECT_NEAR(double(column_norm<T>(9, x.data()) / size), 3, 1e-6);
    }
    EXPECT_EQ(column_norm<T>(0, nullptr), R(0));
}

} // namespace
} // namespace trencadis::blas
