#include "scheduling/parts/ranked_tasks.hpp"
#include "scheduling/scheduler.hpp"

#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

namespace trencadis {
namespace {

constexpr Seconds never = std::numeric_limits<Seconds>::infinity();

/// Our own policy. Ready tasks lie in one list, or one per memory where it is known how long data take between them, ranked by
/// bottom level.
///
/// - A worker about as fast as the fastest for a task takes the highest ranked: the critical path goes to the cores that are fast
/// now.
/// - A slower worker takes a task only if that ends sooner than when the fast ones come to it: first it tries the highest ranked,
/// then
///   the lowest, which the others would come to last. If they will have run out of tasks by then they may join it, so what it can
///   hold back in the end is one chunk.
/// - A worker without a task joins the running operation with most work left, unless its first chunk would outlast the
///   operation. An operation that outranks every ready task is joined before those are begun.
/// - Several memories: a task goes to the list where it is expected to end first, transfers counted; an idle worker takes one
/// from
///   another list when it ends it sooner.
///
/// "Fast", "long" and "free at" are what the View measures online, by worker and codelet: a neighbour that comes or goes is seen
/// within a few operations. Literature: HEFT (Topcuoglu et al. 2002) for the ends, CATS (Chronaki et al. 2015) for criticality
/// found at run time, malleable BLAS (Catalan et al. 2016) for joining.
///
/// What is foreseen of calls on described machines follows it rule by rule: choices/foreseen_policy.cpp.
class Mosaic final : public Scheduler {
public:
    explicit Mosaic(const View& view) : view_(view), place_of_(std::size_t(view.workers()))
    {
        for (WorkerId worker = 0; worker < view.workers(); ++worker) {
            const int node = view.knows_transfers() ? view.node(worker) : 0;
            auto place = std::find_if(places_.begin(), places_.end(), [node](const Place& p) { return p.node == node; });
            if (place == places_.end()) place = places_.insert(places_.end(), Place{node, {}, {}});
            place->workers.push_back(worker);
            place_of_[std::size_t(worker)] = std::size_t(place - places_.begin());
        }
    }

    void push(Task& task, WorkerId) override
    {
        Place& place = places_.size() == 1 ? places_.front() : best_place(task);
        place.ready.push(task, task.flops > 0 ? fastest(place, task) : 0);
        ++place.fresh;
    }

    int for_workers_below(WorkerId limit, int pushed) override
    {
        if (places_.size() == 1) return pushed;
        int theirs = 0;
        const Place* one = nullptr;
        for (Place& place : places_) {
            const int fresh = std::exchange(place.fresh, 0);
            if (place.workers.front() >= limit) continue;
            theirs += fresh;
            one = &place;
        }
        if (theirs == 0 && one && look_elsewhere(one->workers.front()).ends_sooner_here()) return 1;
        return theirs;
    }

    Decision pop(WorkerId worker) override
    {
        Place& home = places_[place_of_[std::size_t(worker)]];
        if (!home.ready.empty()) {
            const WorkerId critical = join_candidate(worker, home.ready.top().priority);
            if (critical != no_worker) return {nullptr, critical};
        }
        Decision decision = take(home, worker);
        if (!decision.run && places_.size() > 1) take_elsewhere(worker, decision);
        if (!decision.run) decision.join = join_candidate(worker, -never);
        return decision;
    }

    bool asks_for_data() const override { return places_.size() > 1; }

private:
    struct Place {
        int node;
        std::vector<WorkerId> workers;
        RankedTasks ready;
        int fresh = 0; ///< pushed since for_workers_below
    };
    /// The workers other than one, as they look for one task.
    struct Others {
        Seconds first_free = never; ///< of those that are not slow for the task
        double speed = 0;           ///< of all, where the fastest worker counts 1
        int idle = 0;
    };

    /// A worker within this factor of the fastest is as good as it: measured times of one kernel on one core spread by some 10 %,
    /// and to begin at once is worth more than the rest.
    static constexpr double alike = 1.3;
    /// A unit so much faster is of another sort, as a device is beside a core.
    static constexpr double much_faster = 4;
    /// A task that takes no longer is over before another worker could be woken for it.
    static constexpr Seconds too_short = 1e-4;

    /// Infinite where the worker is not able.
    Seconds time(const Task& task, WorkerId worker) const
    {
        return view_.able(task, worker) ? view_.run_time(task, worker) : never;
    }
    Seconds fastest(const Place& place, const Task& task) const
    {
        Seconds best = never;
        for (const WorkerId worker : place.workers) best = std::min(best, time(task, worker));
        return best < never ? best : 0;
    }

    // ---- from the worker's own memory -------------------------------------------------------------------------

    Decision take(Place& place, WorkerId worker)
    {
        RankedTasks& ready = place.ready;
        if (ready.empty()) return {};
        const RankedTasks::Ready& top = ready.top();
        if (suits(top, worker)) return run(place, ready.take_top());
        const auto able = [&](const RankedTasks::Ready& r) { return view_.able(*r.task, worker); };
        if (!able(top))
            if (const RankedTasks::Ready* pick = ready.highest([&](const RankedTasks::Ready& r) { return suits(r, worker); }))
                return run(place, ready.take(*pick));
        return take_as_slow(place, worker);
    }
    bool suits(const RankedTasks::Ready& ready, WorkerId worker) const
    {
        return time(*ready.task, worker) <= std::max(alike * ready.cost, too_short);
    }
    /// Others may join from the beginning when they are about to run out of tasks. Cutting an operation up costs some of its
    /// speed, so otherwise it is run whole.
    static Decision run(const Place& place, const RankedTasks::Ready& ready)
    {
        Decision decision{ready.task, no_worker};
        decision.offer = place.ready.empty() && place.workers.size() > 1;
        return decision;
    }
    /// The same for a slow worker: will the others have run out of tasks before it ends?
    Decision run_as_slow(Place& place, const RankedTasks::Ready& which, WorkerId worker, const Others& others) const
    {
        const RankedTasks::Ready ready = place.ready.take(which);
        Decision decision = run(place, ready);
        const Seconds help_at = others.speed > 0 ? others.first_free + place.ready.cost() / others.speed : never;
        decision.offer |= view_.now() + time(*ready.task, worker) > help_at;
        return decision;
    }

    Decision take_as_slow(Place& place, WorkerId worker)
    {
        const auto able = [&](const RankedTasks::Ready& r) { return view_.able(*r.task, worker); };
        const RankedTasks::Ready* high = place.ready.highest(able);
        if (!high) return {};
        const Others others = look_at_others(place, worker, *high);
        if (ends_sooner_here(*high, worker, others, 0)) return run_as_slow(place, *high, worker, others);
        const RankedTasks::Ready* low = place.ready.lowest(able);
        const Seconds before = others.speed > 0 ? (place.ready.cost() - low->cost) / others.speed : never;
        if (ends_sooner_here(*low, worker, others, before)) return run_as_slow(place, *low, worker, others);
        Decision wait;
        wait.again_in = std::max(others.first_free - view_.now(), 1e-4);
        wait.exposed = others.idle; // one of them should have it
        return wait;
    }

    Others look_at_others(const Place& place, WorkerId worker, const RankedTasks::Ready& ready) const
    {
        Others others;
        const Seconds now = view_.now();
        for (const WorkerId other : place.workers) {
            if (other == worker) continue;
            const Seconds takes = time(*ready.task, other);
            const Seconds free_at = view_.free_at(other);
            if (!(takes < never) || !(free_at < never)) continue;
            others.speed += takes > 0 ? ready.cost / takes : 1;
            if (takes > alike * ready.cost) continue;
            others.first_free = std::min(others.first_free, std::max(now, free_at));
            others.idle += free_at <= view_.now(); // an idle one is free when it is asked, which is later than `now`
        }
        return others;
    }

    /// Does the task end here before the others, who have `before` seconds of work to do first, would end it?
    bool ends_sooner_here(const RankedTasks::Ready& ready, WorkerId worker, const Others& others, Seconds before) const
    {
        const Seconds now = view_.now(), takes = time(*ready.task, worker);
        const Seconds help_at = others.first_free + before, there = help_at + ready.cost;
        if (now + takes <= there) return true;
        const Index chunks = view_.chunks_of(*ready.task, worker);
        if (chunks < 2 || !(there < never) || !(takes < never) || ready.cost == 0) return false;
        // With the help of a fast worker from help_at on, and this one's last chunk to wait for at worst.
        const double rest = 1 - (help_at - now) / takes;
        return help_at + rest / (1 / takes + 1 / ready.cost) + takes / double(chunks) <= there;
    }

    // ---- joining ----------------------------------------------------------------------------------------------

    /// Whose operation the worker should join: the one with most work left, among those that rank above `priority`.
    WorkerId join_candidate(WorkerId worker, double priority) const
    {
        WorkerId best = no_worker;
        double most = 0;
        for (const WorkerId owner : places_[place_of_[std::size_t(worker)]].workers) {
            const Index left = owner == worker ? 0 : view_.chunks_left(owner);
            if (left == 0 || !(view_.shared_priority(owner) > priority)) continue;
            const Seconds mine = view_.chunk_time(owner, worker), its = view_.chunk_time(owner, owner);
            if (mine > double(left) * its) continue; // it would be done before
            const double work = its > 0 ? double(left) * its : double(left);
            if (work > most) {
                most = work;
                best = owner;
            }
        }
        return best;
    }

    // ---- several memories -------------------------------------------------------------------------------------

    /// When the task would end there, after `before` seconds of the list's work.
    Seconds end_at(const Place& place, const Task& task, Seconds before) const
    {
        Seconds best = never, first_free = never;
        double speed = 0;
        WorkerId who = place.workers.front();
        for (const WorkerId worker : place.workers) {
            const Seconds takes = time(task, worker);
            first_free = std::min(first_free, std::max(view_.now(), view_.free_at(worker)));
            if (!(takes < never)) continue;
            if (takes < best) {
                best = takes;
                who = worker;
            }
        }
        if (!(best < never)) return never;
        for (const WorkerId worker : place.workers) speed += best > 0 ? best / time(task, worker) : 1;
        if (!(first_free < never)) first_free = view_.now();
        return first_free + before / speed + view_.transfer_time(task, who) + best;
    }
    /// Where it ends first behind all that is there. Not on a much slower unit, though, which holds it for as long as it takes,
    /// if a fast one ends it sooner behind what ranks above it alone: that is whom it will wait for.
    Place& best_place(Task& task)
    {
        Place* best = &places_.front();
        Seconds soonest = never;
        for (Place& place : places_)
            if (const Seconds end = end_at(place, task, place.ready.cost()); end < soonest) {
                soonest = end;
                best = &place;
            }
        const Seconds takes = fastest(*best, task);
        for (Place& place : places_) {
            if (&place == best || !(much_faster * fastest(place, task) < takes)) continue;
            const Seconds before = place.ready.cost_before(place.ready.rank_of(task));
            if (const Seconds end = end_at(place, task, before); end < soonest) {
                soonest = end;
                best = &place;
            }
        }
        return *best;
    }
    struct Elsewhere {
        Place* place = nullptr;
        const RankedTasks::Ready* task = nullptr; ///< null: there is none
        Seconds here = 0, there = 0;              ///< when it ends, its transfer counted
        bool ends_sooner_here() const { return task && (here <= there || task->cost == 0); }
    };
    /// The lowest ranked task of the list with most work.
    Elsewhere look_elsewhere(WorkerId worker)
    {
        Elsewhere found;
        for (Place& place : places_)
            if (!place.ready.empty() && (!found.place || place.ready.cost() > found.place->ready.cost())) found.place = &place;
        if (!found.place) return found;
        found.task = found.place->ready.lowest([&](const RankedTasks::Ready& r) { return view_.able(*r.task, worker); });
        if (!found.task) return found;
        const Task& task = *found.task->task;
        found.here = view_.now() + view_.transfer_time(task, worker) + time(task, worker);
        found.there = end_at(*found.place, task, found.place->ready.cost()) - found.task->cost; // that cost has it already
        return found;
    }
    /// Asked again when it should be over there; of two that are far apart seldom, since only a wrong estimate changes that.
    void take_elsewhere(WorkerId worker, Decision& decision)
    {
        constexpr double part_of_the_difference = 0.1;
        const Elsewhere found = look_elsewhere(worker);
        if (found.ends_sooner_here()) decision = run(*found.place, found.place->ready.take(*found.task));
        else if (found.task && decision.again_in == 0)
            decision.again_in = std::max({found.there - view_.now(), 1e-4, part_of_the_difference * (found.here - found.there)});
    }

    const View& view_;
    std::vector<Place> places_;
    std::vector<std::size_t> place_of_;
};

} // namespace

extern const SchedulerEntry scheduler_mosaic;
const SchedulerEntry scheduler_mosaic{
    {"mosaic", "the critical path on the cores that are fast now, shared kernels where parallelism dries up", "trencadis"},
    false,
    [](const View& view, const SchedulerOptions&) -> std::unique_ptr<Scheduler> { return std::make_unique<Mosaic>(view); },
};

} // namespace trencadis
