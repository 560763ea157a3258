#include "blas/factorizations/qr.hpp"

#include "blas/factorizations/one_by_one.hpp"
#include "blas/factorizations/qr_panel.hpp"
#include "blas/testing/reflectors.hpp"

#include <cfenv>
#include <cmath>
#include <limits>

namespace trencadis::blas {
namespace {

using namespace testing;

template <class T> class Qr : public ::testing::Test {
};
using Scalars = ::testing::Types<float, double, std::complex<float>, std::complex<double>>;
TYPED_TEST_SUITE(Qr, Scalars);

struct Shape {
    Index m, n;
};
const std::vector<Shape> shapes = {{0, 0},   {0, 3},   {3, 0},   {1, 1},    {1, 5},    {5, 1},     {2, 2},    {3, 3},
                                   {7, 7},   {8, 8},   {9, 8},   {8, 9},    {17, 16},  {16, 17},   {33, 33},  {40, 24},
                                   {24, 40}, {65, 64}, {64, 64}, {100, 65}, {65, 100}, {150, 130}, {300, 20}, {20, 300}};

std::string named(const std::string& where, Shape s) { return where + " " + std::to_string(s.m) + " x " + std::to_string(s.n); }
bool small(Shape s) { return s.m * s.n <= 40 * 40; }

template <Scalar T> std::vector<T> factor_columns(Stored<T>& A)
{
    std::vector<T> tau(std::size_t(std::min(A.rows, A.cols)));
    geqrf<T>(A.rows, A.cols, A.data.data(), A.ld, tau.data(), nullptr, 0);
    return tau;
}
template <Scalar T> std::vector<T> factor_rows(Stored<T>& A)
{
    std::vector<T> tau(std::size_t(std::min(A.rows, A.cols)));
    gelqf<T>(A.rows, A.cols, A.data.data(), A.ld, tau.data());
    return tau;
}
/// What is done where there is no memory, of columns or rows.
template <Scalar T> std::vector<T> factor_one_by_one(Storage storage, Stored<T>& A)
{
    std::vector<T> tau(std::size_t(std::min(A.rows, A.cols)));
    one_by_one::factor(storage, A.rows, A.cols, A.data.data(), A.ld, tau.data());
    return tau;
}
/// Small shapes with all blocks, the others with the machine's only.
template <class Body> void for_shapes(const Body& body)
{
    for_all_setups([&](const std::string& where) {
        for (const Shape s : shapes) {
            if (!small(s) && where.find(" 256") == std::string::npos) continue;
            body(s, named(where, s));
            if (::testing::Test::HasFatalFailure()) return;
        }
    });
}

/// Squares that overflow or vanish are tried, but are no exceptions of the caller's.
TYPED_TEST(Qr, RaisesNoExceptionWhereSquaresWould)
{
    using T = TypeParam;
    using Limits = std::numeric_limits<Real<T>>;
    Random random{17};
    for_all_setups([&](const std::string& where) {
        for (const Real<T> scale : {std::pow(Limits::max(), Real<T>(0.75)), std::pow(Limits::min(), Real<T>(0.75))})
            for (const Shape s : {Shape{2, 1}, Shape{1, 2}, Shape{40, 24}, Shape{24, 40}}) {
                auto columns = random_matrix<T>(random, s.m, s.n);
                for (T& value : columns.data) value *= scale;
                auto rows = columns;
                std::feclearexcept(FE_ALL_EXCEPT);
                factor_columns(columns);
                factor_rows(rows);
                EXPECT_EQ(std::fetestexcept(FE_ALL_EXCEPT & ~FE_INEXACT), 0) << named(where, s) << " times " << scale;
            }
    });
}

TYPED_TEST(Qr, FactorsEveryShape)
{
    using T = TypeParam;
    Random random(1);
    for_shapes([&](Shape s, const std::string& what) {
        auto A = random_matrix<T>(random, s.m, s.n), B = A;
        const auto before = A;
        const auto tau = factor_columns(A);
        expect_qr(before, A, tau, what);
        expect_qr(before, B, factor_one_by_one(Storage::columns, B), what + " one by one");
    });
}

/// I - V T V^H is the product of the reflectors: compared on the identity.
template <Scalar T>
void expect_compact(const Exact<T>& V, Direction direction, const std::vector<T>& tau, const Stored<T>& factor,
                    const std::string& what)
{
    Exact<T> product = identity<T>(V.rows, V.rows), compact = product;
    apply_exactly(Op::none, direction, V, tau.data(), product);
    const Uplo uplo = direction == Direction::forward ? Uplo::upper : Uplo::lower;
    const Exact<T> middle = expand(factor, Structure::triangular, uplo);
    Exact<T> VT(V.rows, V.cols);
    for (Index j = 0; j < V.cols; ++j)
        for (Index p = 0; p < V.cols; ++p)
            for (Index i = 0; i < V.rows; ++i) VT(i, j) += times(V(i, p), middle(p, j));
    for (Index j = 0; j < V.rows; ++j)
        for (Index p = 0; p < V.cols; ++p)
            for (Index i = 0; i < V.rows; ++i) compact(i, j) -= times(VT(i, p), wide_conjugate<T>(V(j, p)));
    ASSERT_LE(distance<T>(product, compact), rounding<T> * 4 * (V.rows + 10) * std::sqrt((long double)V.cols) * eps<T>) << what;
    for (Index j = 0; j < factor.cols; ++j)
        for (Index i = 0; i < factor.ld; ++i)
            if (i >= factor.rows || !in_part(uplo, i, j)) {
                ASSERT_NE(factor(i, j), factor(i, j)) << what << ": touched T at " << i << ", " << j;
            }
}

TYPED_TEST(Qr, LeavesTheFactorOfAllReflectors)
{
    using T = TypeParam;
    Random random(2);
    for_shapes([&](Shape s, const std::string& what) {
        if (s.m > 110) return;
        auto A = random_matrix<T>(random, s.m, s.n);
        const auto before = A;
        const Index k = std::min(s.m, s.n);
        Stored<T> factor(k, k, 1);
        std::vector<T> tau(static_cast<std::size_t>(k));
        geqrf<T>(s.m, s.n, A.data.data(), A.ld, tau.data(), factor.data.data(), factor.ld);
        expect_qr(before, A, tau, what);
        if (::testing::Test::HasFatalFailure()) return;
        expect_compact<T>(vectors_of(Direction::forward, Storage::columns, s.m, k, A.data.data(), A.ld), Direction::forward, tau,
                          factor, what);
    });
}

TYPED_TEST(Qr, FactorsRowsAsTheConjugateTransposesColumns)
{
    using T = TypeParam;
    Random random(3);
    for_shapes([&](Shape s, const std::string& what) {
        auto A = random_matrix<T>(random, s.m, s.n), B = A;
        const auto before = adjoint(A);
        const auto as_columns = [&](const Stored<T>& rows) {
            auto after = adjoint(rows);
            for (Index j = 0; j < after.cols; ++j)
                for (Index i = after.rows; i < after.ld; ++i) after(i, j) = before(i, j);
            return after;
        };
        const auto tau = factor_rows(A), slow = factor_one_by_one(Storage::rows, B);
        expect_qr(before, as_columns(A), tau, what);
        expect_qr(before, as_columns(B), slow, what + " one by one");
    });
}

/// Reflectors of any kind: what geqrf leaves, turned around as the direction and storage want it.
template <Scalar T> struct SomeReflectors {
    Stored<T> V;
    std::vector<T> tau;
};
template <Scalar T> SomeReflectors<T> some_reflectors(Random& random, Direction direction, Storage storage, Index n, Index k)
{
    auto A = random_matrix<T>(random, n, k);
    auto tau = factor_columns(A);
    Stored<T> columns = A;
    if (direction == Direction::backward) {
        std::reverse(tau.begin(), tau.end());
        for (Index j = 0; j < k; ++j)
            for (Index i = 0; i < n; ++i) columns(i, j) = A(n - 1 - i, k - 1 - j);
    }
    for (Index j = 0; j < k; ++j)
        for (Index i = 0; i < n; ++i)
            if (direction == Direction::forward ? i <= j : i >= n - k + j) columns(i, j) = not_a_number<T>();
    return {storage == Storage::columns ? columns : adjoint(columns), tau};
}

template <class Body> void for_kinds(const Body& body)
{
    for (const Direction direction : {Direction::forward, Direction::backward})
        for (const Storage storage : {Storage::columns, Storage::rows})
            body(direction, storage,
                 std::string(direction == Direction::forward ? "forward " : "backward ") +
                     (storage == Storage::columns ? "columns " : "rows "));
}

TYPED_TEST(Qr, MakesFactorsInBothDirectionsAndStorages)
{
    using T = TypeParam;
    Random random(4);
    for (const Shape s : {Shape{1, 1}, {2, 1}, {9, 9}, {20, 3}, {30, 17}, {70, 65}})
        for_kinds([&](Direction direction, Storage storage, const std::string& kind) {
            const auto some = some_reflectors<T>(random, direction, storage, s.m, s.n);
            const auto V = vectors_of(direction, storage, s.m, s.n, some.V.data.data(), some.V.ld);
            Stored<T> factor(s.n, s.n, 2), slow = factor;
            larft<T>(direction, storage, s.m, s.n, some.V.data.data(), some.V.ld, some.tau.data(), factor.data.data(), factor.ld);
            expect_compact<T>(V, direction, some.tau, factor, named(kind, s));
            one_by_one::make_factor<T>({direction, storage, s.m, s.n, some.V.data.data(), some.V.ld}, some.tau.data(),
                                       slow.data.data(), slow.ld);
            expect_compact<T>(V, direction, some.tau, slow, named(kind, s) + " one by one");
        });
}

/// |C - exact| <= c (n + k) eps |C|, c = 4.
template <Scalar T>
void expect_applied(Side side, Op op, Direction direction, const Exact<T>& V, const std::vector<T>& tau, const Stored<T>& before,
                    const Stored<T>& after, const std::string& what)
{
    Exact<T> C = exact(before);
    if (side == Side::right) C = adjoint<T>(C);
    const bool plain = (op == Op::none) == (side == Side::left);
    apply_exactly(plain ? Op::none : Op::conj_trans, direction, V, tau.data(), C);
    if (side == Side::right) C = adjoint<T>(C);
    ASSERT_LE(distance<T>(C, exact(after)), rounding<T> * 4 * (V.rows + V.cols + 10) * eps<T> * frobenius<T>(C)) << what;
}

TYPED_TEST(Qr, AppliesBlocksOfReflectorsOfEveryKind)
{
    using T = TypeParam;
    Random random(5);
    for (const Shape s : {Shape{1, 1}, {2, 1}, {9, 9}, {20, 3}, {30, 17}})
        for_kinds([&](Direction direction, Storage storage, const std::string& kind) {
            const auto some = some_reflectors<T>(random, direction, storage, s.m, s.n);
            const auto V = vectors_of(direction, storage, s.m, s.n, some.V.data.data(), some.V.ld);
            Stored<T> factor(s.n, s.n, 2);
            larft<T>(direction, storage, s.m, s.n, some.V.data.data(), some.V.ld, some.tau.data(), factor.data.data(), factor.ld);
            for (const Side side : {Side::left, Side::right})
                for (const Op op : {Op::none, Op::conj_trans})
                    for (const Index others : {0, 1, 13}) {
                        auto C =
                            side == Side::left ? random_matrix<T>(random, s.m, others) : random_matrix<T>(random, others, s.m);
                        const auto before = C;
                        auto D = C;
                        larfb<T>(side, op, direction, storage, C.rows, C.cols, s.n, some.V.data.data(), some.V.ld,
                                 factor.data.data(), factor.ld, C.data.data(), C.ld);
                        expect_applied<T>(side, op, direction, V, some.tau, before, C, named(kind, s));
                        one_by_one::apply<T>(side, op, {direction, storage, s.m, s.n, some.V.data.data(), some.V.ld},
                                             factor.data.data(), factor.ld + 1, D.rows, D.cols, D.data.data(), D.ld);
                        expect_applied<T>(side, op, direction, V, some.tau, before, D, named(kind, s) + " one by one");
                    }
        });
}

TYPED_TEST(Qr, AppliesQFromBothSidesOfColumnsAndOfRows)
{
    using T = TypeParam;
    Random random(6);
    for (const Shape s : {Shape{1, 1}, {5, 5}, {20, 13}, {90, 70}, {91, 69}, {140, 130}})
        for (const Storage storage : {Storage::columns, Storage::rows}) {
            const auto some = some_reflectors<T>(random, Direction::forward, storage, s.m, s.n);
            const auto V = vectors_of(Direction::forward, storage, s.m, s.n, some.V.data.data(), some.V.ld);
            for (const Side side : {Side::left, Side::right})
                for (const Op op : {Op::none, Op::conj_trans}) {
                    const Index others = s.m % 4 ? 3 : 11; // few columns go one by one
                    auto C = side == Side::left ? random_matrix<T>(random, s.m, others) : random_matrix<T>(random, others, s.m);
                    const auto before = C;
                    const bool columns = storage == Storage::columns;
                    (columns ? ormqr<T> : ormlq<T>)(side, op, C.rows, C.cols, s.n, some.V.data.data(), some.V.ld, some.tau.data(),
                                                    C.data.data(), C.ld);
                    // Q of LQ is the conjugate transpose of what its reflectors make.
                    const Op seen = columns ? op : op == Op::none ? Op::conj_trans : Op::none;
                    expect_applied<T>(side, seen, Direction::forward, V, some.tau, before, C, named(columns ? "qr" : "lq", s));
                }
        }
}

TYPED_TEST(Qr, FormsTheFirstColumnsAndRowsOfQ)
{
    using T = TypeParam;
    Random random(7);
    struct Case {
        Index m, n, k;
    };
    for (const Case s :
         {Case{1, 1, 1}, {1, 1, 0}, {5, 5, 5}, {5, 3, 0}, {20, 13, 7}, {90, 70, 65}, {140, 140, 130}, {70, 70, 70}})
        for (const Storage storage : {Storage::columns, Storage::rows}) {
            const bool columns = storage == Storage::columns;
            const auto some = some_reflectors<T>(random, Direction::forward, storage, s.m, s.k);
            auto A = columns ? random_matrix<T>(random, s.m, s.n) : random_matrix<T>(random, s.n, s.m);
            for (Index j = 0; j < some.V.cols; ++j)
                for (Index i = 0; i < some.V.rows; ++i) A(i, j) = some.V(i, j);
            auto B = A;
            if (columns) orgqr<T>(s.m, s.n, s.k, A.data.data(), A.ld, some.tau.data());
            else orglq<T>(s.n, s.m, s.k, A.data.data(), A.ld, some.tau.data());
            set_identity(storage, s.m, s.n - s.k, s.k, B.data.data() + s.k * (columns ? B.ld : 1), B.ld);
            one_by_one::form(storage, s.m, s.n, s.k, B.data.data(), B.ld, some.tau.data());
            Exact<T> Q = identity<T>(s.m, s.n);
            const auto V = vectors_of(Direction::forward, storage, s.m, s.k, some.V.data.data(), some.V.ld);
            apply_exactly(Op::none, Direction::forward, V, some.tau.data(), Q);
            for (const Stored<T>* const found : {&A, &B}) {
                const Exact<T> formed = columns ? exact(*found) : adjoint<T>(exact(*found));
                ASSERT_LE(distance<T>(Q, formed), rounding<T> * 4 * (s.m + 10) * std::sqrt((long double)s.n) * eps<T>)
                    << (columns ? "columns " : "rows ") << s.m << " " << s.n << " " << s.k << (found == &B ? " one by one" : "");
            }
        }
}

TYPED_TEST(Qr, ReflectsVectorsOfEverySizeOfNumbers)
{
    using T = TypeParam;
    using R = Real<T>;
    Random random(8);
    const R least = std::numeric_limits<R>::min(), most = std::numeric_limits<R>::max();
    for (const R size :
         {R(1), least, least * 4, std::numeric_limits<R>::denorm_min() * 1000, std::sqrt(least), most / 64, std::sqrt(most)})
        for (const Index n : {1, 2, 3, 9, 40})
            for (const Index inc : {1, 3}) {
                std::vector<T> x(std::size_t(n * inc), T(7)), before;
                for (Index i = 0; i < n; ++i) x[std::size_t(i * inc)] = random.number<T>() * size;
                before = x;
                T alpha = x[0];
                const T tau = larfg(n, alpha, x.data() + inc, inc);
                Exact<T> V(n, 1), a(n, 1);
                long double norm = 0;
                for (Index i = 0; i < n; ++i) {
                    V(i, 0) = i == 0 ? Wide<T>(1) : Wide<T>(x[std::size_t(i * inc)]);
                    a(i, 0) = Wide<T>(before[std::size_t(i * inc)]);
                    norm = std::hypot(norm, std::abs(a(i, 0)));
                }
                EXPECT_EQ(std::imag(alpha), 0);
                reflect<T>(V, 0, wide_conjugate<T>(Wide<T>(tau)), a);
                a(0, 0) -= Wide<T>(alpha);
                // Numbers below the least normal one have lost digits before.
                const long double digits = std::numeric_limits<R>::denorm_min() * 4.0L * n;
                EXPECT_LE(frobenius<T>(a), rounding<T> * (n + 20) * eps<T> * norm + digits) << "size " << size << " n " << n;
                expect_unitary<T>(V, {tau}, "size " + std::to_string(double(size)));
                for (std::size_t i = 0; i < x.size(); ++i)
                    if (Index(i) % inc != 0) {
                        EXPECT_EQ(x[i], T(7));
                    }
            }
}

TYPED_TEST(Qr, LeavesZerosAlone)
{
    using T = TypeParam;
    T alpha = T(3), x[3] = {};
    EXPECT_EQ(larfg<T>(4, alpha, x, 1), T(0));
    EXPECT_EQ(alpha, T(3));
    EXPECT_EQ(larfg<T>(1, alpha, x, 1), T(0));
    EXPECT_EQ(larfg<T>(0, alpha, x, 1), T(0));
    Stored<T> A(30, 20, 1);
    for (Index j = 0; j < 20; ++j)
        for (Index i = 0; i < 30; ++i) A(i, j) = T(0);
    for (const T tau : factor_columns(A)) EXPECT_EQ(tau, T(0));
    for (Index j = 0; j < 20; ++j)
        for (Index i = 0; i < 30; ++i) EXPECT_EQ(A(i, j), T(0));
    auto B = A;
    for (Index i = 0; i < 30; ++i) B(i, 5) = T(Real<T>(i));
    const auto before = B;
    const auto tau = factor_columns(B);
    expect_qr(before, B, tau, "one column");
}

TYPED_TEST(Qr, KeepsItsAccuracyForTinyHugeAndIllConditionedMatrices)
{
    using T = TypeParam;
    using R = Real<T>;
    Random random(9);
    const R small = std::numeric_limits<R>::min() * 100, large = std::numeric_limits<R>::max() / 1e6F;
    for (const R size : {small, large})
        for (const Shape s : {Shape{20, 12}, {40, 40}}) {
            auto A = random_matrix<T>(random, s.m, s.n);
            for (Index j = 0; j < s.n; ++j)
                for (Index i = 0; i < s.m; ++i) A(i, j) *= size;
            const auto before = A;
            const auto tau = factor_columns(A);
            const auto V = vectors_of(Direction::forward, Storage::columns, s.m, s.n, A.data.data(), A.ld);
            expect_unitary<T>(V, tau, "scaled");
            if (size == large) expect_qr(before, A, tau, "huge");
        }
    // Columns that are nearly multiples of one another: condition numbers up to 1e15 and beyond.
    for (const int digits : {3, 7, 15}) {
        auto A = random_matrix<T>(random, 60, 40);
        for (Index j = 1; j < 40; ++j)
            for (Index i = 0; i < 60; ++i) A(i, j) = A(i, 0) + A(i, j) * R(std::pow(10.0, -digits));
        const auto before = A;
        const auto tau = factor_columns(A);
        expect_qr(before, A, tau, "close columns");
    }
}

/// No hang and no crash; tau is no number from the column (of LQ: the row) on that has it, and as without it before.
template <Scalar T>
void expect_numbers_before(Index odd, const std::vector<T>& tau, const std::vector<T>& wanted, const std::string& what)
{
    for (Index c = 0; c < std::min(odd, Index(tau.size())); ++c)
        EXPECT_LE(std::abs(tau[std::size_t(c)] - wanted[std::size_t(c)]), 1000 * eps<T>) << what << " at " << c;
    if (odd < Index(tau.size())) {
        EXPECT_NE(tau[std::size_t(odd)], tau[std::size_t(odd)]) << what;
    }
}
TYPED_TEST(Qr, EndsWithNaNAndInfinityAnywhere)
{
    using T = TypeParam;
    using R = Real<T>;
    Random random(10);
    const auto healthy = random_matrix<T>(random, 12, 11);
    auto columns = healthy, rows = adjoint(healthy);
    const auto column_tau = factor_columns(columns), row_tau = factor_rows(rows);
    for (const R odd :
         {std::numeric_limits<R>::quiet_NaN(), std::numeric_limits<R>::infinity(), -std::numeric_limits<R>::infinity()})
        for (Index j = 0; j < 11; ++j)
            for (Index i = 0; i < 12; ++i) {
                auto A = healthy, B = adjoint(healthy);
                A(i, j) = B(j, i) = T(odd);
                const std::string what = std::to_string(i) + ", " + std::to_string(j);
                expect_numbers_before(j, factor_columns(A), column_tau, "columns " + what);
                expect_numbers_before(j, factor_rows(B), row_tau, "rows " + what);
            }
}

} // namespace
} // namespace trencadis::blas
