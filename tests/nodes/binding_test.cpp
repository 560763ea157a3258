#include "overlay.hpp"

#include "base/error.hpp"
#include "drivers/linear_algebra.hpp"
#include "graph/task_flow.hpp"

#include <gmock/gmock.h>

#include <atomic>
#include <chrono>
#include <thread>

namespace trencadis::testing {
namespace {

/// Says in `wrong` when a worker of another node than `node` takes part.
struct Probe {
    std::atomic<int>* runs;
    std::atomic<int>* wrong;
    const int* node_of;
    int node;

    Index chunks() const { return 6; }
    void run(TaskContext& context) const
    {
        if (node_of[context.worker()] != node) ++*wrong;
        while (const Chunks c = context.team().next()) {
            *runs += int(c.end - c.begin);
            std::this_thread::sleep_for(std::chrono::microseconds(20));
        }
    }
};
constexpr Codelet probe = codelet_of<Probe>("probe");

class Binding : public ::testing::TestWithParam<const char*> {
protected:
    const DescribedNodes machine{{2, 1, 3}};
    const int node_of[6]{0, 0, 1, 2, 2, 2};
};
INSTANTIATE_TEST_SUITE_P(Schedulers, Binding,
                         ::testing::Values("mosaic", "eager", "ws", "the", "numa-ws", "cats", "heft", "libgomp", "libkomp",
                                           "xkaapi", "virtual-cores"));

TEST_P(Binding, KeepsTasksAndThoseWhoJoinThemToTheWorkersOfTheirNode)
{
    Session session(machine.options(GetParam()));
    ASSERT_TRUE(session.binds_nodes());
    std::atomic<int> runs{0}, wrong{0}, anywhere{0};
    constexpr int tasks = 60;
    session.run([&](Flow& flow) {
        for (int i = 0; i < tasks; ++i) {
            flow.submit(probe, Probe{&runs, &wrong, node_of, i % 3}, {}, {.node = i % 3});
            flow.submit("free", [&] { ++anywhere; }, {});
        }
    });
    EXPECT_EQ(runs, 6 * tasks);
    EXPECT_EQ(anywhere, tasks);
    EXPECT_EQ(wrong, 0);
}

TEST_P(Binding, GivesTasksInsideATaskItsNodeUnlessTheyNameTheirOwn)
{
    Session session(machine.options(GetParam()));
    std::atomic<int> runs{0}, wrong{0};
    session.run([&](Flow& flow) {
        for (int node = 0; node < 3; ++node)
            flow.submit("outer",
                        [&, node](TaskContext& context) {
                            if (node_of[context.worker()] != node) ++wrong;
                            for (int i = 0; i < 8; ++i) {
                                const int inner = i % 4 == 3 ? (node + 1) % 3 : any_node;
                                const int expected = inner == any_node ? node : inner;
                                context.flow().submit(probe, Probe{&runs, &wrong, node_of, expected}, {}, {.node = inner});
                            }
                        },
                        {}, {.node = node});
    });
    EXPECT_EQ(runs, 3 * 8 * 6);
    EXPECT_EQ(wrong, 0);
}

TEST_P(Binding, RunsTasksOfANodeWithoutWorkersAnywhere)
{
    SessionOptions options = machine.options(GetParam());
    options.workers = {0, 1, 3};
    Session session(options);
    std::atomic<int> runs{0};
    session.run([&](Flow& flow) {
        for (int i = 0; i < 20; ++i) flow.submit("free", [&] { ++runs; }, {}, {.node = i % 5});
    });
    EXPECT_EQ(runs, 20);
}

TEST(Overlay, HasTheDescribedCoresAndSaysSo)
{
    const DescribedNodes machine({2, 1, 3});
    Session session(machine.options());
    EXPECT_TRUE(session.overlaid());
    EXPECT_EQ(session.workers(), 6);
    EXPECT_EQ(session.options().workers, (std::vector<int>{0, 1, 2, 3, 4, 5}));
    const std::vector<NodeWorkers> nodes = session.nodes();
    ASSERT_EQ(nodes.size(), 3u);
    EXPECT_EQ(nodes[2].node, 2);
    EXPECT_EQ(nodes[2].workers, 3);
    session.start_trace();
    EXPECT_EQ(session.stop_trace().origin, Origin::emulated);
}

TEST(Overlay, RefusesPagesWithoutAMachineAndRulesThatDoNotExist)
{
    const auto message = [](const SessionOptions& options) -> std::string {
        try {
            Session session(options);
        } catch (const Error& error) {
            return error.what();
        }
        return "";
    };
    SessionOptions options;
    options.pages = "interleave";
    EXPECT_THAT(message(options), ::testing::HasSubstr("give a machine too"));
    const DescribedNodes machine({1, 1});
    EXPECT_THAT(message(machine.options("mosaic", "scattered")), ::testing::HasSubstr("must be first-touch or interleave"));
    SessionOptions missing = machine.options();
    missing.machine = "no-such-machine";
    EXPECT_THAT(message(missing), ::testing::HasSubstr("no-such-machine"));
}

} // namespace
} // namespace trencadis::testing
