#include "engines/engine.hpp"
#include "graph/stored_task.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <vector>

namespace trencadis {
namespace {

/// An engine that takes submissions itself: it runs them, one after the other, when it is waited for.
class Patient final : public Engine {
public:
    Index run(const RunOptions& options, const std::function<void(Flow&)>& body) override
    {
        OwnFlow flow(*this, options.flow.window);
        body(flow);
        flow.wait();
        return flow.outcome().value();
    }
    std::unique_ptr<Flow> open_flow(const FlowOptions& options) override
    {
        return std::make_unique<OwnFlow>(*this, options.window);
    }
    std::span<const ComputeUnit> units() const override { return {&unit_, 1}; }
    std::vector<WorkerTime> times() const override { return {{}}; }
    Recorder& recorder() override { return recorder_; }
    const Capabilities& capabilities() const override { return abilities_; }

private:
    class OwnFlow final : public Flow {
    public:
        OwnFlow(Patient& engine, std::int64_t window) : engine_(engine), window_(window) {}
        ~OwnFlow() override { OwnFlow::cancel(), run(); }
        void wait() override { run(); }
        void cancel() override { cancelled_ = true; }
        bool cancelled() const override { return cancelled_; }

    private:
        void take(const Codelet& codelet, const Arguments& arguments, std::span<const Access> accesses,
                  const TaskOptions& options) override
        {
            if (std::int64_t(tasks_.size()) == window_) run();
            tasks_.push_back(std::make_unique<StoredTask>(codelet, arguments, accesses, options));
        }
        void run()
        {
            for (const auto& task : tasks_)
                if (!cancelled_) task->run(engine_.unit_, 0, {}, *this);
            tasks_.clear();
        }
        Patient& engine_;
        const std::int64_t window_;
        bool cancelled_ = false;
        std::vector<std::unique_ptr<StoredTask>> tasks_;
    };
    const ComputeUnit unit_;
    const Capabilities abilities_{};
    Recorder recorder_{1};
};

TEST(OwnFlows, AreWhatIsOpenedOnAnEngineThatHasThem)
{
    Patient engine;
    std::vector<int> ran;
    const auto kept = std::make_shared<int>(3); // what is not trivially copyable moves into the task, and ends with it
    {
        const std::unique_ptr<Flow> flow = engine.open_flow({.window = 2});
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
