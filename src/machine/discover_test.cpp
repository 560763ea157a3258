#include "base/error.hpp"
#include "machine/machine.hpp"
#include "machine/testing.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <functional>
#include <thread>

namespace trencadis {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::TemporaryFolder;
using testing::WithVariable;

int cores_of_kind(const Machine& machine, int kind)
{
    return static_cast<int>(
        std::count_if(machine.cores.begin(), machine.cores.end(), [&](const Core& c) { return c.kind == kind; }));
}

/// What lstopo writes on a hybrid of 4 P-cores with two hardware threads each and 4 E-cores, cut down to what matters.
std::string hybrid_xml()
{
    std::string xml = R"(<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE topology SYSTEM "hwloc2.dtd">
<topology version="2.0">
<object type="Machine" os_index="0" cpuset="0x00000fff" complete_cpuset="0x00000fff" allowed_cpuset="0x00000fff" nodeset="0x00000001" complete_nodeset="0x00000001" allowed_nodeset="0x00000001" gp_index="1">
<object type="NUMANode" os_index="0" cpuset="0x00000fff" complete_cpuset="0x00000fff" nodeset="0x00000001" complete_nodeset="0x00000001" gp_index="2" local_memory="17179869184"/>
<object type="Package" os_index="0" cpuset="0x00000fff" complete_cpuset="0x00000fff" nodeset="0x00000001" complete_nodeset="0x00000001" gp_index="3">
<info name="CPUModel" value="Imaginary Hybrid"/>
)";
    const auto unit = [](const char* type, int index, int first_pu, int threads, int gp) {
        char text[300];
        const unsigned set = ((1u << threads) - 1) << first_pu;
        std::snprintf(text, sizeof text,
                      "<object type=\"%s\" os_index=\"%d\" cpuset=\"0x%08x\" complete_cpuset=\"0x%08x\" nodeset=\"0x00000001\" "
                      "complete_nodeset=\"0x00000001\" gp_index=\"%d\"",
                      type, index, set, set, gp);
        return std::string(text);
    };
    int gp = 10;
    for (int core = 0; core < 8; ++core) {
        const int threads = core < 4 ? 2 : 1, first = core < 4 ? 2 * core : core + 4;
        xml += unit("Core", core, first, threads, gp++) + ">\n";
        for (int t = 0; t < threads; ++t) xml += unit("PU", first + t, first + t, 1, gp++) + "/>\n";
        xml += "</object>\n";
    }
    return xml + R"(</object>
</object>
<cpukind cpuset="0x00000f00" forced_efficiency="0"><info name="CoreType" value="IntelAtom"/></cpukind>
<cpukind cpuset="0x000000ff" forced_efficiency="1"><info name="CoreType" value="IntelCore"/></cpukind>
</topology>
)";
}

TEST(DiscoverMachine, FindsAtLeastOneCoreAndOneMemoryNodeHere)
{
    const Machine machine = discover_machine();
    EXPECT_EQ(machine.origin, "discovered");
    ASSERT_FALSE(machine.cores.empty());
    ASSERT_FALSE(machine.nodes.empty());
    EXPECT_GT(machine.nodes[0].bytes, 0);
    for (const Core& core : machine.cores) {
        EXPECT_LT(core.kind, static_cast<int>(machine.kinds.size()));
        EXPECT_LT(core.node, static_cast<int>(machine.nodes.size()));
    }
}

TEST(DiscoverMachine, SeesBothMemoryNodesOfASyntheticMachine)
{
    const WithVariable synthetic("HWLOC_SYNTHETIC", "node:2 core:4 pu:1");
    const Machine machine = discover_machine();
    ASSERT_EQ(machine.cores.size(), 8u);
    ASSERT_EQ(machine.nodes.size(), 2u);
    for (int c = 0; c < 8; ++c) {
        EXPECT_EQ(machine.cores[c].cpu, c);
        EXPECT_EQ(machine.cores[c].node, c / 4);
    }
    EXPECT_EQ(machine.kinds.size(), 1u);
    EXPECT_EQ(machine.kinds[0].name, "core");
    EXPECT_THAT(machine.origin, HasSubstr("node:2 core:4 pu:1"));
}

TEST(DiscoverMachine, SaysWhichProcessorAMemoryNodeBelongsTo)
{
    const WithVariable synthetic("HWLOC_SYNTHETIC", "pack:2 node:2 core:2 pu:1");
    const Machine machine = discover_machine();
    ASSERT_EQ(machine.nodes.size(), 4u);
    for (int n = 0; n < 4; ++n) EXPECT_EQ(machine.nodes[n].package, n / 2);
}

TEST(DiscoverMachine, CountsCoresAndNotHardwareThreads)
{
    const WithVariable synthetic("HWLOC_SYNTHETIC", "node:1 core:4 pu:2");
    const Machine machine = discover_machine();
    ASSERT_EQ(machine.cores.size(), 4u);
    EXPECT_EQ(machine.cores[1].cpu, 2);
}

TEST(DiscoverMachine, ReadsSharedCachesWithTheirCores)
{
    const WithVariable synthetic("HWLOC_SYNTHETIC", "node:1 l3:1(size=8MB) l2:2(size=1MB) core:2 l1d:1(size=32kB) pu:1");
    const Machine machine = discover_machine();
    std::vector<Cache> shared;
    for (const Cache& cache : machine.caches)
        if (cache.level > 1) shared.push_back(cache);
    ASSERT_EQ(shared.size(), 3u);
    EXPECT_THAT(shared[0].cores, ElementsAre(0, 1));
    EXPECT_THAT(shared[1].cores, ElementsAre(2, 3));
    EXPECT_THAT(shared[2].cores, ElementsAre(0, 1, 2, 3));
    EXPECT_EQ(machine.caches.size(), 7u);
    EXPECT_GT(shared[2].bytes, shared[0].bytes);
}

TEST(DiscoverMachine, TellsPCoresFromECoresSlowestKindFirst)
{
    const TemporaryFolder folder;
    const WithVariable xml("HWLOC_XMLFILE", folder.write("hybrid.xml", hybrid_xml()));
    const WithVariable elsewhere("HWLOC_THISSYSTEM", "0");
    const Machine machine = discover_machine();
    ASSERT_EQ(machine.kinds.size(), 2u);
    EXPECT_EQ(machine.kinds[0].name, "E-core");
    EXPECT_EQ(machine.kinds[1].name, "P-core");
    ASSERT_EQ(machine.cores.size(), 8u);
    EXPECT_EQ(cores_of_kind(machine, 0), 4);
    EXPECT_EQ(cores_of_kind(machine, 1), 4);
    EXPECT_EQ(machine.cores[0].kind, 1);
    EXPECT_EQ(machine.cores[7].cpu, 11);
    EXPECT_THAT(machine.summary, HasSubstr("Imaginary Hybrid, 8 cores of 2 kinds"));
}

TEST(DiscoverMachine, RefusesASyntheticDescriptionThatHwlocCannotRead)
{
    const WithVariable synthetic("HWLOC_SYNTHETIC", "eight cores please");
    try {
        discover_machine();
        FAIL() << "this machine was returned in place of the one asked for";
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), ErrorCode::environment);
        EXPECT_THAT(error.what(), HasSubstr("eight cores please"));
    }
}

TEST(DiscoverMachine, RefusesAnXmlFileThatIsNotThere)
{
    const WithVariable xml("HWLOC_XMLFILE", "/nonexistent/machine.xml");
    EXPECT_THROW(discover_machine(), Error);
}

/// What `body` makes of the calling thread, in a process of its own, whose first thread it is.
int in_a_process(const std::function<bool()>& body)
{
    const pid_t child = fork();
    if (child == 0) _exit(body() ? 0 : 1);
    int status = -1;
    waitpid(child, &status, 0);
    return status;
}

bool bind_thread_to(int cpu)
{
    cpu_set_t mask;
    CPU_ZERO(&mask);
    CPU_SET(cpu, &mask);
    return sched_setaffinity(0, sizeof mask, &mask) == 0;
}

/// Only this core, alone in each of its caches.
bool is_reduced_to(const Machine& machine, int cpu)
{
    return machine.cores.size() == 1 && machine.cores[0].cpu == cpu &&
           std::all_of(machine.caches.begin(), machine.caches.end(),
                       [](const Cache& cache) { return cache.cores == std::vector<int>{0}; });
}

TEST(DiscoverMachine, ListsOnlyTheCoresOfTheProcessesAffinityMask)
{
    const Machine all = machine_at_hand();
    if (all.cores.size() < 2) GTEST_SKIP() << "needs two cores, this process may use " << all.cores.size();
    const int second = all.cores[1].cpu;
    EXPECT_EQ(in_a_process([&] { return bind_thread_to(second) && is_reduced_to(discover_machine(), second); }), 0);
    EXPECT_EQ(in_a_process([&] { return bind_thread_to(second) && is_reduced_to(machine_at_hand(), second); }), 0); // read before
    EXPECT_EQ(machine_at_hand().cores.size(), all.cores.size());
}

TEST(DiscoverMachine, TakesTheLargerMaskWhenAThreadIsBoundByItself)
{
    const Machine all = machine_at_hand();
    if (all.cores.size() < 2) GTEST_SKIP() << "needs two cores, this process may use " << all.cores.size();
    std::size_t read = 0, at_hand = 0;
    std::thread([&] {
        ASSERT_TRUE(bind_thread_to(all.cores[1].cpu));
        read = discover_machine().cores.size();
        at_hand = machine_at_hand().cores.size();
    }).join();
    EXPECT_EQ(read, all.cores.size());
    EXPECT_EQ(at_hand, all.cores.size());
    // The other way round: the first thread is bound, another may go everywhere.
    const auto first_bound = [&] {
        std::size_t cores = 0;
        std::thread other([&] {
            while (cores == 0) cores = machine_at_hand().cores.size();
        });
        const bool bound = bind_thread_to(all.cores[0].cpu);
        other.join();
        return bound && cores == all.cores.size();
    };
    EXPECT_EQ(in_a_process(first_bound), 0);
}

TEST(DiscoverMachine, SaysTheSameOfThisMachineWithAndWithoutDevices)
{
    Machine full = discover_machine();
    full.devices.clear();
    Machine at_hand = machine_at_hand();
    full.summary = at_hand.summary = "";
    EXPECT_EQ(machine_to_json(full), machine_to_json(at_hand));
}

} // namespace
} // namespace trencadis
