#include "scheduling/parts/node_deques.hpp"

#include "scheduling/parts/nodes.hpp"
#include "scheduling/parts/task_deque.hpp"

namespace trencadis {
namespace {

class NodeDeques final : public Scheduler {
public:
    NodeDeques(const View& view, const SchedulerOptions& options)
        : view_(view), abilities_(view), nodes_(view), deques_(nodes_.count()), random_(options.count("seed")),
          by_data_(options.text("place") == "data" && nodes_.count() > 1), fullest_(options.text("from") == "fullest"),
          random_victim_(options.text("from") == "random"), join_(options.flag("join"))
    {
        for (int node = 0; node < nodes_.count(); ++node) others_.push_back(nodes_.others_by_distance(node));
    }

    void push(Task& task, WorkerId released_by) override
    {
        // Nobody's tasks, whose data the View does not place, are dealt to the nodes in turn.
        const int home = released_by == no_worker ? turn_ = (turn_ + 1) % nodes_.count() : nodes_.of(released_by);
        deques_[by_data_ ? nodes_.with_most_bytes(task, home) : home].push(task, abilities_.of(task));
    }
    Decision pop(WorkerId worker) override
    {
        const int node = nodes_.of(worker);
        if (Task* task = deques_[node].take_newest(abilities_.bit(worker))) return {task};
        if (Task* task = steal(node, abilities_.bit(worker))) return {task};
        return {nullptr, join_ ? most_chunks_left(view_, worker) : no_worker};
    }
    bool wakes_all() const override { return abilities_.mixed(); }
    bool asks_for_data() const override { return by_data_; }

private:
    Task* steal(int node, KindSet kind)
    {
        std::vector<int>& others = others_[node];
        if (others.empty()) return nullptr;
        if (fullest_)
            std::stable_sort(others.begin(), others.end(),
                             [this](int a, int b) { return deques_[a].size() > deques_[b].size(); });
        const std::size_t start = random_victim_ ? random_.below(others.size()) : 0;
        for (std::size_t i = 0; i < others.size(); ++i)
            if (Task* task = deques_[others[(start + i) % others.size()]].take_oldest(kind)) return task;
        return nullptr;
    }

    const View& view_;
    const Abilities abilities_;
    const Nodes nodes_;
    std::vector<TaskDeque> deques_;
    std::vector<std::vector<int>> others_; ///< per node, in the order in which it steals
    QuickRandom random_;
    const bool by_data_, fullest_, random_victim_, join_;
    int turn_ = -1;
};

} // namespace

std::unique_ptr<Scheduler> make_node_deques(const View& view, const SchedulerOptions& options)
{
    return std::make_unique<NodeDeques>(view, options);
}

} // namespace trencadis
