#include "base/testing/eventually.hpp"
#include "drivers/linear_algebra.hpp"
#include "engine_fixture.hpp"
#include "session/session.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cfenv>
#include <cfloat>
#include <chrono>
#include <deque>
#include <initializer_list>
#include <thread>
#include <vector>
#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

namespace trencadis::testing {
namespace {

/// A product whose tasks run on several workers, all elements of A being `a`, of B `b`; the distinct values of C.
std::vector<double> product(Session& session, double a, double b, Index n = 300)
{
    const std::vector<double> A(n * n, a), B(n * n, b);
    std::vector<double> C(n * n, -1.0), values;
    gemm(session, Op::none, Op::none, n, n, n, 1.0, A.data(), n, B.data(), n, 0.0, C.data(), n, {.nb = 64});
    for (const double c : C)
        if (std::find(values.begin(), values.end(), c) == values.end()) values.push_back(c);
    return values;
}

class Rounded {
public:
    explicit Rounded(int mode) : before_(std::fegetround()) { std::fesetround(mode); }
    ~Rounded() { std::fesetround(before_); }

private:
    const int before_;
};

TEST(FloatModes, OfTheCallerRoundOnEveryWorker)
{
    Session session;
    const std::vector<double> nearest = product(session, 0.1, 0.3);
    std::vector<double> upward, downward;
    {
        const Rounded mode(FE_UPWARD);
        upward = product(session, 0.1, 0.3);
    }
    {
        const Rounded mode(FE_DOWNWARD);
        downward = product(session, 0.1, 0.3);
    }
    for (const std::vector<double>& values : {nearest, upward, downward})
        EXPECT_EQ(values.size(), 1u) << "some worker rounded otherwise";
    EXPECT_LT(downward.front(), nearest.front());
    EXPECT_LT(nearest.front(), upward.front());
    EXPECT_EQ(product(session, 0.1, 0.3), nearest) << "a mode outlived its call";
}

#if defined(__x86_64__)
/// First come, first served; notes whether it was ever asked in other modes than the standard ones, with something that traps
/// among them.
class Watchful final : public Scheduler {
public:
    static inline std::atomic<int> strange{0}, asked{0};
    void push(Task& task, WorkerId) override
    {
        look();
        tasks_.push_back(&task);
    }
    Decision pop(WorkerId) override
    {
        look();
        Decision decision;
        if (tasks_.empty()) return decision;
        decision.run = tasks_.front();
        tasks_.pop_front();
        return decision;
    }

private:
    static void look()
    {
        ++asked;
        strange += (_mm_getcsr() & ~0x3fu) != 0x1f80u;
    }
    std::deque<Task*> tasks_;
};

TEST(FloatModes, OfAProgramAreNotThoseOfItsScheduling)
{
    static const SchedulerEntry entry{
        {"watchful", "", ""}, false, [](const View&, const SchedulerOptions&) -> std::unique_ptr<Scheduler> {
            return std::make_unique<Watchful>();
        }};
    std::thread([] {
        const unsigned before = _mm_getcsr();
        _mm_setcsr((before & ~0x0680u) | 0xe040u); // traps, rounding to zero, flushing
        SchedulerSpec scheduler = parse_scheduler("eager");
        scheduler.entry = &entry;
        const auto threads = threads_under_test().make();
        EngineParts parts{std::vector<WorkerPlace>(2), scheduler, threads.get()};
        parts.callers_anywhere = true;
        const auto engine = find_entry("engine", engine_entries(), "native").make(std::move(parts));
        const auto run = [&](TaskFlow& flow) {
            for (int i = 0; i < 10; ++i)
                flow.submit("outer", [](TaskContext& context) { context.flow().submit("inner", [] {}, {}); }, {});
            flow.wait();
        };
        for (int round = 0; round < 20; ++round) {
            TaskFlow visited(*engine->executor());
            EXPECT_TRUE(eventually([&] { return engine->call_sharing()->attend(visited, [&] { run(visited); }); }));
        }
        _mm_setcsr(before);
    }).join();
    EXPECT_GT(Watchful::asked, 0);
    EXPECT_EQ(Watchful::strange, 0);
}

TEST(FloatModes, FlushToZeroInTheCallsOfTheThreadThatSaysSo)
{
    Session session;
    const auto zeros = [&] {
        const unsigned before = _mm_getcsr();
        _mm_setcsr(before | 0x8040); // flush to zero, denormals are zero
        const std::vector<double> values = product(session, DBL_MIN, 0.25);
        EXPECT_EQ(_mm_getcsr() & ~0x3fu, (before | 0x8040) & ~0x3fu) << "the caller's modes are its own";
        _mm_setcsr(before);
        return values == std::vector<double>{0.0};
    };
    const auto kept = [&] { return product(session, DBL_MIN, 0.25) == std::vector<double>{300 * (DBL_MIN * 0.25)}; };
    EXPECT_TRUE(zeros());
    EXPECT_TRUE(kept()) << "after a call that flushed";
    std::thread flushing([&] {
        for (int i = 0; i < share_of(50); ++i) EXPECT_TRUE(zeros());
    });
    for (int i = 0; i < share_of(50); ++i) EXPECT_TRUE(kept()) << "beside a call that flushes";
    flushing.join();
}

TEST(FloatModes, TrapsOfTheCallerStayOutOfTheRuntime)
{
    std::thread([] {
        const unsigned before = _mm_getcsr();
        constexpr unsigned traps = 0x0080 | 0x0200 | 0x0400; // invalid, division by zero, overflow
        _mm_setcsr(before & ~traps);
        Session session; // its workers are made by a thread that traps
        for (int i = 0; i < share_of(50); ++i) EXPECT_EQ(product(session, 1.0, 0.5, 200), std::vector<double>{100.0});
        EXPECT_EQ(_mm_getcsr() & ~0x3fu, before & ~traps & ~0x3fu);
        _mm_setcsr(before);
    }).join();
}
#endif

TEST(FloatModes, ExceptionsOfTheArithmeticAreTheCallers)
{
    Session session;
    std::this_thread::sleep_for(std::chrono::milliseconds(20)); // its workers sleep, so that this thread takes part
    std::feclearexcept(FE_ALL_EXCEPT);
    product(session, 1.0, 0.5);
    EXPECT_EQ(std::fetestexcept(FE_INEXACT), 0) << "of the runtime's own arithmetic";
    EXPECT_EQ(std::fetestexcept(FE_INVALID | FE_OVERFLOW | FE_DIVBYZERO | FE_UNDERFLOW), 0);
    product(session, DBL_MAX, 2.0);
    EXPECT_NE(std::fetestexcept(FE_OVERFLOW), 0);
    std::feclearexcept(FE_ALL_EXCEPT);
    product(session, 1.0, 0.5);
    EXPECT_EQ(std::fetestexcept(FE_OVERFLOW), 0) << "of an earlier call";
}

} // namespace
} // namespace trencadis::testing
