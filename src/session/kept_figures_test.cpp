#include "session/kept_figures.hpp"

#include "base/error.hpp"
#include "kernels/providers/provider.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

namespace trencadis {
namespace {

/// With a cache folder of its own.
class KeptFigures : public ::testing::Test {
protected:
    KeptFigures()
    {
        std::string name = (std::filesystem::temp_directory_path() / "figures-XXXXXX").string();
        folder_ = mkdtemp(name.data());
        if (const char* given = std::getenv("XDG_CACHE_HOME")) before_ = given;
        setenv("XDG_CACHE_HOME", folder_.c_str(), 1);
    }
    ~KeptFigures() override
    {
        if (before_.empty()) unsetenv("XDG_CACHE_HOME");
        else setenv("XDG_CACHE_HOME", before_.c_str(), 1);
        std::filesystem::remove_all(folder_);
    }
    const std::vector<std::string> names{"emulated 0", "emulated 1"};
    const KernelProvider& kernels = load_kernels("native");
    const std::string words = "emulated:2,speed=800MFlop/s+100MFlop/s,bandwidth=50MB/s,latency=3ms";

private:
    std::string folder_, before_;
};

TEST_F(KeptFigures, AreMeasuredOnce)
{
    const MeasuredUnits first = figures_at_hand(words, names, kernels);
    ASSERT_EQ(first.devices.size(), 2u);
    for (const DeviceReport& device : first.devices) {
        EXPECT_LE(device.bytes_per_second[0], 50e6);
        EXPECT_GE(device.latency, 3e-3);
        ASSERT_FALSE(device.products.empty());
    }
    EXPECT_LE(first.devices[0].products.back().rate, 800e6);
    EXPECT_LE(first.devices[1].products.back().rate, 100e6);
    const MeasuredUnits again = figures_at_hand(words, names, kernels);
    ASSERT_EQ(again.devices.size(), 2u);
    ASSERT_EQ(again.core.size(), first.core.size());
    EXPECT_NEAR(again.core.front().rate, first.core.front().rate, 1e-4 * first.core.front().rate);
    for (int d : {0, 1}) {
        const DeviceReport &its = again.devices[std::size_t(d)], &was = first.devices[std::size_t(d)];
        EXPECT_NEAR(its.bytes_per_second[1], was.bytes_per_second[1], 1e-4 * was.bytes_per_second[1]); // no two runs agree so far
        EXPECT_NEAR(its.latency, was.latency, 1e-4 * was.latency);
        ASSERT_EQ(its.products.size(), was.products.size());
        EXPECT_NEAR(its.products.front().flops, was.products.front().flops, 1e-3 * was.products.front().flops);
        EXPECT_NEAR(its.products.front().rate, was.products.front().rate, 1e-4 * was.products.front().rate);
    }
}

TEST_F(KeptFigures, AreMeasuredAnewWhereTheFileIsTorn)
{
    figures_at_hand(words, names, kernels);
    const auto path = kept_figures_path(words, names, kernels);
    ASSERT_TRUE(path && std::filesystem::exists(*path));
    std::filesystem::resize_file(*path, std::filesystem::file_size(*path) / 2);
    EXPECT_EQ(figures_at_hand(words, names, kernels).devices.size(), 2u);
    EXPECT_NE(path, kept_figures_path(words + ",always=no", names, kernels));
    EXPECT_NE(path, kept_figures_path(words, {"emulated 0", "another"}, kernels)) << "the card was changed";
}

TEST_F(KeptFigures, AreNotOfADeviceThatFails)
{
    EXPECT_THROW(figures_at_hand("emulated,fail-copy=2", {"emulated 0"}, kernels), Error);
    EXPECT_FALSE(std::filesystem::exists(*kept_figures_path("emulated,fail-copy=2", {"emulated 0"}, kernels)));
}

} // namespace
} // namespace trencadis
