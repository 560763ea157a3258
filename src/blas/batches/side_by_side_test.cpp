#include "blas/batches/side_by_side.hpp"

#include "blas/level3/scratch.hpp"
#include "blas/testing/factors.hpp"
#include "blas/testing/stacks.hpp"

#include <cfenv>

namespace trencadis::blas {
namespace {

using namespace testing;

template <class T> class SideBySide : public ::testing::Test {
};
using Scalars = ::testing::Types<float, double, std::complex<float>, std::complex<double>>;
TYPED_TEST_SUITE(SideBySide, Scalars);

/// With each instruction set of this processor.
void for_all_sets(const std::function<void(const std::string&)>& body)
{
    for (const InstructionSet* set : instruction_set_entries()) {
        if (!set->runs_here()) continue;
        const ForcedSetup forced(*set, {256, 240, 4000});
        body(set->name);
        if (::testing::Test::HasFatalFailure()) return;
    }
}

std::string size_of(const std::string& where, Index rows, Index cols, Index count)
{
    return where + ": " + std::to_string(count) + " of " + std::to_string(rows) + " x " + std::to_string(cols);
}

TYPED_TEST(SideBySide, LuHasThePivotsOfTheUnblockedOneAndFactors)
{
    using T = TypeParam;
    Random random(50);
    const auto check = [&](Index rows, Index cols, Index count, const std::string& where) {
        Stack<T> A = random_stack<T>(random, count, rows, cols);
        const Stack<T> before = A;
        Told told;
        lu_batch(batch_of(A, told));
        ASSERT_TRUE(A.same_gaps(before));
        const std::string what = size_of(where, rows, cols, count);
        for (Index k = 0; k < count; ++k) {
            const Index steps = std::min(rows, cols);
            Stored<T> by_columns = before.get(k);
            std::vector<Index> wanted(static_cast<std::size_t>(steps));
            ASSERT_EQ(unblocked_getrf(by_columns, wanted), told.info[std::size_t(k)]) << what;
            ASSERT_EQ(pivots_of(told, k, steps), wanted) << what << ", matrix " << k;
            if (k % 7 == 0) expect_factors(before.get(k), A.get(k), wanted, what);
            if (this->HasFatalFailure()) return;
        }
    };
    for_all_sets([&](const std::string& where) {
        for (Index n = 1; n <= 70; ++n) check(n, n, n < 9 ? 2 * lanes<T>() + 3 : 2, where);
        for (const auto& [rows, cols] : {std::pair<Index, Index>{1, 5}, {5, 1}, {9, 30}, {30, 9}, {33, 31}, {6, 7}, {150, 3}})
            check(rows, cols, lanes<T>() + 1, where);
    });
}

/// One column below whose diagonal entries grow from 1/2 to 1 at a row, and stay so with either sign; an identity beside it.
TYPED_TEST(SideBySide, LuTakesTheFirstOfEqualPivots)
{
    using T = TypeParam;
    using R = Real<T>;
    for_all_sets([&](const std::string& where) {
        const Index n = 13;
        Stack<T> A(n * n, n, n);
        for (Index k = 0; k < n * n; ++k) {
            const Index column = k / n, first = k % n;
            A.set(k, [&](Index i, Index j) {
                if (j != column || i < column) return T(R(i == j));
                return i < first ? T(R(0.5)) : T(R(i % 3 ? 1 : -1));
            });
        }
        Told told;
        lu_batch(batch_of(A, told));
        for (Index k = 0; k < n * n; ++k)
            ASSERT_EQ(pivots_of(told, k, n)[std::size_t(k / n)], std::max(k / n, k % n) + 1) << where << " matrix " << k;
    });
}

TYPED_TEST(SideBySide, CholeskyFactorsEitherTriangle)
{
    using T = TypeParam;
    Random random(51);
    for_all_sets([&](const std::string& where) {
        for (Index n = 1; n <= 70; ++n)
            for (const Uplo uplo : {Uplo::lower, Uplo::upper}) {
                const Index count = n < 9 ? 2 * lanes<T>() + 3 : 2;
                Stack<T> A = positive_stack<T>(random, count, n, uplo);
                const Stack<T> before = A;
                Told told;
                cholesky_batch(batch_of(A, told, uplo));
                const std::string what = size_of(where, n, n, count) + " " + char(uplo);
                ASSERT_TRUE(A.same_gaps(before)) << what;
                for (Index k = 0; k < count; ++k) {
                    ASSERT_EQ(told.info[std::size_t(k)], 0) << what;
                    Stored<T> real_diagonal = before.get(k);
                    for (Index i = 0; i < n; ++i) {
                        real_diagonal(i, i) = T(std::real(real_diagonal(i, i)));
                        ASSERT_EQ(std::imag(A.get(k)(i, i)), 0) << what;
                    }
                    expect_factor(real_diagonal, A.get(k), uplo, n, what);
                    expect_rest_untouched(before.get(k), A.get(k), uplo, what);
                    if (this->HasFatalFailure()) return;
                }
            }
    });
}

/// |b - A x| <= c n eps |F| |G| |x| for A = F G with the computed factors (Higham 2002, theorem 9.4: gamma_3n, three more
/// for inverses of pivots).
template <Scalar T>
void expect_solution(const Exact<T>& A, const Exact<T>& F, const Exact<T>& G, const Stored<T>& b, const Stored<T>& x,
                     const std::string& what)
{
    const Index n = A.rows;
    for (Index c = 0; c < b.cols; ++c) {
        std::vector<long double> inner(static_cast<std::size_t>(n));
        for (Index p = 0; p < n; ++p)
            for (Index j = 0; j < n; ++j) inner[std::size_t(p)] += std::abs(G(p, j)) * std::abs(Wide<T>(x(j, c)));
        for (Index i = 0; i < n; ++i) {
            Wide<T> left = b(i, c);
            long double magnitude = 0;
            for (Index j = 0; j < n; ++j) left -= times(A(i, j), Wide<T>(x(j, c)));
            for (Index p = 0; p < n; ++p) magnitude += std::abs(F(i, p)) * inner[std::size_t(p)];
            ASSERT_LE(std::abs(left), rounding<T> * (3 * n + 3) * eps<T> * magnitude) << what << ": at " << i << ", " << c;
        }
    }
}

TYPED_TEST(SideBySide, SystemsAreSolvedByEither)
{
    using T = TypeParam;
    Random random(52);
    const auto check = [&](Index n, Index nrhs, Uplo uplo, const std::string& where) {
        const Index count = lanes<T>() + 2;
        Stack<T> A = random_stack<T>(random, count, n, n), P = positive_stack<T>(random, count, n, uplo),
                 B = random_stack<T>(random, count, n, nrhs), C = B;
        const Stack<T> general = A, positive = P, right = B;
        Told of_lu, of_cholesky;
        lu_batch(with_right_sides(batch_of(A, of_lu), B));
        cholesky_batch(with_right_sides(batch_of(P, of_cholesky, uplo), C));
        const std::string what = size_of(where, n, nrhs, count);
        ASSERT_TRUE(B.same_gaps(right) && C.same_gaps(right)) << what;
        for (const Index k : {Index(0), count - 1}) {
            ASSERT_EQ(of_lu.info[std::size_t(k)] + of_cholesky.info[std::size_t(k)], 0) << what;
            Stored<T> exchanged = general.get(k), b = right.get(k);
            const std::vector<Index> pivots = pivots_of(of_lu, k, n);
            laswp(n, exchanged.data.data(), exchanged.ld, 0, n, pivots.data());
            laswp(nrhs, b.data.data(), b.ld, 0, n, pivots.data());
            expect_solution(expand(exchanged, Structure::general),
                            expand(A.get(k), Structure::triangular, Uplo::lower, Diag::unit),
                            expand(A.get(k), Structure::triangular, Uplo::upper), b, B.get(k), what + " by LU");
            const Exact<T> F = expand(P.get(k), Structure::triangular, uplo), H = transformed(Op::conj_trans, F);
            const bool lower = uplo == Uplo::lower;
            expect_solution(expand(positive.get(k), Structure::hermitian, uplo), lower ? F : H, lower ? H : F, right.get(k),
                            C.get(k), what + " by Cholesky " + char(uplo));
            if (this->HasFatalFailure()) return;
        }
    };
    for_all_sets([&](const std::string& where) {
        for (const Index n : {1, 2, 3, 4, 5, 7, 8, 9, 16, 31, 45})
            for (const Index nrhs : {1, 2, 5, 16, 17, 37}) check(n, nrhs, nrhs % 2 ? Uplo::lower : Uplo::upper, where);
    });
}

/// Zero columns, two that are alike, tiny pivots of two kinds, NaN and infinity here and there, huge and small ones.
template <Scalar T> void make_odd(Random& random, Stack<T>& A, Index k, const std::function<bool(Index, Index)>& inside = {})
{
    using R = Real<T>;
    const Index n = A.cols, at = random.below(n), row = random.below(A.rows);
    const R tiny = std::numeric_limits<R>::denorm_min() * 64, least = std::numeric_limits<R>::min();
    const R odd[] = {std::numeric_limits<R>::quiet_NaN(), std::numeric_limits<R>::infinity(), std::numeric_limits<R>::max() / 2};
    const auto old = [&](Index i, Index j) { return A.at(k)[i + j * A.ld]; };
    const auto change = [&](const std::function<T(Index, Index)>& entry) { A.set(k, entry, inside); };
    switch (random.below(7)) {
    case 0: return change([&](Index i, Index j) { return j == at ? T(0) : old(i, j); });
    case 1: return change([&](Index i, Index j) { return old(i, j) * tiny; });
    case 2: return change([&](Index i, Index j) { return old(i, j) * least; });
    case 3: return change([&](Index i, Index j) { return i == row && j == at ? T(odd[random.below(2)]) : old(i, j); });
    case 4: return change([&](Index i, Index j) { return old(i, j) * odd[2]; });
    case 5: return change([&](Index i, Index j) { return i == j && i >= at ? T(-1) : old(i, j); });
    default: return;
    }
}
/// The same bits, or both no number.
template <Scalar T> bool same(const T& a, const T& b)
{
    const auto one = [](Real<T> x, Real<T> y) { return std::memcmp(&x, &y, sizeof x) == 0 || (std::isnan(x) && std::isnan(y)); };
    return one(std::real(a), std::real(b)) && one(std::imag(a), std::imag(b));
}
template <Scalar T> bool same(const Stored<T>& a, const Stored<T>& b)
{
    return std::equal(a.data.begin(), a.data.end(), b.data.begin(), [](const T& x, const T& y) { return same(x, y); });
}

/// Each alone in a batch of one, and in batches that begin in front of it.
TYPED_TEST(SideBySide, ResultsDoNotDependOnTheOthersNorOnThePlaceAmongThem)
{
    using T = TypeParam;
    Random random(53);
    const auto check = [&](Index n, Index nrhs, bool by_lu, const std::string& where) {
        const auto run = [&](const Batch<T>& batch) { by_lu ? lu_batch(batch) : cholesky_batch(batch); };
        const auto inside = [&](Index i, Index j) { return by_lu || i >= j; };
        const Index count = 3 * lanes<T>() - 1;
        Stack<T> A = by_lu ? random_stack<T>(random, count, n, n) : positive_stack<T>(random, count, n, Uplo::lower);
        for (Index k = 0; k < count; k += 1 + random.below(3)) make_odd<T>(random, A, k, inside);
        Stack<T> B = random_stack<T>(random, count, n, nrhs);
        const Stack<T> a = A, b = B;
        Told told, one;
        run(with_right_sides(batch_of(A, told), B));
        for (Index k = 0; k < count; ++k) {
            const Index first = std::max<Index>(0, k - random.below(4));
            Stack<T> alone = a, x = b;
            const Batch<T> whole = with_right_sides(batch_of(alone, one), x);
            run(whole.part(first, k + 1 - first));
            const std::string what =
                size_of(where, n, n, count) + ", matrix " + std::to_string(k) + (by_lu ? " LU" : " Cholesky");
            ASSERT_EQ(one.info[std::size_t(k)], told.info[std::size_t(k)]) << what;
            ASSERT_TRUE(same(alone.get(k), A.get(k))) << what << " info " << told.info[std::size_t(k)];
            ASSERT_TRUE(same(x.get(k), B.get(k))) << what;
            if (told.info[std::size_t(k)]) {
                ASSERT_TRUE(same(b.get(k), B.get(k))) << what << ": right sides";
            }
            if (by_lu) {
                ASSERT_EQ(pivots_of(one, k, n), pivots_of(told, k, n)) << what;
            }
        }
    };
    for_all_sets([&](const std::string& where) {
        for (const Index n : {1, 2, 3, 4, 6, 8, 11, 17, 26})
            for (const bool by_lu : {true, false}) {
                check(n, 3, by_lu, where);
                if (this->HasFatalFailure()) return;
            }
    });
}

TYPED_TEST(SideBySide, LuCompletesSingularMatricesAndReportsTheFirstZeroPivotOfEach)
{
    using T = TypeParam;
    Random random(54);
    for_all_sets([&](const std::string& where) {
        for (const Index n : {1, 2, 5, 9, 33})
            for (const Index rows : {n, n + 5, (n + 1) / 2}) {
                const Index count = 2 * lanes<T>(), steps = std::min(rows, n);
                Stack<T> A = random_stack<T>(random, count, rows, n);
                const auto first = [&](Index k) { return k % 3 ? -1 : k % steps; };
                for (Index k = 0; k < count; ++k)
                    for (Index i = 0; i < rows && first(k) >= 0; ++i)
                        A.at(k)[i + first(k) * A.ld] = A.at(k)[i + (steps - 1) * A.ld] = T(0);
                const Stack<T> before = A;
                Told told;
                lu_batch(batch_of(A, told));
                for (Index k = 0; k < count; ++k) {
                    const std::string what = size_of(where, rows, n, count) + ", matrix " + std::to_string(k);
                    ASSERT_EQ(told.info[std::size_t(k)], first(k) + 1) << what;
                    expect_factors(before.get(k), A.get(k), pivots_of(told, k, steps), what);
                    if (this->HasFatalFailure()) return;
                }
            }
    });
}

template <Scalar T> bool is_finite(T x) { return std::isfinite(std::real(x)) && std::isfinite(std::imag(x)); }

/// NaN and infinities choose the same pivots and reach the same elements as in the unblocked factorization.
TYPED_TEST(SideBySide, LuTreatsNaNAndInfinityAsTheUnblockedOne)
{
    using T = TypeParam;
    using R = Real<T>;
    Random random(55);
    for_all_sets([&](const std::string& where) {
        const Index n = 7;
        for (const R odd : {std::numeric_limits<R>::quiet_NaN(), std::numeric_limits<R>::infinity()}) {
            Stack<T> A = random_stack<T>(random, n * n, n, n);
            for (Index k = 0; k < n * n; ++k) A.at(k)[k % n + k / n * A.ld] = T(odd);
            const Stack<T> before = A;
            Told told;
            lu_batch(batch_of(A, told));
            for (Index k = 0; k < n * n; ++k) {
                Stored<T> wanted = before.get(k);
                std::vector<Index> pivots(n);
                ASSERT_EQ(unblocked_getrf(wanted, pivots), told.info[std::size_t(k)]) << where << " " << k;
                ASSERT_EQ(pivots_of(told, k, n), pivots) << where << " " << k;
                for (Index c = 0; c < n; ++c)
                    for (Index r = 0; r < n; ++r)
                        ASSERT_EQ(is_finite(A.get(k)(r, c)), is_finite(wanted(r, c)))
                            << where << " " << k << " " << r << ", " << c;
            }
        }
    });
}

/// The inverse of such a pivot is infinite; the quotients are not.
TYPED_TEST(SideBySide, LuDividesByPivotsThatAreNoNormalNumbers)
{
    using T = TypeParam;
    using R = Real<T>;
    const R tiny = std::numeric_limits<R>::denorm_min() * 64;
    for_all_sets([&](const std::string& where) {
        const Index n = 14;
        Stack<T> A(n, n, n);
        for (Index at = 0; at < n; ++at)
            A.set(at, [&](Index i, Index j) {
                if (j == at && i >= at) return T(i == at ? tiny : tiny / 2);
                return T(R(i == j));
            });
        Told told;
        lu_batch(batch_of(A, told));
        for (Index at = 0; at < n; ++at) {
            ASSERT_EQ(told.info[std::size_t(at)], 0) << where;
            ASSERT_EQ(A.get(at)(at, at), T(tiny)) << where;
            for (Index i = at + 1; i < n; ++i)
                ASSERT_EQ(A.get(at)(i, at), T(R(0.5))) << where << " row " << i << " column " << at;
        }
    });
}

TYPED_TEST(SideBySide, CholeskyReportsTheFirstPivotOfEachThatIsNotPositive)
{
    using T = TypeParam;
    Random random(56);
    for_all_sets([&](const std::string& where) {
        for (const Index n : {1, 6, 19, 40})
            for (const Uplo uplo : {Uplo::lower, Uplo::upper})
                for (const Real<T> bad : {Real<T>(-1), Real<T>(0), std::numeric_limits<Real<T>>::quiet_NaN()}) {
                    const Index count = 2 * lanes<T>() + 1;
                    Stack<T> A = positive_stack<T>(random, count, n, uplo), B = random_stack<T>(random, count, n, 2);
                    const auto first = [&](Index k) { return k % 2 ? -1 : k % n; };
                    for (Index k = 0; k < count; k += 2) A.at(k)[first(k) * (A.ld + 1)] = A.at(k)[(n - 1) * (A.ld + 1)] = T(bad);
                    const Stack<T> before = A, right = B;
                    Told told;
                    cholesky_batch(with_right_sides(batch_of(A, told, uplo), B));
                    for (Index k = 0; k < count; ++k) {
                        const std::string what = size_of(where, n, n, count) + ", matrix " + std::to_string(k);
                        const Index order = first(k) >= 0 ? first(k) : n;
                        ASSERT_EQ(told.info[std::size_t(k)], first(k) + 1) << what;
                        Stored<T> a = before.get(k);
                        for (Index i = 0; i < n; ++i) a(i, i) = T(std::real(a(i, i)));
                        expect_factor(a, A.get(k), uplo, order, what);
                        expect_rest_untouched(before.get(k), A.get(k), uplo, what);
                        ASSERT_EQ(same(right.get(k), B.get(k)), first(k) >= 0) << what;
                        if (order < n) {
                            ASSERT_FALSE(std::real(A.get(k)(order, order)) > 0) << what;
                        }
                        for (Index c = order + 1; c < n; ++c)
                            for (Index r = order + 1; r < n; ++r)
                                ASSERT_TRUE(same(A.get(k)(r, c), before.get(k)(r, c))) << what << ": " << r << ", " << c;
                        if (this->HasFatalFailure()) return;
                    }
                }
    });
}

/// Of matrices of ordinary numbers, singular and indefinite ones too: nothing that is not referenced takes part, nor do the lanes
/// that have no matrix.
TYPED_TEST(SideBySide, RaiseNoFloatingPointException)
{
    using T = TypeParam;
    Random random(57);
    const auto expect_none = [](const std::string& what) {
        EXPECT_EQ(std::fetestexcept(FE_INVALID | FE_DIVBYZERO | FE_OVERFLOW | FE_UNDERFLOW), 0) << what;
    };
    for_all_sets([&](const std::string& where) {
        for (const Index n : {1, 2, 3, 5, 8, 13, 30})
            for (const Index count : {Index(1), lanes<T>() + 1}) {
                const std::string what = size_of(where, n, n, count);
                Stack<T> A = random_stack<T>(random, count, n, n), B = random_stack<T>(random, count, n, 3), C = B;
                Stack<T> P = positive_stack<T>(random, count, n, Uplo::upper);
                A.set(0, [&](Index i, Index j) { return j == n / 2 ? T(0) : T(Real<T>(i * j + 1)); });
                P.at(0)[n / 2 * (P.ld + 1)] = T(-1);
                if (count > 1) P.at(count - 1)[0] = T(0);
                Told told;
                std::vector<Real<T>> poison(1 << 16, std::numeric_limits<Real<T>>::signaling_NaN());
                std::memcpy(scratch_bytes(Buffer::factor, Index(poison.size() * sizeof(Real<T>))), poison.data(),
                            poison.size() * sizeof(Real<T>));
                std::feclearexcept(FE_ALL_EXCEPT);
                lu_batch(with_right_sides(batch_of(A, told), B));
                expect_none(what + " LU");
                cholesky_batch(with_right_sides(batch_of(P, told, Uplo::upper), C));
                expect_none(what + " Cholesky");
            }
    });
}

TEST(SideBySideShapes, AreThoseOfSmallMatrices)
{
    EXPECT_TRUE(side_by_side(1, 1) && side_by_side(32, 32) && side_by_side(64, 64) && side_by_side(4096, 1));
    EXPECT_FALSE(side_by_side(65, 64) || side_by_side(0, 4) || side_by_side(4, 0));
    EXPECT_FALSE(side_by_side(Index(1) << 40, Index(1) << 40)) << "a product beyond the integers";
}

} // namespace
} // namespace trencadis::blas
