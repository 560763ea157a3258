#pragma once
#include "graph/data.hpp"

#include <cstdint>

namespace trencadis {

enum class Priorities {
    automatic, ///< bottom levels from the first task on that has a flop count, submission order otherwise
    given,     ///< only what the caller says
    derived,   ///< bottom levels, from estimated times, while the graph is discovered
};

/// When dependences are found.
enum class Discovery {
    at_submission, ///< by the submitter, task by task
    at_steal,      ///< by a worker that looks for work, or the owner when it waits (work first; Gautier et al. 2013, XKaapi)
};

/// What tells the runtimes of the literature apart beside their ready tasks. The default is our own.
struct FlowTraits {
    std::int64_t throttle = 0;            ///< past so many pending tasks the submitter runs the next one itself; 0: never
    std::int64_t throttle_per_worker = 0; ///< the same, times the number of workers
    /// Of the tasks before it, only those count that run or could: what waits for others is in no queue (libgomp).
    bool throttle_ready = false;
    std::int64_t buckets = 0; ///< lists of a dependence table of fixed size; 0: a table that grows
    Discovery discovery = Discovery::at_submission;
    /// Of the tasks that wait for one datum the first submitted is ready first (libgomp); otherwise the last.
    bool release_oldest = false;

    bool operator==(const FlowTraits&) const = default;
};

struct FlowOptions {
    std::int64_t window = 4096; ///< tasks submitted and not finished; the submitter helps or sleeps beyond
    Priorities priorities = Priorities::automatic;
    FlowTraits traits = {};
    int node = any_node; ///< the memory node of tasks that name none; flows inside a task have that of the task
    /// A task that names a datum which shares memory with another one in use is refused (graph/overlaps.hpp), in flows inside its
    /// tasks too. Not where the table of a runtime of the literature is imitated (FlowTraits).
    bool refuse_overlaps = false;
    /// Its tasks use what was brought to the host for the task that they are inside of: nobody moves their data.
    bool data_brought = false;
    /// Which devices may take its tasks, by their number from 0, one bit each; 0: none, and then nobody moves their data.
    std::uint64_t devices = ~std::uint64_t(0);

    bool operator==(const FlowOptions&) const = default;
};

} // namespace trencadis
