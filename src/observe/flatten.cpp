#include "observe/flatten.hpp"

#include <algorithm>

namespace trencadis {

namespace {

bool is_flat(const std::vector<Event>& events)
{
    for (std::size_t i = 1; i < events.size(); ++i)
        if (events[i].begin_ns < events[i - 1].end_ns) return false;
    return true;
}

/// Sweeps over time with the stack of events that are open; the innermost owns the time.
class Sweep {
public:
    explicit Sweep(std::size_t size) { flat_.reserve(size); }

    void open(const Event& event)
    {
        close_until(event.begin_ns);
        if (!open_.empty()) emit(open_.back(), event.begin_ns);
        now_ = event.begin_ns;
        open_.push_back({event, false});
    }
    std::vector<Event> finish()
    {
        while (!open_.empty()) close_innermost();
        return std::move(flat_);
    }

private:
    struct Open {
        Event event;
        bool begun; ///< a piece of it is already written
    };

    void close_until(std::int64_t time)
    {
        while (!open_.empty() && open_.back().event.end_ns <= time) close_innermost();
    }
    void close_innermost()
    {
        emit(open_.back(), open_.back().event.end_ns);
        now_ = std::max(now_, open_.back().event.end_ns);
        open_.pop_back();
    }
    /// The piece from the sweep's time to `end`. An empty one is written only if it is all there is of the event, so that
    /// every task is counted.
    void emit(Open& open, std::int64_t end)
    {
        const bool last = end == open.event.end_ns;
        if (end <= now_ && (open.begun || !last)) return;
        Event piece = open.event;
        piece.begin_ns = now_;
        piece.end_ns = std::max(now_, end);
        if (open.begun) {
            piece.continued = true;
            piece.flops = 0;
        }
        open.begun = true;
        flat_.push_back(piece);
    }

    std::vector<Event> flat_;
    std::vector<Open> open_;
    std::int64_t now_ = 0;
};

} // namespace

void flatten(std::vector<Event>& events)
{
    if (is_flat(events)) return;
    std::stable_sort(events.begin(), events.end(), [](const Event& a, const Event& b) {
        return a.begin_ns != b.begin_ns ? a.begin_ns < b.begin_ns : a.end_ns > b.end_ns;
    });
    Sweep sweep(events.size());
    for (const Event& event : events) sweep.open(event);
    events = sweep.finish();
}

} // namespace trencadis
