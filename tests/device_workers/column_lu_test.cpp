// LU of block columns on cores and devices: the bits of cores alone, whoever factors; matrices that lie on devices stay there.
#include "algorithms/column_lu.hpp"
#include "array_on_device.hpp"
#include "base/device_traffic.hpp"
#include "base/error.hpp"
#include "base/testing/eventually.hpp"
#include "column_cases.hpp"
#include "drivers/linear_algebra.hpp"
#include "on_devices.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <complex>
#include <string>
#include <vector>

namespace trencadis::testing {
namespace {

/// A matrix to be factored and, where it is square, to be solved with; columns of it may be zero.
template <Scalar T> struct Factored {
    Index m, n, nb, together, ld = m + 5;
    std::vector<T> A = random_matrix<T>(ld, n, 1), B = random_matrix<T>(ld, 37, 2);
    std::vector<Index> pivots = std::vector<Index>(std::size_t(std::min(m, n)), 0);
    Index info = -1;

    Factored& with_zeros(Index column)
    {
        for (Index i = 0; i < m && column > 0; ++i)
            A[std::size_t(i + (column - 1) * ld)] = A[std::size_t(i + (n - 1) * ld)] = T(0);
        return *this;
    }
    Factored& compute(OnDevices& on)
    {
        const TileMatrix<T> tiles({A.data(), m, n, ld}, m, nb);
        const PanelInterchanges by(m, n, nb);
        info = on.run([&](Flow& flow) {
            if (m != n) getrf_columns(flow, tiles, by, pivots.data(), together);
            else gesv_columns(flow, tiles, by, pivots.data(), TileMatrix<T>({B.data(), n, 37, ld}, n, 16), together);
        });
        return *this;
    }
    bool operator==(const Factored& other) const
    {
        return A == other.A && B == other.B && pivots == other.pivots && info == other.info;
    }
};

template <class T> class ColumnLuOnDevices : public ::testing::Test {
};
using Scalars = ::testing::Types<float, double, std::complex<float>, std::complex<double>>;
TYPED_TEST_SUITE(ColumnLuOnDevices, Scalars);

/// Until a device has had some of it: cores may have done nearly all of a call before a device is awake. `sure`: it does not know
/// that cores are as fast.
template <Scalar T> void expect_bits(OnDevices& on, const Factored<T>& given, const Factored<T>& expected, bool sure = true)
{
    const Deadline deadline;
    for (int tries = 0; tries == 0 || (sure && on.tasks_on_devices() == 0 && !deadline.passed()); ++tries)
        ASSERT_TRUE(Factored<T>(given).compute(on) == expected);
    EXPECT_TRUE(!sure || on.tasks_on_devices() > 0);
}

TYPED_TEST(ColumnLuOnDevices, GivesTheBitsOfCoresAlone)
{
    using T = TypeParam;
    OnDevices cores("", "eager", 1);
    for (const Factored<T>& given : {Factored<T>{150, 150, 32, 1}, Factored<T>{150, 150, 32, 2}, Factored<T>{170, 90, 16, 3},
                                     Factored<T>{90, 170, 32, 1}, Factored<T>{97, 97, 97, 1}, Factored<T>{64, 65, 32, 100}}) {
        const Factored<T> expected = Factored<T>(given).compute(cores);
        EXPECT_EQ(expected.info, 0);
        for (const char* scheduler : {"mosaic", "eager", "h2", "dmda"})
            for (const char* words : {"emulated:2,factors=yes", "emulated:1,factors=yes,memory=200KiB,latency=20us"}) {
                SCOPED_TRACE(std::to_string(given.m) + " x " + std::to_string(given.n) + ' ' + scheduler + " on " + words);
                OnDevices on(words, scheduler, 1);
                expect_bits(on, given, expected, std::string(scheduler) == "eager");
            }
    }
}

TYPED_TEST(ColumnLuOnDevices, ReportsTheFirstZeroPivotAndLeavesTheRightSides)
{
    using T = TypeParam;
    OnDevices cores("", "eager", 1);
    for (const Index zero : {1, 31, 32, 33, 96, 130, 149}) {
        const Factored<T> given = Factored<T>{150, 150, 32, zero % 2 ? 1 : 3}.with_zeros(zero);
        const Factored<T> expected = Factored<T>(given).compute(cores);
        EXPECT_EQ(expected.info, zero);
        EXPECT_EQ(expected.B, given.B);
        OnDevices on("emulated:2,factors=yes", "eager", 1);
        expect_bits(on, given, expected);
    }
}

TEST(ColumnLu, OfAMatrixEightTimesTheirMemoryKeepsWithinIt)
{
    const Factored<double> given{512, 512, 32, 1}; // 2 MiB, a block column an eighth of what a device has
    OnDevices cores("", "eager", 1);
    const Factored<double> expected = Factored<double>(given).compute(cores);
    for (const char* scheduler : {"eager", "h2"}) {
        OnDevices on("emulated:1,factors=yes,memory=300KiB", scheduler, 1);
        const Deadline deadline;
        for (int tries = 0; tries == 0 || (on.engine().traffic()[0].evictions == 0 && !deadline.passed()); ++tries)
            ASSERT_TRUE(Factored<double>(given).compute(on) == expected) << scheduler;
        const DeviceTraffic traffic = on.engine().traffic()[0];
        EXPECT_EQ(traffic.fault, "");
        EXPECT_LE(traffic.peak, 300 << 10);
        EXPECT_LE(on.device(0).used(), 300 << 10);
        EXPECT_GT(traffic.evictions, 0);
    }
}

TEST(ColumnLu, IsTheCoresWhereNoDeviceFactors)
{
    const Factored<double> given{150, 150, 32, 1};
    OnDevices cores("", "eager", 1), on("emulated:2", "eager", 1);
    const Factored<double> expected = Factored<double>(given).compute(cores);
    for (int tries = 0; tries < 10; ++tries) {
        Factored<double> seen = given;
        const TileMatrix<double> tiles({seen.A.data(), seen.m, seen.n, seen.ld}, seen.m, seen.nb);
        const PanelInterchanges by(seen.m, seen.n, seen.nb);
        EXPECT_EQ(on.run([&](Flow& flow) { getrf_columns(flow, tiles, by, seen.pivots.data()); }), 0);
        EXPECT_EQ(seen.A, expected.A);
        EXPECT_EQ(seen.pivots, expected.pivots);
    }
    EXPECT_EQ(on.tasks_on_devices(), 0);
}

/// A session's matrices, in its memory and on its devices.
template <class T> class ColumnLuOfArrays : public ::testing::Test {
protected:
    /// `zero`: a column of zeros, from 1; 0: there is none.
    void expect_bits(Session& session, Index m, Index n, Index zero)
    {
        const Index ld = m + 3, devices = session.devices(), k = std::min(m, n);
        SCOPED_TRACE(std::to_string(m) + " x " + std::to_string(n) + ", column of zeros " + std::to_string(zero));
        std::vector<T> A = random_matrix<T>(ld, n, 1);
        for (Index i = 0; i < m && zero > 0; ++i) A[std::size_t(i + (zero - 1) * ld)] = T(0);
        const std::vector<T> B = random_matrix<T>(ld, 21, 2);
        std::vector<T> F = A, G = A, X = B;
        std::vector<Index> p(std::size_t(k), 0), q = p, r = p, s = p;
        const RoutineOptions columns{.nb = 32, .variant = "columns"}, tiles{.nb = 32};
        EXPECT_EQ(getrf(cores, m, n, F.data(), ld, p.data(), columns), zero);
        if (m == n) {
            EXPECT_EQ(gesv(cores, n, 21, G.data(), ld, q.data(), X.data(), ld, columns), zero);
        }
        const OnDevice<T> FF(session, 0, A, m, n, ld), GG(session, int(devices) - 1, A, m, n, ld), XX(session, 0, B, m, 21, ld);
        EXPECT_EQ(getrf(session, m, n, FF.at, ld, r.data(), tiles), zero);
        EXPECT_EQ(last_variant(session, "getrf").name, "columns");
        EXPECT_EQ(FF.in(A), F);
        EXPECT_EQ(r, p);
        if (m != n) return;
        EXPECT_EQ(gesv(session, n, 21, GG.at, ld, s.data(), XX.at, ld, tiles), zero);
        EXPECT_EQ(GG.in(A), G);
        EXPECT_EQ(XX.in(B), X) << (zero ? "nothing is solved with what is no factor" : "the solution");
        EXPECT_EQ(s, q);
    }
    Session cores{with("")};
};
TYPED_TEST_SUITE(ColumnLuOfArrays, Scalars);

TYPED_TEST(ColumnLuOfArrays, GivesTheBitsOfMatricesOnTheHost)
{
    for (const char* scheduler : {"mosaic", "eager", "h2", "dmda", "locality-default"})
        for (const char* words : {"emulated:1,factors=yes,always=yes", "emulated:3,factors=yes,always=yes,direct=yes"}) {
            SCOPED_TRACE(std::string(scheduler) + " on " + words);
            Session session(with(words, scheduler));
            for (const auto& [m, n] :
                 {std::array<Index, 2>{150, 150}, {97, 97}, {96, 96}, {170, 90}, {90, 170}, {65, 65}, {20, 20}, {1, 1}})
                this->expect_bits(session, m, n, 0);
            for (const Index zero : {1, 33, 150}) this->expect_bits(session, 150, 150, zero);
        }
}

TYPED_TEST(ColumnLuOfArrays, ThatFillTheirDeviceIsCutIntoGroupsThatFit)
{
    Session session(with("emulated:2,factors=yes,always=yes,memory=" + std::to_string(900 * sizeof(TypeParam)) + "kB", "h2"));
    this->expect_bits(session, 300, 300, 0); // two matrices of 90,000 elements and the solution, twice
}

/// The policy keeps to a device what it has; so whatever comes home has come because no device could do without.
TEST(ColumnLu, OfAnArrayMovesNothingButInterchanges)
{
    constexpr Index n = 256, ld = 261;
    const std::vector<double> A = random_matrix<double>(ld, n, 3), B = random_matrix<double>(ld, 40, 4);
    std::vector<Index> p(n);
    Session session(with("emulated:1,factors=yes,always=yes", "h1"));
    const OnDevice<double> there(session, 0, A, n, n, ld), right(session, 0, B, n, 40, ld);
    for (const Index nb : {32, 64, 256}) {
        session.reset_statistics();
        EXPECT_EQ(getrf(session, n, n, there.at, ld, p.data(), {.nb = nb}), 0);
        const DeviceTraffic factored = session.device_traffic().front();
        const Index panels = n / nb, updates = panels - 1 + std::max<Index>(panels - 2, 0); // of the next column, of all others
        EXPECT_EQ(session.statistics().back().tasks, panels + updates + (panels > 1))
            << "and interchanges left of panels, " << nb;
        EXPECT_EQ(factored.to, 0) << nb;
        EXPECT_EQ(factored.from, double(n * Index(sizeof(std::int32_t)))) << nb;
        session.reset_statistics();
        EXPECT_EQ(gesv(session, n, 40, there.at, ld, p.data(), right.at, ld, {.nb = nb}), 0);
        const DeviceTraffic solved = session.device_traffic().front();
        EXPECT_EQ(solved.to, 0) << nb;
        EXPECT_EQ(solved.from, double(n * Index(sizeof(std::int32_t)))) << nb;
    }
}

TEST(ColumnLu, IsTakenForArraysWhereADeviceFactors)
{
    constexpr Index n = 100;
    const std::vector<double> A = random_matrix<double>(n, n, 3);
    std::vector<Index> p(n);
    for (const auto& [words, variant] : {std::array{"emulated:2", "panel"}, {"emulated:2,factors=no+yes", "columns"}}) {
        Session session(with(words));
        const OnDevice<double> there(session, 0, A, n, n, n);
        EXPECT_EQ(getrf(session, n, n, there.at, n, p.data()), 0);
        EXPECT_EQ(last_variant(session, "getrf").name, variant) << words;
    }
}

TEST(ColumnLu, OfMatricesThatAreKeptBringsThemOnce)
{
    constexpr Index n = 160;
    std::vector<double> A = random_matrix<double>(n, n, 3), F = A, G = A;
    std::vector<Index> p(n), q = p;
    Session session(with("emulated:1,factors=yes,always=yes", "h1")), cores(with(""));
    session.keep(F.data(), n, n, n, sizeof(double));
    const RoutineOptions columns{.nb = 32, .variant = "columns"};
    for (int round = 0; round < 3; ++round) {
        EXPECT_EQ(getrf(session, n, n, F.data(), n, p.data(), columns), 0);
        EXPECT_EQ(getrf(cores, n, n, G.data(), n, q.data(), columns), 0);
        EXPECT_EQ(F, G) << round;
        EXPECT_EQ(p, q) << round;
        if (round == 1) { // the program writes into it
            F = G = A;
            session.touch_kept(F.data());
        }
    }
    session.leave(F.data());
}

/// Whatever fails, wherever: a call ends, with the right numbers or with an error of one line.
TEST(ColumnLu, GivesResultsOrAnErrorWhateverFails)
{
    constexpr Index n = 96;
    const std::vector<double> A = random_matrix<double>(n, n, 4);
    std::vector<double> expected = A;
    std::vector<Index> p(n), q = p;
    Session cores(with(""));
    ASSERT_EQ(getrf(cores, n, n, expected.data(), n, p.data(), {.nb = 16, .variant = "columns"}), 0);
    int failed = 0, whole = 0;
    for (const char* fault : {"fail-copy", "fail-kernel", "lose-at", "fail-allocation"})
        for (int at = 1; at <= 60; at += at < 12 ? 1 : 5)
            for (const bool on_device : {false, true}) {
                const std::string number = std::to_string(at);
                SCOPED_TRACE(fault + ("=" + number) + (on_device ? " of an array" : " of a matrix on the host"));
                Session session(with("emulated:2,factors=yes,always=yes," + std::string(fault) + "=" + number, "h2"));
                try {
                    std::vector<double> F = A;
                    if (on_device) {
                        const OnDevice<double> there(session, 0, A, n, n, n);
                        ASSERT_EQ(getrf(session, n, n, there.at, n, q.data(), {.nb = 16}), 0);
                        F = there.in(A);
                    } else ASSERT_EQ(getrf(session, n, n, F.data(), n, q.data(), {.nb = 16, .variant = "columns"}), 0);
                    ASSERT_EQ(F, expected);
                    ASSERT_EQ(q, p);
                    ++whole;
                } catch (const Error& error) {
                    EXPECT_NE(std::string(error.what()).find("emulated"), std::string::npos) << error.what();
                    EXPECT_EQ(std::string(error.what()).find('\n'), std::string::npos);
                    ++failed;
                }
            }
    EXPECT_GT(failed, 10);
    EXPECT_GT(whole, 10);
}

} // namespace
} // namespace trencadis::testing
