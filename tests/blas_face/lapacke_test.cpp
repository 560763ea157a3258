#include "kernels/testing/reference.hpp"
#include "symbols.hpp"

#include <complex>
#include <cstdlib>
#include <string_view>

// LAPACKE's symbols as C programs call them: by value, with the layout first.

namespace {
struct Reported {
    std::string_view name; // the library's own text; nothing is allocated where there is no memory
    std::int64_t info = 0;
    int times = 0;
} lapacke;
} // namespace
extern "C" void LAPACKE_xerbla(const char* name, std::int32_t info) { lapacke = {name, info, lapacke.times + 1}; }

namespace trencadis::testing {
namespace {

constexpr int by_rows = 101, by_columns = 102;

template <class Int> std::vector<std::string> families()
{
    return sizeof(Int) == 4 ? std::vector<std::string>{"", "_work"}
                            : std::vector<std::string>{"_64", "64_", "_work_64", "_work64_"};
}
template <Scalar T, class Int, class... A> Int call_c(const std::string& routine, const std::string& family, A... arguments)
{
    const auto function = reinterpret_cast<Int (*)(A...)>(address("LAPACKE_" + std::string(1, letter<T>) + routine + family));
    return function(arguments...);
}

template <Scalar T> Dense<T> transposed(const Dense<T>& A)
{
    Dense<T> B(A.cols, A.rows);
    for (Index j = 0; j < A.cols; ++j)
        for (Index i = 0; i < A.rows; ++i) B(j, i) = A(i, j);
    return B;
}

template <class T> class Lapacke : public ::testing::Test {
};
using Scalars = ::testing::Types<float, double, std::complex<float>, std::complex<double>>;
TYPED_TEST_SUITE(Lapacke, Scalars);

template <Scalar T, class Int> void check_lu()
{
    const Int n = 21, nrhs = 4;
    for (const std::string& family : families<Int>()) {
        SCOPED_TRACE(family);
        const Dense<T> A = random_matrix<T>(n, n), B = random_matrix<T>(n, nrhs);
        Dense<T> a = A, b = B, a_rows = transposed(A), b_rows = transposed(B);
        std::vector<Int> ipiv(n, -7), ipiv_rows(n, -7);
        const auto f = [&](const char* routine, auto... arguments) { return call_c<T, Int>(routine, family, arguments...); };
        ASSERT_EQ(f("gesv", by_columns, n, nrhs, a.data.data(), Int(a.ld), ipiv.data(), b.data.data(), Int(b.ld)), 0);
        ASSERT_EQ(f("getrf", by_rows, n, n, a_rows.data.data(), Int(a_rows.ld), ipiv_rows.data()), 0);
        ASSERT_EQ(f("getrs", by_rows, 'N', n, nrhs, static_cast<const T*>(a_rows.data.data()), Int(a_rows.ld),
                    static_cast<const Int*>(ipiv_rows.data()), b_rows.data.data(), Int(b_rows.ld)),
                  0);
        EXPECT_EQ(ipiv, ipiv_rows);
        expect_same_bits(a, transposed(a_rows));
        expect_same_bits(b, transposed(b_rows));
    }
}

TYPED_TEST(Lapacke, ComputesByRowsWhatItComputesByColumns)
{
    check_lu<TypeParam, std::int32_t>();
    check_lu<TypeParam, std::int64_t>();
}

TYPED_TEST(Lapacke, TouchesOneTriangleByRowsAsWell)
{
    using T = TypeParam;
    const Index n = 19;
    for (const Uplo uplo : {Uplo::lower, Uplo::upper}) {
        const Dense<T> A = random_triangle<T>(uplo, n, Real<T>(2 * n + 2)); // NaN beside the triangle
        Dense<T> a = A, a_rows = transposed(A);
        const Dense<T> before = a_rows;
        const auto f = [&](const char* routine, auto... rest) { return call_c<T, std::int32_t>(routine, "", rest...); };
        for (const char* routine : {"potrf", "potri"}) {
            ASSERT_EQ(f(routine, by_columns, char(uplo), int(n), a.data.data(), int(a.ld)), 0);
            ASSERT_EQ(f(routine, by_rows, char(uplo), int(n), a_rows.data.data(), int(a_rows.ld)), 0);
        }
        expect_untouched(before, a_rows, [&](Index i, Index j) { return in_triangle(uplo, j, i); });
        for (Index j = 0; j < n; ++j)
            for (Index i = 0; i < n; ++i)
                if (in_triangle(uplo, i, j)) {
                    EXPECT_EQ(a(i, j), a_rows(j, i));
                }
    }
}

template <Scalar T, class Int> void check_norms()
{
    using R = Real<T>;
    const Int m = 9, n = 14;
    const Dense<T> A = random_matrix<T>(m, n), rows = transposed(A);
    const auto norm = [](const char* function, const std::string& family, auto... arguments) {
        const auto name = "LAPACKE_" + std::string(1, letter<T>) + function + family;
        R* const work = nullptr; // the work routines' last argument, which others do not look at
        return reinterpret_cast<R (*)(decltype(arguments)..., R*)>(address(name))(arguments..., work);
    };
    for (const std::string& family : families<Int>())
        for (const char which : std::string("M1IF")) {
            SCOPED_TRACE(family + which);
            const auto both = [&](const char* function, auto... letters_and_sizes) {
                const T *const a = A.data.data(), *const by_row = rows.data.data();
                const R expected = norm(function, family, by_columns, which, letters_and_sizes..., a, Int(A.ld));
                EXPECT_GT(expected, 0);
                EXPECT_EQ(norm(function, family, by_rows, which, letters_and_sizes..., by_row, Int(rows.ld)), expected);
            };
            both("lange", m, n);
            both("lantr", 'U', 'N', m, n);
            both("lantr", 'L', 'U', m, n);
            both("lansy", 'L', m);
            if constexpr (is_complex<T>) both("lanhe", 'U', m);
        }
}

TYPED_TEST(Lapacke, FindsTheSameNormsByRows)
{
    check_norms<TypeParam, std::int32_t>();
    check_norms<TypeParam, std::int64_t>();
}

TYPED_TEST(Lapacke, EstimatesTheSameConditionsAndErrorsByRows)
{
    using T = TypeParam;
    using R = Real<T>;
    const int n = 13, nrhs = 2;
    const Dense<T> A = random_matrix<T>(n, n), B = random_matrix<T>(n, nrhs);
    for (const char* work : {"", "_work"}) {
        R results[2][8] = {};
        for (const int layout : {by_columns, by_rows}) {
            const bool turned = layout == by_rows;
            Dense<T> a = turned ? transposed(A) : A, x = turned ? transposed(B) : B, factors = a, b = x;
            R* const answers = results[turned];
            std::int32_t ipiv[13];
            T* const none = nullptr; // arrays of work, which routines without do not look at
            const T *const pa = a.data.data(), *const pf = factors.data.data(), *const pb = b.data.data();
            const int ld = int(a.ld), ldx = int(x.ld);
            call_c<T, std::int32_t>("gesv", "", layout, n, nrhs, factors.data.data(), ld, static_cast<std::int32_t*>(ipiv),
                                    x.data.data(), ldx);
            EXPECT_EQ((call_c<T, std::int32_t>("gecon", work, layout, 'I', n, pf, ld, R(7), answers, none, none)), 0);
            EXPECT_EQ((call_c<T, std::int32_t>("trcon", work, layout, '1', 'U', 'N', n, pf, ld, answers + 1, none, none)), 0);
            EXPECT_EQ((call_c<T, std::int32_t>("gerfs", work, layout, 'N', n, nrhs, pa, ld, pf, ld,
                                               static_cast<const std::int32_t*>(ipiv), pb, ldx, x.data.data(), ldx, answers + 2,
                                               answers + 4, none, none)),
                      0);
            EXPECT_EQ((call_c<T, std::int32_t>("laswp", work, layout, nrhs, x.data.data(), ldx, 1, n,
                                               static_cast<const std::int32_t*>(ipiv), 1)),
                      0);
            answers[6] = R(std::abs(turned ? x(0, 4) : x(4, 0)));
            R r[13], c[13];
            EXPECT_EQ((call_c<T, std::int32_t>("geequ", work, layout, n, n, pa, ld, static_cast<R*>(r), static_cast<R*>(c),
                                               answers + 7, answers + 7, answers + 7)),
                      0);
        }
        for (int i = 0; i < 8; ++i) EXPECT_EQ(results[0][i], results[1][i]) << i;
        EXPECT_GT(results[0][0], 0);
        EXPECT_GT(results[0][2], 0);
    }
}

/// LAPACKE_?gesvx, whose growth comes by address, or in the work that its work routine is given.
template <class T> struct ExpertCall {
    using R = Real<T>;
    static constexpr int n = 13, nrhs = 2;
    Dense<T> a, b, factors = a, x = b;
    R r[n] = {}, c[n] = {}, rcond = -7, ferr[2] = {}, berr[2] = {}, growth = -7, reals[2 * n] = {};
    T work[4 * n] = {};
    char equed = 'N';
    std::int32_t ipiv[n] = {};

    int run(const char* family, int layout, char fact)
    {
        const auto name = "LAPACKE_" + std::string(1, letter<T>) + "gesvx" + family;
        const bool lent = *family;
        const auto called = reinterpret_cast<int (*)(int, char, char, int, int, T*, int, T*, int, std::int32_t*, char*, R*, R*,
                                                     T*, int, T*, int, R*, R*, R*, void*, R*)>(address(name));
        const int info = called(layout, fact, 'N', n, nrhs, a.data.data(), int(a.ld), factors.data.data(), int(factors.ld), ipiv,
                                &equed, r, c, b.data.data(), int(b.ld), x.data.data(), int(x.ld), &rcond, ferr, berr,
                                lent ? static_cast<void*>(work) : &growth, reals);
        if (lent) growth = is_complex<T> ? reals[0] : std::real(work[0]);
        return info;
    }
};

TYPED_TEST(Lapacke, SolvesWholeSystemsTheSameByRows)
{
    using T = TypeParam;
    using Call = ExpertCall<T>;
    Dense<T> A = random_matrix<T>(Call::n, Call::n);
    const Dense<T> B = random_matrix<T>(Call::n, Call::nrhs);
    for (Index j = 0; j < Call::n; ++j) A(3, j) *= T(Real<T>(1) / 1024);
    for (const char* family : {"", "_work"}) {
        Call columns{A, B}, rows{transposed(A), transposed(B)};
        EXPECT_EQ(columns.run(family, by_columns, 'E'), 0);
        EXPECT_EQ(rows.run(family, by_rows, 'E'), 0);
        EXPECT_NE(columns.equed, 'N');
        expect_same_bits(columns.x, transposed(rows.x));
        expect_same_bits(columns.a, transposed(rows.a));
        expect_same_bits(columns.factors, transposed(rows.factors));
        EXPECT_GT(columns.growth, 0);
        EXPECT_EQ(columns.growth, rows.growth);
        EXPECT_EQ(columns.rcond, rows.rcond);
        columns.b = B;
        EXPECT_EQ(columns.run(family, by_columns, 'F'), 0);
    }
}

/// |A x - b| where A is `at(i, l)`.
template <class T, class At> void expect_solved(const At& at, const Dense<T>& x, const Dense<T>& b)
{
    for (Index j = 0; j < b.cols; ++j)
        for (Index i = 0; i < b.rows; ++i) {
            T sum = T(0);
            for (Index l = 0; l < b.rows; ++l) sum += at(i, l) * x(l, j);
            EXPECT_NEAR(std::abs(sum - b(i, j)), 0, 1e-9);
        }
}

template <class T> void solve_in_mixed_precision()
{
    const std::string prefix = is_complex<T> ? "LAPACKE_zc" : "LAPACKE_ds";
    const int n = 13, nrhs = 2;
    const bool direct = !std::getenv("TRENCADIS_TILE"); // such a small one is, unless it is cut up
    const Dense<T> A = random_matrix<T>(n, n), P = random_triangle<T>(Uplo::lower, n, 30), B = random_matrix<T>(n, nrhs);
    for (const std::string work : {"", "_work"})
        for (const int layout : {by_columns, by_rows}) {
            const bool turned = layout == by_rows;
            const auto laid = [&](const Dense<T>& D) { return turned ? transposed(D) : D; };
            Dense<T> a = laid(A), p = laid(P), b = laid(B), x = b;
            std::int32_t ipiv[n], iter = 7;
            void* const none = nullptr;
            using Gesv = int (*)(int, int, int, T*, int, std::int32_t*, const T*, int, T*, int, void*, void*, void*, void*);
            using Posv = int (*)(int, char, int, int, T*, int, const T*, int, T*, int, void*, void*, void*, void*);
            const auto gesv = reinterpret_cast<Gesv>(address(prefix + "gesv" + work));
            const auto posv = reinterpret_cast<Posv>(address(prefix + "posv" + work));
            void* const last[4] = {work.empty() ? &iter : none, none, is_complex<T> ? none : &iter, &iter};
            EXPECT_EQ(gesv(layout, n, nrhs, a.data.data(), int(a.ld), ipiv, b.data.data(), int(b.ld), x.data.data(), int(x.ld),
                           last[0], last[1], last[2], last[3]),
                      0);
            EXPECT_EQ(iter < 0, direct) << "it took " << iter;
            expect_solved([&](Index i, Index l) { return A(i, l); }, laid(x), B);
            iter = 7;
            EXPECT_EQ(posv(layout, 'L', n, nrhs, p.data.data(), int(p.ld), b.data.data(), int(b.ld), x.data.data(), int(x.ld),
                           last[0], last[1], last[2], last[3]),
                      0);
            EXPECT_EQ(iter < 0, direct) << "it took " << iter;
            const auto positive = [&](Index i, Index l) {
                const T value = i >= l ? P(i, l) : conjugate(P(l, i));
                return i == l ? T(std::real(value)) : value;
            };
            expect_solved(positive, laid(x), B);
            if (!work.empty()) continue;
            b.data[0] = T(std::nan(""));
            EXPECT_EQ(gesv(layout, n, nrhs, a.data.data(), int(a.ld), ipiv, b.data.data(), int(b.ld), x.data.data(), int(x.ld),
                           last[0], last[1], last[2], last[3]),
                      -7);
            EXPECT_EQ(posv(layout, 'Q', n, nrhs, p.data.data(), int(p.ld), b.data.data(), int(b.ld), x.data.data(), int(x.ld),
                           last[0], last[1], last[2], last[3]),
                      -2);
        }
}

TEST(LapackeMixed, SolvesBySymbolsOfTheirOwn)
{
    solve_in_mixed_precision<double>();
    solve_in_mixed_precision<std::complex<double>>();
}

TEST(LapackeArguments, OfWholeSystemsAreLookedAtForNansWhereTheyAreRead)
{
    const auto answer = [](const auto& spoil, char fact) {
        ExpertCall<double> call{random_matrix<double>(13, 13), random_matrix<double>(13, 2)};
        for (int i = 0; i < 13; ++i) call.ipiv[i] = i + 1, call.r[i] = call.c[i] = 1;
        spoil(call);
        return call.run("", by_columns, fact);
    };
    using Call = ExpertCall<double>;
    const double nan = std::nan("");
    const auto factors = [&](Call& call) { call.factors(2, 2) = nan; };
    const auto scales = [&](Call& call) { call.equed = 'R', call.r[2] = nan; };
    EXPECT_EQ(answer([&](Call& call) { call.a(2, 2) = nan; }, 'N'), -6);
    EXPECT_EQ(answer(factors, 'N'), 0);
    EXPECT_EQ(answer(factors, 'F'), -8);
    EXPECT_EQ(answer(scales, 'N'), 0);
    EXPECT_EQ(answer(scales, 'F'), -12);
    EXPECT_EQ(answer([&](Call& call) { call.b(2, 1) = nan; }, 'N'), -14);
    EXPECT_EQ(answer([&](Call& call) { call.x(2, 1) = nan; }, 'N'), 0) << "it is only written";
    EXPECT_EQ(answer([&](Call& call) { call.equed = 'Y'; }, 'F'), -11);
    EXPECT_EQ(answer([&](Call& call) { call.equed = 'B', call.c[3] = 0; }, 'F'), -13);
}

TEST(LapackeArguments, OfNormsAreRefusedByTheirValue)
{
    double a[4] = {1, 2, std::nan(""), 4}, rcond = 0;
    const auto lange = [&](const char* family, int layout, int lda) {
        const auto name = std::string("LAPACKE_dlange") + family;
        return reinterpret_cast<double (*)(int, char, int, int, const double*, int, double*)>(address(name))(layout, 'M', 2, 2, a,
                                                                                                             lda, nullptr);
    };
    EXPECT_EQ(lange("", 100, 2), -1);
    EXPECT_EQ(lange("", by_rows, 1), -6);
    EXPECT_EQ(lange("", by_columns, 2), -5) << "a NaN";
    EXPECT_TRUE(std::isnan(lange("_work", by_columns, 2)));
    a[2] = 3;
    EXPECT_EQ(lange("", by_columns, 2), 4);
    const auto gecon = [&](double anorm) {
        return call_c<double, std::int32_t>("gecon", "", by_columns, '1', 2, static_cast<const double*>(a), 2, anorm, &rcond);
    };
    EXPECT_EQ(gecon(std::nan("")), -6);
    EXPECT_EQ(gecon(HUGE_VAL), -6);
    EXPECT_EQ(gecon(-1), -6);
    EXPECT_EQ(gecon(7), 0);
}

TEST(LapackeArguments, AreNumberedFromTheLayout)
{
    double a[16] = {4, 0, 0, 0, 0, 4, 0, 0, 0, 0, 4, 0, 0, 0, 0, 4};
    std::int32_t ipiv[4];
    const auto getrf = [&](const char* family, int layout, int m, int n, int lda) {
        return call_c<double, std::int32_t>("getrf", family, layout, m, n, static_cast<double*>(a), lda,
                                            static_cast<std::int32_t*>(ipiv));
    };
    EXPECT_EQ(getrf("", 100, 4, 4, 4), -1);
    EXPECT_EQ(lapacke.name, "LAPACKE_dgetrf");
    EXPECT_EQ(lapacke.info, -1);
    EXPECT_EQ(getrf("_work", by_rows, 4, 4, 3), -5);
    EXPECT_EQ(lapacke.name, "LAPACKE_dgetrf_work");
    EXPECT_EQ(lapacke.info, -5);
    EXPECT_EQ(getrf("", by_rows, 4, 2, 2), 0) << "rows of two";
    EXPECT_EQ(getrf("", by_columns, 4, 2, 2), -5);
    EXPECT_EQ(getrf("", by_columns, -4, 2, 2), -2);
}

TEST(LapackeArguments, WithNansAreRefusedButByTheWorkRoutines)
{
    double a[4] = {4, std::nan(""), 1, 4};
    const auto potrf = [&](const char* family, char uplo) {
        return call_c<double, std::int32_t>("potrf", family, by_columns, uplo, 2, static_cast<double*>(a), 2);
    };
    const int times = lapacke.times;
    EXPECT_EQ(potrf("", 'L'), -4);
    EXPECT_EQ(lapacke.times, times) << "without a word";
    EXPECT_EQ(potrf("", 'U'), 0) << "the triangle has none";
    EXPECT_EQ(potrf("_work", 'L'), 2);
    EXPECT_EQ(potrf("", 'Q'), -2) << "bad letters come first";
    double unit[4] = {std::nan(""), 1, 0, std::nan("")};
    const auto trtri = [&](char diag) {
        return call_c<double, std::int32_t>("trtri", "", by_columns, 'L', diag, 2, static_cast<double*>(unit), 2);
    };
    EXPECT_EQ(trtri('U'), 0) << "a unit diagonal is not read";
    EXPECT_EQ(unit[1], -1);
    EXPECT_EQ(trtri('N'), -5);
}

TEST(LapackeArguments, OfNothingMayBeAnything)
{
    double a[4] = {};
    std::int32_t ipiv[2];
    const auto getrf = [&](int m, int n, int lda) {
        return call_c<double, std::int32_t>("getrf", "", by_rows, m, n, static_cast<double*>(a), lda,
                                            static_cast<std::int32_t*>(ipiv));
    };
    EXPECT_EQ(getrf(0, 0, 0), 0) << "rows of nothing";
    EXPECT_EQ(getrf(3, 0, 0), 0);
    EXPECT_EQ(getrf(-1, 2, 2), -2);
    EXPECT_EQ(getrf(2147483647, 2147483647, 2147483647), -1011) << "no such memory";
    double answer = 0;
    EXPECT_EQ((call_c<double, std::int32_t>("getri", "_work", by_rows, 3, static_cast<double*>(nullptr), 3,
                                            static_cast<const std::int32_t*>(nullptr), &answer, -1)),
              0)
        << "a question for the workspace needs no matrix";
    EXPECT_EQ(answer, 3);
    const auto asked = [&](int layout, int m) {
        return call_c<double, std::int32_t>("geqrf", "_work", layout, m, 5, static_cast<double*>(nullptr), 5,
                                            static_cast<double*>(nullptr), &answer, -1);
    };
    EXPECT_EQ(asked(by_columns, 5), 0);
    EXPECT_EQ(answer, 5) << "at the least";
    EXPECT_EQ(asked(by_columns, -1), -2);
    EXPECT_EQ(asked(7, 5), -1);
}

} // namespace
} // namespace trencadis::testing
