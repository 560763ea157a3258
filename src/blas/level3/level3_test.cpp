#include "blas/level3/level3.hpp"
#include "blas/level3/product.hpp"

#include "blas/testing/reference.hpp"

#include <sstream>

namespace trencadis::blas {
namespace {

using namespace testing;

constexpr int cases = 8; ///< random shapes per instruction set and blocking

template <class T> class Level3 : public ::testing::Test {
public:
    Random random{4711};
    Index size() { return random.below(8) ? random.between(1, 70) : random.below(3); }
    T beta = T(0), alpha = T(0);

    /// Draws alpha and beta, and makes C start as NaN where beta = 0 says that it is not read.
    void draw(Stored<T>& C)
    {
        alpha = random.factor<T>();
        beta = random.factor<T>();
        if (beta == T(0)) std::fill(C.data.begin(), C.data.end(), not_a_number<T>());
    }
    template <class... Words> static std::string text(const Words&... words)
    {
        std::ostringstream out;
        ((out << words << ' '), ...);
        return out.str();
    }
};
using Scalars = ::testing::Types<float, double, std::complex<float>, std::complex<double>>;
TYPED_TEST_SUITE(Level3, Scalars);

bool everywhere(Index, Index) { return true; }

/// By rows and by columns of memory: the part is of the matrix as its strides see it.
TYPED_TEST(Level3, ScalingKeepsToItsPart)
{
    using T = TypeParam;
    const Index n = 5;
    for (const Part part : {Part::all, Part::lower, Part::upper})
        for (const auto& [rs, cs] : {std::pair<Index, Index>{1, n}, {n, 1}}) {
            std::vector<T> C(std::size_t(n * n), T(1));
            scale(part, n, n, T(-2), C.data(), rs, cs);
            for (Index j = 0; j < n; ++j)
                for (Index i = 0; i < n; ++i) {
                    const bool inside = part == Part::all || (part == Part::lower ? i >= j : i <= j);
                    EXPECT_EQ(C[std::size_t(i * rs + j * cs)], inside ? T(-2) : T(1))
                        << int(part) << " " << rs << " " << i << " " << j;
                }
        }
}

TYPED_TEST(Level3, GemmIsWithinTheBoundOfItsSums)
{
    using T = TypeParam;
    for_all_setups([&](const std::string& where) {
        for (int i = 0; i < cases; ++i) {
            Random& random = this->random;
            const Index m = this->size(), n = this->size(), k = this->size();
            const Op op_a = random.op(), op_b = random.op();
            const auto A = op_a == Op::none ? random_matrix<T>(random, m, k) : random_matrix<T>(random, k, m);
            const auto B = op_b == Op::none ? random_matrix<T>(random, k, n) : random_matrix<T>(random, n, k);
            auto C = random_matrix<T>(random, m, n);
            this->draw(C);
            const auto before = C;
            Sum<T> sum(m, n);
            sum.add(this->alpha, transformed(op_a, expand(A, Structure::general)),
                    transformed(op_b, expand(B, Structure::general)));
            sum.add(this->beta, expand(C, Structure::general));
            gemm(op_a, op_b, m, n, k, this->alpha, A.data.data(), A.ld, B.data.data(), B.ld, this->beta, C.data.data(), C.ld);
            expect_result<T>(C, before, sum, everywhere,
                             this->text(where, char(op_a), char(op_b), m, n, k, this->alpha, this->beta));
            if (this->HasFatalFailure()) return;
        }
    });
}

TYPED_TEST(Level3, SymmAndHemmReadOneTriangle)
{
    using T = TypeParam;
    for_all_setups([&](const std::string& where) {
        for (int i = 0; i < cases; ++i) {
            Random& random = this->random;
            const Index m = this->size(), n = this->size();
            const Side side = random.side();
            const Uplo uplo = random.uplo();
            const bool hermitian = random.below(2);
            const auto A = random_triangle<T>(random, uplo, side == Side::left ? m : n);
            const auto B = random_matrix<T>(random, m, n);
            auto C = random_matrix<T>(random, m, n);
            this->draw(C);
            const auto before = C;
            const auto whole = expand(A, hermitian ? Structure::hermitian : Structure::symmetric, uplo);
            const auto general = expand(B, Structure::general);
            Sum<T> sum(m, n);
            if (side == Side::left) sum.add(this->alpha, whole, general);
            else sum.add(this->alpha, general, whole);
            sum.add(this->beta, expand(C, Structure::general));
            const auto routine = hermitian ? hemm<T> : symm<T>;
            routine(side, uplo, m, n, this->alpha, A.data.data(), A.ld, B.data.data(), B.ld, this->beta, C.data.data(), C.ld);
            expect_result<T>(C, before, sum, everywhere, this->text(where, char(side), char(uplo), hermitian, m, n));
            if (this->HasFatalFailure()) return;
        }
    });
}

TYPED_TEST(Level3, SymmReadsNothingWhereAlphaIsZero)
{
    using T = TypeParam;
    for (const Side side : {Side::left, Side::right}) {
        std::vector<T> C(9, T(3));
        symm<T>(side, Uplo::lower, 3, 3, T(0), nullptr, 3, nullptr, 3, T(2), C.data(), 3);
        EXPECT_EQ(C, std::vector<T>(9, T(6)));
    }
}

/// Keeps the triangle `uplo` of a random C and puts NaN elsewhere.
template <Scalar T> Stored<T> random_result(Random& random, Uplo uplo, Index n) { return random_triangle<T>(random, uplo, n); }

TYPED_TEST(Level3, SyrkAndHerkWriteOneTriangle)
{
    using T = TypeParam;
    for_all_setups([&](const std::string& where) {
        for (int i = 0; i < cases; ++i) {
            Random& random = this->random;
            const Index n = this->size(), k = this->size();
            const Uplo uplo = random.uplo();
            const bool hermitian = random.below(2);
            const Op other = hermitian ? herm_op<T> : Op::trans, op = random.below(2) ? Op::none : other;
            const auto A = op == Op::none ? random_matrix<T>(random, n, k) : random_matrix<T>(random, k, n);
            auto C = random_result<T>(random, uplo, n);
            this->draw(C);
            if (hermitian) {
                this->alpha = std::real(this->alpha);
                this->beta = std::real(this->beta);
            }
            const auto before = C;
            const auto left = transformed(op, expand(A, Structure::general));
            Sum<T> sum(n, n);
            sum.add(this->alpha, left, transformed(other, left));
            sum.add(this->beta, expand(C, hermitian ? Structure::hermitian : Structure::symmetric, uplo));
            if (hermitian)
                herk(uplo, op, n, k, std::real(this->alpha), A.data.data(), A.ld, std::real(this->beta), C.data.data(), C.ld);
            else syrk(uplo, op, n, k, this->alpha, A.data.data(), A.ld, this->beta, C.data.data(), C.ld);
            const bool nothing = hermitian && (this->alpha == T(0) || k == 0) && this->beta == T(1);
            expect_result<T>(
                C, before, sum, [&](Index r, Index c) { return in_part(uplo, r, c) && !nothing; },
                this->text(where, char(uplo), char(op), hermitian, n, k, this->alpha, this->beta));
            if (this->HasFatalFailure()) return;
            for (Index j = 0; j < n && hermitian && !nothing; ++j) ASSERT_EQ(std::imag(C(j, j)), 0);
        }
    });
}

TYPED_TEST(Level3, Syr2kAndHer2kWriteOneTriangle)
{
    using T = TypeParam;
    for_all_setups([&](const std::string& where) {
        for (int i = 0; i < cases; ++i) {
            Random& random = this->random;
            const Index n = this->size(), k = this->size();
            const Uplo uplo = random.uplo();
            const bool hermitian = random.below(2);
            const Op other = hermitian ? herm_op<T> : Op::trans, op = random.below(2) ? Op::none : other;
            const auto A = op == Op::none ? random_matrix<T>(random, n, k) : random_matrix<T>(random, k, n);
            const auto B = op == Op::none ? random_matrix<T>(random, n, k) : random_matrix<T>(random, k, n);
            auto C = random_result<T>(random, uplo, n);
            this->draw(C);
            if (hermitian) this->beta = std::real(this->beta);
            const auto before = C;
            const auto a = transformed(op, expand(A, Structure::general)), b = transformed(op, expand(B, Structure::general));
            Sum<T> sum(n, n);
            sum.add(this->alpha, a, transformed(other, b));
            sum.add(hermitian ? conjugate(this->alpha) : this->alpha, b, transformed(other, a));
            sum.add(this->beta, expand(C, hermitian ? Structure::hermitian : Structure::symmetric, uplo));
            const T *const from_a = A.data.data(), *const from_b = B.data.data();
            if (hermitian)
                her2k(uplo, op, n, k, this->alpha, from_a, A.ld, from_b, B.ld, std::real(this->beta), C.data.data(), C.ld);
            else syr2k(uplo, op, n, k, this->alpha, from_a, A.ld, from_b, B.ld, this->beta, C.data.data(), C.ld);
            const bool nothing = hermitian && (this->alpha == T(0) || k == 0) && this->beta == T(1);
            expect_result<T>(
                C, before, sum, [&](Index r, Index c) { return in_part(uplo, r, c) && !nothing; },
                this->text(where, char(uplo), char(op), hermitian, n, k, this->alpha, this->beta));
            if (this->HasFatalFailure()) return;
        }
    });
}

TYPED_TEST(Level3, TrmmReadsOneTriangle)
{
    using T = TypeParam;
    for_all_setups([&](const std::string& where) {
        for (int i = 0; i < cases; ++i) {
            Random& random = this->random;
            const Index m = this->size(), n = this->size();
            const Side side = random.side();
            const Uplo uplo = random.uplo();
            const Op op = random.op();
            const Diag diag = random.diag();
            const auto A = random_triangle<T>(random, uplo, side == Side::left ? m : n, diag);
            auto B = random_matrix<T>(random, m, n);
            const auto before = B;
            const T alpha = random.factor<T>();
            const auto triangle = transformed(op, expand(A, Structure::triangular, uplo, diag));
            const auto whole = expand(B, Structure::general);
            Sum<T> sum(m, n);
            if (side == Side::left) sum.add(alpha, triangle, whole);
            else sum.add(alpha, whole, triangle);
            trmm(side, uplo, op, diag, m, n, alpha, A.data.data(), A.ld, B.data.data(), B.ld);
            expect_result<T>(B, before, sum, everywhere,
                             this->text(where, char(side), char(uplo), char(op), char(diag), m, n, alpha));
            if (this->HasFatalFailure()) return;
        }
    });
}

/// The solution X has a small residual: |op(A) X - alpha B| <= c n eps |A| |X|, element by element (Higham 2002, theorem 8.5,
/// whose gamma_n becomes gamma_{n+1} where a reciprocal is multiplied with instead of dividing).
TYPED_TEST(Level3, TrsmHasASmallResidual)
{
    using T = TypeParam;
    for_all_setups([&](const std::string& where) {
        for (int i = 0; i < cases; ++i) {
            Random& random = this->random;
            const Index m = this->size(), n = this->size();
            const Side side = random.side();
            const Uplo uplo = random.uplo();
            const Op op = random.op();
            const Diag diag = random.diag();
            const Index order = side == Side::left ? m : n;
            auto A = random_triangle<T>(random, uplo, order, diag);
            for (T& x : A.data) x *= T(Real<T>(1) / Real<T>(order + 1)); // a solution that does not grow
            if (diag == Diag::non_unit)
                for (Index j = 0; j < order; ++j) A(j, j) += T(1);
            auto B = random_matrix<T>(random, m, n);
            const auto before = B;
            const T alpha = random.factor<T>();
            trsm(side, uplo, op, diag, m, n, alpha, A.data.data(), A.ld, B.data.data(), B.ld);
            const auto triangle = transformed(op, expand(A, Structure::triangular, uplo, diag));
            const auto X = expand(B, Structure::general);
            Sum<T> product(m, n);
            if (side == Side::left) product.add(T(1), triangle, X);
            else product.add(T(1), X, triangle);
            const std::string what = this->text(where, char(side), char(uplo), char(op), char(diag), m, n, alpha);
            for (Index c = 0; c < n; ++c)
                for (Index r = 0; r < B.ld; ++r) {
                    if (r >= m) {
                        ASSERT_TRUE(std::isnan(std::real(B.data[std::size_t(r + c * B.ld)]))) << what << ": padding touched";
                        continue;
                    }
                    const long double error = std::abs(product.value(r, c) - Wide<T>(alpha) * Wide<T>(before(r, c)));
                    const auto at = std::size_t(r + c * m);
                    ASSERT_LE(error, rounding<T> * (order + 4) * eps<T> * product.magnitude[at])
                        << what << ": at " << r << ' ' << c;
                }
        }
    });
}

/// A triangle on the left that is longer than some blocks goes by halves.
TYPED_TEST(Level3, TrsmUndoesTrmmWithALongTriangle)
{
    using T = TypeParam;
    const Setup<T> with = setup<T>();
    const Index m = 3 * with.tree[Loop::pc] + 50, n = with.kernel.mr + 3;
    Random& random = this->random;
    for (const Uplo uplo : {Uplo::lower, Uplo::upper})
        for (const Op op : {Op::none, Op::trans, Op::conj_trans}) {
            const Diag diag = random.diag();
            auto A = random_triangle<T>(random, uplo, m, diag);
            for (T& x : A.data) x *= T(Real<T>(1) / Real<T>(m));
            if (diag == Diag::non_unit)
                for (Index j = 0; j < m; ++j) A(j, j) += T(1);
            auto B = random_matrix<T>(random, m, n);
            const auto before = B;
            trmm(Side::left, uplo, op, diag, m, n, T(2), A.data.data(), A.ld, B.data.data(), B.ld);
            trsm(Side::left, uplo, op, diag, m, n, T(0.5), A.data.data(), A.ld, B.data.data(), B.ld);
            for (Index j = 0; j < n; ++j)
                for (Index i = 0; i < m; ++i)
                    ASSERT_LE(std::abs(B(i, j) - before(i, j)), Real<T>(m) * eps<T>) << char(uplo) << char(op) << i << ' ' << j;
        }
}

/// As little memory leaves them: less deep than a panel of the kernel is wide.
TYPED_TEST(Level3, TrsmHasBlocksOfOneColumn)
{
    using T = TypeParam;
    constexpr Index m = 90, n = 40;
    const ForcedSetup forced(instruction_set(), {1, 24, 8});
    const Stored<T> A = random_triangle<T>(this->random, Uplo::lower, m, Diag::unit);
    auto B = random_matrix<T>(this->random, m, n);
    for (T& x : B.data) x = T(0);
    trsm(Side::left, Uplo::lower, Op::none, Diag::unit, m, n, T(1), A.data.data(), A.ld, B.data.data(), B.ld);
    for (Index j = 0; j < n; ++j)
        for (Index i = 0; i < m; ++i) ASSERT_EQ(B(i, j), T(0));
}

TYPED_TEST(Level3, NothingIsReadWhereAlphaOrTheDepthIsZero)
{
    using T = TypeParam;
    const Index n = 40;
    const Stored<T> nan(n, n, 0);
    const T* const unread = nan.data.data();
    for (const T beta : {T(0), T(1), T(2)}) {
        const auto check = [&](const std::string& what, const auto& call) {
            Stored<T> C(n, n, 0);
            std::fill(C.data.begin(), C.data.end(), T(3));
            call(C.data.data());
            for (Index j = 0; j < n; ++j)
                for (Index i = j; i < n; ++i) ASSERT_EQ(C(i, j), T(3) * beta) << what;
        };
        check("gemm", [&](T* C) { gemm(Op::none, Op::trans, n, n, n, T(0), unread, n, unread, n, beta, C, n); });
        check("gemm k = 0", [&](T* C) { gemm<T>(Op::none, Op::none, n, n, 0, T(1), nullptr, n, nullptr, n, beta, C, n); });
        check("symm", [&](T* C) { symm(Side::left, Uplo::lower, n, n, T(0), unread, n, unread, n, beta, C, n); });
        check("syrk", [&](T* C) { syrk(Uplo::lower, Op::none, n, n, T(0), unread, n, beta, C, n); });
        check("herk", [&](T* C) { herk(Uplo::lower, Op::none, n, n, Real<T>(0), unread, n, std::real(beta), C, n); });
        check("syr2k", [&](T* C) { syr2k(Uplo::lower, Op::none, n, n, T(0), unread, n, unread, n, beta, C, n); });
        check("her2k", [&](T* C) { her2k(Uplo::lower, Op::none, n, n, T(0), unread, n, unread, n, std::real(beta), C, n); });
        if (beta != T(0)) continue;
        check("trmm", [&](T* B) { trmm(Side::left, Uplo::lower, Op::none, Diag::non_unit, n, n, T(0), unread, n, B, n); });
        check("trsm", [&](T* B) { trsm(Side::right, Uplo::lower, Op::none, Diag::non_unit, n, n, T(0), unread, n, B, n); });
    }
}

template <class T> class ComplexLevel3 : public ::testing::Test {
};
using ComplexScalars = ::testing::Types<std::complex<float>, std::complex<double>>;
TYPED_TEST_SUITE(ComplexLevel3, ComplexScalars);

TYPED_TEST(ComplexLevel3, AHermitianUpdateIgnoresTheImaginaryDiagonal)
{
    using T = TypeParam;
    const Index n = 30, k = 3;
    const Real<T> nan = std::numeric_limits<Real<T>>::quiet_NaN();
    Random random(5);
    const auto A = random_matrix<T>(random, n, k);
    Stored<T> C(n, n, 0);
    std::fill(C.data.begin(), C.data.end(), T(1));
    for (Index j = 0; j < n; ++j) C(j, j) = T(1, nan);
    herk(Uplo::lower, Op::none, n, k, Real<T>(1), A.data.data(), A.ld, Real<T>(2), C.data.data(), C.ld);
    for (Index j = 0; j < n; ++j) {
        EXPECT_GT(C(j, j).real(), 2 - 1e-3);
        EXPECT_EQ(C(j, j).imag(), 0);
    }
}

TYPED_TEST(Level3, InfinityAndNotANumberReachTheResult)
{
    using T = TypeParam;
    const Index n = 50;
    Random random(6);
    for (const Real<T> bad : {std::numeric_limits<Real<T>>::quiet_NaN(), std::numeric_limits<Real<T>>::infinity()}) {
        auto A = random_matrix<T>(random, n, n);
        const auto B = random_matrix<T>(random, n, n);
        Stored<T> C(n, n, 0);
        A(17, 5) = T(bad);
        gemm(Op::none, Op::none, n, n, n, T(1), A.data.data(), A.ld, B.data.data(), B.ld, T(0), C.data.data(), C.ld);
        for (Index j = 0; j < n; ++j)
            for (Index i = 0; i < n; ++i) ASSERT_EQ(std::isfinite(std::real(C(i, j))), i != 17) << i << ' ' << j;
    }
}

/// The zeros beside a triangle are not multiplied with what B holds.
TYPED_TEST(Level3, InfinityInBReachesOnlyWhatItsTriangleReaches)
{
    using T = TypeParam;
    const Index m = 61, n = 45, at = 20;
    Random random(7);
    for_all_setups([&](const std::string& where) {
        for (const Side side : {Side::left, Side::right})
            for (const Uplo uplo : {Uplo::lower, Uplo::upper})
                for (const bool solve : {false, true}) {
                    const Index order = side == Side::left ? m : n;
                    const auto A = random_triangle<T>(random, uplo, order);
                    auto B = random_matrix<T>(random, m, n);
                    B(at, at) = T(std::numeric_limits<Real<T>>::infinity());
                    const auto routine = solve ? trsm<T> : trmm<T>;
                    routine(side, uplo, Op::none, Diag::non_unit, m, n, T(1), A.data.data(), A.ld, B.data.data(), B.ld);
                    for (Index j = 0; j < n; ++j)
                        for (Index i = 0; i < m; ++i) {
                            const bool beyond = side == Side::left ? in_part(uplo, i, at) : in_part(uplo, at, j);
                            const bool reached = beyond && (side == Side::left ? j == at : i == at);
                            ASSERT_EQ(std::isfinite(std::real(B(i, j))), !reached)
                                << where << ' ' << char(side) << char(uplo) << solve << ": " << i << ", " << j;
                        }
                }
    });
}

TYPED_TEST(Level3, DenormalNumbersAreKept)
{
    using T = TypeParam;
    const Real<T> tiny = std::numeric_limits<Real<T>>::denorm_min();
    const Index n = 20;
    Stored<T> A(n, 1, 0), B(1, n, 0), C(n, n, 0);
    std::fill(A.data.begin(), A.data.end(), T(tiny));
    std::fill(B.data.begin(), B.data.end(), T(3));
    gemm(Op::none, Op::none, n, n, Index(1), T(1), A.data.data(), A.ld, B.data.data(), B.ld, T(0), C.data.data(), C.ld);
    for (Index j = 0; j < n; ++j)
        for (Index i = 0; i < n; ++i) ASSERT_EQ(std::real(C(i, j)), 3 * tiny);
}

} // namespace
} // namespace trencadis::blas
