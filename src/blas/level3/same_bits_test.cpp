#include "blas/level3/level3.hpp"
#include "blas/level3/small_product.hpp"
#include "blas/level3/team_product.hpp"
#include "blas/level3/team_triangle.hpp"
#include "blas/testing/reference.hpp"
#include "graph/team.hpp"

#include <cstring>
#include <limits>

namespace trencadis::blas {
namespace {

using namespace testing;

/// An element of a result goes through the same operations whoever computes it: which way a call takes, and where it is cut,
/// depends on who has
/// time just then.
template <class T> class SameBits : public ::testing::Test {
protected:
    Random random{31};

    static T factor(int which)
    {
        if constexpr (is_complex<T>)
            if (which == 3) return T(Real<T>(0.7), Real<T>(-0.3));
        return std::array<T, 4>{T(0), T(1), T(-1), T(Real<T>(0.7))}[std::size_t(which)];
    }
    static ::testing::AssertionResult equal(const Stored<T>& wanted, const Stored<T>& got, Part part = Part::all)
    {
        for (Index j = 0; j < wanted.cols; ++j)
            for (Index i = 0; i < wanted.rows; ++i) {
                if ((part == Part::lower && i < j) || (part == Part::upper && i > j)) continue;
                if (std::memcmp(&wanted(i, j), &got(i, j), sizeof(T)) != 0)
                    return ::testing::AssertionFailure()
                           << "at " << i << ", " << j << ": " << wanted(i, j) << " and " << got(i, j);
            }
        return ::testing::AssertionSuccess();
    }
    template <class Operation> static void alone(Operation& operation)
    {
        SharedWork chunks(operation.chunks(), 1);
        Team team(chunks);
        operation.work(team);
    }
};
using Scalars = ::testing::Types<float, double, std::complex<float>, std::complex<double>>;
TYPED_TEST_SUITE(SameBits, Scalars);

/// What one column (or row) of B has, infinities too, does not change the bits of the others, which may be another core's.
TYPED_TEST(SameBits, OfTriangularProductsBesideInfinities)
{
    using T = TypeParam;
    for_all_setups([&](const std::string& where) {
        for (const Side side : {Side::left, Side::right}) {
            const Index m = 61, n = 61, half = side == Side::left ? 48 : 24; // whole micro-tiles of every kernel
            const auto A = random_triangle<T>(this->random, Uplo::lower, m);
            auto B = random_matrix<T>(this->random, m, n);
            B(m - 1, n - 1) = T(std::numeric_limits<Real<T>>::infinity());
            auto whole = B, parts = B;
            const auto multiply = [&](Stored<T>& C, Index i, Index rows, Index j, Index cols) {
                trmm(side, Uplo::lower, Op::none, Diag::non_unit, rows, cols, T(1), A.data.data(), A.ld,
                     C.data.data() + i + j * C.ld, C.ld);
            };
            multiply(whole, 0, m, 0, n);
            if (side == Side::left) multiply(parts, 0, m, 0, half), multiply(parts, 0, m, half, n - half);
            else multiply(parts, 0, half, 0, n), multiply(parts, half, m - half, 0, n);
            for (Index j = 0; j < n; ++j)
                for (Index i = 0; i < m; ++i) {
                    if (side == Side::left ? j >= half : i >= half) continue;
                    ASSERT_EQ(whole(i, j), parts(i, j)) << where << ' ' << char(side) << ' ' << i << ' ' << j;
                }
        }
    });
}

TYPED_TEST(SameBits, OfProductsHoweverTheyAreCutUp)
{
    using T = TypeParam;
    for_all_setups([&](const std::string& where) {
        for (const auto& [m, n, k] : {std::array<Index, 3>{61, 45, 39}, {30, 27, 300}, {64, 48, 16}, {37, 27, 39}, {17, 15, 600}})
            for (int choice = 0; choice < 16; ++choice) {
                const T alpha = this->factor(choice % 4), beta = this->factor(choice / 4);
                const bool by_rows = choice % 7 < 3; // B
                const auto A = random_matrix<T>(this->random, m, k),
                           B = random_matrix<T>(this->random, by_rows ? n : k, by_rows ? k : n),
                           before = random_matrix<T>(this->random, m, n);
                auto whole = before, team = before, small = before, pieces = before;
                const auto product = [&](Stored<T>& C) {
                    const auto left = general(A.data.data(), A.ld),
                               right = general(B.data.data(), B.ld, by_rows ? Op::trans : Op::none);
                    return Product<T>{m,
                                      n,
                                      k,
                                      alpha,
                                      choice % 3 == 1 ? left.conjugate() : left,
                                      choice % 5 < 2 ? right.conjugate() : right,
                                      beta,
                                      C.data.data(),
                                      1,
                                      C.ld};
                };
                const std::string what = where + ", " + std::to_string(m) + " x " + std::to_string(n) + " x " +
                                         std::to_string(k) + ", factors " + std::to_string(choice);
                multiply(product(whole));
                TeamProduct<T> shared(product(team), setup<T>(0));
                this->alone(shared);
                ASSERT_TRUE(this->equal(whole, team)) << what;
                for (const auto& [i, rows] : {std::pair<Index, Index>{0, 7}, {7, m - 7}})
                    for (const auto& [j, cols] : {std::pair<Index, Index>{0, 13}, {13, n - 13}}) {
                        Product<T> piece = product(pieces);
                        piece.m = rows, piece.n = cols;
                        piece.A = piece.A.block(i, 0), piece.B = piece.B.block(0, j);
                        piece.C += i + j * pieces.ld;
                        multiply(piece);
                    }
                ASSERT_TRUE(this->equal(whole, pieces)) << what;
                if (!SmallProduct<T>::suits(product(small))) continue;
                const SmallProduct<T> in_place(product(small), setup<T>(0), true);
                in_place.work(0, in_place.chunks());
                ASSERT_TRUE(this->equal(team, small)) << what;
            }
    });
}

/// Of small integers many sums are zero.
TYPED_TEST(SameBits, OfZerosHoweverTheyAreReadAndStored)
{
    using T = TypeParam;
    const auto integers = [&](Index rows, Index cols) {
        auto drawn = random_matrix<T>(this->random, rows, cols);
        for (T& value : drawn.data) {
            if constexpr (is_complex<T>) value = {std::round(3 * value.real()), std::round(3 * value.imag())};
            else value = std::round(3 * value);
        }
        return drawn;
    };
    for_all_setups([&](const std::string& where) {
        const Index m = 64, n = 11, k = 5;
        for (const Real<T> alpha : {-1, 1, -2})
            for (int choice = 0; choice < 4; ++choice) {
                const auto A = integers(m, k), B = integers(k, n), before = integers(m, n);
                auto packed = before, in_place = before;
                const auto product = [&](Stored<T>& C) {
                    const T beta = choice == 3 ? this->factor(3) : T(choice - 1);
                    return Product<T>{
                        m, n,   k, T(alpha), general(A.data.data(), A.ld), general(B.data.data(), B.ld), beta, C.data.data(),
                        1, C.ld};
                };
                TeamProduct<T> shared(product(packed), setup<T>(0));
                this->alone(shared);
                multiply(product(in_place));
                ASSERT_TRUE(this->equal(packed, in_place)) << where << ", alpha " << alpha << ", choice " << choice;
            }
    });
}

TYPED_TEST(SameBits, OfATriangleAsOfTheWholeSquare)
{
    using T = TypeParam;
    const Index n = 61, k = 33;
    for_all_setups([&](const std::string& where) {
        for (int choice = 0; choice < 16; ++choice)
            for (const Part part : {Part::lower, Part::upper}) {
                const auto A = random_matrix<T>(this->random, n, k), before = random_matrix<T>(this->random, n, n);
                auto square = before, triangle = before, team = before;
                const auto left = general(A.data.data(), A.ld);
                const auto product = [&](Stored<T>& C, Part of) {
                    return Product<T>{
                        n, n,    k, this->factor(choice % 4), left, left.transposed(), this->factor(choice / 4), C.data.data(),
                        1, C.ld, of};
                };
                multiply(product(square, Part::all));
                multiply(product(triangle, part));
                TeamProduct<T> shared(product(team, part), setup<T>(0));
                this->alone(shared);
                ASSERT_TRUE(this->equal(square, triangle, part)) << where << ", factors " << choice;
                ASSERT_TRUE(this->equal(square, team, part)) << where << ", factors " << choice;
            }
    });
}

/// As far as trsm goes by one block; what is larger is left to one of the two.
TYPED_TEST(SameBits, OfSolutionsByOneOrByMany)
{
    using T = TypeParam;
    for_all_setups([&](const std::string& where) {
        for (const Side side : {Side::left, Side::right})
            for (int choice = 1; choice < 4; ++choice) {
                const Uplo uplo = this->random.uplo();
                const Index n = 15, others = 70, m = side == Side::left ? n : others;
                const auto A = random_triangle<T>(this->random, uplo, n);
                const auto before = random_matrix<T>(this->random, m, side == Side::left ? others : n);
                auto one = before, many = before;
                if (!TeamTriangle<T>::is_one_block(setup<T>(0), n)) continue;
                trsm(side, uplo, Op::none, Diag::unit, m, one.cols, this->factor(choice), A.data.data(), A.ld, one.data.data(),
                     one.ld);
                TeamTriangle<T> shared(
                    WithTriangle::solve,
                    right_upper(side, uplo, Op::none, Diag::unit, m, many.cols, A.data.data(), A.ld, many.data.data(), many.ld),
                    this->factor(choice), setup<T>(0));
                this->alone(shared);
                ASSERT_TRUE(this->equal(one, many)) << where << ", factor " << choice;
            }
    });
}

} // namespace
} // namespace trencadis::blas
