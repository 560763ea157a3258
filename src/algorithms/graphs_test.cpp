#include "algorithms/graphs.hpp"

#include "algorithms/empty_cholesky.hpp"
#include "algorithms/testing/waves.hpp"
#include "base/error.hpp"
#include "kernels/testing/in_order.hpp"

#include <array>
#include <cmath>
#include <gmock/gmock.h>

namespace trencadis {
namespace {

using namespace testing;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using Counts = std::map<std::string, Index>;

constexpr Index nb = 48, ib = 20; // ib does not divide nb
constexpr Index orders[] = {0, 1, nb - 1, nb, nb + 1, 2 * nb, 5 * nb, 6 * nb + 7};
Index tiles_of(Index n) { return (n + nb - 1) / nb; }

/// An address that no memory is behind: touching it ends the test program.
void* const nowhere = reinterpret_cast<void*>(std::uintptr_t{1} << 47);

void submit(Waves& waves, std::string_view routine, std::string_view variant, const GraphShape& shape)
{
    TaskFlow flow(waves, whole_graph);
    submit_graph(flow, routine, variant, shape, nowhere);
    flow.wait();
    EXPECT_EQ(flow.outcome().value(), 0);
}

/// Tasks by codelet, without those that do not occur.
Counts counts(std::initializer_list<std::pair<const char* const, Index>> all)
{
    Counts some;
    for (const auto& [name, count] : all)
        if (count) some[name] = count;
    return some;
}
Index pairs(Index t) { return t * (t - 1) / 2; }
Index squares(Index t) { return (t - 1) * t * (2 * t - 1) / 6; } ///< 1 + 4 + ... + (t - 1)^2
/// Choices of groups of four tiles, and those between two, in the panels that have more than one.
Index matches(Index t)
{
    Index sum = 0;
    for (Index rows = 5; rows <= t; ++rows) sum += 2 * ((rows + 3) / 4) - 1;
    return sum;
}

TEST(Graphs, HaveAsManyTasksOfEachKindAsTheirFormulasSay)
{
    for (const Index n : orders) {
        SCOPED_TRACE(n);
        const Index t = tiles_of(n), updates = t * (t - 1) * (t - 2) / 6;
        const GraphShape shape{.n = n, .nb = nb, .inner = ib};
        const auto seen = [&](const char* routine, const char* variant) {
            Waves waves;
            submit(waves, routine, variant, shape);
            return waves.tasks;
        };
        const Counts cholesky = counts({{"potrf", t}, {"trsm", pairs(t)}, {"syrk", pairs(t)}, {"gemm", updates}});
        for (const char* form : {"packed", "in-place", "left-looking"}) EXPECT_EQ(seen("potrf", form), cholesky) << form;
        const Index nested = n / nb + (n % nb > ib); // a small last tile is not worth a level
        EXPECT_EQ(
            seen("potrf", "two-level"),
            counts({{"potrf_nested", nested}, {"potrf", t - nested}, {"trsm", pairs(t)}, {"syrk", pairs(t)}, {"gemm", updates}}));
        EXPECT_EQ(seen("potrs", ""), counts({{"trsm", 2 * t}, {"gemm", 2 * pairs(t)}}));
        EXPECT_EQ(seen("gemm", "in-place"), counts({{"gemm", t * t * t}}));
        EXPECT_EQ(seen("gemm", "packed"), counts({{"gemm", t * t * t}, {"pack", 2 * t * t}}));
        EXPECT_EQ(seen("syrk", "in-place"), counts({{"syrk", t * t}, {"gemm", pairs(t) * t}}));
        EXPECT_EQ(seen("syrk", "packed"), counts({{"syrk", t * t}, {"gemm", pairs(t) * t}, {"pack", 2 * t * t}}));
        EXPECT_EQ(seen("trsm", "in-place"), counts({{"trsm", t * t}, {"gemm", pairs(t) * t}}));
        EXPECT_EQ(seen("trsm", "packed"),
                  counts({{"trsm", t * t}, {"gemm", pairs(t) * t}, {"pack", t + pairs(t)}})); // triangles too
        EXPECT_EQ(seen("getrf", "incremental"),
                  counts({{"getrf", t}, {"gessm", pairs(t)}, {"tstrf", pairs(t)}, {"ssssm", squares(t)}}));
        const Counts kastors = counts({{"getrf_panel", t}, {"swptr", pairs(t)}, {"gemm", squares(t)}, {"laswp", pairs(t)}});
        EXPECT_EQ(seen("getrf", "kastors"), kastors);
        EXPECT_EQ(seen("getrf", "kastors-cw"), kastors);
        // Interchanges behind the panels: one task for each tile column but the last.
        EXPECT_EQ(seen("getrf", "panel"),
                  counts({{"getrf_panel", t}, {"swptr", pairs(t)}, {"gemm", squares(t)}, {"laswp", std::max<Index>(t - 1, 0)}}));
        EXPECT_EQ(seen("getrf", "packed"), counts({{"getrf_panel", t},
                                                   {"pack", pairs(t) + std::max<Index>(t - 1, 0)}, // and triangles
                                                   {"swptr", pairs(t)},
                                                   {"gemm", squares(t)},
                                                   {"laswp", std::max<Index>(t - 1, 0)}}));
        EXPECT_EQ(seen("getrf", "nopiv"), counts({{"getrf_nopiv", t}, {"trsm", 2 * pairs(t)}, {"gemm", squares(t)}}));
        const Index played = std::max<Index>(t - 4, 0); // panels of more than one group of four tiles
        EXPECT_EQ(seen("getrf", "tournament"), counts({{"tournament", matches(t)},
                                                       {"getrf_nopiv", played},
                                                       {"getrf_panel", t - played},
                                                       {"trsm", pairs(t) - pairs(t - played)},
                                                       {"swptr", pairs(t)},
                                                       {"gemm", squares(t)},
                                                       {"laswp", std::max<Index>(t - 1, 0)}}));
        EXPECT_EQ(seen("trtri", "in-place"), counts({{"find_zero", 1}, {"trtri", t}, {"trsm", 2 * pairs(t)}, {"gemm", updates}}));
        EXPECT_EQ(seen("lauum", "in-place"), counts({{"lauum", t}, {"trmm", pairs(t)}, {"syrk", pairs(t)}, {"gemm", updates}}));
        const Index packs = std::max<Index>(t - 1, 0); // nothing is right of the last panel
        EXPECT_EQ(seen("geqrf", "blocked"), counts({{"geqrf_panel", t}, {"pack", packs}, {"larfb", pairs(t)}}));
        EXPECT_EQ(seen("orgqr", "blocked"), counts({{"larft", t}, {"pack", t}, {"larfb", pairs(t) + t}}));
        EXPECT_EQ(seen("ormqr", "blocked"), counts({{"larft", t}, {"pack", t}, {"larfb", t * t}}));
        for (const char* flat : {"flat", "plasma"})
            EXPECT_EQ(seen("geqrf", flat),
                      counts({{"geqrt", t}, {"unmqr", pairs(t)}, {"tsqrt", pairs(t)}, {"tsmqr", squares(t)}}));
        for (const char* tree : {"binary", "greedy", "fibonacci"}) // each tile of the lower triangle is made a triangle
            EXPECT_EQ(
                seen("geqrf", tree),
                counts({{"geqrt", t + pairs(t)}, {"unmqr", pairs(t) + squares(t)}, {"ttqrt", pairs(t)}, {"ttmqr", squares(t)}}));
    }
}

TEST(Graphs, OfInversesAndIncrementalSolutionsHaveAsManyTasksToo)
{
    for (const Index n : orders) {
        SCOPED_TRACE(n);
        const Index t = tiles_of(n), updates = t * (t - 1) * (t - 2) / 6;
        const auto seen = [&](const char* routine, const char* variant) {
            Waves waves;
            submit(waves, routine, variant, {.n = n, .nb = nb, .inner = ib});
            return waves.tasks;
        };
        EXPECT_EQ(seen("gesv", "incremental"), counts({{"getrf", t},
                                                       {"gessm", pairs(t) + t},
                                                       {"tstrf", pairs(t)},
                                                       {"ssssm", squares(t) + pairs(t)},
                                                       {"after", n > 0},
                                                       {"trsm", t},
                                                       {"gemm", pairs(t)}}));
        EXPECT_EQ(seen("getri", "in-place"), counts({{"trtri", t},
                                                     {"trsm", 2 * pairs(t) + t * t},
                                                     {"gemm", updates + 2 * pairs(t)}, // of a whole tile row each
                                                     {"copy", pairs(t) + t},
                                                     {"laswp", t}}));
    }
}

/// What inner blocks of widths w add up to in a tile of `columns`: sums of w^2, w^3 and w^2 times the columns right of each.
struct InnerSums {
    double squares = 0, cubes = 0, tails = 0;
    explicit InnerSums(Index columns)
    {
        for (Index begin = 0; begin < columns; begin += ib) {
            const double w = double(std::min(ib, columns - begin));
            squares += w * w;
            cubes += w * w * w;
            tails += w * w * (double(columns - begin) - w);
        }
    }
};

/// Sums `visit(rows right of and below tile k, tile rows below it)` over the steps.
template <class Visit> double over_steps(Index n, Visit&& visit)
{
    double sum = 0;
    for (Index k = 0; k + 1 < tiles_of(n); ++k) sum += visit(double(n - (k + 1) * nb), double(tiles_of(n) - k - 1));
    return sum;
}

TEST(Graphs, DoTheOperationsOfTheRoutineAndTheKnownExtraOfTheirForm)
{
    const InnerSums inner(nb);
    for (const Index n : orders)
        for (const char precision : {'s', 'd', 'c', 'z'}) {
            const GraphShape shape{.n = n, .nb = nb, .inner = ib, .nrhs = 7, .precision = precision};
            const double weight = precision == 'c' || precision == 'z' ? 4 : 1;
            const auto expect_extra = [&](const char* routine, const char* variant, double extra) {
                Waves waves;
                submit(waves, routine, variant, shape);
                const double expected = routine_flops(routine, shape) + weight * extra;
                EXPECT_NEAR(waves.flops, expected, 1e-12 * expected) << routine << " " << variant << " n = " << n;
            };
            // Tile algorithms of these do the routine's own operations, each once.
            for (const char* routine : {"potrf", "posv"}) expect_extra(routine, "two-level", 0);
            expect_extra("gemm", "shared-panel", 0);
            expect_extra("potrs", "in-place", 0);
            for (const char* routine : {"trtri", "lauum", "potri"}) expect_extra(routine, "in-place", 0);
            expect_extra("trmm", "in-place", 0);
            for (const char* routine : {"potrf", "posv", "gemm", "symm", "hemm", "syrk", "herk", "trsm", "trtrs"})
                for (const char* variant : {"packed", "in-place"}) expect_extra(routine, variant, 0);
            for (const char* variant : {"packed", "panel", "kastors", "kastors-cw"}) expect_extra("getrf", variant, 0);
            // BLAS's trsm counts half of the diagonal's products as multiplications more, which cost 4 additions more in complex.
            const double diagonals = over_steps(n, [](double rest, double) { return 2 * double(nb) * rest; });
            expect_extra("getrf", "nopiv", weight == 4 ? diagonals / 2 : 0);
            expect_extra("getrf", "incremental",
                         over_steps(n, [&](double rest, double below) { return below * (inner.squares * rest + inner.tails); }));
            double factors_t = over_steps(n, [&](double rest, double below) {
                // unmqr, tsmqr; tsqrt
                return (1 + below) * inner.squares * rest + inner.squares * rest + below * (inner.cubes / 3 + inner.tails);
            });
            for (Index first = 0; first < n; first += nb) { // geqrt: T of m - begin = w + tail rows, and its application
                const InnerSums diagonal(std::min(nb, n - first));
                factors_t += 2 * diagonal.tails + diagonal.cubes * 2 / 3;
            }
            for (const char* flat : {"flat", "plasma"}) expect_extra("geqrf", flat, factors_t);
        }
}

TEST(Graphs, ReachTheLiteraturesTotalsForManyTiles)
{
    constexpr Index many = 60, tile = 96, block = 24;
    const GraphShape shape{.n = many * tile, .nb = tile, .inner = block};
    Waves lu, qr;
    submit(lu, "getrf", "incremental", shape);
    submit(qr, "geqrf", "flat", shape);
    // Leading terms; what they leave out is of the order of one tile row in `many`.
    const double ratio = double(block) / tile;
    EXPECT_NEAR(lu.flops / routine_flops("getrf", shape), 1 + ratio / 2, 0.5 * ratio / many);
    EXPECT_NEAR(qr.flops / routine_flops("geqrf", shape), 1 + ratio / 4, 2 * ratio / many);
    for (const char* tree :
         {"binary", "greedy", "fibonacci"}) { // two applications for each one of the flat tree, of half the cost
        Waves waves;
        submit(waves, "geqrf", tree, shape);
        EXPECT_NEAR(waves.flops / routine_flops("geqrf", shape), 1 + ratio / 2, 4 * ratio / many) << tree;
    }
}

Index longest_path(std::string_view routine, std::string_view variant, Index tiles)
{
    Waves waves;
    submit(waves, routine, variant, {.n = (tiles - 1) * nb + 1, .nb = nb, .inner = ib});
    return waves.waves;
}

TEST(Graphs, HaveTheLongestPathsTheirDependencesImply)
{
    for (const Index t : {1, 2, 3, 4, 7, 12}) {
        SCOPED_TRACE(t);
        const Index step = t - 1;                                      // the last has one task only
        EXPECT_EQ(longest_path("potrf", "in-place", t), 1 + 3 * step); // potrf, trsm, syrk
        EXPECT_EQ(longest_path("potrf", "left-looking", t), 1 + 3 * step);
        EXPECT_EQ(longest_path("potrf", "two-level", t), 1 + 3 * step);
        EXPECT_EQ(longest_path("potrf", "packed", t), 1 + 3 * step);
        EXPECT_EQ(longest_path("gemm", "in-place", t), t);
        EXPECT_EQ(longest_path("gemm", "packed", t), 1 + t);              // the first panel is packed before
        EXPECT_EQ(longest_path("trsm", "in-place", t), 1 + 2 * step);     // trsm, gemm
        EXPECT_EQ(longest_path("getrf", "incremental", t), 1 + 4 * step); // getrf, gessm, tstrf, ssssm
        EXPECT_EQ(longest_path("getrf", "nopiv", t), 1 + 3 * step);       // getrf_nopiv, trsm, gemm
        EXPECT_EQ(longest_path("geqrf", "flat", t), 1 + 4 * step);        // geqrt, unmqr, tsqrt, tsmqr
        EXPECT_EQ(longest_path("geqrf", "plasma", t), 1 + 3 * step);      // tsqrt need not wait for unmqr
        const Index swaps_behind = t > 1;
        EXPECT_EQ(longest_path("getrf", "panel", t), 1 + 3 * step + swaps_behind);  // getrf_panel, swptr, gemm
        EXPECT_EQ(longest_path("getrf", "packed", t), 1 + 4 * step + swaps_behind); // the triangle is packed between
    }
}

TEST(Graphs, ConcurrentWriteTakesTheQueueOfAColumnsUpdatesOffTheLongestPath)
{
    for (const Index t : {2, 3, 4, 7, 12}) {
        const Index step = t - 1;
        // getrf_panel, swptr, the updates of the next column one by one; at the end the interchanges of the last step likewise
        EXPECT_EQ(longest_path("getrf", "kastors", t), 1 + 2 * step + pairs(t) + step) << t;
        // getrf_panel, swptr, the head's update, all others; two tile rows have no others
        EXPECT_EQ(longest_path("getrf", "kastors-cw", t), 1 + 4 * step - 1 + 1) << t;
    }
    EXPECT_EQ(longest_path("getrf", "kastors", 1), 1);
    EXPECT_EQ(longest_path("getrf", "kastors-cw", 1), 1);
}

TEST(Graphs, NameEveryTileWithItsSizeInsideTheirRange)
{
    const Index n = 4 * nb + 7, t = tiles_of(n);
    for (const char precision : {'s', 'd', 'c', 'z'})
        for (const std::string_view routine : graph_routines())
            for (const std::string_view variant : graph_variants(routine)) {
                if (routine == "tasks") continue;
                SCOPED_TRACE(std::string(routine) + " " + std::string(variant));
                const GraphShape shape{.n = n, .nb = nb, .inner = ib, .precision = precision};
                Waves waves;
                submit(waves, routine, variant, shape);
                const std::uintptr_t begin = reinterpret_cast<std::uintptr_t>(nowhere);
                Bytes all = 0;
                for (const auto& [data, bytes] : waves.data) {
                    const std::uintptr_t at = reinterpret_cast<std::uintptr_t>(data);
                    EXPECT_GE(at, begin);
                    EXPECT_LE(double(at - begin) + bytes, double(graph_bytes(routine, variant, shape)));
                    all += bytes;
                }
                const double element = precision == 's' ? 4 : precision == 'z' ? 16 : 8;
                const double triangle =
                    element * double(pairs(t) * nb * nb - (t - 1) * nb * (nb - 7) + (t - 1) * nb * nb + 7 * 7);
                const double full = element * double(n * n);
                if (variant == "packed") {
                    const bool of_triangle = routine == "potrf" || routine == "posv" || routine == "trtrs";
                    EXPECT_GT(all, of_triangle ? triangle : full); // images beside the matrices
                    continue;
                }
                if (routine == "potrf") {
                    EXPECT_EQ(all, triangle);
                }
                if (routine == "gemm") {
                    const double panel = variant == "shared-panel" ? element * double(nb * n) : 0;
                    EXPECT_EQ(all, 3 * full + panel);
                }
                if (routine == "trsm" || routine == "syrk") {
                    EXPECT_EQ(all, full + triangle);
                }
                if (routine == "getrf" && variant == "nopiv") {
                    EXPECT_EQ(all, full);
                } else if (routine == "getrf" && variant == "tournament") { // candidates of two groups beside the pivots
                    const double group = std::ceil(double(nb) * (8 + double(nb) * element) / 64) * 64;
                    EXPECT_EQ(all, full + double(sizeof(Index)) * double(n) + 2 * group);
                } else if (routine == "getrf" && variant == "columns") { // interchanges beside LAPACK's pivots
                    EXPECT_EQ(all, full + double(sizeof(Index) + sizeof(std::int32_t)) * double(n));
                } else if (routine == "getrf" && variant != "incremental") {
                    EXPECT_EQ(all, full + double(sizeof(Index)) * double(n)); // a vector of pivots for each panel
                }
                if (routine == "getrf" &&
                    variant == "incremental") { // pivots for each tile of the lower triangle, L below the diagonal
                    const double pivots = double(pairs(t) * nb + (t - 1) * nb + 7);
                    EXPECT_EQ(all, full + double(sizeof(Index)) * pivots + element * double(ib * nb * pairs(t)));
                }
                if (variant == "flat") { // T: ib x nb for the tiles of the lower triangle
                    EXPECT_EQ(all, full + element * double(ib) * double(pairs(t) * nb + (t - 1) * nb + 7));
                }
            }
}

TEST(Graphs, SplitUpdatesByColumnsOnceTheyAreLargeEnough)
{
    Waves lu, qr, panel, small;
    const GraphShape shape{.n = 4 * 256, .nb = 256, .inner = 32};
    submit(lu, "getrf", "incremental", shape);
    submit(qr, "geqrf", "flat", shape);
    submit(panel, "getrf", "panel", shape);
    EXPECT_EQ(lu.chunks, (Counts{{"gessm", 8}, {"ssssm", 8}}));
    EXPECT_EQ(qr.chunks, (Counts{{"unmqr", 8}, {"tsmqr", 8}}));
    EXPECT_EQ(panel.chunks, (Counts{{"swptr", 8}, {"gemm", 8}}));
    submit(small, "geqrf", "flat", {.n = 4 * 32, .nb = 32, .inner = 16});
    EXPECT_EQ(small.chunks, (Counts{{"unmqr", 1}, {"tsmqr", 1}}));
}

TEST(Graphs, KernelsListedAreThoseThatOccur)
{
    for (const char precision : {'d', 'z'})
        for (const std::string_view routine : graph_routines())
            for (const std::string_view variant : graph_variants(routine)) {
                const Index n = routine == "tasks" ? 4 : 6 * nb;
                Waves waves;
                submit(waves, routine, variant, {.n = n, .nb = nb, .inner = ib, .precision = precision});
                std::vector<std::string> seen, listed;
                for (const auto& [name, count] : waves.tasks)
                    if (name != "after" && name != "find_zero") seen.push_back(name == "potrf_nested" ? "potrf" : name);
                for (const std::string_view kernel : graph_kernels(routine, variant, precision)) listed.emplace_back(kernel);
                EXPECT_THAT(seen, ::testing::UnorderedElementsAreArray(listed)) << routine << " " << variant;
            }
}

TEST(Graphs, OfTallMatricesJoinBlocksAlongATree)
{
    const GraphShape shape{.n = 40, .nb = 100, .m = 1000};
    Waves waves;
    submit(waves, "geqrf", "tsqr", shape);
    EXPECT_EQ(waves.tasks, counts({{"gram_qr", 10},
                                   {"judge_blocks", 1},
                                   {"reflect_block", 10},
                                   {"ttqrt", 9},
                                   {"begin_q", 10},
                                   {"ttmqr", 9},
                                   {"reconstruct_head", 1},
                                   {"reconstruct_block", 10}}));
    EXPECT_DOUBLE_EQ(routine_flops("geqrf", shape), 2 * 40.0 * 40 * (1000 - 40.0 / 3));
    EXPECT_THROW(submit(waves, "geqrf", "tsqr", {.n = 40, .nb = 100, .m = 79}), Error);
    EXPECT_EQ(default_graph_rows(graph_form("geqrf", "tsqr"), 100), 6400);
    EXPECT_EQ(default_graph_form("geqrf", true).name, "flat") << "devices have no part in images";
}

TEST(Graphs, OfAnyMatrixHaveItsRowsAndOfProductsTheirDepth)
{
    const auto seen = [](const char* routine, const char* variant, const GraphShape& shape) {
        Waves waves;
        submit(waves, routine, variant, shape);
        return waves.tasks;
    };
    EXPECT_EQ(seen("gemm", "in-place", {.n = 20, .nb = 10, .m = 30, .k = 40}), counts({{"gemm", 3 * 2 * 4}}));
    EXPECT_EQ(seen("gemm", "in-place", {.n = 512, .m = 512, .workers = 1, .k = 4096}), counts({{"gemm", 4 * 4}}))
        << "four tiles for the worker, and a depth of 1024";
    EXPECT_EQ(seen("geqrf", "blocked", {.n = 30, .nb = 10, .m = 300})["geqrf_panel"], 3);
    EXPECT_EQ(seen("getrf", "panel", {.n = 10, .nb = 10, .m = 300})["getrf_panel"], 1);
    EXPECT_DOUBLE_EQ(routine_flops("gemm", {.n = 20, .m = 30, .k = 40}), 2 * 20.0 * 30 * 40);
    Waves waves;
    EXPECT_THROW(submit(waves, "potrf", "packed", {.n = 20, .nb = 10, .m = 30}), Error);
    EXPECT_THROW(submit(waves, "getrf", "panel", {.n = 20, .nb = 10, .k = 30}), Error);
    EXPECT_THROW(submit(waves, "gemm", "in-place", {.n = 20}), Error) << "no tiles, and nobody to cut it for";
}

TEST(Graphs, TasksIsTheEmptyCholeskyGraph)
{
    Waves waves;
    submit(waves, "tasks", "", {.n = 9});
    EXPECT_EQ(waves.count(), empty_cholesky_tasks(9));
    EXPECT_EQ(graph_bytes("tasks", "", {.n = 9}), std::size_t(128)); // 81 names
}

TEST(Graphs, ListTheFormsOfLu)
{
    EXPECT_THAT(graph_variants("getrf"),
                ElementsAre("packed", "panel", "kastors", "kastors-cw", "columns", "nopiv", "tournament", "incremental"));
    EXPECT_THAT(graph_variants("potrf"), ElementsAre("packed", "in-place", "left-looking", "two-level"));
    EXPECT_EQ(default_graph_form("potrf", false).name, "packed");
    EXPECT_EQ(default_graph_form("potrf", true).name, "in-place") << "devices do not compute on packed images";
    EXPECT_EQ(default_graph_form("getrf", true).name, "panel");
    EXPECT_EQ(default_inner(graph_form("potrf", ""), 1024), 128);
    EXPECT_EQ(default_inner(graph_form("getrf", ""), 16), 16);
}

std::string refusal(const std::function<void()>& call, ErrorCode code = ErrorCode::bad_argument)
{
    try {
        call();
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), code);
        return error.what();
    }
    return "nothing was thrown";
}

TEST(Graphs, SayWhatIsWrongWithARequest)
{
    const auto request = [](const char* routine, const char* variant, const GraphShape& shape) {
        return refusal([&] { graph_bytes(routine, variant, shape); });
    };
    const GraphShape good{.n = 100, .nb = 10};
    EXPECT_THAT(request("getfr", "", good), HasSubstr("getrf"));
    EXPECT_THAT(request("getrf", "kastor", good), HasSubstr("kastors"));
    EXPECT_THAT(request("getrf", "", {.n = -1, .nb = 10}), HasSubstr("n is -1"));
    EXPECT_THAT(request("getrf", "", {.n = 1}), HasSubstr("nb is 0"));
    EXPECT_THAT(request("getrf", "", {.n = 1, .nb = 8, .inner = 9}), HasSubstr("nb = 8"));
    EXPECT_THAT(request("posv", "", {.n = 1, .nb = 8, .nrhs = 0}), HasSubstr("nrhs is 0"));
    EXPECT_THAT(request("potrf", "", {.n = 1, .nb = 8, .precision = 'q'}), HasSubstr("'q'"));
    EXPECT_THAT(request("potrf", "", {.n = Index{1} << 31, .nb = 1024}), HasSubstr("smaller n"));
}

TEST(Graphs, AreRefusedByEnginesThatCompute)
{
    InOrder computing;
    TaskFlow flow(computing);
    EXPECT_THAT(refusal([&] { submit_graph(flow, "potrf", "", {.n = 10, .nb = 5}, nowhere); }), HasSubstr("simulates"));
}

} // namespace
} // namespace trencadis
