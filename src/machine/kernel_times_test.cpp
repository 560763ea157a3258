#include "machine/kernel_times.hpp"

#include "base/error.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace trencadis {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

/// Cores 0 and 1 little, 2 and 3 big; core 3 drives a GPU that has no kernels of its own but those of its kind.
Machine board()
{
    Machine machine;
    machine.name = "board";
    machine.origin = "board.toml";
    machine.kinds = {{"little"}, {"big"}};
    machine.nodes = {{"node", 0}};
    machine.cores = {{0, 0, 0}, {1, 0, 0}, {2, 1, 0}, {3, 1, 0}};
    machine.devices = {{"gpu0", "gpu", 0, 0, 0, 3}};
    machine.kernels = {{"gemm", "little", 1, 0, 11},
                       {"gemm", "big", 4, 0, 12},
                       {"gemm", "little+big", 4.5, 0, 13},
                       {"gemm", "gpu", 100, 0, 14},
                       {"potrf", "big", 2, 0, 15}};
    return machine;
}

template <class Call> std::string complaint(Call&& call)
{
    try {
        call();
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), ErrorCode::bad_argument);
        return error.what();
    }
    return "no complaint";
}

TEST(FindKernel, KnowsKindsTeamsAndDevicesByKind)
{
    Machine machine = board();
    EXPECT_EQ(find_kernel(machine, "gemm", "big")->gflops, 4);
    EXPECT_EQ(find_kernel(machine, "gemm", "little+big")->gflops, 4.5);
    EXPECT_EQ(find_kernel(machine, "gemm", "big+little")->gflops, 4.5) << "a team is the same in any order";
    EXPECT_EQ(find_kernel(machine, "gemm", "gpu0")->gflops, 100);
    EXPECT_EQ(find_kernel(machine, "gemm", "big+big"), nullptr);
    EXPECT_EQ(find_kernel(machine, "potrf", "little"), nullptr);
    EXPECT_EQ(find_kernel(machine, "trsm", "big"), nullptr);
    machine.kernels.push_back({"gemm", "gpu0", 120});
    EXPECT_EQ(find_kernel(machine, "gemm", "gpu0")->gflops, 120) << "a device's own entry goes before that of its kind";
}

TEST(MissingKernels, AreThoseThatNoUnitInUseCanRun)
{
    const Machine machine = board();
    const std::string_view names[] = {"gemm", "potrf", "trsm", "syrk"};
    EXPECT_THAT(missing_kernels(machine, names), ElementsAre("trsm", "syrk"));
    const int little[] = {0, 1}, gpu[] = {0};
    EXPECT_THAT(missing_kernels(machine, std::span(names, 2), little, {}), ElementsAre("potrf"));
    EXPECT_THAT(missing_kernels(machine, std::span(names, 1), {}, gpu), IsEmpty());
}

TEST(FindKernel, TakesTheTimeOfOneThatIsAsFast)
{
    Machine machine = board();
    EXPECT_EQ(find_kernel(machine, "lauum", "big"), find_kernel(machine, "potrf", "big"));
    EXPECT_EQ(find_kernel(machine, "lauum", "little"), nullptr) << "which has no potrf";
    KernelTime own = *find_kernel(machine, "potrf", "big");
    own.kernel = "lauum";
    machine.kernels.push_back(own);
    EXPECT_EQ(find_kernel(machine, "lauum", "big"), &machine.kernels.back());
}

TEST(FindKernel, PrefersTheCodeletsOwnTimeToThatOfItsName)
{
    Machine machine = board();
    EXPECT_EQ(find_kernel(machine, {"gemm.packed", 'd', "big"}), find_kernel(machine, "gemm", "big"));
    KernelTime own = *find_kernel(machine, "gemm", "big");
    own.kernel = "gemm.packed";
    machine.kernels.push_back(own);
    EXPECT_EQ(find_kernel(machine, {"gemm.packed", 'd', "big"}), &machine.kernels.back());
    EXPECT_NE(find_kernel(machine, {"gemm.panel", 'd', "big"}), &machine.kernels.back());
    EXPECT_EQ(find_kernel(machine, {"lauum.packed", 'd', "big"}), find_kernel(machine, "potrf", "big"))
        << "as one that is as fast";
}

TEST(FindKernel, TakesTheTimeOfThePrecisionAndElseThatOfDouble)
{
    Machine machine = board();
    machine.kernels.push_back({"gemm", "big", 9, 0, 16, 's'});
    machine.kernels.push_back({"potrf", "little", 3, 0, 17, 's'});
    EXPECT_EQ(find_kernel(machine, {"gemm.packed", 's', "big"})->gflops, 9);
    for (const char other : {'d', 'c', 'z'}) EXPECT_EQ(find_kernel(machine, {"gemm.packed", other, "big"})->gflops, 4) << other;
    EXPECT_EQ(find_kernel(machine, {"symm", 's', "big"})->gflops, 9) << "as one that is as fast";
    EXPECT_EQ(find_kernel(machine, "gemm", "big")->gflops, 4);
    EXPECT_EQ(find_kernel(machine, "potrf", "little"), nullptr) << "of single precision alone";
}

TEST(MissingKernels, CoresThatOnlyDriveADeviceDoNotCount)
{
    Machine machine = board();
    machine.cores.erase(machine.cores.begin() + 2);
    machine.devices[0].host_core = 2;
    const std::string_view names[] = {"gemm", "potrf"};
    EXPECT_THAT(missing_kernels(machine, names), ElementsAre("potrf"));
}

TEST(RequireKernels, NamesFileLineAndTheEntryToAdd)
{
    const Machine machine = board();
    const std::string_view names[] = {"gemm", "trsm"};
    const int all[] = {0, 1, 2};
    const std::string message = complaint([&] { require_kernels(machine, names, all, {}); });
    EXPECT_THAT(message, HasSubstr("board.toml:15: no time for the kernel 'trsm' on any of the units in use (little, big)"));
    EXPECT_THAT(message, HasSubstr("kernel = \"trsm\", on = \"little\""));
}

TEST(RequireKernels, NamesAWorkerThatNoTaskHasATimeFor)
{
    const Machine machine = board();
    const std::string_view names[] = {"potrf"};
    const int all[] = {0, 2}, big[] = {2};
    EXPECT_THAT(complaint([&] { require_kernels(machine, names, all, {}); }),
                HasSubstr("'little' would be a worker that no task"));
    EXPECT_EQ(complaint([&] { require_kernels(machine, names, big, {}); }), "no complaint");
}

} // namespace
} // namespace trencadis
