#pragma once
#include "base/types.hpp"
#include "observe/trace.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace trencadis {

/// How one worker spent the span of a trace: busy + idle + runtime = span. Idle is what the engine recorded as idle and the
/// time before the worker's first and after its last event; runtime is what remains between events:
/// finding dependences, choosing, handing over.
struct WorkerSummary {
    WorkerId worker;
    int cpu;             ///< OS number of the core; -1 when simulated
    std::string kind;    ///< core kind's name
    std::int64_t tasks;  ///< tasks it began
    std::int64_t shares; ///< times it joined another worker's task
    Seconds busy_s;      ///< inside kernels, its own tasks' and shared ones
    Seconds share_s;     ///< the part of busy_s that was another worker's task
    Seconds idle_s;
    Seconds runtime_s;
    double busy_fraction; ///< of the span; 0 when the span is empty
    double share_fraction;
    double idle_fraction;
    double runtime_fraction;
    bool queue = false; ///< a device's queue of copies, in which busy is the time they took
};

/// Calls of one kernel on one kind of core.
struct KernelOnKind {
    std::string kind;
    std::int64_t calls;
    double mean_ms; ///< from begin to end of a call, on the worker that began it
};

/// One kernel over all workers. A call that was shared counts once; the cores that joined add to total_s.
struct KernelSummary {
    std::string name;
    std::int64_t calls;
    Seconds total_s;                    ///< core seconds inside the kernel
    double mean_ms;                     ///< as in KernelOnKind
    double gflops;                      ///< flops over total_s: the speed of one core; 0 when flops are not known
    std::vector<KernelOnKind> on_kinds; ///< by name of the kind
};

/// The tables of a trace.
struct Summary {
    std::string title;
    Origin origin;
    Seconds span_s;
    Seconds working_s; ///< from the begin of the first task to the end of the last
    std::int64_t lost; ///< events that are not in the trace
    std::vector<WorkerSummary> workers;
    std::vector<KernelSummary> kernels; ///< by total_s, largest first
};

/// O(events).
Summary summarise(const Trace& trace);

/// One object on one line: title, origin, span_s, working_s, lost, workers[], kernels[], with the fields' names above.
std::string to_json(const Summary& summary);

/// "measured", "emulated", "simulated".
const char* origin_name(Origin origin);

} // namespace trencadis
