#include "drivers/linear_algebra.hpp"
#include "kernels/testing/reference.hpp"
#include "session/session.hpp"

#include <gmock/gmock.h>

namespace trencadis {
namespace {

using namespace testing;
using ::testing::HasSubstr;

Session& native()
{
    static Session session;
    return session;
}

template <class T> class Structured : public ::testing::Test {
protected:
    static constexpr T factor()
    {
        if constexpr (is_complex<T>) return T(0.75, -0.5);
        else return T(0.75);
    }
    static std::vector<Op> ops()
    {
        return is_complex<T> ? std::vector{Op::none, Op::trans, Op::conj_trans} : std::vector{Op::none, Op::trans};
    }
    /// Both results come from sums of `length` products, whose entries are below sqrt(2) in modulus, hence at most 2 each; each
    /// is within (length + 3) roundings of the exact value.
    static void expect_close(const Dense<T>& a, const Dense<T>& b, Index length, const char* what)
    {
        const double bound = 2 * double(length + 3) * rounding<T> * double(eps<T>) * 2 * double(length + 1);
        for (Index j = 0; j < a.cols; ++j)
            for (Index i = 0; i < a.rows; ++i) {
                if (std::isnan(std::real(b(i, j)))) continue; // the other triangle: compared bit by bit with what it was
                ASSERT_LE(double(std::abs(a(i, j) - b(i, j))), bound) << what << " at " << i << ", " << j;
            }
    }
};
using Scalars = ::testing::Types<float, double, std::complex<float>, std::complex<double>>;
TYPED_TEST_SUITE(Structured, Scalars);

/// Tiles asked for, and sizes that are cut up by themselves.
struct Case {
    Index m, n, nb;
};
constexpr Case cases[] = {{43, 29, 16}, {170, 150, 0}};

TYPED_TEST(Structured, SymmAndHemmAreTheKernelsOwn)
{
    using T = TypeParam;
    const T alpha = this->factor(), beta = T(2) * alpha;
    const KernelProvider& kernels = native().kernels();
    for (const auto [m, n, nb] : cases)
        for (const Side side : {Side::left, Side::right})
            for (const Uplo uplo : {Uplo::lower, Uplo::upper}) {
                const Index order = side == Side::left ? m : n;
                const Dense<T> A = random_triangle<T>(uplo, order, 0), B = random_matrix<T>(m, n), C = random_matrix<T>(m, n);
                Dense<T> ours = C, whole = C;
                symm(native(), side, uplo, m, n, alpha, A.data.data(), A.ld, B.data.data(), B.ld, beta, ours.data.data(), ours.ld,
                     {.nb = nb});
                kernels.symm(side, uplo, m, n, alpha, A.data.data(), A.ld, B.data.data(), B.ld, beta, whole.data.data(),
                             whole.ld);
                this->expect_close(ours, whole, order + 1, "symm");
                expect_untouched(C, ours, [](Index, Index) { return true; });
                ours = whole = C;
                hemm(native(), side, uplo, m, n, alpha, A.data.data(), A.ld, B.data.data(), B.ld, beta, ours.data.data(), ours.ld,
                     {.nb = nb});
                kernels.hemm(side, uplo, m, n, alpha, A.data.data(), A.ld, B.data.data(), B.ld, beta, whole.data.data(),
                             whole.ld);
                this->expect_close(ours, whole, order + 1, "hemm");
            }
}

TYPED_TEST(Structured, Rank2kUpdatesAreTheKernelsOwnAndKeepToTheirTriangle)
{
    using T = TypeParam;
    const T alpha = this->factor();
    const Real<T> beta = 2;
    const KernelProvider& kernels = native().kernels();
    for (const auto [n, k, nb] : cases)
        for (const Uplo uplo : {Uplo::lower, Uplo::upper})
            for (const bool transposed : {false, true}) {
                const Index rows = transposed ? k : n;
                const Dense<T> A = random_matrix<T>(rows, n + k - rows), B = random_matrix<T>(rows, n + k - rows),
                               C = random_triangle<T>(uplo, n, 0);
                Dense<T> ours = C, whole = C;
                const Op symmetric = transposed ? Op::trans : Op::none, hermitian = transposed ? Op::conj_trans : Op::none;
                syr2k(native(), uplo, symmetric, n, k, alpha, A.data.data(), A.ld, B.data.data(), B.ld, T(beta), ours.data.data(),
                      ours.ld, {.nb = nb});
                kernels.syr2k(uplo, symmetric, n, k, alpha, A.data.data(), A.ld, B.data.data(), B.ld, T(beta), whole.data.data(),
                              whole.ld);
                this->expect_close(ours, whole, 2 * k + 1, "syr2k");
                expect_untouched(C, ours, [&](Index i, Index j) { return in_triangle(uplo, i, j); });
                ours = whole = C;
                her2k(native(), uplo, hermitian, n, k, alpha, A.data.data(), A.ld, B.data.data(), B.ld, beta, ours.data.data(),
                      ours.ld, {.nb = nb});
                kernels.her2k(uplo, hermitian, n, k, alpha, A.data.data(), A.ld, B.data.data(), B.ld, beta, whole.data.data(),
                              whole.ld);
                this->expect_close(ours, whole, 2 * k + 1, "her2k");
                expect_untouched(C, ours, [&](Index i, Index j) { return in_triangle(uplo, i, j); });
            }
}

TYPED_TEST(Structured, TrmmServesBothSidesAndEveryFlag)
{
    using T = TypeParam;
    const T alpha = this->factor();
    for (const auto [m, n, nb] : cases)
        for (const Side side : {Side::left, Side::right})
            for (const Uplo uplo : {Uplo::lower, Uplo::upper})
                for (const Op op : this->ops())
                    for (const Diag diag : {Diag::unit, Diag::non_unit}) {
                        const Index order = side == Side::left ? m : n;
                        const Dense<T> A = random_triangle<T>(uplo, order, 0), B = random_matrix<T>(m, n);
                        Dense<T> ours = B, whole = B;
                        trmm(native(), side, uplo, op, diag, m, n, alpha, A.data.data(), A.ld, ours.data.data(), ours.ld,
                             {.nb = nb});
                        native().kernels().trmm(side, uplo, op, diag, m, n, alpha, A.data.data(), A.ld, whole.data.data(),
                                                whole.ld);
                        this->expect_close(ours, whole, order, "trmm");
                        expect_untouched(B, ours, [](Index, Index) { return true; });
                    }
}

/// The argument that `call` is refused for, and why.
template <class F> std::pair<int, std::string> blamed(F&& call)
{
    try {
        call();
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), ErrorCode::bad_argument);
        return {error.argument(), error.what()};
    }
    return {0, "accepted"};
}

TEST(StructuredArguments, AreNumberedAsInBlas)
{
    const double a[9] = {};
    double c[9] = {};
    const auto symm_of = [&](Index m, Index n, Index lda, Index ldb, Index ldc) {
        return blamed([&] { symm(native(), Side::left, Uplo::lower, m, n, 1.0, a, lda, a, ldb, 1.0, c, ldc); }).first;
    };
    EXPECT_EQ(symm_of(-1, 1, 1, 1, 1), 3);
    EXPECT_EQ(symm_of(1, -1, 1, 1, 1), 4);
    EXPECT_EQ(symm_of(2, 1, 1, 2, 2), 7);
    EXPECT_EQ(symm_of(2, 1, 2, 1, 2), 9);
    EXPECT_EQ(symm_of(2, 1, 2, 2, 1), 12);
    EXPECT_EQ(symm_of(2, 1, 2, 2, 2), 0);
    const auto syr2k_of = [&](Op op, Index n, Index k, Index lda, Index ldb, Index ldc) {
        return blamed([&] { syr2k(native(), Uplo::upper, op, n, k, 1.0, a, lda, a, ldb, 1.0, c, ldc); }).first;
    };
    EXPECT_EQ(syr2k_of(Op::none, -1, 1, 1, 1, 1), 3);
    EXPECT_EQ(syr2k_of(Op::none, 1, -1, 1, 1, 1), 4);
    EXPECT_EQ(syr2k_of(Op::none, 2, 1, 1, 2, 2), 7);
    EXPECT_EQ(syr2k_of(Op::none, 2, 1, 2, 1, 2), 9);
    EXPECT_EQ(syr2k_of(Op::trans, 2, 1, 1, 1, 1), 12);
    EXPECT_EQ(syr2k_of(Op::trans, 2, 1, 1, 1, 2), 0);
    const auto trmm_of = [&](Side side, Index m, Index n, Index lda, Index ldb) {
        return blamed([&] { trmm(native(), side, Uplo::upper, Op::none, Diag::unit, m, n, 1.0, a, lda, c, ldb); }).first;
    };
    EXPECT_EQ(trmm_of(Side::left, -1, 1, 1, 1), 5);
    EXPECT_EQ(trmm_of(Side::left, 1, -1, 1, 1), 6);
    EXPECT_EQ(trmm_of(Side::left, 2, 1, 1, 2), 9);
    EXPECT_EQ(trmm_of(Side::right, 2, 1, 1, 1), 11);
    EXPECT_EQ(trmm_of(Side::right, 2, 1, 1, 2), 0);
    const std::complex<double> z[4] = {};
    std::complex<double> y[4] = {};
    EXPECT_EQ(blamed([&] { her2k(native(), Uplo::upper, Op::trans, 1, 1, y[0], z, 1, z, 1, 0.0, y, 1); }).first, 2);
}

TEST(StructuredArguments, MayNotOverlapTheResult)
{
    double a[36] = {}, c[36] = {};
    const auto refused = [](auto&& call, int argument) {
        const auto [number, message] = blamed(call);
        EXPECT_EQ(number, argument);
        EXPECT_THAT(message, HasSubstr("overlaps"));
    };
    refused([&] { gemm(native(), Op::none, Op::none, 6, 6, 6, 1.0, c, 6, a, 6, 0.0, c, 6); }, 12);
    refused([&] { gemm(native(), Op::none, Op::none, 3, 3, 3, 1.0, a, 6, c + 14, 6, 0.0, c, 6); }, 12);
    refused([&] { syrk(native(), Uplo::lower, Op::none, 6, 6, 1.0, c, 6, 0.0, c, 6); }, 9);
    refused([&] { herk(native(), Uplo::lower, Op::none, 6, 6, 1.0, c, 6, 0.0, c, 6); }, 9);
    refused([&] { syr2k(native(), Uplo::lower, Op::none, 6, 6, 1.0, a, 6, c, 6, 0.0, c, 6); }, 11);
    refused([&] { symm(native(), Side::left, Uplo::lower, 6, 6, 1.0, a, 6, c, 6, 0.0, c, 6); }, 11);
    refused([&] { trmm(native(), Side::left, Uplo::lower, Op::none, Diag::unit, 6, 6, 1.0, c, 6, c, 6); }, 10);
    refused([&] { trsm(native(), Side::left, Uplo::lower, Op::none, Diag::unit, 6, 6, 1.0, c, 6, c, 6); }, 10);
    // Blocks of one matrix, as factorizations use them, are in order; so is one operand twice.
    EXPECT_EQ(blamed([&] { gemm(native(), Op::none, Op::none, 3, 3, 3, 1.0, c + 3, 6, c + 18, 6, 1.0, c + 21, 6); }).first, 0);
    EXPECT_EQ(blamed([&] { syr2k(native(), Uplo::lower, Op::none, 6, 6, 1.0, a, 6, a, 6, 0.0, c, 6); }).first, 0);
}

} // namespace
} // namespace trencadis
