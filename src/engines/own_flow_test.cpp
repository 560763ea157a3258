#include "base/error.hpp"
#include "engines/engine.hpp"
#include "graph/task_context.hpp"
#include "graph/task_flow.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <vector>

namespace trencadis {
namespace {

/// An engine that takes submissions itself: it runs them, one after the other, when it is waited for.
class Patient final : public Engine {
public:
    void ready(Task*) override { FAIL() << "it has no flows of ours"; }
    void drain(TaskFlow&, std::int64_t) override {}
    void wake_owner(TaskFlow&) override {}
    int workers() const override { return 1; }
    std::vector<WorkerTime> times() const override { return {{}}; }
    Recorder& recorder() override { return recorder_; }
    void poll_while_waiting(const std::function<bool()>*) override {}
    std::unique_ptr<Flow> own_flow(const FlowOptions& options) override { return std::make_unique<OwnFlow>(options.window); }

private:
    class Context final : public TaskContext {
    public:
        Context(Team& team, Flow& flow) : TaskContext(team, 0), flow_(flow) {}
        Operand operand(int) const override { return {}; }
        const Kernels* kernels() const override { return nullptr; }
        Flow& flow() override { throw Error(ErrorCode::bad_argument, "no tasks inside"); }
        void* part(int) override { return nullptr; }
        Info& outcome() override { return flow_.outcome(); }

    private:
        Flow& flow_;
    };
    class OwnFlow final : public Flow {
    public:
        explicit OwnFlow(std::int64_t window) : window_(window) {}
        ~OwnFlow() override { OwnFlow::cancel(), run(); }
        void wait() override { run(); }
        void cancel() override { cancelled_ = true; }
        bool cancelled() const override { return cancelled_; }

    private:
        struct Submitted {
            const Codelet* codelet;
            std::unique_ptr<std::byte[]> args;
        };
        void take(const Codelet& codelet, const Arguments& arguments, std::span<const Access>, const TaskOptions&) override
        {
            if (std::int64_t(tasks_.size()) == window_) run();
            tasks_.push_back({&codelet, std::make_unique<std::byte[]>(arguments.bytes)});
            arguments.move(tasks_.back().args.get(), arguments.data);
        }
        void run()
        {
            for (const Submitted& task : tasks_) {
                SharedWork work;
                Team team(work);
                Context context(team, *this);
                if (!cancelled_) task.codelet->core(task.args.get(), context);
                if (task.codelet->destroy) task.codelet->destroy(task.args.get());
            }
            tasks_.clear();
        }
        const std::int64_t window_;
        bool cancelled_ = false;
        std::vector<Submitted> tasks_;
    };
    Recorder recorder_{1};
};

TEST(OwnFlows, AreWhatIsOpenedOnAnEngineThatHasThem)
{
    Patient engine;
    std::vector<int> ran;
    const auto kept = std::make_shared<int>(3); // what is not trivially copyable moves into the task, and ends with it
    {
        const std::unique_ptr<Flow> flow = open_flow(engine, {.window = 2});
        flow->submit("first", [&ran] { ran.push_back(1); }, {});
        EXPECT_TRUE(ran.empty());
        flow->submit("second", [&ran] { ran.push_back(2); }, {});
        flow->submit("third", [&ran, kept] { ran.push_back(*kept); }, {});
        EXPECT_EQ(ran, (std::vector<int>{1, 2})) << "the window is the engine's to keep";
        EXPECT_EQ(kept.use_count(), 2);
        flow->wait();
        EXPECT_EQ(ran, (std::vector<int>{1, 2, 3}));
        flow->submit("not run", [&ran, kept] { ran.push_back(4); }, {});
        flow->cancel();
    }
    EXPECT_EQ(ran.size(), 3u);
    EXPECT_EQ(kept.use_count(), 1);
}

} // namespace
} // namespace trencadis
