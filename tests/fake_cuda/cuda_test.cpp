// The back end cuda over stand-ins for NVIDIA's driver and cuBLAS: what it makes of their errors, and that it leaves contexts and
// callbacks as the interface asks for. What any device does is tried by devices/conformance_test.cpp, which runs here, too.
#include "base/error.hpp"
#include "base/testing/eventually.hpp"
#include "cuda_devices.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <dlfcn.h>
#include <string>
#include <vector>
#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/lsan_interface.h>
#endif

namespace trencadis::devices {
namespace {

TEST_F(CudaDevices, LeaveOthersAPartOfTheirMemoryAndTakeHalfOfWhatIsLeftAtLeast)
{
    const auto bytes = [] { return open_devices("cuda:0").front()->bytes(); };
    EXPECT_EQ(bytes(), 60 << 20);
    of_fake<void(unsigned long)>("fake_cuda_others_have")(62ul << 20);
    EXPECT_EQ(bytes(), 1 << 20);
}

TEST_F(CudaDevices, AreNumberedAndHaveNames)
{
    const DeviceList all = open_devices("cuda:all");
    ASSERT_EQ(all.size(), 2u);
    EXPECT_EQ(all[0]->name(), "cuda 0");
    EXPECT_EQ(all[1]->name(), "cuda 1");
    EXPECT_EQ(all[0]->bytes(), 60 << 20) << "a sixteenth is left";
    try {
        open_devices("cuda:2");
        ADD_FAILURE();
    } catch (const Error& error) {
        EXPECT_STREQ(error.what(), "devices 'cuda:2': there is no such device; there are 0 (a stand-in), 1 (a stand-in)");
    }
}

TEST_F(CudaDevices, SayWhatIsMissing)
{
    fail_("cuInit", 1, 100);
    try {
        open_devices("cuda:0");
        ADD_FAILURE();
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), ErrorCode::missing_backend);
        EXPECT_STREQ(error.what(),
                     "devices 'cuda': this machine has none; it takes a GPU of NVIDIA's and its driver, which nvidia-smi "
                     "shows");
    }
    const struct {
        const char* symbol;
        int code;
        const char* said;
    } cases[] = {
        {"cuInit", 999, "CUDA_ERROR_UNKNOWN when NVIDIA's driver starts"},
        {"cuDevicePrimaryCtxRetain", 46, "device 'cuda 0': CUDA_ERROR_DEVICE_UNAVAILABLE for its context"},
        {"cuStreamCreate", 2, "device 'cuda 0': CUDA_ERROR_OUT_OF_MEMORY for its streams and cuBLAS"},
        {"cublasCreate_v2", 1, "device 'cuda 0': CUBLAS_STATUS_NOT_INITIALIZED for its streams and cuBLAS"},
    };
    for (const auto& [symbol, code, said] : cases) {
        fail_(symbol, 1, code);
        try {
            open();
            ADD_FAILURE() << symbol;
        } catch (const Error& error) {
            EXPECT_EQ(error.code(), ErrorCode::environment);
            EXPECT_NE(std::string(error.what()).find(said), std::string::npos) << error.what();
        }
    }
}

TEST_F(CudaDevices, SayThatTheDriverDoesNotAnswerAndWaitForItWhenTheyAreAskedForAgain)
{
    const auto start_slowly = of_fake<void(unsigned)>("fake_cuda_start_slowly");
    ::setenv("TRENCADIS_DRIVER_SECONDS", "1", 1);
    start_slowly(4000);
    const auto begin = std::chrono::steady_clock::now();
    try {
        open();
        ADD_FAILURE();
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), ErrorCode::environment);
        EXPECT_STREQ(error.what(), "devices 'cuda': NVIDIA's driver has not answered for 1 s when it starts; "
                                   "TRENCADIS_DRIVER_SECONDS says how long it may take");
    }
    EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(4));
    start_slowly(0);
    ::setenv("TRENCADIS_DRIVER_SECONDS", "60", 1);
    EXPECT_TRUE(open()) << "the same start, which has ended meanwhile";
    EXPECT_TRUE(open()) << "one of its own";
    ::setenv("TRENCADIS_DRIVER_SECONDS", "soon", 1);
    EXPECT_THROW(open(), Error);
    ::unsetenv("TRENCADIS_DRIVER_SECONDS");
}

TEST_F(CudaDevices, NameTheErrorAndWhatWasAskedFor)
{
    const auto device = open();
    Block block = nullptr;
    fail_("cuMemAlloc_v2", 1, 2);
    const Status full = device->allocate(column.bytes, block);
    EXPECT_EQ(full.fault, Fault::out_of_memory);
    EXPECT_EQ(full.what, "CUDA_ERROR_OUT_OF_MEMORY for 800 bytes of the device's memory");
    EXPECT_EQ(device->used(), 0);
    ASSERT_TRUE(device->allocate(column.bytes, block).ok());
    fail_("cuMemcpy2DAsync_v2", 1, 1);
    const Status copy = device->copy_in({x_.data(), 0}, {block, 0}, column);
    EXPECT_EQ(copy.fault, Fault::copy);
    EXPECT_EQ(copy.what, "CUDA_ERROR_INVALID_VALUE for a copy of 1 columns of 800 bytes to the device");
    void* memory = nullptr;
    fail_("cuMemHostAlloc", 1, 2);
    EXPECT_EQ(device->allocate_host(100, memory).fault, Fault::out_of_memory);
    fail_("cuMemHostRegister_v2", 1, 712);
    EXPECT_EQ(device->lock_pages(x_.data(), 800).what, "CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED for page-locking 800 bytes");
    EXPECT_TRUE(device->lock_pages(x_.data(), 800).ok()) << "it was not counted as locked";
    EXPECT_TRUE(device->unlock_pages(x_.data()).ok());
    EXPECT_FALSE(device->lost());
}

TEST_F(CudaDevices, TellWhatAKernelsCallAnsweredByItsEvent)
{
    const auto device = open();
    const auto kernels = kernels_on(device->kernels(), load_kernels("native"));
    Block block = nullptr;
    ASSERT_TRUE(device->allocate(800, block).ok());
    auto* const a = static_cast<double*>(block);
    const auto multiply = [&] {
        kernels->routines<double>().gemm(Op::none, Op::none, 3, 3, 3, 1.0, a, 3, a + 9, 3, 0.0, a + 18, 3);
        return end_of(*device, Queue::kernels);
    };
    fail_("cublasDgemm_v2", 1, 13);
    const Status status = multiply();
    EXPECT_EQ(status.fault, Fault::kernel);
    EXPECT_EQ(status.what, "CUBLAS_STATUS_EXECUTION_FAILED for a kernel of 3 x 3 x 3");
    EXPECT_TRUE(multiply().ok());
    kernels->routines<double>().gemm(Op::none, Op::none, 3, 3, 3, 1.0, x_.data(), 3, a, 3, 0.0, a, 3);
    EXPECT_EQ(end_of(*device, Queue::kernels).fault, Fault::kernel) << "an address of the host's";
}

/// Memory that another library has allocated on the GPU of that number, as it would: in the primary context.
class OfOthers {
public:
    OfOthers(int gpu, std::size_t bytes)
    {
        void* context = nullptr;
        of_fake<int(void**, int)>("cuDevicePrimaryCtxRetain")(&context, gpu);
        of_fake<int(void*)>("cuCtxPushCurrent_v2")(context);
        of_fake<int(unsigned long long*, std::size_t)>("cuMemAlloc_v2")(&address_, bytes);
    }
    ~OfOthers()
    {
        EXPECT_EQ(of_fake<int(unsigned long long)>("cuMemFree_v2")(address_), 0) << "nobody else has given it back";
        void* context = nullptr;
        of_fake<int(void**)>("cuCtxPopCurrent_v2")(&context);
    }
    OfOthers(const OfOthers&) = delete;
    OfOthers& operator=(const OfOthers&) = delete;
    void* at(std::size_t offset = 0) const { return reinterpret_cast<void*>(address_ + offset); }

private:
    unsigned long long address_ = 0;
};

TEST_F(CudaDevices, UseMemoryOfOthersWhereItIsTheirs)
{
    const OfOthers here(0, 1600), elsewhere(1, 1600);
    const auto device = open();
    Block block = nullptr;
    for (void* const wrong : {elsewhere.at(), static_cast<void*>(x_.data()), here.at(1000)}) {
        const Status refused = device->adopt(wrong, 800, block);
        EXPECT_EQ(refused.fault, Fault::bad_argument);
        EXPECT_NE(refused.what.find("are no memory of cuda 0"), std::string::npos) << refused.what;
    }
    ASSERT_TRUE(device->adopt(here.at(400), 800, block).ok());
    EXPECT_EQ(device->used(), 0) << "it is somebody else's";
    EXPECT_EQ(device->outside(static_cast<char*>(block) + 8).memory, here.at(408));
    std::vector<double> y(100, 0);
    ASSERT_TRUE(device->copy_in({x_.data(), 0}, {block, 0}, column).ok());
    ASSERT_TRUE(end_of(*device, Queue::in).ok());
    ASSERT_TRUE(device->copy_out({block, 0}, {y.data(), 0}, column).ok());
    ASSERT_TRUE(end_of(*device, Queue::out).ok());
    EXPECT_EQ(x_, y);
    EXPECT_FALSE(device->copy_in({x_.data(), 0}, {static_cast<char*>(block) + 8, 0}, column).ok()) << "beyond its end";
    EXPECT_TRUE(device->disown(block).ok());
    EXPECT_FALSE(device->disown(block).ok());
    EXPECT_TRUE(device->synchronize(2).ok());
    EXPECT_EQ(of_fake<unsigned long()>("fake_cuda_last_synchronized")(), 2u);
    fail_("cuStreamSynchronize", 1, 400);
    EXPECT_EQ(device->synchronize(2).fault, Fault::kernel);
}

TEST_F(CudaDevices, TellNobodyOfAFactorizationThatHasFailed)
{
    const auto device = open();
    const auto kernels = kernels_on(device->kernels(), load_kernels("native"));
    ASSERT_TRUE(kernels->routines<double>().factors());
    const struct {
        const char* symbol;
        int code;
        Fault fault;
        const char* said;
    } cases[] = {
        {"cusolverDnDpotrf", 6, Fault::kernel, "CUSOLVER_STATUS_EXECUTION_FAILED for a factorization of 3 x 3"},
        {"cusolverDnDpotrf_bufferSize", 2, Fault::out_of_memory, "CUSOLVER_STATUS_ALLOC_FAILED for a factorization of 3 x 3"},
        {"cuMemcpy2DAsync_v2", 1, Fault::kernel, "CUDA_ERROR_INVALID_VALUE for a factorization of 3 x 3"},
        {"cuStreamAddCallback", 1, Fault::kernel, "CUDA_ERROR_INVALID_VALUE for a callback"},
    };
    Status status;
    for (const auto& [symbol, code, fault, said] : cases) {
        EXPECT_EQ(told_of(*device, *kernels, status), 0) << symbol;
        EXPECT_TRUE(status.ok()) << symbol;
        const bool second = symbol == std::string("cuMemcpy2DAsync_v2") || symbol == std::string("cuStreamAddCallback");
        // The tile's own goes first. For want of memory it is tried twice.
        (fault == Fault::out_of_memory ? fail_from_ : fail_)(symbol, second ? 2 : 1, code);
        EXPECT_EQ(told_of(*device, *kernels, status), -1) << symbol;
        EXPECT_EQ(status.fault, fault) << symbol;
        EXPECT_EQ(status.what, said);
        mend_();
    }
    EXPECT_EQ(told_of(*device, *kernels, status), 0);
}

TEST_F(CudaDevices, LeaveFactorizationsToCoresWhereCusolverDoesNotStart)
{
    fail_("cusolverDnCreate", 1, 1);
    const auto device = open();
    const auto kernels = kernels_on(device->kernels(), load_kernels("native"));
    EXPECT_FALSE(kernels->routines<double>().factors());
    EXPECT_FALSE(kernels->routines<double>().factors_lu());
}

TEST_F(CudaDevices, TellNobodyOfAPanelThatHasFailed)
{
    const auto device = open();
    const auto kernels = kernels_on(device->kernels(), load_kernels("native"));
    ASSERT_TRUE(kernels->routines<double>().factors_lu());
    const struct {
        const char* symbol;
        int number, code;
        Fault fault;
        const char* said;
        Index told = -1;
    } cases[] = {
        {"cuMemAlloc_v2", 3, 2, Fault::out_of_memory,
         "CUDA_ERROR_OUT_OF_MEMORY for a factorization of 300 x 1"}, // behind the test's own two
        {"cusolverDnDgetrf", 1, 6, Fault::kernel, "CUSOLVER_STATUS_EXECUTION_FAILED for a factorization of 300 x 1"},
        {"cusolverDnDgetrf_bufferSize", 1, 2, Fault::out_of_memory,
         "CUSOLVER_STATUS_ALLOC_FAILED for a factorization of 300 x 1"},
        {"cuMemcpy2DAsync_v2", 2, 1, Fault::kernel,
         "CUDA_ERROR_INVALID_VALUE for a factorization of 300 x 1"}, // the column goes first
        {"cuStreamAddCallback", 2, 1, Fault::kernel, "CUDA_ERROR_INVALID_VALUE for a callback"},
        {"cusolverDnDlaswp", 1, 7, Fault::kernel, "CUSOLVER_STATUS_INTERNAL_ERROR for 1 interchanges of 1 columns"},
    };
    Status status;
    for (const auto& [symbol, number, code, fault, said, told] : cases) {
        EXPECT_EQ(told_of_lu(*device, *kernels, status), 0) << symbol;
        EXPECT_TRUE(status.ok()) << symbol << status.what;
        (fault == Fault::out_of_memory ? fail_from_ : fail_)(symbol, number, code); // for want of memory it is tried twice
        EXPECT_EQ(told_of_lu(*device, *kernels, status, 300), told) << symbol;
        EXPECT_EQ(status.fault, fault) << symbol;
        EXPECT_EQ(status.what, said);
        mend_();
    }
    EXPECT_EQ(told_of_lu(*device, *kernels, status), 0);
    EXPECT_FALSE(device->lost());
}

/// Panels that are under way together have a room each, and one that has ended leaves its own to the next.
TEST_F(CudaDevices, GiveEachPanelUnderWayARoomOfItsOwn)
{
    const auto device = open();
    const auto kernels = kernels_on(device->kernels(), load_kernels("native"));
    Status status;
    EXPECT_EQ(told_of_lu(*device, *kernels, status, 300), 0); // the largest
    EXPECT_EQ(told_of_lu(*device, *kernels, status, 200), 0);
    fail_("cuMemAlloc_v2", 3, 2); // behind the test's own two
    EXPECT_EQ(told_of_lu(*device, *kernels, status, 100), 0) << "the room of the first is large enough: " << status.what;
    mend_();
    Block memory = nullptr;
    constexpr Index rows = 50, panels = 4;
    ASSERT_TRUE(device->allocate(panels * (rows + 1) * sizeof(double), memory).ok());
    auto* const A = static_cast<double*>(memory);
    std::vector<double> ones(std::size_t(panels * rows), 1.0);
    ASSERT_TRUE(device->copy_in({ones.data(), 0}, {memory, 0}, {ones.size() * sizeof(double)}).ok());
    (void)device->wait(device->mark(Queue::in));
    std::vector<Index> told(panels, -1);
    const auto factor_all = [&] {
        for (Index k = 0; k < panels; ++k)
            kernels->routines<double>().getrf(rows, 1, A + k * rows, rows, reinterpret_cast<std::int32_t*>(A + panels * rows + k),
                                              [&told, k](Index zero) { told[std::size_t(k)] = zero; });
        return end_of(*device, Queue::kernels);
    };
    fail_from_("cuMemAlloc_v2", 2 * (panels - 1), 2); // all but the first need a room, and a place for the answer
    EXPECT_EQ(factor_all().fault, Fault::out_of_memory);
    mend_();
    EXPECT_TRUE(factor_all().ok());
    EXPECT_EQ(told, std::vector<Index>(panels, 0));
    (void)device->release(memory);
}

/// What was in a context that is lost is given back by nobody but the driver, which this stand-in does not do: it is no leak.
struct InALostContext {
#ifdef __SANITIZE_ADDRESS__
    InALostContext() { __lsan_disable(); }
    ~InALostContext() { __lsan_enable(); }
    InALostContext(const InALostContext&) = delete;
    InALostContext& operator=(const InALostContext&) = delete;
#endif
};

TEST_F(CudaDevices, AreLostAtAnErrorThatNothingEndsButTheContext)
{
    [[maybe_unused]] const InALostContext kept;
    const auto device = open();
    Block block = nullptr;
    ASSERT_TRUE(device->allocate(column.bytes, block).ok());
    std::atomic<int> told{0};
    for (int i = 0; i < 10; ++i) {
        if (i == 5) break_(700);
        (void)device->copy_in({x_.data(), 0}, {block, 0}, column);
        const Event event = device->mark(Queue::in, [&](const Status&) { ++told; });
        (void)device->hold(Queue::out, event);
        (void)device->hold(Queue::kernels, device->mark(Queue::out));
    }
    const Status last = end_of(*device, Queue::kernels);
    EXPECT_EQ(last.fault, Fault::lost) << last.what;
    EXPECT_TRUE(device->lost());
    EXPECT_TRUE(testing::eventually([&] { return told == 10; })) << told << "; each completion once, by a thread of the driver's";
    EXPECT_EQ(device->allocate(8, block).fault, Fault::lost);
    EXPECT_EQ(device->copy_in({x_.data(), 0}, {block, 0}, column).fault, Fault::lost);
    EXPECT_EQ(end_of(*device, Queue::in).fault, Fault::lost) << "also where nothing was to be done";
}

TEST_F(CudaDevices, EndWhoWaitsWhenAnEventOrACallbackCannotBeHad)
{
    const auto device = open();
    for (const char* const symbol : {"cuEventCreate", "cuEventRecord", "cuStreamAddCallback"}) {
        fail_(symbol, 1, 1);
        EXPECT_EQ(end_of(*device, Queue::in).fault, Fault::kernel) << symbol;
        EXPECT_TRUE(end_of(*device, Queue::in).ok()) << symbol;
    }
}

TEST_F(CudaDevices, CopyFromEachOtherBehindEachOthersEvents)
{
    const DeviceList both = open_devices("cuda:all,memory=1MiB");
    Device &first = *both[0], &second = *both[1];
    ASSERT_TRUE(second.reaches(first));
    std::vector<double> y(100);
    Block there = nullptr, here = nullptr;
    ASSERT_TRUE(first.allocate(column.bytes, there).ok());
    ASSERT_TRUE(second.allocate(column.bytes, here).ok());
    ASSERT_TRUE(first.copy_in({x_.data(), 0}, {there, 0}, column).ok());
    ASSERT_TRUE(second.hold(Queue::in, first.mark(Queue::in)).ok());
    ASSERT_TRUE(second.copy_from(first, {there, 0}, {here, 0}, column).ok());
    ASSERT_TRUE(second.hold(Queue::out, second.mark(Queue::in)).ok());
    ASSERT_TRUE(second.copy_out({here, 0}, {y.data(), 0}, column).ok());
    EXPECT_TRUE(end_of(second, Queue::out).ok());
    EXPECT_EQ(y, x_);
}

TEST_F(CudaDevices, AskForEachOthersMemoryUntilTheyMayTouchIt)
{
    const DeviceList both = open_devices("cuda:all,memory=1MiB");
    Block there = nullptr, here = nullptr;
    ASSERT_TRUE(both[0]->allocate(column.bytes, there).ok());
    ASSERT_TRUE(both[1]->allocate(column.bytes, here).ok());
    for (int i = 0; i < 2; ++i) {
        fail_("cuCtxEnablePeerAccess", 1, 1);
        EXPECT_FALSE(both[1]->copy_from(*both[0], {there, 0}, {here, 0}, column).ok()) << i;
        (void)end_of(*both[1], Queue::in);
    }
    for (int i = 0; i < 2; ++i) {
        EXPECT_TRUE(both[1]->copy_from(*both[0], {there, 0}, {here, 0}, column).ok()) << i;
        EXPECT_TRUE(end_of(*both[1], Queue::in).ok());
    }
}

} // namespace
} // namespace trencadis::devices
