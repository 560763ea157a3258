// A value is on its way to several when a device is lost, step by step: whoever was to have it from somebody to whom it did not
// come has it from elsewhere, or is told.
#include "base/error.hpp"
#include "engines/devices/device_memory.hpp"
#include "graph/task_flow.hpp"
#include "queue_kernels.hpp"
#include "stepwise_device.hpp"

#include <gmock/gmock.h>

#include <atomic>
#include <deque>
#include <thread>

namespace trencadis::testing {
namespace {

using devices::Queue;
using ::testing::HasSubstr;

constexpr Index count = 5;

struct AddOneArgs {
    static void add(double* x)
    {
        for (Index i = 0; i < count; ++i) x[i] += 1;
    }
    Flops flops() const { return 1; }
    void run(TaskContext& context) const { add(static_cast<double*>(context.operand(0).data)); }
    void run_on_device(TaskContext& context) const
    {
        static_cast<const QueueKernels*>(context.kernels())
            ->queue->enqueue(flops(),
                             [x = context.operand(0).data](const BlockMap& map) { add(static_cast<double*>(map.at(x))); });
    }
};
constexpr Codelet adding = codelet_of<AddOneArgs>("add");

struct CopyArgs {
    static void copy(const void* from, void* to) { std::memcpy(to, from, count * sizeof(double)); }
    Flops flops() const { return 1; }
    void run(TaskContext& context) const { copy(context.operand(0).data, context.operand(1).data); }
    void run_on_device(TaskContext& context) const
    {
        static_cast<const QueueKernels*>(context.kernels())
            ->queue->enqueue(flops(), [from = context.operand(0).data, to = context.operand(1).data](const BlockMap& map) {
                copy(map.at(from), map.at(to));
            });
    }
};
constexpr Codelet copying = codelet_of<CopyArgs>("copy");

/// Devices that reach each other and do what a test says, and a core that it is.
class ByHand final : public Executor {
public:
    explicit ByHand(int devices) : units_(1), kernels_(std::size_t(devices))
    {
        std::vector<DeviceUnit> units;
        for (int d = 0; d < devices; ++d) {
            devices_.push_back(std::make_unique<StepwiseDevice>("stepwise " + std::to_string(d), 1e6, true));
            kernels_[std::size_t(d)].queue = &devices_.back()->kernels();
            units.push_back({devices_.back().get(), &kernels_[std::size_t(d)]});
        }
        DeviceMemory::Habits habits;
        habits.log = [this](const MemoryEvent& event) {
            acquired_at_home_ += event.what == MemoryEvent::What::acquire && event.space == 0;
        };
        memory_ = std::make_unique<DeviceMemory>(units, std::move(habits), [](int) {});
    }
    ~ByHand() override { memory_.reset(); }

    StepwiseDevice& device(int number) { return *devices_[std::size_t(number)]; }
    Task& next_ready()
    {
        Task& task = *ready_.front();
        ready_.pop_front();
        return task;
    }
    void claim(int device, Task& task) { memory_->claim(device, task, 0); }
    /// Those that are over are finished, those that go back are ready again.
    void step(int device)
    {
        for (DeviceMemory::Done& done : memory_->step(device, device + 1).done) {
            if (done.back) ready_.push_back(done.task);
            else finish(*done.task);
        }
    }
    /// Its next copy or kernel ends, well or not.
    void go_on(int number, Queue queue, const devices::Status& how = {})
    {
        step(number);
        ASSERT_TRUE(device(number).advance(queue, how));
        step(number);
    }
    /// Runs a task there whose operands are copied to it first.
    void run(int device, Task& task, int copies)
    {
        claim(device, task);
        for (int copy = 0; copy < copies; ++copy) go_on(device, Queue::in);
        go_on(device, Queue::kernels);
    }
    /// It is lost in a copy for a task that is given back.
    void lose(int device, Task& task)
    {
        claim(device, task);
        go_on(device, Queue::in, {devices::Fault::copy, "as the test says"});
    }
    /// Begins to fetch what a core needs for the task; returns when it is planned.
    void begin_on_core(Task& task)
    {
        const int before = acquired_at_home_;
        core_ = std::thread([this, &task] { fetched_ = memory_->fetch(task); });
        while (acquired_at_home_ == before) std::this_thread::yield(); // ctest ends this if it never is
        on_core_ = &task;
    }
    /// The core has asked for the data of its task for so many times.
    void await_asking(int times) const
    {
        while (acquired_at_home_ < times) std::this_thread::yield(); // likewise
    }
    int asked_at_home() const { return acquired_at_home_; }
    void end_on_core()
    {
        core_.join();
        if (fetched_) {
            SharedWork work;
            Team team(work);
            TaskFlowContext context(*on_core_, team, 0);
            on_core_->codelet->core(on_core_->args, context);
            context.finish_children();
        }
        memory_->release(*on_core_);
        finish(*on_core_);
    }
    void fail_next_copy_from(int device) { fails_ = device; }

private:
    std::span<const ComputeUnit> units() const override { return units_; }
    void wake_owner(TaskFlow&) override {}
    void ready(Task* chain) override
    {
        while (chain) ready_.push_back(std::exchange(chain, chain->next));
    }
    void finish(Task& task) { ready(task.flow->finish(task, nullptr)); }
    /// What is on devices comes home.
    void drain(TaskFlow& flow, std::int64_t target) override
    {
        ASSERT_LE(flow.pending(), target) << "the test has not ended all of its tasks";
        std::atomic<bool> over{false};
        std::thread owner([&] {
            memory_->settle(flow);
            over = true;
        });
        while (!over) {
            for (int d = 0; d < memory_->devices(); ++d) {
                step(d);
                (void)device(d).advance(Queue::in);
                if (d != fails_) (void)device(d).advance(Queue::out);
                else if (device(d).advance(Queue::out, {devices::Fault::copy, "as the test says"})) fails_ = -1;
            }
        }
        owner.join();
    }

    std::vector<std::unique_ptr<StepwiseDevice>> devices_;
    std::vector<ComputeUnit> units_;
    std::vector<QueueKernels> kernels_;
    std::deque<Task*> ready_;
    std::atomic<int> acquired_at_home_{0};
    int fails_ = -1;
    std::thread core_;
    bool fetched_ = false;
    Task* on_core_ = nullptr;
    std::unique_ptr<DeviceMemory> memory_;
};

struct Data {
    std::vector<double> x = std::vector<double>(count, 1), y = x, z = x, other = x;
    static Datum datum(std::vector<double>& of) { return Datum(of.data(), count, 1, count, sizeof(double)); }
    void add(Flow& flow, std::vector<double>& to) { flow.submit(adding, AddOneArgs{}, {readwrite(datum(to))}); }
    void copy_x(Flow& flow, std::vector<double>& to) { flow.submit(copying, CopyArgs{}, {read(datum(x)), write(datum(to))}); }
    static std::vector<double> all(double value) { return std::vector<double>(count, value); }
};

TEST(AValueOnItsWay, ThatDidNotComeToADeviceIsNotCopiedFromThere)
{
    ByHand on(2);
    Data data;
    TaskFlow flow(on);
    data.add(flow, data.x);
    on.run(0, on.next_ready(), 1);
    data.copy_x(flow, data.y);
    data.copy_x(flow, data.z);
    data.add(flow, data.other);
    on.claim(1, on.next_ready()); // x is to come there from device 0
    Task &on_core = on.next_ready(), &given_back = on.next_ready();
    on.lose(0, given_back);
    on.begin_on_core(on_core); // and on from there to the core
    EXPECT_FALSE(flow.has_failed()) << "it may have been under way";
    on.step(1);
    EXPECT_TRUE(flow.has_failed()) << "x is lost";
    on.step(1);
    EXPECT_EQ(on.device(1).next(Queue::out), nullptr) << "there is nothing to be copied";
    on.end_on_core();
    on.begin_on_core(on.next_ready());
    on.end_on_core();
    std::string said;
    try {
        flow.wait();
    } catch (const Error& error) {
        said = error.what();
    }
    EXPECT_THAT(said, HasSubstr("device 'stepwise 0': copy failed in what it held"));
    EXPECT_EQ(data.other, Data::all(1)) << "what the lost device had is not begun where a value is lost";
}

TEST(AValueOnItsWay, ThatDidNotComeToOneDeviceComesFromTheOneToWhichItDid)
{
    ByHand on(3);
    Data data;
    std::vector<double> more = Data::all(1);
    TaskFlow flow(on);
    data.add(flow, data.x);
    on.run(0, on.next_ready(), 1);
    data.copy_x(flow, data.y);
    data.copy_x(flow, more);
    data.copy_x(flow, data.z);
    data.add(flow, data.other);
    on.claim(1, on.next_ready());
    on.claim(2, on.next_ready());
    on.step(2); // the copy to this one has begun
    Task &on_core = on.next_ready(), &given_back = on.next_ready();
    on.lose(0, given_back);
    on.begin_on_core(on_core);
    const int asked = on.asked_at_home();
    on.step(1);
    on.step(1);
    on.await_asking(asked + 1);
    EXPECT_FALSE(flow.has_failed());
    on.go_on(2, Queue::in);
    on.go_on(2, Queue::kernels);
    on.go_on(2, Queue::out);
    on.end_on_core();
    for (int left = 0; left < 2; ++left) { // the other task, and the one that missed x
        on.begin_on_core(on.next_ready());
        on.end_on_core();
    }
    EXPECT_NO_THROW(flow.wait());
    for (const std::vector<double>* const each : {&data.x, &data.y, &more, &data.z, &data.other}) EXPECT_EQ(*each, Data::all(2));
}

TEST(AValueOnItsWay, HomeFromADeviceThatIsLostComesFromAnother)
{
    ByHand on(2);
    Data data;
    TaskFlow flow(on);
    data.add(flow, data.x);
    on.run(0, on.next_ready(), 1);
    data.copy_x(flow, data.y);
    on.run(1, on.next_ready(), 1);
    on.fail_next_copy_from(0);
    EXPECT_NO_THROW(flow.wait());
    EXPECT_EQ(data.x, Data::all(2));
    EXPECT_EQ(data.y, Data::all(2));
}

} // namespace
} // namespace trencadis::testing
