#include "algorithms/packed_trsm.hpp"

#include "kernels/testing/in_order.hpp"
#include "kernels/testing/reference.hpp"

namespace trencadis {
namespace {

using namespace testing;

template <class T> class PackedTrsm : public ::testing::Test {
};
using Scalars = ::testing::Types<float, double, std::complex<float>, std::complex<double>>;
TYPED_TEST_SUITE(PackedTrsm, Scalars);

/// op(A)(i, j) of a triangle, with what is not stored.
template <Scalar T> T triangle_at(const Dense<T>& A, Uplo uplo, Op op, Diag diag, Index i, Index j)
{
    const Index r = op == Op::none ? i : j, c = op == Op::none ? j : i;
    if (!in_triangle(uplo, r, c)) return T(0);
    return r == c && diag == Diag::unit ? T(1) : A.at(op, i, j);
}

/// The residual |alpha B - X op(A)| <= (n + 2) eps (|X| |op(A)| + |alpha B|), entry by entry (Higham, theorem 8.5; one more
/// rounding for the inverses of the diagonal and one for alpha).
template <Scalar T> void check(PackedSystem<T> s, const Dense<T>& A, Dense<T>& B, const SystemTiling& tiling, Index grain)
{
    const Dense<T> before = B;
    InOrder executor(&load_kernels("native"), grain);
    {
        TaskFlow flow(executor);
        const SystemImages<T> images(s, tiling);
        packed_trsm(flow, s, tiling, images);
        flow.wait();
    }
    for (Index j = 0; j < s.n; ++j)
        for (Index i = 0; i < s.m; ++i) {
            Sum<T> sum;
            for (Index k = 0; k < s.order(); ++k)
                if (s.side == Side::left) sum.add(triangle_at(A, s.uplo, s.op, s.diag, i, k), B(k, j));
                else sum.add(B(i, k), triangle_at(A, s.uplo, s.op, s.diag, k, j));
            const Wide<T> right = Wide<T>(s.alpha) * Wide<T>(before(i, j));
            const long double bound = (double(s.order()) + 5) * rounding<T> * eps<T> * (sum.magnitude + std::abs(right));
            ASSERT_LE(std::abs(sum.value - right), bound) << i << ", " << j;
        }
    expect_untouched(before, B, [](Index, Index) { return true; });
}

TYPED_TEST(PackedTrsm, SolvesEverySystemAtRaggedSizes)
{
    using T = TypeParam;
    for (const Side side : {Side::left, Side::right})
        for (const Uplo uplo : {Uplo::lower, Uplo::upper})
            for (const Op op : {Op::none, Op::trans, Op::conj_trans})
                for (const Diag diag : {Diag::non_unit, Diag::unit})
                    for (const Index order : {1, 6, 7, 23}) {
                        const Index others = 17;
                        // A unit diagonal must dominate too, or the solution grows beyond what the bound can tell.
                        auto A = random_triangle<T>(uplo, order, Real<T>(order + 1));
                        for (Index j = 0; j < order; ++j)
                            for (Index i = 0; i < order; ++i)
                                if (i == j && diag == Diag::unit) A(i, j) = std::numeric_limits<Real<T>>::quiet_NaN();
                                else if (in_triangle(uplo, i, j) && diag == Diag::unit) A(i, j) /= Real<T>(order);
                        const Index m = side == Side::left ? order : others, n = side == Side::left ? others : order;
                        auto B = random_matrix<T>(m, n);
                        check<T>({side, uplo, op, diag, m, n, T(0.5), A.data.data(), A.ld, B.view()}, A, B, {5, 6}, 1);
                    }
}

TYPED_TEST(PackedTrsm, SharesOneOperationInChunks)
{
    using T = TypeParam;
    for (const Side side : {Side::left, Side::right}) {
        const Index order = 120, others = 150;
        const auto A = random_triangle<T>(Uplo::lower, order, Real<T>(order + 1));
        auto B = side == Side::left ? random_matrix<T>(order, others) : random_matrix<T>(others, order);
        const PackedSystem<T> system{side,   Uplo::lower, Op::none,      Diag::non_unit, B.rows,
                                     B.cols, T(1),        A.data.data(), A.ld,           B.view()};
        check<T>(system, A, B, {others, order}, 1);
        check<T>(system, A, B, system_tiling(system, 2), 1);
    }
}

/// So deep that the solutions' left images are the right operands of updates from the left too.
TYPED_TEST(PackedTrsm, UpdatesFromTheLeftByImagesOfTheOtherSide)
{
    using T = TypeParam;
    const auto& kernel = blas::instruction_set().micro_kernel<T>();
    const Index depth = blas::block_sizes<T>().kc * kernel.nr / kernel.mr + 5, order = 2 * depth + 9, others = 2 * kernel.mr + 3;
    for (const Uplo uplo : {Uplo::lower, Uplo::upper}) {
        const auto A = random_triangle<T>(uplo, order, Real<T>(order + 1));
        auto B = random_matrix<T>(order, others);
        const PackedSystem<T> system{Side::left, uplo, Op::none,      Diag::non_unit, order,
                                     others,     T(2), A.data.data(), A.ld,           B.view()};
        const SystemTiling tiling{kernel.mr + 5, depth};
        EXPECT_EQ(SystemImages<T>(system, tiling).serve_both(), blas::reads_left_as_right(kernel));
        check<T>(system, A, B, tiling, 1);
    }
}

} // namespace
} // namespace trencadis
