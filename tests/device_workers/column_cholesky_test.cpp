// Cholesky of block columns on cores and devices: the bits of cores alone, whoever factors.
#include "algorithms/column_cholesky.hpp"
#include "base/device_traffic.hpp"
#include "base/error.hpp"
#include "base/testing/eventually.hpp"
#include "column_cases.hpp"
#include "drivers/linear_algebra.hpp"
#include "on_devices.hpp"

#include <gtest/gtest.h>

#include <complex>
#include <string>
#include <vector>

namespace trencadis::testing {
namespace {

/// A matrix that is positive definite by its diagonal but for one entry of it, where `bad` says so, and right sides.
template <Scalar T> struct Definite {
    Index n, nb;
    Uplo uplo;
    Index bad = 0, ld = n + 5;
    std::vector<T> A = random_matrix(1, Real<T>(n)), B = random_matrix(2, Real<T>(0));
    Index info = -1;

    std::vector<T> random_matrix(unsigned seed, Real<T> diagonal) const
    {
        std::vector<T> all = testing::random_matrix<T>(ld, n, seed);
        for (Index i = 0; i < n && diagonal != 0; ++i)
            all[std::size_t(i * (ld + 1))] = T(i + 1 == bad ? -diagonal : 2 * diagonal);
        return all;
    }
    Definite& compute(OnDevices& on, Index nrhs = 37)
    {
        const TileMatrix<T> tiles = TileMatrix<T>({A.data(), n, n, ld}, nb, nb).with(uplo == Uplo::lower ? Op::none : herm_op<T>);
        info = on.run([&](Flow& flow) { posv_columns(flow, tiles, TileMatrix<T>({B.data(), n, nrhs, ld}, n, 16)); });
        return *this;
    }
    /// Below a bad pivot, too: what is not done any more is the same tasks, whoever would have done them. But for the tile that
    /// has it.
    bool agrees_with(const Definite& other) const
    {
        if (info != other.info || B != other.B) return false;
        const Index failed = info == 0 ? n : (info - 1) / nb * nb;
        for (Index j = 0; j < n; ++j)
            for (Index i = 0; i < n; ++i) {
                const bool in_it = i >= failed && j >= failed && i < failed + nb && j < failed + nb;
                if (!in_it && A[std::size_t(i + j * ld)] != other.A[std::size_t(i + j * ld)]) return false;
            }
        return true;
    }
};

template <class T> class ColumnCholeskyOnDevices : public ::testing::Test {
};
using Scalars = ::testing::Types<float, double, std::complex<float>, std::complex<double>>;
TYPED_TEST_SUITE(ColumnCholeskyOnDevices, Scalars);

/// Until a device has had some of it: cores may have done nearly all of a call before a device is awake.
template <Scalar T> void expect_bits(OnDevices& on, const Definite<T>& given, const Definite<T>& expected, bool sure)
{
    const Deadline deadline;
    for (int tries = 0; tries == 0 || (sure && on.tasks_on_devices() == 0 && !deadline.passed()); ++tries)
        ASSERT_TRUE(Definite<T>(given).compute(on).agrees_with(expected));
    EXPECT_TRUE(!sure || on.tasks_on_devices() > 0);
}

TYPED_TEST(ColumnCholeskyOnDevices, GivesTheBitsOfCoresAlone)
{
    using T = TypeParam;
    OnDevices cores("", "eager", 1);
    for (const Uplo uplo : {Uplo::lower, Uplo::upper})
        for (const auto& [n, nb] : {std::pair<Index, Index>{150, 32}, {97, 97}, {64, 16}, {65, 32}, {1, 1}}) {
            const Definite<T> given{n, nb, uplo}, expected = Definite<T>(given).compute(cores, n < 37 ? n : 37);
            EXPECT_EQ(expected.info, 0);
            if (n < 37) continue;
            for (const char* scheduler : {"mosaic", "eager", "h2", "dmda"})
                for (const char* words : {"emulated:2,factors=yes", "emulated:1,factors=yes,memory=200KiB,latency=20us"}) {
                    SCOPED_TRACE(std::to_string(n) + ' ' + scheduler + " on " + words);
                    OnDevices on(words, scheduler, 1);
                    expect_bits(on, given, expected, std::string(scheduler) == "eager");
                }
        }
}

TYPED_TEST(ColumnCholeskyOnDevices, ReportsTheFirstBadPivotAndLeavesTheRightSides)
{
    using T = TypeParam;
    OnDevices cores("", "eager", 1);
    for (const Index bad : {1, 31, 32, 33, 96, 130, 150}) {
        const Definite<T> given{150, 32, bad % 2 ? Uplo::lower : Uplo::upper, bad}, expected = Definite<T>(given).compute(cores);
        EXPECT_EQ(expected.info, bad);
        EXPECT_EQ(expected.B, given.B);
        OnDevices on("emulated:2,factors=yes", "eager", 1);
        expect_bits(on, given, expected, true);
    }
}

/// Has a core until devices have run so many tasks, for a while.
struct StayArgs {
    const OnDevices* on;
    std::int64_t tasks;
};
void stay(void* args, TaskContext&)
{
    const auto& [on, tasks] = *static_cast<const StayArgs*>(args);
    (void)eventually([&] { return on->tasks_on_devices() >= tasks; }, std::chrono::seconds(1));
}
constexpr Codelet staying{"stay", stay};

/// A column comes once, and once more for each task of a core that has written it. Until a device has done all, if others leave
/// it the time.
TEST(ColumnCholesky, MovesTheTriangleAlone)
{
    constexpr Index n = 256, nb = 32, columns = n / nb, tasks = columns * (columns + 3) / 2 - 1;
    constexpr double triangle = 8.0 * n * (n + nb) / 2, longest = 8.0 * n * nb; // with diagonal tiles whole
    const Definite<double> given{n, nb, Uplo::lower};
    std::int64_t on_device = 0;
    for (int tries = 0; tries < 4 && on_device < tasks; ++tries) {
        OnDevices on("emulated:1,factors=yes", "h1", 1);
        std::vector<double> A = given.A;
        on.run([&](Flow& flow) {
            flow.submit(staying, StayArgs{&on, tasks}, {});
            potrf_columns(flow, TileMatrix<double>({A.data(), n, n, n + 5}, nb, nb));
        });
        on_device = on.tasks_on_devices();
        const DeviceTraffic traffic = on.engine().traffic()[0];
        for (const double bytes : {traffic.to, traffic.from}) EXPECT_LE(bytes, triangle + double(tasks - on_device) * longest);
        if (on_device == tasks) {
            EXPECT_EQ(traffic.to, triangle);
            EXPECT_EQ(traffic.from, triangle);
        }
    }
}

TEST(ColumnCholesky, OfAMatrixEightTimesTheirMemoryKeepsWithinIt)
{
    const Definite<double> given{512, 32, Uplo::lower}; // 2 MiB, a block column an eighth of what a device has
    OnDevices cores("", "eager", 1);
    const Definite<double> expected = Definite<double>(given).compute(cores);
    for (const char* scheduler : {"eager", "h2"}) {
        OnDevices on("emulated:1,factors=yes,memory=300KiB", scheduler, 1);
        const Deadline deadline;
        for (int tries = 0; tries == 0 || (on.engine().traffic()[0].evictions == 0 && !deadline.passed()); ++tries)
            ASSERT_TRUE(Definite<double>(given).compute(on).agrees_with(expected)) << scheduler;
        const DeviceTraffic traffic = on.engine().traffic()[0];
        EXPECT_EQ(traffic.fault, "");
        EXPECT_LE(traffic.peak, 300 << 10);
        EXPECT_GT(traffic.evictions, 0);
    }
}

/// Whatever fails, wherever: a call ends, with the right numbers or with an error of one line.
TEST(ColumnCholesky, GivesResultsOrAnErrorWhateverFails)
{
    constexpr Index n = 96, ld = n + 5;
    const std::vector<double> A = Definite<double>{n, 16, Uplo::lower}.A;
    std::vector<double> expected = A;
    Session cores(with(""));
    const RoutineOptions columns{.nb = 16, .variant = "columns"};
    ASSERT_EQ(potrf(cores, Uplo::lower, n, expected.data(), ld, columns), 0);
    int failed = 0, whole = 0;
    for (const char* fault : {"fail-copy", "fail-kernel", "lose-at", "fail-allocation"})
        for (int at = 1; at <= 40; at += at < 12 ? 1 : 5) {
            SCOPED_TRACE(fault + ("=" + std::to_string(at)));
            Session session(with("emulated:2,factors=yes,always=yes," + std::string(fault) + "=" + std::to_string(at), "h2"));
            try {
                std::vector<double> F = A;
                ASSERT_EQ(potrf(session, Uplo::lower, n, F.data(), ld, columns), 0);
                ASSERT_EQ(F, expected);
                ++whole;
            } catch (const Error& error) {
                EXPECT_NE(std::string(error.what()).find("emulated"), std::string::npos) << error.what();
                EXPECT_EQ(std::string(error.what()).find('\n'), std::string::npos);
                ++failed;
            }
        }
    EXPECT_GT(failed, 5);
    EXPECT_GT(whole, 5);
}

} // namespace
} // namespace trencadis::testing
