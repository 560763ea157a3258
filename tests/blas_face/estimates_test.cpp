#include "drivers/linear_algebra.hpp"
#include "kernels/testing/reference.hpp"
#include "session/session.hpp"
#include "symbols.hpp"

#include <array>
#include <cctype>
#include <complex>
#include <cstdlib>
#include <tuple>

// Norms, condition numbers, scalings, refinement and row interchanges through every name: what the C++ functions answer, which
// have tests of their own.

namespace trencadis::testing {
namespace {

constexpr Index n = 12, m = 9;

/// A function of a matrix with integers of a family's width.
template <Scalar T, class... Arguments> Real<T> value(const Family& family, const char* function, const Arguments&... arguments)
{
    const detail::Passed passed[] = {detail::pass(arguments)...};
    const auto called =
        reinterpret_cast<Real<T> (*)(detail::Address<Arguments>...)>(address(family.name(std::string(1, letter<T>) + function)));
    return [&]<std::size_t... i>(std::index_sequence<i...>) { return called(detail::at(passed[i], family.wide)...); }
    (std::index_sequence_for<Arguments...>{});
}
/// The low half is what a program with 32-bit integers sees.
Index seen(const Family& family, std::int64_t info) { return family.wide ? info : std::int32_t(info); }

std::vector<std::int32_t> narrowed(const std::vector<Index>& pivots) { return {pivots.begin(), pivots.end()}; }

template <class T> class Estimates : public ::testing::Test {
public:
    static Session& session() { return Session::standard(); }
};
using Scalars = ::testing::Types<float, double, std::complex<float>, std::complex<double>>;
TYPED_TEST_SUITE(Estimates, Scalars);

TYPED_TEST(Estimates, OfNormsAreTheSameUnderEveryName)
{
    using T = TypeParam;
    using R = Real<T>;
    Session& session = this->session();
    const Dense<T> A = random_matrix<T>(m, n), B = random_triangle<T>(Uplo::upper, n, 0);
    const T *const a = A.data.data(), *const b = B.data.data();
    std::vector<R> sums(n);
    R* const work = sums.data();
    for (const Family& family : fortran_families)
        for (const char norm : std::string("M1OIFEmoife")) {
            const char capital = char(std::toupper(norm));
            const Norm which = capital == 'O' ? Norm::one : capital == 'E' ? Norm::frobenius : Norm(capital);
            EXPECT_EQ((value<T>(family, "lange", norm, m, n, a, A.ld, work)), lange(session, which, m, n, a, A.ld));
            EXPECT_EQ((value<T>(family, "lansy", norm, 'u', n, b, B.ld, work)), lansy(session, which, Uplo::upper, n, b, B.ld));
            EXPECT_EQ((value<T>(family, "lantr", norm, 'U', 'n', n, n, b, B.ld, work)),
                      lantr(session, which, Uplo::upper, Diag::non_unit, n, n, b, B.ld));
            if constexpr (is_complex<T>) {
                EXPECT_EQ((value<T>(family, "lanhe", norm, 'U', n, b, B.ld, work)),
                          lanhe(session, which, Uplo::upper, n, b, B.ld));
            }
        }
    for (const char norm : {'Q', '2'})
        EXPECT_EQ((value<T>(fortran_families[0], "lange", norm, m, n, a, A.ld, work)), 0) << "no norm, and nobody is told";
    EXPECT_EQ((value<T>(fortran_families[0], "lange", 'M', Index(0), n, a, Index(1), work)), 0);
    EXPECT_EQ((value<T>(fortran_families[0], "lange", 'M', Index(-1), n, a, Index(1), work)), 0);
}

TYPED_TEST(Estimates, OfConditionsAreTheSameUnderEveryName)
{
    using T = TypeParam;
    using R = Real<T>;
    Session& session = this->session();
    Dense<T> A = random_matrix<T>(n, n), P = random_triangle<T>(Uplo::lower, n, R(2 * n));
    std::vector<Index> pivots(static_cast<std::size_t>(n));
    const R anorm = lange(session, Norm::inf, n, n, A.data.data(), A.ld);
    getrf(session, n, n, A.data.data(), A.ld, pivots.data());
    potrf(session, Uplo::lower, n, P.data.data(), P.ld);
    const T *const a = A.data.data(), *const p = P.data.data();
    std::vector<T> room(std::size_t(4 * n));
    T* const work = room.data();
    for (const Family& family : fortran_families) {
        std::int64_t info = -7;
        R expected = 0, rcond = 0;
        EXPECT_EQ(gecon(session, Norm::inf, n, a, A.ld, anorm, &expected), 0);
        call<T>(family, "gecon", 'i', n, a, A.ld, anorm, &rcond, work, work, &info);
        EXPECT_EQ(seen(family, info), 0);
        EXPECT_EQ(rcond, expected);
        EXPECT_EQ(pocon(session, Uplo::lower, n, p, P.ld, anorm, &expected), 0);
        call<T>(family, "pocon", 'l', n, p, P.ld, anorm, &rcond, work, work, &(info = -7));
        EXPECT_EQ(seen(family, info), 0);
        EXPECT_EQ(rcond, expected);
        EXPECT_EQ(trcon(session, Norm::one, Uplo::lower, Diag::non_unit, n, p, P.ld, &expected), 0);
        call<T>(family, "trcon", 'o', 'L', 'N', n, p, P.ld, &rcond, work, work, &(info = -7));
        EXPECT_EQ(seen(family, info), 0);
        EXPECT_EQ(rcond, expected);
        const R nan = std::numeric_limits<R>::quiet_NaN();
        call<T>(family, "gecon", '1', n, a, A.ld, nan, &rcond, work, work, &info);
        EXPECT_EQ(seen(family, info), -5) << "without a word";
        EXPECT_TRUE(std::isnan(rcond));
    }
}

TYPED_TEST(Estimates, OfAConditionLeaveInWorkWhereTheNormWasFound)
{
    using T = TypeParam;
    const T diagonal[4] = {T(4), T(0), T(0), T(Real<T>(0.5))}; // the inverse's second column is (0, 2)
    const Real<T> anorm = 4;
    for (const Family& family : fortran_families) {
        std::int64_t info = -7;
        Real<T> rcond = 0;
        T work[8] = {};
        T* const integers = nullptr;
        call<T>(family, "gecon", 'I', Index(2), diagonal, Index(2), anorm, &rcond, work, integers, &info);
        EXPECT_EQ(rcond, Real<T>(0.125));
        EXPECT_EQ(work[2], T(0));
        EXPECT_EQ(work[3], T(2));
    }
}

TYPED_TEST(Estimates, OfScalingsAreTheSameUnderEveryName)
{
    using T = TypeParam;
    using R = Real<T>;
    Session& session = this->session();
    const Dense<T> A = random_matrix<T>(m, n);
    Dense<T> P = random_triangle<T>(Uplo::lower, n, 5);
    const T* const a = A.data.data();
    std::vector<R> r(m), c(n), r2(m), c2(n);
    R rowcnd, colcnd, amax, rowcnd2, colcnd2, amax2;
    for (const Family& family : fortran_families) {
        std::int64_t info = -7;
        const auto check = [&] {
            EXPECT_EQ(seen(family, info), 0);
            EXPECT_EQ(r, r2);
            EXPECT_EQ(c, c2);
            EXPECT_EQ((std::array{rowcnd, colcnd, amax}), (std::array{rowcnd2, colcnd2, amax2}));
        };
        geequ(session, m, n, a, A.ld, r.data(), c.data(), &rowcnd, &colcnd, &amax);
        call<T>(family, "geequ", m, n, a, A.ld, r2.data(), c2.data(), &rowcnd2, &colcnd2, &amax2, &info);
        check();
        geequb(session, m, n, a, A.ld, r.data(), c.data(), &rowcnd, &colcnd, &amax);
        call<T>(family, "geequb", m, n, a, A.ld, r2.data(), c2.data(), &rowcnd2, &colcnd2, &amax2, &(info = -7));
        check();
        poequ(session, n, P.data.data(), P.ld, c.data(), &colcnd, &amax);
        call<T>(family, "poequ", n, P.data.data(), P.ld, c2.data(), &colcnd2, &amax2, &(info = -7));
        check();
        poequb(session, n, P.data.data(), P.ld, c.data(), &colcnd, &amax);
        call<T>(family, "poequb", n, P.data.data(), P.ld, c2.data(), &colcnd2, &amax2, &(info = -7));
        check();
    }
    P(3, 3) = T(0);
    std::int64_t info = 0;
    call<T>(fortran_families[2], "poequ", n, P.data.data(), P.ld, c.data(), &colcnd, &amax, &info);
    EXPECT_EQ(info, 4);
}

TYPED_TEST(Estimates, OfErrorsAreTheSameUnderEveryName)
{
    using T = TypeParam;
    using R = Real<T>;
    Session& session = this->session();
    const Index nrhs = 2;
    const Dense<T> A = random_matrix<T>(n, n), P = random_triangle<T>(Uplo::upper, n, R(2 * n)), B = random_matrix<T>(n, nrhs);
    Dense<T> F = A, C = P;
    std::vector<Index> pivots(static_cast<std::size_t>(n));
    getrf(session, n, n, F.data.data(), F.ld, pivots.data());
    potrf(session, Uplo::upper, n, C.data.data(), C.ld);
    const std::vector<std::int32_t> narrow = narrowed(pivots);
    std::vector<T> room(std::size_t(4 * n));
    T* const work = room.data();
    for (const Family& family : fortran_families) {
        const void* const ipiv = family.wide ? static_cast<const void*>(pivots.data()) : narrow.data();
        Dense<T> X = B, Y = B;
        std::vector<R> ferr(2, -7), berr(2, -7), ferr2(2, -7), berr2(2, -7);
        std::int64_t info = -7;
        gerfs(session, Op::trans, n, nrhs, A.data.data(), A.ld, F.data.data(), F.ld, pivots.data(), B.data.data(), B.ld,
              X.data.data(), X.ld, ferr.data(), berr.data());
        call<T>(family, "gerfs", 't', n, nrhs, A.data.data(), A.ld, F.data.data(), F.ld, ipiv, B.data.data(), B.ld, Y.data.data(),
                Y.ld, ferr2.data(), berr2.data(), work, work, &info);
        EXPECT_EQ(seen(family, info), 0);
        expect_same_bits(X, Y);
        EXPECT_EQ(ferr, ferr2);
        EXPECT_EQ(berr, berr2);
        X = Y = B;
        porfs(session, Uplo::upper, n, nrhs, P.data.data(), P.ld, C.data.data(), C.ld, B.data.data(), B.ld, X.data.data(), X.ld,
              ferr.data(), berr.data());
        call<T>(family, "porfs", 'u', n, nrhs, P.data.data(), P.ld, C.data.data(), C.ld, B.data.data(), B.ld, Y.data.data(), Y.ld,
                ferr2.data(), berr2.data(), work, work, &(info = -7));
        EXPECT_EQ(seen(family, info), 0);
        expect_same_bits(X, Y);
        EXPECT_EQ(ferr, ferr2);
        EXPECT_EQ(berr, berr2);
    }
}

/// In the tiles that the symbols cut into, if the environment says so.
RoutineOptions as_cut()
{
    const char* const tile = std::getenv("TRENCADIS_TILE");
    return {.nb = tile ? std::atoi(tile) : 0};
}

/// What an expert driver leaves.
template <class T> struct SystemAnswer {
    using R = Real<T>;
    Dense<T> A, F, B, X;
    std::vector<R> r = std::vector<R>(n, -7), c = std::vector<R>(n, -7), ferr = {-7, -7}, berr = {-7, -7};
    std::vector<Index> pivots = std::vector<Index>(n);
    char equed = '?';
    R rcond = -7, growth = -7;
};
template <class T> void expect_same(const SystemAnswer<T>& a, const SystemAnswer<T>& b)
{
    expect_same_bits(a.A, b.A);
    expect_same_bits(a.F, b.F);
    expect_same_bits(a.B, b.B);
    expect_same_bits(a.X, b.X);
    EXPECT_EQ((std::tuple{a.r, a.c, a.ferr, a.berr, a.equed, a.rcond, a.growth}),
              (std::tuple{b.r, b.c, b.ferr, b.berr, b.equed, b.rcond, b.growth}));
}

TYPED_TEST(Estimates, OfWholeSystemsAreTheSameUnderEveryName)
{
    using T = TypeParam;
    using R = Real<T>;
    const Index nrhs = 2;
    const Dense<T> A = random_matrix<T>(n, n), P = random_triangle<T>(Uplo::upper, n, R(2 * n)), B = random_matrix<T>(n, nrhs);
    SystemAnswer<T> general{A, A, B, B}, positive{P, P, B, B};
    for (Index j = 0; j < n; ++j) general.A(3, j) *= T(R(1) / 1024);
    const Dense<T> uneven = general.A;
    EXPECT_EQ(gesvx(this->session(), Fact::scale, Op::trans, n, nrhs, general.A.data.data(), A.ld, general.F.data.data(), A.ld,
                    general.pivots.data(), &general.equed, general.r.data(), general.c.data(), general.B.data.data(), B.ld,
                    general.X.data.data(), B.ld, &general.rcond, general.ferr.data(), general.berr.data(), &general.growth,
                    as_cut()),
              0);
    EXPECT_NE(general.equed, 'N');
    EXPECT_EQ(posvx(this->session(), Fact::compute, Uplo::upper, n, nrhs, positive.A.data.data(), A.ld, positive.F.data.data(),
                    A.ld, &positive.equed, positive.r.data(), positive.B.data.data(), B.ld, positive.X.data.data(), B.ld,
                    &positive.rcond, positive.ferr.data(), positive.berr.data(), as_cut()),
              0);
    for (const Family& family : fortran_families) {
        std::vector<T> work(std::size_t(4 * n));
        std::vector<R> reals(std::size_t(2 * n));
        std::int64_t info = -7;
        SystemAnswer<T> found{uneven, A, B, B};
        call<T>(family, "gesvx", 'e', 't', n, nrhs, found.A.data.data(), A.ld, found.F.data.data(), A.ld, found.pivots.data(),
                &found.equed, found.r.data(), found.c.data(), found.B.data.data(), B.ld, found.X.data.data(), B.ld, &found.rcond,
                found.ferr.data(), found.berr.data(), work.data(), reals.data(), &info);
        EXPECT_EQ(seen(family, info), 0);
        found.growth = is_complex<T> ? reals[0] : std::real(work[0]);
        expect_same(general, found);
        found = SystemAnswer<T>{P, P, B, B};
        call<T>(family, "posvx", 'N', 'u', n, nrhs, found.A.data.data(), A.ld, found.F.data.data(), A.ld, &found.equed,
                found.r.data(), found.B.data.data(), B.ld, found.X.data.data(), B.ld, &found.rcond, found.ferr.data(),
                found.berr.data(), work.data(), reals.data(), &(info = -7));
        EXPECT_EQ(seen(family, info), 0);
        expect_same(positive, found);
    }
}

TYPED_TEST(Estimates, OfTrianglesThatAreSingularLeaveTheRightSides)
{
    using T = TypeParam;
    Dense<T> A = random_triangle<T>(Uplo::lower, n, 3);
    const Dense<T> B = random_matrix<T>(n, 2);
    for (const Family& family : fortran_families) {
        Dense<T> X = B;
        std::int64_t info = -7;
        A(5, 5) = A(8, 8) = T(0);
        call<T>(family, "trtrs", 'l', 'c', 'n', n, Index(2), A.data.data(), A.ld, X.data.data(), X.ld, &info);
        EXPECT_EQ(seen(family, info), 6);
        expect_same_bits(B, X);
        call<T>(family, "trtrs", 'l', 'c', 'n', n, Index(0), A.data.data(), A.ld, X.data.data(), X.ld, &info);
        EXPECT_EQ(seen(family, info), 6) << "also without right sides, as in LAPACK";
        A(5, 5) = A(8, 8) = T(3);
        call<T>(family, "trtrs", 'l', 'c', 'n', n, Index(2), A.data.data(), A.ld, X.data.data(), X.ld, &info);
        EXPECT_EQ(seen(family, info), 0);
        Dense<T> Y = B;
        trtrs(this->session(), Uplo::lower, Op::conj_trans, Diag::non_unit, n, Index(2), A.data.data(), A.ld, Y.data.data(),
              Y.ld);
        for (Index i = 0; i < n; ++i) EXPECT_NEAR(std::abs(X(i, 0) - Y(i, 0)), 0, 1e-3);
    }
}

TYPED_TEST(Estimates, OfRowInterchangesFollowTheIncrement)
{
    using T = TypeParam;
    const Index pivots[] = {99, 7, 4, 9, 8, 9, 6, 5, 9, 9, 9, 9}; // elements 2, 4, .. or 2, 3, ..
    std::vector<std::int32_t> narrow(std::begin(pivots), std::end(pivots));
    for (const Family& family : fortran_families)
        for (const Index incx : {1, 2, -1, -2, 0}) {
            const Dense<T> before = random_matrix<T>(m, n + 3);
            Dense<T> A = before, expected = before;
            const Index k1 = 2, k2 = 5, step = incx < 0 ? -incx : incx;
            for (Index count = 0; incx != 0 && count <= k2 - k1; ++count) {
                const Index row = incx > 0 ? k1 + count : k2 - count, other = pivots[k1 - 1 + (row - k1) * step];
                for (Index j = 0; j < A.cols; ++j) std::swap(expected(row - 1, j), expected(other - 1, j));
            }
            const void* const ipiv = family.wide ? static_cast<const void*>(pivots) : narrow.data();
            call<T>(family, "laswp", A.cols, A.data.data(), A.ld, k1, k2, ipiv, incx);
            expect_same_bits(expected, A);
        }
}

} // namespace
} // namespace trencadis::testing
