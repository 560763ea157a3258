#pragma once
#include "base/types.hpp"
#include "engines/simulation_options.hpp"
#include "engines/simulation_report.hpp"
#include "machine/machine.hpp"
#include "matrix/tile_owners.hpp"
#include "observe/trace.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace trencadis {

/// One configuration to be simulated. Empty strings and zeros leave the choice to the library.
struct SimulationRequest {
    std::string machine;              ///< name of a described machine, or a file
    std::optional<Machine> described; ///< instead of `machine`
    std::string routine = "potrf";    ///< one of graph_routines()
    std::string variant;              ///< one of graph_variants(routine)
    Index n = 0;
    Index nb = 0;
    Index m = 0;           ///< rows; 0: as GraphShape says
    Index k = 0;           ///< depth of a product; 0: n
    int cut_for = 0;       ///< a product without nb: its tiles as in a call on so many workers; 0: square ones
    Index inner = 0;       ///< inner blocks and nested tiles; 0: as the routine chooses
    char precision = 'd';  ///< d, z, and s or c where the machine gives kernel times in it
    std::string scheduler; ///< empty: mosaic, as everywhere
    /// Numbers of cores ("0", "4-7"), names of core kinds, devices or device kinds, each with ":count" behind it for the first so
    /// many ("gpu:4"). The order is that of the workers, cores before devices; the first one submits. Empty: every core but those
    /// that drive a chosen device, and every device.
    std::vector<std::string> workers;
    /// One of the machine's execution models (Machine::models), which says what cores are awake; the others are neither workers
    /// nor draw power. Empty: all are awake.
    std::string model;
    /// On machines with a network (Machine::network): who holds which tile. Hosts beyond those that hold any take no part. A grid
    /// of 0 rows: the squarest of as many hosts as the rule can use.
    TileOwners owners{.grid_rows = 0, .grid_cols = 0};
    /// Tasks submitted and not finished; 0: as everywhere, and where hosts send messages all, since each submits for itself.
    std::int64_t window = 0;
    bool as_called = false; ///< the graph of a call on just these cores of one host, not the one that is the same on any number
    SimulationOptions options;
    bool trace = false;
};

/// No run of this graph on these units can be faster, whatever the policy; transfers and the cost of the runtime not counted.
struct SimulationBounds {
    Seconds area_s =
        0; ///< all units busy all the time, each kernel where it is best done: the fractional optimum (linear programming)
    Seconds critical_s = 0; ///< longest chain of tasks, each on its best unit or shared by all where it is malleable
    Seconds time_s() const { return area_s > critical_s ? area_s : critical_s; }
};

struct SimulationResult : SimulationReport {
    // As resolved.
    std::string machine, routine, variant, scheduler, model;
    Index n = 0, nb = 0, m = 0, k = 0, inner = 0; ///< m: 0 where it is n; nb: 0 of a product that is cut for workers
    char precision = 'd';

    double gflops = 0;        ///< routine_flops over makespan_s
    double idle_fraction = 0; ///< of all workers' time: 1 - sum of busy_s / (workers * makespan_s)
    SimulationBounds bounds;
    TileOwners owners;          ///< of hosts that send messages
    double capacity_gflops = 0; ///< routine_flops over bounds.time_s()
    Trace trace;                ///< where asked for
};

/// Runs the routine's task graph on a described machine in virtual time, with the policy and the tile algorithm of real runs;
/// no kernel is computed and no matrix exists. Deterministic for a seed. Before anything runs it throws Error{bad_argument} for a
/// kernel that no chosen unit has a time for, a task whose data fit into no memory, and for what it does not know;
/// Error{missing_backend} in a build without SimGrid; Error{environment} when tasks are left that no worker is given, and
/// at a second call in one process, because SimGrid has one simulation per process.
SimulationResult simulate(const SimulationRequest& request);
/// Do choices of this policy, `name:key=value,..`, follow SimulationOptions::seed? Throws Error{bad_argument} as parse_scheduler.
bool chooses_at_random(const std::string& scheduler);

} // namespace trencadis
