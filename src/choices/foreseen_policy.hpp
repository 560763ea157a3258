#pragma once
#include "choices/foreseen_workers.hpp"
#include "choices/link_traffic.hpp"
#include "choices/task_times.hpp"

#include <cstdint>
#include <deque>
#include <span>
#include <tuple>
#include <vector>

namespace trencadis::choices {

/// What the standard policy (scheduling/mosaic) would decide: with what it is told, also where that is not so. It takes who waits
/// for data for free, links for empty, and workers for as slow as their last tasks were, the wait for data included.
class ForeseenPolicy {
public:
    using Task = CallGraph::Task;
    struct Decision {
        Task run = -1;
        bool offer = false; ///< others may join it, whoever is idle when it begins
        int join = -1;      ///< an operation
        Seconds again_in = 0;
        bool is_nothing() const { return run < 0 && join < 0; }
    };

    /// `links`: none where all is in one memory. `nodes`: of the workers.
    ForeseenPolicy(const CallGraph& graph, const TaskTimes& times, ForeseenView& view, const LinkTraffic* links, int home,
                   std::span<const int> nodes);

    void push(Task task);
    Decision pop(int worker);
    int waiting() const { return waiting_; } ///< tasks that it has

private:
    struct Ready {
        Seconds level;
        std::int64_t place; ///< of equals the first goes first
        Task task;
        Seconds cost;
        bool operator<(const Ready& other) const { return std::tie(level, other.place) < std::tie(other.level, place); }
    };
    using List = std::deque<Ready>; ///< the highest ranked last
    struct Place {
        int node;
        std::vector<int> workers = {};
        List ready = {};
        Seconds cost = 0; ///< of those
    };
    /// When a task would end somewhere.
    struct End {
        Seconds alone; ///< with nothing before it
        double speed;
        Seconds after(Seconds before) const { return alone + before / speed; }
    };
    /// The workers other than one, as they look for one task.
    struct Others {
        Seconds first_free = never; ///< of those that are not slow
        double speed = 0;           ///< of all, where the fastest counts 1
    };

    Seconds time(Task task, int worker) const
    {
        const ForeseenWorker& by = view_.workers[std::size_t(worker)];
        return times_.on(task, by.type) * by.pace;
    }
    Place& home_of(int worker) { return places_[std::size_t(view_.workers[std::size_t(worker)].place)]; }
    Seconds fastest(const Place& place, Task task) const;
    Seconds from_afar(Task task, const Place& place) const;
    End end_at(const Place& place, Task task) const;
    Place& best_place(Task task);
    Decision take(Place& place, int worker);
    Decision take_as_slow(Place& place, int worker);
    Decision run_as_slow(Place& place, List::iterator which, int worker, const Others& others);
    Decision run(Place& place, List::iterator which);
    Others look_at_others(const Place& place, int worker, const Ready& ready) const;
    bool ends_sooner_here(const Ready& ready, int worker, const Others& others, Seconds before) const;
    Decision take_elsewhere(int worker);
    int join_candidate(int worker, Seconds above);

    const CallGraph& graph_;
    const TaskTimes& times_;
    ForeseenView& view_;
    const LinkTraffic* const links_;
    const int home_;
    std::vector<Place> places_;
    int waiting_ = 0;
    std::int64_t pushed_ = 0;
};

} // namespace trencadis::choices
