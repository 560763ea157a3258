#include "devices/emulated/device.hpp"

#include "base/error.hpp"
#include "base/testing/eventually.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cmath>
#include <numeric>
#include <semaphore>
#include <unistd.h>
#include <vector>

namespace trencadis::devices {
namespace {

using Clock = std::chrono::steady_clock;
double seconds_since(Clock::time_point begin) { return std::chrono::duration<double>(Clock::now() - begin).count(); }

EmulatedTraits small()
{
    EmulatedTraits traits;
    traits.memory = 1 << 20;
    return traits;
}

Block allocated(Device& device, std::size_t bytes)
{
    Block block = nullptr;
    const Status status = device.allocate(bytes, block);
    EXPECT_TRUE(status.ok()) << status.what;
    return block;
}

/// Can this process read there? Asks the system, which says no instead of faulting.
bool is_readable(const void* address)
{
    int ends[2];
    EXPECT_EQ(pipe(ends), 0);
    const bool readable = write(ends[1], address, 1) == 1;
    close(ends[0]);
    close(ends[1]);
    return readable;
}

Status end_of(Device& device, Queue queue) { return device.wait(device.mark(queue, {})); }

constexpr std::size_t n = 1000;
std::vector<double> numbers()
{
    std::vector<double> x(n);
    std::iota(x.begin(), x.end(), 1.0);
    return x;
}
HostPlace place(std::vector<double>& x) { return {x.data(), n * sizeof(double)}; }
constexpr Extent whole{n * sizeof(double)};

KernelQueue::Body add_one(Block block)
{
    return [block](const BlockMap& map) {
        auto* const x = static_cast<double*>(map.at(block));
        for (std::size_t i = 0; i < n; ++i) x[i] += 1;
    };
}

TEST(EmulatedMemory, IsUnreadableForTheHost)
{
    EmulatedDevice device(small());
    Block const block = allocated(device, 3 * 4096 + 8);
    auto* const first = static_cast<char*>(block);
    EXPECT_FALSE(is_readable(first));
    EXPECT_FALSE(is_readable(first + 3 * 4096 + 7));
    std::vector<char> own(10);
    EXPECT_TRUE(is_readable(own.data())) << "else the question says nothing";
}

TEST(EmulatedMemory, BeginsAsNoNumber)
{
    EmulatedDevice device(small());
    Block const block = allocated(device, whole.bytes);
    std::vector<double> x(n);
    ASSERT_TRUE(device.copy_out({block, whole.bytes}, place(x), whole).ok());
    ASSERT_TRUE(end_of(device, Queue::out).ok());
    for (const double value : x) ASSERT_TRUE(std::isnan(value));
}

TEST(EmulatedMemory, IsBoundedAndCountedAsAskedFor)
{
    EmulatedDevice device(small());
    Block const most = allocated(device, (1 << 20) - 1000);
    EXPECT_EQ(device.used(), (1 << 20) - 1000);
    Block more = nullptr;
    const Status full = device.allocate(1001, more);
    EXPECT_EQ(full.fault, Fault::out_of_memory);
    EXPECT_EQ(full.what, "1001 bytes were asked for, 1000 of 1048576 are free");
    EXPECT_EQ(more, nullptr);
    EXPECT_TRUE(device.release(most).ok());
    EXPECT_EQ(device.used(), 0);
    EXPECT_EQ(device.release(most).fault, Fault::bad_argument) << "released twice";
    EXPECT_EQ(device.allocate(0, more).fault, Fault::bad_argument);
    EXPECT_TRUE(device.allocate(1 << 20, more).ok());
}

TEST(EmulatedMemory, TakesNoAddressesOfTheHostNorOfAnotherDevice)
{
    EmulatedDevice device(small()), other(small());
    std::vector<double> x = numbers();
    Block const theirs = allocated(other, whole.bytes);
    for (void* const wrong : {static_cast<void*>(x.data()), theirs, static_cast<void*>(nullptr)}) {
        EXPECT_EQ(device.copy_in(place(x), {wrong, whole.bytes}, whole).fault, Fault::bad_argument);
        EXPECT_EQ(device.copy_out({wrong, whole.bytes}, place(x), whole).fault, Fault::bad_argument);
        device.kernels().enqueue(1, add_one(wrong));
        EXPECT_EQ(end_of(device, Queue::kernels).fault, Fault::kernel);
    }
    EXPECT_EQ(x, numbers());
}

TEST(EmulatedCopies, StayWithinTheirBlock)
{
    EmulatedDevice device(small());
    std::vector<double> x = numbers();
    Block const block = allocated(device, whole.bytes);
    EXPECT_EQ(device.copy_in(place(x), {block, whole.bytes}, {whole.bytes + 1}).fault, Fault::bad_argument);
    EXPECT_EQ(device.copy_in(place(x), {block, 80}, {80, 101}).fault, Fault::bad_argument) << "a column too many";
    EXPECT_EQ(device.copy_in(place(x), {block, 72}, {80, 10}).fault, Fault::bad_argument) << "columns that overlap";
    EXPECT_EQ(device.copy_in({x.data(), 72}, {block, 80}, {80, 10}).fault, Fault::bad_argument);
    EXPECT_EQ(device.copy_in({nullptr, 80}, {block, 80}, {80, 10}).fault, Fault::bad_argument);
    EXPECT_EQ(device.copy_in(place(x), {block, 80}, {0, 10}).fault, Fault::bad_argument);
    EXPECT_TRUE(device.copy_in({x.data(), 80}, {block, 80}, {80, 100}).ok());
    EXPECT_TRUE(end_of(device, Queue::in).ok());
}

TEST(EmulatedCopies, KeepLeadingDimensionsAtBothEnds)
{
    // A 5 x 7 matrix in one with 11 rows, packed on the device, back into one with 9 rows.
    constexpr std::size_t rows = 5, cols = 7, ld = 11, back = 9, element = sizeof(double);
    EmulatedDevice device(small());
    std::vector<double> a(ld * cols), b(back * cols, -1);
    std::iota(a.begin(), a.end(), 0.0);
    Block const block = allocated(device, rows * cols * element);
    const DevicePlace packed{block, rows * element};
    ASSERT_TRUE(device.copy_in({a.data(), ld * element}, packed, {rows * element, cols}).ok());
    ASSERT_TRUE(device.hold(Queue::out, device.mark(Queue::in, {})).ok());
    ASSERT_TRUE(device.copy_out(packed, {b.data(), back * element}, {rows * element, cols}).ok());
    ASSERT_TRUE(end_of(device, Queue::out).ok());
    for (std::size_t j = 0; j < cols; ++j)
        for (std::size_t i = 0; i < back; ++i) EXPECT_EQ(b[i + j * back], i < rows ? a[i + j * ld] : -1) << i << ' ' << j;
}

TEST(EmulatedCopies, GoDirectlyBetweenDevicesThatReachEachOther)
{
    EmulatedTraits traits = small();
    EmulatedDevice alone(traits);
    traits.direct = true;
    EmulatedDevice a(traits), b(traits);
    EXPECT_TRUE(a.reaches(b));
    EXPECT_FALSE(a.reaches(a));
    EXPECT_FALSE(a.reaches(alone));
    std::vector<double> x = numbers(), y(n);
    Block const there = allocated(a, whole.bytes), here = allocated(b, whole.bytes);
    ASSERT_TRUE(a.copy_in(place(x), {there, whole.bytes}, whole).ok());
    ASSERT_TRUE(b.hold(Queue::in, a.mark(Queue::in, {})).ok());
    ASSERT_TRUE(b.copy_from(a, {there, whole.bytes}, {here, whole.bytes}, whole).ok());
    ASSERT_TRUE(b.hold(Queue::out, b.mark(Queue::in, {})).ok());
    ASSERT_TRUE(b.copy_out({here, whole.bytes}, place(y), whole).ok());
    ASSERT_TRUE(end_of(b, Queue::out).ok());
    EXPECT_EQ(x, y);
    EXPECT_EQ(alone.copy_from(a, {there, whole.bytes}, {here, whole.bytes}, whole).fault, Fault::bad_argument);
}

TEST(EmulatedCopies, FromADeviceThatIsLostBeforeTheyBeginAreItsLossAndNobodyElses)
{
    EmulatedTraits traits = small();
    traits.direct = true;
    EmulatedDevice a(traits), b(traits);
    Block const there = allocated(a, whole.bytes), here = allocated(b, whole.bytes);
    std::binary_semaphore gate{0};
    b.kernels().enqueue(1, [&](const BlockMap&) { gate.acquire(); });
    ASSERT_TRUE(b.hold(Queue::in, b.mark(Queue::kernels, {})).ok());
    ASSERT_TRUE(b.copy_from(a, {there, whole.bytes}, {here, whole.bytes}, whole).ok());
    a.lose();
    gate.release();
    EXPECT_EQ(end_of(b, Queue::in).fault, Fault::lost);
    EXPECT_FALSE(b.lost());
}

TEST(EmulatedQueues, KeepTheirOrderAndHoldForEachOther)
{
    EmulatedDevice device(small());
    std::vector<double> x = numbers(), y(n);
    Block const block = allocated(device, whole.bytes);
    // Each step would read what is not there yet if a hold did not hold: the kernel waits for a gate.
    std::binary_semaphore gate{0};
    std::atomic<int> reached{0};
    device.kernels().enqueue(1, [&](const BlockMap&) { gate.acquire(); });
    const Event opened = device.mark(Queue::kernels, [&](const Status&) { ++reached; });
    ASSERT_TRUE(device.hold(Queue::in, opened).ok());
    ASSERT_TRUE(device.copy_in(place(x), {block, whole.bytes}, whole).ok());
    const Event copied = device.mark(Queue::in, [&](const Status&) { ++reached; });
    ASSERT_TRUE(device.hold(Queue::kernels, copied).ok());
    for (int i = 0; i < 3; ++i) device.kernels().enqueue(n, add_one(block));
    ASSERT_TRUE(device.hold(Queue::out, device.mark(Queue::kernels, {})).ok());
    ASSERT_TRUE(device.copy_out({block, whole.bytes}, place(y), whole).ok());
    const Event last = device.mark(Queue::out, {});
    EXPECT_FALSE(device.reached(opened));
    EXPECT_FALSE(device.reached(last));
    gate.release();
    ASSERT_TRUE(device.wait(last).ok());
    EXPECT_TRUE(device.reached(copied));
    EXPECT_EQ(reached, 2) << "completions come before those who wait go on";
    for (std::size_t i = 0; i < n; ++i) ASSERT_EQ(y[i], x[i] + 3);
}

TEST(EmulatedQueues, KnowOnlyEventsThatAreTheirs)
{
    EmulatedDevice device(small()), other(small());
    const Event theirs = other.mark(Queue::in, {});
    EXPECT_EQ(device.wait(theirs).fault, Fault::bad_argument);
    EXPECT_EQ(device.wait({&device, Queue::in, 1}).fault, Fault::bad_argument) << "not marked yet";
    EXPECT_EQ(device.hold(Queue::out, {&device, Queue::in, 7}).fault, Fault::bad_argument);
    EXPECT_EQ(device.hold(Queue::out, {}).fault, Fault::bad_argument);
    EXPECT_TRUE(device.hold(Queue::out, theirs).ok()) << "of another device: that is what copies between two need";
}

TEST(EmulatedTimes, AreAtLeastThoseOfBandwidthLatencyAndSpeed)
{
    EmulatedTraits traits = small();
    traits.bandwidth = 1e6; // 8000 bytes in 8 ms
    traits.latency = 2e-3;
    traits.speed = 1e6;
    EmulatedDevice device(traits);
    std::vector<double> x = numbers();
    Block const block = allocated(device, whole.bytes);
    const auto time_of = [&](Queue queue, const auto& work) {
        const auto begin = Clock::now();
        work();
        EXPECT_TRUE(end_of(device, queue).ok());
        return seconds_since(begin);
    };
    const auto copies = [&] {
        for (int i = 0; i < 3; ++i) ASSERT_TRUE(device.copy_in(place(x), {block, whole.bytes}, whole).ok());
    };
    EXPECT_GE(time_of(Queue::in, copies), 3 * (2e-3 + 16e-3)) << "not page-locked: half the bandwidth";
    ASSERT_TRUE(device.lock_pages(x.data(), whole.bytes).ok());
    const double locked = time_of(Queue::in, copies);
    EXPECT_GE(locked, 3 * (2e-3 + 8e-3));
    EXPECT_GE(time_of(Queue::kernels, [&] { device.kernels().enqueue(20e3, add_one(block)); }), 20e-3);
    EXPECT_TRUE(device.unlock_pages(x.data()).ok());
}

TEST(EmulatedTimes, OfTheThreeQueuesOverlap)
{
    EmulatedTraits traits = small();
    traits.latency = 50e-3;
    traits.speed = 1e6;
    EmulatedDevice device(traits);
    std::vector<double> x = numbers(), y(n);
    Block const a = allocated(device, whole.bytes), b = allocated(device, whole.bytes), c = allocated(device, whole.bytes);
    const auto work = [&] {
        for (int i = 0; i < 4; ++i) {
            ASSERT_TRUE(device.copy_in(place(x), {a, whole.bytes}, whole).ok());
            device.kernels().enqueue(50e3, add_one(b));
            ASSERT_TRUE(device.copy_out({c, whole.bytes}, place(y), whole).ok());
        }
        for (const Queue queue : {Queue::in, Queue::kernels, Queue::out}) ASSERT_TRUE(end_of(device, queue).ok());
    };
    const std::chrono::duration<double> each(4 * 50e-3), took = testing::soonest(work, 2 * each);
    EXPECT_GE(took, each);
    EXPECT_LT(took, 2 * each) << "one after the other they would take 0.6 s";
}

TEST(EmulatedPages, AreLockedOnceAndAsAWhole)
{
    EmulatedDevice device(small());
    std::vector<char> x(10000);
    EXPECT_TRUE(device.lock_pages(x.data(), 5000).ok());
    EXPECT_EQ(device.lock_pages(x.data(), 5000).fault, Fault::bad_argument);
    EXPECT_EQ(device.lock_pages(x.data() + 4999, 10).fault, Fault::bad_argument);
    EXPECT_TRUE(device.lock_pages(x.data() + 5000, 5000).ok());
    EXPECT_EQ(device.unlock_pages(x.data() + 1).fault, Fault::bad_argument);
    EXPECT_EQ(device.release_host(x.data()).fault, Fault::bad_argument) << "memory of the caller's";
    EXPECT_TRUE(device.unlock_pages(x.data()).ok());
    EXPECT_EQ(device.unlock_pages(x.data()).fault, Fault::bad_argument);
    EXPECT_EQ(device.lock_pages(nullptr, 10).fault, Fault::bad_argument);
    EXPECT_EQ(device.lock_pages(x.data(), 0).fault, Fault::bad_argument);
    void* memory = nullptr;
    ASSERT_TRUE(device.allocate_host(100, memory).ok());
    EXPECT_TRUE(is_readable(memory));
    EXPECT_TRUE(device.release_host(memory).ok());
    EXPECT_EQ(device.allocate_host(0, memory).fault, Fault::bad_argument);
}

TEST(EmulatedFaults, OfAnAllocationLeaveTheOthersAlone)
{
    EmulatedTraits traits = small();
    traits.fail_allocation = 2;
    EmulatedDevice device(traits);
    allocated(device, 100);
    Block block = nullptr;
    EXPECT_EQ(device.allocate(100, block).fault, Fault::out_of_memory);
    allocated(device, 100);
}

TEST(EmulatedFaults, OfACopyReachWhatHoldsForItAndNothingElse)
{
    EmulatedTraits traits = small();
    traits.fail_copy = 2;
    EmulatedDevice device(traits);
    std::vector<double> x = numbers(), y(n, 7);
    Block const block = allocated(device, whole.bytes);
    ASSERT_TRUE(device.copy_in(place(x), {block, whole.bytes}, whole).ok());
    EXPECT_TRUE(end_of(device, Queue::in).ok());
    ASSERT_TRUE(device.copy_in(place(x), {block, whole.bytes}, whole).ok());
    Fault told = Fault::none;
    const Event bad = device.mark(Queue::in, [&](const Status& status) { told = status.fault; });
    ASSERT_TRUE(device.hold(Queue::out, bad).ok());
    ASSERT_TRUE(device.copy_out({block, whole.bytes}, place(y), whole).ok());
    const Status after = end_of(device, Queue::out);
    EXPECT_EQ(after.fault, Fault::copy);
    EXPECT_EQ(after.what, "copy number 2 of emulated 0 failed, as it was told to");
    EXPECT_EQ(told, Fault::copy);
    EXPECT_EQ(y, std::vector<double>(n, 7)) << "what follows a fault is left out";
    ASSERT_TRUE(device.copy_out({block, whole.bytes}, place(y), whole).ok());
    EXPECT_TRUE(end_of(device, Queue::out).ok()) << "behind its event the queue goes on";
    EXPECT_EQ(y, x);
}

TEST(EmulatedFaults, OfAKernelAreItsInjectedOnesAndWhatItThrows)
{
    EmulatedTraits traits = small();
    traits.fail_kernel = 1;
    EmulatedDevice device(traits);
    std::atomic<int> ran{0};
    const auto count = [&ran](const BlockMap&) { ++ran; };
    device.kernels().enqueue(1, count);
    device.kernels().enqueue(1, count);
    EXPECT_EQ(end_of(device, Queue::kernels).fault, Fault::kernel);
    EXPECT_EQ(ran, 0);
    device.kernels().enqueue(1, [](const BlockMap&) { throw Error(ErrorCode::environment, "no such kernel"); });
    const Status thrown = end_of(device, Queue::kernels);
    EXPECT_EQ(thrown.fault, Fault::kernel);
    EXPECT_EQ(thrown.what, "no such kernel");
    device.kernels().enqueue(1, count);
    EXPECT_TRUE(end_of(device, Queue::kernels).ok());
    EXPECT_EQ(ran, 1);
}

TEST(EmulatedFaults, OfADeviceThatIsLostEndAllThatWaits)
{
    EmulatedTraits traits = small();
    traits.bandwidth = 1e5; // 80 ms for a copy, which the loss cuts short
    traits.lose_at = 2;
    EmulatedDevice device(traits);
    std::vector<double> x = numbers();
    Block block = allocated(device, whole.bytes);
    std::atomic<int> lost{0};
    for (int i = 0; i < 100; ++i) {
        ASSERT_TRUE(device.copy_in(place(x), {block, whole.bytes}, whole).ok() || device.lost());
        const Event copied = device.mark(Queue::in, [&](const Status& status) { lost += status.fault == Fault::lost; });
        ASSERT_TRUE(device.hold(Queue::kernels, copied).ok());
    }
    EXPECT_EQ(end_of(device, Queue::kernels).fault, Fault::lost);
    EXPECT_TRUE(device.lost());
    EXPECT_EQ(lost, 99);
    EXPECT_EQ(device.allocate(8, block).fault, Fault::lost);
    EXPECT_EQ(device.copy_in(place(x), {block, whole.bytes}, whole).fault, Fault::lost);
    device.kernels().enqueue(1, [](const BlockMap&) { ADD_FAILURE() << "a lost device computes"; });
    EXPECT_EQ(end_of(device, Queue::kernels).fault, Fault::lost);
    EXPECT_EQ(end_of(device, Queue::out).fault, Fault::lost) << "also where nothing was to be done";
}

TEST(EmulatedFaults, ALossFromOutsideEndsASleep)
{
    EmulatedTraits traits = small();
    traits.speed = 1e6;
    EmulatedDevice device(traits);
    const auto begin = Clock::now();
    device.kernels().enqueue(1e9, [](const BlockMap&) {}); // a quarter of an hour
    const Event end = device.mark(Queue::kernels, {});
    device.lose();
    EXPECT_EQ(device.wait(end).fault, Fault::lost);
    EXPECT_LT(seconds_since(begin), 10);
}

TEST(EmulatedDevices, EndWhatWasEnqueuedBeforeTheyGo)
{
    std::atomic<int> ended{0};
    {
        EmulatedDevice device(small());
        for (int i = 0; i < 50; ++i) {
            device.kernels().enqueue(1, [&](const BlockMap&) { ++ended; });
            const Event event = device.mark(Queue::kernels, [&](const Status&) { ++ended; });
            ASSERT_TRUE(device.hold(Queue::out, event).ok());
        }
    }
    EXPECT_EQ(ended, 100);
}

} // namespace
} // namespace trencadis::devices
