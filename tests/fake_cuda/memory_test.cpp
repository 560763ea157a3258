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

TEST_F(CudaDevices, TakeWhatTheProgramHasLockedAsOnePieceForLocked)
{
    const auto device = open(), other = open();
    constexpr std::size_t page = 4096;
    std::vector<char> memory(9 * page);
    char* const at = memory.data() + page - reinterpret_cast<std::uintptr_t>(memory.data()) % page;
    const std::function<int(void*, std::size_t, unsigned)> take =
        of_fake<int(void*, std::size_t, unsigned)>("cuMemHostRegister_v2");
    const std::function<int(void*)> give = of_fake<int(void*)>("cuMemHostUnregister");
    void* context = nullptr;
    of_fake<int(void**, int)>("cuDevicePrimaryCtxRetain")(&context, 0);
    of_fake<int(void*)>("cuCtxPushCurrent_v2")(context);
    EXPECT_EQ(take(at, 2 * page, 0), 0);
    EXPECT_EQ(take(at + 2 * page, 2 * page, 0), 0);
    for (const std::size_t offset : {std::size_t(0), page}) {
        ASSERT_TRUE(device->lock_pages(at + offset, page).ok());
        EXPECT_TRUE(device->unlock_pages(at + offset).ok());
    }
    EXPECT_FALSE(device->lock_pages(at + page, 2 * page).ok()) << "it is two pieces";
    EXPECT_FALSE(device->lock_pages(at + 3 * page, 2 * page).ok()) << "a part of it is not locked";
    EXPECT_EQ(give(at), 0) << "we have not unlocked it";
    EXPECT_EQ(give(at + 2 * page), 0);
    ASSERT_TRUE(other->lock_pages(at, page).ok());
    EXPECT_FALSE(device->lock_pages(at, page).ok()) << "another of our devices unlocks it when it likes";
    EXPECT_TRUE(other->unlock_pages(at).ok());
    EXPECT_TRUE(device->lock_pages(at, page).ok());
    EXPECT_TRUE(device->unlock_pages(at).ok());
    of_fake<int(void**)>("cuCtxPopCurrent_v2")(&context);
}

} // namespace
} // namespace trencadis::devices
