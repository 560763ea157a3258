#include "engine_fixture.hpp"

#include "session/linear_algebra.hpp"
#include "session/session.hpp"
#include "threads/stoppable.hpp"

#include <atomic>
#include <chrono>
#include <sched.h>
#include <sys/mman.h>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

namespace trencadis::testing {
namespace {

using Cells = std::vector<std::uint64_t>;

/// cell <- 3 cell + k for the cells [begin, end) of a datum, which shows whether it was done once, and in order.
class Renew final : public Restartable {
public:
    Renew(Cells& cells, std::size_t begin, std::size_t end, std::uint64_t k, int repeats)
        : cells_(cells), begin_(begin), results_(end - begin), k_(k), repeats_(repeats)
    {
    }
    void prepare() override
    {
        for (int repeat = 0; repeat < repeats_; ++repeat)
            for (std::size_t i = 0; i < results_.size(); ++i)
                results_[i] = 3 * static_cast<volatile std::uint64_t&>(cells_[begin_ + i]) + k_;
    }
    void perform() override
    {
        for (std::size_t i = 0; i < results_.size(); ++i) cells_[begin_ + i] = results_[i];
    }

private:
    Cells& cells_;
    const std::size_t begin_;
    Cells results_;
    const std::uint64_t k_;
    const int repeats_;
};

struct RenewArgs {
    Cells* cells;
    std::uint64_t k;
    int repeats;
    Index parts;

    Flops flops() const { return double(cells->size()) * repeats; }
    Index chunks() const { return parts; }
    void run(TaskContext& context)
    {
        Team& team = context.team();
        const std::size_t size = cells->size(), count = std::size_t(parts);
        while (const Chunks c = team.next()) {
            const std::size_t begin = std::size_t(c.begin) * size / count, end = std::size_t(c.end) * size / count;
            auto work = std::make_unique<Renew>(*cells, begin, end, k, repeats);
            if (team.relieved()) {
                if (!team.run(std::move(work), c)) return;
                continue;
            }
            work->prepare();
            work->perform();
        }
    }
};
constexpr Codelet renew = codelet_of<RenewArgs>("renew");

/// Random tasks on some data, and the same by one loop.
void run_and_compare(Engine& engine, int tasks, int repeats, std::uint64_t seed)
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

class Relief : public ::testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Schedulers, Relief, ::testing::ValuesIn(representative_schedulers),
                         [](const auto& info) { return "policy" + std::to_string(info.index); });

TEST_P(Relief, WhateverIsTakenOverIsDoneOnceAndInOrder)
{
    const std::uint64_t seed = test_seed();
    RuntimeUnderTest runtime("native", GetParam(), 4, Relieving::always);
    for (int round = 0; round < share_of(10); ++round) run_and_compare(runtime.engine(), 300, 60, seed + std::uint64_t(round));
    if (can_stop_threads()) {
        EXPECT_GT(reliefs(runtime.engine()), 0);
    }
}

TEST(Relief, AnEmulatedSlowWorkerMayTakeOverToo)
{
    std::vector<WorkerPlace> places(3);
    places[1].slow = 0.5;
    places[2].slow = 0.3;
    RuntimeUnderTest runtime("native", "eager", places, Relieving::always);
    for (int round = 0; round < share_of(600); ++round)
        run_and_compare(runtime.engine(), 100, 60, test_seed() + std::uint64_t(round));
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

TEST(Relief, AWorkerWhoseCoreIsTakenAwayIsRelieved)
{
    if (!can_stop_threads()) GTEST_SKIP() << "signals are delayed here (ThreadSanitizer), or the kernel has no membarrier";
    cpu_set_t allowed;
    sched_getaffinity(0, sizeof allowed, &allowed);
    if (CPU_COUNT(&allowed) < 2) GTEST_SKIP() << "needs two cores";
    std::vector<WorkerPlace> places;
    for (int cpu = 0; cpu < CPU_SETSIZE && places.size() < 2; ++cpu)
        if (CPU_ISSET(cpu, &allowed)) places.push_back({.cpu = cpu});
    const BusyCore busy(places[1].cpu, 3);
    RuntimeUnderTest runtime("native", "eager", places, Relieving::held_up);
    const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(30);
    while (reliefs(runtime.engine()) < 3 && std::chrono::steady_clock::now() < until)
        run_and_compare(runtime.engine(), 40, 2000, test_seed());
    EXPECT_GE(reliefs(runtime.engine()), 3);
}

/// Pages that come and go: a worker that was left behind must not touch them any more.
TEST(Relief, OperandsMayGoAwayAsSoonAsTheCallIsOver)
{
    constexpr Index n = 160;
    constexpr std::size_t bytes = n * n * sizeof(double);
    SessionOptions options;
    options.relief = "always";
    Session session(options);
    std::vector<std::unique_ptr<BusyCore>> busy;
    for (const int cpu : session.options().workers) busy.push_back(std::make_unique<BusyCore>(cpu, 1));
    const auto map = [] {
        return static_cast<double*>(mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    };
    for (int round = 0; round < share_of(400); ++round) {
        double *A = map(), *B = map(), *C = map(); // C is touched first by whoever writes it
        for (Index i = 0; i < n * n; ++i) A[i] = B[i] = double(i % 7);
        gemm<double>(session, Op::none, Op::none, n, n, n, 1, A, n, B, n, 0, C, n, {.nb = 48});
        double sum = 0;
        for (Index p = 0; p < n; ++p) sum += A[p * n + 3] * B[5 * n + p];
        ASSERT_EQ(C[5 * n + 3], sum) << "round " << round;
        munmap(A, bytes);
        munmap(B, bytes);
        munmap(C, bytes);
    }
}

TEST(Relief, NobodyIsRelievedWhereThatIsNotWanted)
{
    RuntimeUnderTest runtime("native", "eager", 4, Relieving::never);
    run_and_compare(runtime.engine(), 500, 60, test_seed());
    EXPECT_EQ(reliefs(runtime.engine()), 0);
}

} // namespace
} // namespace trencadis::testing
