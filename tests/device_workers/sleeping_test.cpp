// Devices sleep through the tasks of calls that leave them out.
#include "queue_kernels.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <deque>
#include <memory>
#include <thread>

namespace trencadis::testing {
namespace {

constexpr int cores = 1;

/// First come, first served; counts how often a device has looked.
class Counting final : public Scheduler {
public:
    explicit Counting(const View& view) : view_(view) {}
    void push(Task& task, WorkerId) override { queue_.push_back(&task); }
    Decision pop(WorkerId worker) override
    {
        if (worker >= cores) looks.fetch_add(1);
        if (queue_.empty() || !view_.able(*queue_.front(), worker)) return {};
        Task* const task = queue_.front();
        queue_.pop_front();
        return {.run = task};
    }
    static inline std::atomic<int> looks{0};

private:
    const View& view_;
    std::deque<Task*> queue_;
};
std::unique_ptr<Scheduler> make_counting(const View& view, const SchedulerOptions&) { return std::make_unique<Counting>(view); }
constexpr SchedulerEntry counting{{"counting", "of this test", ""}, false, make_counting};

struct WaitArgs {
    Flops flops() const { return 1; }
    void run(TaskContext&) const { std::this_thread::sleep_for(std::chrono::microseconds(200)); }
};
constexpr Codelet waiting = codelet_of<WaitArgs>("wait");

constexpr int steps = 50;

/// Of tasks for cores: in each step three can run when the one before them is over, and the device sleeps again.
int looks_in_steps(Engine& engine, std::uint64_t devices)
{
    double value = 0, others[3] = {};
    const auto access = [](double& at, AccessMode mode) { return Access{Datum(&at, 1, 1, 1, 8), mode}; };
    const int before = Counting::looks;
    engine.run({.flow = {.devices = devices}}, [&](Flow& flow) {
        for (int step = 0; step < steps; ++step) {
            flow.submit(waiting, WaitArgs{},
                        {access(value, AccessMode::readwrite), access(others[0], AccessMode::read),
                         access(others[1], AccessMode::read), access(others[2], AccessMode::read)});
            for (double& other : others)
                flow.submit(waiting, WaitArgs{}, {access(value, AccessMode::read), access(other, AccessMode::readwrite)});
        }
    });
    return Counting::looks - before;
}

TEST(DevicesThatACallLeavesOut, AreNotWokenForItsTasks)
{
    EngineOnDevices on("emulated", SchedulerSpec{.entry = &counting}, cores, 2);
    EXPECT_LE(looks_in_steps(*on.engine, 0), steps / 5) << "when the call begins and ends, at most";
    int looks = 0; // else they look at each step, if they are given the time
    for (int tries = 0; tries < 50 && looks < steps / 2; ++tries) looks = looks_in_steps(*on.engine, 1);
    EXPECT_GE(looks, steps / 2);
}

} // namespace
} // namespace trencadis::testing
