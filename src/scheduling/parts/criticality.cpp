#include "scheduling/parts/criticality.hpp"

#include "scheduling/parts/ready_queue.hpp"

#include <algorithm>
#include <set>
#include <unordered_map>
#include <vector>

namespace trencadis {
namespace {

class CriticalFirst final : public Scheduler {
public:
    CriticalFirst(const View& view, const SchedulerOptions& options)
        : view_(view), abilities_(view), critical_(order(options)), others_(order(options)),
          fast_steals_(allows(options, "fast-from-slow")), slow_steals_(allows(options, "slow-from-fast")),
          join_(options.flag("join"))
    {
        int slowest = view.kind(0);
        for (WorkerId worker = 0; worker < view.workers(); ++worker) slowest = std::min(slowest, view.kind(worker));
        for (WorkerId worker = 0; worker < view.workers(); ++worker) {
            // Where all are alike, all are fast.
            const bool fast = !abilities_.mixed() || view.kind(worker) > slowest;
            is_fast_.push_back(fast);
            (fast ? fast_ : slow_) |= abilities_.bit(worker);
        }
    }

    void push(Task& task, WorkerId) override
    {
        const double level = task.priority.load(std::memory_order_relaxed);
        const KindSet able = abilities_.of(task);
        if (unfinished_.size() <= task.depth) unfinished_.resize(task.depth + std::size_t{1});
        Levels& levels = unfinished_[task.depth];
        const bool longest = levels.empty() || level >= *levels.rbegin();
        level_of_[&task] = levels.insert(level);
        const bool critical = (able & fast_) && (longest || !(able & slow_));
        (critical ? critical_ : others_).push(task, able);
    }
    Decision pop(WorkerId worker) override
    {
        const bool fast = is_fast_[worker];
        const KindSet kind = abilities_.bit(worker);
        Task* task = (fast ? critical_ : others_).pop(kind);
        // Where there is no slow worker, nobody but the fast ones looks at the other queue.
        const bool steals = fast ? fast_steals_ || !slow_ : slow_steals_;
        if (!task && steals) task = (fast ? others_ : critical_).pop(kind);
        if (task) return {task};
        return {nullptr, join_ ? most_chunks_left(view_, worker) : no_worker};
    }
    void finished(const Task& task, WorkerId, Seconds) override
    {
        const auto known = level_of_.find(&task); // one that its submitter ran at once was never pushed
        if (known == level_of_.end()) return;
        unfinished_[task.depth].erase(known->second);
        level_of_.erase(known);
    }
    bool wants_finished() const override { return true; }
    bool wakes_all() const override { return abilities_.mixed(); }

private:
    using Levels = std::multiset<double>; ///< bottom levels
    static ReadyOrder order(const SchedulerOptions& options)
    {
        return options.text("queues") == "priority" ? ReadyOrder::highest : ReadyOrder::oldest;
    }
    static bool allows(const SchedulerOptions& options, std::string_view direction)
    {
        return options.text("stealing") == "both" || options.text("stealing") == direction;
    }

    const View& view_;
    const Abilities abilities_;
    std::vector<bool> is_fast_;
    KindSet fast_ = 0, slow_ = 0;
    ReadyQueue critical_, others_;
    std::vector<Levels>
        unfinished_; ///< of the tasks that are ready or run, by depth: those of tasks inside tasks are not comparable
    std::unordered_map<const Task*, Levels::iterator> level_of_; ///< as it was at the push, the priority may rise afterwards
    const bool fast_steals_, slow_steals_, join_;
};

} // namespace

std::unique_ptr<Scheduler> make_criticality(const View& view, const SchedulerOptions& options)
{
    return std::make_unique<CriticalFirst>(view, options);
}

} // namespace trencadis
