#pragma once
#include "devices/backend.hpp"
#include "fake_cuda.hpp"
#include "kernels/providers/device_kernels.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>
#include <dlfcn.h>
#include <string>
#include <vector>

/// What tests of the back end cuda over the stand-ins begin with.
namespace trencadis::devices {

inline constexpr Extent column{800};

/// The library that the back end has loaded.
template <class Function> Function* of_fake(const char* symbol)
{
    void* const library = dlopen(TRC_FAKE_CUDA "/libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    return library ? reinterpret_cast<Function*>(dlsym(library, symbol)) : nullptr;
}

class CudaDevices : public ::testing::Test {
protected:
    void SetUp() override
    {
        const char* const folder = std::getenv("TRENCADIS_CUDA");
        if (!folder || folder != std::string(TRC_FAKE_CUDA))
            GTEST_SKIP() << "the stand-ins lie in " TRC_FAKE_CUDA ", TRENCADIS_CUDA names " << (folder ? folder : "nothing");
        fail_ = of_fake<void(const char*, int, int)>("fake_cuda_fail");
        fail_from_ = of_fake<void(const char*, int, int)>("fake_cuda_fail_from");
        break_ = of_fake<void(int)>("fake_cuda_break");
        mend_ = of_fake<void()>("fake_cuda_mend");
        ASSERT_TRUE(fail_ && fail_from_ && break_ && mend_);
        mend_();
    }
    void TearDown() override
    {
        if (!mend_) return;
        mend_();
        EXPECT_EQ(of_fake<int()>("fake_cuda_contexts_on_stack")(), 0) << "the thread's context is what it was";
        EXPECT_EQ(of_fake<int()>("fake_cuda_wrong_calls")(), 0);
    }
    static std::unique_ptr<Device> open() { return std::move(open_devices("cuda:0,memory=1MiB").front()); }
    static Status end_of(Device& device, Queue queue) { return device.wait(device.mark(queue)); }

    void (*fail_)(const char*, int, int) = nullptr;
    void (*fail_from_)(const char*, int, int) = nullptr;
    void (*break_)(int) = nullptr;
    void (*mend_)() = nullptr;
    std::vector<double> x_ = std::vector<double>(100, 1.0);
};

/// Of a tile of ones and threes, whose answer is 0; -1: nobody was told.
inline Index told_of(Device& device, const DeviceKernels& kernels, Status& status)
{
    std::vector<double> tile = {3, 1, 1, 1, 3, 1, 1, 1, 3};
    Block block = nullptr;
    if (!device.allocate(72, block).ok() || !device.copy_in({tile.data(), 0}, {block, 0}, {72}).ok()) return -2;
    (void)device.wait(device.mark(Queue::in));
    Index told = -1;
    kernels.routines<double>().potrf(Uplo::lower, 3, static_cast<double*>(block), 3, [&told](Index row) { told = row; });
    status = device.wait(device.mark(Queue::kernels));
    (void)device.release(block);
    return told;
}

/// Of a column of ones, whose first pivot is 1; -1: nobody was told. Then its rows are exchanged once more.
inline Index told_of_lu(Device& device, const DeviceKernels& kernels, Status& status, Index rows = 3)
{
    std::vector<double> ones(std::size_t(rows), 1.0);
    Block column = nullptr, pivots = nullptr;
    const std::size_t bytes = ones.size() * sizeof(double);
    if (!device.allocate(bytes, column).ok() || !device.allocate(4, pivots).ok()) return -2;
    if (!device.copy_in({ones.data(), 0}, {column, 0}, {bytes}).ok()) return -2;
    (void)device.wait(device.mark(Queue::in));
    Index told = -1;
    const DeviceRoutines<double>& on = kernels.routines<double>();
    auto* const A = static_cast<double*>(column);
    auto* const interchanges = static_cast<std::int32_t*>(pivots);
    on.getrf(rows, 1, A, rows, interchanges, [&told](Index zero) { told = zero; });
    on.laswp(rows, 1, A, rows, 1, interchanges);
    status = device.wait(device.mark(Queue::kernels));
    (void)device.release(column);
    (void)device.release(pivots);
    return told;
}

} // namespace trencadis::devices
