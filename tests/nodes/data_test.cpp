#include "overlay.hpp"

#include "base/error.hpp"
#include "drivers/linear_algebra.hpp"
#include "engines/engine.hpp"
#include "graph/task_flow.hpp"
#include "machine/node_memory.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <vector>

/// Real runs tell policies where data are.
namespace trencadis::testing {
namespace {

struct alignas(page_bytes) Page {
    double numbers[page_bytes / sizeof(double)];
};

struct Notes {
    int* ran_on;
    void run(TaskContext& context) const { *ran_on = context.worker(); }
};
constexpr Codelet notes = codelet_of<Notes>("notes");

/// Each task is for one worker's mailbox, from which nobody else takes.
TEST(DataOnNodes, TasksGoWhereTheirOperandsLie)
{
    const DescribedNodes machine{{1, 2, 1}};
    const int node_of[4]{0, 1, 1, 2};
    for (const char* scheduler : {"h1:mailboxes=closed", "h2:mailboxes=closed"}) {
        Session session(machine.options(scheduler, "interleave"));
        const auto pages = std::make_unique<Page[]>(24);
        std::vector<int> ran_on(24, -1);
        const auto flow = session.open_flow();
        for (int i = 0; i < 24; ++i) {
            const Datum page(&pages[i], page_bytes);
            flow->submit(notes, Notes{&ran_on[i]}, {readwrite(page)});
        }
        flow->wait();
        for (int i = 0; i < 24; ++i)
            EXPECT_EQ(node_of[ran_on[i]], session.nodes_of_pages(&pages[i], 1).front()) << scheduler << ", page " << i;
    }
}

TEST(DataOnNodes, PoliciesThatAskWhereDataAreAreRefusedOnOneNode)
{
    const DescribedNodes machine({2});
    EXPECT_THROW(Session(machine.options("h1")), Error);
}

TEST(DataOnNodes, AreLookedForOnlyWhereThePolicyAsks)
{
    Machine machine;
    machine.nodes = {{"left", 1e9}, {"right", 1e9}};
    const auto looks = [&](const char* scheduler) {
        std::atomic<int> count{0};
        const auto threads = find_entry("thread back end", threads_entries(), "native").make();
        std::vector<WorkerPlace> places(2);
        places[1].node = 1;
        EngineParts parts{places, parse_scheduler(scheduler), threads.get()};
        parts.machine = &machine;
        parts.node_of = [&](const void*) { return ++count % 2; };
        const auto engine = find_entry("engine", engine_entries(), "native").make(std::move(parts));
        double data[40]{};
        {
            TaskFlow flow(*engine->executor());
            for (int pass = 0; pass < 2; ++pass)
                for (double& datum : data) flow.submit("adds", [&datum] { ++datum; }, {readwrite(&datum)});
            flow.wait();
        }
        for (const double datum : data) EXPECT_EQ(datum, 2);
        return count.load();
    };
    for (const char* scheduler : {"h1", "h2", "numa-ws", "xkaapi", "virtual-cores:teams=0/1,inside=h1"})
        EXPECT_EQ(looks(scheduler), 80) << scheduler << ": once for each datum of each task";
    for (const char* scheduler : {"mosaic", "eager", "ws", "cats", "heft", "numa-ws:place=releaser"})
        EXPECT_EQ(looks(scheduler), 0) << scheduler;
}

/// With the transfers of the description, tasks that submit tasks, and products bound to nodes.
TEST(DataOnNodes, EveryPolicyComputesOnADescribedMachineWithLinks)
{
    for (const SchedulerEntry* entry : scheduler_entries())
        for (const char* pages : {"first-touch", "interleave"}) {
            SessionOptions options;
            options.engine = "native";
            options.kernels = "native";
            options.scheduler = entry->name;
            options.machine = "server-2s";
            options.workers = {0, 1, 62, 63};
            options.pages = pages;
            Session session(options);
            ASSERT_EQ(session.nodes().size(), 2u);
            const Index n = 300;
            std::vector<double> A(std::size_t(n * n), 1), C(A);
            for (const char* variant : {"", "packed"})
                gemm(session, Op::none, Op::none, n, n, n, 1.0, A.data(), n, A.data(), n, 0.0, C.data(), n,
                     {.nb = 64, .variant = variant});
            for (const double c : C) ASSERT_EQ(c, n) << entry->name;
        }
}

} // namespace
} // namespace trencadis::testing
