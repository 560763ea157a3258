#include "drivers/alone.hpp"
#include "drivers/linear_algebra.hpp"
#include "kernels/testing/reference.hpp"
#include "session/session.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

// What the factorizations, estimates and refinements answer has tests of its own; here it is how gesvx and posvx put them
// together.

namespace trencadis {
namespace {

using namespace testing;

Session& session()
{
    static Session made;
    return made;
}

constexpr Index n = 40, nrhs = 3;

/// A system with all that is answered of it.
template <class T> struct General {
    using R = Real<T>;
    Dense<T> A, F{random_matrix<T>(n, n)}, B{random_matrix<T>(n, nrhs)}, X{random_matrix<T>(n, nrhs)};
    std::vector<Index> pivots = std::vector<Index>(n);
    std::vector<R> r = std::vector<R>(n), c = std::vector<R>(n), ferr = std::vector<R>(nrhs), berr = std::vector<R>(nrhs);
    char equed = '?';
    R rcond = -7, growth = -7;

    Index solve(Fact fact, Op op, const RoutineOptions& options = {})
    {
        return gesvx(session(), fact, op, n, nrhs, A.data.data(), A.ld, F.data.data(), F.ld, pivots.data(), &equed, r.data(),
                     c.data(), B.data.data(), B.ld, X.data.data(), X.ld, &rcond, ferr.data(), berr.data(), &growth, options);
    }
};
template <class T> struct Positive {
    using R = Real<T>;
    Uplo uplo;
    Dense<T> A, F{random_matrix<T>(n, n)}, B{random_matrix<T>(n, nrhs)}, X{random_matrix<T>(n, nrhs)};
    std::vector<R> s = std::vector<R>(n), ferr = std::vector<R>(nrhs), berr = std::vector<R>(nrhs);
    char equed = '?';
    R rcond = -7;

    Index solve(Fact fact, const RoutineOptions& options = {})
    {
        return posvx(session(), fact, uplo, n, nrhs, A.data.data(), A.ld, F.data.data(), F.ld, &equed, s.data(), B.data.data(),
                     B.ld, X.data.data(), X.ld, &rcond, ferr.data(), berr.data(), options);
    }
};

/// |op(A) X - B|, row by row, is within what a componentwise backward error of `berr` allows.
template <class T, class At> void expect_solved(const At& at, const Dense<T>& B, const Dense<T>& X, const std::string& what)
{
    for (Index j = 0; j < nrhs; ++j)
        for (Index i = 0; i < n; ++i) {
            Sum<T> sum;
            for (Index l = 0; l < n; ++l) sum.add(at(i, l), X(l, j));
            // A step of refinement leaves a residual of some n + 1 eps (|A| |x| + |b|) (Higham, section 12.1); scaling rounds 4
            // times.
            expect_within(B(i, j), sum.value, sum.magnitude + double(std::abs(B(i, j))), double(n + 5), what.c_str());
        }
}

template <class T> class Expert : public ::testing::Test {
};
using Scalars = ::testing::Types<float, double, std::complex<float>, std::complex<double>>;
TYPED_TEST_SUITE(Expert, Scalars);

/// Elements of moduli from 1/2 to 1, so that no others are scaled: the rows, the columns or both by 2^-20 to 2^20.
template <class T> Dense<T> badly_scaled(bool rows, bool columns)
{
    Dense<T> A = random_matrix<T>(n, n);
    for (Index j = 0; j < n; ++j)
        for (Index i = 0; i < n; ++i)
            A(i, j) *= std::max(Real<T>(0.5), std::min(Real<T>(1), std::abs(A(i, j)))) / std::abs(A(i, j)) *
                       std::ldexp(Real<T>(1), (rows ? int(i) - 20 : 0) + (columns ? 20 - int((7 * j) % n) : 0));
    return A;
}

TYPED_TEST(Expert, SolutionsAreThoseOfTheMatrixAsItWas)
{
    using T = TypeParam;
    for (const Op op : {Op::none, Op::trans, Op::conj_trans})
        for (const Fact fact : {Fact::compute, Fact::scale})
            for (const int kind : {0, 1, 2, 3})
                for (const Index nb : {0, 16}) {
                    General<T> system{.A = badly_scaled<T>(kind & 1, kind & 2)};
                    const Dense<T> A = system.A, B = system.B;
                    const std::string what = std::string{char(op), char(fact)} + std::to_string(kind) + "/" + std::to_string(nb);
                    const Index info = system.solve(fact, op, {.nb = nb});
                    const char expected = fact == Fact::compute ? 'N' : "NRCB"[kind];
                    if (kind == 0 || fact == Fact::scale) {
                        ASSERT_EQ(info, 0) << what;
                    }
                    ASSERT_EQ(system.equed, expected) << what;
                    expect_solved<T>([&](Index i, Index l) { return A.at(op, i, l); }, B, system.X, what);
                    if (system.equed == 'N') {
                        expect_same_bits(A, system.A);
                        expect_same_bits(B, system.B);
                    }
                    for (Index j = 0; j < nrhs; ++j) {
                        EXPECT_LE(system.berr[std::size_t(j)], (n + 1) * eps<T>) << what;
                        EXPECT_GT(system.ferr[std::size_t(j)], 0) << what;
                    }
                    EXPECT_GT(system.growth, 0) << what;
                    if (expected != 'N') {
                        General<T> scaled{.A = system.A};
                        scaled.solve(Fact::compute, op, {.nb = nb});
                        EXPECT_EQ(system.rcond, scaled.rcond) << what << ": of the scaled matrix";
                    }
                }
}

TYPED_TEST(Expert, FactorsAreUsedAgainAsTheyWereLeft)
{
    using T = TypeParam;
    General<T> system{.A = badly_scaled<T>(true, true)};
    const Dense<T> A = system.A;
    ASSERT_EQ(system.solve(Fact::scale, Op::none), 0);
    ASSERT_EQ(system.equed, 'B');
    const Dense<T> scaled = system.A, factors = system.F;
    for (const Op op : {Op::none, Op::trans, Op::conj_trans}) {
        const Dense<T> B = system.B = random_matrix<T>(n, nrhs);
        const Real<T> rcond = system.rcond;
        ASSERT_EQ(system.solve(Fact::given, op), 0);
        expect_solved<T>([&](Index i, Index l) { return A.at(op, i, l); }, B, system.X, "given");
        expect_same_bits(scaled, system.A);
        expect_same_bits(factors, system.F);
        if (op == Op::none) {
            EXPECT_EQ(system.rcond, rcond);
        }
    }
}

TYPED_TEST(Expert, MatricesThatAreSingularHaveNoSolutionAndNearlySingularOnesHave)
{
    using T = TypeParam;
    General<T> system{.A = random_matrix<T>(n, n)};
    for (Index i = 0; i < n; ++i) system.A(i, 5) = T(0);
    const Dense<T> X = system.X;
    EXPECT_EQ(system.solve(Fact::scale, Op::none), 6);
    EXPECT_EQ(system.equed, 'N') << "a column of zeros has no factor";
    EXPECT_EQ(system.rcond, 0);
    EXPECT_GT(system.growth, 0) << "of the first six columns";
    expect_same_bits(X, system.X);
    General<T> near{.A = random_matrix<T>(n, n)};
    for (Index i = 0; i < n; ++i) near.A(i, 5) = near.A(i, 6) * T(3);
    near.A(2, 5) += T(16 * eps<T>);
    const Index info = near.solve(Fact::compute, Op::none);
    EXPECT_TRUE(info == n + 1 || near.rcond >= std::numeric_limits<Real<T>>::epsilon() / 2) << info;
    near.A(2, 5) = T(0);
    for (Index i = 0; i < n; ++i)
        for (Index j = 0; j < n; ++j) near.A(i, j) = i == j ? T(std::ldexp(Real<T>(1), -int(3 * i))) : T(0);
    EXPECT_EQ(near.solve(Fact::compute, Op::none), n + 1);
    for (Index i = 0; i < n; ++i) EXPECT_EQ(near.X(i, 0) * near.A(i, i), near.B(i, 0)) << "there is a solution all the same";
}

TYPED_TEST(Expert, PositiveSystemsAreSolvedTheSameWay)
{
    using T = TypeParam;
    for (const Uplo uplo : {Uplo::lower, Uplo::upper})
        for (const Fact fact : {Fact::compute, Fact::scale})
            for (const bool bad : {false, true})
                for (const Index nb : {0, 16}) {
                    Positive<T> system{.uplo = uplo, .A = random_triangle<T>(uplo, n, Real<T>(2 * n))};
                    Dense<T>& A = system.A;
                    for (Index i = 0; i < n; ++i) A(i, i) = T(std::real(A(i, i)));
                    for (Index j = 0; bad && j < n; ++j)
                        for (Index i = 0; i < n; ++i)
                            if (in_triangle(uplo, i, j)) A(i, j) *= std::ldexp(Real<T>(1), int((i * 7) % 20 + (j * 7) % 20) - 20);
                    const Dense<T> before = A, B = system.B;
                    const Index info = system.solve(fact, {.nb = nb});
                    ASSERT_TRUE(info == 0 || (info == n + 1 && bad && fact == Fact::compute)) << info;
                    ASSERT_EQ(system.equed, bad && fact == Fact::scale ? 'Y' : 'N');
                    const auto at = [&](Index i, Index l) {
                        return in_triangle(uplo, i, l) ? before(i, l) : conjugate(before(l, i));
                    };
                    expect_solved<T>(at, B, system.X, "posvx");
                    expect_untouched(before, A, [&](Index i, Index j) { return system.equed == 'Y' && in_triangle(uplo, i, j); });
                    const Dense<T> again = system.B = random_matrix<T>(n, nrhs);
                    ASSERT_EQ(system.solve(Fact::given), info);
                    expect_solved<T>(at, again, system.X, "given");
                }
    Positive<T> none{.uplo = Uplo::lower, .A = random_triangle<T>(Uplo::lower, n, Real<T>(2 * n))};
    none.A(7, 7) = T(-1);
    EXPECT_EQ(none.solve(Fact::scale), 8);
    EXPECT_EQ(none.rcond, 0);
}

TYPED_TEST(Expert, TheCallingThreadAloneTakesNothingFromTheHeap)
{
    using T = TypeParam;
    using R = Real<T>;
    const KernelProvider& kernels = session().kernels();
    Dense<T> A = random_matrix<T>(n, n), F = A, B = random_matrix<T>(n, 1), X = B;
    std::vector<Index> pivots(n);
    std::vector<R> r(n), c(n);
    std::vector<T> work(4 * n + 1, T(7)); // LAPACK's for real numbers; complex ones have 2 n
    const Index lent = (is_complex<T> ? 2 : 4) * n;
    R rcond, ferr, berr, growth;
    char equed;
    EXPECT_EQ(alone::gesvx(kernels, Fact::scale, Op::trans, n, Index(1), A.data.data(), A.ld, F.data.data(), F.ld, pivots.data(),
                           &equed, r.data(), c.data(), B.data.data(), B.ld, X.data.data(), X.ld, &rcond, &ferr, &berr, &growth,
                           work.data()),
              0);
    for (std::size_t i = std::size_t(lent); i < work.size(); ++i) EXPECT_EQ(work[i], T(7)) << "not lent";
}

template <class Call> int refused(const Call& call)
{
    try {
        call();
    } catch (const Error& error) {
        return error.argument();
    }
    return 0;
}

TEST(ExpertArguments, AreNumberedAsInLapack)
{
    using System = General<double>;
    const auto with = [](const auto& spoil) {
        System system{.A = random_matrix<double>(n, n)};
        system.equed = 'N';
        system.r.assign(n, 1), system.c.assign(n, 1), system.pivots.assign(n, 1);
        return spoil(system);
    };
    const auto given = [](System& system) { return refused([&] { system.solve(Fact::given, Op::none); }); };
    EXPECT_EQ(with([&](System& s) { return s.equed = 'Y', given(s); }), 10);
    EXPECT_EQ(with([&](System& s) { return s.equed = 'b', s.r[3] = 0, given(s); }), 11);
    EXPECT_EQ(with([&](System& s) { return s.equed = 'c', s.c[3] = -1, given(s); }), 12);
    EXPECT_EQ(with([&](System& s) { return s.equed = 'R', s.c[3] = -1, given(s); }), 0) << "the columns' factors are not used";
    EXPECT_EQ(with([&](System& s) { return s.pivots[3] = n + 1, given(s); }), 9);
    EXPECT_EQ(with([&](System& s) { return s.A.ld = n - 1, given(s); }), 6);
    EXPECT_EQ(with([&](System& s) { return s.X.ld = n - 1, given(s); }), 16);
    System untouched{.A = badly_scaled<double>(true, true)};
    const Dense<double> A = untouched.A;
    EXPECT_THROW(untouched.solve(Fact::scale, Op::none, {.variant = "incremental"}), Error);
    expect_same_bits(A, untouched.A);
    Positive<double> p{.uplo = Uplo::lower, .A = random_matrix<double>(n, n)};
    p.equed = 'R';
    EXPECT_EQ(refused([&] { p.solve(Fact::given); }), 9);
    p.equed = 'Y';
    EXPECT_EQ(refused([&] { p.solve(Fact::given); }), 10);
}

} // namespace
} // namespace trencadis
