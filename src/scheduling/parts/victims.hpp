#pragma once
#include "scheduling/parts/random.hpp"
#include "scheduling/scheduler.hpp"

#include <algorithm>
#include <map>
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
        : workers_(view.workers()), round_robin_(options.text("victims") == "round-robin"),
          near_(options.text("victims") == "near")
    {
        std::map<int, std::vector<WorkerId>> groups;
        for (WorkerId thief = 0; thief < workers_; ++thief) {
            thieves_.push_back({QuickRandom(options.count("seed"), static_cast<std::uint64_t>(thief))});
            groups[near_ ? view.node(thief) : thief].push_back(thief);
        }
        for (const auto& [key, members] : groups) {
            const auto begin = static_cast<int>(by_group_.size());
            for (const WorkerId member : members) {
                Thief& thief = thieves_[member];
                thief.group = begin, thief.count = static_cast<int>(members.size());
                thief.place = static_cast<int>(by_group_.size()) - begin;
                by_group_.push_back(member);
            }
        }
    }
    /// The first result of `attempt(victim)` that is not null.
    template <class Attempt> Task* first(WorkerId thief, Attempt&& attempt)
    {
        Thief& self = thieves_[thief];
        const int near = self.count - 1, others = workers_ - self.count;
        if (Task* task = round(self, near, [&](int at) { return attempt(near_one(self, at)); })) return task;
        return round(self, others, [&](int at) { return attempt(other(thief, at)); });
    }

private:
    /// Lists of all others would need the square of the number of workers, of which clusters have tens of thousands: whom they
    /// would name is worked out.
    struct alignas(64) Thief {
        QuickRandom random;
        int group = 0, count = 1, place = 0; ///< of those tried first, itself among them: where they begin, how many, which it is
        std::size_t next = 0;
    };
    /// Of the thief's group, the one so many behind the next one, and on from the first.
    WorkerId near_one(const Thief& self, int at) const
    {
        const int place = self.place + 1 + at;
        return by_group_[std::size_t(self.group + (place < self.count ? place : place - self.count))];
    }
    /// Of all workers outside the group likewise.
    WorkerId other(WorkerId thief, int at) const
    {
        const Thief& self = thieves_[thief];
        const int others = workers_ - self.count, from_thief = thief - self.place + at; // counted without the group
        const int number = from_thief < others ? from_thief : from_thief - others;
        const WorkerId *const group = by_group_.data() + self.group, *const end = group + self.count;
        const auto* const behind = std::partition_point(
            group, end, [&](const WorkerId& member) { return member - static_cast<int>(&member - group) <= number; });
        return number + static_cast<int>(behind - group);
    }
    template <class Attempt> Task* round(Thief& self, int count, const Attempt& attempt)
    {
        if (count == 0) return nullptr;
        const auto size = static_cast<std::size_t>(count), start = round_robin_ ? self.next : self.random.below(size);
        for (std::size_t i = 0; i < size; ++i) {
            const std::size_t at = start + i < size ? start + i : start + i - size;
            if (Task* task = attempt(static_cast<int>(at))) {
                self.next = at;
                return task;
            }
        }
        return nullptr;
    }

    const int workers_;
    const bool round_robin_, near_;
    std::vector<Thief> thieves_;
    std::vector<WorkerId> by_group_; ///< those of one node beside each other; without `near` each is a group of its own
};

} // namespace trencadis
