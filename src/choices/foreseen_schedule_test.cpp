#include "choices/foreseen_schedule.hpp"

#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <utility>

namespace trencadis::choices {
namespace {

constexpr double mega = 1e6;

/// A call on some cores beside devices with these links; data of a megabyte.
struct Call {
    Call(double cores, std::vector<DeviceLink> links, Homes homes = {})
        : devices(links.size()), schedule(cores, std::move(links), std::move(homes))
    {
    }
    void add(Seconds on_core, Seconds on_device, std::vector<Access> accesses, bool all_cores = false)
    {
        const std::vector<Seconds> there(devices, on_device);
        schedule.add({on_core, all_cores, there}, accesses);
    }
    static Datum datum(int i)
    {
        static std::array<char, 64> memory;
        return Datum(&memory[std::size_t(i)], mega);
    }
    std::size_t devices;
    ForeseenSchedule schedule;
};
Access in(int i) { return read(Call::datum(i)); }
Access out(int i) { return write(Call::datum(i)); }
Access inout(int i) { return readwrite(Call::datum(i)); }

/// A megabyte takes a second and the latency.
DeviceLink link(Seconds latency = 0) { return {{mega, mega}, latency}; }

TEST(ForeseenSchedule, OfCoresIsTheLongerOfTheirWorkAndTheChain)
{
    Call call(2, {});
    for (int i = 0; i < 5; ++i) call.add(1, -1, {inout(i)});
    EXPECT_DOUBLE_EQ(call.schedule.end(0), 3) << "five on two: one core has three";
    for (int i = 0; i < 3; ++i) call.add(2, -1, {inout(0)});
    EXPECT_DOUBLE_EQ(call.schedule.end(0), 7) << "the chain begins first, and the other core has the rest";
}

TEST(ForeseenSchedule, OfPartOfACoreIsSlower)
{
    Call call(1.5, {});
    for (int i = 0; i < 2; ++i) call.add(3, -1, {inout(i)});
    EXPECT_DOUBLE_EQ(call.schedule.end(0), 4);
}

TEST(ForeseenSchedule, KeepsWritersBehindReaders)
{
    Call call(2, {});
    call.add(5, -1, {in(0), inout(1)});
    call.add(1, -1, {out(0)});
    EXPECT_DOUBLE_EQ(call.schedule.end(0), 6);
}

TEST(ForeseenSchedule, OfTasksThatAllCoresShareHoldsThemAll)
{
    Call call(2, {});
    call.add(3, -1, {inout(0)}, true);
    call.add(2, -1, {inout(1)});
    EXPECT_DOUBLE_EQ(call.schedule.end(0), 5);
}

TEST(ForeseenSchedule, BringsDataAndTheResultHome)
{
    Call call(1, {link(0.25)});
    call.add(100, 2, {in(0), inout(1)});
    EXPECT_DOUBLE_EQ(call.schedule.end(1), 1.25 + 1.25 + 2 + 1.25);
    EXPECT_DOUBLE_EQ(call.schedule.end(0), 100);
    Call written(1, {link()});
    written.add(100, 2, {out(0)});
    EXPECT_DOUBLE_EQ(written.schedule.end(1), 3) << "what is written only need not come";
}

TEST(ForeseenSchedule, MovesWhileADeviceComputesButNotMoreThanATaskAhead)
{
    Call call(1, {{{mega, 1e12}, 0}});
    for (int i = 0; i < 4; ++i) call.add(1000, 1, {in(i), out(i + 10)});
    EXPECT_NEAR(call.schedule.end(1), 5, 1e-3) << "a copy, then four of which three copies go beside";
    Call uneven(1, {{{mega, 1e12}, 0}});
    uneven.add(1000, 10, {out(20), in(21)});
    for (int i = 0; i < 2; ++i) uneven.add(1000, 1, {in(i), in(i + 2), in(i + 4), out(i + 10)});
    EXPECT_NEAR(uneven.schedule.end(1), 1 + 10 + 1 + 2 + 1, 1e-3) << "the third one's copies begin when the first is over";
}

TEST(ForeseenSchedule, HasLateResultsAfterTheLastTask)
{
    Call call(1, {link(1)});
    for (int i = 0; i < 3; ++i) call.add(1000, 0.001, {out(i)});
    EXPECT_NEAR(call.schedule.end(1), 6, 0.01) << "two seconds each";
}

TEST(ForeseenSchedule, MovesFromDeviceToDeviceByHome)
{
    Call call(1, {link(), link()});
    const std::array<Seconds, 2> first{1, -1}, second{-1, 1};
    const std::array<Access, 1> both{inout(0)};
    call.schedule.add({1000, false, first}, both);
    call.schedule.add({1000, false, second}, both);
    EXPECT_DOUBLE_EQ(call.schedule.end(0b11), (1 + 1) + (1 + 1 + 1) + 1);
}

/// Those below ten on the first device, the others in the host.
int home_of(const void* datum) { return datum < Call::datum(10).address ? 0 : -1; }

TEST(ForeseenSchedule, LeavesWhatIsAtHomeOnADeviceThere)
{
    Call call(1, {link(0.25)}, home_of);
    call.add(100, 2, {in(0), inout(1)});
    call.add(100, 2, {in(1), inout(2)});
    EXPECT_DOUBLE_EQ(call.schedule.end(1), 4) << "nothing moves";
    call.add(100, 2, {in(2), inout(10)});
    EXPECT_DOUBLE_EQ(call.schedule.end(1), 6 + 1.25) << "what begins in the host comes while it computes, and goes back";
}

TEST(ForeseenSchedule, BringsWhatACoreHasOfADeviceBackThere)
{
    Call call(1, {link(0.25)}, home_of);
    call.add(3, -1, {in(0), inout(1)});
    EXPECT_DOUBLE_EQ(call.schedule.end(1), 1.25 + 1.25 + 3 + 1.25);
}

TEST(ForeseenSchedule, GoesByWayOfTheHostToAnotherDeviceAndBack)
{
    Call call(1, {link(), link()}, home_of);
    const std::array<Seconds, 2> second{-1, 2};
    const std::array<Access, 1> its{inout(0)};
    call.schedule.add({1000, false, second}, its);
    EXPECT_DOUBLE_EQ(call.schedule.end(0b11), (1 + 1) + 2 + (1 + 1));
}

TEST(ForeseenSchedule, OfTooManyTasksIsNone)
{
    Call call(1, {link()});
    for (int i = 0; i < 20'000; ++i) call.add(1, 1, {inout(0)});
    EXPECT_EQ(call.schedule.end(1), 0);
}

} // namespace
} // namespace trencadis::choices
