#include "algorithms/getrf.hpp"

#include "algorithms/column_lu.hpp"
#include "kernels/testing/in_order.hpp"
#include "kernels/testing/lu.hpp"

#include <array>

namespace trencadis {
namespace {

using namespace testing;
constexpr Index nb = 4;

template <class T> class Lu : public ::testing::Test {
protected:
    void SetUp() override
    {
        if (providers().empty()) GTEST_SKIP() << "no kernel library on this machine";
    }
};
using Scalars = ::testing::Types<float, double, std::complex<float>, std::complex<double>>;
TYPED_TEST_SUITE(Lu, Scalars);

enum class Form { in_place, packed, queued, concurrent, columns, pairs_of_columns, all_columns };
constexpr Form forms[] = {Form::in_place, Form::packed,           Form::queued,     Form::concurrent,
                          Form::columns,  Form::pairs_of_columns, Form::all_columns};
Index together(Form form) { return form == Form::pairs_of_columns ? 2 : form == Form::all_columns ? 1000 : 1; }
bool by_columns(Form form) { return form >= Form::columns; }

/// Tiles nb x nb, chunks of malleable tasks one at a time.
template <Scalar T>
Index factor(const KernelProvider& kernels, Form form, Dense<T>& A, std::vector<Index>& pivots, Index tile = nb,
             PanelCut cut = {})
{
    InOrder executor(&kernels, 1);
    TaskFlow flow(executor);
    std::vector<char> tokens(std::size_t(A.rows / tile + 2));
    const TileMatrix<T> tiles(A.view(), tile, tile);
    const LuImages<T> images(form == Form::packed ? A.rows : 0, form == Form::packed ? A.cols : 0, tile);
    const TileMatrix<T> whole(A.view(), std::max<Index>(A.rows, 1), tile);
    const PanelInterchanges interchanges(A.rows, A.cols, tile);
    switch (form) {
    case Form::in_place: getrf(flow, tiles, pivots.data(), cut); break;
    case Form::packed: getrf_packed(flow, tiles, images, pivots.data(), cut); break;
    case Form::queued: getrf_kastors(flow, ColumnUpdates::queued, tiles, pivots.data(), tokens.data()); break;
    case Form::concurrent: getrf_kastors(flow, ColumnUpdates::concurrent, tiles, pivots.data(), tokens.data()); break;
    case Form::columns:
    case Form::pairs_of_columns:
    case Form::all_columns: getrf_columns(flow, whole, interchanges, pivots.data(), together(form)); break;
    }
    flow.wait();
    return flow.outcome().value();
}
template <Scalar T> std::vector<Index> pivots_for(const Dense<T>& A)
{
    return std::vector<Index>(static_cast<std::size_t>(std::min(A.rows, A.cols)));
}

TYPED_TEST(Lu, ChoosesThePivotsOfTheUnblockedOneInEveryFormAndShape)
{
    using T = TypeParam;
    for (const KernelProvider* kernels : providers())
        for (const Index n : {Index(0), Index(1), nb - 1, nb, nb + 1, 2 * nb, 3 * nb + 2, Index(37)})
            for (const Index m : {n, n + 1, n + nb, 3 * n + 1, n / 2, std::max<Index>(n - 1, 0)})
                for (const Form form : forms) {
                    const Dense<T> A = random_matrix<T>(m, n);
                    Dense<T> F = A, by_columns = A;
                    auto pivots = pivots_for(A), wanted = pivots;
                    const std::string where = kernels->name() + " " + std::to_string(m) + " x " + std::to_string(n) + " form " +
                                              std::to_string(int(form));
                    ASSERT_EQ(factor(*kernels, form, F, pivots), unblocked_getrf(by_columns, wanted)) << where;
                    ASSERT_EQ(pivots, wanted) << where;
                    expect_lu(A, F, pivots, where);
                    if (this->HasFatalFailure()) return;
                }
}

/// Tiles that are shared by several cores, one chunk at a time.
TYPED_TEST(Lu, CutsLargeTilesIntoChunks)
{
    using T = TypeParam;
    for (const Form form : {Form::in_place, Form::packed, Form::columns, Form::all_columns}) {
        const Dense<T> A = random_matrix<T>(330, 300);
        Dense<T> F = A;
        auto pivots = pivots_for(A);
        ASSERT_EQ(factor(load_kernels("native"), form, F, pivots, 150), 0);
        expect_lu(A, F, pivots, "form " + std::to_string(int(form)));
    }
}

/// Panels of every shape, in leaves that divide them or not, with blocks of rows smaller and larger than what there is.
TYPED_TEST(Lu, CutsPanelsUpForSeveralCores)
{
    using T = TypeParam;
    for (const auto& [m, n, tile] :
         {std::array<Index, 3>{40, 8, 8}, {41, 7, 7}, {60, 12, 12}, {61, 26, 13}, {26, 61, 13}, {13, 13, 20}})
        for (const Index columns : {1, 2, 3, 5, 13})
            for (const Index rows : {1, 4, 100})
                for (const Form form : {Form::in_place, Form::packed}) {
                    const Dense<T> A = random_matrix<T>(m, n);
                    Dense<T> F = A, by_columns = A;
                    auto pivots = pivots_for(A), wanted = pivots;
                    const std::string where = std::to_string(m) + " x " + std::to_string(n) + " leaves of " +
                                              std::to_string(columns) + " blocks of " + std::to_string(rows);
                    const PanelCut cut{.columns = columns, .rows = rows, .beside = n, .worth = 0};
                    ASSERT_EQ(factor(load_kernels("native"), form, F, pivots, tile, cut), unblocked_getrf(by_columns, wanted));
                    ASSERT_EQ(pivots, wanted) << where;
                    expect_lu(A, F, pivots, where);
                    if (this->HasFatalFailure()) return;
                }
}
TYPED_TEST(Lu, ReportsTheFirstZeroPivotOfAPanelThatIsCutUp)
{
    using T = TypeParam;
    for (const Index zero : {Index(1), Index(3), Index(6), Index(10)}) {
        Dense<T> A = random_matrix<T>(33, 12);
        for (Index i = 0; i < 33; ++i) A(i, zero - 1) = A(i, 11) = T(0);
        Dense<T> F = A;
        auto pivots = pivots_for(A);
        const PanelCut cut{.columns = 3, .rows = 5, .beside = 0, .worth = 0};
        EXPECT_EQ(factor(load_kernels("native"), Form::in_place, F, pivots, 12, cut), zero);
        expect_lu(A, F, pivots, "zero in column " + std::to_string(zero));
    }
}

/// Columns of zeros: their pivots are zero exactly, the first of them is reported, and all the rest is factored.
TYPED_TEST(Lu, CompletesSingularMatricesAndReportsTheFirstZeroPivot)
{
    using T = TypeParam;
    constexpr Index m = 3 * nb + 3, n = 3 * nb + 2;
    for (const KernelProvider* kernels : providers())
        for (const Index first : {Index(1), Index(2), nb, nb + 1, 2 * nb - 1, 3 * nb, n})
            for (const Form form : forms) {
                Dense<T> A = random_matrix<T>(m, n);
                for (Index i = 0; i < m; ++i) A(i, first - 1) = A(i, n - 1) = T(0);
                Dense<T> F = A;
                auto pivots = pivots_for(A);
                const std::string where = kernels->name() + " form " + std::to_string(int(form));
                EXPECT_EQ(factor(*kernels, form, F, pivots), first) << where;
                EXPECT_EQ(F(first - 1, first - 1), T(0)) << where;
                expect_lu(A, F, pivots, where);
            }
}

template <Scalar T>
Dense<T> solved(const KernelProvider& kernels, Op op, Dense<T>& F, std::vector<Index>& pivots, const Dense<T>& B)
{
    InOrder executor(&kernels, 1);
    TaskFlow flow(executor);
    Dense<T> X = B;
    getrs(flow, op, TileMatrix<T>(F.view(), nb, nb), pivots.data(), TileMatrix<T>(X.view(), nb, 2));
    flow.wait();
    return X;
}

TYPED_TEST(Lu, SolvesWithTheFactorsAndTheirTransposes)
{
    using T = TypeParam;
    for (const KernelProvider* kernels : providers())
        for (const Index n : {Index(1), nb, 3 * nb + 2})
            for (const Index nrhs : {Index(0), Index(1), Index(5)})
                for (const Op op : {Op::none, Op::trans, Op::conj_trans}) {
                    const Dense<T> A = random_matrix<T>(n, n), B = random_matrix<T>(n, nrhs);
                    Dense<T> F = A;
                    auto pivots = pivots_for(A);
                    ASSERT_EQ(factor(*kernels, Form::in_place, F, pivots), 0);
                    expect_lu_solution(op, A, F, pivots, solved(*kernels, op, F, pivots, B), B, kernels->name());
                }
}

TYPED_TEST(Lu, FactorsAndSolvesInOneFlowUnlessAPivotIsZero)
{
    using T = TypeParam;
    constexpr Index n = 3 * nb + 1;
    for (const KernelProvider* kernels : providers())
        for (const Form form : {Form::in_place, Form::packed, Form::columns, Form::pairs_of_columns, Form::all_columns})
            for (const Index zero : {Index(0), Index(1), nb + 2, n}) {
                Dense<T> A = random_matrix<T>(n, n);
                for (Index i = 0; i < n && zero; ++i) A(i, zero - 1) = T(0);
                const Dense<T> B = random_matrix<T>(n, 3);
                Dense<T> F = A, X = B;
                auto pivots = pivots_for(A);
                InOrder executor(kernels);
                TaskFlow flow(executor);
                const bool packed = form == Form::packed;
                const LuImages<T> images(packed ? n : 0, packed ? n : 0, nb);
                const PanelInterchanges interchanges(n, n, nb);
                const TileMatrix<T> tiles(F.view(), nb, nb);
                if (packed) getrf_packed(flow, tiles, images, pivots.data());
                else if (form == Form::in_place) getrf(flow, tiles, pivots.data());
                if (by_columns(form))
                    gesv_columns(flow, TileMatrix<T>(F.view(), n, nb), interchanges, pivots.data(), TileMatrix<T>(X.view(), n, 2),
                                 together(form));
                else getrs_after(flow, tiles, pivots.data(), TileMatrix<T>(X.view(), nb, 2));
                flow.wait();
                EXPECT_EQ(flow.outcome().value(), zero) << kernels->name();
                expect_lu(A, F, pivots, kernels->name());
                if (zero) expect_same_bits(X, B);
                else expect_lu_solution(Op::none, A, F, pivots, X, B, kernels->name());
            }
}

} // namespace
} // namespace trencadis
