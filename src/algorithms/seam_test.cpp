#include "algorithms/potrf.hpp"
#include "algorithms/testing/recorded_flow.hpp"
#include "algorithms/trsm.hpp"
#include "graph/task_data.hpp"
#include "kernels/testing/reference.hpp"

#include <gmock/gmock.h>

#include <algorithm>

namespace trencadis::testing {
namespace {

/// Any flow takes what an algorithm submits: nothing of ours need find dependences, and no kernels are there yet.
TEST(SubmissionSeam, GivesAFlowOfAnotherKindTheSameTasks)
{
    constexpr Index n = 10, nb = 4;
    Dense<double> A = random_triangle<double>(Uplo::lower, n, 2.0 * n);
    RecordedFlow flow;
    potrf(flow, TileMatrix<double>(A.view(), nb, nb));
    std::vector<std::string> names;
    for (const RecordedFlow::Submission& task : flow.submissions) names.push_back(task.name);
    EXPECT_EQ(names,
              (std::vector<std::string>{"potrf", "trsm", "trsm", "syrk", "gemm", "syrk", "potrf", "trsm", "syrk", "potrf"}));
}

/// What moves or places data sees it as it is stored.
TEST(SubmissionSeam, NamesDataByShape)
{
    constexpr Index n = 10, nb = 4;
    Dense<double> A = random_triangle<double>(Uplo::upper, n, 2.0 * n);
    RecordedFlow flow;
    potrf(flow, TileMatrix<double>(A.view(), nb, nb).with(Op::trans));
    const Access& written = flow.submissions[2].accesses.back(); // the solve of the last tile of the first row
    EXPECT_EQ(written.datum.address, A.data.data() + 8 * A.ld);
    EXPECT_EQ(written.datum.rows, 4);
    EXPECT_EQ(written.datum.cols, 2);
    EXPECT_EQ(written.datum.ld, A.ld);
    EXPECT_EQ(written.datum.element, 8);
    EXPECT_EQ(written.datum.bytes(), 64);
    EXPECT_EQ(written.datum.home, any_node);
    EXPECT_EQ(written.datum.owner, 0);
}

/// Who holds a tile, and where, follows from its place in the matrix as it is stored.
TEST(SubmissionSeam, NamesWhoHoldsATile)
{
    constexpr Index n = 10, nb = 4;
    Dense<double> A = random_triangle<double>(Uplo::upper, n, 2.0 * n);
    const TileMatrix<double> tiles = TileMatrix<double>(A.view(), nb, nb).held_by({.grid_rows = 2, .grid_cols = 3}, 1);
    RecordedFlow flow;
    potrf(flow, tiles.with(Op::trans));
    for (const RecordedFlow::Submission& task : flow.submissions)
        for (const Access& access : task.accesses) {
            const Index place = static_cast<const double*>(access.datum.address) - A.data.data();
            const Index i = place % A.ld / nb, j = place / A.ld / nb;
            EXPECT_EQ(access.datum.owner, i % 2 * 3 + j % 3);
            EXPECT_EQ(access.datum.home, 1);
        }
    const Access& written = flow.submissions[2].accesses.back();
    EXPECT_EQ(written.datum.owner, 2);
    EXPECT_EQ(shape_of(written.datum), (DatumShape{A.ld, 4, 2, 8}));
}

/// One task for few columns names all that it touches: each tile of the triangle, and each of the columns.
TEST(SubmissionSeam, ATaskForFewColumnsNamesEveryTile)
{
    constexpr Index n = 10, nb = 4;
    Dense<double> A = random_triangle<double>(Uplo::upper, n, 2.0 * n), B = random_matrix<double>(n, 2);
    for (const Op op : {Op::none, Op::trans}) {
        RecordedFlow flow;
        const TileMatrix<double> tiles(A.view(), nb, nb), X(B.view(), nb, 2);
        trsm(flow, op == Op::none ? Uplo::upper : Uplo::lower, Diag::non_unit, 1.0, tiles.with(op), X);
        ASSERT_EQ(flow.submissions.size(), 1);
        std::vector<const void*> read, written, triangle, columns;
        for (const Access& access : flow.submissions[0].accesses)
            (access.mode == AccessMode::read ? read : written).push_back(access.datum.address);
        for (Index j = 0; j < 3; ++j) {
            columns.push_back(B.data.data() + j * nb);
            for (Index i = 0; i <= j; ++i) triangle.push_back(A.data.data() + i * nb + j * nb * A.ld);
        }
        EXPECT_THAT(read, ::testing::UnorderedElementsAreArray(triangle));
        EXPECT_THAT(written, ::testing::UnorderedElementsAreArray(columns));
    }
}

/// The arguments name operands by their numbers: the tasks compute on whatever memory they are given for these, with the kernels
/// of who runs them.
TEST(SubmissionSeam, TasksComputeWhereTheirOperandsAre)
{
    if (providers().empty()) GTEST_SKIP() << "no kernels on this machine";
    constexpr Index n = 12, nb = 4;
    for (const Uplo uplo : {Uplo::lower, Uplo::upper}) {
        const Dense<double> before = random_triangle<double>(uplo, n, 2.0 * n);
        for (const KernelProvider* kernels : providers()) {
            Dense<double> named = before, moved = before;
            const auto factor = [&](Dense<double>& where) {
                RecordedFlow flow;
                const Op seen = uplo == Uplo::lower ? Op::none : Op::trans;
                potrf(flow, TileMatrix<double>(named.view(), nb, nb).with(seen));
                flow.replay(kernels,
                            reinterpret_cast<std::byte*>(where.data.data()) - reinterpret_cast<std::byte*>(named.data.data()));
                EXPECT_EQ(flow.outcome().value(), 0);
            };
            factor(moved);
            expect_same_bits(named, before);
            factor(named);
            expect_same_bits(named, moved);
        }
    }
}

} // namespace
} // namespace trencadis::testing
