// The graph of LU by block columns; what it computes is in getrf_test.cpp.
#include "algorithms/column_lu.hpp"

#include "algorithms/graphs.hpp"
#include "algorithms/testing/waves.hpp"
#include "base/error.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <string>

namespace trencadis {
namespace {

using testing::Waves;
using Counts = std::map<std::string, Index>;

constexpr Index nb = 48;
void* const nowhere = reinterpret_cast<void*>(std::uintptr_t{1} << 47);

void submit(Waves& waves, std::string_view routine, const GraphShape& shape)
{
    TaskFlow flow(waves, testing::whole_graph);
    submit_graph(flow, routine, "columns", shape, nowhere);
    flow.wait();
}
Counts without_zeros(Counts counts)
{
    std::erase_if(counts, [](const auto& one) { return one.second == 0; });
    return counts;
}

TEST(ColumnGraphs, HaveATaskForEachPanelAndEachColumnThatItUpdates)
{
    for (const Index n : {Index(0), Index(1), nb - 1, nb, nb + 1, 2 * nb, 5 * nb, 6 * nb + 7}) {
        SCOPED_TRACE(n);
        const Index t = (n + nb - 1) / nb, pairs = t * (t - 1) / 2, behind = std::max<Index>(t - 1, 0);
        Waves factored, solved;
        submit(factored, "getrf", {.n = n, .nb = nb});
        submit(solved, "gesv", {.n = n, .nb = nb, .nrhs = 3});
        const Counts factors = {{"getrf_panel", t}, {"lu_update", pairs}, {"laswp", behind}, {"copy", t}}; // LAPACK's pivots
        Counts solution = factors;
        solution["lu_update"] += t, solution["trsm"] += t;
        EXPECT_EQ(factored.tasks, without_zeros(factors));
        EXPECT_EQ(solved.tasks, without_zeros(solution));
        if (n > 0) {
            EXPECT_EQ(factored.waves, 1 + 2 * behind + 1); // getrf_panel, lu_update; interchanges or pivots
        }
        double exchanged = 0; // one for each entry left of a panel
        for (Index first = nb; first < n; first += nb) exchanged += double(std::min(nb, n - first)) * double(first);
        const double expected = routine_flops("getrf", {.n = n}) + exchanged;
        EXPECT_NEAR(factored.flops, expected, 1e-12 * expected);
    }
}

TEST(ColumnGraphs, UpdateColumnsTogetherButTheNextPanels)
{
    constexpr Index m = 7 * nb, n = 6 * nb; // panels 0 to 5
    const TileMatrix<double> A({static_cast<double*>(nowhere), m, n, m}, m, nb);
    const auto reserve = [](std::size_t) { return static_cast<void*>(static_cast<char*>(nowhere) + m * n * 8); };
    const PanelInterchanges by(m, n, nb, {.reserve = reserve});
    Index* const pivots = static_cast<Index*>(nowhere) + 2 * m * n;
    const auto tasks = [&](Index together) {
        Waves waves;
        TaskFlow flow(waves, testing::whole_graph);
        getrf_columns(flow, A, by, pivots, together);
        flow.wait();
        return waves.tasks;
    };
    EXPECT_EQ(tasks(6), (Counts{{"getrf_panel", 6}, {"lu_update", 5 + 4}, {"laswp", 1}, {"copy", 6}}));
    // Groups {0 1} {2 3} {4 5}: beside the next column, what is left of them behind it.
    EXPECT_EQ(tasks(2), (Counts{{"getrf_panel", 6}, {"lu_update", 5 + 2 + 2 + 1 + 1}, {"laswp", 3}, {"copy", 6}}));
}

TEST(ColumnGraphs, OfMoreRowsThanInterchangesCountAreRefused)
{
    Waves waves;
    EXPECT_THROW(submit(waves, "getrf", {.n = 10, .nb = 10, .m = Index(1) << 31}), Error);
}

} // namespace
} // namespace trencadis
