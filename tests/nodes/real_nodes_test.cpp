#include "drivers/linear_algebra.hpp"
#include "graph/task_flow.hpp"
#include "kernels/testing/reference.hpp"
#include "machine/machine.hpp"
#include "machine/node_memory.hpp"
#include "matrix/work_memory.hpp"
#include "session/session.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstring>

/// What only a machine with several memory nodes shows; scripts/qemu_nodes.sh runs these in an emulated one.
namespace trencadis::testing {
namespace {

class RealNodes : public ::testing::Test {
protected:
    void SetUp() override
    {
        if (memory_nodes() < 2) GTEST_SKIP() << "this machine has one memory node; see scripts/qemu_nodes.sh";
    }
};

TEST_F(RealNodes, HoldTheWorkMemoryThatIsAskedForOnThem)
{
    for (const std::size_t bytes : {std::size_t(3) * 4096, std::size_t(5) << 20})
        for (int node = 0; node < memory_nodes(); ++node)
            for (int again = 0; again < 2; ++again) { // the second time it is a kept block
                const WorkMemory memory(bytes, node);
                ASSERT_TRUE(memory.bound());
                std::memset(memory.data(), 1, memory.bytes());
                const std::vector<int> nodes = nodes_of_pages(memory.data(), memory.bytes() / page_bytes);
                ASSERT_FALSE(nodes.empty()) << "move_pages is not allowed here";
                EXPECT_EQ(std::count(nodes.begin(), nodes.end(), node), std::ptrdiff_t(nodes.size()));
            }
}

TEST_F(RealNodes, GiveTheSameBitsWhereverTheOperandsLieAndReadTheirCopiesAtHome)
{
    SessionOptions options;
    options.engine = "native";
    options.kernels = "native";
    Session session(options);
    if (session.nodes().size() < 2) GTEST_SKIP() << "the cores that this process may use are all on one memory node";
    const Index n = 600;
    const std::size_t bytes = std::size_t(n) * std::size_t(n) * sizeof(double);
    const auto A = random_matrix<double>(n, n), B = random_matrix<double>(n, n);
    std::vector<std::vector<double>> results;
    for (const NodeWorkers& place : session.nodes()) {
        WorkMemory a(bytes, place.node), b(bytes, place.node), c(bytes, place.node);
        auto *const left = static_cast<double*>(a.data()), *const right = static_cast<double*>(b.data()),
                    *const result = static_cast<double*>(c.data());
        for (Index j = 0; j < n; ++j)
            for (Index i = 0; i < n; ++i) {
                left[i + j * n] = A(i, j);
                right[i + j * n] = B(i, j);
                result[i + j * n] = 0;
            }
        session.count_node_bytes(true);
        session.reset_statistics();
        gemm(session, Op::none, Op::none, n, n, n, 1.0, left, n, right, n, 0.0, result, n, {.variant = "nodes"});
        for (const NodeBytes& row : session.node_bytes()) {
            const bool home = row.node == place.node;
            EXPECT_EQ(row.remote_read == 0, home) << "node " << row.node << ", operands on " << place.node;
            EXPECT_EQ(row.remote_written == 0, home);
            EXPECT_GT(row.local_read, 0) << "its copies";
            EXPECT_GT(row.local_written, 0);
        }
        results.emplace_back(result, result + n * n);
    }
    for (const auto& result : results) EXPECT_EQ(std::memcmp(result.data(), results[0].data(), bytes), 0);
}

/// Each task is for one worker's mailbox, from which nobody else takes.
TEST_F(RealNodes, RunTasksWhereTheirOperandsLie)
{
    SessionOptions options;
    options.engine = "native";
    options.scheduler = "h1:mailboxes=closed";
    Session session(options);
    if (session.nodes().size() < 2) GTEST_SKIP() << "the cores that this process may use are all on one memory node";
    const Machine& machine = session.machine();
    for (const NodeWorkers& place : session.nodes()) {
        const WorkMemory memory(page_bytes, place.node);
        std::memset(memory.data(), 1, memory.bytes());
        std::atomic<int> elsewhere{0};
        const auto flow = session.open_flow();
        for (int i = 0; i < 20; ++i)
            flow->submit("task",
                         [&](const TaskContext& context) {
                             const int cpu = session.options().workers[std::size_t(context.worker())];
                             for (const Core& core : machine.cores)
                                 if (core.cpu == cpu && core.node != place.node) ++elsewhere;
                         },
                         {readwrite(Datum(memory.data(), page_bytes))});
        flow->wait();
        EXPECT_EQ(elsewhere, 0) << "node " << place.node;
    }
}

} // namespace
} // namespace trencadis::testing
