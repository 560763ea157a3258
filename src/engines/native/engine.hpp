#pragma once
#include "engines/devices/device_memory.hpp"
#include "engines/engine.hpp"
#include "engines/native/line_cost.hpp"
#include "engines/native/open_call.hpp"
#include "engines/native/wake_cost.hpp"
#include "engines/native/wariness.hpp"
#include "engines/native/worker.hpp"
#include "engines/protocol/protocol.hpp"
#include "graph/task_flow.hpp"
#include "memory/host_memory.hpp"
#include "scheduling/speed_estimates.hpp"
#include "threads/sleepers.hpp"

#include <limits>
#include <memory>
#include <mutex>

namespace trencadis {

/// The devices as workers behind those of the cores, each of a kind of its own.
EngineParts with_devices(EngineParts parts);

/// Our own workers: one per core, pinned. A worker runs what the scheduler gives it, joins a running operation when there is
/// nothing, spins briefly, then sleeps.
class NativeEngine final : public WorkerProtocol<NativeEngine, Worker, Holder, Wait, Found>, public CallSharing, private View {
    friend WorkerProtocol;

public:
    static constexpr Capabilities abilities{.parallel = true,
                                            .malleable = true,
                                            .emulates_slow = true,
                                            .priorities = true,
                                            .commute = true,
                                            .concurrent_write = true,
                                            .reduction = true,
                                            .nesting = true,
                                            .cancellation = true,
                                            .devices = true};

    explicit NativeEngine(EngineParts parts);
    ~NativeEngine() override; ///< every flow must be gone

    // Executor
    void ready(Task* chain) override;
    void submitting(TaskFlow& flow) override;
    void submitted(Task& task) override;
    void drain(TaskFlow& flow, std::int64_t target) override;
    void wake_owner(TaskFlow& flow) override;
    bool leave_core(Sleeper& sleeper) override;
    void take_back(Sleeper& sleeper) override;
    std::span<const ComputeUnit> units() const override { return units_; }
    Seconds estimate(const Codelet& codelet, Flops flops) const override { return speeds_.expect_best(codelet, flops); }

    // Engine
    int workers() const override { return static_cast<int>(workers_.size()); }
    std::vector<WorkerTime> times() const override;
    Recorder& recorder() override { return recorder_; }
    const Capabilities& capabilities() const override { return abilities; }
    const char* name() const override { return "engine 'native'"; }
    CallSharing* call_sharing() override { return this; }
    KernelSpeeds speeds() const override { return speeds_.seen(); }
    std::vector<DeviceTraffic> traffic() const override { return devices_ ? devices_->traffic() : std::vector<DeviceTraffic>(); }

    KeptData* kept_data() override { return devices_.get(); }
    DeviceArrays* device_arrays() override { return devices_.get(); }
    HostPages* host_pages() override { return devices_ ? &devices_->pages() : nullptr; }

    // CallSharing
    bool attend(TaskFlow& flow, const std::function<void()>& call) override;
    bool shares(Flops flops) const override;
    bool share_out(Index chunks, const std::function<void(Team&)>& work, Flops flops) override;
    bool is_wary() const override;
    std::int64_t line_ns() const override;
    double flops_per_ns() const override { return 1e-9 * parts_.nominal_flops_per_second; }
    void rouse(int helpers, std::int64_t for_ns) override;
    bool is_worth_waking(Flops flops) const override { return recorder_.enabled() || worth_waking(flops) > 0; }
    bool has_room() const override;
    bool are_others_crowded() const override;
    int spinning() const override
    {
        return idle_.load(std::memory_order_relaxed) - (sleepers_.count() - devices_asleep_.load(std::memory_order_relaxed));
    }

private:
    // View
    int kind(WorkerId worker) const override { return workers_[worker]->place.kind; }
    Seconds now() const override;
    bool able(const Task& task, WorkerId worker) const override
    {
        const bool can = units_[std::size_t(worker)].can_run(*task.codelet, task.args);
        if (!is_device(worker)) return can || is_orphan(task);
        return can && devices_->takes(task, device_of(worker));
    }
    const TaskFlow* awaited(WorkerId worker) const override { return workers_[std::size_t(worker)]->awaited; }
    Index chunks_of(const Task& task, WorkerId worker) const override;
    Seconds run_time(const Task& task, WorkerId worker) const override
    {
        if (is_device(worker) && !able(task, worker)) return std::numeric_limits<Seconds>::infinity();
        return task.flops > 0 ? speeds_.expect(worker, *task.codelet, task.flops, now()) : 0;
    }
    Seconds free_at(WorkerId worker) const override;
    Index chunks_left(WorkerId worker) const override;
    double shared_priority(WorkerId worker) const override;
    int shared_node(WorkerId worker) const override;
    Seconds chunk_time(WorkerId owner, WorkerId by) const override;
    int node(WorkerId worker) const override;
    int memories() const override { return devices_ ? devices_->devices() + 1 : memory_.memories(); }
    bool knows_transfers() const override { return devices_ || memory_.knows_transfers(); }
    Seconds transfer_time(const Task& task, WorkerId worker) const override;
    Bytes valid_bytes(const Task& task, WorkerId worker) const override;
    bool holds_written(const Task& task, WorkerId worker) const override;

    // TaskFlowEngine
    const std::function<bool()>* poll_while_waiting(const std::function<bool()>* poll) override;

    // life.cpp: units, who holds a worker
    Holder& holder(const Worker& worker) const;
    Holder& new_holder(Worker& worker);
    void pass(Worker& worker, Holder& self, Holder& next);
    WorkUnit* hold(Holder& holder);
    void pass_worker(Holder& self, Holder& next);
    void introduce(Worker& worker) const;

    // guests.cpp: callers that take part in their own calls
    WorkerId worker_here() const;
    Worker* free_place();
    void arrive(Guest& guest);
    void depart(Guest& guest, const FirstTask& first);
    void give_place_back(const Worker& worker, Holder& own);
    int worth_waking(Flops flops) const;
    void wake_for_call(int count);
    void close_call(Worker& worker, std::int64_t computed);
    std::int64_t await_members(Worker& worker, std::int64_t since);
    void join(Worker& worker, OpenCall& call);
    bool has_work(const Worker& worker) const;
    bool leaves(const Wait& wait, bool wanted) const;
    bool leaves_with(const Wait& wait, const Found& found) const;
    Holder* displaced_by(const Worker& worker) const;

    // Workers by memory node (looking.cpp)
    bool somebody_idle(const Task& task) const;
    void count_idle(const Worker& worker, int change);

    // looking.cpp: finding something to do, or sleep
    Worker* here() const;
    bool disturbed(const Worker& worker, const Wait* wait = nullptr) const;
    bool any_work() const;
    template <class Body> void with_policy(Body&& body)
    {
        std::unique_lock lock(scheduler_lock_, std::defer_lock);
        if (!concurrent_) lock.lock();
        body();
    }
    void locate(Task* chain) const;
    int push(Task* chain, WorkerId from);
    void taken(const Task& task);
    void wake(int count, bool cores_alone = false);
    bool cores_alone(const Task* chain) const;
    bool holds_back(Worker& worker) const;
    void someone_looks() { wake(1); }
    Found look(Worker& worker);
    Found joined(Worker& worker, const Decision& decision);
    Found idle(Worker& worker, Wait* wait);
    Found sleep(Worker& worker, Wait* wait, std::int64_t most_ns, bool& notified);
    int bed_of(const Holder& holder) const { return holder.worker->id + (holder.guest ? workers() : 0); }
    void wake_worker(const Worker& worker);

    // running.cpp
    void act(Worker& worker, Found found);
    void execute(Worker& worker, Task& task, bool offer = false);
    void observe(const Worker& worker, const Task& task, double part, std::int64_t ns);
    Index run_body(Worker& worker, Task& task, SharedWork& work, Index at_a_time = 1, bool joined = false);
    Index chunks_at_a_time(const Worker& worker, const Task& task) const;
    void run_alone(Worker& worker, Task& task, Index chunks);
    void run_shared(Worker& worker, Share& share, bool owner);
    /// What to do with a piece of a task's run.
    auto account(Worker& worker)
    {
        return [this, &worker](const Segment& piece, std::int64_t end_ns) {
            add(worker.busy_ns, end_ns - piece.begin_ns);
            if (recorder_.enabled()) recorder_.record(worker.id, event_of(piece, end_ns));
        };
    }

    // devices.cpp: their workers
    int cores() const { return cores_; }
    bool is_device(WorkerId worker) const { return worker >= cores_; }
    int device_of(WorkerId worker) const { return worker - cores_; }
    int device_count() const { return static_cast<int>(parts_.device_units.size()); }
    /// Two rows of the recorder for each device, behind the workers'.
    WorkerId row_of_copies(int device, bool in) const { return workers() + 2 * device + (in ? 0 : 1); }
    void describe_copies();
    void record_copy(int device, const DeviceDriver::Ended& copy);
    void make_devices();
    bool is_orphan(const Task& task) const;
    std::exception_ptr no_device_for(const Task& task) const;
    void refuse(Worker& worker, Task& task);
    void pass_on(Worker& worker, Task& task);
    bool carry_on(Worker& worker);
    Found idle_device(Worker& worker);
    void start(Worker& worker, Task& task);
    void await(Worker& worker);
    bool fetch(Worker& worker, Task& task);
    void conclude(Worker& worker, Task& task, std::exception_ptr failure, Seconds took)
    {
        if (devices_) devices_->release(task);
        WorkerProtocol::conclude(worker, task, std::move(failure), took);
    }

    // waiting.cpp: owners that wait for their flows
    void drain_tasks(TaskFlow& flow, std::int64_t target);
    void drain_on(Worker& worker, Wait& wait);
    static void ask_caller(TaskFlow& flow);
    static void drain_outside(Wait& wait);
    template <class Body> auto off_the_clock(Worker& worker, Body&& body);
    bool lend(Wait& wait);

    const EngineParts parts_;
    const int cores_; ///< workers on cores; devices come behind
    const std::vector<ComputeUnit> units_;
    const HostMemory memory_;
    bool locates_ = false; ///< the policy asks where data are, and there is more than one answer
    SpeedEstimates speeds_;
    Relief relief_;
    Recorder recorder_;
    std::vector<std::unique_ptr<Worker>> workers_;
    const bool shares_calls_;

    alignas(64) Lock scheduler_lock_;
    std::atomic<std::int64_t> queued_{0}; ///< written under the lock; a hint for those who do not hold it
    alignas(64) std::atomic<int> offers_{0};
    std::atomic<int> idle_{0};                   ///< cores
    bool policy_wakes_all_ = false;              ///< all sleepers, for any task
    std::atomic<int> devices_asleep_{0};         ///< of those that sleepers_ counts
    std::vector<std::atomic<int>> idle_on_node_; ///< the same by node; empty where nodes are not split
    std::atomic<bool> stop_{false};
    OpenCall call_;
    WakeCost wake_cost_;
    LineCost line_cost_;
    Wariness wariness_;                           ///< no open calls meanwhile
    std::atomic<std::int64_t> alert_until_ns_{0}; ///< who is woken looks for work until then
    std::atomic<std::int64_t> woken_at_ns_{0};    ///< workers were, for the open call, and none of them has come yet; else 0
    Sleepers sleepers_;                           ///< the workers' own units by number, then the guests in their places
    std::vector<WorkerId> worker_on_;             ///< by core number; no_worker
    std::unique_ptr<DeviceMemory> devices_;       ///< none: the workers are cores, and nobody moves data
    std::vector<std::unique_ptr<Seat>> seats_;    ///< one per worker; the last member, for they end before what their units use
};

} // namespace trencadis
