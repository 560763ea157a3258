#include "random_graph.hpp"

#include <fmt/format.h>

namespace trencadis::testing {

namespace {

constexpr const char* mode_names[] = {"read", "write", "readwrite", "concurrent_write", "commute", "reduce"};

AccessMode random_mode(Random& random)
{
    // Readers and exclusive writers make the shape of the graph; the unordered modes come often enough to form groups.
    static constexpr int modes[] = {0, 0, 0, 1, 2, 2, 2, 3, 3, 4, 4, 5, 5};
    return AccessMode(random.pick(modes));
}

class Planner {
public:
    Planner(Random& random, bool failures) : random_(random), failures_(failures) {}

    GraphPlan plan()
    {
        static constexpr int sizes[] = {1, 2, 3, 5, 8, 13, 20, 40, 60, 120};
        plan_.data = 1 + random_.below(8);
        const int steps = random_.pick(sizes);
        for (int i = 0; i < steps; ++i) plan_.steps.push_back(step(plan_.data, 0));
        return std::move(plan_);
    }

private:
    GraphPlan::Step step(int data, int depth)
    {
        GraphPlan::Step step;
        step.id = plan_.tasks++;
        const int uses = random_.one_in(12) ? random_.below(8) : random_.below(4);
        for (int u = 0; u < uses; ++u) add_use(step, {random_.below(data), random_mode(random_)});
        step.priority = random_.one_in(3) ? random_.below(100) : 0;
        step.delay = random_.one_in(8) ? 1 + random_.below(20) : 0;
        step.big = random_.one_in(16);
        step.throws = failures_ && random_.one_in(12);
        if (random_.one_in(6) && !step.effective.empty() && is_exclusive(step.effective.back().mode))
            step.chunks = 2 + random_.below(12);
        else if (depth < 3 && random_.one_in(depth == 0 ? 12 : 5)) {
            step.waits = random_.one_in(2);
            const int children = 1 + random_.below(5);
            for (int c = 0; c < children; ++c) step.children.push_back(this->step(GraphPlan::child_data, depth + 1));
        }
        return step;
    }
    static bool is_exclusive(AccessMode mode) { return mode == AccessMode::write || mode == AccessMode::readwrite; }
    static void add_use(GraphPlan::Step& step, GraphPlan::Use use)
    {
        step.uses.push_back(use);
        for (GraphPlan::Use& earlier : step.effective)
            if (earlier.datum == use.datum) {
                if (earlier.mode != use.mode) earlier.mode = AccessMode::readwrite;
                return;
            }
        step.effective.push_back(use);
        step.part.push_back(int(step.uses.size()) - 1);
    }

    Random& random_;
    const bool failures_;
    GraphPlan plan_;
};

} // namespace

GraphPlan GraphPlan::random(Random& random, bool failures) { return Planner(random, failures).plan(); }

std::string describe(const GraphPlan::Step& step)
{
    std::string text = fmt::format("task {}:", step.id);
    for (const GraphPlan::Use& use : step.uses) text += fmt::format(" {}({})", mode_names[int(use.mode)], use.datum);
    if (step.chunks) text += fmt::format(", {} chunks", step.chunks);
    if (step.throws) text += ", throws";
    if (!step.children.empty())
        text += fmt::format(", {} children{}", step.children.size(), step.waits ? ", waits for them" : "");
    return text;
}

Outcome::Outcome(const GraphPlan& plan)
    : data(std::size_t(plan.data)), result(std::size_t(plan.tasks)), ran(std::size_t(plan.tasks)),
      chunks_run(std::size_t(plan.tasks))
{
}

namespace {

std::string difference_in_data(const Outcome& expected, const Outcome& seen)
{
    for (std::size_t d = 0; d < expected.data.size(); ++d) {
        const Datum &a = expected.data[d], &b = seen.data[d];
        if (a.value() != b.value())
            return fmt::format("datum {} ends as chain {:x}, sums {} + {}; in order it is {:x}, {} + {}", d, b.chain, b.plain_sum,
                               b.shared_sum.load(), a.chain, a.plain_sum, a.shared_sum.load());
        for (int mode = 0; mode < 6; ++mode)
            if (b.inside[mode].load())
                return fmt::format("{} tasks are still inside datum {} as {}", b.inside[mode].load(), d, mode_names[mode]);
    }
    return {};
}

} // namespace

std::string difference(const GraphPlan& plan, const Outcome& expected, const Outcome& seen)
{
    if (seen.violations.load())
        return fmt::format("{} times two tasks were inside one datum that must not be", seen.violations.load());
    for (int id = 0; id < plan.tasks; ++id) {
        const auto i = std::size_t(id);
        if (seen.ran[i].load() != expected.ran[i].load())
            return fmt::format("task {} ran {} times, in order {} times", id, seen.ran[i].load(), expected.ran[i].load());
        if (seen.chunks_run[i].load() != expected.chunks_run[i].load())
            return fmt::format("task {} ran {} chunks, in order {}", id, seen.chunks_run[i].load(),
                               expected.chunks_run[i].load());
        if (seen.result[i] != expected.result[i]) return fmt::format("task {} saw values that it does not see in order", id);
    }
    return difference_in_data(expected, seen);
}

} // namespace trencadis::testing
