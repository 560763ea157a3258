#include "algorithms/gemm.hpp"
#include "algorithms/rank_k.hpp"
#include "algorithms/trsm.hpp"
#include "kernels/testing/in_order.hpp"
#include "kernels/testing/reference.hpp"

namespace trencadis {
namespace {

using namespace testing;
constexpr Index nb = 4;
constexpr Index sizes[] = {0, 1, nb - 1, nb, nb + 1, 2 * nb + 3};

template <class T> class Products : public ::testing::Test {
protected:
    void SetUp() override
    {
        if (providers().empty()) GTEST_SKIP() << "no kernel library on this machine";
    }
    static std::vector<Op> ops()
    {
        return is_complex<T> ? std::vector{Op::none, Op::trans, Op::conj_trans} : std::vector{Op::none, Op::trans};
    }
    static TileMatrix<T> tiles(Dense<T>& A, Op op) { return TileMatrix<T>(A.view(), nb, nb).with(op); }
    static Dense<T> stored(Op op, Index rows, Index cols)
    {
        return op == Op::none ? random_matrix<T>(rows, cols) : random_matrix<T>(cols, rows);
    }
};
using Scalars = ::testing::Types<float, double, std::complex<float>, std::complex<double>>;
TYPED_TEST_SUITE(Products, Scalars);

template <Scalar T>
void check_gemm(const KernelProvider& kernels, Op op_a, Op op_b, Index m, Index n, Index k, T alpha, T beta, Dense<T> A,
                Dense<T> B)
{
    const Dense<T> before = beta == T(0) ? Dense<T>(m, n) : random_matrix<T>(m, n); // NaN where it must not be read
    Dense<T> C = before;
    InOrder executor(&kernels);
    {
        TaskFlow flow(executor);
        gemm(flow, alpha, TileMatrix<T>(A.view(), nb, nb).with(op_a), TileMatrix<T>(B.view(), nb, nb).with(op_b), beta,
             TileMatrix<T>(C.view(), nb, nb));
        flow.wait();
    }
    for (Index j = 0; j < n; ++j)
        for (Index i = 0; i < m; ++i) {
            Sum<T> sum;
            for (Index l = 0; l < k; ++l) sum.add(alpha, A.at(op_a, i, l) * B.at(op_b, l, j));
            if (beta != T(0)) sum.add(beta, before(i, j));
            // alpha times a product rounds once more than the sum's bound knows
            expect_within(C(i, j), sum.value, sum.magnitude, double(k + 2), "gemm");
        }
    expect_untouched(before, C, [](Index, Index) { return true; });
}

TYPED_TEST(Products, GemmIsTheProductForEveryPairOfOperationsAndRaggedSizes)
{
    using T = TypeParam;
    for (const KernelProvider* kernels : providers())
        for (const Op op_a : this->ops())
            for (const Op op_b : this->ops())
                for (const Index m : sizes)
                    for (const Index k : {Index(0), nb, 2 * nb + 1})
                        for (const T beta : {T(0), T(1), T(-0.5)})
                            check_gemm<T>(*kernels, op_a, op_b, m, nb + 2, k, T(0.75), beta, this->stored(op_a, m, k),
                                          this->stored(op_b, k, nb + 2));
}

TYPED_TEST(Products, GemmWithAlphaZeroDoesNotReadItsOperands)
{
    using T = TypeParam;
    Dense<T> A(6, 6), B(6, 6), C = random_matrix<T>(6, 6), before = C; // A and B are NaN
    InOrder executor(providers().front());
    TaskFlow flow(executor);
    gemm(flow, T(0), this->tiles(A, Op::none), this->tiles(B, Op::none), T(2), this->tiles(C, Op::none));
    flow.wait();
    for (Index j = 0; j < 6; ++j)
        for (Index i = 0; i < 6; ++i) EXPECT_EQ(C(i, j), T(2) * before(i, j));
}

template <Scalar T>
void check_rank_k(const KernelProvider& kernels, bool hermitian, Uplo uplo, Op op, Index n, Index k, Real<T> beta, Index grain)
{
    Dense<T> A = op == Op::none ? random_matrix<T>(n, k) : random_matrix<T>(k, n);
    const Dense<T> before = beta == 0 ? Dense<T>(n, n) : random_triangle<T>(uplo, n, 0);
    Dense<T> C = before;
    const Op seen = uplo == Uplo::lower ? Op::none : hermitian ? herm_op<T> : Op::trans;
    const TileMatrix<T> left = TileMatrix<T>(A.view(), nb, nb).with(op), lower = TileMatrix<T>(C.view(), nb, nb).with(seen);
    InOrder executor(&kernels, grain);
    TaskFlow flow(executor);
    if (hermitian) herk(flow, Real<T>(-0.5), left, beta, lower);
    else syrk(flow, T(-0.5), left, T(beta), lower);
    flow.wait();
    for (Index j = 0; j < n; ++j)
        for (Index i = 0; i < n; ++i) {
            if (!in_triangle(uplo, i, j)) continue;
            Sum<T> sum;
            for (Index l = 0; l < k; ++l) {
                const T right = A.at(op, j, l);
                sum.add(T(-0.5) * A.at(op, i, l), hermitian ? conjugate(right) : right);
            }
            if (beta != 0) sum.add(T(beta), before(i, j));
            expect_within(C(i, j), sum.value, sum.magnitude, double(k + 2), "rank-k update");
            if (hermitian && i == j) {
                EXPECT_EQ(std::imag(C(i, i)), 0);
            }
        }
    expect_untouched(before, C, [&](Index i, Index j) { return in_triangle(uplo, i, j); });
}

TYPED_TEST(Products, RankKUpdatesWriteOneTriangleOnly)
{
    using T = TypeParam;
    for (const KernelProvider* kernels : providers())
        for (const Uplo uplo : {Uplo::lower, Uplo::upper})
            for (const Index n : sizes)
                for (const Index k : {Index(0), nb, 2 * nb + 1})
                    for (const Real<T> beta : {Real<T>(0), Real<T>(1), Real<T>(-2)}) {
                        check_rank_k<T>(*kernels, false, uplo, Op::none, n, k, beta, 1);
                        check_rank_k<T>(*kernels, false, uplo, Op::trans, n, k, beta, 1);
                        check_rank_k<T>(*kernels, true, uplo, Op::none, n, k, beta, 1);
                        check_rank_k<T>(*kernels, true, uplo, herm_op<T>, n, k, beta, 1);
                    }
}

template <Scalar T> void check_trsm(const KernelProvider& kernels, Uplo uplo, Op op, Diag diag, Index m, Index n, T alpha)
{
    Dense<T> A = random_triangle<T>(uplo, m, 4);
    for (Index j = 0; j < m; ++j)
        for (Index i = 0; i < m; ++i)
            if (diag == Diag::unit) A(i, j) = i == j ? T(std::numeric_limits<Real<T>>::quiet_NaN()) : A(i, j) / Real<T>(m);
    const Dense<T> before = alpha == T(0) ? Dense<T>(m, n) : random_matrix<T>(m, n);
    Dense<T> X = before;
    const Uplo seen = op == Op::none ? uplo : opposite(uplo);
    InOrder executor(&kernels);
    TaskFlow flow(executor);
    trsm(flow, seen, diag, alpha, TileMatrix<T>(A.view(), nb, nb).with(op), TileMatrix<T>(X.view(), nb, nb));
    flow.wait();
    for (Index j = 0; j < n; ++j)
        for (Index i = 0; i < m; ++i) {
            if (alpha == T(0)) {
                EXPECT_EQ(X(i, j), T(0));
                continue;
            }
            Sum<T> sum; // row i of op(A) X
            for (Index l = 0; l < m; ++l) {
                if (l == i && diag == Diag::unit) sum.add(T(1), X(i, j));
                else if (in_triangle(seen, i, l)) sum.add(A.at(op, i, l), X(l, j));
            }
            // Backward error of substitution (Higham, theorem 8.5), twice: kernels multiply by reciprocals of the diagonal
            const T right = alpha * before(i, j);
            expect_within(right, sum.value, 2 * (sum.magnitude + std::abs(Wide<T>(right))), double(m), "triangular solve");
        }
    expect_untouched(before, X, [](Index, Index) { return true; });
}

TYPED_TEST(Products, TrsmSolvesWithEveryTriangleOperationAndDiagonal)
{
    using T = TypeParam;
    for (const KernelProvider* kernels : providers())
        for (const Uplo uplo : {Uplo::lower, Uplo::upper})
            for (const Op op : this->ops())
                for (const Diag diag : {Diag::unit, Diag::non_unit})
                    for (const Index m : sizes)
                        for (const T alpha : {T(0), T(1), T(-0.5)}) check_trsm<T>(*kernels, uplo, op, diag, m, nb + 1, alpha);
}

} // namespace
} // namespace trencadis
