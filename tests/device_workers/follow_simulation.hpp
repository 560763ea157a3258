#pragma once
#include "base/error.hpp"
#include "engines/devices/device_memory.hpp"
#include "graph/task_flow.hpp"
#include "kernels/providers/device_kernels.hpp"
#include "stepwise_device.hpp"

#include <chrono>
#include <map>
#include <mutex>
#include <sstream>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace trencadis::testing {

/// One event of a run in one line; transfers with everything that bytes depend on.
inline std::string text_of(const MemoryEvent& event)
{
    constexpr const char* words[] = {"take", "acquire", "release", "complete"};
    std::ostringstream text;
    text << words[std::size_t(event.what)] << ' ' << event.space << ' ' << event.task;
    for (const void* const data : event.data) text << ' ' << data;
    for (const Transfer& transfer : event.transfers)
        text << "; " << transfer.id << ' ' << transfer.from << ' ' << transfer.to << ' ' << std::int64_t(transfer.bytes) << ' '
             << transfer.data;
    return text.str();
}

/// Runs a flow over the memory of some devices, real copies and kernels, by the events of a simulated run of the same tasks: who
/// takes which task when, which copy ends next, and when a task is over come from there; everything else must follow as it did.
class FollowSimulation final : public Executor {
public:
    FollowSimulation(int devices, Bytes memory, DeviceMemory::Habits habits) : units_(1)
    {
        const KernelProvider& ours = load_kernels("native");
        units_[0].kernels = &ours;
        std::vector<DeviceUnit> units;
        for (int d = 0; d < devices; ++d) {
            devices_.push_back(std::make_unique<StepwiseDevice>("stepwise " + std::to_string(d), memory));
            kernels_.push_back(kernels_on(devices_.back()->kernels(), ours));
            units.push_back({devices_.back().get(), kernels_.back().get()});
        }
        habits.log = [this](const MemoryEvent& event) {
            const std::lock_guard lock(mutex_);
            seen_.push_back(text_of(event));
        };
        memory_ = std::make_unique<DeviceMemory>(units, std::move(habits), [](int) {});
    }
    ~FollowSimulation() override { memory_.reset(); }

    /// Throws std::runtime_error at the first event that is another one.
    template <class Body> void follow(std::vector<std::string> events, Body&& body)
    {
        events_ = std::move(events);
        TaskFlow flow(*this);
        body(flow);
        try {
            flow.wait();
        } catch (const Error&) { // what went wrong before says more
            if (!failure_) throw;
        }
        if (failure_) std::rethrow_exception(failure_);
    }
    const StepwiseDevice& device(int number) const { return *devices_[std::size_t(number)]; }
    std::vector<DeviceTraffic> traffic() const { return memory_->traffic(); }

private:
    struct OnCore {
        Task* task;
        std::string data;
        std::thread fetches;
    };

    // Executor
    std::span<const ComputeUnit> units() const override { return units_; }
    void wake_owner(TaskFlow&) override {}
    void ready(Task* chain) override
    {
        while (chain) {
            Task& task = *std::exchange(chain, chain->next);
            ready_.emplace(order_of(task), &task);
        }
    }
    void drain(TaskFlow& flow, std::int64_t target) override
    {
        if (flow.pending() <= target) return;
        try {
            for (; at_ < events_.size(); ++at_) {
                cause(events_[at_]);
                expect(at_);
            }
            if (flow.pending() > target) throw std::runtime_error("tasks are left when the events are over");
            settle(flow);
        } catch (...) {
            failure_ = std::current_exception();
            give_up(flow);
        }
    }
    /// The test has failed; the flow has to end all the same.
    void give_up(TaskFlow& flow)
    {
        flow.cancel();
        for (OnCore& one : on_cores_) one.fetches.detach();
        (void)memory_.release(); // they may wait there
        while (!ready_.empty() || !taken_.empty()) {
            std::map<std::int64_t, Task*>& some = ready_.empty() ? taken_ : ready_;
            ready(flow.finish(*some.extract(some.begin()).mapped(), nullptr));
        }
    }

    void cause(const std::string& event)
    {
        std::istringstream text(event);
        std::string what, part;
        SpaceId space = 0;
        std::int64_t order = 0;
        text >> what >> space >> order;
        if (what == "take") take(order, space);
        if (what == "release" && space > 0) end_on_device(space - 1);
        if (what == "release" && space == 0) {
            std::string data;
            std::getline(text, data);
            end_on_core(data);
        }
        if (what != "complete") return;
        SpaceId from = 0, to = 0;
        std::int64_t id = 0, bytes = 0;
        void* data = nullptr;
        text.ignore(event.size(), ';');
        text >> id >> from >> to >> bytes >> data;
        end_copy(to > 0 ? to - 1 : from - 1, to > 0 ? devices::Queue::in : devices::Queue::out, data);
    }
    /// The same events up to this one; those that come with it may be there already.
    void expect(std::size_t i)
    {
        const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
        while (true) {
            {
                const std::lock_guard lock(mutex_);
                if (seen_.size() > i) {
                    if (seen_[i] == events_[i]) return;
                    throw std::runtime_error("event " + std::to_string(i) + " was '" + events_[i] + "' and is '" + seen_[i] +
                                             "'");
                }
            }
            if (std::chrono::steady_clock::now() > end)
                throw std::runtime_error("event " + std::to_string(i) + " was '" + events_[i] + "' and does not come");
            std::this_thread::yield();
        }
    }
    void take(std::int64_t order, SpaceId space)
    {
        const auto found = ready_.find(order);
        if (found == ready_.end()) throw std::runtime_error("task " + std::to_string(order) + " is not ready");
        Task& task = *found->second;
        taken_.insert(ready_.extract(found));
        if (space > 0) memory_->claim(space - 1, task, 0);
        else {
            std::ostringstream data;
            for_each_datum(task, [&](const TaskDatum& datum) { data << ' ' << datum.data; });
            on_cores_.push_back({&task, data.str(), std::thread([this, &task] { memory_->fetch(task); })});
        }
    }
    void end_on_core(const std::string& data)
    {
        for (auto one = on_cores_.begin(); one != on_cores_.end(); ++one) {
            if (one->data != data) continue;
            one->fetches.join();
            Task& task = *one->task;
            on_cores_.erase(one);
            SharedWork work;
            Team team(work);
            TaskFlowContext context(task, team, 0);
            task.codelet->core(task.args, context);
            context.finish_children();
            memory_->release(task);
            return finish(task);
        }
        throw std::runtime_error("no core has a task of the data" + data);
    }
    void end_on_device(int device)
    {
        step_all();
        if (!devices_[std::size_t(device)]->advance(devices::Queue::kernels))
            throw std::runtime_error("no kernel is under way on device " + std::to_string(device));
        step(device);
    }
    void end_copy(int device, devices::Queue queue, const void* data)
    {
        step_all();
        StepwiseDevice& its = *devices_[std::size_t(device)];
        if (its.next(queue) != data) {
            std::ostringstream text;
            text << "the next copy of device " << device << " is of " << its.next(queue) << ", not of " << data;
            throw std::runtime_error(text.str());
        }
        its.advance(queue);
        step(device);
    }
    void step(int device)
    {
        for (DeviceMemory::Done& done : memory_->step(device, device + 1).done) finish(*done.task);
    }
    void step_all()
    {
        for (int device = 0; device < memory_->devices(); ++device) step(device);
    }
    void finish(Task& task)
    {
        taken_.erase(order_of(task));
        ready(task.flow->finish(task, nullptr));
    }
    /// What lies on devices comes home.
    void settle(TaskFlow& flow)
    {
        std::atomic<bool> over{false};
        std::thread owner([&] {
            memory_->settle(flow);
            over = true;
        });
        while (!over) {
            step_all();
            for (const auto& device : devices_)
                for (const devices::Queue queue : {devices::Queue::in, devices::Queue::out}) (void)device->advance(queue);
        }
        owner.join();
    }

    std::vector<std::unique_ptr<StepwiseDevice>> devices_;
    std::vector<std::unique_ptr<const DeviceKernels>> kernels_;
    std::vector<ComputeUnit> units_;
    std::mutex mutex_; ///< of what follows
    std::vector<std::string> seen_;

    std::vector<std::string> events_;
    std::size_t at_ = 0;                          ///< of them
    std::map<std::int64_t, Task*> ready_, taken_; ///< by their order
    std::exception_ptr failure_;
    std::vector<OnCore> on_cores_;
    std::unique_ptr<DeviceMemory> memory_;
};

} // namespace trencadis::testing
