#pragma once
#include "choices/device_choice.hpp"
#include "devices/backend.hpp"
#include "engines/engine.hpp"
#include "kernels/providers/device_kernels.hpp"
#include "kernels/providers/provider.hpp"
#include "machine/kernel_speeds.hpp"
#include "session/device_survey.hpp"
#include "session/session.hpp"

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace trencadis {

/// The devices of a session, what each computes with, and in which calls they take part.
class SessionDevices {
public:
    /// Once. `places`: of the cores. Throws as devices::open_devices and survey_devices, and where a machine is laid over this
    /// one.
    std::vector<DeviceUnit> open(const SessionOptions& resolved, const std::vector<WorkerPlace>& places, const Machine& machine,
                                 const KernelProvider& kernels);
    const std::string& name(std::size_t device) const { return list_[device]->name(); }
    devices::Device* device(int number) const
    {
        return number >= 0 && number < count() ? list_[std::size_t(number)].get() : nullptr;
    }
    int count() const { return static_cast<int>(list_.size()); }
    std::vector<const DeviceKernels*> kernels() const
    {
        std::vector<const DeviceKernels*> all;
        for (const auto& its : kernels_) all.push_back(its.get());
        return all;
    }
    Bytes least_bytes() const; ///< memory of the smallest; 0: there is none

    /// Crew::devices_for: all where they always take part, else as choices/device_choice.hpp has it.
    Crew::Forecast foresee(const std::function<void(Flow&)>& submit, Seconds alone) const;
    /// Crew::expected_there.
    Seconds expected_there(const std::function<void(Flow&)>& submit, choices::Homes homes) const;
    /// Crew's. Any thread.
    std::optional<Crew::TakenPlan> plan_of(const Crew::PlanKey& key) const;
    void keep_plan(const Crew::PlanKey& key, const Crew::TakenPlan& plan) const;
    /// In a call of which nothing is known.
    choices::DeviceSet undecided() const { return always_ ? ~choices::DeviceSet(0) : 0; }
    int in_flight() const { return in_flight_; } ///< tasks that each takes at a time
    /// What an engine begins with: shares by speed from the first call on. Empty where nothing was measured.
    KernelSpeeds speeds(const std::vector<WorkerPlace>& places) const;

private:
    devices::DeviceList list_;
    std::vector<std::unique_ptr<const DeviceKernels>> kernels_; ///< by device; gone before it
    bool always_ = false;
    int in_flight_ = 2;
    mutable std::mutex plans_mutex_;
    mutable std::map<Crew::PlanKey, Crew::TakenPlan> plans_; ///< by what they are for, under the mutex
    choices::UnitFigures figures_;                           ///< not where they take part always
};

} // namespace trencadis
