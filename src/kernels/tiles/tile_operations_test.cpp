#include "kernels/tiles/tile_operations.hpp"

#include "kernels/testing/in_order.hpp"
#include "kernels/testing/reference.hpp"

namespace trencadis {
namespace {

using namespace testing;
constexpr Index n = 200; // several chunks, the last one ragged

template <class T> class SharedOperations : public ::testing::Test {
protected:
    void SetUp() override
    {
        if (providers().empty()) GTEST_SKIP() << "no kernel library on this machine";
    }
    static Tile<T> tile(Dense<T>& A, Op op = Op::none) { return Tile<T>{A.data.data(), A.rows, A.cols, A.ld}.with(op); }
    /// Runs `submit` with all chunks in one piece and again piece by piece; returns both results.
    template <class Submit>
    static std::pair<Dense<T>, Dense<T>> whole_and_shared(const KernelProvider* kernels, const Dense<T>& C, Submit submit)
    {
        std::pair<Dense<T>, Dense<T>> results{C, C};
        InOrder whole(kernels), pieces(kernels, 1);
        TaskFlow one(whole), many(pieces);
        submit(one, results.first);
        submit(many, results.second);
        one.wait();
        many.wait();
        return results;
    }
    /// Each is within (n + 2) eps of the sum of moduli, at most `magnitude`, of the exact value, hence twice that of each other.
    static void expect_close(const Dense<T>& a, const Dense<T>& b, double magnitude, Uplo uplo, bool triangle)
    {
        for (Index j = 0; j < a.cols; ++j)
            for (Index i = 0; i < a.rows; ++i) {
                if (triangle && !in_triangle(uplo, i, j)) continue;
                ASSERT_LE(std::abs(a(i, j) - b(i, j)), 2 * (n + 2) * rounding<T> * eps<T> * magnitude) << i << ", " << j;
            }
    }
};
using Scalars = ::testing::Types<float, double, std::complex<float>, std::complex<double>>;
TYPED_TEST_SUITE(SharedOperations, Scalars);

TYPED_TEST(SharedOperations, GemmByPiecesIsGemm)
{
    using T = TypeParam;
    for (const KernelProvider* kernels : providers())
        for (const Op op : {Op::none, herm_op<T>})
            for (const Op stored : {Op::none, herm_op<T>})
                for (const Index columns : {n, Index(70)}) { // by columns, and by rows
                    Dense<T> A = random_matrix<T>(n, n),
                             B = op == Op::none ? random_matrix<T>(n, columns) : random_matrix<T>(columns, n);
                    const Dense<T> C = stored == Op::none ? random_matrix<T>(n, columns) : random_matrix<T>(columns, n);
                    const auto [whole, shared] = this->whole_and_shared(kernels, C, [&](Flow& flow, Dense<T>& X) {
                        task::gemm(flow, T(-1), this->tile(A), this->tile(B, op), T(1), this->tile(X, stored));
                    });
                    this->expect_close(whole, shared, 2 * n, Uplo::lower, false);
                }
}

TYPED_TEST(SharedOperations, RankKUpdateByPiecesIsTheSameAndKeepsToItsTriangle)
{
    using T = TypeParam;
    for (const KernelProvider* kernels : providers())
        for (const Uplo uplo : {Uplo::lower, Uplo::upper})
            for (const Op op : {Op::none, herm_op<T>}) {
                Dense<T> A = random_matrix<T>(n, n);
                const Dense<T> C = random_triangle<T>(uplo, n, 0);
                const Op stored = uplo == Uplo::lower ? Op::none : herm_op<T>;
                const auto [whole, shared] = this->whole_and_shared(kernels, C, [&](Flow& flow, Dense<T>& X) {
                    task::herk(flow, Real<T>(-1), this->tile(A, op), Real<T>(1), this->tile(X, stored));
                });
                this->expect_close(whole, shared, 2 * n, uplo, true);
                expect_untouched(C, shared, [&](Index i, Index j) { return in_triangle(uplo, i, j); });
            }
}

TYPED_TEST(SharedOperations, TriangularSolveByPiecesIsTheSame)
{
    using T = TypeParam;
    for (const KernelProvider* kernels : providers())
        for (const Side side : {Side::left, Side::right})
            for (const Op op : {Op::none, herm_op<T>}) {
                Dense<T> A = random_triangle<T>(Uplo::lower, n, Real<T>(2 * n));
                const Dense<T> B = random_matrix<T>(n, n);
                const Uplo seen = op == Op::none ? Uplo::lower : Uplo::upper;
                const auto [whole, shared] = this->whole_and_shared(kernels, B, [&](Flow& flow, Dense<T>& X) {
                    task::trsm(flow, side, seen, Diag::non_unit, T(1), this->tile(A, op), this->tile(X));
                });
                this->expect_close(whole, shared, 1, Uplo::lower, false); // diagonally dominant: the solution is below 1
            }
}

TYPED_TEST(SharedOperations, CopyOfATriangleLeavesTheOtherOne)
{
    using T = TypeParam;
    for (const Op op : {Op::none, herm_op<T>}) {
        Dense<T> A = random_matrix<T>(5, 5);
        const Dense<T> before = random_matrix<T>(5, 5);
        Dense<T> B = before;
        InOrder executor;
        TaskFlow flow(executor);
        task::copy_lower(flow, this->tile(A, op), this->tile(B, op));
        flow.wait();
        const Uplo uplo = op == Op::none ? Uplo::lower : Uplo::upper;
        for (Index j = 0; j < 5; ++j)
            for (Index i = 0; i < 5; ++i) EXPECT_EQ(B(i, j), in_triangle(uplo, i, j) ? A(i, j) : before(i, j));
    }
}

TYPED_TEST(SharedOperations, NothingRunsOnceAPivotBeforeTheGuardWasBad)
{
    using T = TypeParam;
    Dense<T> A = random_matrix<T>(8, 8), B = random_matrix<T>(8, 8);
    const Dense<T> before = random_matrix<T>(8, 8);
    Dense<T> C = before;
    InOrder executor(providers().front());
    TaskFlow flow(executor);
    flow.outcome().report(7);
    task::gemm(flow, T(1), this->tile(A), this->tile(B), T(1), this->tile(C), Guard{7});
    flow.wait();
    expect_same_bits(C, before);
    task::gemm(flow, T(1), this->tile(A), this->tile(B), T(1), this->tile(C), Guard{6});
    flow.wait();
    EXPECT_NE(C(0, 0), before(0, 0));
}

} // namespace
} // namespace trencadis
