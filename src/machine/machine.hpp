#pragma once
#include "base/types.hpp"

#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace trencadis {

/// One setting of a core's or device's clock, with what one such unit draws in it.
struct PowerState {
    std::string name;  ///< "turbo", "nominal", "powersave"
    double speed = 1;  ///< of the first state's speed
    double idle_w = 0; ///< watts while it waits
    double busy_w = 0; ///< watts while it computes
    double poll_w = 0; ///< watts while it looks for work, or waits for memory; 0: as while it waits
    double polling_w() const { return poll_w > 0 ? poll_w : idle_w; }
};

/// How long a kernel takes on one kind of unit, described machines only:
///     time(flops) = flops / gflops * (1 + half_edge / cbrt(flops / 2)),
/// where cbrt(flops / 2) is the edge of a matrix product with as many flops: the efficiency curve over the tile size that a rate
/// and a size of half efficiency give (Hockney, Jesshope 1988). half_edge = 0 is a constant rate.
struct KernelTime {
    std::string kernel; ///< the codelet's name
    std::string on;     ///< a core kind, a device or a kind of device; core kinds joined by '+' are a team that shares the kernel
    double gflops;      ///< at large sizes; above 0
    double half_edge = 0;      ///< edge at which half of `gflops` is reached
    int line = 0;              ///< in the file it was read from; 0: none
    char precision = 0;        ///< s, c, z; 0: double, whose time serves for those that have none of their own
    bool memory_bound = false; ///< it waits for memory, so that its time is the same at every clock of the unit
    /// No flops take no time.
    Seconds time(Flops flops) const { return flops > 0 ? flops / (gflops * 1e9) * (1 + half_edge / std::cbrt(flops / 2)) : 0; }
};

/// Cores that do the same work at the same speed. Kind 0 is the slowest, as hwloc orders them.
struct CoreKind {
    std::string name;       ///< "core" when all are alike; "P-core", "E-core", "cortex-a15", ...
    double peak_gflops = 0; ///< double precision, one core; measured here or described; 0 when not known
    std::vector<PowerState> power = {};
    /// Of memory that a core has asked for and not got, at most: lines under way times their size. 0: as much as the links carry.
    Bytes bytes_under_way = 0;
};
struct Core {
    int cpu;           ///< OS number of its first hardware thread; position in the list when described
    int kind;          ///< index into Machine::kinds
    int node;          ///< index into Machine::nodes
    double gflops = 0; ///< measured double precision multiply-add speed; 0 when not measured
};
struct Cache {
    int level;
    Bytes bytes;
    std::vector<int> cores; ///< indices into Machine::cores that share it
};
struct MemoryNode {
    std::string name;
    Bytes bytes;
    int host = 0;         ///< cores read the memory of other nodes of their host in place; between hosts, data are copied
    double bandwidth = 0; ///< bytes per second that all who read and write it from elsewhere share; 0: the links are narrower
    double package_w = 0; ///< watts of its processor beside the cores: shared cache, memory controller, links
    double memory_w = 0;  ///< watts of the memory itself
    int package = -1;     ///< the processor that it belongs to, from 0 on; several nodes of one are its dies; -1: not known
};
struct Device {
    std::string name;
    std::string kind; ///< "gpu"
    int node;         ///< nearest memory node
    Bytes bytes;      ///< its own memory
    double peak_gflops = 0;
    int host_core = -1; ///< index into Machine::cores of the core that drives it and computes nothing else; -1: none
    std::vector<PowerState> power = {};
};
/// A place that links meet at and that holds no data: a PCIe switch, a network switch.
struct Junction {
    std::string name;
};
/// Between two places, each a memory node's, a device's or a junction's name. Both directions, each with a bandwidth of its own.
struct Link {
    std::string from, to;
    double bandwidth; ///< bytes per second
    Seconds latency;
    double back = 0; ///< bandwidth from `to` to `from`; 0: the same
    double towards(bool forth) const { return forth || back <= 0 ? bandwidth : back; }
};

/// How the hosts of a cluster are joined where nobody names the links one by one: all alike, each with a bandwidth in either
/// direction. Hosts take the places at its edge in their order; places without a host are empty.
struct Network {
    enum class Kind {
        fat_tree,  ///< Leiserson 1985, as extended generalized fat trees (Oehring, Ibel, Das, Kumar 1995)
        dragonfly, ///< Kim, Dally, Scott, Abts 2008, its groups of chassis as in Cray's Cascade (Faanes et al. 2012)
    };
    Kind kind = Kind::fat_tree;
    double bandwidth = 0; ///< bytes per second
    Seconds latency = 0;  ///< of each link
    int streams = 1;      ///< messages that one host sends at the same time; the others wait, the most urgent first

    // Fat tree, by level from the hosts up.
    std::vector<int> down = {};     ///< elements below each switch of the level
    std::vector<int> up = {};       ///< switches of the level above that each element below has
    std::vector<int> parallel = {}; ///< links between each such pair

    // Dragonfly.
    int groups = 0, group_links = 0;    ///< links side by side between two groups
    int chassis = 0, chassis_links = 0; ///< per group, and side by side between two of them at one place
    int routers = 0, router_links = 0;  ///< per chassis, and side by side between two of them
    int router_hosts = 0;               ///< places at each router

    std::int64_t places() const; ///< for hosts
};
std::string_view network_word(Network::Kind kind); ///< "fat-tree", "dragonfly"

/// The cores that are awake, for chips that are run in several ways.
struct ExecutionModel {
    std::string name;
    std::string summary;
    std::vector<int> cores; ///< indices into Machine::cores
};

/// A machine, discovered or described; both carry the same content.
struct Machine {
    std::string name;
    std::string summary;
    std::string origin; ///< "discovered" or the file it was read from
    std::vector<CoreKind> kinds;
    std::vector<Core> cores;
    std::vector<Cache> caches;
    std::vector<MemoryNode> nodes;
    std::vector<Device> devices;
    std::vector<Junction> junctions;
    std::vector<Link> links;
    std::optional<Network> network;     ///< of a cluster: then each node is a host, and there are no links, junctions and devices
    std::vector<KernelTime> kernels;    ///< described machines that can be simulated
    std::vector<KernelTime> unadjusted; ///< instead of those for the same unit: what they were before a result was looked at
    std::vector<ExecutionModel> models; ///< none: all cores, always
    double base_w = 0;                  ///< watts of everything that is neither core nor device, nor of a node
};

/// This machine as hwloc sees it, reduced to the cores this process may use (cpuset, affinity mask), one entry
/// per core, not per hardware thread. Of the affinity masks of the process's first thread and of the calling one the larger
/// counts: the first thread's is what taskset, numactl or a batch system gave the process, and stays that when the program
/// binds threads that it starts; a program that binds its first thread calls from others, too.
Machine discover_machine();
/// The same without devices, for which discover_machine starts drivers. Read once in a process, except that the cores are
/// those that it may use now; then it takes some microseconds.
Machine machine_at_hand();
/// Fills in Core::gflops and CoreKind::peak_gflops by a short multiply-add run pinned to each core in turn. Read from the host's
/// cache file when it is there and matches the processor, unless `fresh`. A kind that hwloc does not tell apart but
/// whose measured speed differs is split off (see machine/measure.cpp).
void measure_speed(Machine& machine, bool fresh = false);
/// A machine by name (a file in `machines/`) or by path; throws Error{bad_argument} with file and line.
Machine load_machine(std::string_view name_or_path);
/// The machine with its unadjusted kernel times. Throws Error{bad_argument} where there are none.
Machine without_adjustments(Machine machine);
/// Names of the described machines that are installed.
std::vector<std::string> described_machines();
/// The cores that are awake in an execution model; all when `model` is empty. Throws Error{bad_argument} with the nearest name.
std::vector<int> cores_of_model(const Machine& machine, std::string_view model);
/// Throws Error{bad_argument} where so many bytes do not fit into the memory, whose size is known.
void require_room(const MemoryNode& memory, Bytes needed, std::string_view for_what);
/// The first hosts of a cluster, all else as it is; base_w in proportion.
Machine first_hosts(Machine machine, int count);
std::string machine_to_json(const Machine& machine); ///< one object on one line
std::string machine_to_toml(const Machine& machine); ///< what load_machine reads

} // namespace trencadis
