#pragma once
#include "base/types.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace trencadis {

/// What a simulated run counted. Everything in it is simulated.
struct SimulationReport {
    struct OfWorker {
        std::string name;
        std::string kind;
        Seconds busy_s = 0; ///< inside kernels, its own tasks' and shared ones
        Seconds idle_s = 0; ///< makespan - busy_s
        std::int64_t tasks = 0;
        std::int64_t shares = 0; ///< times it joined another worker's task
        Seconds polling_s = 0;   ///< of idle_s and of the time at its tasks: looking for work, or waiting for remote memory
        Joules joules = 0;       ///< of its core or device; where threads move between cores, of the core it began on
    };
    /// Calls of one kernel that began on one kind of unit.
    struct OfKernel {
        std::string kernel;
        std::string kind;
        std::int64_t calls = 0;
        Seconds total_s = 0; ///< from begin to end on the worker that began it
        Flops flops = 0;
        double mean_s() const { return calls ? total_s / static_cast<double>(calls) : 0; }
    };
    /// Of hosts that send each other messages.
    struct OfHost {
        std::int64_t messages_sent = 0, messages_received = 0;
        Bytes bytes_sent = 0, bytes_received = 0;
        Bytes owned_bytes = 0; ///< data that it holds for good
        Bytes peak_bytes = 0;  ///< with copies of others', the most at one time
    };
    /// What crossed between two memories, or stayed within one.
    struct OfMemories {
        std::string at, by; ///< where the data lay, and the memory of those who used them: nodes' or devices' names
        Bytes read_bytes = 0, written_bytes = 0; ///< in place
        Bytes copied_bytes = 0;                  ///< from the one to the other
    };
    /// Of a device's memory.
    struct OfDevice {
        std::string name;
        Bytes to = 0, from = 0;  ///< over its links, from and to all other memories
        Bytes left = 0;          ///< results that lie there alone at the end; who waits for them in earnest has them brought home
        std::int64_t hits = 0;   ///< operands that were there, or on their way
        std::int64_t misses = 0; ///< operands that had to be fetched
        std::int64_t evictions = 0;
        Bytes peak = 0; ///< most that its copies took at once
    };
    Seconds makespan_s = 0;
    Joules energy_j = 0;     ///< everything of the machine over the makespan: below, devices, and base_w
    Joules cores_j = 0;      ///< all cores (what RAPL counts as PP0)
    Joules package_j = 0;    ///< the cores and package_w of the nodes (PKG)
    Joules memory_j = 0;     ///< memory_w of the nodes (DRAM)
    bool has_energy = false; ///< the machine says what its units draw
    std::vector<OfWorker> workers;
    std::vector<OfKernel> kernels; ///< by name and kind
    std::int64_t tasks = 0;
    std::int64_t untimed = 0; ///< tasks without a flop count that took no time
    Bytes bytes_moved = 0;    ///< copied between memories: fetched and written back
    std::int64_t transfers = 0;
    std::vector<OfDevice> devices;   ///< all of the machine; where nothing moves, none
    Bytes local_bytes = 0;           ///< operands used in place in the worker's own memory node
    Bytes remote_bytes = 0;          ///< operands used in place in another memory node
    std::vector<OfMemories> traffic; ///< of pairs with any; a datum that is read and written counts as both, unlike above
    std::vector<OfHost> hosts;       ///< none: one host, or hosts without a described network
};

/// An engine that runs in virtual time.
class ReportsSimulation {
public:
    virtual SimulationReport simulation_report() const = 0; ///< so far

protected:
    ~ReportsSimulation() = default;
};

} // namespace trencadis
