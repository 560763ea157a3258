#pragma once
#include "base/node_bytes.hpp"
#include "base/types.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace trencadis {

enum class EventKind : std::uint8_t {
    task,  ///< a task's body, from begin to end, on the worker that took it
    share, ///< chunks of a task that another worker had begun
    idle,  ///< nothing to run, looking or asleep
    copy,  ///< data on the way to a device or from it, in a queue of its own
};

/// One interval on one worker. Times in ns since the trace began.
struct Event {
    const char* name; ///< kernel name, static; "idle" for idle
    std::uint64_t
        order; ///< creation order of the task, over all flows of the trace; of a copy that of the task that waits for it
    std::int64_t begin_ns;
    std::int64_t end_ns;
    Flops flops; ///< of the task; 0 for share and idle; of a copy its bytes
    EventKind kind;
    bool continued = false; ///< a further piece of the same task, which ran other tasks in between
    bool awaited = false;   ///< a copy that the task of this order asked for
};

/// How times came about; never mixed in one table or column.
enum class Origin : std::uint8_t { measured, emulated, simulated };

struct WorkerTrace {
    WorkerId worker;
    int cpu;                   ///< OS number of the core; -1 when simulated
    std::string kind;          ///< core kind's name
    std::vector<Event> events; ///< by begin time, not overlapping
    bool queue = false;        ///< no worker but a device's queue of copies, which `kind` names
};

/// How calls went that named neither tile size nor form (docs/choices.md).
struct ChosenPlan {
    std::string call; ///< "potrf 500x500 d"
    std::string plan; ///< "packed-1", "rule"
    std::int64_t times = 0;
    int workers = 0; ///< who could take part; 1: all of it was its caller's
    int callers = 0; ///< calls in progress when one of these began, with it: the most
};

/// What happened between Session::start_trace and stop_trace.
struct Trace {
    std::string title; ///< "potrf n=4096 nb=256 ..."
    Origin origin = Origin::measured;
    std::int64_t span_ns = 0;
    std::int64_t lost = 0; ///< events dropped: out of memory, or over the recorder's limit
    std::vector<WorkerTrace> workers;
    std::vector<NodeBytes> node_bytes = {}; ///< of the products that counted them, one row per memory node
    std::vector<ChosenPlan> choices = {};   ///< of calls whose plans may be chosen
};

} // namespace trencadis
