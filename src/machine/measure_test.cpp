#include "machine/fma_burst.hpp"
#include "machine/machine.hpp"
#include "machine/speed_cache.hpp"
#include "machine/split_kinds.hpp"
#include "machine/testing.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sched.h>

namespace trencadis {
namespace {

using testing::TemporaryFolder;
using testing::WithVariable;

Machine machine_with_speeds(std::vector<double> gflops)
{
    Machine machine;
    machine.kinds = {{"core", 0}};
    machine.nodes = {{"node0", 0}};
    for (std::size_t c = 0; c < gflops.size(); ++c) machine.cores.push_back({static_cast<int>(c), 0, 0, gflops[c]});
    return machine;
}

TEST(FmaBurst, CountsTheFlopsOfItsRounds)
{
    EXPECT_GT(fma_burst(1), 0);
    EXPECT_EQ(fma_burst(10), 10 * fma_burst(1));
}

TEST(FmaPeak, IsFoundOnce)
{
    const double peak = fma_peak();
    EXPECT_GT(peak, 1e8);
    EXPECT_LT(peak, 1e13);
    EXPECT_EQ(fma_peak(), peak);
}

TEST(MeasureSpeed, GivesEveryCoreASpeedAndEveryKindAPeak)
{
    const TemporaryFolder folder;
    const WithVariable cache("XDG_CACHE_HOME", folder.path().string());
    Machine machine = discover_machine();
    measure_speed(machine);
    for (const Core& core : machine.cores) {
        EXPECT_GT(core.gflops, 0.01);
        EXPECT_LE(core.gflops, machine.kinds[core.kind].peak_gflops);
    }
}

TEST(MeasureSpeed, ReadsTheHostsFileUnlessToldToMeasureAfresh)
{
    const TemporaryFolder folder;
    const WithVariable cache("XDG_CACHE_HOME", folder.path().string());
    Machine machine = discover_machine();
    measure_speed(machine);
    std::filesystem::path file;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(folder.path()))
        if (entry.is_regular_file()) file = entry.path();
    ASSERT_FALSE(file.empty()) << "nothing was kept";
    CoreSpeeds speeds = read_speeds(file);
    ASSERT_EQ(speeds.size(), machine.cores.size());
    for (auto& [cpu, gflops] : speeds) gflops = 12345;
    ASSERT_TRUE(write_speeds(file, speeds));

    Machine again = discover_machine();
    measure_speed(again);
    EXPECT_EQ(again.cores[0].gflops, 12345);
    measure_speed(again, true);
    EXPECT_LT(again.cores[0].gflops, 12345);
}

TEST(MeasureSpeed, WorksWhereNothingCanBeKept)
{
    const WithVariable cache("XDG_CACHE_HOME", "/proc/nowhere");
    Machine machine = discover_machine();
    measure_speed(machine);
    EXPECT_GT(machine.cores[0].gflops, 0);
}

TEST(MeasureSpeed, LeavesTheCallersAffinityAlone)
{
    const TemporaryFolder folder;
    const WithVariable cache("XDG_CACHE_HOME", folder.path().string());
    cpu_set_t before, after;
    ASSERT_EQ(sched_getaffinity(0, sizeof before, &before), 0);
    Machine machine = discover_machine();
    measure_speed(machine, true);
    ASSERT_EQ(sched_getaffinity(0, sizeof after, &after), 0);
    EXPECT_TRUE(CPU_EQUAL(&before, &after));
}

TEST(MeasureSpeed, DoesNotTouchADescribedMachine)
{
    Machine machine = machine_with_speeds({0, 0});
    machine.origin = "machines/imaginary.toml";
    measure_speed(machine, true);
    EXPECT_EQ(machine.cores[0].gflops, 0);
}

TEST(SpeedCache, ADamagedFileCountsAsNone)
{
    const TemporaryFolder folder;
    for (const char* text :
         {"", "{}", "0", "0 fast", "zero 1", "0 -1", "0 0", "0 1e999", "0 nan", "-1 5", "0 5 1", "0 5\n0 6", "0 5\n1 x"})
        EXPECT_TRUE(read_speeds(folder.write("host.speeds", text)).empty()) << text;
    EXPECT_TRUE(read_speeds(folder.path() / "absent.speeds").empty());
}

TEST(SpeedCache, AnotherProcessorUnderTheSameHostNameHasAnotherFile)
{
    EXPECT_NE(speed_cache_path("host", "old processor"), speed_cache_path("host", "new processor"));
    EXPECT_EQ(speed_cache_path("host", "processor"), speed_cache_path("host", "processor"));
}

TEST(SplitKinds, KeepsOneKindWhereSpeedsDifferLessThanAQuarter)
{
    Machine machine = machine_with_speeds({50, 48, 45, 55});
    split_kinds(machine);
    ASSERT_EQ(machine.kinds.size(), 1u);
    EXPECT_EQ(machine.kinds[0].name, "core");
    EXPECT_EQ(machine.kinds[0].peak_gflops, 55);
}

TEST(SplitKinds, SplitsCoresThatAreTwiceAsFastIntoAKindOfTheirOwnSlowestFirst)
{
    Machine machine = machine_with_speeds({60, 30, 58, 31});
    split_kinds(machine);
    ASSERT_EQ(machine.kinds.size(), 2u);
    EXPECT_EQ(machine.kinds[0].peak_gflops, 31);
    EXPECT_EQ(machine.kinds[1].peak_gflops, 60);
    EXPECT_NE(machine.kinds[0].name, machine.kinds[1].name);
    EXPECT_EQ(machine.cores[0].kind, 1);
    EXPECT_EQ(machine.cores[1].kind, 0);
    EXPECT_EQ(machine.cores[2].kind, 1);
    EXPECT_EQ(machine.cores[3].kind, 0);
}

TEST(SplitKinds, KeepsTheKindsThatHwlocToldApart)
{
    Machine machine = machine_with_speeds({60, 61, 24, 25});
    machine.kinds = {{"E-core", 0}, {"P-core", 0}};
    machine.cores[0].kind = machine.cores[1].kind = 1;
    split_kinds(machine);
    ASSERT_EQ(machine.kinds.size(), 2u);
    EXPECT_EQ(machine.kinds[0].name, "E-core");
    EXPECT_EQ(machine.kinds[0].peak_gflops, 25);
    EXPECT_EQ(machine.kinds[1].peak_gflops, 61);
}

TEST(SplitKinds, LeavesUnmeasuredCoresInTheirKind)
{
    Machine machine = machine_with_speeds({0, 60, 0, 60});
    split_kinds(machine);
    ASSERT_EQ(machine.kinds.size(), 1u);
    EXPECT_EQ(machine.kinds[0].peak_gflops, 60);
}

} // namespace
} // namespace trencadis
