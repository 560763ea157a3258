// On a device whose copies take as long as its kernels, the data of the next task come while one computes, and what the last one
// has written goes.
#include "base/sanitized.hpp"
#include "base/testing/eventually.hpp"
#include "queue_kernels.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <stdexcept>
#include <vector>

namespace trencadis::testing {
namespace {

constexpr Index nb = 64, tasks = 40;

/// Reads a tile, and computes for 10 ms: nothing comes of it.
struct ReadArgs {
    Flops flops() const { return 4e6; }
    void run_on_device(TaskContext& context) const
    {
        static_cast<const QueueKernels*>(context.kernels())
            ->queue->enqueue(flops(), [tile = context.operand(0)](const BlockMap& map) {
                if (*static_cast<const double*>(map.at(tile.data)) != 1) throw std::runtime_error("not what was written");
            });
    }
};
constexpr Codelet reading = codelet_of<ReadArgs>("read");

/// Writes a tile, for the first time or once more, and computes for 10 ms.
struct WriteArgs {
    double value;
    Flops flops() const { return 4e6; }
    void run_on_device(TaskContext& context) const
    {
        static_cast<const QueueKernels*>(context.kernels())
            ->queue->enqueue(flops(), [this_one = *this, tile = context.operand(0)](const BlockMap& map) {
                std::ranges::fill_n(static_cast<double*>(map.at(tile.data)), nb * nb, this_one.value);
            });
    }
};
constexpr Codelet writing = codelet_of<WriteArgs>("write");

struct ReadAnyArgs {
    Flops work = 1;
    Flops flops() const { return work; }
    void run_on_device(TaskContext& context) const
    {
        static_cast<const QueueKernels*>(context.kernels())->queue->enqueue(flops(), [](const BlockMap&) {});
    }
};
constexpr Codelet reading_any = codelet_of<ReadAnyArgs>("look");

/// Of tasks each of which reads a datum of its own: 10 ms to come, 10 ms to compute, nothing to go.
double seconds_with(int slots, bool locked)
{
    // 32 KiB in 10 ms is 3.2768 MB/s; three data find room.
    EngineOnDevices on("emulated,memory=100kB,bandwidth=3.2768MB/s,pageable=0.1,speed=400MFlop/s", "eager", 1, slots);
    std::vector<double> all(std::size_t(nb * nb * tasks), 1);
    const MemorySpan memory{all.data(), double(all.size() * sizeof(double))};
    const auto hold = locked ? on.engine->host_pages()->hold({&memory, 1}, memory.bytes, 1) : nullptr;
    EXPECT_EQ(hold != nullptr, locked);
    const auto begin = std::chrono::steady_clock::now();
    on.engine->run({}, [&](Flow& flow) {
        for (Index t = 0; t < tasks; ++t) {
            const Datum datum(all.data() + t * nb * nb, nb, nb, nb, sizeof(double));
            flow.submit(reading, ReadArgs{}, {Access{datum, AccessMode::read}});
        }
    });
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    EXPECT_EQ(on.engine->traffic()[0].staged, locked ? 0 : memory.bytes)
        << "what is page-locked goes as it lies, else by buffers";
    return seconds;
}

void expect_overlap(bool locked)
{
    if (sanitized) GTEST_SKIP() << "a sanitizer's build takes longer than the device that is emulated";
    const double each = 0.01, one = seconds_with(1, locked), longer = double(tasks) * each;
    double two = seconds_with(2, locked);
    for (int tries = 0; tries < 25 && two > longer / 0.9; ++tries)
        two = std::min(two, seconds_with(2, locked)); // others may have the cores
    std::printf("%.3f s with two in flight, %.3f s with one; the longer of copies and kernels is %.3f s\n", two, one, longer);
    EXPECT_GE(one, 1.9 * longer) << "a task's copy and its kernel one after the other";
    EXPECT_GE(two, longer);
    EXPECT_LE(two, longer / 0.75)
        << "a tenth more, or somewhat more where each of 80 wake-ups is late; without overlap as with one";
}

TEST(Overlap, OfCopiesAndKernelsIsThereWithTwoTasksInFlightAndNotWithOne) { expect_overlap(true); }

TEST(Overlap, IsThereForMemoryThatIsNotPageLocked) { expect_overlap(false); }

/// 10 ms to compute, 10 ms to go.
TEST(Overlap, OfKernelsAndOfWhatTheyHaveWritten)
{
    if (sanitized) GTEST_SKIP() << "a sanitizer's build takes longer than the device that is emulated";
    EngineOnDevices on("emulated,bandwidth=3.2768MB/s,speed=400MFlop/s", "eager", 1, 2);
    std::vector<double> all(std::size_t(nb * nb * tasks));
    const auto compute = [&] {
        on.engine->run({}, [&](Flow& flow) {
            for (Index t = 0; t < tasks; ++t) {
                const Datum datum(all.data() + t * nb * nb, nb, nb, nb, sizeof(double));
                flow.submit(writing, WriteArgs{double(t)}, {Access{datum, AccessMode::write}});
            }
        });
    };
    const double longer = double(tasks) * 0.01;
    const auto seconds = soonest(compute, std::chrono::duration<double>(longer / 0.9)).count();
    std::printf("%.3f s; the longer of kernels and copies is %.3f s\n", seconds, longer);
    EXPECT_GE(seconds, longer);
    EXPECT_LE(seconds, longer / 0.75) << "one after the other: twice as long";
    for (Index t = 0; t < tasks; ++t) ASSERT_EQ(all[std::size_t(t * nb * nb + t)], double(t));
}

/// What is written takes as long to go as the tasks that follow compute.
TEST(Overlap, IsThereForWhatWasWrittenBeforeTheOwnerWaited)
{
    if (sanitized) GTEST_SKIP() << "a sanitizer's build takes longer than the device that is emulated";
    EngineOnDevices on("emulated,bandwidth=3.2768MB/s,speed=400MFlop/s", "eager", 1, 2);
    constexpr Index half = tasks / 2;
    std::vector<double> all(std::size_t(nb * nb * half));
    const auto datum = [&](Index t) { return Datum(all.data() + t * nb * nb, nb, nb, nb, sizeof(double)); };
    const auto compute = [&] {
        const std::int64_t before = on.engine->times().back().tasks;
        on.engine->run({}, [&](Flow& flow) {
            for (Index t = 0; t < half; ++t) flow.submit(writing, WriteArgs{double(t)}, {Access{datum(t), AccessMode::write}});
            (void)eventually([&] { return on.engine->times().back().tasks >= before + half; });
            for (Index t = 0; t < half; ++t) flow.submit(reading_any, ReadAnyArgs{4e6}, {Access{datum(0), AccessMode::read}});
        });
    };
    const double kernels = double(tasks) * 0.01;
    const auto seconds = soonest(compute, std::chrono::duration<double>(kernels / 0.9)).count();
    EXPECT_GE(seconds, kernels);
    EXPECT_LE(seconds, kernels / 0.75) << "at the end: half as long again";
}

TEST(Overlap, MovesNothingTwice)
{
    EngineOnDevices on("emulated,latency=100us", "eager", 1, 2);
    std::vector<double> all(std::size_t(nb * nb * tasks));
    on.engine->run({}, [&](Flow& flow) {
        for (int turn = 1; turn <= 3; ++turn)
            for (Index t = 0; t < tasks; ++t) {
                const Datum datum(all.data() + t * nb * nb, nb, nb, nb, sizeof(double));
                flow.submit(writing, WriteArgs{double(turn * t)}, {Access{datum, AccessMode::readwrite}});
                if (turn == 2) flow.submit(reading_any, ReadAnyArgs{}, {Access{datum, AccessMode::read}});
            }
    });
    const DeviceTraffic traffic = on.engine->traffic()[0];
    EXPECT_EQ(traffic.to, double(all.size() * sizeof(double)));
    EXPECT_EQ(traffic.from, double(all.size() * sizeof(double))) << "what is written again does not go before";
    for (Index t = 0; t < tasks; ++t) ASSERT_EQ(all[std::size_t(t * nb * nb + t)], 3 * double(t));
}

} // namespace
} // namespace trencadis::testing
