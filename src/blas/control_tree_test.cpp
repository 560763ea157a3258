#include "blas/control_tree.hpp"

#include "base/error.hpp"

#include <gtest/gtest.h>

namespace trencadis::blas {
namespace {

TEST(ControlTree, IsReadBackFromItsText)
{
    const ControlTree tree{{{{4096, Split::equal, Level::node}, {384}, {192, Split::dynamic, Level::core}, {8}, {24}}}};
    EXPECT_EQ(to_text(tree), "jc:4096:equal:node pc:384 ic:192:dynamic:core jr:8 ir:24");
    EXPECT_EQ(parse_control_tree(to_text(tree)), tree);
}

TEST(ControlTree, SaysWhichWordIsWrong)
{
    for (const auto& [text, word] : {std::pair{"jc:4096 pc:384", "jc:4096 pc:384"},
                                     {"pc:1 pc:1 ic:1 jr:1 ir:1", "pc:1"},
                                     {"jc:1 pc:0 ic:1 jr:1 ir:1", "pc:0"},
                                     {"jc:1 pc:1 ic:1:fair:core jr:1 ir:1", "fair"},
                                     {"jc:1 pc:1 ic:1:equal:rack jr:1 ir:1", "rack"},
                                     {"jc:1x pc:1 ic:1 jr:1 ir:1", "jc:1x"}}) {
        try {
            parse_control_tree(text);
            FAIL() << text;
        } catch (const Error& error) {
            EXPECT_EQ(error.code(), ErrorCode::bad_argument);
            EXPECT_NE(std::string(error.what()).find(std::string("'") + word + "'"), std::string::npos) << error.what();
        }
    }
}

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
    EXPECT_EQ(with.tree[Loop::ic].block, set.d.mr);
    EXPECT_EQ(with.tree[Loop::jc].block, set.d.nr);
    EXPECT_EQ(with.tree[Loop::pc].block, 5);
}

} // namespace
} // namespace trencadis::blas
