// The back end cuda over stand-ins for NVIDIA's libraries, where there is less memory than was counted on.
#include "base/device_traffic.hpp"
#include "base/testing/eventually.hpp"
#include "cuda_devices.hpp"
#include "drivers/linear_algebra.hpp"
#include "session/session.hpp"

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <memory>
#include <string_view>
#include <vector>

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

/// The factorization has overwritten its tile by then: another one of that would be a wrong number.
TEST_F(CudaDevices, BringAnAnswerOnceMoreThatFindsNoMemory)
{
    const auto device = open();
    const auto kernels = kernels_on(device->kernels(), load_kernels("native"));
    const auto potrf = [&](Status& status) { return told_of(*device, *kernels, status); };
    const auto getrf = [&](Status& status) { return told_of_lu(*device, *kernels, status); };
    const std::function<Index(Status&)> factorizations[] = {potrf, getrf};
    Status status;
    for (const auto& factor : factorizations) {
        fail_("cuMemcpy2DAsync_v2", 2, 2); // the tile's own goes first
        EXPECT_EQ(factor(status), 0);
        EXPECT_TRUE(status.ok()) << status.what;
        fail_from_("cuMemcpy2DAsync_v2", 2, 2);
        EXPECT_EQ(factor(status), -1);
        EXPECT_EQ(status.fault, Fault::kernel) << "and not one of memory, after which it would be tried again";
        mend_();
    }
    EXPECT_EQ(potrf(status), 0);
    EXPECT_FALSE(device->lost());
}

TEST_F(CudaDevices, TellAnswersBehindAMarkThatFindsNoMemory)
{
    const auto device = open();
    const auto kernels = kernels_on(device->kernels(), load_kernels("native"));
    Status status;
    for (int round = 0; round < 3; ++round)
        for (const char* symbol : {"cuEventCreate", "cuEventRecord", "cuStreamWaitEvent", "cuStreamAddCallback"}) {
            const bool is_first = std::string_view(symbol) == "cuEventCreate"; // then events are used again
            fail_(symbol, is_first || round == 0 ? 1 : 2, 2); // of the mark behind copies, or of that behind kernels
            EXPECT_EQ(told_of(*device, *kernels, status), 0) << symbol;
            EXPECT_TRUE(status.ok()) << symbol << ": " << status.what;
            EXPECT_EQ(told_of_lu(*device, *kernels, status), 0) << symbol;
            EXPECT_TRUE(status.ok()) << symbol << ": " << status.what;
        }
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

TEST_F(CudaDevices, CopyFromWhatAnotherSessionHasLockedAsItLies)
{
    SessionOptions options;
    options.scheduler = "eager";
    options.workers = {Session::standard().options().workers.front()};
    options.devices = "cuda:0,always=yes";
    constexpr Index n = 256;
    // In whole pages: of two matrices that share one, what lies across its end is locked in two pieces, and goes by buffers.
    struct Matrix {
        explicit Matrix(double x) : elements(static_cast<double*>(std::aligned_alloc(4096, n * n * sizeof(double))), &std::free)
        {
            std::fill_n(data(), n * n, x);
        }
        double* data() const { return elements.get(); }
        std::unique_ptr<double, decltype(&std::free)> elements;
    };
    const Matrix A(1), B(2), C(-1);
    Session session(options);
    const auto moved = [&] {
        const auto multiply = [&] {
            gemm(session, Op::none, Op::none, n, n, n, 1.0, A.data(), n, B.data(), n, 0.0, C.data(), n, {.nb = 64});
        };
        for (const trencadis::testing::Deadline deadline; session.device_traffic()[0].to == 0 && !deadline.passed();) multiply();
        return session.device_traffic()[0];
    };
    {
        Session owner(options);
        for (const auto* const X : {&A, &B, &C}) owner.keep(X->data(), n, n, n, sizeof(double));
        const DeviceTraffic seen = moved();
        EXPECT_GT(seen.to, 0);
        EXPECT_EQ(seen.staged, 0);
    }
    session.reset_statistics();
    EXPECT_GT(moved().to, 0);
    EXPECT_EQ(std::vector<double>(C.data(), C.data() + n * n), std::vector<double>(n * n, 2.0 * n));
}

TEST_F(CudaDevices, CopyColumnsInPiecesWhereTheyAreFurtherApartThanTheDriverTakes)
{
    of_fake<void(unsigned long)>("fake_cuda_max_pitch")(96);
    const auto device = open();
    Block block = nullptr, other = nullptr;
    ASSERT_TRUE(device->allocate(4000, block).ok() && device->allocate(4000, other).ok());
    for (std::size_t i = 0; i < x_.size(); ++i) x_[i] = double(i);
    for (const Extent extent : {Extent{800, 1}, Extent{160, 4}, Extent{8, 4}}) {
        std::vector<double> y(x_.size(), -1), right = y;
        const std::size_t here = 200, there = 256, columns = extent.columns;
        ASSERT_TRUE(device->copy_in({x_.data(), here}, {block, there}, extent).ok());
        ASSERT_TRUE(device->copy_from(*device, {block, there}, {other, 2 * there}, extent).ok());
        ASSERT_TRUE(end_of(*device, Queue::in).ok());
        ASSERT_TRUE(device->copy_out({other, 2 * there}, {y.data(), here}, extent).ok());
        ASSERT_TRUE(end_of(*device, Queue::out).ok());
        for (std::size_t j = 0; j < columns; ++j)
            for (std::size_t i = 0; i < extent.bytes / sizeof(double); ++i) right[i + j * 25] = x_[i + j * 25];
        EXPECT_EQ(y, right) << columns << " columns of " << extent.bytes;
    }
}

TEST_F(CudaDevices, AreLostWhereTheirContextCannotBeMadeCurrentAndCallNothingInAnother)
{
    const std::function<Status(Device&, Block)> ways[] = {
        [](Device& device, Block) {
            Block fresh = nullptr;
            return device.allocate(8, fresh);
        },
        [this](Device& device, Block block) {
            return device.copy_in({x_.data(), 0}, {block, 0}, column);
        },
        [this](Device& device, Block) { return device.lock_pages(x_.data(), 800); },
        [](Device& device, Block) { return device.synchronize(2); },
        [](Device& device, Block block) {
            kernels_on(device.kernels(), load_kernels("native"))
                ->routines<double>()
                .gemm(Op::none, Op::none, 1, 1, 1, 1.0, static_cast<double*>(block), 1, static_cast<double*>(block), 1, 0.0,
                      static_cast<double*>(block), 1);
            return end_of(device, Queue::kernels);
        },
        [](Device& device, Block) { return end_of(device, Queue::out); },
    };
    for (const auto& way : ways) {
        const auto device = open();
        Block block = nullptr;
        ASSERT_TRUE(device->allocate(column.bytes, block).ok());
        fail_from_("cuCtxPushCurrent_v2", 1, 709);
        const Status status = way(*device, block);
        EXPECT_EQ(status.fault, Fault::lost) << &way - ways;
        EXPECT_EQ(status.what.find("CUDA_ERROR_CONTEXT_IS_DESTROYED for its context"), 0u) << status.what;
        EXPECT_TRUE(device->lost());
        mend_();
    }
    for (const int code : {220, 709, 710}) {
        const auto device = open();
        Block block = nullptr;
        fail_("cuMemAlloc_v2", 1, code);
        EXPECT_EQ(device->allocate(8, block).fault, Fault::lost) << code;
    }
}

} // namespace
} // namespace trencadis::devices
