#include "blas/level3/rank_k_once.hpp"

#include "blas/testing/reference.hpp"

#include <cstring>

namespace trencadis::blas {
namespace {

using namespace testing;

template <class T> class OwnMirrors : public ::testing::Test {
protected:
    Random random{53};

    /// One triangle, with the blocks given, beside the product of two operands that happen to be equal: all of C, the other
    /// triangle too.
    void expect_bits_of_two_operands(const InstructionSet& set, BlockSizes blocks, Index n, Index k, Index ld_unit, Part part,
                                     Op op)
    {
        const ForcedSetup forced(set, blocks);
        const auto with = setup<T>(0);
        if (!with.kernel.reads_any_rows && n % with.kernel.step != 0) return;
        const Index rows = op == Op::none ? n : k, cols = op == Op::none ? k : n, ld = (rows + ld_unit - 1) / ld_unit * ld_unit;
        std::vector<T> memory(std::size_t(ld * cols + 64 / Index(sizeof(T))));
        for (T& x : memory) x = random.number<T>();
        const std::vector<T> copy = memory;
        const auto before = random_matrix<T>(random, n, n);
        auto wanted = before, got = before;
        const T alpha = random.number<T>(), beta = std::array<T, 3>{T(0), T(1), T(Real<T>(0.7))}[std::size_t(random.below(3))];
        const Operand<T> A = general(memory.data(), ld, op), other = general(copy.data(), ld, op);
        ASSERT_TRUE(multiply_by_itself<T>({n, n, k, alpha, A, A.transposed(), beta, got.data.data(), 1, got.ld, part}, with));
        const Product<T> two{n, n, k, alpha, A, other.transposed(), beta, wanted.data.data(), 1, wanted.ld, part};
        ASSERT_FALSE(multiply_by_itself(two, with));
        multiply(two);
        for (Index j = 0; j < n; ++j)
            for (Index i = 0; i < n; ++i)
                ASSERT_EQ(wanted(i, j), got(i, j))
                    << set.name << " n " << n << " k " << k << " ld " << ld << " blocks " << blocks.kc << " part " << int(part)
                    << " op " << char(op) << " at " << i << ',' << j;
    }
};
using RealTypes = ::testing::Types<float, double>;
TYPED_TEST_SUITE(OwnMirrors, RealTypes);

/// Where it lies and packed, by panels and by columns (half of a second cache of 16 x 240 numbers holds neither C nor a part of
/// the larger images), in one depth and in several.
TYPED_TEST(OwnMirrors, HaveTheBitsOfTwoOperands)
{
    for (const InstructionSet* set : instruction_set_entries()) {
        if (!set->runs_here()) continue;
        for (const BlockSizes blocks : {BlockSizes{256, 240, 4000}, BlockSizes{16, 240, 4000}})
            for (const Index n : {1, 7, 24, 47, 48, 49, 75, 97})
                for (const Index k : {1, 16, 39})
                    for (const Index ld_unit : {1, 16})
                        for (const Part part : {Part::lower, Part::upper})
                            for (const Op op : {Op::none, Op::trans}) {
                                this->expect_bits_of_two_operands(*set, blocks, n, k, ld_unit, part, op);
                                if (::testing::Test::HasFatalFailure()) return;
                            }
    }
}

TYPED_TEST(OwnMirrors, AreLeftToOthersWhereTheSecondCacheDoesNotHoldThem)
{
    using T = TypeParam;
    const ForcedSetup forced(instruction_set(), {16, 48, 4000});
    const auto with = setup<T>(0);
    const Index n = 101, k = 33;
    const auto A = random_matrix<T>(this->random, k, n);
    auto C = random_matrix<T>(this->random, n, n);
    const auto before = C.data;
    const Operand<T> left = general(A.data.data(), A.ld, Op::trans); // by rows: it would have to be packed
    EXPECT_FALSE(
        multiply_by_itself<T>({n, n, k, T(1), left, left.transposed(), T(1), C.data.data(), 1, C.ld, Part::lower}, with));
    EXPECT_EQ(std::memcmp(C.data.data(), before.data(), before.size() * sizeof(T)), 0); // NaNs lie between columns
}

} // namespace
} // namespace trencadis::blas
