// A device with less memory than it says: who has waited for room is given what others could not use.
#include "base/testing/eventually.hpp"
#include "queue_kernels.hpp"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

namespace trencadis::testing {
namespace {

/// Keeps the only core until data of the first task for both have begun to come to the device, which then has it.
struct HoldArgs {
    const Engine* engine;
    Flops flops() const { return 1e6; } // so that it goes first
    void run(TaskContext&) const
    {
        const auto none_come = [&] { return engine->traffic()[0].to == 0; };
        for (const Deadline deadline; none_come() && !deadline.passed();) std::this_thread::yield();
    }
};
constexpr Codelet holding = codelet_of<HoldArgs>("hold");

/// Adds one to each element.
struct AddArgs {
    double* x;
    Index count;
    Flops flops() const { return double(count); }
    void run(TaskContext&) const
    {
        for (Index i = 0; i < count; ++i) x[i] += 1;
    }
    void run_on_device(TaskContext& context) const
    {
        double* const block = static_cast<double*>(context.operand(0).data);
        static_cast<const QueueKernels*>(context.kernels())->queue->enqueue(flops(), [block, n = count](const BlockMap& map) {
            double* const at = static_cast<double*>(map.at(block));
            for (Index i = 0; i < n; ++i) at[i] += 1;
        });
    }
};
constexpr Codelet adding = codelet_of<AddArgs>("add");
constexpr Codelet adding_there = [] {
    Codelet codelet = codelet_of<AddArgs>("add there");
    codelet.core = nullptr;
    return codelet;
}();

Access access(std::vector<double>& data, AccessMode mode)
{
    const Index count = Index(data.size());
    return {Datum(data.data(), count, 1, count, 8), mode};
}

/// Of 150 kB somebody else has 60. The first task's 60 kB come, and there is no room for its other 70: it goes to the core. The
/// second one's 60 kB, for which there was no room beside both, then have it.
TEST(ADeviceWithLessMemoryThanItSays, HasATaskThatWaitedForRoomWhenTheOneBeforeGoesToACore)
{
    EngineOnDevices on("emulated,memory=150kB,bandwidth=6MB/s", "eager", 1, 2);
    devices::Block taken = nullptr;
    ASSERT_TRUE(on.list[0]->allocate(60000, taken).ok());
    std::vector<double> held(10), first(7500), beside(8750), second(7500);
    on.engine->run({}, [&](Flow& flow) {
        flow.submit(holding, HoldArgs{on.engine.get()}, {access(held, AccessMode::readwrite)});
        flow.submit(adding, AddArgs{first.data(), 7500},
                    {access(first, AccessMode::readwrite), access(beside, AccessMode::read)});
        flow.submit(adding_there, AddArgs{second.data(), 7500}, {access(second, AccessMode::readwrite)});
    });
    EXPECT_EQ(first, std::vector<double>(7500, 1));
    EXPECT_EQ(second, std::vector<double>(7500, 1));
}

} // namespace
} // namespace trencadis::testing
