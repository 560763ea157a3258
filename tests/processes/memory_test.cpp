// What a process needs beside its share of the operands: memory that is resident, at most at any time.
#include "base/error.hpp"
#include "drivers/distributed_matrix.hpp"
#include "engines/starpu/named_memory.hpp"
#include "graph/processes.hpp"
#include "session/session.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <malloc.h>
#include <string>
#include <vector>

namespace trencadis {
namespace {

using Matrix = DistributedMatrix<double>;

/// In bytes, as /proc/self/status has it in kB.
double status(const std::string& name)
{
    std::ifstream file("/proc/self/status");
    for (std::string line; std::getline(file, line);)
        if (line.starts_with(name + ':')) return 1024 * std::stod(line.substr(name.size() + 1));
    return -1;
}
/// The most from now on.
void forget_the_most()
{
    malloc_trim(0); // what was freed before counts when it is used again
    std::ofstream("/proc/self/clear_refs") << "5";
}

/// StarPU's and our books of tasks, data and messages under way, workers' packing, MPI's buffers: measured 4 to 30 MB.
constexpr double books = 40e6;
constexpr double buffers = double(NamedMemory::most_waiting) + double(NamedMemory::most_unused) + books;

class SharedMemory : public ::testing::Test {
protected:
    static constexpr Index nb = 256;

    void SetUp() override
    {
        SessionOptions options;
        options.engine = "starpu-mpi";
        session = std::make_unique<Session>(options);
        if (session->processes()->size() != 4) GTEST_SKIP() << "shares are measured with 4 processes";
        forget_the_most();
        if (status("VmHWM") < 0) GTEST_SKIP() << "/proc/self/status has no VmHWM";
        Matrix warm = matrix(128, 16);
        warm.fill_definite(1);
        distributed::potrf(*session, Uplo::lower, warm.tiles());
    }
    Matrix matrix(Index n, Index block = nb) { return {*session, n, n, block, block, {2, 2}}; }

    /// The rest of the operands, which others have, must not fit into what is allowed, else this would not see them.
    template <class Call> void expect_buffers(double operands, Call&& call)
    {
        ASSERT_GT(operands * 3 / 4, buffers);
        forget_the_most();
        const double before = status("VmRSS");
        call();
        EXPECT_LT(status("VmHWM") - before, buffers);
        std::printf("process %d: %.0f MB beside its share\n", session->processes()->rank(), (status("VmHWM") - before) / 1e6);
    }
    std::unique_ptr<Session> session;
};

TEST_F(SharedMemory, OfCholeskyIsTheShareAndBuffers)
{
    const Index n = 5376;
    Matrix A = matrix(n);
    A.fill_definite(1);
    expect_buffers(8.0 * n * n, [&] { EXPECT_EQ(distributed::potrf(*session, Uplo::lower, A.tiles()), 0); });
}

TEST_F(SharedMemory, OfLuIsTheShareAndBuffers)
{
    const Index n = 5376;
    Matrix A = matrix(n);
    A.fill_random(1);
    std::vector<Index> pivots(std::size_t{n});
    expect_buffers(8.0 * n * n, [&] { EXPECT_EQ(distributed::getrf(*session, A.tiles(), pivots.data()), 0); });
}

TEST_F(SharedMemory, OfAProductIsTheShareAndBuffers)
{
    const Index n = 3072;
    Matrix A = matrix(n), B = matrix(n), C = matrix(n);
    A.fill_random(1);
    B.fill_random(2);
    C.fill_random(3);
    expect_buffers(24.0 * n * n,
                   [&] { distributed::gemm(*session, Op::none, Op::none, 1.0, A.tiles(), B.tiles(), 0.0, C.tiles()); });
}

} // namespace
} // namespace trencadis
