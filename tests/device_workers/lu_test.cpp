// LU by incremental pivoting and solutions on cores and devices: the bits of cores alone; matrices larger than a device's memory.
#include "algorithms/forms/incremental.hpp"
#include "algorithms/potrf.hpp"
#include "base/testing/eventually.hpp"
#include "on_devices.hpp"

#include <gtest/gtest.h>

#include <complex>
#include <random>

namespace trencadis::testing {
namespace {

template <Scalar T> std::vector<T> random_matrix(Index rows, Index cols, double diagonal)
{
    std::minstd_rand random(5);
    std::uniform_real_distribution<double> spread(-1, 1);
    std::vector<T> A(std::size_t(rows * cols));
    for (T& x : A) x = T(Real<T>(spread(random)));
    for (Index i = 0; i < std::min(rows, cols); ++i) A[std::size_t(i * (rows + 1))] += T(Real<T>(diagonal));
    return A;
}

template <Scalar T> struct System {
    Index n, nb;
    std::vector<T> A = random_matrix<T>(n, n, 0), S = random_matrix<T>(n, n, 2.0 * double(n)), X = random_matrix<T>(n, 40, 1),
                   Y = X;

    void compute(OnDevices& on)
    {
        const Place::Operand operand{A.data(), n};
        Place memory(std::span(&operand, 1));
        IncrementalLayout<T> laid(memory, {.m = n, .n = n, .nb = nb, .inner = 16});
        on.run([&](Flow& flow) {
            laid.submit(flow);
            getrs_incremental_after(flow, laid.tiles, laid.by, TileMatrix<T>({X.data(), n, 40, n}, nb, nb));
        });
        on.run([&](Flow& flow) {
            posv(flow, TileMatrix<T>({S.data(), n, n, n}, nb, nb), TileMatrix<T>({Y.data(), n, 40, n}, nb, nb));
        });
    }
    bool operator==(const System& other) const { return A == other.A && S == other.S && X == other.X && Y == other.Y; }
};

template <class T> class LuOnDevices : public ::testing::Test {
};
using Scalars = ::testing::Types<float, double, std::complex<float>, std::complex<double>>;
TYPED_TEST_SUITE(LuOnDevices, Scalars);

TYPED_TEST(LuOnDevices, GivesTheBitsOfCoresAlone)
{
    System<TypeParam> expected{150, 32};
    OnDevices cores("", "eager", 1);
    expected.compute(cores);
    for (const char* scheduler : {"mosaic", "eager", "h2", "dmda"}) {
        OnDevices on("emulated:2,memory=200kB", scheduler, 1);
        const Deadline deadline;
        for (int tries = 0; tries == 0 || (on.tasks_on_devices() == 0 && !deadline.passed()); ++tries) {
            System<TypeParam> seen{150, 32};
            seen.compute(on);
            ASSERT_TRUE(seen == expected) << scheduler;
        }
        EXPECT_GT(on.tasks_on_devices(), 0) << scheduler;
    }
}

TEST(LuOnDevices, OfAMatrixEightTimesTheirMemoryKeepsWithinIt)
{
    constexpr Index n = 512, nb = 32; // 2 MiB; a device has an eighth
    System<double> expected{n, nb};
    OnDevices cores("", "eager", 1);
    expected.compute(cores);
    for (const char* scheduler : {"eager", "h2"}) {
        OnDevices on("emulated:1,memory=256KiB", scheduler, 1);
        // Cores may have done nearly all of a call before a device is awake.
        const Deadline deadline;
        for (int tries = 0; tries == 0 || (on.engine().traffic()[0].evictions == 0 && !deadline.passed()); ++tries) {
            System<double> seen{n, nb};
            seen.compute(on);
            ASSERT_TRUE(seen == expected) << scheduler;
        }
        EXPECT_GT(on.tasks_on_devices(), 0);
        const DeviceTraffic traffic = on.engine().traffic()[0];
        EXPECT_EQ(traffic.fault, "");
        EXPECT_LE(traffic.peak, 256 << 10);
        EXPECT_LE(on.device(0).used(), 256 << 10);
        EXPECT_GT(traffic.evictions, 0);
    }
}

} // namespace
} // namespace trencadis::testing
