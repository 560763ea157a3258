#include "blas/level3/control_tree.hpp"

#include <gtest/gtest.h>

namespace trencadis::blas {
namespace {

TEST(ControlTree, BlocksAreBalanced)
{
    EXPECT_EQ(balanced_block(400, 384, 8), 200);
    EXPECT_EQ(balanced_block(384, 384, 8), 384);
    EXPECT_EQ(balanced_block(100, 384, 8), 384);
    EXPECT_EQ(balanced_block(1000, 240, 24), 216);
}

TEST(ControlTree, ForcedBlocksAreWholePanels)
{
    const InstructionSet& set = find_instruction_set("generic");
    const ForcedSetup forced(set, {5, 1, 1});
    const auto with = setup<double>();
    EXPECT_EQ(&with.kernel, &set.d);
    EXPECT_EQ(with.tree[Loop::ic], set.d.mr);
    EXPECT_EQ(with.tree[Loop::jc], set.d.nr);
    EXPECT_EQ(with.tree[Loop::pc], 5);
}

} // namespace
} // namespace trencadis::blas
