#include "kernels/testing/reference.hpp"
#include "symbols.hpp"

#include <algorithm>
#include <complex>
#include <limits>

// QR, LQ and least squares as programs call them: results, questions for the workspace, and rows instead of columns.
namespace trencadis::testing {
namespace {

template <class T> class Qr : public ::testing::Test {
protected:
    using R = Real<T>;
    static constexpr char adjoint = is_complex<T> ? 'C' : 'T';
    /// What is orgqr in real precisions is ungqr in complex ones.
    static std::string q(const char* rest) { return (is_complex<T> ? "un" : "or") + std::string(rest); }
    static const Family& family(Index n) { return fortran_families[std::size_t(n) % std::size(fortran_families)]; }

    struct Factored {
        Dense<T> A;
        std::vector<T> tau;
    };
    static Factored factor(const char* routine, const Dense<T>& A)
    {
        Factored made{A, std::vector<T>(std::size_t(std::min(A.rows, A.cols)))};
        std::vector<T> work(std::size_t(A.rows + A.cols + 1));
        Index info = 7;
        call<T>(family(A.cols), routine, A.rows, A.cols, made.A.data.data(), A.ld, made.tau.data(), work.data(),
                Index(work.size()), &info);
        EXPECT_EQ(std::int32_t(info), 0);
        return made;
    }
    /// |C - A B| is within what products of that many rounded reflections may be off by: each column's length times a
    /// modest multiple of
    /// the number of operations it went through (Higham, lemma 19.3); 10 n eps has not been seen.
    static void expect_product(const Dense<T>& A, const Dense<T>& B, const Dense<T>& C)
    {
        for (Index j = 0; j < C.cols; ++j) {
            long double length = 0;
            for (Index i = 0; i < C.rows; ++i) length += std::norm(Wide<T>(C(i, j)));
            for (Index i = 0; i < C.rows; ++i) {
                Wide<T> sum = 0;
                for (Index l = 0; l < A.cols; ++l) sum += Wide<T>(A(i, l)) * Wide<T>(B(l, j));
                ASSERT_LE(std::abs(sum - Wide<T>(C(i, j))), 10 * (C.rows + A.cols) * eps<T> * std::max(1.0L, std::sqrt(length)))
                    << i << ", " << j;
            }
        }
    }
    static Dense<T> triangle(const Dense<T>& A, Uplo uplo, Index rows, Index cols)
    {
        Dense<T> B(rows, cols);
        for (Index j = 0; j < cols; ++j)
            for (Index i = 0; i < rows; ++i) B(i, j) = in_triangle(uplo, i, j) ? A(i, j) : T(0);
        return B;
    }
    static Dense<T> identity(Index n)
    {
        Dense<T> B(n, n);
        for (Index j = 0; j < n; ++j)
            for (Index i = 0; i < n; ++i) B(i, j) = T(Real<T>(i == j));
        return B;
    }
    static Dense<T> adjoint_of(const Dense<T>& A)
    {
        Dense<T> B(A.cols, A.rows);
        for (Index j = 0; j < A.cols; ++j)
            for (Index i = 0; i < A.rows; ++i) B(j, i) = conjugate(A(i, j));
        return B;
    }
    /// The first columns of Q, or rows.
    static Dense<T> form(bool lq, const Factored& from, Index rows, Index cols)
    {
        Dense<T> Q(rows, cols);
        for (Index j = 0; j < std::min(cols, from.A.cols); ++j)
            for (Index i = 0; i < std::min(rows, from.A.rows); ++i) Q(i, j) = from.A(i, j);
        std::vector<T> work(std::size_t(rows + cols + 1));
        Index info = 7;
        call<T>(family(rows), q(lq ? "glq" : "gqr").c_str(), rows, cols, Index(from.tau.size()), Q.data.data(), Q.ld,
                from.tau.data(), work.data(), Index(work.size()), &info);
        EXPECT_EQ(std::int32_t(info), 0);
        return Q;
    }
    static void apply(const char* routine, char side, char trans, const Factored& from, Dense<T>& C)
    {
        std::vector<T> work(std::size_t(C.rows + C.cols + 1));
        const Dense<T> before = from.A;
        Index info = 7;
        call<T>(family(C.cols), q(routine).c_str(), side, trans, C.rows, C.cols, Index(from.tau.size()), from.A.data.data(),
                from.A.ld, from.tau.data(), C.data.data(), C.ld, work.data(), Index(work.size()), &info);
        EXPECT_EQ(std::int32_t(info), 0);
        expect_same_bits(before, from.A);
    }
};
using Scalars = ::testing::Types<float, double, std::complex<float>, std::complex<double>>;
TYPED_TEST_SUITE(Qr, Scalars);

constexpr Index sizes[] = {0, 1, 7, 20, 33};

TYPED_TEST(Qr, FactorsMultiplyToTheMatrixAndTheirColumnsAreOrthonormal)
{
    using T = TypeParam;
    for (const Index m : sizes)
        for (const Index n : sizes) {
            const Dense<T> A = random_matrix<T>(m, n);
            const auto qr = this->factor("geqrf", A);
            expect_untouched(A, qr.A, [](Index, Index) { return true; });
            const Dense<T> Q = this->form(false, qr, m, m);
            this->expect_product(Q, this->triangle(qr.A, Uplo::upper, m, n), A);
            this->expect_product(this->adjoint_of(Q), Q, this->identity(m));
            const auto lq = this->factor("gelqf", A);
            const Dense<T> P = this->form(true, lq, n, n);
            this->expect_product(this->triangle(lq.A, Uplo::lower, m, n), P, A);
            this->expect_product(P, this->adjoint_of(P), this->identity(n));
        }
}

TYPED_TEST(Qr, ReflectorsAreAppliedAsTheirProductIs)
{
    using T = TypeParam;
    const Index n = 20, others = 9;
    for (const Index k : {Index(1), Index(8), n})
        for (const bool lq : {false, true}) {
            const auto factored =
                lq ? this->factor("gelqf", random_matrix<T>(k, n)) : this->factor("geqrf", random_matrix<T>(n, k));
            const Dense<T> Q = this->form(lq, factored, n, n), H = this->adjoint_of(Q);
            for (const char trans : {'N', this->adjoint}) {
                const Dense<T>& op = trans == 'N' ? Q : H;
                const Dense<T> left = random_matrix<T>(n, others), right = random_matrix<T>(others, n);
                Dense<T> C = left, D = right;
                this->apply(lq ? "mlq" : "mqr", 'L', trans, factored, C);
                this->apply(lq ? "mlq" : "mqr", 'R', trans, factored, D);
                this->expect_product(op, left, C);
                this->expect_product(right, op, D);
                expect_untouched(left, C, [](Index, Index) { return true; });
            }
        }
}

TYPED_TEST(Qr, QuestionsForTheWorkspaceTouchNothingElse)
{
    using T = TypeParam;
    const Index m = 9, n = 5, k = 3, nrhs = 12;
    const T before = T(Real<T>(7));
    std::vector<T> a(100, before), tau(10, before), c(200, before);
    for (const Family& family : fortran_families) {
        T work = before;
        Index info = 7;
        const auto expect = [&](Index least) {
            EXPECT_EQ(std::int32_t(info), 0);
            EXPECT_EQ(std::real(work), Real<T>(least));
            for (const std::vector<T>* array : {&a, &tau, &c})
                EXPECT_EQ(std::count(array->begin(), array->end(), before), std::ptrdiff_t(array->size()));
        };
        call<T>(family, "geqrf", m, n, a.data(), m, tau.data(), &work, Index(-1), &info), expect(n);
        call<T>(family, "gelqf", m, n, a.data(), m, tau.data(), &work, Index(-1), &info), expect(m);
        call<T>(family, this->q("gqr").c_str(), m, n, k, a.data(), m, tau.data(), &work, Index(-1), &info), expect(n);
        call<T>(family, this->q("glq").c_str(), n, m, k, a.data(), m, tau.data(), &work, Index(-1), &info), expect(n);
        call<T>(family, this->q("mqr").c_str(), 'L', 'N', m, nrhs, k, a.data(), m, tau.data(), c.data(), m, &work, Index(-1),
                &info),
            expect(nrhs);
        call<T>(family, this->q("mlq").c_str(), 'R', 'N', m, nrhs, k, a.data(), k, tau.data(), c.data(), m, &work, Index(-1),
                &info),
            expect(m);
        call<T>(family, "gels", 'N', m, n, nrhs, a.data(), m, c.data(), m, &work, Index(-1), &info), expect(n + nrhs);
    }
}

/// In single precision there is no 2^24 + 1: the answer is the next number that there is, since less is refused.
TEST(QrWorkspace, IsRoundedUpWhereThereIsNoSuchNumber)
{
    static constexpr Index many = (Index(1) << 24) + 1;
    const auto expect = [](auto zero) {
        using T = decltype(zero);
        std::vector<T> row(std::size_t(many) + 1, T(1)), column(4), tau(2);
        const std::string mqr = is_complex<T> ? "unmqr" : "ormqr";
        T work = T(0);
        Index info = 7;
        call<T>(fortran_families[0], "geqrf", Index(1), many, row.data(), Index(1), tau.data(), &work, Index(-1), &info);
        EXPECT_GE(double(std::real(work)), double(many));
        call<T>(fortran_families[0], "gelqf", many, Index(1), row.data(), many, tau.data(), &work, Index(-1), &info);
        EXPECT_GE(double(std::real(work)), double(many));
        call<T>(fortran_families[0], mqr.c_str(), 'L', 'N', Index(1), many, Index(1), column.data(), Index(1), tau.data(),
                row.data(), Index(1), &work, Index(-1), &info);
        EXPECT_GE(double(std::real(work)), double(many));
    };
    expect(float());
    expect(std::complex<float>());
}

/// geqp3's arguments behind A: jpvt of the family's integers, and an array of real numbers more in complex precisions.
template <class T> struct PivotedCall {
    std::vector<std::int64_t> jpvt;
    std::vector<T> tau, work;
    std::vector<Real<T>> rwork;
    explicit PivotedCall(Index n)
        : jpvt(std::size_t(n) + 1), tau(std::size_t(n) + 1), work(std::size_t(4 * n) + 2), rwork(std::size_t(2 * n) + 1)
    {
    }

    std::int32_t run(const Family& family, Index m, Index n, T* A, Index lda, Index lwork)
    {
        Index info = 7;
        if constexpr (is_complex<T>)
            call<T>(family, "geqp3", m, n, A, lda, jpvt.data(), tau.data(), work.data(), lwork, rwork.data(), &info);
        else call<T>(family, "geqp3", m, n, A, lda, jpvt.data(), tau.data(), work.data(), lwork, &info);
        return std::int32_t(info);
    }
    Index place(const Family& family, Index j) const
    {
        return family.wide ? jpvt[std::size_t(j)] : reinterpret_cast<const std::int32_t*>(jpvt.data())[j];
    }
    static Index least(Index n) { return is_complex<T> ? n + 1 : 3 * n + 1; }
};

TYPED_TEST(Qr, WithPivotingMultipliesToTheMatrixWithItsColumnsExchanged)
{
    using T = TypeParam;
    for (const Family& family : fortran_families)
        for (const Index m : {Index(1), Index(7), Index(20)})
            for (const Index n : {Index(1), Index(7), Index(33)}) {
                const Dense<T> A = random_matrix<T>(m, n);
                typename TestFixture::Factored made{A, {}};
                PivotedCall<T> pivoted(n);
                EXPECT_EQ(pivoted.run(family, m, n, made.A.data.data(), A.ld, pivoted.least(n)), 0);
                made.tau.assign(pivoted.tau.begin(), pivoted.tau.begin() + std::min(m, n));
                Dense<T> exchanged(m, n);
                for (Index j = 0; j < n; ++j)
                    for (Index i = 0; i < m; ++i) exchanged(i, j) = A(i, pivoted.place(family, j) - 1);
                expect_untouched(A, made.A, [](Index, Index) { return true; });
                this->expect_product(this->form(false, made, m, m), this->triangle(made.A, Uplo::upper, m, n), exchanged);
                for (Index j = 1; j < std::min(m, n); ++j)
                    EXPECT_LE(std::abs(made.A(j, j)), std::abs(made.A(j - 1, j - 1)) * (1 + 1e-3));
            }
}

TYPED_TEST(Qr, WithPivotingRefusesWhatLapackRefuses)
{
    using T = TypeParam;
    const Index m = 5, n = 4;
    const Family& family = fortran_families[0];
    PivotedCall<T> pivoted(n);
    std::vector<T> A(20, T(1));
    const Index least = pivoted.least(n);
    EXPECT_EQ(pivoted.run(family, -1, n, A.data(), m, least), -1);
    EXPECT_EQ(pivoted.run(family, m, -1, A.data(), m, least), -2);
    EXPECT_EQ(pivoted.run(family, m, n, A.data(), m - 1, least), -4);
    EXPECT_EQ(pivoted.run(family, m, n, A.data(), m, least - 1), -8);
    EXPECT_EQ(pivoted.run(family, m, n, A.data(), m, -1), 0);
    EXPECT_EQ(std::real(pivoted.work[0]), Real<T>(least));
    EXPECT_EQ(std::count(A.begin(), A.end(), T(1)), 20);
    EXPECT_EQ(pivoted.run(family, 0, n, A.data(), 1, 1), 0);
    EXPECT_EQ(pivoted.run(family, m, 0, A.data(), m, 1), 0);
}

TYPED_TEST(Qr, OfBlocksLeaveTheTrianglesOfTheirReflectors)
{
    using T = TypeParam;
    for (const Index m : {Index(5), Index(20), Index(33)})
        for (const Index n : {Index(5), Index(20)})
            for (const Index nb : {Index(1), Index(3), std::min(m, n)}) {
                const Index k = std::min(m, n);
                const Dense<T> A = random_matrix<T>(m, n), before(nb, k);
                Dense<T> V = A, t = before, C = A;
                std::vector<T> work(1000);
                Index info = 7;
                call<T>(this->family(m), "geqrt", m, n, nb, V.data.data(), V.ld, t.data.data(), t.ld, work.data(), &info);
                EXPECT_EQ(std::int32_t(info), 0);
                expect_untouched(before, t, [&](Index i, Index j) { return i <= j % nb; });
                call<T>(this->family(n), "gemqrt", 'L', this->adjoint, m, n, k, nb, V.data.data(), V.ld, t.data.data(), t.ld,
                        C.data.data(), C.ld, work.data(), &info);
                EXPECT_EQ(std::int32_t(info), 0);
                this->expect_product(this->identity(m), this->triangle(V, Uplo::upper, m, n), C);
                call<T>(this->family(n), "gemqrt", 'L', 'N', m, n, k, nb, V.data.data(), V.ld, t.data.data(), t.ld, C.data.data(),
                        C.ld, work.data(), &info);
                this->expect_product(this->identity(m), A, C);
                const Dense<T> right = random_matrix<T>(4, m);
                Dense<T> D = right;
                for (const char trans : {'N', this->adjoint})
                    call<T>(this->family(n), "gemqrt", 'R', trans, Index(4), m, k, nb, V.data.data(), V.ld, t.data.data(), t.ld,
                            D.data.data(), D.ld, work.data(), &info);
                this->expect_product(right, this->identity(m), D);
            }
}

TYPED_TEST(Qr, BlockReflectorsAreThoseOfGeqrt)
{
    using T = TypeParam;
    const Index m = 17, k = 6;
    Dense<T> V = random_matrix<T>(m, k), t(k, k), again(k, k);
    std::vector<T> work(500), tau;
    Index info = 7;
    call<T>(this->family(0), "geqrt", m, k, k, V.data.data(), V.ld, t.data.data(), t.ld, work.data(), &info);
    for (Index j = 0; j < k; ++j) tau.push_back(t(j, j));
    call<T>(this->family(1), "larft", 'F', 'C', m, k, V.data.data(), V.ld, tau.data(), again.data.data(), again.ld);
    this->expect_product(this->triangle(t, Uplo::upper, k, k), this->identity(k), this->triangle(again, Uplo::upper, k, k));
    expect_untouched(Dense<T>(k, k), again, [](Index i, Index j) { return i <= j; });
    const Dense<T> before = random_matrix<T>(m, 5);
    Dense<T> C = before;
    for (const char trans : {'N', this->adjoint}) // H^H H
        call<T>(this->family(2), "larfb", 'L', trans, 'F', 'C', m, Index(5), k, V.data.data(), V.ld, t.data.data(), t.ld,
                C.data.data(), C.ld, work.data(), Index(5));
    this->expect_product(this->identity(m), before, C);
    // The same vectors as rows.
    const Dense<T> rows = this->adjoint_of(V);
    Dense<T> by_rows(k, k);
    call<T>(this->family(3), "larft", 'F', 'R', m, k, rows.data.data(), rows.ld, tau.data(), by_rows.data.data(), by_rows.ld);
    this->expect_product(this->triangle(t, Uplo::upper, k, k), this->identity(k), this->triangle(by_rows, Uplo::upper, k, k));
    // Bad arguments are nobody's business: nothing is done.
    const Dense<T> kept = C;
    call<T>(this->family(4), "larfb", 'Q', 'N', 'F', 'C', m, Index(5), k, V.data.data(), V.ld, t.data.data(), t.ld, C.data.data(),
            C.ld, work.data(), Index(5));
    expect_same_bits(kept, C);
}

// LAPACKE.

constexpr int rows_first = 101, columns_first = 102;

template <Scalar T, class... A> std::int32_t in_c(const std::string& routine, const char* suffix, A... arguments)
{
    const auto name = "LAPACKE_" + std::string(1, letter<T>) + routine + suffix;
    return reinterpret_cast<std::int32_t (*)(A...)>(address(name))(arguments...);
}
template <Scalar T> Dense<T> turned(const Dense<T>& A)
{
    Dense<T> B(A.cols, A.rows);
    for (Index j = 0; j < A.cols; ++j)
        for (Index i = 0; i < A.rows; ++i) B(j, i) = A(i, j);
    return B;
}

TYPED_TEST(Qr, ByRowsIsWhatItIsByColumns)
{
    using T = TypeParam;
    const int m = 14, n = 9, nrhs = 3, nb = 4;
    const Dense<T> A = random_matrix<T>(m, n), B = random_matrix<T>(m, nrhs);
    const Dense<T> no_nans = random_matrix<T>(nb, n); // LAPACKE looks for them below the triangles as well
    for (const char* work_suffix : {"", "_work"}) {
        std::vector<Dense<T>> results[2];
        for (const int layout : {columns_first, rows_first}) {
            const bool by_rows = layout == rows_first;
            const auto laid = [&](const Dense<T>& X) { return by_rows ? turned(X) : X; };
            const auto keep = [&](const Dense<T>& X) { results[by_rows].push_back(laid(X)); };
            Dense<T> a = laid(A), b = laid(B), t = laid(no_nans), x = laid(B), f = laid(A), w = laid(A);
            std::vector<T> tau(n), work(500);
            const int lda = int(a.ld), ldb = int(b.ld), ldt = int(t.ld);
            const int size = 500; // behind the last argument of those without a workspace it is not looked at
            const auto ok = [&](const std::string& routine, auto... rest) {
                EXPECT_EQ((in_c<T>(routine, work_suffix, layout, rest..., work.data(), size)), 0) << routine << layout;
            };
            ok("geqrf", m, n, a.data.data(), lda, tau.data());
            keep(a);
            ok(this->q("mqr"), 'L', this->adjoint, m, nrhs, n, static_cast<const T*>(a.data.data()), lda,
               static_cast<const T*>(tau.data()), b.data.data(), ldb);
            keep(b);
            ok(this->q("gqr"), m, n, n, a.data.data(), lda, static_cast<const T*>(tau.data()));
            keep(a);
            ok("gels", 'N', m, n, nrhs, w.data.data(), lda, x.data.data(), ldb);
            keep(x);
            ok("geqrt", m, n, nb, f.data.data(), lda, t.data.data(), ldt);
            keep(f);
            ok("gemqrt", 'L', 'N', m, nrhs, n, nb, static_cast<const T*>(f.data.data()), lda,
               static_cast<const T*>(t.data.data()), ldt, x.data.data(), ldb);
            keep(x);
        }
        ASSERT_EQ(results[0].size(), results[1].size());
        for (std::size_t i = 0; i < results[0].size(); ++i) {
            SCOPED_TRACE(i);
            for (Index c = 0; c < results[0][i].cols; ++c)
                for (Index r = 0; r < results[0][i].rows; ++r) EXPECT_EQ(results[0][i](r, c), results[1][i](r, c));
        }
    }
}

TEST(QrInLapacke, RefusesNansButNotInWhatIsOnlyWritten)
{
    const double nan = std::numeric_limits<double>::quiet_NaN();
    double a[4] = {4, 1, 1, 3}, t[4] = {nan, nan, nan, nan}, tau[2] = {nan, 1}, c[4] = {1, 2, 3, 4};
    EXPECT_EQ((in_c<double>("geqrt", "", columns_first, 2, 2, 2, static_cast<double*>(a), 2, static_cast<double*>(t), 2)), 0);
    const auto ormqr = [&](double* reflectors, double* matrix) {
        return in_c<double>("ormqr", "", columns_first, 'L', 'N', 2, 2, 2, static_cast<const double*>(reflectors), 2,
                            static_cast<const double*>(tau), matrix, 2);
    };
    EXPECT_EQ(ormqr(a, c), -9) << "tau";
    tau[0] = 1;
    EXPECT_EQ(ormqr(a, c), 0);
    c[1] = nan;
    EXPECT_EQ(ormqr(a, c), -10);
    a[2] = nan;
    EXPECT_EQ(ormqr(a, c), -7);
    EXPECT_EQ((in_c<double>("gels", "", columns_first, 'N', 2, 2, 1, static_cast<double*>(a), 2, static_cast<double*>(c), 2)),
              -6);
    EXPECT_EQ((in_c<double>("gels", "", columns_first, 'C', 2, 2, 1, static_cast<double*>(a), 2, static_cast<double*>(c), 2)), -6)
        << "LAPACK would refuse the letter, but it is not asked";
}

TEST(QrInLapacke, CountsRowsThatAreTooShort)
{
    double a[8] = {}, tau[2] = {}, c[8] = {};
    EXPECT_EQ((in_c<double>("geqrf", "", rows_first, 4, 2, static_cast<double*>(a), 1, static_cast<double*>(tau))), -5);
    EXPECT_EQ((in_c<double>("gels", "", rows_first, 'N', 4, 2, 2, static_cast<double*>(a), 2, static_cast<double*>(c), 1)), -9);
    EXPECT_EQ((in_c<double>("larft", "", rows_first, 'F', 'C', 4, 2, static_cast<const double*>(a), 1,
                            static_cast<const double*>(tau), static_cast<double*>(c), 2)),
              -7);
}

TYPED_TEST(Qr, OfNothingLooksAtNothing)
{
    using T = TypeParam;
    T work[5] = {};
    T* const none = nullptr;
    for (const Family& family : fortran_families) {
        Index info = 7;
        call<T>(family, this->q("mqr").c_str(), 'L', 'N', Index(5), Index(0), Index(3), none, Index(5), none, none, Index(5),
                work, Index(5), &info);
        EXPECT_EQ(std::int32_t(info), 0);
        call<T>(family, this->q("mlq").c_str(), 'R', 'N', Index(0), Index(5), Index(3), none, Index(3), none, none, Index(1),
                work, Index(5), &(info = 7));
        EXPECT_EQ(std::int32_t(info), 0);
        call<T>(family, "larfb", 'L', 'N', 'F', 'C', Index(5), Index(0), Index(3), none, Index(5), none, Index(3), none, Index(5),
                work, Index(5));
        call<T>(family, "larft", 'F', 'C', Index(0), Index(3), none, Index(1), none, none, Index(3));
    }
}

} // namespace
} // namespace trencadis::testing
