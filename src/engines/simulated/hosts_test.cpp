#include "base/sanitized.hpp"
#include "engines/messages/message_flow.hpp"
#include "engines/simulated/testing.hpp"

#include <gtest/gtest.h>

namespace trencadis {
namespace {

using testing::Cost;
using testing::in_own_process;
using testing::work;

constexpr double latency = 1e-3, bandwidth = 1e6;

/// Hosts of two cores of 1 GFlop/s at one switch: two links from host to host.
Machine cluster(int hosts, int streams = 1)
{
    Machine machine = testing::cores_of_speed(std::vector<double>(std::size_t(2 * hosts), 1));
    machine.nodes.clear();
    for (int host = 0; host < hosts; ++host) {
        machine.nodes.push_back({"host" + std::to_string(host), 1e12, host});
        machine.cores[2 * host].node = machine.cores[2 * host + 1].node = host;
    }
    machine.network = Network{.bandwidth = bandwidth, .latency = latency, .streams = streams};
    machine.network->down = {hosts};
    machine.network->up = machine.network->parallel = {1};
    return machine;
}

std::string answer(const Machine& machine, const std::function<void(Flow&)>& submit,
                   const std::function<std::string(const SimulationReport&)>& told, const SimulationOptions& options = {},
                   const std::string& scheduler = "eager")
{
    return in_own_process([&] {
        EngineParts parts{{}, parse_scheduler(scheduler), nullptr};
        parts.machine = &machine;
        parts.simulation = options;
        for (int core = 0; core < static_cast<int>(machine.cores.size()); ++core) parts.workers.push_back({core, 0, "kind0", 1});
        const auto engine = find_entry("engine", engine_entries(), "simulated").make(std::move(parts));
        engine->run({}, submit);
        return told(engine->simulation()->simulation_report());
    });
}

double seconds(const Machine& machine, const std::function<void(Flow&)>& submit, const SimulationOptions& options = {})
{
    const auto told = [](const SimulationReport& report) { return std::to_string(report.makespan_s); };
    return std::stod(answer(machine, submit, told, options));
}

char memory[8];
Datum datum(int number, int owner, Bytes bytes = bandwidth)
{
    return Datum(&memory[number], bytes).owned_by(static_cast<std::int16_t>(owner)).at_home(named_only);
}
void compute(Flow& flow, std::initializer_list<Access> accesses, double time = 1)
{
    flow.submit(work, Cost{time * 1e9}, accesses);
}

TEST(SimulatedHosts, WaitForAMessageAsLongAsTheNetworkTakes)
{
    TRC_NEEDS_SIMGRID;
    const auto chain = [](Flow& flow) {
        compute(flow, {readwrite(datum(0, 0))});
        compute(flow, {read(datum(0, 0)), readwrite(datum(1, 1))});
    };
    EXPECT_NEAR(seconds(cluster(2), chain), 1 + (1 + 2 * latency) + 1, 1e-6);
    EXPECT_NEAR(seconds(cluster(2), chain, {.free_network = true}), 2, 1e-6);
}

TEST(SimulatedHosts, SendAsSoonAsTheDatumIsWrittenWhateverElseTheReaderWaitsFor)
{
    TRC_NEEDS_SIMGRID;
    const auto graph = [](Flow& flow) {
        compute(flow, {readwrite(datum(0, 0))});
        compute(flow, {readwrite(datum(1, 1))}, 5);
        compute(flow, {read(datum(0, 0)), readwrite(datum(1, 1))});
    };
    EXPECT_NEAR(seconds(cluster(2), graph), 6, 1e-6);
}

TEST(SimulatedHosts, SendOneMessageAtATimePerStream)
{
    TRC_NEEDS_SIMGRID;
    const auto fan = [](Flow& flow) {
        compute(flow, {readwrite(datum(0, 0))});
        for (int host = 1; host < 3; ++host) compute(flow, {read(datum(0, 0)), readwrite(datum(host, host))});
    };
    // One after the other the second one waits for the first one's latency as well; side by side they share the way out.
    EXPECT_NEAR(seconds(cluster(3, 1), fan), 1 + 2 * (1 + 2 * latency) + 1, 1e-6);
    EXPECT_NEAR(seconds(cluster(3, 2), fan), 1 + (2 + 2 * latency) + 1, 1e-6);
}

TEST(SimulatedHosts, SendTheMostUrgentFirst)
{
    TRC_NEEDS_SIMGRID;
    const auto two = [](Flow& flow) {
        compute(flow, {write(datum(0, 0)), write(datum(1, 0))});
        compute(flow, {read(datum(0, 0)), readwrite(datum(2, 1))});
        flow.submit(work, Cost{5e9}, {read(datum(1, 0)), readwrite(datum(3, 2))}, {.priority = 100});
    };
    EXPECT_NEAR(seconds(cluster(3), two), 1 + (1 + 2 * latency) + 5, 1e-6);
}

TEST(SimulatedHosts, SendHomeWhatWasWrittenElsewhere)
{
    TRC_NEEDS_SIMGRID;
    const auto graph = [](Flow& flow) {
        compute(flow, {readwrite(datum(1, 1)), readwrite(datum(0, 0))});
        compute(flow, {readwrite(datum(1, 1))});
    };
    const auto told = [](const SimulationReport& report) {
        return std::to_string(report.makespan_s) + " " + std::to_string(report.hosts[0].messages_sent) + " " +
               std::to_string(report.hosts[1].messages_sent) + " " + std::to_string(int(report.hosts[0].peak_bytes));
    };
    EXPECT_EQ(answer(cluster(2), graph, told), "4.004000 1 1 2000000");
}

TEST(SimulatedHosts, KeepACopyUntilItsLastReaderHasEnded)
{
    TRC_NEEDS_SIMGRID;
    const auto graph = [](Flow& flow) { // four data that host 1 needs one after the other
        for (int i = 0; i < 4; ++i) {
            compute(flow, {readwrite(datum(i, 0)), readwrite(datum(7, 0))}, 10);
            compute(flow, {read(datum(i, 0)), readwrite(datum(6, 1))});
        }
    };
    const auto told = [](const SimulationReport& report) {
        return std::to_string(int(report.hosts[0].owned_bytes)) + " " + std::to_string(int(report.hosts[1].peak_bytes));
    };
    EXPECT_EQ(answer(cluster(2), graph, told), "5000000 2000000");
}

TEST(SimulatedHosts, EndWithWhatATaskHasThrownInItsBody)
{
    TRC_NEEDS_SIMGRID;
    const auto broken = [](Flow& flow) {
        compute(flow, {readwrite(datum(0, 0))});
        compute(flow, {read(datum(0, 0)), readwrite(datum(1, 1))});
        throw Error(ErrorCode::bad_argument, "no more");
    };
    EXPECT_EQ(answer(cluster(2), broken, [](const SimulationReport&) { return std::string("none"); }), "error: no more");
}

/// 64 hosts with so many cores each, none of which has much to do.
std::string answer_of_cores(int cores_of_a_host)
{
    Machine machine = cluster(64);
    const Core any = machine.cores.front();
    machine.cores.clear();
    for (int host = 0; host < 64; ++host)
        for (int core = 0; core < cores_of_a_host; ++core)
            machine.cores.push_back({static_cast<int>(machine.cores.size()), any.kind, host});
    const auto submit = [](Flow& flow) { compute(flow, {read(datum(0, 0)), readwrite(datum(1, 63))}); };
    return answer(machine, submit, [](const SimulationReport& report) { return std::to_string(report.workers.size()); });
}

/// A stack per core, each with a page behind it that traps, are more mappings than Linux gives to a process.
TEST(SimulatedHosts, MayHaveManyThousandsOfCoresAndNoMoreThanWasTried)
{
    TRC_NEEDS_SIMGRID;
    if (sanitized) GTEST_SKIP() << "each core is a thread of the system there";
    EXPECT_EQ(answer_of_cores(512), "32768");
    EXPECT_EQ(answer_of_cores(513), "error: test has 32832 cores, and simulations of up to 32768 are known to work");
}

TEST(SimulatedHosts, RefuseTeamsOverSeveralOfThem)
{
    TRC_NEEDS_SIMGRID;
    const auto none = [](Flow&) {};
    const auto told = [](const SimulationReport&) { return std::string("made"); };
    EXPECT_NE(answer(cluster(2), none, told, {}, "virtual-cores:teams=0+2").find("each of its hosts has one of its own"),
              std::string::npos);
}

} // namespace
} // namespace trencadis
