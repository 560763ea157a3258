// Graphs on many hosts: what they send, counted apart from the flow that sends it.
#include "base/sanitized.hpp"
#include "engines/simulated/testing.hpp"
#include "simulation/simulated_hosts.hpp"
#include "simulation/simulation.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

namespace trencadis {
namespace {

using ::testing::HasSubstr;
using testing::in_own_process;

constexpr Index nb = 10;
constexpr TileOwners::Rule block_cyclic = TileOwners::Rule::block_cyclic, symmetric = TileOwners::Rule::symmetric;

Machine cluster(int hosts, Network::Kind kind = Network::Kind::fat_tree)
{
    Machine machine = testing::cores_of_speed(std::vector<double>(std::size_t(2 * hosts), 1));
    machine.origin = "test.toml";
    machine.kernels.clear();
    for (const char* kernel : {"potrf", "trsm", "syrk", "gemm", "getrf_nopiv", "getrf", "gessm", "tstrf", "ssssm"})
        machine.kernels.push_back({kernel, "kind0", 1});
    machine.nodes.clear();
    for (int host = 0; host < hosts; ++host) {
        machine.nodes.push_back({fmt::format("host{}", host), 1e9, host});
        machine.cores[2 * host].node = machine.cores[2 * host + 1].node = host;
    }
    Network network{.kind = kind, .bandwidth = 1e10, .latency = 1e-6};
    network.down = {4, 8};
    network.up = {1, 2};
    network.parallel = {1, 1};
    network.groups = network.routers = network.router_hosts = 4;
    network.chassis = 2;
    network.group_links = network.chassis_links = network.router_links = 1;
    machine.network = network;
    return machine;
}

SimulationRequest request_for(const char* routine, Index tiles, TileOwners owners, int hosts = 32)
{
    SimulationRequest request;
    request.described = cluster(hosts);
    request.routine = routine;
    request.n = tiles * nb;
    request.nb = nb;
    request.owners = owners;
    return request;
}

std::string told(const SimulationResult& result)
{
    std::string text = fmt::format("{} tasks, {} messages, {} bytes;", result.tasks, result.transfers, result.bytes_moved);
    for (const SimulationReport::OfHost& host : result.hosts) text += fmt::format(" {}", host.messages_sent);
    return text;
}

/// What each host sends where a tile goes once, when it has its last value, to the others that read it.
class Sent {
public:
    explicit Sent(const TileOwners& owners) : owners_(owners), of_host_(std::size_t(owners.processes())) {}

    template <class Readers> void count(Index i, Index j, const Readers& readers)
    {
        std::set<int> hosts;
        readers(hosts);
        hosts.erase(owners_(i, j));
        of_host_[std::size_t(owners_(i, j))] += Index(hosts.size());
    }
    std::string text(Index tasks) const
    {
        Index all = 0;
        for (const Index messages : of_host_) all += messages;
        return fmt::format("{} tasks, {} messages, {} bytes; {}", tasks, all, double(all * nb * nb * 8),
                           fmt::join(of_host_, " "));
    }

private:
    const TileOwners owners_;
    std::vector<Index> of_host_;
};

/// L_kk goes to the tiles below it; L_ik to row i, and as the transpose to column i, of what is left.
std::string cholesky_by_hand(const TileOwners& owners, Index t)
{
    Sent sent(owners);
    for (Index k = 0; k < t; ++k)
        for (Index i = k; i < t; ++i)
            sent.count(i, k, [&](std::set<int>& hosts) {
                for (Index j = k + 1; j < t; ++j) hosts.insert(i == k ? owners(j, k) : owners(std::max(i, j), std::min(i, j)));
            });
    return sent.text(t + t * (t - 1) + t * (t - 1) * (t - 2) / 6);
}

/// The diagonal goes to its row and its column, L_ik to row i and U_kj to column j.
std::string lu_by_hand(const TileOwners& owners, Index t)
{
    Sent sent(owners);
    for (Index k = 0; k < t; ++k) {
        sent.count(k, k, [&](std::set<int>& hosts) {
            for (Index i = k + 1; i < t; ++i) hosts.insert({owners(i, k), owners(k, i)});
        });
        for (Index i = k + 1; i < t; ++i) {
            sent.count(i, k, [&](std::set<int>& hosts) {
                for (Index j = k + 1; j < t; ++j) hosts.insert(owners(i, j));
            });
            sent.count(k, i, [&](std::set<int>& hosts) {
                for (Index j = k + 1; j < t; ++j) hosts.insert(owners(j, i));
            });
        }
    }
    Index tasks = 0;
    for (Index k = 0; k < t; ++k) tasks += 1 + 2 * k + k * k;
    return sent.text(tasks);
}

TEST(SimulatedHosts, SendWhatTheOwnersOfTheTilesSay)
{
    TRC_NEEDS_SIMGRID;
    for (const TileOwners& owners : {TileOwners{1, 1},
                                     {2, 2},
                                     {2, 3},
                                     {3, 2},
                                     {1, 5},
                                     {4, 8},
                                     {.grid_rows = 3, .grid_cols = 3, .rule = symmetric},
                                     {.grid_rows = 4, .grid_cols = 4, .rule = symmetric},
                                     {.grid_rows = 7, .grid_cols = 7, .rule = symmetric}})
        for (const Index tiles : {Index(1), Index(4), Index(11)}) {
            SCOPED_TRACE(fmt::format("{}x{}, {} tiles", owners.grid_rows, owners.grid_cols, tiles));
            const auto answer = [&](const char* routine) {
                return in_own_process([&] { return told(simulate(request_for(routine, tiles, owners))); });
            };
            EXPECT_EQ(answer("potrf"), cholesky_by_hand(owners, tiles));
            if (owners.rule == block_cyclic && tiles > 1) {
                EXPECT_EQ(answer("getrf"), lu_by_hand(owners, tiles));
            }
        }
}

TEST(SimulatedHosts, SendTheSameOverEveryNetworkAndAreDeterministic)
{
    TRC_NEEDS_SIMGRID;
    SimulationRequest request = request_for("potrf", 12, {4, 5});
    const auto timed = [&] {
        return in_own_process([&] {
            const auto r = simulate(request);
            return fmt::format("{} {}", r.makespan_s, told(r));
        });
    };
    const std::string tree = timed();
    EXPECT_EQ(timed(), tree);
    request.described = cluster(32, Network::Kind::dragonfly);
    const std::string fly = timed();
    EXPECT_EQ(timed(), fly);
    request.options.free_network = true;
    const std::string free = timed();
    const auto counts = [](const std::string& text) { return text.substr(text.find(' ')); };
    EXPECT_EQ(counts(fly), counts(tree));
    EXPECT_EQ(counts(free), counts(tree));
    EXPECT_LT(std::stod(free), std::stod(tree));
}

TEST(SimulatedHosts, RunLuByIncrementsWithItsTilesThatTwoHostsWrite)
{
    TRC_NEEDS_SIMGRID;
    SimulationRequest request = request_for("getrf", 6, {2, 3});
    request.variant = "incremental";
    EXPECT_THAT(in_own_process([&] { return told(simulate(request)); }), HasSubstr("91 tasks"));
}

TEST(SimulatedHosts, HoldTheirTilesAndNoMoreThanTheWholeMatrix)
{
    TRC_NEEDS_SIMGRID;
    const auto memory = [](const SimulationResult& result) {
        Bytes owned = 0, most = 0;
        for (const SimulationReport::OfHost& host : result.hosts) {
            owned += host.owned_bytes;
            most = std::max(most, host.peak_bytes);
        }
        return fmt::format("{} {}", owned, most > owned / double(result.hosts.size()) && most < owned);
    };
    EXPECT_EQ(in_own_process([&] { return memory(simulate(request_for("potrf", 12, {2, 2}))); }), "62400 true");
}

std::string refusal(const SimulationRequest& request)
{
    return in_own_process([&] { return told(simulate(request)); });
}

/// 46 TB, which are addresses alone: what names copies must lie beyond them. ThreadSanitizer leaves a process fewer.
TEST(SimulatedHosts, HaveNamesForCopiesThatNoTileHas)
{
    TRC_NEEDS_SIMGRID;
    const auto counts = [](Index size) {
        SimulationRequest request = request_for("potrf", 12, {4, 8});
        for (MemoryNode& node : request.described->nodes) node.bytes = 1e14;
        request.n *= size, request.nb *= size;
        return in_own_process([&] {
            const SimulationResult result = simulate(request);
            return fmt::format("{} tasks, {} messages", result.tasks, result.transfers);
        });
    };
    EXPECT_EQ(counts(sanitized ? 2000 : 20000), counts(1));
}

/// A writer waits for nobody who reads a copy, so the longest chain is shorter than in one memory.
TEST(SimulatedHosts, StayBelowTheirBounds)
{
    TRC_NEEDS_SIMGRID;
    SimulationRequest request = request_for("lauum", 8, {4, 4});
    request.described->kernels.push_back({"lauum", "kind0", 1});
    request.described->kernels.push_back({"trmm", "kind0", 1});
    request.options.free_network = true;
    EXPECT_EQ(in_own_process([&] {
                  const SimulationResult result = simulate(request);
                  return result.makespan_s >= result.bounds.time_s() * (1 - 1e-9)
                             ? std::string("yes")
                             : fmt::format("{} s, bound {} s", result.makespan_s, result.bounds.time_s());
              }),
              "yes");
}

TEST(SimulatedHosts, RefuseWhatTheyCannotDo)
{
    TRC_NEEDS_SIMGRID;
    EXPECT_THAT(refusal(request_for("potrf", 4, {5, 7})), HasSubstr("grid 5x7 needs 35 hosts, and test has 32"));
    EXPECT_THAT(refusal(request_for("potrf", 4, {.grid_rows = 2, .grid_cols = 3, .rule = symmetric})), HasSubstr("is not RxR"));
    EXPECT_THAT(refusal(request_for("potrf", 4, {-1, 3})), HasSubstr("has no hosts"));
    SimulationRequest request = request_for("potrf", 4, {2, 2});
    request.variant = "packed";
    EXPECT_THAT(refusal(request), HasSubstr("works on images"));
    request = request_for("potrf", 4, {2, 2});
    request.workers = {"0-5"};
    EXPECT_THAT(refusal(request), HasSubstr("host 3 has none"));
    request = request_for("potrf", 12, {2, 2});
    for (MemoryNode& node : request.described->nodes) node.bytes = 15000;
    EXPECT_THAT(refusal(request), HasSubstr("host0 needs 1.68e-05 GB for its data and has"));
    for (MemoryNode& node : request.described->nodes) node.bytes = 17000;
    EXPECT_THAT(refusal(request), HasSubstr("for its data and copies of others'"));
    request = request_for("potrf", 4, {2, 2});
    request.described->network.reset();
    for (Core& core : request.described->cores) core.node = 0;
    request.described->nodes.resize(1);
    EXPECT_THAT(refusal(request), HasSubstr("is no machine of many hosts"));
}

TEST(OwnersOn, TakeTheSquarestGrid)
{
    const auto grid = [](int hosts, TileOwners::Rule rule) {
        const TileOwners owners = owners_on(cluster(hosts), {.grid_rows = 0, .grid_cols = 0, .rule = rule});
        return fmt::format("{}x{}", owners.grid_rows, owners.grid_cols);
    };
    EXPECT_EQ(grid(1000, block_cyclic), "25x40");
    EXPECT_EQ(grid(7, block_cyclic), "1x7");
    EXPECT_EQ(grid(1000, symmetric), "45x45");
    EXPECT_EQ(grid(3, symmetric), "3x3");
}

} // namespace
} // namespace trencadis
