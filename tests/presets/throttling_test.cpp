// A preset beside the runtime that it stands for, on this machine: when does creation begin to execute tasks itself?
#include "gate.hpp"
#include "pattern.hpp"

#include "../runtime/engine_fixture.hpp"

#include <cstdio>
#include <initializer_list>
#include <ostream>

#include <gtest/gtest.h>

namespace trencadis::testing {
namespace {

struct Case {
    const char* name;
    const char* pattern;
    int n;
    int closed_from; ///< tasks from this number on wait until one is executed by its creator, or all are created
    friend std::ostream& operator<<(std::ostream& out, const Case& c) { return out << c.name; }
};

/// What the program prints, run on the real runtime.
int of_runtime(const char* program, const Case& c, int threads)
{
    const std::string command = std::string(program) + ' ' + c.pattern + ' ' + std::to_string(c.n) + ' ' +
                                std::to_string(c.closed_from) + ' ' + std::to_string(threads);
    std::FILE* pipe = popen(command.c_str(), "r");
    int number = -2;
    const bool read = pipe && std::fscanf(pipe, "%d", &number) == 1;
    const bool ended_well = pipe && pclose(pipe) == 0;
    EXPECT_TRUE(read && ended_well) << command;
    return number;
}

int of_preset(const char* preset, const Case& c, int workers)
{
    RuntimeUnderTest runtime("native", preset, workers);
    const std::vector<pattern::TileTask> tasks = pattern::named(c.pattern, c.n);
    std::vector<char> tiles(std::size_t(c.n) * std::size_t(c.n));
    pattern::Gate gate(c.closed_from);
    const FlowOptions options{.window = std::int64_t(tasks.size()) + 1, .traits = parse_scheduler(preset).flow};
    TaskFlow root(runtime.engine(), options);
    root.submit("creates",
                [&](TaskContext& context) {
                    TaskFlow flow(runtime.engine(), options, &static_cast<TaskFlow&>(context.flow()));
                    for (int number = 0; number < int(tasks.size()); ++number) {
                        const pattern::TileTask& task = tasks[std::size_t(number)];
                        std::vector<Access> accesses{readwrite(&tiles[std::size_t(task.updates)])};
                        for (const int tile : task.reads)
                            if (tile != pattern::none) accesses.push_back(read(&tiles[std::size_t(tile)]));
                        gate.before_creation(number);
                        flow.submit(
                            "passes", [&gate, number] { gate.pass(number); }, accesses);
                        gate.after_creation(number);
                    }
                    gate.all_created();
                    flow.wait();
                },
                {});
    root.wait();
    return gate.first_inline();
}

class BesideTheRealRuntime : public ::testing::TestWithParam<Case> {
protected:
    void compare(const char* preset, const char* program, std::initializer_list<int> thread_counts)
    {
        if (!*program) GTEST_SKIP() << "no " << preset << " here, or this compiler does not make programs for it";
        for (const int threads : thread_counts) {
            const int real = of_runtime(program, GetParam(), threads);
            EXPECT_EQ(of_preset(preset, GetParam(), threads), real) << preset << " with " << threads << " threads";
        }
    }
};
// Nothing runs inline where all wait for one task: runtimes count what could run. 200 ready tasks are more than 3 x 64, and 300
// more than a deque of 256.
INSTANTIATE_TEST_SUITE_P(Graphs, BesideTheRealRuntime,
                         ::testing::Values(Case{"independent tasks", "independent", 500, 0},
                                           Case{"Cholesky whose first potrf is slow", "cholesky", 16, 0},
                                           Case{"Cholesky whose trsm are slow", "cholesky", 300, 1}));

TEST_P(BesideTheRealRuntime, LibgompBeginsToExecuteInlineAtTheSameTask) { compare("libgomp", TRC_LIBGOMP_PROBE, {2, 3}); }
TEST(PresetOfLibgomp, BeginsPast64TasksPerWorkerThatCouldRun)
{
    EXPECT_EQ(of_preset("libgomp", {"", "independent", 500, 0}, 2), 129);
    EXPECT_EQ(of_preset("libgomp", {"", "cholesky", 16, 0}, 2), -1) << "all wait for the first potrf";
    EXPECT_EQ(of_preset("libgomp", {"", "cholesky", 300, 1}, 2), 130) << "the first potrf has ended";
}

/// Two threads only: with more it is a matter of luck how many tasks have left the creator's deque.
TEST_P(BesideTheRealRuntime, LibompBeginsToExecuteInlineAtTheSameTask) { compare("libomp", TRC_LIBOMP_PROBE, {2}); }

} // namespace
} // namespace trencadis::testing
