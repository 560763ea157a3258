#include "scheduling/parts/locality.hpp"

#include "scheduling/parts/task_deque.hpp"

#include <limits>

namespace trencadis {
namespace {

enum class Rule { released, most_bytes, owner };

class Mailboxes final : public Scheduler {
public:
    Mailboxes(const View& view, const SchedulerOptions& options, Rule rule)
        : view_(view), abilities_(view), victims_(view, options), workers_(view.workers()),
          random_(options.count("seed"), static_cast<std::uint64_t>(view.workers())), rule_(rule),
          closed_(options.text("mailboxes") == "closed"), from_slower_(options.text("steal") == "slower"),
          idle_only_(options.text("thieves") == "idle"), join_(options.flag("join"))
    {
    }

    void push(Task& task, WorkerId released_by) override
    {
        const KindSet able = abilities_.of(task);
        WorkerId to = choose(task, able, released_by);
        // A closed mailbox of one who cannot run it would be the end of it, and thieves look into deques anyway.
        if (to == no_worker) to = released_by == no_worker ? next_able(able) : released_by;
        Worker& chosen = workers_[to];
        (to == released_by ? chosen.deque : chosen.mailbox).push(task, able);
    }
    Decision pop(WorkerId worker) override
    {
        const KindSet kind = abilities_.bit(worker);
        Worker& self = workers_[worker];
        Task* task = self.deque.take_newest(kind);
        if (!task) task = self.mailbox.take_oldest(kind);
        if (!task && may_steal(worker)) task = victims_.first(worker, [&](WorkerId victim) { return steal(worker, victim); });
        if (task) return {task};
        return {nullptr, join_ ? most_chunks_left(view_, worker) : no_worker};
    }
    bool wakes_all() const override { return closed_ || abilities_.mixed(); }
    bool asks_for_data() const override { return rule_ != Rule::released; }

private:
    struct Worker {
        TaskDeque deque, mailbox;
    };

    /// A device that takes a second task while the first runs is not idle. One that waits inside a task, for what nobody can say,
    /// is.
    bool may_steal(WorkerId worker) const
    {
        const Seconds free = idle_only_ ? view_.free_at(worker) : 0;
        return free <= view_.now() || free == std::numeric_limits<Seconds>::infinity();
    }
    Task* steal(WorkerId thief, WorkerId victim)
    {
        const KindSet kind = abilities_.bit(thief);
        const KindSet unless = from_slower_ && view_.kind(victim) > view_.kind(thief) ? abilities_.bit(victim) : 0;
        Task* task = workers_[victim].deque.take_oldest(kind, unless);
        return task || closed_ ? task : workers_[victim].mailbox.take_oldest(kind, unless);
    }
    WorkerId choose(const Task& task, KindSet able, WorkerId released_by)
    {
        switch (rule_) {
        case Rule::most_bytes: return with_most_bytes(task, able, released_by);
        case Rule::owner: return one_of_owners(task, able);
        case Rule::released: break;
        }
        return no_worker;
    }
    /// Among equals the one that released it if it is one of them, else a random one.
    WorkerId with_most_bytes(const Task& task, KindSet able, WorkerId released_by)
    {
        Bytes most = 0;
        candidates_.clear();
        for (WorkerId worker = 0; worker < view_.workers(); ++worker) {
            const Bytes bytes = able & abilities_.bit(worker) ? view_.valid_bytes(task, worker) : 0;
            if (bytes <= 0 || bytes < most) continue;
            if (bytes > most) candidates_.clear();
            most = bytes;
            candidates_.push_back(worker);
        }
        for (const WorkerId worker : candidates_)
            if (worker == released_by) return worker;
        return any_candidate();
    }
    WorkerId one_of_owners(const Task& task, KindSet able)
    {
        candidates_.clear();
        for (WorkerId worker = 0; worker < view_.workers(); ++worker)
            if ((able & abilities_.bit(worker)) && view_.holds_written(task, worker)) candidates_.push_back(worker);
        return any_candidate();
    }
    WorkerId any_candidate() { return candidates_.empty() ? no_worker : candidates_[random_.below(candidates_.size())]; }
    /// For tasks that no worker released: the able ones in turn.
    WorkerId next_able(KindSet able)
    {
        for (int step = 0; step < view_.workers(); ++step) {
            turn_ = (turn_ + 1) % view_.workers();
            if (able & abilities_.bit(turn_)) return turn_;
        }
        return turn_;
    }

    const View& view_;
    const Abilities abilities_;
    Victims victims_;
    std::vector<Worker> workers_;
    std::vector<WorkerId> candidates_; ///< of the call under way; kept for its memory
    QuickRandom random_;
    WorkerId turn_ = no_worker;
    const Rule rule_;
    const bool closed_, from_slower_, idle_only_, join_;
};

} // namespace

std::unique_ptr<Scheduler> make_released_by(const View& view, const SchedulerOptions& options)
{
    return std::make_unique<Mailboxes>(view, options, Rule::released);
}
std::unique_ptr<Scheduler> make_most_bytes(const View& view, const SchedulerOptions& options)
{
    return std::make_unique<Mailboxes>(view, options, Rule::most_bytes);
}
std::unique_ptr<Scheduler> make_owner(const View& view, const SchedulerOptions& options)
{
    return std::make_unique<Mailboxes>(view, options, Rule::owner);
}

} // namespace trencadis
