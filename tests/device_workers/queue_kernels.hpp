#pragma once
#include "devices/backend.hpp"
#include "engines/task_flow_engine.hpp"

#include <memory>
#include <string>
#include <vector>

namespace trencadis::testing {

/// What tasks on a device compute with where a test brings its own functions.
struct QueueKernels : Kernels {
    KernelQueue* queue;
};

/// The native engine with some cores and the devices that the words say, whose tasks enqueue functions.
struct EngineOnDevices {
    EngineOnDevices(const std::string& words, const std::string& scheduler, int cores, int slots)
        : EngineOnDevices(words, parse_scheduler(scheduler), cores, slots)
    {
    }
    EngineOnDevices(const std::string& words, const SchedulerSpec& scheduler, int cores, int slots)
        : list(devices::open_devices(words)), kernels(list.size()),
          threads(find_entry("thread back end", threads_entries(), "native").make())
    {
        EngineParts parts{std::vector<WorkerPlace>(std::size_t(cores)), scheduler, threads.get()};
        parts.callers_anywhere = true;
        parts.device_slots = slots;
        for (std::size_t d = 0; d < list.size(); ++d) {
            kernels[d].queue = &list[d]->kernels();
            parts.device_units.push_back({list[d].get(), &kernels[d]});
        }
        engine = find_entry("engine", engine_entries(), "native").make(std::move(parts));
    }
    devices::DeviceList list;
    std::vector<QueueKernels> kernels;
    std::unique_ptr<Threads> threads;
    std::unique_ptr<Engine> engine;
};

} // namespace trencadis::testing
