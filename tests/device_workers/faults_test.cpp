// A device that fails fails the calls whose data it has, with one line; everybody else goes on without it.
#include "algorithms/gemm.hpp"
#include "base/error.hpp"
#include "on_devices.hpp"

#include <gtest/gtest.h>

namespace trencadis::testing {
namespace {

constexpr Index n = 160, nb = 32;

std::string product_on(OnDevices& on, std::vector<double>& C)
{
    std::vector<double> A(n * n, 1), B(n * n, 2);
    const auto tiles = [](std::vector<double>& of) { return TileMatrix<double>({of.data(), n, n, n}, nb, nb); };
    C.assign(n * n, 5);
    try {
        on.run([&](Flow& flow) { gemm(flow, 1.0, tiles(A), tiles(B), 0.0, tiles(C)); });
    } catch (const Error& error) {
        return error.what();
    }
    return {};
}
const std::vector<double> right(n* n, 2.0 * n);

TEST(DeviceFaults, AreOneLineAndTheNextCallGoesOnWithoutTheDevice)
{
    const struct {
        const char *words, *said;
        bool late = false; ///< a policy that has seen the device be slow may never come there
    } cases[] = {
        {"fail-allocation=3", "device 'emulated 0': out of memory", true},
        {"fail-copy=1", "device 'emulated 0': copy failed"},
        {"fail-copy=9", "device 'emulated 0': copy failed", true},
        {"fail-kernel=1", "device 'emulated 0': kernel failed in task 'gemm'"},
        {"fail-kernel=4", "device 'emulated 0': kernel failed in task 'gemm'", true},
        {"lose-at=1", "device 'emulated 0': device lost"},
        {"lose-at=12", "device 'emulated 0': device lost", true},
    };
    for (const char* scheduler : {"mosaic", "eager", "h2", "dmda"})
        for (const auto& [words, said, late] : cases) {
            if (late && std::string_view(scheduler) != "eager") continue;
            // No core takes part in the products, so that the device comes to its fault.
            OnDevices on(std::string("emulated:1,speed=100GFlop/s,") + words, scheduler, 1);
            std::vector<double> C;
            std::string message;
            for (int tries = 0; tries < 50 && message.empty(); ++tries) {
                message = product_on(on, C);
                if (message.empty()) {
                    ASSERT_EQ(C, right) << scheduler << words;
                }
            }
            EXPECT_EQ(message.rfind(said, 0), 0u) << scheduler << ' ' << words << ": " << message;
            EXPECT_EQ(message.find('\n'), std::string::npos);
            const std::int64_t before = on.tasks_on_devices();
            EXPECT_EQ(product_on(on, C), "") << scheduler << ' ' << words;
            EXPECT_EQ(C, right) << scheduler << ' ' << words;
            EXPECT_EQ(on.tasks_on_devices(), before);
        }
}

} // namespace
} // namespace trencadis::testing
