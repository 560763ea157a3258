#include "kernels/testing/reference.hpp"
#include "symbols.hpp"

// What comes out of the Fortran symbols, in full and to the bit where nothing may come out. Operands are NaN wherever the
// reference does not look.
namespace trencadis::testing {
namespace {

constexpr Index sizes[] = {0, 1, 7, 20};

template <class T> class Results : public ::testing::Test {
protected:
    static constexpr T alpha() { return is_complex<T> ? complex_or(0.75, -0.5) : T(0.75); }
    static constexpr T complex_or(double re, double im)
    {
        if constexpr (is_complex<T>) return T(Real<T>(re), Real<T>(im));
        else return T(re);
    }
    static std::string ops() { return is_complex<T> ? "NTC" : "NT"; }
    static const Family& family(Index n) { return fortran_families[std::size_t(n) % std::size(fortran_families)]; }
};
using Scalars = ::testing::Types<float, double, std::complex<float>, std::complex<double>>;
TYPED_TEST_SUITE(Results, Scalars);

/// An operand that the routine stores as op says.
template <Scalar T> Dense<T> stored(Op op, Index rows, Index cols)
{
    return op == Op::none ? random_matrix<T>(rows, cols) : random_matrix<T>(cols, rows);
}
template <Scalar T> Dense<T> result_before(T beta, Index m, Index n)
{
    return beta == T(0) ? Dense<T>(m, n) : random_matrix<T>(m, n);
}

TYPED_TEST(Results, OfGemmAreTheProducts)
{
    using T = TypeParam;
    const T alpha = this->alpha();
    for (const char ta : this->ops())
        for (const char tb : this->ops())
            for (const Index m : sizes)
                for (const Index k : {Index(0), Index(13)})
                    for (const T beta : {T(0), T(1), alpha}) {
                        const Index n = 9;
                        const Dense<T> A = stored<T>(Op(ta), m, k), B = stored<T>(Op(tb), k, n),
                                       before = result_before(beta, m, n);
                        Dense<T> C = before;
                        call<T>(this->family(m + k), "gemm", ta, tb, m, n, k, alpha, A.data.data(), A.ld, B.data.data(), B.ld,
                                beta, C.data.data(), C.ld);
                        for (Index j = 0; j < n; ++j)
                            for (Index i = 0; i < m; ++i) {
                                Sum<T> sum;
                                for (Index l = 0; l < k; ++l) sum.add(alpha * A.at(Op(ta), i, l), B.at(Op(tb), l, j));
                                if (beta != T(0)) sum.add(beta, before(i, j));
                                expect_within(C(i, j), sum.value, sum.magnitude, double(k + 3), "gemm");
                            }
                        expect_untouched(before, C, [](Index, Index) { return true; });
                    }
}

/// Element (i, j) of the symmetric or Hermitian matrix of which A holds one triangle.
template <Scalar T> T mirrored(const Dense<T>& A, Uplo uplo, bool hermitian, Index i, Index j)
{
    if (hermitian && i == j) return T(std::real(A(i, i)));
    if (in_triangle(uplo, i, j)) return A(i, j);
    return hermitian ? conjugate(A(j, i)) : A(j, i);
}

template <Scalar T> void check_side(bool hermitian, Side side, Uplo uplo, Index order, T alpha, T beta)
{
    const Index m = side == Side::left ? order : 9, n = side == Side::left ? 9 : order;
    const Dense<T> A = random_triangle<T>(uplo, order, 0), B = random_matrix<T>(m, n), before = result_before(beta, m, n);
    Dense<T> C = before;
    call<T>(fortran_families[0], hermitian ? "hemm" : "symm", char(side), char(uplo), m, n, alpha, A.data.data(), A.ld,
            B.data.data(), B.ld, beta, C.data.data(), C.ld);
    for (Index j = 0; j < n; ++j)
        for (Index i = 0; i < m; ++i) {
            Sum<T> sum;
            for (Index l = 0; l < order; ++l)
                if (side == Side::left) sum.add(alpha * mirrored(A, uplo, hermitian, i, l), B(l, j));
                else sum.add(alpha * B(i, l), mirrored(A, uplo, hermitian, l, j));
            if (beta != T(0)) sum.add(beta, before(i, j));
            expect_within(C(i, j), sum.value, sum.magnitude, double(order + 3), "symm");
        }
    expect_untouched(before, C, [](Index, Index) { return true; });
}

TYPED_TEST(Results, OfSymmAndHemmDependOnOneTriangle)
{
    using T = TypeParam;
    for (const Side side : {Side::left, Side::right})
        for (const Uplo uplo : {Uplo::lower, Uplo::upper})
            for (const Index order : sizes)
                for (const T beta : {T(0), this->alpha()}) {
                    check_side<T>(false, side, uplo, order, this->alpha(), beta);
                    if (is_complex<T>) check_side<T>(true, side, uplo, order, this->alpha(), beta);
                }
}

/// syrk and herk when B is A and `twice` is false, else syr2k and her2k.
template <Scalar T> void check_rank(bool hermitian, bool twice, Uplo uplo, Op op, Index n, Index k, T alpha, Real<T> beta)
{
    if (hermitian && !twice) alpha = T(std::real(alpha));
    const Dense<T> A = stored<T>(op, n, k), B = twice ? stored<T>(op, n, k) : A;
    const Dense<T> before = beta == 0 ? Dense<T>(n, n) : random_triangle<T>(uplo, n, 0);
    Dense<T> C = before;
    const T wide_beta = T(beta);
    const Real<T> real_alpha = std::real(alpha);
    T* const c = C.data.data();
    const T *const a = A.data.data(), *const b = B.data.data();
    const Family& family = fortran_families[std::size_t(n) % std::size(fortran_families)];
    if (hermitian && twice) call<T>(family, "her2k", char(uplo), char(op), n, k, alpha, a, A.ld, b, B.ld, beta, c, C.ld);
    else if (hermitian) call<T>(family, "herk", char(uplo), char(op), n, k, real_alpha, a, A.ld, beta, c, C.ld);
    else if (twice) call<T>(family, "syr2k", char(uplo), char(op), n, k, alpha, a, A.ld, b, B.ld, wide_beta, c, C.ld);
    else call<T>(family, "syrk", char(uplo), char(op), n, k, alpha, a, A.ld, wide_beta, c, C.ld);
    const auto f = [&](T x) { return hermitian ? conjugate(x) : x; };
    for (Index j = 0; j < n; ++j)
        for (Index i = 0; i < n; ++i) {
            if (!in_triangle(uplo, i, j)) continue;
            Sum<T> sum;
            for (Index l = 0; l < k; ++l) {
                sum.add(alpha * A.at(op, i, l), f(B.at(op, j, l)));
                if (twice) sum.add(f(alpha) * B.at(op, i, l), f(A.at(op, j, l)));
            }
            if (beta != 0) sum.add(wide_beta, before(i, j));
            expect_within(C(i, j), sum.value, sum.magnitude, double(2 * k + 3), "rank update");
            if (hermitian && i == j) {
                EXPECT_EQ(std::imag(C(i, i)), 0);
            }
        }
    expect_untouched(before, C, [&](Index i, Index j) { return in_triangle(uplo, i, j); });
}

TYPED_TEST(Results, OfRankUpdatesKeepToTheirTriangle)
{
    using T = TypeParam;
    for (const Uplo uplo : {Uplo::lower, Uplo::upper})
        for (const Index n : sizes)
            for (const Index k : {Index(0), Index(13)})
                for (const Real<T> beta : {Real<T>(0), Real<T>(1), Real<T>(-2)})
                    for (const bool twice : {false, true})
                        for (const bool transposed : {false, true}) {
                            check_rank<T>(false, twice, uplo, transposed ? Op::trans : Op::none, n, k, this->alpha(), beta);
                            if (is_complex<T>)
                                check_rank<T>(true, twice, uplo, transposed ? Op::conj_trans : Op::none, n, k, this->alpha(),
                                              beta);
                        }
}

/// Element (i, j) of op(A), A triangular.
template <Scalar T> T triangular(const Dense<T>& A, Uplo uplo, Op op, Diag diag, Index i, Index j)
{
    if (i == j && diag == Diag::unit) return T(1);
    const bool kept = op == Op::none ? in_triangle(uplo, i, j) : in_triangle(uplo, j, i);
    return kept ? A.at(op, i, j) : T(0);
}

template <Scalar T> void check_triangular(Side side, Uplo uplo, Op op, Diag diag, Index order, T alpha)
{
    const Index m = side == Side::left ? order : 9, n = side == Side::left ? 9 : order;
    Dense<T> A = random_triangle<T>(uplo, order, 2);
    for (T& value : A.data) value /= Real<T>(order + 2); // solutions stay small with unit diagonals, too
    if (diag == Diag::unit)
        for (Index i = 0; i < order; ++i) A(i, i) = T(std::numeric_limits<Real<T>>::quiet_NaN());
    const Dense<T> before = random_matrix<T>(m, n);
    Dense<T> product = before, solution = before;
    for (const bool solves : {false, true})
        call<T>(fortran_families[0], solves ? "trsm" : "trmm", char(side), char(uplo), char(op), char(diag), m, n, alpha,
                A.data.data(), A.ld, (solves ? solution : product).data.data(), before.ld);
    for (Index j = 0; j < n; ++j)
        for (Index i = 0; i < m; ++i) {
            Sum<T> multiplied, residual;
            for (Index l = 0; l < order; ++l) {
                const T a = side == Side::left ? triangular(A, uplo, op, diag, i, l) : triangular(A, uplo, op, diag, l, j);
                multiplied.add(alpha * a, side == Side::left ? before(l, j) : before(i, l));
                residual.add(a, side == Side::left ? solution(l, j) : solution(i, l));
            }
            expect_within(product(i, j), multiplied.value, multiplied.magnitude, double(order + 3), "trmm");
            // Backward error of substitution (Higham, theorem 8.5), twice: kernels multiply by reciprocals of the diagonal
            const T right = alpha * before(i, j);
            expect_within(right, residual.value, 2 * (residual.magnitude + std::abs(Wide<T>(right))), double(order), "trsm");
        }
    expect_untouched(before, product, [](Index, Index) { return true; });
    expect_untouched(before, solution, [](Index, Index) { return true; });
}

TYPED_TEST(Results, OfTriangularRoutinesServeEveryFlag)
{
    using T = TypeParam;
    for (const Side side : {Side::left, Side::right})
        for (const Uplo uplo : {Uplo::lower, Uplo::upper})
            for (const char op : this->ops())
                for (const Diag diag : {Diag::unit, Diag::non_unit})
                    for (const Index order : sizes) check_triangular<T>(side, uplo, Op(op), diag, order, this->alpha());
}

TYPED_TEST(Results, OfCholeskySolveTheSystemAndLeaveTheOtherTriangle)
{
    using T = TypeParam;
    for (const Uplo uplo : {Uplo::lower, Uplo::upper})
        for (const Index n : sizes) {
            const Index nrhs = 3;
            const Dense<T> A = random_triangle<T>(uplo, n, Real<T>(2 * n + 2)), B = random_matrix<T>(n, nrhs);
            Dense<T> factor = A, both = A, x = B, y = B;
            for (const Family& family : fortran_families) {
                factor = A, both = A, x = B, y = B;
                std::int64_t info = -7, info_both = -7;
                call<T>(family, "potrf", char(uplo), n, factor.data.data(), A.ld, &info);
                EXPECT_EQ(family.wide ? info : std::int64_t(std::int32_t(info)), 0);
                call<T>(family, "potrs", char(uplo), n, nrhs, factor.data.data(), A.ld, x.data.data(), B.ld, &info);
                call<T>(family, "posv", char(uplo), n, nrhs, both.data.data(), A.ld, y.data.data(), B.ld, &info_both);
                EXPECT_EQ(family.wide ? info_both : std::int64_t(std::int32_t(info_both)), 0);
            }
            for (const Dense<T>* solution : {&x, &y})
                for (Index j = 0; j < nrhs; ++j)
                    for (Index i = 0; i < n; ++i) {
                        Sum<T> sum;
                        for (Index l = 0; l < n; ++l) sum.add(mirrored(A, uplo, true, i, l), (*solution)(l, j));
                        // Higham, theorem 10.4
                        expect_within(B(i, j), sum.value, 2 * sum.magnitude + std::abs(Wide<T>(B(i, j))), 3.0 * double(n),
                                      "posv");
                    }
            expect_untouched(A, factor, [&](Index i, Index j) { return in_triangle(uplo, i, j); });
            expect_untouched(A, both, [&](Index i, Index j) { return in_triangle(uplo, i, j); });
            expect_untouched(B, y, [](Index, Index) { return true; });
        }
}

TYPED_TEST(Results, OfCholeskyNameTheMinorThatIsNotPositiveDefinite)
{
    using T = TypeParam;
    for (const Index bad : {1, 6, 20}) {
        Dense<T> A = random_triangle<T>(Uplo::lower, 20, 42), B = random_matrix<T>(20, 1);
        const Dense<T> before = B;
        A(bad - 1, bad - 1) = T(-1);
        std::int64_t info = 0;
        call<T>(fortran_families[2], "posv", 'l', Index(20), Index(1), A.data.data(), A.ld, B.data.data(), B.ld, &info);
        EXPECT_EQ(info, bad);
        expect_same_bits(before, B);
    }
}

/// Pivots in a family's integers.
struct FamilyPivots {
    std::vector<std::int32_t> narrow;
    std::vector<std::int64_t> wide;
    explicit FamilyPivots(Index n) : narrow(std::size_t(n) + 1, -7), wide(std::size_t(n) + 1, -7) {}
    void* data(const Family& family) { return family.wide ? static_cast<void*>(wide.data()) : narrow.data(); }
    Index at(const Family& family, Index i) const { return family.wide ? wide[std::size_t(i)] : narrow[std::size_t(i)]; }
};

TYPED_TEST(Results, OfLuSolveTheSystemInIntegersOfBothWidths)
{
    using T = TypeParam;
    for (const Index n : sizes)
        for (const Family& family : fortran_families) {
            const Index nrhs = 3;
            const Dense<T> A = random_matrix<T>(n, n), B = random_matrix<T>(n, nrhs);
            Dense<T> factors = A, both = A, x = B, y = B;
            FamilyPivots pivots(n), others(n);
            std::int64_t info = -7, info_both = -7;
            call<T>(family, "getrf", n, n, factors.data.data(), A.ld, pivots.data(family), &info);
            EXPECT_EQ(family.wide ? info : std::int64_t(std::int32_t(info)), 0);
            call<T>(family, "getrs", 'n', n, nrhs, factors.data.data(), A.ld, pivots.data(family), x.data.data(), B.ld, &info);
            call<T>(family, "gesv", n, nrhs, both.data.data(), A.ld, others.data(family), y.data.data(), B.ld, &info_both);
            EXPECT_EQ(family.wide ? info_both : std::int64_t(std::int32_t(info_both)), 0);
            EXPECT_EQ(pivots.at(family, n), -7) << "one too many";
            for (Index i = 0; i < n; ++i) {
                EXPECT_EQ(pivots.at(family, i), others.at(family, i));
                EXPECT_GE(pivots.at(family, i), i + 1);
                EXPECT_LE(pivots.at(family, i), n);
            }
            for (const Dense<T>* solution : {&x, &y})
                for (Index j = 0; j < nrhs; ++j)
                    for (Index i = 0; i < n; ++i) {
                        Sum<T> sum;
                        for (Index l = 0; l < n; ++l) sum.add(A(i, l), (*solution)(l, j));
                        // Higham, theorem 9.4: |L| |U| |x|, with entries of L below 1 and growth below n here
                        expect_within(B(i, j), sum.value, double(n) * (1 + sum.magnitude), 3.0 * double(n) * double(n), "gesv");
                    }
        }
}

TYPED_TEST(Results, OfInversesComeWithLapacksWorkspace)
{
    using T = TypeParam;
    for (const Index n : sizes)
        for (const Family& family : fortran_families) {
            Dense<T> A = random_matrix<T>(n, n), X(n, n);
            for (Index i = 0; i < n; ++i) A(i, i) += T(Real<T>(n));
            X = A;
            FamilyPivots pivots(n);
            std::int64_t info = -7;
            std::vector<T> work(std::size_t(n) + 1, T(0));
            call<T>(family, "getrf", n, n, X.data.data(), A.ld, pivots.data(family), &info);
            call<T>(family, "getri", n, X.data.data(), A.ld, pivots.data(family), work.data(), Index(-1), &info);
            EXPECT_EQ(std::real(work[0]), Real<T>(std::max<Index>(n, 1))) << "asked for";
            work[0] = T(-7);
            call<T>(family, "getri", n, X.data.data(), A.ld, pivots.data(family), work.data(), std::max<Index>(n, 1), &info);
            EXPECT_EQ(std::real(work[0]), Real<T>(std::max<Index>(n, 1))) << "told in any case";
            EXPECT_EQ(family.wide ? info : std::int64_t(std::int32_t(info)), 0);
            for (Index j = 0; j < n; ++j)
                for (Index i = 0; i < n; ++i) {
                    Sum<T> sum;
                    for (Index l = 0; l < n; ++l) sum.add(X(i, l), A(l, j));
                    // Higham, section 14.3: |X A - I| within |X| |L| |U| |X| |A|, whose condition is below 4 here
                    expect_within(T(i == j), sum.value, 4 * (1 + sum.magnitude), 8.0 * double(n), "getri");
                }
        }
}

TYPED_TEST(Results, OfTriangularInversesTimesTheMatrixAreTheIdentity)
{
    using T = TypeParam;
    for (const Uplo uplo : {Uplo::lower, Uplo::upper})
        for (const Index n : sizes)
            for (const Family& family : fortran_families) {
                Dense<T> A = random_triangle<T>(uplo, n, Real<T>(2 * n + 2)), X = A;
                std::int64_t info = -7;
                call<T>(family, "trtri", char(uplo), 'n', n, X.data.data(), A.ld, &info);
                EXPECT_EQ(family.wide ? info : std::int64_t(std::int32_t(info)), 0);
                expect_untouched(A, X, [&](Index i, Index j) { return in_triangle(uplo, i, j); });
                for (Index j = 0; j < n; ++j) {
                    Sum<T> sum; // of row j with column j; Higham, section 14.2
                    for (Index l = 0; l < n; ++l)
                        if (in_triangle(uplo, j, l) && in_triangle(uplo, l, j)) sum.add(A(j, l), X(l, j));
                    expect_within(T(1), sum.value, 2 * sum.magnitude, 3.0 * double(n), "trtri");
                }
            }
}

TYPED_TEST(Results, WithNothingToAddScaleOnlyAndDoNotReadOperands)
{
    using T = TypeParam;
    const Dense<T> unread(20, 20);
    const T zero = 0, beta = T(-2);
    const Dense<T> before = random_matrix<T>(20, 20);
    Dense<T> C = before;
    call<T>(fortran_families[0], "gemm", 'N', 'T', Index(20), Index(20), Index(20), zero, unread.data.data(), unread.ld,
            unread.data.data(), unread.ld, beta, C.data.data(), C.ld);
    call<T>(fortran_families[0], "symm", 'L', 'U', Index(20), Index(20), zero, unread.data.data(), unread.ld, unread.data.data(),
            unread.ld, beta, C.data.data(), C.ld);
    for (Index j = 0; j < 20; ++j)
        for (Index i = 0; i < 20; ++i) ASSERT_EQ(C(i, j), T(4) * before(i, j));
    call<T>(fortran_families[0], "trmm", 'L', 'U', 'N', 'N', Index(20), Index(20), zero, unread.data.data(), unread.ld,
            C.data.data(), C.ld);
    for (Index j = 0; j < 20; ++j)
        for (Index i = 0; i < 20; ++i) ASSERT_EQ(C(i, j), T(0));
}

/// Programs pass null, or the result itself, for what is not referenced; large calls must not be stricter than small ones.
TYPED_TEST(Results, DoNotDependOnOperandsThatAreNotReferenced)
{
    using T = TypeParam;
    const T zero = 0, beta = T(-2), *const null = nullptr;
    for (const Index n : {Index(6), Index(200)}) {
        const Dense<T> before = random_matrix<T>(n, n);
        Dense<T> C = before;
        call<T>(fortran_families[0], "gemm", 'N', 'N', n, n, n, zero, null, n, null, n, beta, C.data.data(), C.ld);
        call<T>(fortran_families[0], "gemm", 'N', 'N', n, n, n, zero, C.data.data(), C.ld, C.data.data(), C.ld, beta,
                C.data.data(), C.ld);
        for (Index j = 0; j < n; ++j)
            for (Index i = 0; i < n; ++i) ASSERT_EQ(C(i, j), T(4) * before(i, j));
    }
}

} // namespace
} // namespace trencadis::testing
