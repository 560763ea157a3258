#include "engine_fixture.hpp"

#include <atomic>
#include <fstream>
#include <memory>
#include <unistd.h>
#include <vector>

#include <gtest/gtest.h>

namespace trencadis::testing {
namespace {

double resident_mib()
{
    std::ifstream statm("/proc/self/statm");
    long total = 0, resident = 0;
    statm >> total >> resident;
    return double(resident) * double(sysconf(_SC_PAGESIZE)) / (1 << 20);
}

struct Empty {
    void run(TaskContext&) const {}
};
constexpr Codelet empty = codelet_of<Empty>("empty");

class Memory : public ::testing::TestWithParam<const char*> {
protected:
    void SetUp() override
    {
        if (sanitized) GTEST_SKIP() << "sanitizers keep memory of their own; the other tests run there";
    }
    RuntimeUnderTest runtime_{"native", GetParam(), 2};
};
INSTANTIATE_TEST_SUITE_P(Schedulers, Memory, ::testing::Values("eager", "ws", "the"));

/// 4,096 tasks of 576 bytes and as many groups are 3 MiB; the allocator and the threads' stacks take the rest.
constexpr double allowed_mib = 24;

TEST_P(Memory, AMillionTasksOnFewDataStayWithinTheWindow)
{
    const double before = resident_mib();
    std::vector<int> data(64);
    TaskFlow flow(runtime_.engine());
    for (int i = 0; i < 1'000'000; ++i)
        flow.submit(empty, Empty{}, {read(&data[std::size_t(i) % 64]), readwrite(&data[std::size_t(i * 7 + 1) % 64])});
    flow.wait();
    EXPECT_LT(resident_mib() - before, allowed_mib);
}

TEST_P(Memory, AMillionDifferentDataAreForgottenWhenNobodyUsesThemAnyMore)
{
    const double before = resident_mib();
    TaskFlow flow(runtime_.engine());
    const char* address = reinterpret_cast<const char*>(std::uintptr_t{1} << 32); // only addresses count
    for (int i = 0; i < 1'000'000; ++i) flow.submit(empty, Empty{}, {Access{Datum(address + 64L * i), AccessMode::readwrite}});
    flow.wait();
    EXPECT_LT(resident_mib() - before, allowed_mib);
}

TEST_P(Memory, LargeArgumentsAndManyAccessesAreGivenBack)
{
    const double before = resident_mib();
    struct Large {
        char bytes[4000];
        void run(TaskContext&) const {}
    };
    static constexpr Codelet large = codelet_of<Large>("large");
    std::vector<int> data(16);
    std::vector<Access> accesses;
    for (int& datum : data) accesses.push_back(read(&datum));
    TaskFlow flow(runtime_.engine(), {.window = 256});
    for (int i = 0; i < 200'000; ++i) flow.submit(large, Large{}, accesses);
    flow.wait();
    EXPECT_LT(resident_mib() - before, allowed_mib);
}

TEST_P(Memory, DerivedPrioritiesStayWithinTheWindowToo)
{
    struct Timed {
        void run(TaskContext&) const {}
        Flops flops() const { return 1000; }
    };
    static constexpr Codelet timed = codelet_of<Timed>("timed");
    const double before = resident_mib();
    TaskFlow flow(runtime_.engine(), {.window = 4096, .priorities = Priorities::derived});
    const char* address = reinterpret_cast<const char*>(std::uintptr_t{1} << 32);
    for (int i = 0; i < 500'000; ++i)
        flow.submit(timed, Timed{},
                    {Access{Datum(address + 64L * (i / 2)), AccessMode::read},
                     Access{Datum(address + 64L * (i / 3)), AccessMode::readwrite}});
    flow.wait();
    EXPECT_LT(resident_mib() - before, 2 * allowed_mib) << "the records of the bottom levels come on top";
}

TEST_P(Memory, NestedFlowsAreGivenBack)
{
    const double before = resident_mib();
    std::atomic<int> ran{0};
    TaskFlow flow(runtime_.engine(), {.window = 64});
    for (int i = 0; i < 20'000; ++i)
        flow.submit("outer",
                    [&](TaskContext& context) {
                        for (int k = 0; k < 20; ++k)
                            context.flow().submit("inner", [&] { ran.fetch_add(1, std::memory_order_relaxed); }, {});
                    },
                    {});
    flow.wait();
    EXPECT_EQ(ran.load(), 400'000);
    EXPECT_LT(resident_mib() - before, 2 * allowed_mib) << "waiting tasks have threads of their own, whose stacks count";
}

} // namespace
} // namespace trencadis::testing
