#include "algorithms/rank_2k.hpp"
#include "algorithms/symm.hpp"
#include "algorithms/trmm.hpp"
#include "kernels/testing/in_order.hpp"
#include "kernels/testing/reference.hpp"

namespace trencadis {
namespace {

using namespace testing;
constexpr Index nb = 4;
constexpr Index sizes[] = {0, 1, nb - 1, nb, nb + 1, 2 * nb + 3};

template <class T> class StructuredProducts : public ::testing::Test {
protected:
    void SetUp() override
    {
        if (providers().empty()) GTEST_SKIP() << "no kernel library on this machine";
    }
    static std::vector<Op> ops()
    {
        return is_complex<T> ? std::vector{Op::none, Op::trans, Op::conj_trans} : std::vector{Op::none, Op::trans};
    }
};
using Scalars = ::testing::Types<float, double, std::complex<float>, std::complex<double>>;
TYPED_TEST_SUITE(StructuredProducts, Scalars);

template <Scalar T> TileMatrix<T> tiles(Dense<T>& A, Op op = Op::none) { return TileMatrix<T>(A.view(), nb, nb).with(op); }

/// A symmetric or Hermitian matrix of which one triangle is stored; the diagonal's imaginary part is never the matrix's.
template <Scalar T> struct Mirrored {
    Dense<T> A;
    Uplo uplo;
    bool hermitian;
    Mirrored(Uplo uplo, Index n, bool hermitian) : A(random_triangle<T>(uplo, n, 0)), uplo(uplo), hermitian(hermitian)
    {
        if constexpr (is_complex<T>)
            for (Index i = 0; i < n; ++i) A(i, i) += T(0, hermitian ? std::numeric_limits<Real<T>>::quiet_NaN() : Real<T>(0.5));
    }
    T at(Index i, Index j) const
    {
        if (hermitian && i == j) return T(std::real(A(i, i)));
        if (in_triangle(uplo, i, j)) return A(i, j);
        return hermitian ? conjugate(A(j, i)) : A(j, i);
    }
};

template <Scalar T>
void check_symm(const KernelProvider& kernels, bool hermitian, Side side, Uplo uplo, Index m, Index n, T alpha, T beta)
{
    const Index order = side == Side::left ? m : n;
    Mirrored<T> mirrored(uplo, order, hermitian);
    Dense<T> B = random_matrix<T>(m, n);
    const Dense<T> before = beta == T(0) ? Dense<T>(m, n) : random_matrix<T>(m, n);
    Dense<T> C = before;
    const Op mirror = hermitian ? herm_op<T> : Op::trans, f = side == Side::left ? Op::none : mirror;
    const TileMatrix<T> lower = tiles(mirrored.A, uplo == Uplo::lower ? Op::none : mirror);
    InOrder executor(&kernels);
    TaskFlow flow(executor);
    if (hermitian) hemm(flow, seen_through(f, alpha), lower, tiles(B, f), seen_through(f, beta), tiles(C, f));
    else symm(flow, alpha, lower, tiles(B, f), beta, tiles(C, f));
    flow.wait();
    for (Index j = 0; j < n; ++j)
        for (Index i = 0; i < m; ++i) {
            Sum<T> sum;
            for (Index l = 0; l < order; ++l)
                if (side == Side::left) sum.add(alpha * mirrored.at(i, l), B(l, j));
                else sum.add(alpha * B(i, l), mirrored.at(l, j));
            if (beta != T(0)) sum.add(beta, before(i, j));
            expect_within(C(i, j), sum.value, sum.magnitude, double(order + 3), "symm");
        }
    expect_untouched(before, C, [](Index, Index) { return true; });
}

TYPED_TEST(StructuredProducts, SymmAndHemmReadOneTriangleOnEitherSide)
{
    using T = TypeParam;
    T factor = T(0.75);
    if constexpr (is_complex<T>) factor = T(0.75, -0.5); // a conjugate too many or too few shows
    for (const KernelProvider* kernels : providers())
        for (const Side side : {Side::left, Side::right})
            for (const Uplo uplo : {Uplo::lower, Uplo::upper})
                for (const Index order : sizes)
                    for (const Index other : {nb - 1, nb + 2})
                        for (const T beta : {T(0), T(1), factor}) {
                            const Index m = side == Side::left ? order : other, n = side == Side::left ? other : order;
                            check_symm<T>(*kernels, false, side, uplo, m, n, factor, beta);
                            check_symm<T>(*kernels, true, side, uplo, m, n, factor, beta);
                        }
}

template <Scalar T>
void check_rank_2k(const KernelProvider& kernels, bool hermitian, Uplo uplo, Op op, Index n, Index k, T alpha, Real<T> beta)
{
    const Index rows = op == Op::none ? n : k;
    Dense<T> A = random_matrix<T>(rows, n + k - rows), B = random_matrix<T>(rows, n + k - rows);
    const Dense<T> before = beta == 0 ? Dense<T>(n, n) : random_triangle<T>(uplo, n, 0);
    Dense<T> C = before;
    const TileMatrix<T> lower = tiles(C, uplo == Uplo::lower ? Op::none : hermitian ? herm_op<T> : Op::trans);
    InOrder executor(&kernels);
    TaskFlow flow(executor);
    if (hermitian) her2k(flow, alpha, tiles(A, op), tiles(B, op), beta, lower);
    else syr2k(flow, alpha, tiles(A, op), tiles(B, op), T(beta), lower);
    flow.wait();
    const auto mirrored = [&](T x) { return hermitian ? conjugate(x) : x; };
    for (Index j = 0; j < n; ++j)
        for (Index i = 0; i < n; ++i) {
            if (!in_triangle(uplo, i, j)) continue;
            Sum<T> sum;
            for (Index l = 0; l < k; ++l) {
                sum.add(alpha * A.at(op, i, l), mirrored(B.at(op, j, l)));
                sum.add(mirrored(alpha) * B.at(op, i, l), mirrored(A.at(op, j, l)));
            }
            if (beta != 0) sum.add(T(beta), before(i, j));
            expect_within(C(i, j), sum.value, sum.magnitude, double(2 * k + 3), "rank-2k update");
            if (hermitian && i == j) {
                EXPECT_EQ(std::imag(C(i, i)), 0);
            }
        }
    expect_untouched(before, C, [&](Index i, Index j) { return in_triangle(uplo, i, j); });
}

TYPED_TEST(StructuredProducts, Rank2kUpdatesWriteOneTriangleOnly)
{
    using T = TypeParam;
    T factor = T(-0.5);
    if constexpr (is_complex<T>) factor = T(-0.5, 0.75);
    for (const KernelProvider* kernels : providers())
        for (const Uplo uplo : {Uplo::lower, Uplo::upper})
            for (const Index n : sizes)
                for (const Index k : {Index(0), nb, 2 * nb + 1})
                    for (const T alpha : {T(0), factor})
                        for (const Real<T> beta : {Real<T>(0), Real<T>(1), Real<T>(-2)}) {
                            // Random C has a diagonal without imaginary part, which nothing but beta = 1 leaves as it is.
                            check_rank_2k<T>(*kernels, false, uplo, Op::none, n, k, alpha, beta);
                            check_rank_2k<T>(*kernels, false, uplo, Op::trans, n, k, alpha, beta);
                            check_rank_2k<T>(*kernels, true, uplo, Op::none, n, k, alpha, beta);
                            check_rank_2k<T>(*kernels, true, uplo, herm_op<T>, n, k, alpha, beta);
                        }
}

template <Scalar T> void check_trmm(const KernelProvider& kernels, Uplo uplo, Op op, Diag diag, Index m, Index n, T alpha)
{
    Dense<T> A = random_triangle<T>(uplo, m, 0);
    if (diag == Diag::unit)
        for (Index i = 0; i < m; ++i) A(i, i) = T(std::numeric_limits<Real<T>>::quiet_NaN());
    const Dense<T> before = alpha == T(0) ? Dense<T>(m, n) : random_matrix<T>(m, n);
    Dense<T> X = before;
    const Uplo seen = op == Op::none ? uplo : opposite(uplo);
    InOrder executor(&kernels);
    TaskFlow flow(executor);
    trmm(flow, seen, diag, alpha, tiles(A, op), tiles(X));
    flow.wait();
    for (Index j = 0; j < n; ++j)
        for (Index i = 0; i < m; ++i) {
            if (alpha == T(0)) {
                EXPECT_EQ(X(i, j), T(0));
                continue;
            }
            Sum<T> sum;
            for (Index l = 0; l < m; ++l) {
                if (l == i && diag == Diag::unit) sum.add(alpha, before(i, j));
                else if (in_triangle(seen, i, l)) sum.add(alpha * A.at(op, i, l), before(l, j));
            }
            expect_within(X(i, j), sum.value, sum.magnitude, double(m + 3), "triangular product");
        }
    expect_untouched(before, X, [](Index, Index) { return true; });
}

TYPED_TEST(StructuredProducts, TrmmOverwritesEachRowAfterItsLastReader)
{
    using T = TypeParam;
    for (const KernelProvider* kernels : providers())
        for (const Uplo uplo : {Uplo::lower, Uplo::upper})
            for (const Op op : this->ops())
                for (const Diag diag : {Diag::unit, Diag::non_unit})
                    for (const Index m : sizes)
                        for (const T alpha : {T(0), T(1), T(-0.5)}) check_trmm<T>(*kernels, uplo, op, diag, m, nb + 1, alpha);
}

} // namespace
} // namespace trencadis
