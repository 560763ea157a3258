// What DrivenDevice makes of a driver whose queues the test carries on by hand.
#include "devices/driven/device.hpp"

#include "base/error.hpp"
#include "devices/backend.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <deque>
#include <functional>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

namespace trencadis::devices {
namespace {

/// Does nothing but to keep its marks until they are said to be reached.
class ByHand final : public Driver {
public:
    std::size_t bytes() const override { return 1 << 20; }
    bool computes_in(char) const override { return true; }
    Status allocate(std::size_t, Memory& memory) override
    {
        memory = ++last_;
        return {};
    }
    Status release(Memory) override { return {}; }
    Status allocate_host(std::size_t, void*&) override { return {Fault::out_of_memory, "none here"}; }
    Status release_host(void*) override { return {}; }
    Status lock_pages(void*, std::size_t) override { return {}; }
    Status unlock_pages(void*) override { return {}; }
    Status copy_in(HostPlace, Rows, Extent) override { return count(); }
    Status copy_out(Rows, HostPlace, Extent) override { return count(); }
    bool reaches(const Driver&) const override { return false; }
    Status copy_from(Driver&, Rows, Rows, Extent) override { return {}; }
    bool left_half_done() const override { return half_done; }
    Status compute(const Level3Call&, const Spots& at) override
    {
        spots = at;
        return count();
    }
    Status mark(Queue, std::uint64_t, Completion arrived) override
    {
        if (!next_mark.ok()) return std::exchange(next_mark, {});
        if (by_itself) arrived({});
        else marks.push_back(std::move(arrived));
        return {};
    }
    Status finish(Queue) override
    {
        if (finishes) finishes();
        return finished;
    }
    void give_up() override { given_up = true; }
    bool can_hold_for(const Driver&) const override { return false; }
    Status hold(Queue, Driver&, Queue, std::uint64_t) override { return {}; }
    Status hold(Queue, Completion& open) override
    {
        if (!next_hold.ok()) return next_hold;
        open = [this](const Status& status) { opened.push_back(status.fault); };
        return {};
    }
    void reach_all()
    {
        for (const Completion& mark : marks) mark({});
    }

    bool by_itself = false;
    std::deque<Completion> marks;
    std::vector<Fault> opened;
    int enqueued = 0;
    Status next = {}; ///< of what is enqueued
    Status next_mark = {}, next_hold = {};
    std::function<void()> finishes;
    Status finished = {};
    bool given_up = false, half_done = false;
    Spots spots;

private:
    Status count()
    {
        ++enqueued;
        return next;
    }
    Memory last_ = 0;
};

class DrivenDevices : public ::testing::Test {
protected:
    DrivenDevices()
    {
        auto driver = std::make_unique<ByHand>();
        driver_ = driver.get();
        device_ = std::make_unique<DrivenDevice>("by hand 0", "by hand", std::move(driver), 1 << 20);
    }
    ~DrivenDevices() override
    {
        driver_->by_itself = true; // the device waits for what it has marked
        driver_->reach_all();
    }
    Block allocated(std::size_t bytes)
    {
        Block block = nullptr;
        EXPECT_TRUE(device_->allocate(bytes, block).ok());
        return block;
    }

    ByHand* driver_;
    std::unique_ptr<Device> device_;
};

constexpr Extent column{80};

TEST_F(DrivenDevices, CallCompletionsInTheOrderOfTheMarksAndOnce)
{
    std::vector<int> told;
    Event events[3];
    for (int i = 0; i < 3; ++i) events[i] = device_->mark(Queue::in, [&told, i](const Status&) { told.push_back(i); });
    driver_->marks[2]({});
    driver_->marks[1]({});
    EXPECT_TRUE(told.empty());
    EXPECT_FALSE(device_->reached(events[1]));
    driver_->marks[0]({});
    driver_->marks[0]({});
    EXPECT_EQ(told, (std::vector{0, 1, 2}));
    EXPECT_TRUE(device_->reached(events[2]));
}

TEST_F(DrivenDevices, TellAFaultThatIsFoundLaterByTheEventBehindIt)
{
    const Event bad = device_->mark(Queue::out), good = device_->mark(Queue::out);
    driver_->marks[0]({Fault::copy, "it broke"});
    driver_->marks[1]({});
    EXPECT_EQ(device_->wait(bad).what, "it broke");
    EXPECT_TRUE(device_->wait(good).ok());
    EXPECT_FALSE(device_->lost());
}

TEST_F(DrivenDevices, WaitForTheQueueWhereAMarkCannotBeHad)
{
    Block const block = allocated(column.bytes);
    std::vector<double> x(10);
    ASSERT_TRUE(device_->copy_out({block, 80}, {x.data(), 80}, column).ok());
    bool copies = true, told = false;
    driver_->finishes = [&] {
        EXPECT_FALSE(told) << "its memory may be gone by now";
        copies = false;
    };
    driver_->next_mark = {Fault::copy, "no marker"};
    const Event event = device_->mark(Queue::out, [&](const Status& status) {
        told = true;
        EXPECT_FALSE(copies);
        EXPECT_EQ(status.fault, Fault::copy);
    });
    EXPECT_TRUE(told);
    EXPECT_EQ(device_->wait(event).what, "no marker");
    EXPECT_FALSE(driver_->given_up);
    driver_->finishes = [] { ADD_FAILURE() << "for a device that is lost nobody waits"; };
    driver_->next_mark = {Fault::lost, "gone"};
    EXPECT_EQ(device_->wait(device_->mark(Queue::out)).fault, Fault::lost);
}

TEST_F(DrivenDevices, SayHowTheQueueWentWhereAMarkFoundNoMemory)
{
    Block const block = allocated(column.bytes);
    std::vector<double> x(10);
    for (const Fault fault : {Fault::none, Fault::copy}) {
        ASSERT_TRUE(device_->copy_in({x.data(), 80}, {block, 80}, column).ok());
        driver_->finished = {fault, "it broke"};
        driver_->next_mark = {Fault::out_of_memory, "no event"};
        const Event event = device_->mark(Queue::in);
        EXPECT_TRUE(device_->reached(event));
        EXPECT_EQ(device_->wait(event).fault, fault);
    }
}

TEST_F(DrivenDevices, WaitForAnEventWhereAHoldFindsNoMemory)
{
    const Event bad = device_->mark(Queue::in);
    driver_->next_hold = {Fault::out_of_memory, "no event"};
    std::thread later([this] {
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
        driver_->marks.front()({Fault::copy, "it broke"});
    });
    (void)device_->hold(Queue::out, bad);
    later.join();
    const Event behind = device_->mark(Queue::out);
    driver_->marks.back()({});
    EXPECT_EQ(device_->wait(behind).what, "it broke");
    const Event good = device_->mark(Queue::in);
    driver_->marks.back()({});
    driver_->next_hold = {};
    EXPECT_TRUE(device_->hold(Queue::out, good).ok());
}

TEST_F(DrivenDevices, EndAllMarksWhenOneTellsOfALoss)
{
    std::vector<Fault> told;
    const auto note = [&](const Status& status) { told.push_back(status.fault); };
    const Event event = device_->mark(Queue::in, note);
    for (const Queue queue : {Queue::kernels, Queue::out}) (void)device_->mark(queue, note);
    driver_->marks[2]({Fault::lost, "gone"});
    EXPECT_EQ(device_->wait(event).fault, Fault::lost);
    EXPECT_EQ(told, std::vector(3, Fault::lost));
    driver_->reach_all();
    EXPECT_EQ(told.size(), 3u) << "the driver's own words come too late";
    EXPECT_EQ(device_->wait(device_->mark(Queue::in)).fault, Fault::lost);
    Block block = nullptr;
    EXPECT_EQ(device_->allocate(8, block).fault, Fault::lost);
}

TEST_F(DrivenDevices, AreLostByACallThatSaysSo)
{
    Block const block = allocated(column.bytes);
    const Event event = device_->mark(Queue::kernels);
    std::vector<double> x(10);
    driver_->next = {Fault::lost, "gone"};
    EXPECT_EQ(device_->copy_in({x.data(), 80}, {block, 80}, column).fault, Fault::lost);
    EXPECT_EQ(device_->wait(event).fault, Fault::lost);
}

TEST_F(DrivenDevices, GiveDriversPlacesInTheirOwnWords)
{
    auto* const a = static_cast<double*>(allocated(800));
    auto* const b = static_cast<double*>(allocated(800));
    Level3Queue& queue = *device_->kernels().level3();
    Level3Call call;
    call.m = call.n = call.k = 3;
    call.A = a + 2, call.B = b, call.C = b + 50, call.lda = call.ldb = call.ldc = 5;
    queue.enqueue(call);
    EXPECT_EQ(driver_->enqueued, 1);
    EXPECT_EQ(driver_->spots.A.offset, 16u);
    EXPECT_EQ(driver_->spots.C.memory, driver_->spots.B.memory);
    EXPECT_EQ(driver_->spots.C.offset, 400u);
    for (double* const outside : {a + 88, static_cast<double*>(nullptr)}) { // 13 elements are needed
        call.A = outside;
        queue.enqueue(call);
        queue.enqueue(call);
        const Event event = device_->mark(Queue::kernels);
        driver_->reach_all();
        EXPECT_EQ(device_->wait(event).fault, Fault::kernel);
    }
    EXPECT_EQ(driver_->enqueued, 1) << "nothing of that came to the driver";
}

TEST_F(DrivenDevices, TryAKernelThatFoundNoMemoryOnceMoreUnlessItIsHalfDone)
{
    auto* const a = static_cast<double*>(allocated(800));
    Level3Call call;
    call.m = call.n = call.k = 3;
    call.A = call.B = a, call.C = a + 20, call.lda = call.ldb = call.ldc = 3;
    driver_->by_itself = true;
    driver_->next = {Fault::out_of_memory, "none for the second kernel"};
    int relieved = 0;
    const std::function<void()> relief = [&relieved] { ++relieved; };
    device_->relieved_by(&relief);
    for (const bool half_done : {false, true}) {
        driver_->half_done = half_done;
        const int enqueued = driver_->enqueued;
        const std::uint64_t asked = device_->kernels().asked();
        device_->kernels().level3()->enqueue(call);
        EXPECT_EQ(driver_->enqueued - enqueued, half_done ? 1 : 2);
        EXPECT_EQ(device_->kernels().asked() - asked, half_done ? 1u : 0u) << "whoever asked is told that it has begun";
        EXPECT_EQ(device_->wait(device_->mark(Queue::kernels)).fault, Fault::out_of_memory);
    }
    EXPECT_EQ(relieved, 1);
    EXPECT_FALSE(device_->lost());
    device_->relieved_by(nullptr);
}

TEST_F(DrivenDevices, OpenTheGatesOfWhatHoldsForThemWithHowItWent)
{
    const Event bad = device_->mark(Queue::in), good = device_->mark(Queue::kernels);
    EXPECT_TRUE(device_->hold(Queue::out, bad).ok());
    EXPECT_TRUE(device_->hold(Queue::out, good).ok());
    driver_->marks[1]({});
    driver_->marks[0]({Fault::copy, "it broke"});
    EXPECT_EQ(driver_->opened, (std::vector{Fault::none, Fault::copy}));
    EXPECT_TRUE(device_->hold(Queue::kernels, bad).ok());
    EXPECT_EQ(driver_->opened.size(), 2u) << "what is known already needs no gate";
    const Event end = device_->mark(Queue::kernels);
    driver_->reach_all();
    EXPECT_EQ(device_->wait(end).what, "it broke");
}

/// A real driver's queue behind an event that fails while the queue waits for it.
TEST_F(DrivenDevices, KeepOpenClFromWhatFollowsAnEventThatFailsLater)
{
    DeviceList list;
    try {
        list = open_devices("opencl:0,memory=1MiB");
    } catch (const Error& error) {
        if (error.code() != ErrorCode::missing_backend) throw;
        GTEST_SKIP() << error.what();
    }
    Device& real = *list.front();
    std::vector<double> x(10, 1.0), y(10, 7.0);
    Block block = nullptr;
    ASSERT_TRUE(real.allocate(column.bytes, block).ok());
    ASSERT_TRUE(real.copy_in({x.data(), 80}, {block, 80}, column).ok());
    ASSERT_TRUE(real.wait(real.mark(Queue::in)).ok());
    for (const Fault fault : {Fault::copy, Fault::none}) {
        driver_->marks.clear();
        ASSERT_TRUE(real.hold(Queue::out, device_->mark(Queue::in)).ok());
        ASSERT_TRUE(real.copy_out({block, 80}, {y.data(), 80}, column).ok());
        const Event end = real.mark(Queue::out);
        EXPECT_FALSE(real.reached(end)) << "the other device's event is not reached yet";
        driver_->marks.front()({fault, "it broke"});
        EXPECT_EQ(real.wait(end).fault, fault);
        EXPECT_EQ(y, std::vector<double>(10, fault == Fault::none ? 1.0 : 7.0));
    }
}

} // namespace
} // namespace trencadis::devices
