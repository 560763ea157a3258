#include "drivers/linear_algebra.hpp"

#include "blas/level3/deep_product.hpp"
#include "blas/level3/macro_kernel.hpp"
#include "blas/level3/product.hpp"
#include "drivers/testing/small_crew.hpp"
#include "graph/testing/both_ends.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <random>
#include <utility>
#include <vector>

namespace trencadis {
namespace {

using testing::SmallCrew;

template <Scalar T> std::vector<T> random_numbers(Index count)
{
    std::mt19937_64 generator(1);
    std::uniform_real_distribution<double> draw(-1, 1);
    std::vector<T> numbers(static_cast<std::size_t>(count));
    for (T& x : numbers) x = T(Real<T>(draw(generator)));
    return numbers;
}

/// Two workers who take part in what is shared; the caller does all of it.
class SharingCrew final : public SmallCrew {
public:
    struct Is {
        bool far = true, even = true, wary = false;
    };
    explicit SharingCrew(Is is) : SmallCrew(2), is_(is) {}
    bool can_share(Flops) override { return true; }
    bool share_out(Index chunks, const std::function<void(Team&)>& work, Flops flops) override
    {
        if (std::exchange(refuses_next, false)) return false;
        shared = chunks;
        asked.push_back(flops);
        SharedWork all(chunks, 1);
        Team alone(all);
        work(alone);
        return true;
    }
    std::int64_t line_ns() const override { return is_.far ? 184 : 15; }
    bool is_even() const override { return is_.even; }
    bool is_wary() const override { return is_.wary; }
    Index shared = 0;
    std::vector<Flops> asked; ///< for as many as are left of the call
    bool refuses_next = false;

private:
    const Is is_;
};

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

/// Pieces of the depth one after the other, each by all who are there, or by the caller where nobody is at the moment. Not where
/// a piece is none that is made in place.
template <Scalar T> int deep_products_with_same_bits()
{
    int deep = 0;
    const blas::Setup<T> with = blas::setup<T>(0);
    const Index k = 2 * with.tree[blas::Loop::pc] + 5; // three pieces: one for each would leave one core without work
    for (const auto& [m, n] : {std::pair<Index, Index>{64, 64}, {40, 30}, {100, 20}})
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
            if (blas::depth_in_place<T>({m, n, k, T(2), a, b, T(0.5), nullptr, 1, m}, with) == 0) continue;
            ++deep;
            EXPECT_EQ(all.asked.size(), 3) << m << " x " << n;
            EXPECT_EQ(not_at_first.asked.size(), 2) << m << " x " << n;
            EXPECT_LT(all.asked.back(), all.asked.front() / 2) << "less and less is left";
        }
    return deep;
}

TEST(Products, OfGreatDepthAreMadeByPiecesOfIt)
{
    EXPECT_GT(deep_products_with_same_bits<float>(), 2);
    EXPECT_GT(deep_products_with_same_bits<double>(), 2);
    deep_products_with_same_bits<std::complex<float>>();
    deep_products_with_same_bits<std::complex<double>>();
}

/// What of a call is shared by the caller and one who joins, both at once.
class TwoCrew final : public SmallCrew {
public:
    TwoCrew() : SmallCrew(2) {}
    bool can_share(Flops) override { return true; }
    bool is_wary() const override { return false; }
    bool share_out(Index chunks, const std::function<void(Team&)>& work, Flops) override
    {
        shared.push_back(chunks);
        testing::work_from_both_ends(chunks, work);
        return true;
    }
    std::vector<Index> shared;
};

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

/// A part for each worker, none of one or two columns, which would be solved for one by one.
template <Scalar T> void expect_triangles_beside_few(Side side, Uplo uplo, Op op, Index others, Index parts)
{
    constexpr Index order = 300;
    const bool left = side == Side::left;
    const Index m = left ? order : others, n = left ? others : order;
    std::vector<T> A = random_numbers<T>(order * order);
    for (Index i = 0; i < order; ++i) A[std::size_t(i * (order + 1))] = T(order);
    const std::vector<T> B = random_numbers<T>(m * n);
    const auto both = [&](auto&& crew) {
        std::vector<T> X = B;
        trsm(crew, side, uplo, op, Diag::non_unit, m, n, T(2), A.data(), order, X.data(), m);
        if constexpr (requires { crew.shared; }) EXPECT_EQ(std::exchange(crew.shared, 0), parts) << "trsm, " << others;
        trmm(crew, side, uplo, op, Diag::non_unit, m, n, T(2), A.data(), order, X.data(), m);
        if constexpr (requires { crew.shared; }) EXPECT_EQ(crew.shared, parts) << "trmm, " << others;
        return X;
    };
    const std::vector<T> X = both(SharingCrew({}));
    EXPECT_EQ(X, both(SmallCrew(2))) << others << " beside " << char(side) << char(uplo) << char(op);
    EXPECT_EQ(X, both(SmallCrew(1))) << others << " beside " << char(side) << char(uplo) << char(op);
}

TEST(Products, WithATriangleBesideFewAreMadeInParts)
{
    const Index panel = blas::setup<double>(0).kernel.nr, rows = blas::setup<double>(0).kernel.step;
    for (const Uplo uplo : {Uplo::lower, Uplo::upper})
        for (const Op op : {Op::none, Op::trans}) {
            expect_triangles_beside_few<double>(Side::left, uplo, op, 7 * panel, 2);
            expect_triangles_beside_few<double>(Side::left, uplo, op, panel, 0);
            expect_triangles_beside_few<double>(Side::left, uplo, op, 2 * panel + 1, 0); // two panels, and one column
            expect_triangles_beside_few<double>(Side::right, uplo, op, 3 * rows, 2);
            expect_triangles_beside_few<double>(Side::right, uplo, op, rows, 0);
        }
}

/// Of a large triangle the caller and another one read their parts, for each right side; of a small one the caller reads all.
TEST(Products, SolveForOneOrTwoRightSidesTogether)
{
    const auto shared_by = [](Index n, Index nrhs, Uplo uplo, Op op) {
        std::vector<double> A = random_numbers<double>(n * n);
        for (Index i = 0; i < n; ++i) A[std::size_t(i * (n + 1))] = double(n);
        const std::vector<double> B = random_numbers<double>(n * nrhs);
        TwoCrew two;
        SmallCrew one(1);
        std::vector<double> X = B, alone = B;
        for (const auto& [crew, x] : {std::pair<Crew&, std::vector<double>&>{two, X}, {one, alone}})
            trsm(crew, Side::left, uplo, op, Diag::non_unit, n, nrhs, 3.0, A.data(), n, x.data(), n);
        EXPECT_EQ(X, alone);
        TwoCrew of_factors;
        X = alone = B;
        potrs(of_factors, uplo, n, nrhs, A.data(), n, X.data(), n);
        potrs(one, uplo, n, nrhs, A.data(), n, alone.data(), n);
        EXPECT_EQ(X, alone);
        EXPECT_EQ(of_factors.shared.empty(), two.shared.empty());
        EXPECT_GE(of_factors.shared.size(), two.shared.size()) << "of one triangle, then of the other";
        return two.shared.size();
    };
    for (const Uplo uplo : {Uplo::lower, Uplo::upper})
        for (const Op op : {Op::none, Op::trans}) {
            const std::size_t for_one = shared_by(800, 1, uplo, op);
            EXPECT_GE(for_one, 4);
            EXPECT_EQ(shared_by(800, 2, uplo, op), 2 * for_one);
            EXPECT_EQ(shared_by(500, 1, uplo, op), 0);
        }
}

/// Solutions from factors are those of two triangles, with the bits of one worker.
TEST(Products, SolveForFewRightSidesInParts)
{
    constexpr Index n = 200;
    const Index nrhs = 3 * blas::setup<double>(0).kernel.nr;
    std::vector<double> A = random_numbers<double>(n * n);
    for (Index i = 0; i < n; ++i) A[std::size_t(i * (n + 1))] = 2 * n;
    std::vector<Index> pivots(n);
    for (Index i = 0; i < n; ++i) pivots[std::size_t(i)] = i % 3 == 0 ? n : i + 1;
    const std::vector<double> B = random_numbers<double>(n * nrhs);
    const auto in_both = [&](const auto& solve) {
        std::vector<double> X = B, alone = B;
        SharingCrew crew({});
        solve(crew, X.data());
        SmallCrew one(1);
        solve(one, alone.data());
        EXPECT_EQ(X, alone);
        EXPECT_EQ(crew.asked.size(), 2) << "of one triangle, then of the other";
        EXPECT_EQ(crew.shared, 2);
        return X;
    };
    const auto multiplied = [&](Uplo uplo, Op op, Diag diag, std::vector<double>& X) {
        SmallCrew one(1);
        trmm(one, Side::left, uplo, op, diag, n, nrhs, 1.0, A.data(), n, X.data(), n);
    };
    const auto expect_right_sides = [&](const std::vector<double>& X, double bound) {
        for (std::size_t i = 0; i < X.size(); ++i) ASSERT_NEAR(X[i], B[i], bound) << i;
    };
    std::vector<double> X = in_both([&](Crew& crew, double* x) { potrs(crew, Uplo::lower, n, nrhs, A.data(), n, x, n); });
    multiplied(Uplo::lower, Op::trans, Diag::non_unit, X);
    multiplied(Uplo::lower, Op::none, Diag::non_unit, X);
    expect_right_sides(X, 1e-12);
    for (Index i = 0; i < n; ++i)
        for (Index j = 0; j < i; ++j) A[std::size_t(i + j * n)] /= 2 * n; // as LU's, with a unit diagonal
    X = in_both([&](Crew& crew, double* x) { getrs(crew, Op::none, n, nrhs, A.data(), n, pivots.data(), x, n); });
    multiplied(Uplo::upper, Op::none, Diag::non_unit, X);
    multiplied(Uplo::lower, Op::none, Diag::unit, X);
    laswp(n, nrhs, X.data(), n, 0, n, pivots.data(), true);
    expect_right_sides(X, 1e-12);
    X = in_both([&](Crew& crew, double* x) { getrs(crew, Op::trans, n, nrhs, A.data(), n, pivots.data(), x, n); });
    laswp(n, nrhs, X.data(), n, 0, n, pivots.data(), false);
    multiplied(Uplo::lower, Op::trans, Diag::unit, X);
    multiplied(Uplo::upper, Op::trans, Diag::non_unit, X);
    expect_right_sides(X, 1e-12);
}

/// Wide slices of products with a structured operand: one for each worker there, several elsewhere, with the same bits.
TEST(Products, AreSlicedOnceForEachWorkerWhereThatIsFaster)
{
    constexpr Index n = 500;
    const std::vector<double> A = random_numbers<double>(n * n), B(A.rbegin(), A.rend());
    const auto symmetric = [&](SharingCrew&& crew, bool once) {
        std::vector<double> C(A.size());
        symm(crew, Side::left, Uplo::lower, n, n, 1.0, A.data(), n, B.data(), n, 0.0, C.data(), n);
        EXPECT_EQ(crew.shared == 2, once) << "symm";
        return C;
    };
    const auto triangular = [&](SharingCrew&& crew, bool once) {
        std::vector<double> C = B;
        trmm(crew, Side::left, Uplo::upper, Op::none, Diag::unit, n, n, 1.0, A.data(), n, C.data(), n);
        EXPECT_EQ(crew.shared == 2, once) << "trmm";
        return C;
    };
    for (const SharingCrew::Is elsewhere : {SharingCrew::Is{.far = false}, {.even = false}, {.wary = true}}) {
        EXPECT_EQ(symmetric(SharingCrew({}), true), symmetric(SharingCrew(elsewhere), false));
        EXPECT_EQ(triangular(SharingCrew({}), true), triangular(SharingCrew(elsewhere), false));
    }
}

/// A longer product with a triangle: in pieces by all, or as one task that others join, with the same bits; so long that slices
/// and tiles would do it.
TEST(Products, WithALargeTriangleAreMadeTogether)
{
    constexpr Index order = 680, others = 640;
    const std::vector<double> A = random_numbers<double>(order * order), B = random_numbers<double>(order * others);
    for (const Side side : {Side::left, Side::right}) {
        const Index m = side == Side::left ? order : others, n = side == Side::left ? others : order;
        const auto multiplied = [&](auto&& crew) {
            std::vector<double> C = B;
            trmm(crew, side, Uplo::lower, Op::trans, Diag::non_unit, m, n, 2.0, A.data(), order, C.data(), m);
            return C;
        };
        SharingCrew sharing({});
        const std::vector<double> shared = multiplied(sharing);
        if (blas::goes_past_factor(blas::setup<double>(0).kernel, side, order, others)) {
            EXPECT_GE(sharing.shared, 10);
        }
        EXPECT_EQ(shared, multiplied(SmallCrew(2)));
    }
}

/// What each of two workers would have is wide enough from there on, of complex numbers earlier; with one worker's bits.
template <Scalar T> void expect_slices_of_structured_products(Index symmetric, Index triangular)
{
    const auto in_two = [](Index n, const auto& call) {
        const std::vector<T> A = random_numbers<T>(n * n), B(A.rbegin(), A.rend());
        std::vector<T> C = B, alone = B;
        SharingCrew crew({});
        call(crew, A, B, C);
        SmallCrew one(1);
        call(one, A, B, alone);
        EXPECT_EQ(C, alone) << n;
        return crew.shared == 2;
    };
    const auto hermitian = [&](Index n) {
        return in_two(n, [n](Crew& crew, const auto& A, const auto& B, auto& C) {
            hemm(crew, Side::left, Uplo::lower, n, n, T(1), A.data(), n, B.data(), n, T(0), C.data(), n);
        });
    };
    const auto multiplied = [&](Index n) {
        return in_two(n, [n](Crew& crew, const auto& A, const auto&, auto& C) {
            trmm(crew, Side::left, Uplo::lower, Op::none, Diag::unit, n, n, T(1), A.data(), n, C.data(), n);
        });
    };
    EXPECT_TRUE(hermitian(symmetric));
    EXPECT_TRUE(multiplied(triangular));
}

TEST(Products, OfComplexNumbersAreSlicedEarlier)
{
    expect_slices_of_structured_products<double>(80, 104);
    expect_slices_of_structured_products<std::complex<double>>(50, 56);
    expect_slices_of_structured_products<std::complex<float>>(56, 72);
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
