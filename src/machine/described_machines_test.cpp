// The files in machines/: each can be simulated, and says what the papers it stands on say.
#include "base/error.hpp"
#include "machine/describe.hpp"
#include "machine/kernel_times.hpp"
#include "machine/machine.hpp"
#include "machine/routes.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <fstream>
#include <set>
#include <sstream>

namespace trencadis {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::IsSupersetOf;
using ::testing::SizeIs;

constexpr std::string_view cholesky[] = {"gemm", "syrk", "herk", "trsm", "potrf"};
constexpr std::string_view lu[] = {"getrf", "gessm", "tstrf", "ssssm", "getrf_panel", "swptr", "laswp"};
constexpr std::string_view qr[] = {"geqrt", "unmqr", "tsqrt", "tsmqr"};

class EveryDescribedMachine : public ::testing::TestWithParam<std::string> {
protected:
    const Machine machine = load_machine(GetParam());
};

TEST_P(EveryDescribedMachine, HasATimeForEveryKernelOnSomeUnit)
{
    for (const auto& names : {std::span<const std::string_view>(cholesky), std::span<const std::string_view>(lu),
                              std::span<const std::string_view>(qr)})
        EXPECT_THAT(missing_kernels(machine, names), IsEmpty());
}

TEST_P(EveryDescribedMachine, HasNoKernelThatNoGraphKnows)
{
    std::set<std::string_view> known;
    for (const auto& names : {std::span<const std::string_view>(cholesky), std::span<const std::string_view>(lu),
                              std::span<const std::string_view>(qr)})
        known.insert(names.begin(), names.end());
    for (const KernelTime& kernel : machine.kernels)
        EXPECT_TRUE(known.contains(kernel.kernel)) << kernel.kernel << ", line " << kernel.line;
}

/// Peaks are of double precision; vector units hold twice as many numbers of single.
double numbers(const KernelTime& kernel) { return kernel.precision == 's' || kernel.precision == 'c' ? 2 : 1; }

TEST_P(EveryDescribedMachine, IsNotFasterThanThePeakOfItsUnits)
{
    for (const CoreKind& kind : machine.kinds) {
        for (const KernelTime& kernel : machine.kernels) {
            if (kernel.on != kind.name) continue;
            EXPECT_LE(kernel.gflops, numbers(kernel) * kind.peak_gflops) << kernel.kernel << " on " << kernel.on;
        }
    }
    for (const KernelTime& kernel : machine.kernels) {
        if (kernel.on != "gpu") continue;
        EXPECT_LE(kernel.gflops, numbers(kernel) * machine.devices.at(0).peak_gflops) << kernel.kernel;
    }
}

TEST_P(EveryDescribedMachine, SaysForEachUnitTheSamePowerStatesOrNone)
{
    std::set<std::string> first;
    for (const PowerState& state : machine.kinds[0].power) first.insert(state.name);
    for (const CoreKind& kind : machine.kinds) {
        std::set<std::string> states;
        for (const PowerState& state : kind.power) states.insert(state.name);
        EXPECT_EQ(states, first) << kind.name;
    }
}

TEST_P(EveryDescribedMachine, NamesTheOriginOfItsFigures)
{
    std::ifstream stream(machine.origin);
    std::stringstream text;
    text << stream.rdbuf();
    EXPECT_THAT(text.str(), ::testing::ContainsRegex("estimate|published|datasheet|chosen"));
}

TEST_P(EveryDescribedMachine, IsTheSameWhenWrittenAndReadAgain)
{
    Machine again = parse_machine(machine_to_toml(machine), "again");
    again.origin = machine.origin;
    EXPECT_EQ(machine_to_json(again), machine_to_json(machine));
}

TEST_P(EveryDescribedMachine, ShowsItsNewPartsInJson)
{
    const std::string json = machine_to_json(machine);
    for (const char* key :
         {"\"kernels\":[{\"kernel\":", "\"junctions\":[", "\"models\":[", "\"base_w\":", "\"power\":[", "\"host\":0"})
        EXPECT_THAT(json, HasSubstr(key));
}

INSTANTIATE_TEST_SUITE_P(Of, EveryDescribedMachine, ::testing::ValuesIn(described_machines()), [](const auto& tested) {
    std::string name = tested.param;
    std::replace_if(
        name.begin(), name.end(), [](unsigned char c) { return !std::isalnum(c); }, '_');
    return name;
});

TEST(DescribedMachines, AreThoseOfThePublishedMeasurementsAndSomeOfToday)
{
    EXPECT_THAT(described_machines(), IsSupersetOf({"cluster", "exynos5422", "idgraf", "kunpeng920x2", "laptop-pe", "server-2s",
                                                    "uniform64", "uv2000"}));
}

/// As operations::potrf counts, which is of another wing.
Flops potrf(double n) { return n * n * n / 3 + n * n / 2 + n / 6; }

/// The published times are means over the calls of a run with n = 6144: 13 tile rows of 448 and a last one of 320.
TEST(Exynos5422, HasThePublishedKernelTimesInTheMeanOverARun)
{
    const Machine machine = load_machine("exynos5422");
    const double b = 448, last = 320;
    const struct {
        const char* kernel;
        double calls, calls_at_the_end;
        Flops flops, flops_at_the_end;
        double big_ms, little_ms, pair_ms;
    } published[] = {{"gemm", 286, 78, 2 * b * b * b, 2 * b * b * last, 89.43, 410.3, 79.22},
                     {"trsm", 78, 13, b * b * b, b * b * last, 48.27, 217.8, 42.99},
                     {"syrk", 78, 13, b * b * (b + 1), b * last * (last + 1), 47.22, 214.0, 44.54},
                     {"potrf", 13, 1, potrf(b), potrf(last), 94.49, 0, 83.96}};
    for (const auto& row : published) {
        const auto mean_ms = [&](const char* unit) {
            const KernelTime* known = find_kernel(machine, row.kernel, unit);
            const Seconds all = row.calls * known->time(row.flops) + row.calls_at_the_end * known->time(row.flops_at_the_end);
            return all / (row.calls + row.calls_at_the_end) * 1e3;
        };
        EXPECT_NEAR(mean_ms("cortex-a15"), row.big_ms, 1e-4) << row.kernel;
        EXPECT_NEAR(mean_ms("cortex-a15+cortex-a7"), row.pair_ms, 1e-4) << row.kernel;
        if (row.little_ms > 0) {
            EXPECT_NEAR(mean_ms("cortex-a7"), row.little_ms, 1e-4) << row.kernel;
        }
    }
    EXPECT_NEAR(find_kernel(machine, "potrf", "cortex-a7")->time(potrf(b)) * 1e3, 137.65, 1e-4) << "one sample, a whole tile";
}

/// How much faster than one big core a pair carries a kernel out that counts so many operations.
double gain_of_pair(const Machine& machine, const char* kernel, Flops flops)
{
    return find_kernel(machine, kernel, "cortex-a15")->time(flops) /
           find_kernel(machine, kernel, "cortex-a15+cortex-a7")->time(flops);
}

/// Published: below about 128 one big core alone is faster; from there on the pair is, its advantage levels off near 400 and is
/// then 0.3 to 0.5 GFlop/s.
TEST(Exynos5422, OnePairOfCoresAlonePassesOneBigCoreAtATileOf128)
{
    const Machine machine = load_machine("exynos5422-pair");
    const auto gain = [&](double b) { return gain_of_pair(machine, "gemm", 2 * b * b * b); };
    EXPECT_LT(gain(96), 0.98);
    EXPECT_NEAR(gain(128), 1, 0.005);
    EXPECT_GT(gain(192), 1.04);
    EXPECT_GT(gain(256) - gain(192), 2 * (gain(464) - gain(400))) << "per 64 rows: the advantage levels off";
    const double b = 448;
    for (const auto& [kernel, flops] : {std::pair("gemm", 2 * b * b * b), {"trsm", b * b * b}, {"syrk", b * b * (b + 1)}}) {
        const double big = flops / find_kernel(machine, kernel, "cortex-a15")->time(flops) * 1e-9;
        EXPECT_NEAR(big * (gain_of_pair(machine, kernel, flops) - 1), 0.4, 0.005) << kernel;
    }
}

/// As published for tiles of 448; the share is the same for all.
TEST(Exynos5422, FourPairsAtWorkAreSlowerThanOneByTheSameShareForTilesOfAllSizes)
{
    const Machine four = load_machine("exynos5422"), alone = load_machine("exynos5422-pair");
    for (const auto& [kernel, slower] : {std::pair("gemm", 1.071), {"trsm", 1.088}, {"syrk", 1.153}})
        for (const double flops : {1e5, 1e7, 1e9})
            EXPECT_NEAR(gain_of_pair(alone, kernel, flops) / gain_of_pair(four, kernel, flops), slower, 0.002) << kernel;
}

TEST(Exynos5422, RunsInEachOfTheThreeExecutionModels)
{
    const Machine machine = load_machine("exynos5422");
    EXPECT_THAT(cores_of_model(machine, "global"), SizeIs(8));
    EXPECT_THAT(cores_of_model(machine, "cluster-switching"), ElementsAre(4, 5, 6, 7));
    EXPECT_THAT(cores_of_model(machine, "cpu-migration"), SizeIs(4));
    std::set<int> pairs;
    for (const int core : cores_of_model(machine, "cpu-migration-mixed")) pairs.insert(core % 4);
    EXPECT_THAT(pairs, SizeIs(4)) << "one core of each pair";
}

TEST(Idgraf, LeavesFourCoresBesideEightGpusOnFourSharedLinks)
{
    const Machine machine = load_machine("idgraf");
    ASSERT_THAT(machine.devices, SizeIs(8));
    std::set<int> drivers;
    for (const Device& device : machine.devices) drivers.insert(device.host_core);
    EXPECT_THAT(drivers, SizeIs(8));
    EXPECT_FALSE(drivers.contains(-1));
    EXPECT_THAT(machine.cores, SizeIs(12));
    const Routes routes(machine);
    std::multiset<int> switch_links;
    for (int d = 0; d < 8; ++d) {
        const auto& route = routes.between(machine.devices[d].node, place_of_device(machine, d));
        ASSERT_THAT(route.links, SizeIs(3)) << "processor, hub, switch, GPU";
        switch_links.insert(route.links[1]);
        EXPECT_EQ(machine.cores[machine.devices[d].host_core].node, machine.devices[d].node);
    }
    for (const int link : switch_links) EXPECT_EQ(switch_links.count(link), 2u) << "two GPUs share the link of their switch";
    EXPECT_FALSE(routes.between(place_of_device(machine, 0), place_of_device(machine, 3)).over_memory) << "one hub";
    EXPECT_TRUE(routes.between(place_of_device(machine, 3), place_of_device(machine, 4)).over_memory) << "two processors";
}

TEST(Idgraf, PanelsRunOnCoresAndUpdatesOnBoth)
{
    const Machine machine = load_machine("idgraf");
    for (const char* panel : {"potrf", "getrf", "tstrf"}) EXPECT_EQ(find_kernel(machine, panel, "gpu0"), nullptr) << panel;
    for (const char* update : {"gemm", "syrk", "trsm", "gessm", "ssssm"}) {
        ASSERT_NE(find_kernel(machine, update, "gpu7"), nullptr) << update;
        ASSERT_NE(find_kernel(machine, update, "x5650"), nullptr) << update;
    }
}

TEST(Uv2000, HasEightNodesOfSixCores)
{
    const Machine machine = load_machine("uv2000");
    std::vector<int> cores(8);
    for (const Core& core : machine.cores) ++cores.at(core.node);
    EXPECT_THAT(cores, Each(6));
    const Routes routes(machine);
    EXPECT_LT(routes.between(0, 1).latency, routes.between(0, 2).latency) << "the neighbour on the blade is nearer";
}

TEST(Kunpeng920, HasThePublishedLatencies)
{
    const Machine machine = load_machine("kunpeng920x2");
    EXPECT_THAT(machine.cores, SizeIs(96));
    const Routes routes(machine);
    EXPECT_DOUBLE_EQ(routes.between(0, 1).latency, 156e-9);
    EXPECT_DOUBLE_EQ(routes.between(0, 2).latency, 241e-9);
    EXPECT_DOUBLE_EQ(routes.between(0, 3).latency, 293e-9);
}

TEST(Cluster, HostsDoNotReadEachOthersMemory)
{
    const Machine machine = load_machine("cluster");
    std::set<int> hosts;
    for (const MemoryNode& node : machine.nodes) hosts.insert(node.host);
    EXPECT_EQ(hosts.size(), machine.nodes.size());
}

} // namespace
} // namespace trencadis
