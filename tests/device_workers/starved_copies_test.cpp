// A copy that finds no memory says nothing of its device: it is tried again when room was made, then its task is a core's, or its
// call fails with one line. The device goes on.
#include "algorithms/gemm.hpp"
#include "algorithms/potrf.hpp"
#include "array_on_device.hpp"
#include "base/error.hpp"
#include "base/sanitized.hpp"
#include "base/testing/eventually.hpp"
#include "on_devices.hpp"
#include "queue_kernels.hpp"

#include <gtest/gtest.h>

namespace trencadis::testing {
namespace {

constexpr Index n = 160, nb = 32;

TileMatrix<double> tiles(std::vector<double>& of) { return TileMatrix<double>({of.data(), n, n, n}, nb, nb); }

std::vector<double> definite()
{
    std::vector<double> A(n * n);
    for (Index j = 0; j < n; ++j)
        for (Index i = 0; i < n; ++i) A[std::size_t(i + j * n)] = 1.0 / double(1 + i + j) + (i == j ? 3 : 0);
    return A;
}

/// What the call said, if anything.
std::string cholesky(OnDevices& on, std::vector<double>& A)
{
    A = definite();
    try {
        on.run([&](Flow& flow) { potrf(flow, tiles(A)); });
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), ErrorCode::out_of_memory);
        return error.what();
    }
    return {};
}

std::vector<double> right_factor()
{
    std::vector<double> A;
    OnDevices cores("", "eager", 1);
    EXPECT_EQ(cholesky(cores, A), "");
    return A;
}

void expect_no_fault(OnDevices& on, const std::string& words)
{
    for (const DeviceTraffic& device : on.engine().traffic()) EXPECT_EQ(device.fault, "") << words;
}

TEST(StarvedCopies, AreMadeWhenTheyAreTriedAgain)
{
    const std::vector<double> right = right_factor();
    for (const char* copies : {"1", "2"}) // as often as a copy may find none
        for (int number = 1; number < (sanitized ? 10 : 40); ++number) {
            const std::string words = std::string(number % 2 ? "emulated:2" : "emulated:2,direct=yes") +
                                      ",speed=200GFlop/s,full-copy=" + std::to_string(number) + ",full-copies=" + copies;
            OnDevices on(words, number % 3 ? "eager" : "h2", 1);
            std::vector<double> A;
            for (int call = 0; call < 4; ++call) {
                EXPECT_EQ(cholesky(on, A), "") << words;
                EXPECT_TRUE(A == right) << words;
            }
            expect_no_fault(on, words);
        }
}

TEST(StarvedCopies, LeaveTheirTasksToCoresOrFailTheirCallsWhereThereIsNeverAny)
{
    const std::vector<double> right = right_factor();
    int said = 0;
    for (int number = 1; number < (sanitized ? 10 : 40); ++number) {
        const std::string words = std::string(number % 2 ? "emulated:2" : "emulated:2,direct=yes") +
                                  ",speed=200GFlop/s,full-copies=1000000,full-copy=" + std::to_string(number);
        OnDevices on(words, number % 3 ? "eager" : "h2", 1);
        for (int call = 0; call < 4; ++call) {
            std::vector<double> A;
            const std::string message = cholesky(on, A);
            said += !message.empty();
            if (message.empty()) EXPECT_TRUE(A == right) << words;
            else {
                EXPECT_EQ(message.rfind("device 'emulated ", 0), 0u) << message;
                EXPECT_NE(message.find("out of memory in a copy: copy number "), std::string::npos) << message;
                EXPECT_EQ(message.find('\n'), std::string::npos) << message;
            }
        }
        expect_no_fault(on, words);
    }
    EXPECT_GT(said, 0) << "of what comes home no copy was tried";
}

TEST(StarvedCopies, ToADeviceLeaveWhatIsAtHomeToCores)
{
    for (const char* scheduler : {"mosaic", "eager", "ws", "h1", "h2", "dmda", "heft", "cats", "locality-default"}) {
        OnDevices on("emulated,speed=100GFlop/s,full-copy=1,full-copies=1000000", scheduler, 1);
        std::vector<double> A(n * n, 1), B(n * n, 2), C;
        for (int call = 0; call < 10; ++call) {
            C.assign(n * n, 5);
            ASSERT_NO_THROW(on.run([&](Flow& flow) { gemm(flow, 1.0, tiles(A), tiles(B), 0.0, tiles(C)); })) << scheduler;
            ASSERT_EQ(C, std::vector<double>(n * n, 2.0 * n)) << scheduler;
        }
        expect_no_fault(on, scheduler);
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

TEST(StarvedCopies, FailTasksOfDevicesAlone)
{
    for (const char* scheduler : {"mosaic", "eager", "ws", "h1", "h2", "dmda", "heft", "cats", "locality-default"}) {
        EngineOnDevices on("emulated,full-copy=1,full-copies=1000000", scheduler, 1, 2);
        std::vector<double> data(20000, 1);
        try {
            on.engine->run({}, [&](Flow& flow) {
                for (Index t = 0; t < 20; ++t)
                    flow.submit(filling, FillArgs{},
                                {Access{Datum(data.data() + 1000 * t, 10, 100, 10, 8), AccessMode::readwrite}});
            });
            ADD_FAILURE() << scheduler;
        } catch (const Error& error) {
            EXPECT_EQ(error.code(), ErrorCode::out_of_memory);
            EXPECT_EQ(std::string(error.what()).rfind("device 'emulated 0': out of memory in a copy: ", 0), 0u) << error.what();
        }
        EXPECT_EQ(on.engine->traffic()[0].fault, "");
    }
}

TEST(StarvedCopies, OfArraysAreTriedOnceMoreAndThenSaid)
{
    for (const int copies : {1, 2}) {
        SessionOptions options;
        options.workers = {Session::standard().options().workers.front()};
        options.devices = "emulated,always=yes,full-copy=2,full-copies=" + std::to_string(copies);
        Session session(options);
        const std::vector<double> values(100, 3), others(100, 4);
        const OnDevice<double> there(session, 0, values, 10, 10, 10);
        const auto write = [&] { session.copy_to(there.at, 10, others.data(), 10, 10, 10, sizeof(double)); };
        if (copies == 1) EXPECT_NO_THROW(write());
        else {
            EXPECT_THROW(write(), Error);
            write();
        }
        EXPECT_EQ(there.in(values), others);
        EXPECT_EQ(session.device_traffic()[0].fault, "");
    }
}

} // namespace
} // namespace trencadis::testing
