#include "drivers/linear_algebra.hpp"

#include "blas/level3/deep_product.hpp"
#include "blas/level3/product.hpp"
#include "blas/level3/small_product.hpp"
#include "drivers/testing/sharing_crews.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <complex>

namespace trencadis {
namespace {

using namespace testing;

template <Scalar T> void expect_parts_where_cores_are_far_even_and_free(Index m, Index n, Index k)
{
    const std::vector<T> A = random_numbers<T>(m * k), B = random_numbers<T>(k * n);
    const auto product = [&](auto&& crew, bool parts) {
        std::vector<T> C(std::size_t(m * n), T(1));
        gemm(crew, Op::none, Op::none, m, n, k, T(2), A.data(), m, B.data(), k, T(0.5), C.data(), m);
        if constexpr (requires { crew.shared; }) EXPECT_EQ(crew.shared == 2, parts) << m << " x " << n << " x " << k;
        return C;
    };
    const std::vector<T> C = product(SharingCrew({}), true);
    EXPECT_EQ(C, product(SharingCrew({.far = false}), false));
    EXPECT_EQ(C, product(SharingCrew({.even = false}), false));
    EXPECT_EQ(C, product(SharingCrew({.wary = true}), false));
    EXPECT_EQ(C, product(SmallCrew(2), false)) << "as tasks";
}

TEST(Products, AreMadeInTwoPartsWhereThatIsFaster)
{
    const auto more_than_caches = [](auto number) {
        const auto tree = blas::setup<decltype(number)>(0).tree;
        const double half = double(tree[blas::Loop::pc] * tree[blas::Loop::ic]);
        return std::max<Index>(400, Index(std::sqrt(2 * half)) + 1);
    };
    const Index n = more_than_caches(double());
    expect_parts_where_cores_are_far_even_and_free<double>(n, n, n);
    expect_parts_where_cores_are_far_even_and_free<double>(n + 103, n - 3, n + 7);
    expect_parts_where_cores_are_far_even_and_free<double>(512, n, n + 11);
    const Index in_single = more_than_caches(float());
    expect_parts_where_cores_are_far_even_and_free<float>(in_single, in_single + 5, in_single);
    const Index of_complex = more_than_caches(std::complex<double>());
    expect_parts_where_cores_are_far_even_and_free<std::complex<double>>(of_complex, of_complex, of_complex);
}

/// Deeper than tiles are, and too short to be thin: whoever takes part, the depth is cut alike.
TEST(Products, WithFewColumnsHaveTheSameBitsSharedAndAsTasks)
{
    const blas::Setup<double> with = blas::setup<double>(0);
    const Index m = std::max<Index>(8 * with.kernel.mr, 192) + 3, n = with.kernel.nr,
                k = std::max<Index>(1162, with.tree[blas::Loop::pc] * with.tree[blas::Loop::ic] / m + 1);
    const std::vector<double> A = random_numbers<double>(m * k), B = random_numbers<double>(k * n);
    const auto product = [&](auto&& crew) {
        std::vector<double> C(std::size_t(m * n), 1);
        gemm(crew, Op::none, Op::none, m, n, k, 2.0, A.data(), m, B.data(), k, 0.5, C.data(), m);
        if constexpr (requires { crew.shared; }) EXPECT_GE(crew.shared, 8) << "panels";
        return C;
    };
    const std::vector<double> C = product(SharingCrew({}));
    EXPECT_EQ(C, product(SmallCrew(2))) << "as tasks";
    EXPECT_EQ(C, product(SmallCrew(1))) << "by one";
}

/// Too long to be shared without tasks: rows of A by the piece, each where it lies.
TEST(Products, WithFewColumnsBesideALargeAHaveTheSameBitsAsTasks)
{
    const Index m = 2100, n = 125, k = 1950;
    const std::vector<double> A = random_numbers<double>(m * k), B = random_numbers<double>(k * n);
    const auto product = [&](SmallCrew&& crew) {
        std::vector<double> C(std::size_t(m * n), 1);
        gemm(crew, Op::none, Op::none, m, n, k, 2.0, A.data(), m, B.data(), k, 0.5, C.data(), m);
        return C;
    };
    const std::vector<double> C = product(SmallCrew(2));
    EXPECT_EQ(C, product(SmallCrew(1)));
    std::vector<double> by_itself(std::size_t(m * n), 1);
    blas::multiply<double>({m, n, k, 2.0, blas::general(A.data(), m), blas::general(B.data(), k), 0.5, by_itself.data(), 1, m});
    EXPECT_EQ(C, by_itself);
}

/// An A by rows beside few columns: slices of rows, each turned, or tasks that turn theirs.
TEST(Products, WithFewColumnsAndAnAByRowsHaveTheSameBitsSharedAndAsTasks)
{
    const Index n = 17, k = 900;
    for (const Index m : {700, 33'000}) { // more are tasks
        const std::vector<double> A = random_numbers<double>(m * k), B = random_numbers<double>(k * n);
        const auto product = [&](auto&& crew) {
            std::vector<double> C(std::size_t(m * n), 1);
            gemm(crew, Op::trans, Op::none, m, n, k, 2.0, A.data(), k, B.data(), k, 0.5, C.data(), m);
            if constexpr (requires { crew.shared; }) EXPECT_EQ(crew.shared > 1, m < 1000) << "slices";
            return C;
        };
        const std::vector<double> C = product(SharingCrew({}));
        EXPECT_EQ(C, product(SmallCrew(2)));
        EXPECT_EQ(C, product(SmallCrew(1)));
    }
}

/// Pieces of the depth one after the other, each by all who are there, or by the caller where nobody is at the moment. Not where
/// a piece is none that is made in place.
template <Scalar T> int deep_products_with_same_bits()
{
    int deep = 0;
    const blas::Setup<T> with = blas::setup<T>(0);
    // Three pieces: one for each would leave one core without work. Longer than what is small whatever the caches.
    constexpr Index longest = 640;
    const Index block = with.tree[blas::Loop::pc], k = std::max(2 * block, longest) + 5, pieces = (k + block - 1) / block;
    for (const auto& [m, n] : {std::pair<Index, Index>{64, 64}, {40, 30}, {100, 20}, {400, 160}})
        for (const Op op : {Op::none, Op::trans}) {
            const Index lda = op == Op::none ? m : k, ldb = op == Op::none ? k : n;
            const std::vector<T> A = random_numbers<T>(m * k), B = random_numbers<T>(k * n);
            const auto product = [&](Crew& crew) {
                std::vector<T> C(std::size_t(m * n), T(1));
                gemm(crew, op, op, m, n, k, T(2), A.data(), lda, B.data(), ldb, T(0.5), C.data(), m);
                return C;
            };
            SharingCrew all({}), not_at_first({});
            not_at_first.refuses_next = true;
            SmallCrew tasks(2), one(1);
            const std::vector<T> C = product(all);
            EXPECT_EQ(C, product(not_at_first)) << m << " x " << n;
            EXPECT_EQ(C, product(tasks)) << m << " x " << n;
            EXPECT_EQ(C, product(one)) << m << " x " << n;
            const blas::Operand<T> a = blas::general(A.data(), lda, op), b = blas::general(B.data(), ldb, op);
            const blas::Product<T> x{m, n, k, T(2), a, b, T(0.5), nullptr, 1, m};
            if (blas::SmallProduct<T>::is_compact(x) || blas::depth_in_place(x, with) == 0) continue;
            ++deep;
            EXPECT_EQ(all.asked.size(), pieces) << m << " x " << n;
            EXPECT_EQ(not_at_first.asked.size(), pieces - 1) << m << " x " << n;
            EXPECT_LT(all.asked.back(), all.asked.front() / 2) << "less and less is left";
        }
    return deep;
}

TEST(Products, OfGreatDepthAreMadeByPiecesOfIt)
{
    EXPECT_GT(deep_products_with_same_bits<float>(), 1);
    EXPECT_GT(deep_products_with_same_bits<double>(), 1);
    deep_products_with_same_bits<std::complex<float>>();
    deep_products_with_same_bits<std::complex<double>>();
}
/// `call(crew, C)`: four pieces, one after the other for one worker, and wherever they are made for two, with the same bits.
template <Scalar T> void expect_each_its_pieces(Index room, const auto& call)
{
    const std::vector<T> before = random_numbers<T>(room);
    std::vector<T> alone = before;
    SmallCrew one(1);
    call(one, alone.data());
    for (int turn = 0; turn < 5; ++turn) {
        std::vector<T> C = before;
        TwoCrew two;
        call(two, C.data());
        EXPECT_EQ(C, alone);
        EXPECT_EQ(two.shared.front(), 4);
    }
}

template <Scalar T> void expect_small_results_of_great_depth_by_pieces()
{
    const Index k = 3 * blas::setup<T>(0).tree[blas::Loop::pc] + 5, n = 28, ldc = n + 3, large = 90;
    const std::vector<T> A = random_numbers<T>(large * k);
    for (const T beta : {T(0), T(1), T(0.7)})
        for (const Op op : {Op::none, Op::trans}) {
            const Index lda = op == Op::none ? n : k, ldb = op == Op::none ? k : n - 2;
            expect_each_its_pieces<T>(ldc * n, [&](Crew& crew, T* C) {
                gemm(crew, op, op, n, n - 2, k, T(2), A.data(), lda, A.data() + 1, ldb, beta, C, ldc);
            });
            for (const Uplo uplo : {Uplo::lower, Uplo::upper}) {
                expect_each_its_pieces<T>(large * large, [&](Crew& crew, T* C) { // whose sums are added by both
                    syrk(crew, uplo, op, large, k, T(2), A.data(), op == Op::none ? large : k, beta, C, large);
                });
                const Op of_herk = op == Op::none ? op : herm_op<T>;
                expect_each_its_pieces<T>(ldc * n, [&](Crew& crew, T* C) {
                    herk(crew, uplo, of_herk, n, k, Real<T>(2), A.data(), lda, std::real(beta), C, ldc);
                });
            }
        }
}

TEST(Products, OfGreatDepthAndASmallResultAreSummedByEach)
{
    expect_small_results_of_great_depth_by_pieces<float>();
    expect_small_results_of_great_depth_by_pieces<double>();
    expect_small_results_of_great_depth_by_pieces<std::complex<float>>();
    expect_small_results_of_great_depth_by_pieces<std::complex<double>>();
}

/// Where the places of all pieces would be too much memory they are made in rounds.
TEST(Products, OfAnyDepthTakeLittleMemory)
{
    using D = blas::DeepProduct<double>;
    const Index n = 75, depth = blas::setup<double>(0).tree[blas::Loop::pc];
    const Index most = D::most_pieces({n, n, depth, 1.0, {}, {}, 1.0, nullptr, 1, n});
    EXPECT_LE(most * n * n * 8, 8 << 20);
    const Index k = (most + 2) * depth;
    const std::vector<double> A = random_numbers<double>(n * k);
    std::vector<double> C(std::size_t(n * n), 1), alone = C;
    TwoCrew two;
    SmallCrew one(1);
    syrk(two, Uplo::lower, Op::none, n, k, 1.0, A.data(), n, 1.0, C.data(), n);
    syrk(one, Uplo::lower, Op::none, n, k, 1.0, A.data(), n, 1.0, alone.data(), n);
    EXPECT_EQ(C, alone);
    EXPECT_EQ(std::ranges::count(two.shared, most), 1);
    EXPECT_EQ(std::ranges::count(two.shared, 2), 1);
}

/// Rows of a lower triangle, columns of an upper one: a part for each worker there, with the bits of what all make together.
template <Scalar T> void expect_parts_of_rank_updates(Index n, Index k)
{
    const std::vector<T> A = random_numbers<T>(n * k);
    for (const Uplo uplo : {Uplo::lower, Uplo::upper})
        for (const bool hermitian : {false, true})
            for (const Op op : {Op::none, hermitian ? herm_op<T> : Op::trans}) {
                const Index lda = op == Op::none ? n : k;
                const auto update = [&](auto&& crew, bool parts) {
                    std::vector<T> C(std::size_t(n * n), T(1));
                    if (hermitian) herk(crew, uplo, op, n, k, Real<T>(2), A.data(), lda, Real<T>(0.5), C.data(), n);
                    else syrk(crew, uplo, op, n, k, T(2), A.data(), lda, T(0.5), C.data(), n);
                    if constexpr (requires { crew.shared; }) EXPECT_EQ(crew.shared == 2, parts) << n;
                    return C;
                };
                const std::vector<T> C = update(SharingCrew({}), true);
                EXPECT_EQ(C, update(SharingCrew({.far = false}), is_complex<T>));
                EXPECT_EQ(C, update(SharingCrew({.wary = true}), false));
                EXPECT_EQ(C, update(SharingCrew({.even = false}), false));
                EXPECT_EQ(C, update(SmallCrew(1), false)) << "by one";
            }
}

TEST(RankUpdates, AreMadeInTwoPartsWhereThatIsFaster)
{
    for (const Index n : {150, 203})
        for (const Index k : {60, 128}) { // summed in one piece
            expect_parts_of_rank_updates<double>(n, k);
            expect_parts_of_rank_updates<float>(n, k);
            expect_parts_of_rank_updates<std::complex<double>>(n, k);
        }
}

} // namespace
} // namespace trencadis