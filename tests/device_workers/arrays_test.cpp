// Matrices that lie on devices: the results are those of matrices in the host's memory, to the last bit, and lie there again.
#include "array_on_device.hpp"
#include "base/device_traffic.hpp"
#include "base/error.hpp"
#include "base/sanitized.hpp"
#include "drivers/linear_algebra.hpp"
#include "engines/device_arrays.hpp"
#include "queue_kernels.hpp"
#include "random_matrix.hpp"
#include "session/session.hpp"

#include <gtest/gtest.h>

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <limits>
#include <string>
#include <vector>

namespace trencadis::testing {
namespace {

SessionOptions with(const std::string& devices, const std::string& scheduler = "eager")
{
    SessionOptions options;
    options.scheduler = scheduler;
    options.devices = devices.empty() || devices.find("always") < devices.size() ? devices : devices + ",always=yes";
    options.worker_count = 1;
    return options;
}

template <class T> class ArraysOnDevices : public ::testing::Test {
public:
    static constexpr Index n = 150, nrhs = 37, ld = 161;
    const std::vector<T> A = random_matrix<T>(ld, n, 1), B = random_matrix<T>(ld, n, 2), X = random_matrix<T>(ld, nrhs, 3);
    const RoutineOptions tiles{.nb = 32};
    static std::vector<T> positive(std::vector<T> A)
    {
        for (Index j = 0; j < n; ++j) A[std::size_t(j * (ld + 1))] = T(Real<T>(2 * n));
        return A;
    }
    std::vector<T> S = positive(A);
};
using Scalars = ::testing::Types<float, double, std::complex<float>, std::complex<double>>;
TYPED_TEST_SUITE(ArraysOnDevices, Scalars);

TYPED_TEST(ArraysOnDevices, GiveTheBitsOfThoseOnTheHost)
{
    using T = TypeParam;
    const Index n = this->n, nrhs = this->nrhs, ld = this->ld;
    for (const char* scheduler : {"mosaic", "eager", "h2", "dmda", "locality-default"})
        for (const char* words : {"emulated:2,memory=8MiB,always=yes", "emulated:3,memory=8MiB,always=yes,direct=yes"}) {
            SCOPED_TRACE(std::string(scheduler) + " on " + words);
            Session session(with(words, scheduler));
            std::vector<T> C = this->X, L = this->S, Y = this->X, F = this->A, G = this->A, Z = this->X;
            std::vector<Index> p(std::size_t(n), 0), q = p, r = p, s = p;
            gemm(session, Op::none, Op::conj_trans, n, nrhs, n, T(2), this->A.data(), ld, this->B.data(), ld, T(3), C.data(), ld,
                 {.nb = 32, .variant = "in-place"});
            EXPECT_EQ(posv(session, Uplo::lower, n, nrhs, L.data(), ld, Y.data(), ld, {.nb = 32, .variant = "in-place"}), 0);
            EXPECT_EQ(getrf(session, n, n, F.data(), ld, p.data(), {.nb = 32, .variant = "panel"}), 0);
            EXPECT_EQ(gesv(session, n, nrhs, G.data(), ld, q.data(), Z.data(), ld, {.nb = 32, .variant = "panel"}), 0);

            const OnDevice<T> A(session, 0, this->A, n, n, ld), B(session, 1, this->B, n, n, ld);
            const OnDevice<T> CC(session, 1, this->X, n, nrhs, ld), LL(session, 0, this->S, n, n, ld),
                YY(session, 0, this->X, n, nrhs, ld);
            const OnDevice<T> FF(session, 1, this->A, n, n, ld), GG(session, 0, this->A, n, n, ld),
                ZZ(session, 1, this->X, n, nrhs, ld);
            gemm(session, Op::none, Op::conj_trans, n, nrhs, n, T(2), A.at, ld, B.at, ld, T(3), CC.at, ld, this->tiles);
            EXPECT_EQ(CC.in(this->X), C) << "gemm";
            EXPECT_EQ(posv(session, Uplo::lower, n, nrhs, LL.at, ld, YY.at, ld, this->tiles), 0);
            EXPECT_EQ(LL.in(this->S), L) << "posv's factor";
            EXPECT_EQ(YY.in(this->X), Y) << "posv";
            EXPECT_EQ(getrf(session, n, n, FF.at, ld, r.data(), this->tiles), 0);
            EXPECT_EQ(FF.in(this->A), F) << "getrf";
            EXPECT_EQ(r, p);
            EXPECT_EQ(gesv(session, n, nrhs, GG.at, ld, s.data(), ZZ.at, ld, this->tiles), 0);
            EXPECT_EQ(ZZ.in(this->X), Z) << "gesv";
            EXPECT_EQ(s, q);
        }
}

TYPED_TEST(ArraysOnDevices, AreSolvedWithAfterwardsAndMixedWithThoseOnTheHost)
{
    using T = TypeParam;
    const Index n = this->n, nrhs = this->nrhs, ld = this->ld;
    Session session(with("emulated:2,memory=8MiB"));
    std::vector<T> L = this->S, Y = this->X, F = this->A, Z = this->X;
    std::vector<Index> p(std::size_t(n), 0), q = p;
    EXPECT_EQ(potrf(session, Uplo::upper, n, L.data(), ld, {.nb = 32, .variant = "in-place"}), 0);
    potrs(session, Uplo::upper, n, nrhs, L.data(), ld, Y.data(), ld, this->tiles);
    EXPECT_EQ(getrf(session, n, n, F.data(), ld, p.data(), {.nb = 32, .variant = "panel"}), 0);
    getrs(session, Op::trans, n, nrhs, F.data(), ld, p.data(), Z.data(), ld, this->tiles);

    const OnDevice<T> LL(session, 0, this->S, n, n, ld), FF(session, 1, this->A, n, n, ld), ZZ(session, 0, this->X, n, nrhs, ld);
    std::vector<T> YY = this->X;
    EXPECT_EQ(potrf(session, Uplo::upper, n, LL.at, ld, this->tiles), 0);
    EXPECT_EQ(LL.in(this->S), L);
    potrs(session, Uplo::upper, n, nrhs, LL.at, ld, YY.data(), ld, this->tiles);
    EXPECT_EQ(YY, Y) << "right sides on the host";
    EXPECT_EQ(getrf(session, n, n, FF.at, ld, q.data(), this->tiles), 0);
    getrs(session, Op::trans, n, nrhs, FF.at, ld, q.data(), ZZ.at, ld, this->tiles);
    EXPECT_EQ(ZZ.in(this->X), Z);
}

/// Of any size and with the tiles that they are given, small ones as well: nobody looks at them on the host.
TYPED_TEST(ArraysOnDevices, AreOfAnySize)
{
    using T = TypeParam;
    Session session(with("emulated,memory=8MiB"));
    for (const Index n : {0, 1, 2, 31, 64, 65, 130}) {
        SCOPED_TRACE(n);
        const Index ld = std::max<Index>(1, n);
        const std::vector<T> values = random_matrix<T>(ld, std::max<Index>(1, n), 7);
        std::vector<T> expected = values;
        const OnDevice<T> A(session, 0, values, n, std::max<Index>(1, n), ld),
            C(session, 0, values, n, std::max<Index>(1, n), ld);
        gemm(session, Op::none, Op::none, n, n, n, T(1), values.data(), ld, values.data(), ld, T(0), expected.data(), ld,
             {.nb = 64, .variant = "in-place"});
        gemm(session, Op::none, Op::none, n, n, n, T(1), A.at, ld, A.at, ld, T(0), C.at, ld, {.nb = 64}); // one matrix, twice
        EXPECT_EQ(C.in(values), expected);
        gemm(session, Op::none, Op::trans, n, n, n, T(1), A.at, ld, A.at, ld, T(0), C.at, ld);
        for (T& x : expected) x = T(3);
        session.copy_to(C.at, ld, expected.data(), ld, n, std::max<Index>(1, n), sizeof(T));
        gemm(session, Op::none, Op::none, n, n, 0, T(1), A.at, ld, A.at, ld, T(2), C.at, ld);
        for (T& x : expected) x = T(n ? 6 : 3);
        EXPECT_EQ(C.in(expected), expected) << "only scaled";
        gemm(session, Op::none, Op::none, n, n, n, T(0), A.at, ld, A.at, ld, T(0), C.at, ld);
        EXPECT_EQ(C.in(expected), std::vector<T>(expected.size(), T(n ? 0 : 3))) << "made zero";
    }
}

TYPED_TEST(ArraysOnDevices, WithABadPivotAreReportedAsOthers)
{
    using T = TypeParam;
    const Index n = this->n, ld = this->ld;
    Session session(with("emulated:2,memory=8MiB"));
    std::vector<T> S = this->S;
    S[std::size_t(70 * (ld + 1))] = T(-1);
    const OnDevice<T> A(session, 0, S, n, n, ld), B(session, 0, this->X, n, this->nrhs, ld);
    EXPECT_EQ(posv(session, Uplo::lower, n, this->nrhs, A.at, ld, B.at, ld, this->tiles), 71);
    EXPECT_EQ(B.in(this->X), this->X) << "nothing is solved with what is no factor";
}

std::string refusal(const auto& call)
{
    try {
        call();
    } catch (const Error& error) {
        return error.what();
    }
    return "none";
}

/// Both sums of `terms` products in some order; the absolute values of these add up to at most 2 times the largest element there.
void expect_near(const std::vector<double>& is, const std::vector<double>& expected, Index terms)
{
    ASSERT_EQ(is.size(), expected.size());
    double most = 0, worst = 0;
    for (const double x : expected) most = std::max(most, std::abs(x));
    for (std::size_t i = 0; i < is.size(); ++i) worst = std::max(worst, std::abs(is[i] - expected[i]));
    EXPECT_LE(worst, 4 * double(terms) * std::numeric_limits<double>::epsilon() * most);
}

TEST(ArraysOnADevice, AreRefusedByRoutinesThatDoNotTakeThem)
{
    Session session(with("emulated,memory=8MiB"));
    const std::vector<double> values(100 * 100, 1.0);
    std::vector<double> tau(100);
    const OnDevice<double> A(session, 0, values, 100, 100, 100);
    const auto refused = [&](const auto& call) {
        EXPECT_NE(refusal(call).find("lies on a device, and this routine"), std::string::npos) << refusal(call);
    };
    refused([&] { geqrf(session, 100, 100, A.at, 100, tau.data()); });
    refused([&] { trsm(session, Side::left, Uplo::lower, Op::none, Diag::unit, 100, 100, 1.0, values.data(), 100, A.at, 100); });
    refused(
        [&] { syrk(session, Uplo::lower, Op::none, 100, 100, 1.0, A.at, 100, 0.0, const_cast<double*>(values.data()), 100); });
    EXPECT_EQ(A.in(values), values);
}

TEST(ArraysOnADevice, ThatAreNoneAreRefused)
{
    Session session(with("emulated:2,memory=1MiB")), other(with("emulated,memory=1MiB")), cores(with(""));
    std::vector<double> x(100, 1.0);
    EXPECT_NE(refusal([&] { session.allocate_on(2, 100); }).find("device 2 was named, and this session has 2"),
              std::string::npos);
    EXPECT_NE(refusal([&] { cores.allocate_on(0, 100); }).find("no devices"), std::string::npos);
    EXPECT_NE(refusal([&] { session.allocate_on(0, 2 << 20); }).find("bytes were asked for"), std::string::npos);
    EXPECT_NE(refusal([&] { session.adopt(0, x.data(), 800); }).find("are in no memory of"), std::string::npos);
    EXPECT_NE(refusal([&] { session.give_up(x.data()); }).find("no array on a device"), std::string::npos);
    const OnDevice<double> theirs(other, 0, x, 100, 1, 100);
    EXPECT_NE(refusal([&] { session.adopt(0, theirs.at, 800); }).find("are in no memory of"), std::string::npos);
    const OnDevice<double> ours(session, 1, x, 100, 1, 100);
    EXPECT_NE(refusal([&] { session.adopt(0, ours.at, 800); }).find("are in no memory of"), std::string::npos)
        << "of the other one";
    EXPECT_NE(refusal([&] { session.copy_from(ours.at, 100, x.data(), 100, 100, 2, 8); }).find("no such array"),
              std::string::npos);
    EXPECT_NE(refusal([&] { session.keep(ours.at, 10, 10, 10, 8); }).find("lies on a device"), std::string::npos);
}

/// What is asked wrongly is refused, and the device goes on.
TEST(ArraysOnADevice, AreCopiedWhereTheHostsEndIsAMatrix)
{
    Session session(with("emulated,memory=1MiB"));
    std::vector<double> x(100, 2.0);
    const OnDevice<double> A(session, 0, x, 10, 10, 10);
    const auto expect = [](const std::string& said, const char* what) { EXPECT_NE(said.find(what), std::string::npos) << said; };
    expect(refusal([&] { session.copy_to(A.at, 10, x.data(), 5, 10, 10, 8); }), "host_ld is 5, must be at least 10");
    expect(refusal([&] { session.copy_from(A.at, 10, x.data(), 0, 10, 10, 8); }), "host_ld is 0, must be at least 10");
    expect(refusal([&] { session.copy_to(A.at, 10, nullptr, 10, 10, 10, 8); }), "host is null");
    expect(refusal([&] { session.copy_from(A.at, 10, nullptr, 10, 10, 10, 8); }), "host is null");
    expect(refusal([&] { session.copy_array(A.at, 10, A.at, 9, 10, 10, 8); }), "from_ld is 9, must be at least 10");
    EXPECT_EQ(A.in(std::vector<double>(100)), x);
    EXPECT_EQ(session.device_traffic()[0].fault, "");
}

TEST(ArraysOnADevice, OutliveACopyThatTheirDeviceRefuses)
{
    EngineOnDevices on("emulated,memory=1MiB", "eager", 1, 2);
    DeviceArrays& arrays = *on.engine->device_arrays();
    std::vector<double> x(100, 2.0), y(100);
    void* const at = arrays.allocate(0, 800);
    const DeviceArrays::Columns columns{at, 80, 80, 10};
    arrays.write(columns, {x.data(), 80});
    EXPECT_NE(refusal([&] { arrays.read({at, 72, 80, 10}, {y.data(), 80}); }), "none") << "columns that overlap";
    EXPECT_EQ(refusal([&] { arrays.read(columns, {y.data(), 80}); }), "none");
    EXPECT_EQ(y, x);
    EXPECT_EQ(on.engine->traffic()[0].fault, "");
}

TEST(ArraysOfAParent, AreNobodysInAForkedChild)
{
    if (sanitized) GTEST_SKIP() << "sanitizers do not follow a fork of a process with threads";
    Session session(with("emulated,memory=1MiB"));
    constexpr Index n = 8; // a product of which the calling thread computes alone
    std::vector<double> x(n * n, 2.0), y = x;
    const OnDevice<double> A(session, 0, x, n, n, n);
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) try {
            gemm(session, Op::none, Op::none, n, n, n, 1.0, A.at, n, x.data(), n, 0.0, y.data(), n);
            _exit(1);
        } catch (const Error& error) {
            _exit(error.code() == ErrorCode::environment ? 42 : 2);
        }
    int status = 0;
    waitpid(child, &status, 0);
    EXPECT_TRUE(WIFEXITED(status));
    EXPECT_EQ(WEXITSTATUS(status), 42);
    EXPECT_EQ(A.in(y), x);
}

/// Memory that others have allocated there is used and stays theirs.
TEST(ArraysOnADevice, OfOthersStayTheirs)
{
    Session session(with("emulated,memory=1MiB"));
    const std::vector<double> x(100, 2.0);
    const OnDevice<double> theirs(session, 0, x, 10, 10, 10);
    void* const part = session.adopt(0, theirs.at + 20, 400);
    EXPECT_EQ(part, theirs.at + 20);
    gemm(session, Op::none, Op::none, 5, 5, 5, 1.0, static_cast<double*>(part), 5, static_cast<double*>(part), 5, 0.0, theirs.at,
         10);
    session.give_up(part);
    EXPECT_EQ(theirs.in(x)[0], 20.0);
}

TEST(ArraysOnADevice, TakeOfTheMemoryForCopies)
{
    Session session(with("emulated,memory=1MiB"));
    EXPECT_EQ(session.device_bytes(), 1 << 20);
    void* const half = session.allocate_on(0, 1 << 19);
    EXPECT_EQ(session.device_bytes(), 1 << 19);
    session.give_up(half);
    EXPECT_EQ(session.device_bytes(), 1 << 20);
    EXPECT_FALSE(session.has_arrays());
}

TEST(ArraysOnADevice, WhoseTilesFitNowhereBesideThemAreRefusedWhenACallBegins)
{
    Session session(with("emulated,memory=1MiB"));
    constexpr Index n = 320;
    const std::vector<double> values = random_matrix<double>(n, n, 6);
    const OnDevice<double> A(session, 0, values, n, n, n); // 800 kB of it
    const std::string said = refusal([&] { potrf(session, Uplo::lower, n, A.at, n, {.nb = 160}); });
    EXPECT_NE(said.find("a device's memory of 224KiB is less than the operands of one task"), std::string::npos) << said;
    EXPECT_EQ(A.in(values), values);
}

/// They leave no room for three tiles of 64, which calls on the host's matrices then do without; those on the arrays alone need
/// none.
TEST(ArraysOnADevice, ThatFillItLetCallsGoThatNeedNoRoomThere)
{
    constexpr Index n = 200;
    const std::vector<double> values = random_matrix<double>(n, n, 6);
    std::vector<double> S = values;
    for (Index j = 0; j < n; ++j) S[std::size_t(j * (n + 1))] = 2 * n;
    for (const char* words : {"emulated,memory=1MB,always=yes", "emulated,memory=1MB,factors=yes,always=yes"}) {
        SCOPED_TRACE(words);
        Session session(with(words));
        const OnDevice<double> A(session, 0, S, n, n, n), B(session, 0, values, n, n, n), C(session, 0, values, n, n, n);
        std::vector<double> expected(n * n), D = values, L = S, F = S;
        std::vector<Index> p(n), q(n);
        gemm(session, Op::none, Op::none, n, n, n, 1.0, S.data(), n, values.data(), n, 0.0, expected.data(), n);
        gemm(session, Op::none, Op::none, n, n, n, 1.0, A.at, n, B.at, n, 0.0, C.at, n);
        expect_near(C.in(values), expected, n);
        const std::string said =
            refusal([&] { gemm(session, Op::none, Op::none, n, n, n, 1.0, A.at, n, values.data(), n, 0.0, D.data(), n); });
        EXPECT_NE(said.find("beside what arrays have taken there"), std::string::npos) << said;
        EXPECT_EQ(getrf(session, n, n, F.data(), n, p.data()), 0);
        session.copy_to(B.at, n, S.data(), n, n, n, 8);
        EXPECT_EQ(getrf(session, n, n, B.at, n, q.data()), 0);
        expect_near(B.in(values), F, n);
        EXPECT_EQ(p, q);
        session.copy_to(B.at, n, S.data(), n, n, n, 8);
        EXPECT_EQ(getrf(session, n, n / 2, B.at, n, q.data()), 0);
        EXPECT_EQ(potrf(session, Uplo::lower, n, L.data(), n), 0);
        EXPECT_EQ(potrf(session, Uplo::lower, n, A.at, n), 0);
        expect_near(A.in(values), L, n);
    }
}

TEST(ArraysOnADevice, OfACallThatIsStoppedAreUsedByTheNext)
{
    Session session(with("emulated:2,memory=8MiB,latency=2ms"));
    constexpr Index n = 256;
    const std::vector<double> values = random_matrix<double>(n, n, 6);
    const OnDevice<double> A(session, 0, values, n, n, n), C(session, 1, values, n, n, n);
    EXPECT_NE(refusal([&] {
                  gemm(session, Op::none, Op::none, n, n, n, 1.0, A.at, n, A.at, n, 0.0, C.at, n,
                       {.nb = 16, .interrupted = [] { return true; }});
              }),
              "none");
    std::vector<double> expected = values;
    gemm(session, Op::none, Op::none, n, n, n, 1.0, values.data(), n, values.data(), n, 0.0, expected.data(), n,
         {.nb = 64, .variant = "in-place"});
    gemm(session, Op::none, Op::none, n, n, n, 1.0, A.at, n, A.at, n, 0.0, C.at, n, {.nb = 64});
    EXPECT_EQ(C.in(values), expected);
}

/// By whoever is left; false: the call says what failed.
bool is_right_on_the_host(Session& session, std::vector<double> A, const std::vector<double>& expected)
{
    const Index n = 96;
    try {
        EXPECT_EQ(potrf(session, Uplo::lower, n, A.data(), n, {.nb = 16, .variant = "in-place"}), 0);
    } catch (const Error& error) {
        EXPECT_NE(std::string(error.what()).find("emulated"), std::string::npos) << error.what();
        return false;
    }
    EXPECT_EQ(A, expected);
    return true;
}

/// Whatever fails, wherever: a call ends, with the right numbers or with an error, and so does what comes after it.
TEST(ArraysOnADevice, GiveResultsOrAnErrorWhateverFails)
{
    constexpr Index n = 96, ld = 96;
    const std::vector<double> values = random_matrix<double>(ld, n, 4);
    std::vector<double> A = values, expected;
    for (Index j = 0; j < n; ++j) A[std::size_t(j * (ld + 1))] = 2 * n;
    int failed = 0, whole = 0;
    for (const char* fault : {"fail-copy", "fail-kernel", "lose-at", "fail-allocation"})
        for (int at = 1; at <= 40; at += at < 8 ? 1 : 4) {
            const std::string number = std::to_string(at);
            SCOPED_TRACE(fault + ("=" + number));
            Session session(with("emulated:2,memory=8MiB,always=yes," + std::string(fault) + "=" + number, "h2"));
            if (expected.empty()) {
                Session healthy(with("emulated:2,memory=8MiB,always=yes", "h2"));
                expected = A;
                ASSERT_EQ(potrf(healthy, Uplo::lower, n, expected.data(), ld, {.nb = 16, .variant = "in-place"}), 0);
            }
            try {
                const OnDevice<double> there(session, 0, A, n, n, ld);
                ASSERT_EQ(potrf(session, Uplo::lower, n, there.at, ld, {.nb = 16}), 0);
                ASSERT_EQ(there.in(A), expected);
                ++whole;
            } catch (const Error& error) {
                EXPECT_NE(std::string(error.what()).find("emulated"), std::string::npos) << error.what();
                EXPECT_EQ(std::string(error.what()).find('\n'), std::string::npos);
                ++failed;
            }
            for (int tries = 0; !is_right_on_the_host(session, A, expected); ++tries) ASSERT_LT(tries, 2); // a fault may be left
        }
    EXPECT_GT(failed, 10);
    EXPECT_GT(whole, 2);
}

} // namespace
} // namespace trencadis::testing
