// Kernels of OpenCL's that find no memory when others of the same call are in the queue: what they have left half done is never
// taken for a result.
#define CL_TARGET_OPENCL_VERSION 120
#include "algorithms/potrf.hpp"
#include "base/error.hpp"
#include "base/testing/eventually.hpp"
#include "on_devices.hpp"

#include <CL/cl.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <dlfcn.h>
#include <iostream>
#include <limits>
#include <memory>
#include <string>
#include <vector>

namespace {

std::atomic<int> launched{0}, failing{0}; ///< the number of the launch that finds no memory; 0: none

} // namespace

/// Before OpenCL's own, for its module and CLBlast.
extern "C" cl_int clEnqueueNDRangeKernel(cl_command_queue queue, cl_kernel kernel, cl_uint dimensions, const size_t* offset,
                                         const size_t* all, const size_t* group, cl_uint waits, const cl_event* events,
                                         cl_event* event)
{
    static void* const library = dlopen("libOpenCL.so.1", RTLD_NOW | RTLD_LOCAL);
    static const auto next = reinterpret_cast<decltype(&clEnqueueNDRangeKernel)>(dlsym(library, "clEnqueueNDRangeKernel"));
    if (++launched == failing) return CL_MEM_OBJECT_ALLOCATION_FAILURE;
    return next(queue, kernel, dimensions, offset, all, group, waits, events, event);
}

namespace trencadis::testing {
namespace {

constexpr Index n = 240, nb = 80; // a solve is three of ours with products between them

std::vector<double> definite()
{
    std::vector<double> A(n * n);
    for (Index j = 0; j < n; ++j)
        for (Index i = 0; i < n; ++i) A[std::size_t(i + j * n)] = 1.0 / double(1 + i + j) + (i == j ? 3 : 0);
    return A;
}

std::string cholesky(OnDevices& on, std::vector<double>& A)
{
    A = definite();
    try {
        on.run([&](Flow& flow) { potrf(flow, TileMatrix<double>({A.data(), n, n, n}, nb, nb)); });
    } catch (const Error& error) {
        return error.what();
    }
    return {};
}

TEST(OpenClHalfDone, CallsAreDoneByCoresOrSaidAndTheDeviceGoesOn)
{
    std::vector<double> right;
    OnDevices cores("", "eager", 1);
    ASSERT_EQ(cholesky(cores, right), "");
    std::unique_ptr<OnDevices> on;
    try {
        on = std::make_unique<OnDevices>("opencl:0", "eager", 1);
    } catch (const Error& error) {
        if (error.code() != ErrorCode::missing_backend) throw;
        GTEST_SKIP() << error.what();
    }
    int struck = 0, said = 0;
    const double bound = 4 * n * std::numeric_limits<double>::epsilon(); // sums in another order; the condition is below 4
    for (int number = 1; number <= 16; ++number)
        for (const Deadline deadline; !deadline.passed();) { // a core may have all of a call
            std::vector<double> A;
            launched = 0;
            failing = number;
            const std::string message = cholesky(*on, A);
            failing = 0;
            if (message.empty())
                for (std::size_t i = 0; i < A.size(); ++i) ASSERT_LE(std::abs(A[i] - right[i]), bound) << number;
            else EXPECT_EQ(message.rfind("device 'opencl 0': out of memory in ", 0), 0u) << message;
            EXPECT_EQ(message.find('\n'), std::string::npos) << message;
            ASSERT_EQ(on->engine().traffic()[0].fault, "") << number;
            said += !message.empty();
            if (launched < number) continue;
            ++struck;
            break;
        }
    EXPECT_GT(struck, 0);
    std::cout << struck << " kernels failed, and " << said << " calls by them\n";
}

} // namespace
} // namespace trencadis::testing
