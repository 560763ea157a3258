#pragma once
#include "graph/task.hpp"
#include "observe/clock.hpp"
#include "observe/trace.hpp"

#include <cstdint>
#include <utility>

namespace trencadis {

/// The part of a task's run that is being timed.
struct Segment {
    const Task* task = nullptr; ///< none: nobody's time
    EventKind kind = EventKind::task;
    std::int64_t begin_ns = 0;
    bool continued = false; ///< another task ran in between
};

/// Attributes a worker's time to tasks. A task's run is cut where another runs in between on the same worker, so that no time
/// counts twice. `sink(segment, end_ns)` is called for each piece of a counted task.
class Stopwatch {
public:
    /// From now on the time is the given task's. Returns what ran before, for `end`.
    template <class Sink> Segment begin(const Task* task, EventKind kind, Sink&& sink)
    {
        const std::int64_t now = now_ns();
        account(now, sink);
        return std::exchange(segment_, Segment{task, kind, now, false});
    }
    /// What ran before goes on. Returns the nanoseconds since the last begin or end.
    template <class Sink> std::int64_t end(const Segment& outer, Sink&& sink)
    {
        const std::int64_t now = now_ns();
        const std::int64_t last = now - segment_.begin_ns;
        account(now, sink);
        segment_ = {outer.task, outer.kind, now, true};
        return last;
    }
    std::int64_t now() const { return segment_.begin_ns; } ///< when it was last told something
    /// The unit that holds the worker changes: its time stops, and goes on with `put_back`.
    Segment take_out() { return std::exchange(segment_, Segment{}); }
    void put_back(const Segment& segment) { segment_ = {segment.task, segment.kind, now_ns(), true}; }

private:
    template <class Sink> void account(std::int64_t now, Sink&& sink)
    {
        if (segment_.task && segment_.task->codelet->counted) sink(std::as_const(segment_), now);
    }
    Segment segment_;
};

/// The event of one piece of a task's run. The flops count once, with the first piece.
inline Event event_of(const Segment& piece, std::int64_t end_ns)
{
    const Task& task = *piece.task;
    return {task.label,
            task.order.load(std::memory_order_relaxed),
            piece.begin_ns,
            end_ns,
            piece.kind == EventKind::task && !piece.continued ? task.flops : 0,
            piece.kind,
            piece.continued};
}

} // namespace trencadis
