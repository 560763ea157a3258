#include "base/sanitized.hpp"
#include "base/testing/eventually.hpp"
#include "observe/clock.hpp"
#include "observe/energy/sampler.hpp"

#include <atomic>
#include <chrono>
#include <cmath>
#include <deque>
#include <fstream>
#include <map>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

namespace trencadis {
namespace {

namespace fs = std::filesystem;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::Field;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

/// A folder that stands for /.
class FakeSystem : public ::testing::Test {
protected:
    FakeSystem()
    {
        std::string name = (fs::temp_directory_path() / "trencadis-energy-XXXXXX").string();
        root_ = mkdtemp(name.data());
        places_.root = root_;
        places_.nvml = "libtrencadis-no-such-library.so";
    }
    ~FakeSystem() override { fs::remove_all(root_); }

    void write(const std::string& file, const std::string& text)
    {
        fs::create_directories((root_ / file).parent_path());
        std::ofstream(root_ / file) << text << '\n';
    }
    /// A zone of powercap as the kernel shows it.
    void zone(const std::string& folder, const std::string& name, const std::string& microjoules,
              const std::string& range = "262143328850")
    {
        const std::string at = "sys/class/powercap/" + folder + "/";
        write(at + "name", name);
        write(at + "energy_uj", microjoules);
        write(at + "max_energy_range_uj", range);
    }
    static std::vector<std::string> names(const FoundMeters& found)
    {
        std::vector<std::string> names;
        for (const auto& meter : found.meters) names.push_back(meter->source + " " + meter->domain + " " + meter->name);
        return names;
    }

    fs::path root_;
    MeterPlaces places_;
};

TEST_F(FakeSystem, FindsNothingWhereNothingIs) { EXPECT_THAT(find_meters(places_).meters, IsEmpty()); }

TEST_F(FakeSystem, CountsEachZoneOfPowercapOnceAndKnowsWhoseItIs)
{
    zone("intel-rapl:0", "package-0", "1000");
    zone("intel-rapl:0:0", "core", "400");
    zone("intel-rapl:0:1", "dram", "100");
    zone("intel-rapl:1", "package-1", "2000");
    zone("intel-rapl:1:0", "core", "500");
    zone("intel-rapl:2", "psys", "9000");
    zone("intel-rapl-mmio:0", "package-0", "1000");
    write("sys/class/powercap/intel-rapl/enabled", "1"); // the control type, which is no zone
    const FoundMeters found = find_meters(places_);
    EXPECT_THAT(names(found),
                ElementsAre("powercap package package-0", "powercap core package-0/core", "powercap dram package-0/dram",
                            "powercap package package-1", "powercap core package-1/core", "powercap psys psys"));
    ASSERT_THAT(found.missing, SizeIs(1));
    EXPECT_THAT(found.missing[0].why, HasSubstr("package-0 again"));
    EXPECT_DOUBLE_EQ(*found.meters[0]->read(), 1e-3);
}

TEST_F(FakeSystem, ADieIsAPartOfThePackageDomain)
{
    zone("intel-rapl:0", "package-0-die-0", "1000");
    zone("intel-rapl:1", "package-0-die-1", "1000");
    EXPECT_THAT(names(find_meters(places_)), ElementsAre("powercap package package-0-die-0", "powercap package package-0-die-1"));
}

TEST_F(FakeSystem, ASumWithoutOneOfThePackagesIsNoMeasurement)
{
    zone("intel-rapl:0", "package-0", "1000");
    zone("intel-rapl:0:0", "core", "400");
    zone("intel-rapl:1", "package-1", "unreadable");
    FoundMeters found = find_meters(places_);
    EXPECT_THAT(names(found), ElementsAre("powercap core package-0/core"));
    EXPECT_THAT(found.missing, Contains(Field(&MissingMeter::why, HasSubstr("there is no package-1"))));
}

TEST_F(FakeSystem, APackageThatSleepsStaysBesideOneThatMoves)
{
    struct Counts final : Meter {
        std::optional<double> read() override { return joules += step; }
        double joules = 0, step = 0;
    };
    const auto meter = [](const char* domain, double step) {
        auto one = std::make_unique<Counts>();
        one->source = "fake", one->domain = domain, one->step = step;
        return one;
    };
    FoundMeters found;
    for (auto& one : {std::pair{"package", 1.0}, std::pair{"package", 0.0}, std::pair{"dram", 0.0}})
        found.meters.push_back(meter(one.first, one.second));
    keep_those_that_move(found, 0.01);
    EXPECT_THAT(names(found), ElementsAre("fake package ", "fake package "));
    EXPECT_THAT(found.missing, SizeIs(1));
}

TEST_F(FakeSystem, DevicesAreToldApartByTheirAddress)
{
    const auto chip = [&](const std::string& number, const std::string& driver, const std::string& address) {
        const std::string at = "sys/class/hwmon/hwmon" + number + "/";
        write(at + "name", driver);
        write(at + "energy1_input", "1000000");
        write(at + "energy2_input", "400000"); // of a part of the card
        fs::create_directories(root_ / "sys/devices" / address);
        fs::create_symlink(root_ / "sys/devices" / address, root_ / at / "device");
    };
    chip("0", "amdgpu", "0000:03:00.0");
    chip("1", "xe", "0000:04:00.0");
    const FoundMeters found = find_meters(places_);
    EXPECT_THAT(names(found), ElementsAre("hwmon device amdgpu/energy1", "hwmon device xe/energy1"));
    EXPECT_EQ(found.meters[1]->device, "0000:04:00.0");
    EXPECT_THAT(found.missing, Contains(Field(&MissingMeter::why, HasSubstr("a part of what xe/energy1 counts"))));
}

TEST_F(FakeSystem, SaysOfAFileThatItMayNotBeRead)
{
    zone("intel-rapl:0", "package-0", "1000");
    fs::permissions(root_ / "sys/class/powercap/intel-rapl:0/energy_uj", fs::perms::none);
    if (::geteuid() == 0) { // root reads all files; a folder is no number for anybody
        fs::remove(root_ / "sys/class/powercap/intel-rapl:0/energy_uj");
        fs::create_directory(root_ / "sys/class/powercap/intel-rapl:0/energy_uj");
    }
    const FoundMeters found = find_meters(places_);
    EXPECT_THAT(found.meters, IsEmpty());
    ASSERT_THAT(found.missing, SizeIs(1));
    EXPECT_THAT(found.missing[0].why, ::testing::AnyOf(HasSubstr("no permission"), HasSubstr("directory")));
}

TEST_F(FakeSystem, FilesThatHoldNoNumberAreNoMeters)
{
    for (const char* text : {"", "many", "12 34", "nan?", "0x12"}) {
        zone("intel-rapl:0", "package-0", text);
        const FoundMeters found = find_meters(places_);
        EXPECT_THAT(found.meters, IsEmpty()) << text;
        EXPECT_THAT(found.missing, SizeIs(1)) << text;
    }
}

TEST_F(FakeSystem, FindsSensorsOfOtherMakersAndTheirTemperatures)
{
    write("sys/class/hwmon/hwmon0/name", "amd_energy");
    write("sys/class/hwmon/hwmon0/energy1_input", "5000000");
    write("sys/class/hwmon/hwmon0/energy1_label", "Esocket0");
    write("sys/class/hwmon/hwmon0/energy2_input", "3000000");
    write("sys/class/hwmon/hwmon0/energy2_label", "Ecore000");
    write("sys/class/hwmon/hwmon1/name", "power_meter");
    write("sys/class/hwmon/hwmon1/power1_average", "250000000");
    write("sys/class/hwmon/hwmon1/power1_input", "250000001");
    write("sys/class/hwmon/hwmon2/name", "coretemp");
    write("sys/class/hwmon/hwmon2/temp1_input", "51000");
    write("sys/class/hwmon/hwmon2/temp1_label", "Package id 0");
    write("sys/class/hwmon/hwmon3/name", "nvme"); // whose temperature is nobody's concern here
    write("sys/class/hwmon/hwmon3/temp1_input", "40000");
    const FoundMeters found = find_meters(places_);
    EXPECT_THAT(names(found), ElementsAre("amd_energy package amd_energy/Esocket0", "amd_energy core amd_energy/Ecore000",
                                          "hwmon machine power_meter/power1", "hwmon temperature coretemp/Package id 0"));
    EXPECT_DOUBLE_EQ(*found.meters[2]->read(), 250);
    EXPECT_DOUBLE_EQ(*found.meters[3]->read(), 51);
}

TEST_F(FakeSystem, ABatteryCountsWhileTheMachineRunsOnIt)
{
    const std::string at = "sys/class/power_supply/BAT0/";
    write(at + "type", "Battery");
    write(at + "status", "Charging");
    write(at + "voltage_now", "12000000");
    write(at + "current_now", "1500000");
    EXPECT_THAT(find_meters(places_).meters, IsEmpty());
    write(at + "status", "Discharging");
    const FoundMeters found = find_meters(places_);
    ASSERT_THAT(found.meters, SizeIs(1));
    EXPECT_DOUBLE_EQ(*found.meters[0]->read(), 18);
}

TEST_F(FakeSystem, ABatteryWhoseDriverWritesWhatGoesOutWithAMinusCounts)
{
    const std::string at = "sys/class/power_supply/BAT0/";
    write(at + "type", "Battery");
    write(at + "status", "Discharging");
    write(at + "voltage_now", "12000000");
    write(at + "current_now", "-1500000");
    for (const double watts : {18.0, 9.0}) { // the second time by its power
        FoundMeters found = find_meters(places_);
        keep_those_that_move(found, 0.01);
        ASSERT_THAT(found.meters, SizeIs(1)) << watts;
        EXPECT_DOUBLE_EQ(*found.meters[0]->read(), watts);
        write(at + "power_now", "-9000000");
    }
}

class FakePerf final : public PerfCounters {
public:
    int open(unsigned, std::uint64_t config, int cpu) override
    {
        if (refuse) return -EACCES;
        opened.emplace_back(config, cpu);
        return int(opened.size());
    }
    std::optional<std::uint64_t> read(int descriptor) override { return counts[descriptor] += moves ? 1 << 20 : 0; }
    void close(int) override { ++closed; }
    bool refuse = false, moves = true;
    std::vector<std::pair<std::uint64_t, int>> opened;
    std::map<int, std::uint64_t> counts;
    int closed = 0;
};

class FakePmu : public FakeSystem {
protected:
    FakePmu()
    {
        const std::string at = "sys/bus/event_source/devices/power/";
        write(at + "type", "18");
        write(at + "cpumask", "0,24");
        for (const auto& [name, event] : {std::pair{"energy-pkg", "event=0x02"}, std::pair{"energy-psys", "event=0x05"}}) {
            write(at + "events/" + name, event);
            write(at + "events/" + name + ".scale", "2.3283064365386962890625e-10");
            write(at + "events/" + name + ".unit", "Joules");
        }
        places_.perf = &perf_;
    }
    FakePerf perf_;
};

TEST_F(FakePmu, HasACounterForEachPackage)
{
    {
        const FoundMeters found = find_meters(places_);
        EXPECT_THAT(names(found),
                    ElementsAre("perf package package-0", "perf package package-1", "perf psys psys-0", "perf psys psys-1"));
        EXPECT_THAT(perf_.opened, ElementsAre(std::pair{2, 0}, std::pair{2, 24}, std::pair{5, 0}, std::pair{5, 24}));
        EXPECT_NEAR(*found.meters[0]->read(), (1 << 20) / 4294967296.0, 1e-12);
    }
    EXPECT_EQ(perf_.closed, 4);
}

TEST_F(FakePmu, IsNotCountedBesidePowercap)
{
    zone("intel-rapl:0", "package-0", "1000");
    const FoundMeters found = find_meters(places_);
    EXPECT_THAT(names(found), ElementsAre("powercap package package-0", "perf psys psys-0", "perf psys psys-1"));
    EXPECT_THAT(found.missing, Contains(Field(&MissingMeter::why, HasSubstr("counts what powercap counts"))));
}

TEST_F(FakePmu, ThatOpensAndCountsNothingIsNoMeter)
{
    perf_.moves = false;
    FoundMeters found = find_meters(places_);
    keep_those_that_move(found, 0.01);
    EXPECT_THAT(found.meters, IsEmpty());
    EXPECT_THAT(found.missing, SizeIs(4));
    EXPECT_THAT(found.missing[0].why, HasSubstr("counts nothing under load"));
}

TEST_F(FakePmu, ThatRefusesSaysWhy)
{
    perf_.refuse = true;
    EXPECT_THAT(find_meters(places_).missing, Contains(Field(&MissingMeter::why, HasSubstr("no permission"))));
}

/// Tells what it was given, one word a reading, which it counts; then the last one again.
class Script final : public Meter {
public:
    Script(std::deque<std::optional<double>> words, double begins_anew, std::atomic<int>& reads)
        : words_(std::move(words)), reads_(reads)
    {
        source = "fake";
        domain = name = "package";
        range = begins_anew;
    }
    std::optional<double> read() override
    {
        const auto word = words_.front();
        if (words_.size() > 1) words_.pop_front();
        ++reads_;
        return word;
    }

private:
    std::deque<std::optional<double>> words_;
    std::atomic<int>& reads_;
};

/// Until it was read so often, however late the thread is that does so.
MeterRecord sampled(std::deque<std::optional<double>> words, int times, double begins_anew = 0)
{
    std::atomic<int> reads{0};
    std::vector<std::unique_ptr<Meter>> meters;
    meters.push_back(std::make_unique<Script>(std::move(words), begins_anew, reads));
    MeterSampler sampler(meters, 0.001);
    EXPECT_TRUE(testing::eventually([&] { return reads >= times; }));
    return sampler.stop();
}

TEST(Sampler, ReadsBesideTheRunWithTimesThatHoldIt)
{
    std::deque<std::optional<double>> words;
    // Begins anew once, after 10 readings, and would after a time that nothing is late by.
    constexpr double each = 100, range = 2e5;
    for (int i = 0; i < 1000; ++i) words.emplace_back(std::fmod(range - 10 * each + each * i, range));
    const std::int64_t before = detail::monotonic_ns();
    const MeterRecord record = sampled(words, 50, range);
    const std::int64_t after = detail::monotonic_ns();
    const auto& readings = record.series[0].readings;
    ASSERT_GE(readings.size(), 50U);
    EXPECT_EQ(record.rounds, readings.size());
    EXPECT_GE(readings.front().time_ns, before);
    for (std::size_t i = 1; i < readings.size(); ++i) {
        EXPECT_GT(readings[i].time_ns, readings[i - 1].time_ns);
        EXPECT_DOUBLE_EQ(readings[i].value, each * double(i));
    }
    EXPECT_GT(record.reading_s, 0);
    EXPECT_LT(record.reading_s * double(record.rounds), double(after - before) * 1e-9);
}

TEST(Sampler, LeavesAChildOfAForkAlone)
{
    if (sanitized) GTEST_SKIP() << "ThreadSanitizer starts no threads after a fork of a process with threads";
    std::vector<std::unique_ptr<Meter>> meters;
    std::atomic<int> reads{0};
    meters.push_back(std::make_unique<Script>(std::deque<std::optional<double>>{1.0}, 0, reads));
    auto sampler = std::make_unique<MeterSampler>(meters, 0.001);
    std::this_thread::sleep_for(std::chrono::milliseconds(20)); // the thread waits by now
    const pid_t child = fork();
    if (child == 0) {
        alarm(60); // what waits for the thread ends by it
        const MeterRecord record = sampler->stop();
        sampler.reset();
        MeterSampler fresh(meters, 0.001);
        _exit(record.series.at(0).lost.empty() || fresh.stop().rounds < 2);
    }
    int status = -1;
    waitpid(child, &status, 0);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
    EXPECT_GE(sampler->stop().rounds, 2u);
}

TEST(Sampler, GoesOverGapsAndGivesUpAMeterThatIsGone)
{
    const MeterRecord gap = sampled({1, {}, {}, 4, 5}, 5);
    EXPECT_TRUE(gap.series[0].lost.empty());
    EXPECT_DOUBLE_EQ(gap.series[0].readings.back().value, 4);
    const MeterRecord gone = sampled({1, 2, {}}, 22);
    EXPECT_THAT(gone.series[0].lost, HasSubstr("could not be read"));
    const auto found =
        energy_between(gone.series, gone.series[0].readings.front().time_ns, gone.series[0].readings.back().time_ns);
    EXPECT_FALSE(found[0].joules) << "what is lost in the middle is unavailable, not a part";
    const MeterRecord back = sampled({5, 6, 2}, 3);
    EXPECT_EQ(back.series[0].lost, "was set back");
    const MeterRecord anew = sampled({5e4, 5e4 + 60, 0}, 3, 2.6e5);
    EXPECT_EQ(anew.series[0].lost, "was set back") << "it had far to go to its end";
}

TEST(Sampler, GivesUpACounterThatMayHaveBegunAnewTwice)
{
    // 0.1 J go round within 50 us of 2,000 W, and readings are a millisecond apart.
    const MeterRecord record = sampled({0.01, 0.02, 0.03}, 2, 0.1);
    EXPECT_THAT(record.series[0].lost, HasSubstr("more than once"));
}

TEST_F(FakeSystem, AMeterThatIsUnpluggedInTheMiddleIsUnavailable)
{
    zone("intel-rapl:0", "package-0", "1000");
    FoundMeters found = find_meters(places_);
    MeterSampler sampler(found.meters, 0.001);
    fs::remove_all(root_ / "sys/class/powercap/intel-rapl:0");
    EXPECT_TRUE(testing::eventually([&] { return !sampler.so_far().series[0].lost.empty(); }));
    EXPECT_THAT(sampler.stop().series[0].lost, HasSubstr("could not be read"));
}

} // namespace
} // namespace trencadis
