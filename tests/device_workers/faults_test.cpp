// A device that fails ends for its engine: its tasks are done by others, as far as what they need is elsewhere; else their calls
// fail with one line. Nobody waits for ever, and no number is wrong.
#include "algorithms/forms/incremental.hpp"
#include "algorithms/gemm.hpp"
#include "algorithms/potrf.hpp"
#include "base/error.hpp"
#include "base/sanitized.hpp"
#include "base/testing/eventually.hpp"
#include "on_devices.hpp"
#include "queue_kernels.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <functional>
#include <thread>

namespace trencadis::testing {
namespace {

constexpr Index n = 160, nb = 32;

using Compute = std::function<void(OnDevices&, std::vector<double>&)>;

void cholesky(OnDevices& on, std::vector<double>& A)
{
    on.run([&](Flow& flow) { potrf(flow, TileMatrix<double>({A.data(), n, n, n}, nb, nb)); });
}
void incremental(OnDevices& on, std::vector<double>& A)
{
    const Place::Operand operand{A.data(), n};
    Place memory(std::span(&operand, 1));
    IncrementalLayout<double> laid(memory, {.m = n, .n = n, .nb = nb, .inner = 16});
    on.run([&](Flow& flow) { laid.submit(flow); });
}

std::vector<double> operand()
{
    std::vector<double> A(n * n);
    for (Index j = 0; j < n; ++j)
        for (Index i = 0; i < n; ++i) A[std::size_t(i + j * n)] = 1.0 / double(1 + i + j) + (i == j ? 3 : 0);
    return A;
}

std::string failure_of(const Compute& compute, OnDevices& on, std::vector<double>& A)
{
    A = operand();
    try {
        compute(on, A);
    } catch (const Error& error) {
        return error.what();
    }
    return {};
}

int faults_of(OnDevices& on)
{
    int faults = 0;
    for (const DeviceTraffic& device : on.engine().traffic()) faults += !device.fault.empty();
    return faults;
}

/// A call is right or fails with one line, which it does only when a device was lost in it. Returns how many were, of two.
int faults_in_calls(const Compute& compute, const std::vector<double>& right, const std::string& words, const char* scheduler,
                    const std::string& both)
{
    OnDevices on(both + ",speed=200GFlop/s," + words, scheduler, 1);
    const int most = words.ends_with("=1") && !words.starts_with("fail-a")
                         ? 500
                         : 4; // cores may have done all of a call before a device is awake
    for (int call = 0, faults = 0; call < 4 || (call < most && faults == 0); ++call, faults = faults_of(on)) {
        std::vector<double> A;
        const std::string message = failure_of(compute, on, A), where = both + "," + words + " with " + scheduler;
        if (message.empty()) EXPECT_TRUE(A == right) << where;
        else {
            EXPECT_EQ(message.rfind("device 'emulated", 0), 0u) << where << ": " << message;
            EXPECT_EQ(message.find('\n'), std::string::npos) << message;
            EXPECT_GT(faults_of(on), faults) << where << ": " << message;
        }
    }
    return faults_of(on);
}

void sweep(const Compute& compute)
{
    std::vector<double> right;
    OnDevices cores("", "eager", 1);
    ASSERT_EQ(failure_of(compute, cores, right), "");
    OnDevices healthy("emulated:2", "eager", 1);
    std::vector<double> A;
    // Where others take the cores, one of ours may have done all of many calls before a device's thread has run.
    for (const Deadline deadline; healthy.tasks_on_devices() < 5 && !deadline.passed();) {
        ASSERT_EQ(failure_of(compute, healthy, A), "");
        ASSERT_EQ(A, right);
    }
    ASSERT_GE(healthy.tasks_on_devices(), 5);
    const bool all = std::getenv("TRENCADIS_DEVICE_FAULTS") != nullptr;
    for (const char* word : {"fail-allocation", "fail-copy", "fail-kernel", "lose-at"}) {
        int struck = 0;
        for (int number = 1; number < (all ? 300 : sanitized ? 15 : 40); ++number)
            struck += faults_in_calls(compute, right, word + ('=' + std::to_string(number)), number % 3 ? "eager" : "h2",
                                      number % 2 ? "emulated:2" : "emulated:2,direct=yes");
        if (std::string_view(word) != "fail-allocation") {
            EXPECT_GT(struck, 0) << word;
        }
    }
}

TEST(DeviceFaults, OfAnyNumberLeaveCholeskyRightOrFailIt) { sweep(cholesky); }
TEST(DeviceFaults, OfAnyNumberLeaveLuRightOrFailIt) { sweep(incremental); }

TEST(DeviceFaults, WhoseTasksHaveTheirDataElsewhereAreDoneByCores)
{
    for (const char* words : {"fail-kernel=1", "fail-copy=1", "lose-at=1"})
        for (const char* scheduler : {"mosaic", "eager", "h2", "dmda"}) {
            OnDevices on(std::string("emulated:1,speed=100GFlop/s,") + words, scheduler, 1);
            std::vector<double> A(n * n, 1), B(n * n, 2), C;
            const auto tiles = [](std::vector<double>& of) { return TileMatrix<double>({of.data(), n, n, n}, nb, nb); };
            for (const Deadline deadline; on.engine().traffic()[0].fault.empty() && !deadline.passed();) {
                C.assign(n * n, 5);
                on.run([&](Flow& flow) { gemm(flow, 1.0, tiles(A), tiles(B), 0.0, tiles(C)); });
                ASSERT_EQ(C, std::vector<double>(n * n, 2.0 * n)) << words << ' ' << scheduler;
            }
            EXPECT_FALSE(on.engine().traffic()[0].fault.empty()) << words << ' ' << scheduler;
        }
}

TEST(DeviceFaults, OfMemoryThatIsLessThanItSaysMakeRoomAndLeaveTheRestToCores)
{
    for (const double left : {0.0, 24e3, 60e3}) {
        OnDevices on("emulated,memory=256kB,speed=100GFlop/s", "eager", 1);
        devices::Block taken = nullptr;
        ASSERT_TRUE(on.device(0).allocate(std::size_t(256e3 - left), taken).ok());
        std::vector<double> right, A;
        OnDevices cores("", "eager", 1);
        ASSERT_EQ(failure_of(cholesky, cores, right), "");
        for (int tries = 0; tries < 10; ++tries) {
            ASSERT_EQ(failure_of(cholesky, on, A), "") << left;
            ASSERT_EQ(A, right) << left;
        }
        EXPECT_EQ(on.engine().traffic()[0].fault, "");
    }
}

/// Of devices alone.
struct FillArgs {
    Flops flops() const { return 1e3; }
    void run_on_device(TaskContext& context) const
    {
        static_cast<const QueueKernels*>(context.kernels())->queue->enqueue(flops(), [](const BlockMap&) {});
    }
};
constexpr Codelet filling = codelet_of<FillArgs>("fill");

TEST(DeviceFaults, LeaveNoTaskOfDevicesAloneWaitingForEver)
{
    for (const char* scheduler : {"mosaic", "eager", "ws", "h1", "h2", "dmda", "heft", "cats", "locality-default"})
        for (const char* words : {"emulated:2,memory=1kB", "emulated:2,lose-at=1", "emulated,fail-allocation=1,memory=300kB"}) {
            EngineOnDevices on(words, scheduler, 1, 2);
            std::vector<double> data(20000, 1);
            std::string message;
            try {
                for (int call = 0; call < 2; ++call) // on the second one both devices are lost
                    on.engine->run({}, [&](Flow& flow) {
                        for (Index t = 0; t < 20; ++t)
                            flow.submit(filling, FillArgs{},
                                        {Access{Datum(data.data() + 1000 * t, 10, 100, 10, 8), AccessMode::readwrite}});
                    });
            } catch (const Error& error) {
                message = error.what();
            }
            const bool enough = std::string_view(words).ends_with("300kB"); // the second allocation is there
            EXPECT_EQ(message.empty(), enough) << scheduler << ' ' << words << ": " << message;
            EXPECT_EQ(message.find('\n'), std::string::npos);
        }
}

/// Twice what it was.
struct DoubleArgs {
    Flops flops() const { return 1e3; }
    void run_on_device(TaskContext& context) const
    {
        double* const block = static_cast<double*>(context.operand(0).data);
        static_cast<const QueueKernels*>(context.kernels())->queue->enqueue(flops(), [=](const BlockMap& map) {
            double* const at = static_cast<double*>(map.at(block));
            for (Index i = 0; i < 1000; ++i) at[i] *= 2;
        });
    }
};
constexpr Codelet doubling = codelet_of<DoubleArgs>("double");

TEST(DeviceFaults, LeaveTasksOfDevicesAloneToAnotherDevice)
{
    for (const char* scheduler : {"mosaic", "eager", "ws", "h1", "h2", "dmda", "heft", "cats", "locality-default"})
        for (const char* words : {"emulated:2,lose-at=1+9999", "emulated:2,fail-kernel=1+9999", "emulated:2,fail-copy=1+9999"}) {
            EngineOnDevices on(words, scheduler, 1, 2);
            const auto is_gone = [&] { return !on.engine->traffic()[0].fault.empty(); };
            int calls = 0;
            for (; calls < 500 && !is_gone(); ++calls) {
                std::vector<double> data(20000, 1);
                const auto body = [&](Flow& flow) {
                    for (Index t = 0; t < 20; ++t)
                        flow.submit(doubling, DoubleArgs{},
                                    {Access{Datum(data.data() + 1000 * t, 10, 100, 10, 8), AccessMode::readwrite}});
                };
                ASSERT_NO_THROW(on.engine->run({}, body)) << scheduler << ' ' << words;
                ASSERT_EQ(data, std::vector<double>(20000, 2)) << scheduler << ' ' << words;
            }
            EXPECT_TRUE(is_gone()) << scheduler << ' ' << words << " after " << calls << " calls";
        }
}

/// Adds one to each element, on devices in two kernels, between which or before which the body may throw.
struct Throwing {
    enum class Where : std::uint8_t { nowhere, before, between };
    Where where = Where::nowhere;
    int step = -1; ///< of a chain; -1: any. On the first one the value is at home as well
    bool on_core = false;
};
struct AddOneArgs {
    double* x;
    Index count;
    const Throwing* throwing;
    std::atomic<int>* thrown;
    int step;
    Flops flops() const { return double(count); }
    void run(TaskContext&) const
    {
        if (*thrown == 0) std::this_thread::sleep_for(std::chrono::microseconds(300)); // the devices have some of them
        else if (throwing->on_core) throw Error(ErrorCode::environment, "nor does a core");
        for (Index i = 0; i < count; ++i) x[i] += 1;
    }
    void run_on_device(TaskContext& context) const
    {
        const auto add = [&](Index begin, Index end) {
            double* const block = static_cast<double*>(context.operand(0).data);
            static_cast<const QueueKernels*>(context.kernels())->queue->enqueue(flops(), [=](const BlockMap& map) {
                double* const at = static_cast<double*>(map.at(block));
                for (Index i = begin; i < end; ++i) at[i] += 1;
            });
        };
        const bool throws = throwing->step < 0 || throwing->step == step;
        if (throws && throwing->where == Throwing::Where::before) fall();
        add(0, count / 2);
        if (throws && throwing->where == Throwing::Where::between) fall();
        add(count / 2, count);
    }
    [[noreturn]] void fall() const
    {
        thrown->fetch_add(1);
        throw Error(ErrorCode::environment, "the body does not go on");
    }
};
constexpr Codelet adding = codelet_of<AddOneArgs>("add");

/// Chains of tasks on data of their own. Returns what the call said; `thrown`: how often a body threw, which it did at all.
std::string chains_that_throw(const Throwing& throwing, const char* scheduler, std::vector<double>& data, int& faults)
{
    constexpr Index count = 100, chains = 12, length = 6;
    std::string message;
    std::atomic<int> thrown{0};
    EngineOnDevices on("emulated:2", scheduler, 1, 2);
    for (const Deadline deadline; thrown == 0 && message.empty() && !deadline.passed();) try {
            data.assign(count * chains, 0);
            on.engine->run({}, [&](Flow& flow) {
                for (Index t = 0; t < length; ++t)
                    for (Index c = 0; c < chains; ++c) {
                        double* const x = data.data() + c * count;
                        flow.submit(adding, AddOneArgs{x, count, &throwing, &thrown, int(t)},
                                    {Access{Datum(x, 10, 10, 10, 8), AccessMode::readwrite}});
                    }
            });
            EXPECT_EQ(data, std::vector<double>(count * chains, length)) << scheduler;
        } catch (const Error& error) {
            message = error.what();
        }
    EXPECT_GT(thrown, 0) << scheduler;
    faults = 0;
    for (const DeviceTraffic& device : on.engine->traffic()) faults += !device.fault.empty();
    return message;
}

constexpr const char* all_schedulers[] = {"mosaic", "eager", "ws", "h1", "h2", "dmda", "heft", "cats", "locality-default"};

TEST(DeviceFaults, OfABodyThatThrowsBeforeItsKernelsGiveTheTaskToACore)
{
    std::vector<double> data;
    int faults = 0;
    for (const char* scheduler : all_schedulers) {
        EXPECT_EQ(chains_that_throw({Throwing::Where::before}, scheduler, data, faults), "") << scheduler;
        EXPECT_EQ(faults, 0) << "the device is as it was";
    }
}

TEST(DeviceFaults, OfABodyThatThrowsBetweenItsKernelsGiveTheTaskToACoreWhereItsDataAreElsewhere)
{
    std::vector<double> data;
    int faults = 0;
    for (const char* scheduler : all_schedulers)
        EXPECT_EQ(chains_that_throw({Throwing::Where::between, 0}, scheduler, data, faults), "") << scheduler;
}

TEST(DeviceFaults, OfABodyThatThrowsBetweenItsKernelsAreRightOrSaidWhereTheOnlyValueWasThere)
{
    std::vector<double> data;
    int faults = 0;
    int said = 0;
    for (const char* scheduler : all_schedulers)
        for (int round = 0; round < 3; ++round) {
            const std::string message = chains_that_throw({Throwing::Where::between, 3}, scheduler, data, faults);
            EXPECT_TRUE(message.empty() || message == "the body does not go on") << scheduler << ": " << message;
            said += !message.empty();
        }
    EXPECT_GT(said, 0);
}

TEST(DeviceFaults, OfABodyThatThrowsOnACoreAsWellAreThoseOfTheCore)
{
    std::vector<double> data;
    int faults = 0;
    for (const char* scheduler : {"eager", "h2", "dmda"})
        EXPECT_EQ(chains_that_throw({Throwing::Where::before, -1, true}, scheduler, data, faults), "nor does a core");
}

} // namespace
} // namespace trencadis::testing
