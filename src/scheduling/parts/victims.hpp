#pragma once
#include "scheduling/parts/random.hpp"
#include "scheduling/scheduler.hpp"

#include <string_view>
#include <vector>

namespace trencadis {

inline constexpr Parameter victims_parameter{
    "victims", "random|round-robin|near", "random",
    "whom an idle worker tries first: anybody, the next one, somebody on its own memory node"};
inline constexpr Parameter seed_parameter{"seed", "count", "1", "of the random choices"};

/// In which order a thief tries the others. Everybody is tried once, so that nobody goes to sleep beside a task: from a random
/// start (random), from the one that gave last (round-robin), or first those on the thief's own node and then the others, each
/// from a random start (near). A thief's state is its own, so several may choose at once.
class Victims {
public:
    Victims(const View& view, const SchedulerOptions& options)
        : round_robin_(options.text("victims") == "round-robin"), near_(options.text("victims") == "near")
    {
        for (WorkerId thief = 0; thief < view.workers(); ++thief) {
            Thief& self = thieves_.emplace_back(Thief{QuickRandom(options.count("seed"), static_cast<std::uint64_t>(thief))});
            for (int step = 1; step < view.workers(); ++step) {
                const WorkerId other = (thief + step) % view.workers();
                (near_ && view.node(other) == view.node(thief) ? self.near : self.others).push_back(other);
            }
        }
    }
    /// The first result of `attempt(victim)` that is not null.
    template <class Attempt> Task* first(WorkerId thief, Attempt&& attempt)
    {
        Thief& self = thieves_[thief];
        if (Task* task = round(self, self.near, attempt)) return task;
        return round(self, self.others, attempt);
    }

private:
    struct alignas(64) Thief {
        QuickRandom random;
        std::vector<WorkerId> near = {}, others = {};
        std::size_t next = 0;
    };
    template <class Attempt> Task* round(Thief& self, const std::vector<WorkerId>& ring, Attempt& attempt)
    {
        if (ring.empty()) return nullptr;
        const std::size_t start = round_robin_ ? self.next : self.random.below(ring.size());
        for (std::size_t i = 0; i < ring.size(); ++i) {
            const std::size_t at = start + i < ring.size() ? start + i : start + i - ring.size();
            if (Task* task = attempt(ring[at])) {
                self.next = at;
                return task;
            }
        }
        return nullptr;
    }

    const bool round_robin_, near_;
    std::vector<Thief> thieves_;
};

} // namespace trencadis
