#include "algorithms/incremental_lu.hpp"
#include "algorithms/tournament_lu.hpp"
#include "algorithms/unpivoted_lu.hpp"
#include "graph/forwarding_flow.hpp"

#include "kernels/testing/in_order.hpp"
#include "kernels/testing/lu.hpp"

#include <numeric>

namespace trencadis {
namespace {

using namespace testing;
constexpr Index nb = 4;

template <class T> class LuVariants : public ::testing::Test {
protected:
    void SetUp() override
    {
        if (providers().empty()) GTEST_SKIP() << "no kernel library on this machine";
    }
};
using Scalars = ::testing::Types<float, double, std::complex<float>, std::complex<double>>;
TYPED_TEST_SUITE(LuVariants, Scalars);

/// Tasks in order, chunks of malleable ones one at a time; the info of what `submit(flow)` submits.
template <class Submit> Index run(const KernelProvider& kernels, const Submit& submit)
{
    InOrder executor(&kernels, 1);
    TaskFlow flow(executor);
    submit(flow);
    flow.wait();
    return flow.outcome().value();
}
std::vector<Index> identity(Index count)
{
    std::vector<Index> pivots(static_cast<std::size_t>(count));
    std::iota(pivots.begin(), pivots.end(), Index(1));
    return pivots;
}
/// Dominated by its diagonal, in rows and columns: entries of L are below 1 without any pivoting.
template <Scalar T> Dense<T> dominant_matrix(Index m, Index n)
{
    Dense<T> A = random_matrix<T>(m, n);
    for (Index i = 0; i < std::min(m, n); ++i) A(i, i) += Real<T>(2 * std::max(m, n));
    return A;
}
constexpr Index orders[] = {0, 1, nb - 1, nb, nb + 1, 2 * nb, 3 * nb + 2, 37};
std::vector<Index> heights(Index n) { return {n, n + 1, n + nb, 3 * n + 1, n / 2, std::max<Index>(n - 1, 0)}; }
std::string shape(const KernelProvider& kernels, Index m, Index n)
{
    return kernels.name() + " " + std::to_string(m) + " x " + std::to_string(n);
}

template <Scalar T> Index factor_unpivoted_tiles(const KernelProvider& kernels, Dense<T>& A, Index tile = nb)
{
    return run(kernels, [&](Flow& flow) { getrf_nopiv(flow, TileMatrix<T>(A.view(), tile, tile)); });
}

TYPED_TEST(LuVariants, WithoutPivotsFactorMatricesOfEveryShape)
{
    using T = TypeParam;
    for (const KernelProvider* kernels : providers())
        for (const Index n : orders)
            for (const Index m : heights(n)) {
                const Dense<T> A = dominant_matrix<T>(m, n);
                Dense<T> F = A;
                ASSERT_EQ(factor_unpivoted_tiles(*kernels, F), 0);
                expect_lu(A, F, identity(std::min(m, n)), shape(*kernels, m, n));
                if (this->HasFatalFailure()) return;
            }
}
TYPED_TEST(LuVariants, WithoutPivotsFactorAnyMatrixAsWellAsItsGrowthAllows)
{
    using T = TypeParam;
    for (const Index tile : {Index(5), Index(16), Index(40)}) {
        const Dense<T> A = random_matrix<T>(40, 33);
        Dense<T> F = A;
        ASSERT_EQ(factor_unpivoted_tiles(load_kernels("native"), F, tile), 0);
        expect_lu_product(A, F, identity(33), "tiles of " + std::to_string(tile));
    }
}
/// Shared by several cores, a chunk at a time.
TYPED_TEST(LuVariants, WithoutPivotsCutLargeTilesIntoChunks)
{
    using T = TypeParam;
    const Dense<T> A = dominant_matrix<T>(330, 300);
    Dense<T> F = A;
    ASSERT_EQ(factor_unpivoted_tiles(load_kernels("native"), F, 150), 0);
    expect_lu(A, F, identity(300), "tiles of 150");
}
TYPED_TEST(LuVariants, WithoutPivotsReportTheFirstZeroAndFactorTheRest)
{
    using T = TypeParam;
    constexpr Index m = 3 * nb + 3, n = 3 * nb + 2;
    for (const KernelProvider* kernels : providers())
        for (const Index zero : {Index(1), Index(2), nb, nb + 1, 3 * nb, n}) {
            Dense<T> A = dominant_matrix<T>(m, n);
            for (Index i = 0; i < m; ++i) A(i, zero - 1) = A(i, n - 1) = T(0);
            Dense<T> F = A;
            EXPECT_EQ(factor_unpivoted_tiles(*kernels, F), zero);
            expect_lu(A, F, identity(n), kernels->name());
        }
}
/// A column that is not zero under a pivot that is: there is no factorization, but numbers everywhere.
TYPED_TEST(LuVariants, WithoutPivotsDivideByNoZero)
{
    using T = TypeParam;
    for (const Index tile : {1, 2, 4, 20}) {
        Dense<T> A = dominant_matrix<T>(20, 20);
        A(0, 0) = T(0);
        EXPECT_EQ(factor_unpivoted_tiles(load_kernels("native"), A, tile), 1);
        for (Index j = 0; j < 20; ++j)
            for (Index i = 0; i < 20; ++i) ASSERT_TRUE(std::isfinite(std::abs(A(i, j)))) << i << ", " << j;
    }
}

/// Tasks of all holders, carried out by one process.
class ByOne final : public ForwardingFlow {
public:
    using ForwardingFlow::ForwardingFlow;

private:
    void take(const Codelet& codelet, const Arguments& arguments, std::span<const Access> accesses,
              const TaskOptions& options) override
    {
        std::vector<Access> own(accesses.begin(), accesses.end());
        for (Access& access : own) access.datum.owner = 0;
        pass_on(codelet, arguments, own, options);
    }
};

template <Scalar T>
Index factor_by_tournament(const KernelProvider& kernels, Dense<T>& A, std::vector<Index>& pivots, Index group, Index tile = nb,
                           TileOwners owners = {})
{
    const TileMatrix<T> tiles = TileMatrix<T>(A.view(), tile, tile).held_by(owners);
    const TournamentRounds<T> rounds(tiles, {}, group);
    return run(kernels, [&](Flow& flow) {
        ByOne by_one(flow);
        getrf_tournament(by_one, tiles, rounds, pivots.data());
    });
}

TYPED_TEST(LuVariants, ByTournamentGiveLapacksFormOfPivotsInEveryShape)
{
    using T = TypeParam;
    for (const KernelProvider* kernels : providers())
        for (const Index n : orders)
            for (const Index m : heights(n))
                for (const Index group : {1, 2, 3}) {
                    const Dense<T> A = random_matrix<T>(m, n);
                    Dense<T> F = A;
                    std::vector<Index> pivots(std::size_t(std::min(m, n)), -1);
                    ASSERT_EQ(factor_by_tournament(*kernels, F, pivots, group), 0);
                    for (std::size_t i = 0; i < pivots.size(); ++i) {
                        ASSERT_GT(pivots[i], Index(i));
                        ASSERT_LE(pivots[i], m);
                    }
                    expect_lu_product(A, F, pivots, shape(*kernels, m, n) + " groups of " + std::to_string(group));
                    if (this->HasFatalFailure()) return;
                }
}
TYPED_TEST(LuVariants, ByTournamentOfOneGroupAreThoseOfPartialPivoting)
{
    using T = TypeParam;
    const Dense<T> A = random_matrix<T>(40, 26);
    Dense<T> F = A, by_columns = A;
    std::vector<Index> pivots(26), wanted(26);
    ASSERT_EQ(factor_by_tournament(load_kernels("native"), F, pivots, 10), unblocked_getrf(by_columns, wanted));
    EXPECT_EQ(pivots, wanted);
}
/// Several holders of a tile column: each chooses among its own rows, and exchanges rows with the others by work tiles.
TYPED_TEST(LuVariants, ByTournamentOfSeveralHoldersGiveLapacksFormOfPivotsInEveryShape)
{
    using T = TypeParam;
    const TileOwners owners[] = {{2, 2}, {3, 1}, {5, 2, 1, 1}};
    for (const TileOwners& grid : owners)
        for (const Index n : orders)
            for (const Index m : heights(n)) {
                const Dense<T> A = random_matrix<T>(m, n);
                Dense<T> F = A;
                std::vector<Index> pivots(std::size_t(std::min(m, n)), -1);
                ASSERT_EQ(factor_by_tournament(load_kernels("native"), F, pivots, 2, nb, grid), 0);
                expect_lu_product(A, F, pivots,
                                  shape(load_kernels("native"), m, n) + " holders " + std::to_string(grid.grid_rows));
                if (this->HasFatalFailure()) return;
            }
}
/// The pivot of a column is the best of those that each group has put up: of panels of one column the largest of all.
TYPED_TEST(LuVariants, ByTournamentOfSingleColumnsFindTheLargest)
{
    using T = TypeParam;
    const Dense<T> A = random_matrix<T>(23, 9);
    for (const Index group : {1, 2, 5})
        for (const TileOwners owners : {TileOwners{}, TileOwners{2, 1}, TileOwners{3, 2}}) {
            Dense<T> F = A, by_columns = A;
            std::vector<Index> pivots(9), wanted(9);
            ASSERT_EQ(factor_by_tournament(load_kernels("native"), F, pivots, group, 1, owners),
                      unblocked_getrf(by_columns, wanted));
            EXPECT_EQ(pivots, wanted);
            expect_lu(A, F, pivots, "groups of " + std::to_string(group) + " of " + std::to_string(owners.grid_rows));
        }
}
TYPED_TEST(LuVariants, ByTournamentCompleteSingularMatrices)
{
    using T = TypeParam;
    constexpr Index m = 5 * nb + 3, n = 3 * nb + 2;
    for (const KernelProvider* kernels : providers())
        for (const Index zero : {Index(1), Index(2), nb, nb + 1, 3 * nb, n}) {
            Dense<T> A = random_matrix<T>(m, n);
            for (Index i = 0; i < m; ++i) A(i, zero - 1) = A(i, n - 1) = T(0);
            Dense<T> F = A;
            std::vector<Index> pivots(n);
            EXPECT_EQ(factor_by_tournament(*kernels, F, pivots, 2), zero);
            EXPECT_EQ(F(zero - 1, zero - 1), T(0));
            expect_lu_product(A, F, pivots, kernels->name());
        }
}

/// The factors and the solution of A X = B from them.
template <Scalar T> struct Incremental {
    Dense<T> F, X;
    Index info;

    Incremental(const KernelProvider& kernels, const Dense<T>& A, const Dense<T>& B, Index tile, Index ib) : F(A), X(B)
    {
        const Eliminations<T> by(A.rows, A.cols, tile, ib);
        info = run(kernels, [&](Flow& flow) {
            const TileMatrix<T> tiles(F.view(), tile, tile);
            getrf_incremental(flow, tiles, by);
            getrs_incremental(flow, tiles, by, TileMatrix<T>(X.view(), tile, 2));
        });
    }
};

/// |A X - B| <= 4 n^2 eps max(|A|, |U|) |X|, where |U| stands for the growth: an entry is updated n times by products of factors
/// at most 1 with what has grown, and each row of the result is a sum of n of them; solving with U adds n eps |U| |X|. Rows of
/// padding untouched.
template <Scalar T>
void expect_solution(const Dense<T>& A, const Dense<T>& F, const Dense<T>& X, const Dense<T>& B, const std::string& where)
{
    long double largest = 0;
    for (Index j = 0; j < A.cols; ++j)
        for (Index i = 0; i < A.rows; ++i)
            largest = std::max({largest, std::abs(Wide<T>(A(i, j))), i <= j ? std::abs(Wide<T>(F(i, j))) : 0.0L});
    for (Index c = 0; c < B.cols; ++c) {
        long double size = 0;
        for (Index k = 0; k < A.cols; ++k) size += std::abs(Wide<T>(X(k, c)));
        for (Index i = 0; i < A.rows; ++i) {
            Sum<T> sum;
            for (Index k = 0; k < A.cols; ++k) sum.add(A(i, k), X(k, c));
            const double n = double(A.rows);
            ASSERT_LE(std::abs(sum.value - Wide<T>(B(i, c))), 4 * n * n * rounding<T> * eps<T> * largest * size) << where;
        }
    }
    expect_untouched(A, F, [](Index, Index) { return true; });
    expect_untouched(B, X, [](Index, Index) { return true; });
}

TYPED_TEST(LuVariants, IncrementalSolveSystemsOfEveryOrderAndBlock)
{
    using T = TypeParam;
    for (const KernelProvider* kernels : providers())
        for (const Index n : orders)
            for (const Index tile : {Index(3), nb, Index(10), Index(40)})
                for (const Index ib : {Index(1), Index(2), Index(3), tile}) {
                    const Dense<T> A = random_matrix<T>(n, n), B = random_matrix<T>(n, 5);
                    const Incremental<T> solved(*kernels, A, B, tile, ib);
                    ASSERT_EQ(solved.info, 0);
                    expect_solution(A, solved.F, solved.X, B,
                                    shape(*kernels, n, n) + " tiles of " + std::to_string(tile) + " blocks of " +
                                        std::to_string(ib));
                    if (this->HasFatalFailure()) return;
                }
}
TYPED_TEST(LuVariants, IncrementalOfOneTileAreThoseOfPartialPivoting)
{
    using T = TypeParam;
    const Dense<T> A = random_matrix<T>(30, 30);
    Dense<T> F = A;
    std::vector<Index> pivots(30);
    const KernelProvider& kernels = load_kernels("native");
    ASSERT_EQ(kernels.getrf(30, 30, F.data.data(), F.ld, pivots.data()), 0);
    expect_same_bits(Incremental<T>(kernels, A, random_matrix<T>(30, 1), 30, 7).F, F);
}
/// Pairs of rows exchange places where the lower one is larger: no multiplier is above 1, so two tile rows give |U| <= 4^...
/// times A at most.
TYPED_TEST(LuVariants, IncrementalExchangeRowsBetweenTiles)
{
    using T = TypeParam;
    constexpr Index n = 2 * nb;
    Dense<T> A = random_matrix<T>(n, n), B = random_matrix<T>(n, 2);
    for (Index j = 0; j < n; ++j)
        for (Index i = 0; i < nb; ++i) A(i, j) *= Real<T>(1e-6);
    const Incremental<T> solved(load_kernels("native"), A, B, nb, 2);
    ASSERT_EQ(solved.info, 0);
    for (Index j = 0; j < nb; ++j) EXPECT_GT(std::abs(solved.F(j, j)), 1e-4) << "the large rows below are the pivots";
    expect_solution(A, solved.F, solved.X, B, "rows of very different size");
}
TYPED_TEST(LuVariants, IncrementalReportTheFirstZeroOfU)
{
    using T = TypeParam;
    constexpr Index n = 3 * nb + 2;
    for (const KernelProvider* kernels : providers())
        for (const Index zero : {Index(1), Index(2), nb, nb + 1, 2 * nb + 1, n}) {
            Dense<T> A = random_matrix<T>(n, n);
            for (Index i = 0; i < n; ++i) A(i, zero - 1) = A(i, n - 1) = T(0);
            const Incremental<T> solved(*kernels, A, random_matrix<T>(n, 1), nb, 3);
            EXPECT_EQ(solved.info, zero) << kernels->name();
            EXPECT_EQ(solved.F(zero - 1, zero - 1), T(0));
        }
}
/// A diagonal tile may be singular: what is below it makes up for it.
TYPED_TEST(LuVariants, IncrementalNeedNoRegularTileOnTheDiagonal)
{
    using T = TypeParam;
    constexpr Index n = 3 * nb;
    Dense<T> A = random_matrix<T>(n, n), B = random_matrix<T>(n, 2);
    for (Index j = 0; j < nb; ++j)
        for (Index i = 0; i < nb; ++i) A(i, j) = T(0);
    const Incremental<T> solved(load_kernels("native"), A, B, nb, 2);
    EXPECT_EQ(solved.info, 0);
    expect_solution(A, solved.F, solved.X, B, "zeros in the first tile");
}
/// Shared by several cores, a chunk at a time.
TYPED_TEST(LuVariants, IncrementalCutLargeTilesIntoChunks)
{
    using T = TypeParam;
    const Dense<T> A = random_matrix<T>(300, 300), B = random_matrix<T>(300, 3);
    const Incremental<T> solved(load_kernels("native"), A, B, 130, 32);
    ASSERT_EQ(solved.info, 0);
    expect_solution(A, solved.F, solved.X, B, "tiles of 130");
}

} // namespace
} // namespace trencadis
