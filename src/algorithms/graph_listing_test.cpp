#include "algorithms/graph_listing.hpp"

#include "algorithms/testing/waves.hpp"
#include "base/error.hpp"

#include <gmock/gmock.h>

#include <set>

namespace trencadis {
namespace {

using namespace testing;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;
using Lines = std::vector<std::string>;

constexpr std::int64_t many = 1 << 20;

/// "gemm C(1,1) A(1,2) B(2,1) < 0 3", written data with a star.
std::string line_of(const ListedTask& task)
{
    std::string line = task.kernel;
    for (const ListedUse& use : task.uses) line += ' ' + use.datum + (use.mode == AccessMode::read ? "" : "*");
    if (!task.after.empty()) line += " <";
    for (const std::int64_t before : task.after) line += ' ' + std::to_string(before);
    return line;
}
Lines lines_of(std::string_view routine, std::string_view variant, const GraphShape& shape)
{
    Lines lines;
    for (const ListedTask& task : list_graph(routine, variant, shape, many).tasks) lines.push_back(line_of(task));
    return lines;
}

TEST(GraphListing, NamesTilesAndWhatEachTaskWaitsFor)
{
    EXPECT_THAT(lines_of("potrf", "in-place", {.n = 3, .nb = 1}),
                ElementsAre("potrf A(1,1)*", "trsm A(1,1) A(2,1)* < 0", "trsm A(1,1) A(3,1)* < 0", "syrk A(2,1) A(2,2)* < 1",
                            "gemm A(3,1) A(2,1) A(3,2)* < 1 2", "syrk A(3,1) A(3,3)* < 2", "potrf A(2,2)* < 3",
                            "trsm A(2,2) A(3,2)* < 4 6", "syrk A(3,2) A(3,3)* < 5 7", "potrf A(3,3)* < 8"));
    EXPECT_THAT(lines_of("gemm", "in-place", {.n = 20, .nb = 16}), ::testing::Contains("gemm A(2,2) B(2,1) C(2,1)* < 2"));
}

TEST(GraphListing, OfEmptyTasksIsThatOfTheCholeskyFactorizationTheyStandFor)
{
    EXPECT_EQ(lines_of("tasks", "", {.n = 3}), lines_of("potrf", "in-place", {.n = 3, .nb = 1}));
}

TEST(GraphListing, NamesSeveralTilesAndPiecesOfPivots)
{
    const Lines lines = lines_of("getrf", "panel", {.n = 40, .nb = 16, .inner = 8});
    EXPECT_EQ(lines.front(), "getrf_panel ipiv(1)* A(1,1)* A(2,1)* A(3,1)*");
    EXPECT_THAT(lines.back(), AllOf(StartsWith("laswp"), HasSubstr("ipiv(3)")));
    // One panel is one tile, however many rows it has; and a reflector's block is a column of tiles.
    EXPECT_THAT(lines_of("geqrf", "blocked", {.n = 40, .nb = 16, .inner = 8}).front(), HasSubstr("A(1:3,1)"));
}

TEST(GraphListing, HasTheTasksInsideATaskBehindIt)
{
    const GraphListing listing = list_graph("potrf", "two-level", {.n = 8, .nb = 4, .inner = 2}, many);
    ASSERT_GT(listing.tasks.size(), 5u);
    EXPECT_EQ(listing.tasks[0].inside, -1);
    for (std::size_t t = 1; t <= 4; ++t) EXPECT_EQ(listing.tasks[t].inside, 0);
    EXPECT_EQ(line_of(listing.tasks[2]), "trsm A(1,1)[1:2,1:2] A(1,1)[3:4,1:2]* < 1");
    EXPECT_EQ(listing.tasks[5].inside, -1);
    EXPECT_EQ(listing.tasks[5].after, std::vector<std::int64_t>{0});
    // Two chains of potrf, trsm, syrk, potrf inside a task each, and trsm and syrk between them.
    EXPECT_EQ(listing.depth, 12);
}

TEST(GraphListing, IsAsDeepAndHasAsManyTasksAsTheFlowThatEnginesRun)
{
    std::set<std::string_view> nested;
    for (const std::string_view routine : graph_routines())
        for (const std::string_view variant : graph_variants(routine)) {
            const Form& form = graph_form(routine, variant);
            const GraphShape shape{.n = form.tall_rows ? 16 : 44, .nb = 8, .m = form.tall_rows ? 100 : 0, .inner = 4};
            SCOPED_TRACE(std::string(routine) + ":" + std::string(variant));
            const GraphListing listing = list_graph(routine, variant, shape, many);
            Waves waves;
            {
                TaskFlow flow(waves, whole_graph);
                submit_graph(flow, routine, variant, shape, reinterpret_cast<void*>(std::uintptr_t{1} << 47));
                flow.wait();
            }
            std::map<std::string, Index> tasks;
            Flops flops = 0;
            bool inside = false;
            for (const ListedTask& task : listing.tasks) {
                inside |= task.inside >= 0;
                if (task.inside >= 0 || task.kernel == "wait") continue;
                ++tasks[task.kernel];
                flops += task.flops;
                for (const std::int64_t before : task.after) EXPECT_LT(before, &task - listing.tasks.data());
            }
            Index count = 0;
            for (const auto& [kernel, of_kind] : tasks) count += of_kind;
            EXPECT_EQ(count, waves.count());
            EXPECT_DOUBLE_EQ(flops, waves.flops);
            if (inside) nested.insert(routine);
            else EXPECT_EQ(listing.depth, waves.waves);
            EXPECT_GE(listing.width, count ? 1 : 0);
        }
    EXPECT_TRUE(nested.contains("potrf"));
}

TEST(GraphListing, RefusesGraphsThatAreTooLarge)
{
    EXPECT_EQ(list_graph("potrf", "in-place", {.n = 3, .nb = 1}, 10).tasks.size(), 10u);
    try {
        list_graph("potrf", "in-place", {.n = 3, .nb = 1}, 9);
        FAIL() << "ten tasks were listed";
    } catch (const Error& error) {
        EXPECT_STREQ(error.what(), "the graph has more than 9 tasks; choose a smaller n, or a larger nb");
    }
}

} // namespace
} // namespace trencadis
