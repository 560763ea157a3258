// What every back end does, over each that this machine has.
#include "devices/backend.hpp"

#include "base/error.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cctype>
#include <csignal>
#include <numeric>
#include <set>
#include <string>
#include <unistd.h>
#include <vector>

namespace trencadis::devices {
namespace {

constexpr std::size_t n = 1000;
constexpr Extent whole{n * sizeof(double)};
std::vector<double> numbers()
{
    std::vector<double> x(n);
    std::iota(x.begin(), x.end(), 1.0);
    return x;
}
HostPlace place(std::vector<double>& x) { return {x.data(), whole.bytes}; }

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

Status end_of(Device& device, Queue queue) { return device.wait(device.mark(queue)); }

/// Of the signals, by their number.
std::vector<void (*)(int)> handlers()
{
    std::vector<void (*)(int)> all;
    for (int signal = 1; signal < 32; ++signal) {
        struct sigaction now {};
        sigaction(signal, nullptr, &now);
        all.push_back(now.sa_handler);
    }
    return all;
}
const std::vector<void (*)(int)> handlers_at_start = handlers(); // before any device was opened

/// Devices of 1 MiB, by their back end's words.
class Devices : public ::testing::TestWithParam<const char*> {
protected:
    void SetUp() override
    {
        try {
            open_devices(GetParam());
        } catch (const Error& error) {
            if (error.code() != ErrorCode::missing_backend) throw;
            GTEST_SKIP() << error.what();
        }
    }
    std::unique_ptr<Device> open() { return std::move(open_devices(std::string(GetParam()) + ",memory=1MiB").front()); }
    static Block allocated(Device& device, std::size_t bytes)
    {
        Block block = nullptr;
        const Status status = device.allocate(bytes, block);
        EXPECT_TRUE(status.ok()) << status.what;
        return block;
    }
    /// Something that fails among the kernels: no back end can do this.
    static void fail_a_kernel(Device& device)
    {
        device.kernels().enqueue(1, [](const BlockMap&) { throw Error(ErrorCode::environment, "it fails"); });
    }
};
INSTANTIATE_TEST_SUITE_P(Of, Devices, ::testing::Values("emulated:1", "opencl:0", "cuda:0"), [](const auto& words) {
    std::string name = words.param;
    std::erase_if(name, [](char c) { return !std::isalnum(static_cast<unsigned char>(c)); });
    return name;
});

TEST_P(Devices, HaveMemoryThatIsUnreadableForTheHost)
{
    const auto device = open();
    const auto* const first = static_cast<char*>(allocated(*device, 3 * 4096 + 8));
    EXPECT_FALSE(is_readable(first));
    EXPECT_FALSE(is_readable(first + 3 * 4096 + 7));
}

/// Tasks compute what lies together as one matrix: copies of two data must not seem to.
TEST_P(Devices, HaveBlocksThatDoNotTouchEachOther)
{
    const auto device = open();
    constexpr std::size_t bytes = 16 * 4096;
    std::set<const char*> begins, ends;
    for (int i = 0; i < 8; ++i) {
        const auto* const block = static_cast<const char*>(allocated(*device, bytes));
        begins.insert(block), ends.insert(block + bytes);
    }
    for (const char* const begin : begins) EXPECT_FALSE(ends.contains(begin));
}

TEST_P(Devices, HaveMemoryThatIsBoundedAndCountedAsAskedFor)
{
    const auto device = open();
    EXPECT_EQ(device->bytes(), 1 << 20);
    Block const most = allocated(*device, (1 << 20) - 1000);
    EXPECT_EQ(device->used(), (1 << 20) - 1000);
    Block more = nullptr;
    const Status full = device->allocate(1001, more);
    EXPECT_EQ(full.fault, Fault::out_of_memory);
    EXPECT_EQ(full.what, "1001 bytes were asked for, 1000 of 1048576 are free");
    EXPECT_EQ(more, nullptr);
    EXPECT_TRUE(device->release(most).ok());
    EXPECT_EQ(device->used(), 0);
    EXPECT_EQ(device->release(most).fault, Fault::bad_argument) << "released twice";
    EXPECT_EQ(device->allocate(0, more).fault, Fault::bad_argument);
    EXPECT_TRUE(device->allocate(1 << 20, more).ok());
}

TEST_P(Devices, TakeNoAddressesOfTheHostNorOfAnotherDevice)
{
    const auto device = open(), other = open();
    std::vector<double> x = numbers();
    Block const theirs = allocated(*other, whole.bytes);
    for (void* const wrong : {static_cast<void*>(x.data()), theirs, static_cast<void*>(nullptr)}) {
        EXPECT_EQ(device->copy_in(place(x), {wrong, whole.bytes}, whole).fault, Fault::bad_argument);
        EXPECT_EQ(device->copy_out({wrong, whole.bytes}, place(x), whole).fault, Fault::bad_argument);
    }
    EXPECT_EQ(x, numbers());
}

TEST_P(Devices, CopyWithinTheirBlocksOnly)
{
    const auto device = open();
    std::vector<double> x = numbers();
    Block const block = allocated(*device, whole.bytes);
    EXPECT_EQ(device->copy_in(place(x), {block, whole.bytes}, {whole.bytes + 1}).fault, Fault::bad_argument);
    EXPECT_EQ(device->copy_in(place(x), {block, 80}, {80, 101}).fault, Fault::bad_argument) << "a column too many";
    EXPECT_EQ(device->copy_in(place(x), {block, 72}, {80, 10}).fault, Fault::bad_argument) << "columns that overlap";
    EXPECT_EQ(device->copy_in({x.data(), 72}, {block, 80}, {80, 10}).fault, Fault::bad_argument);
    EXPECT_EQ(device->copy_in({nullptr, 80}, {block, 80}, {80, 10}).fault, Fault::bad_argument);
    EXPECT_EQ(device->copy_in(place(x), {block, 80}, {0, 10}).fault, Fault::bad_argument);
    EXPECT_TRUE(device->copy_in({x.data(), 80}, {block, 80}, {80, 100}).ok());
    EXPECT_TRUE(end_of(*device, Queue::in).ok());
}

TEST_P(Devices, KeepLeadingDimensionsAtBothEndsOfACopy)
{
    // A 5 x 7 matrix in one with 11 rows, on the device in one with 6, back into one with 9; the second time from inside a block.
    constexpr std::size_t rows = 5, cols = 7, ld = 11, there = 6, back = 9, element = sizeof(double);
    const auto device = open();
    std::vector<double> a(ld * cols);
    std::iota(a.begin(), a.end(), 0.0);
    auto* const block = static_cast<char*>(allocated(*device, (there * cols + 3) * element));
    for (const std::size_t offset : {0, 3}) {
        std::vector<double> b(back * cols, -1);
        const DevicePlace inside{block + offset * element, there * element};
        ASSERT_TRUE(device->copy_in({a.data(), ld * element}, inside, {rows * element, cols}).ok());
        ASSERT_TRUE(device->hold(Queue::out, device->mark(Queue::in)).ok());
        ASSERT_TRUE(device->copy_out(inside, {b.data(), back * element}, {rows * element, cols}).ok());
        ASSERT_TRUE(end_of(*device, Queue::out).ok());
        for (std::size_t j = 0; j < cols; ++j)
            for (std::size_t i = 0; i < back; ++i) ASSERT_EQ(b[i + j * back], i < rows ? a[i + j * ld] : -1) << i << ' ' << j;
    }
}

TEST_P(Devices, HaveQueuesThatKeepTheirOrderAndHoldForEachOther)
{
    // What goes round thirty times comes out as it went in the first time only if each copy waits for the one before.
    const auto device = open();
    std::vector<std::vector<double>> x(31, std::vector<double>(n, 0.0));
    x[0] = numbers();
    std::atomic<int> told{0};
    std::vector<int> order;
    Block const block = allocated(*device, whole.bytes);
    const auto note = [&](int which) {
        return [&, which](const Status& status) {
            EXPECT_TRUE(status.ok()) << status.what;
            order.push_back(which);
            ++told;
        };
    };
    Event last;
    for (std::size_t round = 0; round < 30; ++round) {
        ASSERT_TRUE(device->copy_in(place(x[round]), {block, whole.bytes}, whole).ok());
        ASSERT_TRUE(device->hold(Queue::out, device->mark(Queue::in)).ok());
        ASSERT_TRUE(device->copy_out({block, whole.bytes}, place(x[round + 1]), whole).ok());
        last = device->mark(Queue::out, note(int(round)));
        ASSERT_TRUE(device->hold(Queue::in, last).ok());
    }
    ASSERT_TRUE(device->wait(last).ok());
    EXPECT_TRUE(device->reached(last));
    EXPECT_EQ(told, 30) << "completions come before those who wait go on";
    EXPECT_TRUE(std::ranges::is_sorted(order));
    EXPECT_EQ(x[30], numbers());
}

TEST_P(Devices, KnowOnlyEventsThatAreTheirs)
{
    const auto device = open(), other = open();
    const Event theirs = other->mark(Queue::in);
    EXPECT_EQ(device->wait(theirs).fault, Fault::bad_argument);
    EXPECT_FALSE(device->reached(theirs));
    EXPECT_EQ(device->wait({device.get(), Queue::in, 1}).fault, Fault::bad_argument) << "not marked yet";
    EXPECT_EQ(device->hold(Queue::out, {device.get(), Queue::in, 7}).fault, Fault::bad_argument);
    EXPECT_EQ(device->hold(Queue::out, {}).fault, Fault::bad_argument);
}

TEST_P(Devices, HoldForEventsOfAnother)
{
    const auto device = open(), other = open();
    std::vector<double> x = numbers(), y(n), z(n);
    Block const there = allocated(*other, whole.bytes), here = allocated(*device, whole.bytes);
    ASSERT_TRUE(other->copy_in(place(x), {there, whole.bytes}, whole).ok());
    ASSERT_TRUE(other->hold(Queue::out, other->mark(Queue::in)).ok());
    ASSERT_TRUE(other->copy_out({there, whole.bytes}, place(y), whole).ok());
    ASSERT_TRUE(device->hold(Queue::in, other->mark(Queue::out)).ok());
    ASSERT_TRUE(device->copy_in(place(y), {here, whole.bytes}, whole).ok());
    ASSERT_TRUE(device->hold(Queue::out, device->mark(Queue::in)).ok());
    ASSERT_TRUE(device->copy_out({here, whole.bytes}, place(z), whole).ok());
    EXPECT_TRUE(end_of(*device, Queue::out).ok());
    EXPECT_EQ(z, x);
}

TEST_P(Devices, CopyDirectlyOnlyFromThoseTheyReach)
{
    const auto device = open(), other = open();
    Block const here = allocated(*device, whole.bytes), there = allocated(*other, whole.bytes);
    EXPECT_FALSE(device->reaches(*device));
    const Status status = device->copy_from(*other, {there, whole.bytes}, {here, whole.bytes}, whole);
    EXPECT_EQ(status.fault, device->reaches(*other) ? Fault::none : Fault::bad_argument) << status.what;
    EXPECT_TRUE(end_of(*device, Queue::in).ok());
}

TEST_P(Devices, LockPagesOnceAndAsAWhole)
{
    const auto device = open();
    constexpr std::size_t page = 4096;
    std::vector<char> memory(6 * page);
    char* const x = memory.data() + (page - reinterpret_cast<std::uintptr_t>(memory.data()) % page) % page;
    EXPECT_TRUE(device->lock_pages(x, 2 * page).ok());
    EXPECT_EQ(device->lock_pages(x, 2 * page).fault, Fault::bad_argument);
    EXPECT_EQ(device->lock_pages(x + 2 * page - 1, 10).fault, Fault::bad_argument);
    EXPECT_TRUE(device->lock_pages(x + 2 * page, 2 * page).ok());
    EXPECT_EQ(device->unlock_pages(x + 1).fault, Fault::bad_argument);
    EXPECT_EQ(device->release_host(x).fault, Fault::bad_argument) << "memory of the caller's";
    EXPECT_TRUE(device->unlock_pages(x).ok());
    EXPECT_EQ(device->unlock_pages(x).fault, Fault::bad_argument);
    EXPECT_TRUE(device->unlock_pages(x + 2 * page).ok());
    EXPECT_EQ(device->lock_pages(nullptr, 10).fault, Fault::bad_argument);
    EXPECT_EQ(device->lock_pages(x, 0).fault, Fault::bad_argument);
}

TEST_P(Devices, CopyFromAndToPageLockedMemory)
{
    const auto device = open();
    void* memory = nullptr;
    EXPECT_EQ(device->allocate_host(0, memory).fault, Fault::bad_argument);
    ASSERT_TRUE(device->allocate_host(whole.bytes, memory).ok());
    ASSERT_TRUE(is_readable(memory));
    std::ranges::copy(numbers(), static_cast<double*>(memory));
    std::vector<double> y(n);
    ASSERT_TRUE(device->lock_pages(y.data(), whole.bytes).ok());
    Block const block = allocated(*device, whole.bytes);
    ASSERT_TRUE(device->copy_in({memory, whole.bytes}, {block, whole.bytes}, whole).ok());
    ASSERT_TRUE(device->hold(Queue::out, device->mark(Queue::in)).ok());
    ASSERT_TRUE(device->copy_out({block, whole.bytes}, place(y), whole).ok());
    EXPECT_TRUE(end_of(*device, Queue::out).ok());
    EXPECT_TRUE(device->unlock_pages(y.data()).ok());
    EXPECT_EQ(y, numbers());
    EXPECT_TRUE(device->release_host(memory).ok());
    EXPECT_EQ(device->release_host(memory).fault, Fault::bad_argument);
}

TEST_P(Devices, LeaveOutWhatFollowsAFaultUpToTheNextEvent)
{
    const auto device = open();
    std::vector<double> x = numbers(), y(n, 7);
    Block const block = allocated(*device, whole.bytes);
    ASSERT_TRUE(device->copy_in(place(x), {block, whole.bytes}, whole).ok());
    ASSERT_TRUE(device->hold(Queue::kernels, device->mark(Queue::in)).ok());
    fail_a_kernel(*device);
    Fault told = Fault::none;
    const Event bad = device->mark(Queue::kernels, [&](const Status& status) { told = status.fault; });
    ASSERT_TRUE(device->hold(Queue::out, bad).fault != Fault::bad_argument);
    ASSERT_TRUE(device->copy_out({block, whole.bytes}, place(y), whole).ok());
    EXPECT_EQ(end_of(*device, Queue::out).fault, Fault::kernel) << "of what it held for";
    EXPECT_FALSE(device->wait(bad).what.empty());
    EXPECT_EQ(told, Fault::kernel);
    EXPECT_EQ(y, std::vector<double>(n, 7)) << "what follows a fault is left out";
    EXPECT_TRUE(end_of(*device, Queue::kernels).ok()) << "behind its event the queue goes on";
    ASSERT_TRUE(device->copy_out({block, whole.bytes}, place(y), whole).ok());
    EXPECT_TRUE(end_of(*device, Queue::out).ok());
    EXPECT_EQ(y, x);
    EXPECT_FALSE(device->lost());
}

TEST_P(Devices, EndWhatWasEnqueuedBeforeTheyGo)
{
    std::atomic<int> ended{0};
    std::vector<double> x = numbers(), y(n);
    {
        const auto device = open();
        Block const block = allocated(*device, whole.bytes);
        for (int i = 0; i < 20; ++i) {
            ASSERT_TRUE(device->copy_in(place(x), {block, whole.bytes}, whole).ok());
            const Event event = device->mark(Queue::in, [&](const Status&) { ++ended; });
            ASSERT_TRUE(device->hold(Queue::out, event).ok());
        }
        ASSERT_TRUE(device->copy_out({block, whole.bytes}, place(y), whole).ok());
    }
    EXPECT_EQ(ended, 20);
    EXPECT_EQ(y, x);
}

TEST_P(Devices, LeaveTheHandlersOfSignalsAlone)
{
    const auto device = open();
    EXPECT_EQ(handlers(), handlers_at_start) << "by the number of the signal, from 1";
}

TEST_P(Devices, SayInOneLineWhatIsWrongWithTheirWords)
{
    for (const char* const wrong : {":-1", ":1000", ":one", ",memory=64", ",memory=900TB", ",memroy=64MiB"}) {
        const std::string words = read_device_words(GetParam()).backend + wrong;
        try {
            open_devices(words);
            ADD_FAILURE() << words;
        } catch (const Error& error) {
            EXPECT_EQ(error.code(), ErrorCode::bad_argument) << words;
            EXPECT_EQ(std::string(error.what()).find('\n'), std::string::npos) << error.what();
        }
    }
}

} // namespace
} // namespace trencadis::devices
