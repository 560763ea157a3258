// A graph moves the same bytes in virtual time and on devices.
#include "algorithms/forms/incremental.hpp"
#include "algorithms/gemm.hpp"
#include "algorithms/potrf.hpp"
#include "base/sanitized.hpp"
#include "engines/simulated/testing.hpp"
#include "follow_simulation.hpp"
#include "on_devices.hpp"

#include <gtest/gtest.h>

#include <random>

namespace trencadis::testing {
namespace {

/// Cores that know all kernels and devices that know some, ten times as fast. Links differ, so that two
/// things hardly ever happen at one time.
Machine cores_and_devices(int cores, int devices, Bytes memory)
{
    Machine machine = cores_of_speed(std::vector<double>(std::size_t(cores), 1.0));
    machine.kernels.clear();
    for (const char* kernel : {"potrf", "getrf", "tstrf", "gemm", "syrk", "herk", "trsm", "gessm", "ssssm"})
        machine.kernels.push_back({kernel, "kind0", 1});
    for (const char* kernel : {"gemm", "syrk", "herk", "trsm", "gessm", "ssssm"}) machine.kernels.push_back({kernel, "gpu", 10});
    for (int d = 0; d < devices; ++d) {
        const std::string name = "gpu" + std::to_string(d);
        machine.devices.push_back({name, "gpu", 0, memory, 10, -1, {}});
        machine.links.push_back({"node0", name, 1.03e9 + 0.07e9 * d, 1.3e-6 + 1.1e-7 * d, 0.97e9 - 0.05e9 * d});
    }
    return machine;
}

struct Operands {
    static constexpr Index n = 150, nb = 32;
    std::vector<double> A = random_matrix(0, 1), B = random_matrix(0, 2), C = random_matrix(0, 3), S = random_matrix(2.0 * n, 4),
                        L = random_matrix(0, 5);
    Place::Operand of_lu{L.data(), n};
    Place place{std::span(&of_lu, 1)};
    IncrementalLayout<double> lu{place, {.m = n, .n = n, .nb = nb, .inner = 16}};

    void submit(const std::string& graph, Flow& flow)
    {
        if (graph == "gemm") gemm(flow, 2.0, tiles(A), tiles(B), -1.0, tiles(C));
        if (graph == "potrf") potrf(flow, tiles(S));
        if (graph == "getrf") lu.submit(flow);
    }
    bool operator==(const Operands& other) const { return C == other.C && S == other.S && L == other.L; }

private:
    static std::vector<double> random_matrix(double diagonal, unsigned seed)
    {
        std::minstd_rand random(seed);
        std::uniform_real_distribution<double> spread(-1, 1);
        std::vector<double> all(std::size_t(n * n));
        for (double& x : all) x = spread(random);
        for (Index i = 0; i < n; ++i) all[std::size_t(i * (n + 1))] += diagonal;
        return all;
    }
    static TileMatrix<double> tiles(std::vector<double>& of) { return TileMatrix<double>({of.data(), n, n, n}, nb, nb); }
};

/// Lines of the events, and behind them of each device what went there, what came from it, and what would still have to.
std::vector<std::string> simulated_lines(SimulatedRun run, const std::function<void(Flow&)>& submit)
{
    std::istringstream text(in_own_process([&] {
        std::ostringstream out;
        run.memory_log = [&](const MemoryEvent& event) { out << text_of(event) << '\n'; };
        for (const SimulationReport::OfDevice& device : run(submit).devices)
            out << std::int64_t(device.to) << ' ' << std::int64_t(device.from + device.left) << '\n';
        return out.str();
    }));
    std::vector<std::string> lines;
    for (std::string line; std::getline(text, line);) lines.push_back(line);
    return lines;
}

struct Case {
    const char *graph, *scheduler;
    int cores, devices;
    Bytes tiles; ///< that a device has room for
    int slots;
};
std::ostream& operator<<(std::ostream& out, const Case& its)
{
    return out << its.graph << " under " << its.scheduler << ", " << its.cores << " cores, " << its.devices
               << " devices with room for " << its.tiles << " tiles, " << its.slots << " tasks ahead";
}

void expect_same_bytes(const Case& its)
{
    constexpr Bytes tile = Operands::nb * Operands::nb * 8;
    SimulatedRun run{cores_and_devices(its.cores, its.devices, its.tiles * tile), its.scheduler};
    run.options.overlap = its.slots > 1;
    Operands seen, expected;
    std::vector<std::string> lines = simulated_lines(run, [&](Flow& flow) { seen.submit(its.graph, flow); });
    ASSERT_GT(lines.size(), 100u) << its << ": " << (lines.empty() ? "" : lines.front());
    const std::vector<std::string> traffic(lines.end() - its.devices, lines.end());
    lines.resize(lines.size() - std::size_t(its.devices));

    FollowSimulation native(its.devices, its.tiles * tile, {.slots = its.slots});
    ASSERT_NO_THROW(native.follow(lines, [&](Flow& flow) { seen.submit(its.graph, flow); })) << its;
    for (int d = 0; d < its.devices; ++d) {
        const DeviceTraffic counted = native.traffic()[std::size_t(d)];
        const auto text = [](Bytes to, Bytes from) {
            return std::to_string(std::int64_t(to)) + ' ' + std::to_string(std::int64_t(from));
        };
        EXPECT_EQ(text(counted.to, counted.from), traffic[std::size_t(d)]) << its << ", device " << d;
        const StepwiseDevice& device = native.device(d);
        EXPECT_EQ(text(device.moved(devices::Queue::in), device.moved(devices::Queue::out)), traffic[std::size_t(d)]) << its;
    }
    OnDevices cores("", "eager", 1);
    cores.run([&](Flow& flow) { expected.submit(its.graph, flow); });
    EXPECT_TRUE(seen == expected) << its << ": other numbers";
}

TEST(SameBytes, InTheOrderOfEventsOfASimulationExactly)
{
    TRC_NEEDS_SIMGRID;
    std::vector<const char*> schedulers{"h2", "eager", "mosaic", "locality-default", "h1", "dmda", "heft"};
    if (sanitized) schedulers.resize(2);
    for (const char* graph : {"gemm", "potrf", "getrf"})
        for (const char* scheduler : schedulers)
            for (const Bytes tiles : {5, 9, 1000})
                for (const Case& its : {Case{graph, scheduler, 1, 2, tiles, 1}, Case{graph, scheduler, 2, 3, tiles, 2}}) {
                    expect_same_bytes(its);
                    if (HasFatalFailure() || HasNonfatalFailure()) return;
                }
}

} // namespace
} // namespace trencadis::testing
