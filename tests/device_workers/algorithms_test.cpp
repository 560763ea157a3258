// Algorithms on cores and devices together give the bits of cores alone with the same tiles.
#include "algorithms/gemm.hpp"
#include "algorithms/potrf.hpp"
#include "base/testing/eventually.hpp"
#include "on_devices.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <random>
#include <string_view>
#include <vector>

namespace trencadis::testing {
namespace {

template <Scalar T> struct Matrix {
    Matrix(Index m, Index n, unsigned seed) : rows(m), cols(n), ld(m + 3), at(std::size_t(ld * n))
    {
        std::minstd_rand random(seed);
        std::uniform_real_distribution<double> spread(-1, 1);
        for (T& x : at)
            if constexpr (is_complex<T>) x = T(Real<T>(spread(random)), Real<T>(spread(random)));
            else x = T(spread(random));
    }
    void make_definite()
    {
        for (Index i = 0; i < rows; ++i) at[std::size_t(i + i * ld)] = T(Real<T>(2 * rows));
    }
    TileMatrix<T> tiles(Index nb) { return TileMatrix<T>(MatrixView<T>{at.data(), rows, cols, ld}, nb, nb); }
    bool same_bits(const Matrix& other) const { return std::memcmp(at.data(), other.at.data(), at.size() * sizeof(T)) == 0; }

    Index rows, cols, ld;
    std::vector<T> at;
};

template <Scalar T> struct Operands {
    Matrix<T> A{150, 90, 1}, B{90, 130, 2}, C{150, 130, 3}, S{165, 165, 4};
    Operands() { S.make_definite(); }
    void compute(OnDevices& on, Index nb)
    {
        on.run([&](Flow& flow) { gemm(flow, T(2), A.tiles(nb), B.tiles(nb), T(-1), C.tiles(nb)); });
        EXPECT_EQ(on.run([&](Flow& flow) { potrf(flow, S.tiles(nb)); }), 0);
    }
};

template <class T> class OnCoresAndDevices : public ::testing::Test {
};
using Scalars = ::testing::Types<float, double, std::complex<float>, std::complex<double>>;
TYPED_TEST_SUITE(OnCoresAndDevices, Scalars);

/// Until devices have had some of it: such small tiles may all be done by the cores before a device's worker is awake.
template <Scalar T> void expect_bits(OnDevices& on, Index nb, const Operands<T>& expected, const std::string& where)
{
    const Deadline deadline;
    for (int tries = 0; tries == 0 || (on.tasks_on_devices() == 0 && !deadline.passed()); ++tries) {
        Operands<T> seen;
        seen.compute(on, nb);
        ASSERT_TRUE(seen.C.same_bits(expected.C)) << where;
        ASSERT_TRUE(seen.S.same_bits(expected.S)) << where;
    }
    EXPECT_GT(on.tasks_on_devices(), 0) << where;
}

TYPED_TEST(OnCoresAndDevices, GiveTheBitsOfCoresAlone)
{
    using T = TypeParam;
    constexpr Index nb = 32;
    Operands<T> expected;
    OnDevices cores("", "mosaic", 2);
    expected.compute(cores, nb);
    for (const char* scheduler : {"mosaic", "eager", "ws", "cats", "heft", "dmda", "locality-default", "h1", "h2"})
        for (const char* words : {"emulated:1,memory=64MiB", "emulated:3,memory=1MiB,latency=20us,factors=yes"}) {
            OnDevices on(words, scheduler, 2);
            expect_bits(on, nb, expected, std::string(scheduler) + ' ' + words);
        }
}

TYPED_TEST(OnCoresAndDevices, DoSoWithRoomForThreeTiles)
{
    using T = TypeParam;
    constexpr Index nb = 32; // three of complex<double> are 49,152 bytes, of float 12,288
    Operands<T> expected;
    OnDevices cores("", "mosaic", 2);
    expected.compute(cores, nb);
    const std::string memory = std::to_string(3 * nb * nb * Index(sizeof(T)) / 1024) + "KiB";
    for (const char* scheduler : {"eager", "h2", "dmda"})
        for (const int slots : {1, 2, 4}) {
            OnDevices on("emulated:2,memory=" + memory, scheduler, 1, slots);
            expect_bits(on, nb, expected, scheduler + std::to_string(slots));
        }
}

TEST(DeviceWorkers, LeaveToCoresWhatDoesNotFit)
{
    Operands<double> expected, seen;
    OnDevices cores("", "mosaic", 2), small("emulated,memory=23kB", "mosaic", 2); // three tiles of 32 x 32 are 24,576 bytes
    expected.compute(cores, 32);
    small.run([&](Flow& flow) { gemm(flow, 2.0, seen.A.tiles(32), seen.B.tiles(32), -1.0, seen.C.tiles(32)); });
    EXPECT_TRUE(seen.C.same_bits(expected.C));
}

TEST(DeviceWorkers, SeeWhatTheCallerChangedBetweenTwoCalls)
{
    OnDevices on("emulated:2", "h2", 1), cores("", "mosaic", 1);
    Operands<double> seen, expected;
    for (int round = 0; round < 5; ++round) {
        seen.compute(on, 32);
        expected.compute(cores, 32);
        ASSERT_TRUE(seen.C.same_bits(expected.C)) << round;
        for (Operands<double>* of : {&seen, &expected}) {
            of->A.at[std::size_t(7 + round)] += 1;
            of->S = Matrix<double>(165, 165, unsigned(round));
            of->S.make_definite();
        }
    }
}

TEST(DeviceWorkers, TakeOneMatrixAsBothOperandsCutInTwoWays)
{
    OnDevices on("emulated:2", "mosaic", 2), cores("", "mosaic", 2);
    Matrix<double> S(165, 165, 4), seen(165, 165, 5), expected = seen;
    const auto compute = [&](OnDevices& with, Matrix<double>& C) {
        const MatrixView<double> view{S.at.data(), S.rows, S.cols, S.ld};
        const TileMatrix<double> rows(view, 32, 165), columns(view, 165, 32);
        with.run([&](Flow& flow) { gemm(flow, 1.0, rows, columns, 0.0, C.tiles(32)); });
    };
    compute(cores, expected);
    for (int tries = 0; tries < 30; ++tries) {
        compute(on, seen);
        ASSERT_TRUE(seen.same_bits(expected)) << tries;
    }
}

/// A device alone, so that it has the factorizations too where it can.
TEST(DeviceWorkers, ReportTheFirstBadPivotAsCoresDo)
{
    for (const Index bad : {Index(0), Index(5), Index(101), Index(165)}) {
        Matrix<double> S(165, 165, 4);
        S.make_definite();
        if (bad) S.at[std::size_t((bad - 1) * (S.ld + 1))] = -1;
        Matrix<double> expected = S;
        OnDevices cores("", "mosaic", 2);
        EXPECT_EQ(cores.run([&](Flow& flow) { potrf(flow, expected.tiles(32)); }), bad);
        for (const char* words : {"emulated:2", "emulated:2,factors=yes", "emulated,factors=yes,latency=200us"})
            for (int tries = 0; tries < 10; ++tries) {
                Matrix<double> seen = S;
                OnDevices on(words, "eager", 1);
                EXPECT_EQ(on.run([&](Flow& flow) { potrf(flow, seen.tiles(32)); }), bad) << words;
                EXPECT_TRUE(seen.same_bits(expected)) << words;
            }
    }
}

/// Counts the tasks of potrf alone: one tile of which a device has all or nothing.
TEST(DeviceWorkers, FactorTilesWhereTheyCan)
{
    const auto tasks_of = [](const char* words) {
        OnDevices on(words, "eager", 1);
        for (const Deadline deadline; on.tasks_on_devices() == 0 && !deadline.passed();) {
            std::vector<Matrix<double>> many(20, Matrix<double>(60, 60, 4));
            for (Matrix<double>& S : many) S.make_definite();
            on.run([&](Flow& flow) {
                for (Matrix<double>& S : many) potrf(flow, S.tiles(64));
            });
            if (std::string_view(words).find("factors=no") != std::string_view::npos) break;
        }
        return on.tasks_on_devices();
    };
    EXPECT_GT(tasks_of("emulated:2,factors=yes"), 0);
    EXPECT_EQ(tasks_of("emulated:2,factors=no"), 0);
}

/// Positive definite or not, until devices have had some of it: solved for the first columns of A.
void expect_two_levels(const std::string& words, const char* scheduler, Index bad)
{
    Matrix<double> S(165, 165, 4);
    S.make_definite();
    if (bad) S.at[std::size_t((bad - 1) * (S.ld + 1))] = -1;
    const auto solve = [&](OnDevices& on, Matrix<double>& A, Matrix<double>& B) {
        const Index info = on.run([&](Flow& flow) { posv_two_level(flow, A.tiles(64), B.tiles(64), 16); });
        EXPECT_EQ(info, bad);
    };
    OnDevices on(words, scheduler, 2), cores("", "mosaic", 2);
    const Matrix<double> right(165, 70, 5);
    Matrix<double> expected = S, solution = right;
    solve(cores, expected, solution);
    EXPECT_EQ(solution.same_bits(right), bad != 0);
    const Deadline deadline;
    for (int tries = 0; tries == 0 || (on.tasks_on_devices() == 0 && !deadline.passed()); ++tries) {
        Matrix<double> A = S, B = right;
        solve(on, A, B);
        ASSERT_TRUE(A.same_bits(expected)) << words << ' ' << scheduler;
        ASSERT_TRUE(B.same_bits(solution)) << words << ' ' << scheduler;
    }
    EXPECT_GT(on.tasks_on_devices(), 0) << words << ' ' << scheduler;
}

TEST(DeviceWorkers, RunTasksInsideTasksOnTheHost)
{
    for (const char* scheduler : {"eager", "mosaic", "dmda", "heft", "h2"})
        for (const char* words : {"emulated:2", "emulated:2,memory=96KiB"}) expect_two_levels(words, scheduler, 0);
    expect_two_levels("emulated:2", "eager", 20);  // in the tasks inside the first one
    expect_two_levels("emulated:2", "eager", 130); // in the last one
}

} // namespace
} // namespace trencadis::testing
