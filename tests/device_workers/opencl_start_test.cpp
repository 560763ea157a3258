// Drivers of OpenCL's that do not answer for a while when they start.
#define CL_TARGET_OPENCL_VERSION 120
#include "base/error.hpp"
#include "devices/backend.hpp"

#include <CL/cl.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <dlfcn.h>
#include <sys/time.h>
#include <thread>

namespace {

std::atomic<bool> silent{true};
std::atomic<int> asked{0};
std::atomic<bool> alarmed{false};

} // namespace

/// Before OpenCL's own, for its module.
extern "C" cl_int clGetPlatformIDs(cl_uint room, cl_platform_id* platforms, cl_uint* count)
{
    static void* const library = dlopen("libOpenCL.so.1", RTLD_NOW | RTLD_LOCAL);
    static const auto next = reinterpret_cast<decltype(&clGetPlatformIDs)>(dlsym(library, "clGetPlatformIDs"));
    if (!platforms) ++asked;
    while (silent) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    return next(room, platforms, count);
}

namespace trencadis::devices {
namespace {

TEST(OpenClDevices, SayThatADriverDoesNotAnswerAndWaitForItWhenTheyAreAskedForAgain)
{
    ::setenv("TRENCADIS_DRIVER_SECONDS", "1", 1);
    std::signal(SIGALRM, [](int) { alarmed = true; });
    const itimerval soon{{}, {0, 200'000}};
    setitimer(ITIMER_REAL, &soon, nullptr);
    const auto begin = std::chrono::steady_clock::now();
    for (int time = 0; time < 2; ++time) {
        try {
            (void)open_devices("opencl:0");
            ADD_FAILURE();
        } catch (const Error& error) {
            EXPECT_TRUE(alarmed) << "who waits takes its signals";
            EXPECT_EQ(error.code(), ErrorCode::environment);
            EXPECT_STREQ(error.what(), "devices 'opencl': a driver of OpenCL's has not answered for 1 s when it starts; "
                                       "TRENCADIS_DRIVER_SECONDS says how long it may take");
        }
    }
    EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(20));
    EXPECT_EQ(asked, 1) << "both wait for the same call";
    EXPECT_NO_THROW((void)open_devices("emulated")) << "others do not wait";
    silent = false;
    ::setenv("TRENCADIS_DRIVER_SECONDS", "60", 1);
    try {
        EXPECT_EQ(open_devices("opencl:0").size(), 1u);
        EXPECT_EQ(open_devices("opencl:0").size(), 1u);
        EXPECT_EQ(asked, 1);
    } catch (const Error& error) { // where this machine has none
        EXPECT_EQ(std::string(error.what()).find("not answered"), std::string::npos) << error.what();
    }
}

} // namespace
} // namespace trencadis::devices
