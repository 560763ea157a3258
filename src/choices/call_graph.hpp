#pragma once
#include "graph/flow.hpp"

#include <cstdint>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

namespace trencadis::choices {

/// The tasks of a call and what waits for what, kept while an algorithm submits them: numbers alone, nothing is computed. A task
/// that submits tasks is one before all of those and one behind them.
class CallGraph final : public Flow {
public:
    using Task = std::int32_t; ///< in the order of submission, so what a task waits for has a smaller number

    /// Keeps no more than so many tasks.
    explicit CallGraph(std::size_t most) : most_(most) {}

    struct Weight {
        const Codelet* codelet = nullptr; ///< null: no work, the end of a task that submits
        Flops flops = 0;
        Index chunks = 1;               ///< of a malleable one more
        Bytes used = 0;                 ///< of its operands
        std::int32_t uses = 0, all = 0; ///< operands, and tasks that it waits for
        std::size_t first_use = 0;
    };
    struct Use {
        Bytes bytes;
        bool writes;
    };

    std::span<const Weight> tasks() const { return tasks_; }
    /// Its operands, in their order.
    std::span<const Use> uses(const Weight& task) const
    {
        return std::span(uses_).subspan(task.first_use, std::size_t(task.uses));
    }
    bool is_whole() const { return tasks_.size() <= most_; } ///< else there were more
    /// What waits for a task, as its end makes them ready: operand by operand, of those that wait for the same the last submitted
    /// first, and one that waits for several of them as often. Once all has been submitted.
    std::span<const Task> after(Task task) const;
    /// To be called then.
    void close();

    void wait() override {}
    void cancel() override {}
    bool cancelled() const override { return false; }

private:
    void take(const Codelet& codelet, const Arguments& arguments, std::span<const Access> accesses,
              const TaskOptions& options) override;

    struct Holder {
        Task task;
        int operand; ///< of it
    };
    struct Edge {
        Holder before;
        Task after;
    };
    /// Accesses that may be held together, and those that all of them wait for.
    struct History {
        AccessMode mode = AccessMode::write;
        std::vector<Holder> before, group;
        Bytes bytes = 0;     ///< at most
        Task user = -1;      ///< the last one,
        std::size_t use = 0; ///< and its use
    };
    /// The outermost flow, or the one inside a task.
    struct Level {
        Task begin = -1;
        std::unordered_map<const void*, History> data;
    };
    Task add(const Weight& weight);
    void note_use(Task task, const Access& access, History& datum);
    void wait_for(Holder before, Task after) { edges_.push_back({before, after}); }
    Task submit_inside(Task begin, const Codelet& codelet, void* args, std::span<const Access> accesses);

    const std::size_t most_;
    std::vector<Weight> tasks_;
    std::vector<Use> uses_;
    std::vector<Level> levels_{1};
    std::vector<Edge> edges_;        ///< until it is closed
    std::vector<std::size_t> first_; ///< [task], into after_
    std::vector<Task> after_;
};

} // namespace trencadis::choices
