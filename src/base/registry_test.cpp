#include "base/registry.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace trencadis {
namespace {

using ::testing::HasSubstr;

const Entry first{"eager", "central queue", "trencadis"}, second{"ws", "work stealing", "trencadis"};
const Entry* const entries[] = {&first, &second};
const std::span<const Entry* const> all{entries};

TEST(EditDistance, CountsInsertionsDeletionsAndSubstitutions)
{
    EXPECT_EQ(edit_distance("", ""), 0);
    EXPECT_EQ(edit_distance("", "abc"), 3);
    EXPECT_EQ(edit_distance("abc", ""), 3);
    EXPECT_EQ(edit_distance("kitten", "sitting"), 3);
    EXPECT_EQ(edit_distance("sitting", "kitten"), 3);
    EXPECT_EQ(edit_distance("same", "same"), 0);
}

TEST(EditDistance, CountsAnExchangeOfNeighboursOnce)
{
    EXPECT_EQ(edit_distance("mlk", "mkl"), 1);
    EXPECT_EQ(edit_distance("egaer", "eager"), 1);
    EXPECT_EQ(edit_distance("ab", "ba"), 1);
}

constexpr std::string_view names[] = {"mosaic", "eager", "ws", "cats", "locality-default", "libomp"};

TEST(MeantName, IsNearWhateverTheCase)
{
    EXPECT_EQ(meant_name("moasic", names), "mosaic");
    EXPECT_EQ(meant_name("MOSAIC", names), "mosaic");
    EXPECT_EQ(meant_name("w", names), "ws");
    EXPECT_EQ(meant_name("catz", names), "cats");
}

TEST(MeantName, IsOneThatHasTheGivenWordInIt)
{
    EXPECT_EQ(meant_name("locality", names), "locality-default");
    EXPECT_EQ(meant_name("omp", names), "libomp");
}

TEST(MeantName, IsNoneForAWordThatIsFarFromAll)
{
    for (const std::string_view far : {"", "x", "qqqqqqq", "zzz", "fifo", "static", "round-robin"})
        EXPECT_EQ(meant_name(far, names), "") << far;
    EXPECT_EQ(unknown_name("scheduler", "fifo", names),
              "unknown scheduler 'fifo' (known: mosaic eager ws cats locality-default libomp)");
}

TEST(FindEntry, ReturnsTheEntryOfThatName) { EXPECT_EQ(&find_entry("scheduler", all, "ws"), &second); }

TEST(FindEntry, SuggestsANearNameAndListsAll)
{
    try {
        find_entry("scheduler", all, "eagre");
        FAIL();
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), ErrorCode::bad_argument);
        EXPECT_THAT(error.what(), HasSubstr("unknown scheduler 'eagre'; did you mean 'eager'?"));
        EXPECT_THAT(error.what(), HasSubstr("(known: eager ws)"));
    }
}

TEST(FindEntry, HasNothingToSuggestInAnEmptyRegistry)
{
    try {
        find_entry("scheduler", std::span<const Entry* const>{}, "ws");
        FAIL();
    } catch (const Error& error) {
        EXPECT_STREQ(error.what(), "unknown scheduler 'ws' (known:)");
    }
}

TEST(FindEntry, DoesNotTakeAPrefixForTheName)
{
    EXPECT_THROW(find_entry("scheduler", all, "w"), Error);
    EXPECT_THROW(find_entry("scheduler", all, ""), Error);
}

} // namespace
} // namespace trencadis
