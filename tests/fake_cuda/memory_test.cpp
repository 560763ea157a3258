// The back end cuda over stand-ins for NVIDIA's libraries, where there is less memory than was counted on.
#include "cuda_devices.hpp"

#include <functional>

namespace trencadis::devices {
namespace {

TEST_F(CudaDevices, TryAKernelOnceMoreThatFoundNoMemoryWhenWhatIsSpareWasGivenUp)
{
    const auto device = open();
    const auto kernels = kernels_on(device->kernels(), load_kernels("native"));
    Status status;
    int relieved = 0;
    const std::function<void()> relief = [&relieved] { ++relieved; };
    device->relieved_by(&relief);
    EXPECT_EQ(told_of(*device, *kernels, status), 0);
    for (const char* symbol : {"cusolverDnDpotrf_bufferSize", "cusolverDnDpotrf"}) {
        const std::uint64_t before = device->kernels().asked();
        fail_(symbol, 1, 2);
        EXPECT_EQ(told_of(*device, *kernels, status), 0) << symbol;
        EXPECT_TRUE(status.ok()) << status.what;
        EXPECT_EQ(device->kernels().asked(), before + 1);
    }
    EXPECT_EQ(relieved, 2);
    EXPECT_EQ(told_of_lu(*device, *kernels, status, 300), 0);
    fail_("cuMemAlloc_v2", 3, 2); // behind the test's own two, and no spare room is large enough
    EXPECT_EQ(told_of_lu(*device, *kernels, status, 400), 0);
    EXPECT_TRUE(status.ok()) << status.what;
    EXPECT_EQ(relieved, 3);
    const std::uint64_t before = device->kernels().asked();
    fail_from_("cusolverDnDgetrf", 1, 2);
    EXPECT_EQ(told_of_lu(*device, *kernels, status), -1);
    EXPECT_EQ(status.fault, Fault::out_of_memory);
    EXPECT_EQ(device->kernels().asked(), before) << "nothing is half done";
    device->relieved_by(nullptr);
    EXPECT_FALSE(device->lost());
}

} // namespace
} // namespace trencadis::devices
