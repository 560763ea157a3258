#include "base/testing/eventually.hpp"
#include "engine_fixture.hpp"

#include "drivers/linear_algebra.hpp"
#include "observe/clock.hpp"
#include "session/session.hpp"

#include <atomic>
#include <chrono>
#include <ctime>
#include <sched.h>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

namespace trencadis::testing {
namespace {

using Cells = std::vector<std::uint64_t>;

/// cell <- 3 cell + k for every cell of a datum, which shows whether it was done once, and in order.
struct RenewArgs {
    Cells* cells;
    std::uint64_t k;
    int repeats;
    Index parts;

    Flops flops() const { return double(cells->size()) * repeats; }
    Index chunks() const { return parts; }
    void run(TaskContext& context)
    {
        const std::size_t size = cells->size(), count = std::size_t(parts);
        while (const Chunks c = context.team().next())
            renew(std::size_t(c.begin) * size / count, std::size_t(c.end) * size / count);
    }
    void renew(std::size_t begin, std::size_t end) const
    {
        for (std::size_t i = begin; i < end; ++i) {
            volatile std::uint64_t result = 0;
            for (int repeat = 0; repeat < repeats; ++repeat) result = 3 * (*cells)[i] + k;
            (*cells)[i] = result;
        }
    }
};
constexpr Codelet renew = codelet_of<RenewArgs>("renew");

/// Random tasks on some data, and the same by one loop.
void run_and_compare(TaskFlowEngine& engine, int tasks, int repeats, std::uint64_t seed)
{
    Random random(seed);
    std::vector<Cells> data(6, Cells(400, 1)), expected = data;
    {
        TaskFlow flow(engine);
        for (int i = 0; i < tasks; ++i) {
            Cells& cells = data[std::size_t(random.below(int(data.size())))];
            const std::uint64_t k = random();
            flow.submit(renew, RenewArgs{&cells, k, 1 + random.below(repeats), random.one_in(2) ? 1 : 1 + random.below(9)},
                        {readwrite(&cells)});
            for (std::uint64_t& x : expected[std::size_t(&cells - data.data())]) x = 3 * x + k;
        }
        flow.wait();
    }
    for (std::size_t i = 0; i < data.size(); ++i) ASSERT_EQ(data[i], expected[i]) << "datum " << i << ", seed " << seed;
}

std::int64_t reliefs(const Engine& engine)
{
    std::int64_t sum = 0;
    for (const WorkerTime& time : engine.times()) sum += time.reliefs;
    return sum;
}

bool keeps_units() { return threads_under_test().make()->keeps_units(); }

/// So many workers, on the first two cores in turn; none where there is only one core.
std::vector<WorkerPlace> places_on_two_cores(int workers)
{
    cpu_set_t allowed;
    sched_getaffinity(0, sizeof allowed, &allowed);
    std::vector<int> cores;
    for (int cpu = 0; cpu < CPU_SETSIZE && cores.size() < 2; ++cpu)
        if (CPU_ISSET(cpu, &allowed)) cores.push_back(cpu);
    std::vector<WorkerPlace> places;
    for (int i = 0; i < workers && cores.size() == 2; ++i) places.push_back({.cpu = cores[std::size_t(i % 2)]});
    return places;
}

#define NEEDS_RELIEF(places)                                                                                                     \
    if ((places).empty()) GTEST_SKIP() << "needs two cores";                                                                     \
    if (!keeps_units()) GTEST_SKIP() << "these threads do not keep units at their core"

class Relief : public ::testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Schedulers, Relief, ::testing::ValuesIn(representative_schedulers),
                         [](const auto& info) { return "policy" + std::to_string(info.index); });

TEST_P(Relief, WhateverGoesOnElsewhereIsDoneOnceAndInOrder)
{
    const std::vector<WorkerPlace> places = places_on_two_cores(4);
    NEEDS_RELIEF(places);
    const std::uint64_t seed = test_seed();
    RuntimeUnderTest runtime("native", GetParam(), places, Relieving::always);
    const int rounds = share_of(10);
    // Some more where the system's load has kept all of them from it.
    const Deadline deadline;
    for (int round = 0; round < rounds || (reliefs(runtime.engine()) == 0 && !deadline.passed()); ++round)
        run_and_compare(runtime.engine(), 300, 60, seed + std::uint64_t(round));
    EXPECT_GT(reliefs(runtime.engine()), 0);
}

TEST(Relief, AnEmulatedSlowWorkerNeitherGivesItsCoreNorTakesAnother)
{
    std::vector<WorkerPlace> places = places_on_two_cores(2);
    NEEDS_RELIEF(places);
    places[1].slow = 0.5;
    RuntimeUnderTest runtime("native", "eager", places, Relieving::always);
    for (int round = 0; round < share_of(50); ++round)
        run_and_compare(runtime.engine(), 100, 60, test_seed() + std::uint64_t(round));
    EXPECT_EQ(reliefs(runtime.engine()), 0);
}

/// Processes of others on the core of one worker.
class BusyCore {
public:
    BusyCore(int cpu, int threads)
    {
        for (int i = 0; i < threads; ++i)
            threads_.emplace_back([this, cpu] {
                cpu_set_t set;
                CPU_ZERO(&set);
                CPU_SET(cpu, &set);
                sched_setaffinity(0, sizeof set, &set);
                while (!stop_.load(std::memory_order_relaxed)) {}
            });
    }
    ~BusyCore()
    {
        stop_ = true;
        for (std::thread& thread : threads_) thread.join();
    }

private:
    std::atomic<bool> stop_{false};
    std::vector<std::thread> threads_;
};

void run_until_relieved(TaskFlowEngine& engine, int times)
{
    const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    while (reliefs(engine) < times && std::chrono::steady_clock::now() < until) run_and_compare(engine, 40, 2000, test_seed());
    ASSERT_GE(reliefs(engine), times);
}

TEST(Relief, AWorkerWhoseCoreIsTakenAwayIsRelieved)
{
    const std::vector<WorkerPlace> places = places_on_two_cores(2);
    NEEDS_RELIEF(places);
    const BusyCore busy(places[1].cpu, 3);
    RuntimeUnderTest runtime("native", "eager", places, Relieving::held_up);
    run_until_relieved(runtime.engine(), 3);
}

/// Also a task that no worker could do again: it is the thread that goes on elsewhere.
TEST(Relief, ATaskOfAnyKindGoesOnWhereThereIsTimeForIt)
{
    const std::vector<WorkerPlace> places = places_on_two_cores(2);
    NEEDS_RELIEF(places);
    const BusyCore busy(places[1].cpu, 3);
    RuntimeUnderTest runtime("native", "eager", places, Relieving::held_up);
    const auto work = [] {
        const std::clock_t until = std::clock() + CLOCKS_PER_SEC / 50; // of all threads
        while (std::clock() < until) {}
    };
    const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    while (reliefs(runtime.engine()) == 0 && std::chrono::steady_clock::now() < until) {
        TaskFlow flow(runtime.engine());
        for (int i = 0; i < 2; ++i) flow.submit("work", work, {});
        flow.wait();
    }
    EXPECT_GT(reliefs(runtime.engine()), 0);
}

/// Two chunks, the last of which is for who has joined, as if its core were taken away in the middle: its time stands still. Who
/// began is at work for as long as it takes until somebody has come.
void leave_one_to_who_joins(Team& team)
{
    const Chunks mine = team.next_of_two_ends(1);
    if (mine && mine.begin == 1) std::this_thread::sleep_for(std::chrono::milliseconds(10));
    for (const std::int64_t end = now_ns() + 20'000'000; mine && team.remaining() > 0 && now_ns() < end;) {}
    while (team.next()) {}
}

TEST(Relief, WhoHasJoinedATaskIsRelieved)
{
    const std::vector<WorkerPlace> places = places_on_two_cores(2);
    NEEDS_RELIEF(places);
    RuntimeUnderTest runtime("native", "eager", places, Relieving::held_up);
    struct Args {
        Flops flops() const { return 1e6; }
        Index chunks() const { return 2; }
        void run(TaskContext& context) { leave_one_to_who_joins(context.team()); }
    };
    static constexpr Codelet shared = codelet_of<Args>("shared");
    EXPECT_TRUE(eventually([&] {
        TaskFlow flow(runtime.engine());
        flow.submit(shared, Args{}, std::initializer_list<Access>{});
        flow.wait();
        return reliefs(runtime.engine()) > 0;
    }));
}

/// By its caller, who waits for it.
TEST(Relief, WhoHasJoinedACallIsRelieved)
{
    const std::vector<WorkerPlace> places = places_on_two_cores(2);
    NEEDS_RELIEF(places);
    RuntimeUnderTest runtime("native", "eager", places, Relieving::held_up);
    CallSharing& sharing = *runtime.engine().call_sharing();
    EXPECT_TRUE(eventually([&] {
        sharing.rouse(2, 0);
        sharing.share_out(2, leave_one_to_who_joins, 0);
        return reliefs(runtime.engine()) > 0;
    }));
}

/// Thread time that a task takes whoever runs it, and wherever.
void work_for(std::int64_t ns)
{
    const auto now = [] {
        timespec time;
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
        return time.tv_sec * std::int64_t{1'000'000'000} + time.tv_nsec;
    };
    for (const std::int64_t until = now() + ns; now() < until;) {}
}

/// A call then is its caller's alone, as far as it can be.
TEST(Relief, ANeighbourOnTheOthersCoresIsNoticed)
{
    const std::vector<WorkerPlace> places = places_on_two_cores(2);
    NEEDS_RELIEF(places);
    RuntimeUnderTest runtime("native", "eager", places, Relieving::never);
    CallSharing& sharing = *runtime.engine().call_sharing();
    {
        const BusyCore busy(places[1].cpu, 1);
        EXPECT_TRUE(eventually([&] {
            sharing.rouse(1, 20'000'000); // it waits for calls, and loses its core meanwhile
            return sharing.are_others_crowded();
        }));
    }
    EXPECT_TRUE(eventually([&] { return !sharing.are_others_crowded(); })) << "it is forgotten";
}

TEST(Relief, AWorkerBeginsEachTaskOnItsOwnCore)
{
    const std::vector<WorkerPlace> places = places_on_two_cores(2);
    NEEDS_RELIEF(places);
    RuntimeUnderTest runtime("native", "eager", places, Relieving::held_up);
    std::unique_ptr<BusyCore> busy = std::make_unique<BusyCore>(places[1].cpu, 3);
    run_until_relieved(runtime.engine(), 3);
    busy.reset();
    const std::int64_t before = reliefs(runtime.engine());
    std::atomic<int> elsewhere{0}, begun{0};
    TaskFlow flow(runtime.engine());
    for (int i = 0; i < 2000; ++i)
        flow.submit("where",
                    [&](TaskContext& context) {
                        if (sched_getcpu() != places[std::size_t(context.worker())].cpu) ++elsewhere;
                        work_for(20'000); // so that both take part
                        ++begun;
                    },
                    {});
    flow.wait();
    EXPECT_EQ(begun, 2000);
    EXPECT_LE(elsewhere, reliefs(runtime.engine()) - before) << "but for those that were moved again meanwhile";
}

struct LastingArgs {
    static constexpr std::int64_t ns = 300'000;
    Flops flops() const { return 1e6; }
    void run(TaskContext&) { work_for(ns); }
};
constexpr Codelet lasting = codelet_of<LastingArgs>("lasting");

TEST(Relief, NoWorkerSeemsFasterThanItIs)
{
    const std::vector<WorkerPlace> places = places_on_two_cores(4);
    NEEDS_RELIEF(places);
    RuntimeUnderTest runtime("native", "eager", places, Relieving::always);
    const Deadline deadline;
    for (int round = 0; round < share_of(30) || (reliefs(runtime.engine()) == 0 && !deadline.passed()); ++round) {
        TaskFlow flow(runtime.engine());
        for (int i = 0; i < 6; ++i) flow.submit(lasting, LastingArgs{}, std::initializer_list<Access>{});
        flow.wait();
        ASSERT_GE(runtime.engine().estimate(lasting, 1e6), 0.99e-9 * LastingArgs::ns);
    }
    EXPECT_GT(reliefs(runtime.engine()), 0);
}

TEST(Relief, ASessionSaysHowOftenItHappened)
{
    if (places_on_two_cores(2).empty() || !keeps_units())
        GTEST_SKIP() << "needs two cores, and threads that keep units at theirs";
    constexpr Index n = 160;
    SessionOptions options;
    options.relief = "always";
    Session session(options);
    std::int64_t reliefs = 0;
    const std::int64_t end_ns = now_ns() + 60'000'000'000; // on a machine that others use, too, helpers may be late for long
    for (int round = 0; reliefs == 0 && now_ns() < end_ns; ++round) {
        std::vector<double> A(n * n), B(n * n), C(n * n);
        for (Index i = 0; i < n * n; ++i) A[i] = B[i] = double(i % 7);
        gemm<double>(session, Op::none, Op::none, n, n, n, 1, A.data(), n, B.data(), n, 0, C.data(), n, {.nb = 48});
        double sum = 0;
        for (Index p = 0; p < n; ++p) sum += A[p * n + 3] * B[5 * n + p];
        ASSERT_EQ(C[5 * n + 3], sum) << "round " << round;
        for (const WorkerStatistics& worker : session.statistics()) reliefs += worker.reliefs;
    }
    EXPECT_GT(reliefs, 0);
}

TEST(Relief, NobodyIsRelievedWhereThatIsNotWanted)
{
    const std::vector<WorkerPlace> places = places_on_two_cores(4);
    NEEDS_RELIEF(places);
    RuntimeUnderTest runtime("native", "eager", places, Relieving::never);
    run_and_compare(runtime.engine(), 500, 60, test_seed());
    EXPECT_EQ(reliefs(runtime.engine()), 0);
}

} // namespace
} // namespace trencadis::testing
