#include "algorithms/packed_product.hpp"

#include "kernels/testing/in_order.hpp"
#include "kernels/testing/reference.hpp"

#include <optional>

namespace trencadis {
namespace {

using namespace testing;
using blas::Operand;
using blas::Part;
using blas::Structure;

template <class T> class PackedProducts : public ::testing::Test {
};
using Scalars = ::testing::Types<float, double, std::complex<float>, std::complex<double>>;
TYPED_TEST_SUITE(PackedProducts, Scalars);

/// Element (i, j) of an operand of any structure, from what is stored of it.
template <Scalar T> T element(const Operand<T>& A, Index i, Index j)
{
    const auto stored = [&](Index r, Index c) {
        const T x = A.data[r * A.rs + c * A.cs];
        return A.conjugated ? conjugate(x) : x;
    };
    if (A.structure == Structure::general || in_triangle(A.uplo, i, j)) {
        if (i == j && A.structure == Structure::triangular && A.diag == Diag::unit) return T(1);
        return i == j && A.structure == Structure::hermitian ? T(std::real(stored(i, j))) : stored(i, j);
    }
    if (A.structure == Structure::triangular) return T(0);
    return A.structure == Structure::hermitian ? conjugate(stored(j, i)) : stored(j, i);
}

template <Scalar T> struct Case {
    PackedProduct<T> product;
    Dense<T>* C;
    ProductTiling tiling{5, 4, 3};
    Index grain = Index{1} << 40; ///< of the chunks
};

template <Scalar T> void check(const Case<T>& given)
{
    const PackedProduct<T>& p = given.product;
    std::vector<T> A(p.m * p.k), B(p.k * p.n);
    for (Index l = 0; l < p.k; ++l) {
        for (Index i = 0; i < p.m; ++i) A[i + l * p.m] = element(p.A, i, l);
        for (Index j = 0; j < p.n; ++j) B[l + j * p.k] = element(p.B, l, j);
    }
    const Dense<T> before = *given.C;
    InOrder executor(&load_kernels("native"), given.grain); // cut at whole panels, whatever their width
    {
        TaskFlow flow(executor);
        const ProductImages<T> images(p, given.tiling);
        packed_product(flow, p, given.tiling, images);
        flow.wait();
    }
    const auto written = [&](Index i, Index j) {
        return p.part == Part::all || in_triangle(p.part == Part::lower ? Uplo::lower : Uplo::upper, i, j);
    };
    for (Index j = 0; j < p.n; ++j)
        for (Index i = 0; i < p.m; ++i) {
            if (!written(i, j)) continue;
            Sum<T> sum;
            for (Index l = 0; l < p.k; ++l)
                if (p.alpha != T(0)) sum.add(p.alpha, A[i + l * p.m] * B[l + j * p.k]);
            if (p.beta != T(0)) sum.add(p.beta, before(i, j));
            if (p.real_diagonal && i == j) {
                EXPECT_EQ(std::imag((*given.C)(i, j)), 0);
                sum.value = std::real(sum.value);
            }
            expect_within((*given.C)(i, j), sum.value, sum.magnitude, double(p.k + 3), "packed product");
        }
    expect_untouched(before, *given.C, written);
}

TYPED_TEST(PackedProducts, GiveEveryPartOfCForRaggedSizesAndAllFactors)
{
    using T = TypeParam;
    for (const Index n : {1, 4, 5, 17})
        for (const Index k : {0, 1, 3, 10})
            for (const Part part : {Part::all, Part::lower, Part::upper})
                for (const T beta : {T(0), T(1), T(-0.5)})
                    for (const T alpha : {T(0), T(0.75)}) {
                        const auto A = random_matrix<T>(n, k), B = random_matrix<T>(k, n);
                        Dense<T> C = beta == T(0) ? Dense<T>(n, n) : random_matrix<T>(n, n);
                        const PackedProduct<T> product{
                            n,    n,        k,   alpha, blas::general(A.data.data(), A.ld), blas::general(B.data.data(), B.ld),
                            beta, C.view(), part};
                        check<T>({product, &C});
                        if (part == Part::all) check<T>({product, &C, {5, n, 3, false}});
                    }
}

TYPED_TEST(PackedProducts, TakeEveryStructureOnEitherSide)
{
    using T = TypeParam;
    const Index m = 13, n = 9;
    for (const Structure structure : {Structure::symmetric, Structure::hermitian, Structure::triangular})
        for (const Uplo uplo : {Uplo::lower, Uplo::upper})
            for (const Op op : {Op::none, Op::trans, Op::conj_trans})
                for (const Diag diag : {Diag::non_unit, Diag::unit}) {
                    auto S = random_triangle<T>(uplo, m, 0); // NaN in the other triangle
                    if (structure == Structure::triangular && diag == Diag::unit)
                        for (Index i = 0; i < m; ++i) S(i, i) = std::numeric_limits<Real<T>>::quiet_NaN();
                    else if (diag == Diag::unit) continue;
                    Operand<T> A = blas::general(S.data.data(), S.ld);
                    A.structure = structure;
                    A.uplo = uplo;
                    A.diag = diag;
                    A = A.op(op);
                    const auto B = random_matrix<T>(m, n), left = random_matrix<T>(n, m);
                    Dense<T> C(m, n), D(n, m);
                    const PackedProduct<T> of_A{m, n, m, T(2), A, blas::general(B.data.data(), B.ld), T(0), C.view()};
                    const PackedProduct<T> by_A{n, m, m, T(2), blas::general(left.data.data(), left.ld), A, T(0), D.view()};
                    check<T>({of_A, &C});
                    check<T>({by_A, &D});
                    check<T>({of_A, &C, {5, n, 3, false}});
                    check<T>({by_A, &D, {5, m, 3, false}});
                }
}

TYPED_TEST(PackedProducts, MayOverwriteWhatTheyRead)
{
    using T = TypeParam;
    const Index m = 19, n = 11;
    for (const Uplo uplo : {Uplo::lower, Uplo::upper}) {
        const auto S = random_triangle<T>(uplo, m, 0);
        Operand<T> A = blas::general(S.data.data(), S.ld);
        A.structure = Structure::triangular;
        A.uplo = uplo;
        auto B = random_matrix<T>(m, n), C = random_matrix<T>(n, m);
        using P = PackedProduct<T>;
        P left{m, n, m, T(-1), A, blas::general(B.data.data(), B.ld), T(0), B.view()};
        left.in_place = P::InPlace::B;
        check<T>({left, &B, {4, 7, 4}});
        check<T>({left, &B, {4, n, 4, false}}); // tasks pack the triangle
        check<T>({left, &B, product_tiling(left, 2)});
        P right{n, m, m, T(-1), blas::general(C.data.data(), C.ld), A, T(0), C.view()};
        right.in_place = P::InPlace::A;
        check<T>({right, &C, {7, 4, 4}});
        check<T>({right, &C, product_tiling(right, 2)});
    }
}

TYPED_TEST(PackedProducts, InfinityReachesOnlyWhatATriangleReaches)
{
    using T = TypeParam;
    const Index m = 70, n = 60, at = 33;
    for (const Uplo uplo : {Uplo::lower, Uplo::upper}) {
        const auto S = random_triangle<T>(uplo, m, 0);
        Operand<T> A = blas::general(S.data.data(), S.ld);
        A.structure = Structure::triangular;
        A.uplo = uplo;
        auto B = random_matrix<T>(m, n);
        B(at, 7) = T(std::numeric_limits<Real<T>>::infinity());
        PackedProduct<T> left{m, n, m, T(-1), A, blas::general(B.data.data(), B.ld), T(0), B.view()};
        left.in_place = PackedProduct<T>::InPlace::B;
        for (const ProductTiling tiling : {ProductTiling{28, 32, 28}, ProductTiling{28, n, 28, false}, product_tiling(left, 2)}) {
            Dense<T> C = B;
            PackedProduct<T> product = left;
            product.B = blas::general(C.data.data(), C.ld);
            product.C = C.view();
            InOrder executor(&load_kernels("native"));
            TaskFlow flow(executor);
            const ProductImages<T> images(product, tiling);
            packed_product(flow, product, tiling, images);
            flow.wait();
            for (Index j = 0; j < n; ++j)
                for (Index i = 0; i < m; ++i)
                    ASSERT_EQ(std::isfinite(std::real(C(i, j))), j != 7 || !in_triangle(uplo, i, at)) << i << ' ' << j;
        }
    }
}

TYPED_TEST(PackedProducts, ChunksOfOneOperationFitTogetherAndTheDiagonalOfAHermitianProductIsReal)
{
    using T = TypeParam;
    const Index n = 150, k = 90;
    const auto A = random_matrix<T>(n, k);
    const Operand<T> left = blas::general(A.data.data(), A.ld);
    Dense<T> C = random_matrix<T>(n, n);
    PackedProduct<T> product{n, n, k, T(1), left, left.op(herm_op<T>), T(1), C.view(), Part::lower};
    product.real_diagonal = true;
    check<T>({product, &C, {150, 150, 90}, 1});
    check<T>({product, &C, product_tiling(product, 3), 1});
}

/// A times its transpose, by images that are both operands where that is possible, and by two images, to the bit. Blocks of C off
/// the diagonal have right images of their own.
TYPED_TEST(PackedProducts, OfAMatrixAndItsTransposeGoByOneImage)
{
    using T = TypeParam;
    const auto& kernel = blas::instruction_set().micro_kernel<T>();
    const Index k = 2 * blas::block_sizes<T>().kc * kernel.nr / kernel.mr + 3;
    const bool both = blas::reads_left_as_right(kernel);
    const auto check_both = [&](Index n, Part part, Op op, Index nb) {
        const auto A = op == Op::none ? random_matrix<T>(n, k) : random_matrix<T>(k, n);
        const Operand<T> left = blas::general(A.data.data(), A.ld, op);
        Dense<T> one = random_matrix<T>(n, n), two = one;
        const auto multiply = [&](Dense<T>& C, bool of_transpose) {
            PackedProduct<T> product{n, n, k, T(0.5), left, left.op(Op::trans), T(2), C.view(), part};
            product.of_transpose = of_transpose;
            const ProductTiling tiling = nb ? square_tiling(product, nb) : product_tiling(product, 2);
            InOrder executor(&load_kernels("native"), 1);
            TaskFlow flow(executor);
            const ProductImages<T> images(product, tiling);
            EXPECT_EQ(images.serve_both(), of_transpose && both && tiling.depth > k / 2);
            packed_product(flow, product, tiling, images);
            flow.wait();
            EXPECT_EQ(images.right_memory().bytes() == 0, images.serve_both() && n < 4608);
        };
        multiply(one, true);
        multiply(two, false);
        for (Index j = 0; j < n; ++j)
            for (Index i = 0; i < n; ++i) ASSERT_EQ(one(i, j), two(i, j)) << i << ' ' << j << " of " << n;
    };
    for (const Part part : {Part::lower, Part::upper})
        for (const Op op : {Op::none, Op::trans}) {
            check_both(5 * kernel.mr + 7, part, op, 0);
            check_both(100, part, op, k);
        }
    if (both) check_both(4700, Part::lower, Op::none, k);
}

TYPED_TEST(PackedProducts, AreCutByRowsAloneWhereTheseAreEnoughForTheWorkers)
{
    using T = TypeParam;
    const auto& kernel = blas::instruction_set().micro_kernel<T>();
    const Index m = 905, n = 3 * 32, k = std::max<Index>(70, blas::block_sizes<T>().kc / 2);
    for (const Op op : {Op::none, Op::trans}) {
        const auto A = random_matrix<T>(m, k), B = op == Op::none ? random_matrix<T>(k, n) : random_matrix<T>(n, k);
        Dense<T> C = random_matrix<T>(m, n);
        PackedProduct<T> product{
            m, n, k, T(1), blas::general(A.data.data(), A.ld), blas::general(B.data.data(), B.ld, op), T(1), C.view()};
        const ProductTiling tiling = product_tiling(product, 2);
        EXPECT_FALSE(tiling.packs_left);
        EXPECT_EQ(tiling.packs_right, op == Op::trans);
        EXPECT_GE(tiling.cols, n);
        EXPECT_EQ(tiling.rows % kernel.mr, 0);
        const Index count = (m + tiling.rows - 1) / tiling.rows;
        EXPECT_GE(count, 6);
        if (blas::block_sizes<T>().mc >= m / 6) EXPECT_LE(count, 8) << "each reads all of B";
        check<T>({product, &C, tiling, 1}); // by chunks
        EXPECT_TRUE(product_tiling(product, 4).packs_left);
        EXPECT_TRUE(product_tiling(product, 4).packs_right);
        product.in_place = PackedProduct<T>::InPlace::A;
        EXPECT_TRUE(product_tiling(product, 2).packs_left);
    }
}

TEST(PackedProductsInPlace, AreCutByRowsAloneWhereTheirBlocksAreMoreThanTheWorkers)
{
    const auto& blocks = blas::block_sizes<double>();
    const auto side = Index(std::sqrt(double(blocks.mc) * double(blocks.kc)));
    const auto tiling = [](Index m, int workers) {
        double place = 0; // nothing is read
        PackedProduct<double> product{m, 500, m, 1, blas::general(&place, m), blas::general(&place, m), 0, {&place, m, 500, m}};
        product.in_place = PackedProduct<double>::InPlace::B;
        return product_tiling(product, workers);
    };
    const ProductTiling wide = tiling(3 * side, 2);
    EXPECT_FALSE(wide.packs_left);
    EXPECT_GE(wide.cols, 500);
    EXPECT_EQ(wide.rows, wide.depth) << "the tiles that are read are those written";
    EXPECT_TRUE(tiling(3 * side, 4).packs_left) << "each worker has a column at least";
    EXPECT_LT(tiling(3 * side, 4).cols, 500);
    EXPECT_EQ(tiling(3 * side, 4).depth, wide.depth) << "a sum does not depend on it";
}

TEST(DeepProducts, AreCutIntoTilesThatAreNotNarrow)
{
    const Index deep = 4 * blas::block_sizes<double>().kc;
    const auto tiles = [](Index n, Index k, int workers) {
        double place = 0; // nothing is read
        const PackedProduct<double> product{n, n, k, 1, blas::general(&place, n), blas::general(&place, k), 0, {&place, n, n, n}};
        const ProductTiling tiling = product_tiling(product, workers);
        return (n + tiling.rows - 1) / tiling.rows * ((n + tiling.cols - 1) / tiling.cols);
    };
    EXPECT_GE(tiles(300, deep - 1, 2), 8);
    if (blas::block_sizes<double>().mc >= 192) EXPECT_EQ(tiles(300, deep, 2), 4); // else caches are what bounds them
    EXPECT_LE(tiles(300, deep, 2), tiles(300, deep - 1, 2));
    EXPECT_GE(tiles(500, deep, 2), 8) << "wide ones are many";
    EXPECT_GE(tiles(150, deep, 2), 2) << "one for each worker at least";
    EXPECT_GE(tiles(200, deep, 4), 4);
}

} // namespace
} // namespace trencadis
