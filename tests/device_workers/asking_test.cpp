// Whoever waits for data from a device asks its caller meanwhile, and keeps nobody from asking the engine.
#include "queue_kernels.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <future>

namespace trencadis::testing {
namespace {

struct FillArgs {
    Flops flops() const { return 1e3; }
    void run_on_device(TaskContext& context) const
    {
        static_cast<const QueueKernels*>(context.kernels())->queue->enqueue(flops(), [](const BlockMap&) {});
    }
};
constexpr Codelet filling = codelet_of<FillArgs>("fill");

TEST(DevicesWhoseDataComeHome, LetTheCallerBeAskedWhatWaitsForTheirStatistics)
{
    using namespace std::chrono_literals;
    EngineOnDevices on("emulated,bandwidth=4MB/s", "eager", 1, 2);
    std::vector<double> data(100000, 1); // 0.2 s each way
    std::vector<std::future<std::size_t>> others;
    int answered = 0, late = 0;
    const std::function<bool()> ask = [&] {
        others.push_back(std::async(std::launch::async, [&] { return on.engine->traffic().size(); }));
        ++(others.back().wait_for(60s) == std::future_status::ready ? answered : late);
        return false;
    };
    on.engine->run({.interrupted = &ask}, [&](Flow& flow) {
        for (Index t = 0; t < 10; ++t)
            flow.submit(filling, FillArgs{}, {Access{Datum(data.data() + 10000 * t, 100, 100, 100, 8), AccessMode::readwrite}});
    });
    EXPECT_EQ(late, 0);
    EXPECT_GT(answered, 0);
}

} // namespace
} // namespace trencadis::testing
