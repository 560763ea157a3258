#pragma once
#include "devices/backend.hpp"
#include "engines/task_flow_engine.hpp"
#include "kernels/providers/device_kernels.hpp"

#include <memory>
#include <string>
#include <vector>

namespace trencadis::testing {

/// The native engine with some cores and the devices that the words say.
class OnDevices {
public:
    OnDevices(const std::string& words, const std::string& scheduler, int cores, int slots = 2)
        : devices_(words.empty() ? devices::DeviceList{} : devices::open_devices(words)),
          threads_(find_entry("thread back end", threads_entries(), "native").make())
    {
        const KernelProvider& ours = load_kernels("native");
        EngineParts parts{std::vector<WorkerPlace>(std::size_t(cores)), parse_scheduler(scheduler), threads_.get()};
        parts.kernels = &ours;
        parts.callers_anywhere = true;
        parts.device_slots = slots;
        for (const auto& device : devices_) {
            kernels_.push_back(kernels_on(device->kernels(), ours));
            parts.device_units.push_back({device.get(), kernels_.back().get()});
        }
        std::unique_ptr<Engine> made = find_entry("engine", engine_entries(), "native").make(std::move(parts));
        engine_.reset(&dynamic_cast<TaskFlowEngine&>(*made.release()));
    }
    devices::Device& device(std::size_t number) { return *devices_[number]; }
    TaskFlowEngine& engine() { return *engine_; }
    /// Runs `body(flow)` to its end.
    template <class Body> Index run(Body&& body)
    {
        return engine_->run({}, [&](Flow& flow) { body(flow); });
    }
    std::int64_t tasks_on_devices() const
    {
        const std::vector<WorkerTime> times = engine_->times();
        std::int64_t sum = 0;
        for (std::size_t worker = times.size() - devices_.size(); worker < times.size(); ++worker) sum += times[worker].tasks;
        return sum;
    }

private:
    devices::DeviceList devices_;
    std::vector<std::unique_ptr<const DeviceKernels>> kernels_;
    std::unique_ptr<Threads> threads_;
    std::unique_ptr<TaskFlowEngine> engine_;
};

} // namespace trencadis::testing
