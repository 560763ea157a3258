// Memory of callers is page-locked while a call or a program's word needs it, and not a moment longer. What can be locked at once
// is so little that anything left behind by one call is missed by the next.
#include "base/device_traffic.hpp"
#include "base/error.hpp"
#include "base/sanitized.hpp"
#include "base/testing/eventually.hpp"
#include "drivers/linear_algebra.hpp"
#include "session/session.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>

#include <sys/wait.h>
#include <unistd.h>

namespace trencadis::testing {
namespace {

constexpr Index n = 256, nb = 64;

/// In pages of its own.
class Matrix {
public:
    explicit Matrix(double value)
        : bytes_((n * n * sizeof(double) + 4095) / 4096 * 4096), at_(static_cast<double*>(std::aligned_alloc(4096, bytes_)))
    {
        std::fill_n(at_.get(), n * n, value);
    }
    double* data() { return at_.get(); }
    const double* begin() const { return at_.get(); }
    const double* end() const { return at_.get() + n * n; }

private:
    struct Free {
        void operator()(double* at) const { std::free(at); }
    };
    std::size_t bytes_;
    std::unique_ptr<double, Free> at_;
};
Matrix filled(double value) { return Matrix(value); }

/// One slow core beside a device, which so has most of the tasks. Three matrices and some pages may be locked at once.
SessionOptions beside_a_device(const std::string& words = "emulated,always=yes,lockable=2MiB")
{
    SessionOptions options;
    options.scheduler = "eager";
    options.devices = words;
    options.workers = {Session::standard().options().workers.front()};
    options.slow = {{options.workers.front(), 0.1}};
    return options;
}

/// C = A B of matrices of its own, so that no two products have pages in common.
struct Product {
    Matrix A = filled(1), B = filled(2), C = filled(-1);
    void run(Session& session, const std::function<bool()>& interrupted = {})
    {
        RoutineOptions options{.nb = nb};
        options.interrupted = interrupted;
        gemm(session, Op::none, Op::none, n, n, n, 1.0, A.data(), n, B.data(), n, 0.0, C.data(), n, options);
    }
    void expect_right() const
    {
        for (const double x : C) ASSERT_EQ(x, 2.0 * n);
    }
};

DeviceTraffic traffic(const Session& session) { return session.device_traffic()[0]; }

/// Calls of new matrices until the device has moved some of one: the core may have been first at all of a call.
void run_until(Session& session, Bytes DeviceTraffic::*moved)
{
    const Deadline deadline;
    for (int calls = 0; calls == 0 || (traffic(session).*moved == 0 && !deadline.passed()); ++calls) {
        Product product;
        product.run(session);
        product.expect_right();
    }
}

/// A call of new matrices moves all of them as they lie: there is room to lock them, so nobody else has anything locked.
void expect_room(Session& session, const char* after)
{
    session.reset_statistics();
    run_until(session, &DeviceTraffic::to);
    EXPECT_GT(traffic(session).to, 0) << after;
    EXPECT_EQ(traffic(session).staged, 0) << after;
}

TEST(LockedPages, AreThoseOfACallWhileItRuns)
{
    Session session(beside_a_device());
    for (int round = 0; round < 4; ++round) expect_room(session, "a call");
}

/// Calls until one throws: those that the core is first at all of are over before their caller is asked.
template <class Thrown> void expect_throw(Session& session, const std::function<bool()>& interrupted)
{
    Product product;
    bool thrown = false;
    for (const Deadline deadline; !thrown && !deadline.passed();) {
        try {
            product.run(session, interrupted);
        } catch (const Thrown&) {
            thrown = true;
        }
    }
    EXPECT_TRUE(thrown);
}

TEST(LockedPages, AreLetGoByACallThatFails)
{
    Session session(beside_a_device("emulated,always=yes,lockable=2MiB,bandwidth=8MB/s")); // callers are asked each 50 ms
    for (int round = 0; round < 2; ++round) {
        expect_throw<Error>(session, [] { return true; });
        expect_room(session, "a call that was stopped");
        expect_throw<std::runtime_error>(session, []() -> bool { throw std::runtime_error("no"); });
        expect_room(session, "a call whose caller threw");
        Matrix A = filled(-1);
        EXPECT_GT(potrf(session, Uplo::lower, n, A.data(), n, {.nb = nb}), 0);
        expect_room(session, "a matrix that is not positive definite");
    }
}

TEST(LockedPages, ThatCannotBeHadAreBuffersInstead)
{
    // 1 kB is less than a page; the fourth lock is the first of a session's first call, which the device has to have a part in.
    for (const char* const words : {"emulated,always=yes,lockable=1kB", "emulated:2,always=yes,fail-lock=4"}) {
        DeviceTraffic seen;
        for (const Deadline deadline; seen.staged == 0 && !deadline.passed();) {
            Session session(beside_a_device(words));
            Product product;
            product.run(session);
            product.expect_right();
            seen = traffic(session);
        }
        EXPECT_GT(seen.staged, 0) << words;
        if (std::string(words).find("lockable") != std::string::npos) {
            EXPECT_EQ(seen.staged, seen.to + seen.from);
        }
    }
}

TEST(LockedPages, OfKeptMatricesStayAndGoWithThem)
{
    Session session(beside_a_device());
    Product product;
    for (Matrix* const X : {&product.A, &product.B}) session.keep(X->data(), n, n, n, sizeof(double));
    product.run(session);
    EXPECT_EQ(traffic(session).staged, 0);
    session.reset_statistics();
    run_until(session, &DeviceTraffic::staged);
    EXPECT_GT(traffic(session).staged, 0) << "two matrices stay locked, there is room for two of these three at most";
    for (Matrix* const X : {&product.A, &product.B}) session.leave(X->data());
    expect_room(session, "what was kept");
}

/// Of parts of one matrix by two threads: ranges that overlap, whose calls begin and end as it happens.
TEST(LockedPages, OfTwoCallsAtOnceAreNotUnlockedUnderEachOther)
{
    Session session(beside_a_device("emulated:2,always=yes,lockable=8MiB"));
    Matrix A = filled(1), B = filled(2);
    const auto work = [&](Index columns) {
        for (int round = 0; round < 20; ++round) {
            Matrix C = filled(-1);
            gemm(session, Op::none, Op::none, n, columns, n, 1.0, A.data(), n, B.data(), n, 0.0, C.data(), n, {.nb = nb});
            for (Index i = 0; i < n * columns; ++i) ASSERT_EQ(C.begin()[i], 2.0 * n) << "round " << round;
        }
    };
    std::thread other(work, n - 70);
    work(n);
    other.join();
    for (int round = 0; round < 6; ++round) expect_room(session, "two callers");
}

TEST(LockedPages, AreNotTheOnesOfAProcessThatWasForked)
{
    if (sanitized) GTEST_SKIP() << "sanitizers do not follow a fork of a process with threads";
    Session session(beside_a_device());
    Product product;
    session.keep(product.A.data(), n, n, n, sizeof(double));
    product.run(session);
    const pid_t child = fork();
    if (child == 0) {
        session.leave(product.A.data());
        Session own(beside_a_device());
        run_until(own, &DeviceTraffic::to);
        const bool right = !HasFailure() && traffic(own).staged == 0 && traffic(own).to > 0;
        _exit(right ? 0 : 1);
    }
    int status = -1;
    waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
    session.leave(product.A.data());
    expect_room(session, "a fork");
}

} // namespace
} // namespace trencadis::testing
