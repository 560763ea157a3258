// Calls of several threads at once that name the same array on a device.
#include "array_on_device.hpp"
#include "base/error.hpp"
#include "drivers/linear_algebra.hpp"
#include "session/session.hpp"

#include <gtest/gtest.h>

#include <string>
#include <thread>
#include <vector>

namespace trencadis::testing {
namespace {

/// Each thread multiplies with the array in tiles of its own, of which the device's and the host's copies could have one. They
/// are slow to come, so that calls are under way at once.
TEST(AnArrayOnADevice, IsReadBySeveralThreadsInOtherTiles)
{
    constexpr Index n = 96;
    SessionOptions options;
    options.devices = "emulated:2,memory=8MiB,latency=0.2ms,always=yes";
    options.worker_count = 2;
    Session session(options);
    std::vector<double> values(n * n);
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = double(i % 7) - 3; // products are exact
    const OnDevice<double> A(session, 0, values, n, n, n);
    std::vector<double> expected(n * n, 1.0);
    for (Index j = 0; j < n; ++j)
        for (Index i = 0; i < n; ++i)
            for (Index k = 0; k < n; ++k) expected[i + n * j] += values[i + n * k] * values[k + n * j];
    std::string said[2];
    const auto call = [&](int which) {
        for (int round = 0; round < 8; ++round) try {
                std::vector<double> C(n * n, 1.0);
                gemm(session, Op::none, Op::none, n, n, n, 1.0, A.at, n, values.data(), n, 1.0, C.data(), n,
                     {.nb = which ? 32 : 24});
                if (C != expected) said[which] = "wrong numbers";
            } catch (const Error& error) {
                said[which] = error.what();
            }
    };
    std::thread other(call, 1);
    call(0);
    other.join();
    EXPECT_EQ(said[0], "");
    EXPECT_EQ(said[1], "");
}

} // namespace
} // namespace trencadis::testing
