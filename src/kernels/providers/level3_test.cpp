#include "kernels/providers/provider.hpp"

#include "kernels/testing/reference.hpp"

namespace trencadis {
namespace {

using namespace testing;

// What every provider computes, entry by entry against a wider precision. Unread triangles, padding and, with beta = 0, the
// result are NaN on entry.

template <class T> class LevelThree : public ::testing::Test {
protected:
    void SetUp() override
    {
        if (providers().empty()) GTEST_SKIP() << "no kernel provider on this machine";
    }
};
using Scalars = ::testing::Types<float, double, std::complex<float>, std::complex<double>>;
TYPED_TEST_SUITE(LevelThree, Scalars);

constexpr Index sizes[][2] = {{1, 1}, {5, 30}, {53, 4}, {50, 37}};
constexpr Uplo triangles[] = {Uplo::lower, Uplo::upper};
constexpr Side sides[] = {Side::left, Side::right};

std::string describe(const KernelProvider& kernels, const char* routine, Index m, Index n)
{
    return kernels.name() + " " + routine + " " + std::to_string(m) + " x " + std::to_string(n);
}

/// Element (i, j) of a matrix of which one triangle is stored.
template <Scalar T> T mirrored(const Dense<T>& A, Uplo uplo, bool hermitian, Index i, Index j)
{
    if (hermitian && i == j) return T(std::real(A(i, i)));
    if (in_triangle(uplo, i, j)) return A(i, j);
    return hermitian ? conjugate(A(j, i)) : A(j, i);
}

/// Element (i, j) of op(A), A triangular.
template <Scalar T> T triangular(const Dense<T>& A, Uplo uplo, Op op, Diag diag, Index i, Index j)
{
    if (i == j && diag == Diag::unit) return T(1);
    const bool stored = op == Op::none ? in_triangle(uplo, i, j) : in_triangle(uplo, j, i);
    return stored ? A.at(op, i, j) : T(0);
}

template <Scalar T, class Left, class Right> Sum<T> inner(Index k, Left left, Right right)
{
    Sum<T> sum;
    for (Index p = 0; p < k; ++p) sum.add(left(p), right(p));
    return sum;
}

/// C = alpha `sum` + beta `before`; with beta = 0, `before` is not a number and does not count.
template <Scalar T>
void expect_update(T computed, T alpha, const Sum<T>& sum, T beta, T before, Index k, const std::string& where)
{
    Wide<T> exact = Wide<T>(alpha) * sum.value;
    long double magnitude = std::abs(Wide<T>(alpha)) * sum.magnitude;
    if (beta != T(0)) {
        exact += Wide<T>(beta) * Wide<T>(before);
        magnitude += std::abs(Wide<T>(beta)) * std::abs(Wide<T>(before));
    }
    expect_within(computed, exact, magnitude, double(k + 2), where); // the scaling by alpha and by beta
}

template <Scalar T>
void check_symmetric_product(const KernelProvider& kernels, bool hermitian, Side side, Uplo uplo, Index m, Index n, T beta)
{
    const Index order = side == Side::left ? m : n;
    const Dense<T> A = random_triangle<T>(uplo, order, 0), B = random_matrix<T>(m, n);
    const Dense<T> before = beta == T(0) ? Dense<T>(m, n) : random_matrix<T>(m, n);
    Dense<T> C = before;
    const T alpha = random_scalar<T>();
    if (hermitian) kernels.hemm(side, uplo, m, n, alpha, A.data.data(), A.ld, B.data.data(), B.ld, beta, C.data.data(), C.ld);
    else kernels.symm(side, uplo, m, n, alpha, A.data.data(), A.ld, B.data.data(), B.ld, beta, C.data.data(), C.ld);
    const auto a = [&](Index i, Index j) { return mirrored(A, uplo, hermitian, i, j); };
    for (Index j = 0; j < n; ++j)
        for (Index i = 0; i < m; ++i) {
            const Sum<T> sum = side == Side::left ? inner<T>(
                                                        m, [&](Index p) { return a(i, p); }, [&](Index p) { return B(p, j); })
                                                  : inner<T>(
                                                        n, [&](Index p) { return B(i, p); }, [&](Index p) { return a(p, j); });
            expect_update(C(i, j), alpha, sum, beta, before(i, j), order, describe(kernels, hermitian ? "hemm" : "symm", m, n));
        }
    expect_untouched(before, C, [](Index, Index) { return true; });
}

TYPED_TEST(LevelThree, ProductWithASymmetricMatrixReadsOneTriangle)
{
    using T = TypeParam;
    for (const KernelProvider* kernels : providers())
        for (const Side side : sides)
            for (const Uplo uplo : triangles)
                for (const auto& [m, n] : sizes)
                    for (const bool hermitian : {false, true}) {
                        check_symmetric_product<T>(*kernels, hermitian, side, uplo, m, n, T(0));
                        check_symmetric_product<T>(*kernels, hermitian, side, uplo, m, n, random_scalar<T>());
                    }
}

template <Scalar T>
void check_rank_2k(const KernelProvider& kernels, bool hermitian, Uplo uplo, Op op, Index n, Index k, Real<T> beta)
{
    const Index rows = op == Op::none ? n : k, cols = op == Op::none ? k : n;
    const Dense<T> A = random_matrix<T>(rows, cols), B = random_matrix<T>(rows, cols);
    const Dense<T> before = beta == 0 ? Dense<T>(n, n) : random_triangle<T>(uplo, n, 0);
    Dense<T> C = before;
    const T alpha = random_scalar<T>();
    if (hermitian) kernels.her2k(uplo, op, n, k, alpha, A.data.data(), A.ld, B.data.data(), B.ld, beta, C.data.data(), C.ld);
    else kernels.syr2k(uplo, op, n, k, alpha, A.data.data(), A.ld, B.data.data(), B.ld, T(beta), C.data.data(), C.ld);
    // op(X)(i, p) times the (p, j) of the other's transpose, conjugated where Hermitian.
    const auto other = [&](const Dense<T>& X, Index j, Index p) {
        return hermitian ? conjugate(X.at(op, j, p)) : X.at(op, j, p);
    };
    for (Index j = 0; j < n; ++j)
        for (Index i = 0; i < n; ++i) {
            if (!in_triangle(uplo, i, j)) continue;
            const Sum<T> ab = inner<T>(
                k, [&](Index p) { return A.at(op, i, p); }, [&](Index p) { return other(B, j, p); });
            const Sum<T> ba = inner<T>(
                k, [&](Index p) { return B.at(op, i, p); }, [&](Index p) { return other(A, j, p); });
            Sum<T> both;
            both.value = Wide<T>(alpha) * ab.value + Wide<T>(hermitian ? conjugate(alpha) : alpha) * ba.value;
            both.magnitude = std::abs(Wide<T>(alpha)) * (ab.magnitude + ba.magnitude);
            expect_update(C(i, j), T(1), both, T(beta), before(i, j), 2 * k,
                          describe(kernels, hermitian ? "her2k" : "syr2k", n, k));
        }
    expect_untouched(before, C, [&](Index i, Index j) { return in_triangle(uplo, i, j); });
}

TYPED_TEST(LevelThree, RankTwoKUpdateKeepsToItsTriangle)
{
    using T = TypeParam;
    for (const KernelProvider* kernels : providers())
        for (const Uplo uplo : triangles)
            for (const auto& [n, k] : sizes)
                for (const bool hermitian : {false, true})
                    for (const Op op : {Op::none, hermitian ? herm_op<T> : Op::trans}) {
                        check_rank_2k<T>(*kernels, hermitian, uplo, op, n, k, 0);
                        check_rank_2k<T>(*kernels, hermitian, uplo, op, n, k, Real<T>(-0.5));
                    }
}

template <Scalar T> void check_triangular(const KernelProvider& kernels, Side side, Uplo uplo, Op op, Diag diag, Index m, Index n)
{
    const Index order = side == Side::left ? m : n;
    // Off the diagonal at most 1 / order, so that the inverse is tame with a unit diagonal as well.
    Dense<T> A = random_triangle<T>(uplo, order, 0);
    for (Index j = 0; j < order; ++j)
        for (Index i = 0; i < order; ++i)
            A(i, j) = i == j ? T(diag == Diag::unit ? std::numeric_limits<Real<T>>::quiet_NaN() : 2) : A(i, j) / Real<T>(order);
    const Dense<T> B = random_matrix<T>(m, n);
    const T alpha = random_scalar<T>();
    Dense<T> product = B, solution = B;
    kernels.trmm(side, uplo, op, diag, m, n, alpha, A.data.data(), A.ld, product.data.data(), product.ld);
    kernels.trsm(side, uplo, op, diag, m, n, alpha, A.data.data(), A.ld, solution.data.data(), solution.ld);
    const auto a = [&](Index i, Index j) { return triangular(A, uplo, op, diag, i, j); };
    const auto times_a = [&](const Dense<T>& X, Index i, Index j) {
        return side == Side::left ? inner<T>(
                                        m, [&](Index p) { return a(i, p); }, [&](Index p) { return X(p, j); })
                                  : inner<T>(
                                        n, [&](Index p) { return X(i, p); }, [&](Index p) { return a(p, j); });
    };
    for (Index j = 0; j < n; ++j)
        for (Index i = 0; i < m; ++i) {
            expect_update(product(i, j), alpha, times_a(B, i, j), T(0), T(0), order, describe(kernels, "trmm", m, n));
            // The residual of substitution, and of multiplication by inverted blocks of a triangle this tame (Higham, chapters 8,
            // 14).
            const Sum<T> back = times_a(solution, i, j);
            const Wide<T> wanted = Wide<T>(alpha) * Wide<T>(B(i, j));
            expect_within(T(back.value - wanted), Wide<T>(0), 4 * (back.magnitude + std::abs(wanted)), double(order + 2),
                          describe(kernels, "trsm", m, n));
        }
    expect_untouched(B, product, [](Index, Index) { return true; });
    expect_untouched(B, solution, [](Index, Index) { return true; });
}

TYPED_TEST(LevelThree, TriangularProductAndSolveReadOneTriangle)
{
    using T = TypeParam;
    for (const KernelProvider* kernels : providers())
        for (const Side side : sides)
            for (const Uplo uplo : triangles)
                for (const Op op : {Op::none, Op::trans, herm_op<T>})
                    for (const Diag diag : {Diag::non_unit, Diag::unit})
                        for (const auto& [m, n] : sizes) check_triangular<T>(*kernels, side, uplo, op, diag, m, n);
}

} // namespace
} // namespace trencadis
