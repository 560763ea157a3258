#include "scheduling/parts/central.hpp"

#include "base/error.hpp"
#include "scheduling/parts/parent_list.hpp"
#include "scheduling/parts/ready_queue.hpp"

namespace trencadis {
namespace {

class Central final : public Scheduler {
public:
    Central(const View& view, ReadyOrder order, bool join) : view_(view), abilities_(view), queue_(order), join_(join) {}

    void push(Task& task, WorkerId) override { queue_.push(task, abilities_.of(task)); }
    Decision pop(WorkerId worker) override
    {
        if (Task* task = queue_.pop(abilities_.bit(worker))) return {task};
        return {nullptr, join_ ? most_chunks_left(view_, worker) : no_worker};
    }
    bool wakes_all() const override { return abilities_.mixed(); }

private:
    const View& view_;
    const Abilities abilities_;
    ReadyQueue queue_;
    const bool join_;
};

class BehindParents final : public Scheduler {
public:
    BehindParents(const View& view, bool newest, bool join)
        : view_(view), abilities_(view), list_(view.workers(), newest), newest_(newest), join_(join)
    {
    }

    void push(Task& task, WorkerId released_by) override { list_.push(task, abilities_.of(task), released_by); }
    Decision pop(WorkerId worker) override
    {
        const TaskFlow* const awaited = newest_ ? view_.awaited(worker) : nullptr;
        if (Task* task = list_.pop(abilities_.bit(worker), worker, awaited)) return {task};
        return {nullptr, join_ ? most_chunks_left(view_, worker) : no_worker};
    }
    bool wakes_all() const override { return abilities_.mixed(); }

private:
    const View& view_;
    const Abilities abilities_;
    ParentList list_;
    const bool newest_;
    const bool join_;
};

} // namespace

std::unique_ptr<Scheduler> make_central(const View& view, const SchedulerOptions& options)
{
    const std::string_view order = options.text("order");
    const bool join = options.flag("join"), newest = options.text("waiting") == "newest";
    if (order == "parent") return std::make_unique<BehindParents>(view, newest, join);
    if (newest)
        throw Error(ErrorCode::bad_argument, "waiting=newest is of order=parent; order=" + std::string(order) + " was given");
    if (order == "oldest") return std::make_unique<Central>(view, ReadyOrder::oldest, join);
    if (order == "newest") return std::make_unique<Central>(view, ReadyOrder::newest, join);
    return std::make_unique<Central>(view, ReadyOrder::highest, join);
}

} // namespace trencadis
