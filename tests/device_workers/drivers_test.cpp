// Algorithms on cores and a real driver's device together: kernels of the driver's library give other bits than ours, so what is
// compared is how far they are apart.
#include "algorithms/gemm.hpp"
#include "algorithms/potrf.hpp"
#include "base/testing/eventually.hpp"
#include "on_devices.hpp"

#include "base/error.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <dlfcn.h>
#include <limits>
#include <random>

namespace trencadis::testing {
namespace {

constexpr Index n = 200, nb = 40;

struct Square {
    explicit Square(unsigned seed) : at(std::size_t(n * n))
    {
        std::minstd_rand random(seed);
        std::uniform_real_distribution<double> spread(-1, 1);
        for (double& x : at) x = spread(random);
    }
    void make_definite()
    {
        for (Index i = 0; i < n; ++i) at[std::size_t(i + i * n)] = 2 * n;
    }
    TileMatrix<double> tiles() { return TileMatrix<double>(MatrixView<double>{at.data(), n, n, n}, nb, nb); }
    /// The largest difference, in parts of the largest entry.
    double distance(const Square& other) const
    {
        double most = 0, largest = 0;
        for (std::size_t i = 0; i < at.size(); ++i) {
            most = std::max(most, std::abs(at[i] - other.at[i]));
            largest = std::max(largest, std::abs(other.at[i]));
        }
        return most / largest;
    }
    std::vector<double> at;
};

struct Results {
    Square A{1}, B{2}, C{3}, S{4};
    explicit Results(OnDevices& on)
    {
        S.make_definite();
        on.run([&](Flow& flow) { gemm(flow, 2.0, A.tiles(), B.tiles(), -1.0, C.tiles()); });
        EXPECT_EQ(on.run([&](Flow& flow) { potrf(flow, S.tiles()); }), 0);
    }
};

/// Of one word of devices, some flows after the other.
void expect_near_cores(const std::string& words)
{
    std::unique_ptr<OnDevices> on;
    try {
        on = std::make_unique<OnDevices>(words, "eager", 1);
    } catch (const Error& error) {
        if (error.code() != ErrorCode::missing_backend) throw;
        GTEST_SKIP() << error.what();
    }
    OnDevices cores("", "eager", 1);
    const Results expected(cores);
    // Sums of n products in another order; for potrf the same, as the matrix's condition is below 4.
    const double bound = 4 * n * std::numeric_limits<double>::epsilon();
    const Deadline deadline;
    for (int round = 0; round < 3 || (on->tasks_on_devices() == 0 && !deadline.passed()); ++round) {
        const Results seen(*on);
        ASSERT_LE(seen.C.distance(expected.C), bound) << round;
        ASSERT_LE(seen.S.distance(expected.S), bound) << round;
    }
    EXPECT_GT(on->tasks_on_devices(), 0);
}

TEST(OpenClWorkers, AgreeWithCores) { expect_near_cores("opencl:0"); }
TEST(OpenClWorkers, AgreeWithCoresWithRoomForFourTiles) { expect_near_cores("opencl:0,memory=52kB"); }

TEST(CudaWorkers, AgreeWithCores) { expect_near_cores("cuda:0"); }
TEST(CudaWorkers, AgreeWithCoresWithRoomForFourTiles) { expect_near_cores("cuda:0,memory=52kB"); }
TEST(CudaWorkers, AgreeWithCoresWhereTwoCopyFromEachOther) { expect_near_cores("cuda:all,memory=100kB"); }

TEST(CudaWorkers, GoOnWhereCopiesMarksAndPageLockedMemoryFindNone)
{
    const char* const folder = std::getenv("TRENCADIS_CUDA");
    void* const library = folder ? dlopen((std::string(folder) + "/libcuda.so.1").c_str(), RTLD_NOW | RTLD_LOCAL) : nullptr;
    const auto fail = library ? reinterpret_cast<void (*)(const char*, int, int)>(dlsym(library, "fake_cuda_fail")) : nullptr;
    if (!fail) GTEST_SKIP() << "TRENCADIS_CUDA names no stand-ins";
    constexpr int out_of_memory = 2;
    OnDevices cores("", "eager", 1);
    const Results expected(cores);
    const double bound = 4 * n * std::numeric_limits<double>::epsilon();
    for (const char* symbol : {"cuMemcpy2DAsync_v2", "cuMemAlloc_v2", "cuMemHostAlloc", "cuEventCreate", "cuEventRecord",
                               "cuStreamWaitEvent", "cuStreamAddCallback"})
        for (int number = 1; number < 14; number += 3) {
            OnDevices on("cuda:all,memory=100kB", "eager", 1);
            fail(symbol, number, out_of_memory);
            for (int round = 0; round < 2; ++round) {
                const Results seen(on);
                ASSERT_LE(seen.C.distance(expected.C), bound) << symbol << ' ' << number;
                ASSERT_LE(seen.S.distance(expected.S), bound) << symbol << ' ' << number;
            }
            for (const DeviceTraffic& device : on.engine().traffic()) EXPECT_EQ(device.fault, "") << symbol << ' ' << number;
        }
    reinterpret_cast<void (*)()>(dlsym(library, "fake_cuda_mend"))();
}

TEST(OpenClWorkers, LeaveDoublePrecisionToCoresWhereTheyLackIt)
{
    try {
        OnDevices on("opencl:0,double=no", "eager", 1), cores("", "eager", 1);
        const Results seen(on), expected(cores);
        EXPECT_EQ(seen.S.at, expected.S.at);
        EXPECT_EQ(seen.C.at, expected.C.at);
        EXPECT_EQ(on.tasks_on_devices(), 0);
    } catch (const Error& error) {
        if (error.code() != ErrorCode::missing_backend) throw;
        GTEST_SKIP() << error.what();
    }
}

} // namespace
} // namespace trencadis::testing
