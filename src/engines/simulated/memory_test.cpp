// Data that move: devices, links, memory nodes.
#include "engines/simulated/testing.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace trencadis {
namespace {

using namespace testing;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr double ns = 1e-8;
constexpr double GB = 1e9;

/// One core that submits and knows no kernel, and devices of 1 GFlop/s, each with a link of 1 GB/s to a switch, which has one
/// such link to the memory.
Machine with_devices(int count, Bytes memory = 100 * GB)
{
    Machine machine = cores_of_speed({1});
    machine.kernels.clear();
    machine.kernels.push_back({"work", "gpu", 1});
    machine.kernels.push_back({"prepare", "kind0", 1});
    machine.junctions = {{"switch"}};
    machine.links = {{"node0", "switch", 1 * GB, 0.25}};
    for (int d = 0; d < count; ++d) {
        const std::string name = "gpu" + std::to_string(d);
        machine.devices.push_back({name, "gpu", 0, memory, 1, -1, {}});
        machine.links.push_back({"switch", name, 1 * GB, 0});
    }
    return machine;
}

/// `count` tasks of 1 s, each with 1 GB of its own.
void independent(Flow& flow, int count)
{
    static char data[64];
    for (int i = 0; i < count; ++i) flow.submit(work, Cost{1e9}, {readwrite(data + i, 1 * GB)});
}

std::string report_of(SimulatedRun run, const std::function<void(Flow&)>& submit)
{
    return in_own_process([&] {
        const SimulationReport report = run(submit);
        std::ostringstream text;
        text << report.makespan_s << " s, " << report.transfers << " transfers, " << report.bytes_moved * 1e-9 << " GB, local "
             << report.local_bytes * 1e-9 << " remote " << report.remote_bytes * 1e-9;
        return text.str();
    });
}

TEST(SimulatedMemory, BringsDataToADeviceFirst)
{
    TRC_NEEDS_SIMGRID;
    EXPECT_NEAR(makespan({with_devices(1)}, [](Flow& flow) { independent(flow, 1); }), 0.25 + 1 + 1, ns);
}

TEST(SimulatedMemory, SharesALinkBetweenTransfers)
{
    TRC_NEEDS_SIMGRID;
    // Both go over the link between memory and switch, at half its speed.
    EXPECT_NEAR(makespan({with_devices(2)}, [](Flow& flow) { independent(flow, 2); }), 0.25 + 2 + 1, ns);
}

TEST(SimulatedMemory, FetchesTheNextTasksDataWhileTheDeviceComputes)
{
    TRC_NEEDS_SIMGRID;
    SimulatedRun run{with_devices(1)};
    EXPECT_NEAR(makespan(run, [](Flow& flow) { independent(flow, 2); }), 2 * 1.25 + 1, ns);
    run.options.overlap = false;
    EXPECT_NEAR(makespan(run, [](Flow& flow) { independent(flow, 2); }), 2 * (1.25 + 1), ns);
}

TEST(SimulatedMemory, WithOneStreamADeviceDoesOneThingAtATime)
{
    TRC_NEEDS_SIMGRID;
    SimulatedRun run{with_devices(1)};
    run.options.one_stream = true;
    EXPECT_NEAR(makespan(run, [](Flow& flow) { independent(flow, 2); }), 2 * (1.25 + 1), ns);
}

TEST(SimulatedMemory, SharesANarrowMemoryBetweenAllWhoUseIt)
{
    TRC_NEEDS_SIMGRID;
    Machine machine = with_devices(2);
    machine.links = {{"node0", "gpu0", 1 * GB, 0}, {"node0", "gpu1", 1 * GB, 0}}; // a link each
    machine.junctions.clear();
    const auto two = [](Flow& flow) { independent(flow, 2); };
    EXPECT_NEAR(makespan({machine}, two), 1 + 1, ns);
    machine.nodes[0].bandwidth = 1 * GB;
    EXPECT_NEAR(makespan({machine}, two), 2 + 1, ns);
}

TEST(SimulatedMemory, TakesTheBandwidthOfTheDirection)
{
    TRC_NEEDS_SIMGRID;
    Machine machine = with_devices(1);
    machine.links[0].back = 0.5 * GB;
    static constexpr Codelet prepare = codelet_of<Cost>("prepare");
    EXPECT_NEAR(makespan({machine},
                         [](Flow& flow) {
                             static char x;
                             flow.submit(work, Cost{1e9}, {readwrite(&x, 1 * GB)});
                             flow.submit(prepare, Cost{1e9}, {read(&x, 1 * GB)});
                         }),
                (0.25 + 1) + 1 + (0.25 + 2) + 1, ns);
}

/// One device writes, both read.
void shared_result(Flow& flow)
{
    static char x;
    flow.submit(work, Cost{1e9}, {readwrite(&x, 1 * GB)});
    for (int i = 0; i < 2; ++i) flow.submit(work, Cost{1e9}, {read(&x, 1 * GB)});
}

TEST(SimulatedMemory, DevicesCopyToEachOtherOverTheirSwitch)
{
    TRC_NEEDS_SIMGRID;
    SimulatedRun run{with_devices(2)};
    EXPECT_NEAR(makespan(run, shared_result), (0.25 + 1 + 1) + 1 + 1, ns);
    run.options.peer = false; // by way of the memory
    EXPECT_NEAR(makespan(run, shared_result), (0.25 + 1 + 1) + 2 * (0.25 + 1) + 1, ns);
}

TEST(SimulatedMemory, DevicesOfDifferentProcessorsCopyByWayOfTheMemory)
{
    TRC_NEEDS_SIMGRID;
    Machine machine = with_devices(2);
    machine.nodes = {{"node0", 100 * GB}, {"node1", 100 * GB}};
    machine.junctions.clear();
    machine.links = {{"node0", "gpu0", 1 * GB, 0}, {"node0", "node1", 1 * GB, 0}, {"node1", "gpu1", 1 * GB, 0}};
    EXPECT_THAT(report_of({machine}, shared_result), HasSubstr("3 transfers, 3 GB")) << "to one, home, to the other";
}

/// Three devices, each with a link of its own, the third's four times as fast, and a kernel of its own.
Machine three_kinds()
{
    Machine machine = with_devices(3);
    machine.junctions.clear();
    machine.links = {{"node0", "gpu0", 1 * GB, 0}, {"node0", "gpu1", 1 * GB, 0}, {"node0", "gpu2", 4 * GB, 0}};
    for (int d = 0; d < 3; ++d) {
        machine.devices[std::size_t(d)].kind = "kind of gpu" + std::to_string(d);
        machine.kernels.push_back({"on gpu" + std::to_string(d), machine.devices[std::size_t(d)].kind, 1});
    }
    return machine;
}

constexpr Codelet on_first = codelet_of<Cost>("on gpu0"), on_second = codelet_of<Cost>("on gpu1"),
                  on_third = codelet_of<Cost>("on gpu2"), on_core = codelet_of<Cost>("prepare");
char first_result, second_result, third_result;

/// The first two devices write what the third reads.
void gathered(Flow& flow)
{
    flow.submit(on_first, Cost{1e9}, {readwrite(&first_result, 1 * GB)});
    flow.submit(on_second, Cost{1e9}, {readwrite(&second_result, 1 * GB)});
    flow.submit(on_third, Cost{1e9}, {read(&first_result, 1 * GB), read(&second_result, 1 * GB)});
}

TEST(SimulatedMemory, AThreadThatFetchesFromOtherDevicesDoesSoOneAfterTheOther)
{
    TRC_NEEDS_SIMGRID;
    SimulatedRun run{three_kinds()};
    EXPECT_NEAR(makespan(run, gathered), (1 + 1) + 1 + 2 * 0.25 + 1, ns);
    run.options.fetch_and_wait = true; // one of them has come to the third while the other one is fetched
    EXPECT_NEAR(makespan(run, gathered), (1 + 1) + 1 + 1 + 0.25 + 1, ns);
}

TEST(SimulatedMemory, AThreadThatFetchesNoticesAfterwardsThatAKernelHasEnded)
{
    TRC_NEEDS_SIMGRID;
    const auto beside = [](Flow& flow) {
        flow.submit(on_third, Cost{2.5e9}, {readwrite(&third_result, 1)}); // ends while the third fetches, from 2 to 4
        gathered(flow);
        flow.submit(on_core, Cost{3e9}, {read(&third_result, 1)});
    };
    SimulatedRun run{three_kinds()};
    EXPECT_NEAR(makespan(run, beside), 2.5 + 3, ns);
    run.options.fetch_and_wait = true;
    EXPECT_NEAR(makespan(run, beside), 4 + 3, ns);
}

TEST(SimulatedMemory, CoresLeaveToDevicesWhatTheseCanRunWhereThatIsAsked)
{
    TRC_NEEDS_SIMGRID;
    SimulatedRun run{with_devices(1)};
    run.machine.kernels.push_back({"work", "kind0", 1});
    const auto two = [](Flow& flow) { independent(flow, 2); };
    EXPECT_NEAR(makespan(run, two), 0.25 + 1 + 1, ns) << "one each";
    run.options.device_only = true;
    EXPECT_NEAR(makespan(run, two), 2 * 1.25 + 1, ns);
    EXPECT_NEAR(makespan(run, [](Flow& flow) { flow.submit(on_core, Cost{1e9}, {readwrite(&first_result, 1 * GB)}); }), 1, ns)
        << "which no device can run";
}

/// Who submits runs the task itself where a preset has enough of them, if it may.
TEST(SimulatedMemory, CoresThatAreThrottledLeaveToDevicesWhatTheseCanRun)
{
    TRC_NEEDS_SIMGRID;
    SimulatedRun run{with_devices(1), "libgomp:throttle=2"};
    run.machine.kernels.push_back({"work", "kind0", 1});
    run.options.device_only = true;
    run.flow.traits = parse_scheduler(run.scheduler).flow;
    EXPECT_NEAR(makespan(run, [](Flow& flow) { independent(flow, 6); }), 6 * 1.25 + 1, ns);
}

TEST(SimulatedMemory, RefusesADeviceInATeamOfCores)
{
    TRC_NEEDS_SIMGRID;
    const auto none = [](Flow&) {};
    EXPECT_THAT(report_of({with_devices(1), "virtual-cores:teams=0+1"}, none), HasSubstr("error: scheduler 'virtual-cores"));
    EXPECT_THAT(report_of({with_devices(1), "virtual-cores:teams=1+0"}, none), HasSubstr("gpu0 is in a team"));
    EXPECT_THAT(report_of({with_devices(1), "virtual-cores"}, none), Not(HasSubstr("error")));
}

TEST(SimulatedMemory, LeavesDataWhereTheyAre)
{
    TRC_NEEDS_SIMGRID;
    const auto twice = [](Flow& flow) {
        static char x;
        for (int i = 0; i < 2; ++i) flow.submit(work, Cost{1e9}, {readwrite(&x, 1 * GB)});
    };
    EXPECT_EQ(report_of({with_devices(1)}, twice), "3.25 s, 1 transfers, 1 GB, local 0 remote 0");
}

TEST(SimulatedMemory, BringsResultsBackToACoreThatNeedsThem)
{
    TRC_NEEDS_SIMGRID;
    static constexpr Codelet prepare = codelet_of<Cost>("prepare");
    const auto there_and_back = [](Flow& flow) {
        static char x;
        flow.submit(work, Cost{1e9}, {readwrite(&x, 1 * GB)});
        flow.submit(prepare, Cost{1e9}, {read(&x, 1 * GB)});
    };
    EXPECT_EQ(report_of({with_devices(1)}, there_and_back).substr(0, 24), "4.5 s, 2 transfers, 2 GB");
}

TEST(SimulatedMemory, EvictsWhatDoesNotFitAndWritesItBack)
{
    TRC_NEEDS_SIMGRID;
    // Memory for two of three data; each was written, so the first goes home before the third comes.
    const std::string report = report_of({with_devices(1, 2 * GB)}, [](Flow& flow) { independent(flow, 3); });
    EXPECT_THAT(report, HasSubstr("4 transfers, 4 GB"));
}

TEST(SimulatedMemory, CancelsWhatWaitsForADeviceWhenABodyThrows)
{
    TRC_NEEDS_SIMGRID;
    const std::string answer = report_of({with_devices(2)}, [](Flow& flow) {
        independent(flow, 20);
        throw std::runtime_error("from the body");
    });
    EXPECT_EQ(answer, "error: from the body");
}

TEST(SimulatedMemory, SaysWhichDataDoNotFit)
{
    TRC_NEEDS_SIMGRID;
    const std::string answer = report_of({with_devices(1, 0.5 * GB), "eager"}, [](Flow& flow) { independent(flow, 1); });
    EXPECT_THAT(answer, HasSubstr("error: "));
    EXPECT_THAT(answer, HasSubstr("'work'"));
}

/// Two memory nodes with a core each, 1 GB/s between them.
Machine two_nodes()
{
    Machine machine = cores_of_speed({1, 1});
    machine.nodes = {{"node0", 100 * GB}, {"node1", 100 * GB}};
    machine.cores[1].node = 1;
    machine.links = {{"node0", "node1", 1 * GB, 0}};
    return machine;
}

TEST(SimulatedMemory, UsesRemoteMemoryInPlaceAtTheSpeedOfTheLink)
{
    TRC_NEEDS_SIMGRID;
    const auto read_two = [](Flow& flow) {
        static char x, y;
        flow.submit(work, Cost{1e9}, {read(&x, 1 * GB)});
        flow.submit(work, Cost{1e9}, {read(&y, 1 * GB)});
    };
    EXPECT_EQ(report_of({two_nodes()}, read_two), "2 s, 0 transfers, 0 GB, local 1 remote 1");
    Machine narrow = two_nodes(); // four times half the memory's latency, where the link would take a second
    narrow.kinds[0].bytes_under_way = 0.25 * GB;
    narrow.links[0].latency = 0.5;
    EXPECT_EQ(report_of({narrow}, read_two), "3 s, 0 transfers, 0 GB, local 1 remote 1");
    narrow.kinds[0].bytes_under_way = 1 * GB; // once: that is over before the link has carried it
    EXPECT_EQ(report_of({narrow}, read_two), "2.5 s, 0 transfers, 0 GB, local 1 remote 1");
}

TEST(SimulatedMemory, CountsWhatIsReadAndWrittenByWhereItLies)
{
    TRC_NEEDS_SIMGRID;
    const auto update_two = [](Flow& flow) { // each alone at a time, on either core
        static char x, y;
        for (char* const datum : {&x, &y}) flow.submit(work, Cost{1e9}, {readwrite(datum, 1 * GB)});
    };
    const std::string text = in_own_process([&] {
        std::ostringstream rows;
        for (const SimulationReport::OfMemories& pair : SimulatedRun{two_nodes()}(update_two).traffic)
            rows << pair.at << " by " << pair.by << ": " << pair.read_bytes * 1e-9 << ' ' << pair.written_bytes * 1e-9 << ' '
                 << pair.copied_bytes << ", ";
        return rows.str();
    });
    EXPECT_EQ(text, "node0 by node0: 1 1 0, node0 by node1: 1 1 0, ");
}

TEST(SimulatedMemory, CopiesOperandsOnceForAllWhoReadThemOnANode)
{
    TRC_NEEDS_SIMGRID;
    const auto read_often = [](Flow& flow) {
        static char x;
        for (int i = 0; i < 8; ++i) flow.submit(work, Cost{1e9}, {read(&x, 1 * GB)});
    };
    SimulatedRun run{two_nodes()};
    EXPECT_THAT(report_of(run, read_often), HasSubstr(" 0 transfers")) << "read in place";
    run.options.copy_operands = true;
    EXPECT_THAT(report_of(run, read_often), HasSubstr(" 1 transfers, 1 GB"));
}

TEST(SimulatedMemory, SpreadsDataOverTheNodesInUseAlone)
{
    TRC_NEEDS_SIMGRID;
    const auto touch_eight = [](Flow& flow) {
        static char data[8];
        for (char& datum : data) flow.submit(work, Cost{1e9}, {read(&datum, 1)});
    };
    SimulatedRun run{two_nodes()};
    run.options.placement = "interleave";
    EXPECT_THAT(report_of(run, touch_eight), Not(HasSubstr("remote 0")));
    run.machine.cores[1].node = 0; // nobody works at node1
    EXPECT_THAT(report_of(run, touch_eight), HasSubstr("remote 0"));
}

TEST(SimulatedMemory, CountsNothingRemoteOnOneNode)
{
    TRC_NEEDS_SIMGRID;
    EXPECT_EQ(report_of({cores_of_speed({1, 1})}, [](Flow& flow) { independent(flow, 2); }),
              "1 s, 0 transfers, 0 GB, local 0 remote 0");
}

TEST(SimulatedMemory, TakesTheRouteOverSeveralLinks)
{
    TRC_NEEDS_SIMGRID;
    Machine machine = with_devices(1);
    machine.links[1].bandwidth = 0.5 * GB; // the narrowest link tells the speed
    machine.links[1].latency = 0.5;
    EXPECT_NEAR(makespan({machine}, [](Flow& flow) { independent(flow, 1); }), 0.75 + 2 + 1, ns);
}

} // namespace
} // namespace trencadis
