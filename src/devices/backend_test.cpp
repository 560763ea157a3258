#include "devices/backend.hpp"

#include "base/error.hpp"

#include <gtest/gtest.h>

namespace trencadis::devices {
namespace {

std::string refusal(std::string_view text)
{
    try {
        open_devices(text);
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), ErrorCode::bad_argument) << text;
        return error.what();
    }
    return {};
}

TEST(DeviceWords, AreABackEndWhichAndOptions)
{
    const DeviceWords words = read_device_words("emulated:2,memory=64MiB,bandwidth=4GB/s");
    EXPECT_EQ(words.backend, "emulated");
    EXPECT_EQ(words.which, "2");
    ASSERT_EQ(words.options.size(), 2u);
    EXPECT_EQ(*words.find("memory"), "64MiB");
    EXPECT_EQ(*words.find("bandwidth"), "4GB/s");
    EXPECT_EQ(words.find("latency"), nullptr);
    EXPECT_TRUE(read_device_words("emulated,direct=yes").which.empty());
}

TEST(DeviceWords, SayThatDevicesTakePartAlways)
{
    EXPECT_TRUE(take_part_always("emulated:2,always=yes,memory=1MB"));
    EXPECT_FALSE(take_part_always("emulated,always=no"));
    EXPECT_FALSE(take_part_always("emulated"));
    EXPECT_FALSE(take_part_always(""));
    EXPECT_EQ(open_devices("emulated:2,always=yes").size(), 2u) << "no back end is told";
}

TEST(DeviceWords, SayHowManyTasksEachTakesAtATime)
{
    EXPECT_EQ(tasks_in_flight("emulated,in-flight=5,latency=1us"), 5);
    EXPECT_EQ(tasks_in_flight("emulated"), 2);
    EXPECT_EQ(open_devices("emulated:2,in-flight=1").size(), 2u) << "no back end is told";
}

TEST(DeviceWords, OfEmulatedOnesMayBeOneForEach)
{
    const DeviceList unequal = open_devices("emulated:2,memory=1MB+2MB,latency=1us");
    EXPECT_EQ(unequal[0]->bytes(), 1e6);
    EXPECT_EQ(unequal[1]->bytes(), 2e6);
}

TEST(DeviceWords, OpenSoManyDevicesOfSuchAMemory)
{
    const DeviceList two = open_devices("emulated:2,memory=64MiB");
    ASSERT_EQ(two.size(), 2u);
    EXPECT_EQ(two[0]->bytes(), 64 << 20);
    EXPECT_EQ(two[0]->name(), "emulated 0");
    EXPECT_EQ(two[1]->name(), "emulated 1");
    EXPECT_EQ(open_devices("emulated").size(), 1u);
    EXPECT_EQ(open_devices("emulated,memory=1.5kB")[0]->bytes(), 1500);
}

const struct {
    const char *given, *said;
} wrong_words[] = {
    {"", "no back end is named"},
    {":2", "no back end is named"},
    {"emulated:", "nothing stands behind the colon"},
    {"emulated:2,", "nothing stands behind the last comma"},
    {"emulated:2,,memory=1MB", "'' is not key=value"},
    {"emulated:2,memory", "'memory' is not key=value"},
    {"emulated:2,memory=", "'memory=' is not key=value"},
    {"emulated:2,=4", "'=4' is not key=value"},
    {"emulated:2,memory=1MB,memory=2MB", "memory is given twice"},
    {"emulated:3,memory=1MB+2MB", "has 2 values, and there are 3 devices"},
    {"emulated,memory=1MB+2MB", "has 2 values, and there is 1 device;"},
    {"emulated,always=often", "always=often, must be yes or no"},
    {"emulated,in-flight=0", "in-flight=0, must be a whole number from 1 to 16"},
    {"emulatde:2", "emulated"},
    {"emulated:0", "must be a whole number from 1 to 64"},
    {"emulated:-1", "must be a whole number from 1 to 64"},
    {"emulated:all", "must be a whole number from 1 to 64"},
    {"emulated:2,memroy=1MB", "memory"},
    {"emulated,memory=64", "memory=64, must be a size"},
    {"emulated,memory=0MiB", "must be a size of at least 1kB"},
    {"emulated,memory=-4MiB", "must be a size"},
    {"emulated,memory=nanMiB", "must be a size"},
    {"emulated,memory=1e300GiB", "must be a size"},
    {"emulated,bandwidth=4GB", "bandwidth=4GB, must be bytes per second"},
    {"emulated,bandwidth=0GB/s", "must be bytes per second"},
    {"emulated,bandwidth=1e9GB/s", "from 100kB/s to 10000GB/s"},
    {"emulated,latency=2s", "must be a time of at most 1s"},
    {"emulated,latency=-1us", "and not below 0"},
    {"emulated,speed=5", "must be a speed"},
    {"emulated,speed=1e9TFlop/s", "from 1MFlop/s to 10000TFlop/s"},
    {"emulated,alway=yes", "did you mean 'always'?"},
    {"emulated,inflight=1", "did you mean 'in-flight'?"},
    {"emulated,in_flight=1", "did you mean 'in-flight'?"},
    {"emulated,pageable=2", "must be a part of 1"},
    {"emulated,direct=maybe", "must be yes or no"},
    {"emulated,fail-copy=0", "must be a whole number from 1"},
    {"emulated,fail-lock=0", "must be a whole number from 1"},
    {"emulated,lockable=3", "must be a size"},
};

TEST(DeviceWords, ThatAreWrongAreNamedInOneLine)
{
    for (const auto& [given, said] : wrong_words) {
        const std::string message = refusal(given);
        EXPECT_NE(message.find(said), std::string::npos) << given << ": " << message;
        EXPECT_EQ(message.find('\n'), std::string::npos) << given;
    }
}

} // namespace
} // namespace trencadis::devices
