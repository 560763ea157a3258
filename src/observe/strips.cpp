#include "observe/strips.hpp"

#include <algorithm>

namespace trencadis {

namespace {

class Gatherer {
public:
    explicit Gatherer(std::int64_t resolution_ns) : resolution_ns_(resolution_ns) {}

    void add(const Event& event, int colour)
    {
        const std::int64_t length = event.end_ns - event.begin_ns;
        if (length >= resolution_ns_) {
            close();
            done_.push_back({event.begin_ns, event.end_ns, &event, {{colour, length}}});
            return;
        }
        if (length == 0) return; // no area
        if (event.begin_ns - cluster_.end_ns >= resolution_ns_) close();
        if (cluster_.parts.empty()) cluster_.begin_ns = event.begin_ns;
        cluster_.end_ns = event.end_ns;
        add_part(colour, length);
        if (cluster_.end_ns - cluster_.begin_ns >= resolution_ns_) close();
    }
    std::vector<Strip> finish()
    {
        close();
        return std::move(done_);
    }

private:
    void add_part(int colour, std::int64_t length)
    {
        for (Strip::Part& part : cluster_.parts)
            if (part.colour == colour) {
                part.ns += length;
                return;
            }
        cluster_.parts.push_back({colour, length});
    }
    void close()
    {
        if (cluster_.parts.empty()) return;
        std::sort(cluster_.parts.begin(), cluster_.parts.end(),
                  [](const Strip::Part& a, const Strip::Part& b) { return a.colour < b.colour; });
        done_.push_back(std::move(cluster_));
        cluster_ = {0, 0, nullptr, {}};
    }

    const std::int64_t resolution_ns_;
    Strip cluster_{0, 0, nullptr, {}};
    std::vector<Strip> done_;
};

} // namespace

std::vector<Strip> strips(const WorkerTrace& worker, std::int64_t resolution_ns, const std::function<int(const Event&)>& colour)
{
    Gatherer gatherer(std::max<std::int64_t>(resolution_ns, 1));
    for (const Event& event : worker.events)
        if (event.kind != EventKind::idle) gatherer.add(event, colour(event));
    return gatherer.finish();
}

} // namespace trencadis
