#pragma once
#include "engines/messages/message_flow.hpp"
#include "engines/protocol/protocol.hpp"
#include "engines/simulated/kernel_table.hpp"
#include "engines/simulated/virtual_time.hpp"
#include "engines/simulated/worker.hpp"
#include "graph/task_flow.hpp"
#include "machine/routes.hpp"
#include "memory/transfer_queues.hpp"

#include <map>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

namespace trencadis::simulated {

/// Runs flows on a described machine in virtual time. Workers are actors, one at a time; kernels are not computed but take what
/// the machine says; the policy, the flow and the bodies that submit are those of real runs.
///
/// An idle worker is not woken to look for work. Whoever changes what a policy may answer asks the policy for all idle workers
/// (serve) and wakes those that got something: the same order of events, and no actor runs in vain.
///
/// Any call of VirtualTime but now() may let other actors run, so the state is whole before each, and wake-ups are collected
/// until the caller pauses.
class VirtualEngine final : public WorkerProtocol<VirtualEngine, Worker, Holder, Wait, Found>,
                            public ReportsSimulation,
                            private View {
    friend WorkerProtocol;

public:
    static constexpr Capabilities abilities{.parallel = true,
                                            .malleable = true,
                                            .computes = false,
                                            .priorities = true,
                                            .commute = true,
                                            .concurrent_write = true,
                                            .reduction = true,
                                            .nesting = true,
                                            .cancellation = true};

    explicit VirtualEngine(EngineParts parts);
    ~VirtualEngine() override { end_kept_flows(); }

    // Executor
    void submitting(TaskFlow& flow) override;
    void ready(Task* chain) override;
    void drain(TaskFlow& flow, std::int64_t target) override;
    void wake_owner(TaskFlow& flow) override;
    bool computes() const override { return false; }
    Seconds estimate(const Codelet& codelet, Flops flops) const override;

    // Engine
    int workers() const override { return static_cast<int>(workers_.size()); }
    std::vector<WorkerTime> times() const override;
    Recorder& recorder() override { return recorder_; }
    std::span<const ComputeUnit> units() const override { return units_; }
    const Capabilities& capabilities() const override { return abilities_; }
    const char* name() const override { return "engine 'simulated'"; }
    const ReportsSimulation* simulation() const override { return this; }
    SimulationReport simulation_report() const override;

private:
    // View
    int kind(WorkerId id) const override { return workers_[id]->kind; }
    Seconds now() const override { return time_->now(); }
    bool able(const Task& task, WorkerId id) const override;
    bool on_devices(const Task& task) const;
    bool a_device_can(const Task& task) const;
    Seconds run_time(const Task& task, WorkerId id) const override;
    Seconds free_at(WorkerId id) const override;
    Index chunks_left(WorkerId id) const override;
    double shared_priority(WorkerId id) const override;
    int shared_node(WorkerId id) const override;
    Seconds chunk_time(WorkerId id, WorkerId by) const override;
    int node(WorkerId id) const override { return workers_[id]->space; }
    int memories() const override { return replicas_ ? replicas_->spaces() : 1; }
    bool knows_transfers() const override { return memories() > 1; }
    Seconds transfer_time(const Task& task, WorkerId id) const override;
    Bytes valid_bytes(const Task& task, WorkerId id) const override;
    bool holds_written(const Task& task, WorkerId id) const override;

    const TaskFlow* awaited(WorkerId worker) const override { return workers_[std::size_t(worker)]->awaited; }
    Index chunks_of(const Task& task, WorkerId) const override;

    // TaskFlowEngine
    const std::function<bool()>* poll_while_waiting(const std::function<bool()>* poll) override
    {
        return std::exchange(poll_, poll);
    }
    void submit_to(Flow& flow, const std::function<void(Flow&)>& body) override;

    void add_devices(SimulationReport& report) const;
    void add_kernels(SimulationReport& report) const;
    int first_host(const Worker& worker) const { return worker.device < 0 ? parts_.workers[worker.id].cpu : worker.host; }
    std::vector<Joules> unit_joules() const;
    void add_energy(SimulationReport& report, const std::vector<Joules>& joules) const;

    // platform.cpp
    void add_workers();
    VirtualPlatform platform();
    void make_memory();
    void require_teams_of_cores() const;
    void remap();

    // waiting.cpp
    void run_all(Wait& wait);
    void stop_all();
    [[noreturn]] void report_stuck();
    VirtualTime::Actor start(Worker* worker, std::function<void()> body);
    void start(Worker& worker, Task& task);
    Holder& holder(const Worker& worker) const { return *worker.holder; }
    Holder& new_holder(Worker& worker);
    void begin(Holder& holder);
    void pass(Worker& worker, Holder& self, Holder& next);
    void hold(Holder& holder);
    bool disturbed(const Worker& worker) const { return stop_ || worker.succession.wanted(); }
    Found idle(Worker& worker, Wait* wait);
    void no_longer_idle(Worker& worker);
    bool sleeps(Seconds since) const { return options_.wake_s > 0 && now() - since > options_.spin_s; }
    void account_idle(Worker& worker, Seconds begin);
    void keep_alarm();
    void keep_mapping();
    bool in_vain();
    void wake_worker(Worker& worker);
    Worker* here() const;
    void pause();
    void wake(const Holder& holder) { wakes_.push_back(holder.actor); }
    void send_wakes();

    // choosing.cpp
    int push(Task* chain, WorkerId from);
    void taken(const Task& task);
    bool any_work() const { return !queued_.empty() || offers_ > 0; }
    Crew& crew_of(const Task& task) { return crews_[binds(task.node) && crews_.size() > 1 ? std::size_t(task.node) : 0]; }
    void change(Crew& crew);
    void change_all();
    template <class Body> void with_policy(Body&& body) { body(); }
    void wake(int, bool) {} // `serve` tells them
    void someone_looks() { serve(); }
    bool can_run(const Worker& worker, const Task& task) const { return able(task, worker.id); }
    Found look(Worker& worker);
    Found ask(Worker& worker);
    Found joined(Worker& worker, const Decision& decision);
    void serve();
    bool serve(Crew& crew);
    void ask_again(Seconds in);
    void pay(Worker& worker, Seconds cost);

    // execution.cpp
    void act(Worker& worker, const Found& found);
    void execute(Worker& worker, Task& task, bool offer);
    void run_body(Worker& worker, Task& task);
    void run_kernel(Worker& worker, Task& task, bool offer);
    void occupy(Worker& worker, Operation& operation, EventKind kind);
    Operation& open(Worker& worker, Task& task, bool offer, Seconds since);
    bool somebody_idle(const Task& task) const;
    void call_team(Operation& operation, std::span<const WorkerId> followers);
    Seconds own_chunk_time(const Operation& operation, const Worker& worker) const;
    bool join(Worker& worker, Operation& operation);
    void adjust(Operation& operation);
    void leave(Worker& worker, Operation& operation);
    void conclude(Worker& worker, Task& task, std::exception_ptr failure, Seconds took);
    double noise(const Task& task) const;
    void account(Worker& worker, const Task& task, EventKind kind, Seconds begin);
    void record(Worker& worker, const char* name, std::uint64_t order, Seconds begin, Flops flops, EventKind kind);

    // memory.cpp: what tasks use and where it is; devices
    bool has_memory(const Task& task) const { return replicas_ && task.access_count > 0 && task.depth <= data_depth_; }
    void fetch(Worker& worker, Task& task);
    void note_taken(const Worker& worker, const Task& task) const;
    void release_data(Worker& worker, const Task& task);
    void wait_for_data(Worker& worker);
    void add_traffic(SimulationReport& report, const MemoryStatistics& memory) const;
    void touch_remote(Worker& worker, const std::vector<RemoteUse>& uses);
    Seconds waiting_for_lines(const Worker& worker, const RemoteUse& use) const;
    void await(Worker& worker);
    void run_claim(Worker& worker);
    void end_claim(Worker& worker);
    bool has_slot(const Worker& worker) const { return worker.claims.size() < (options_.overlap ? 2u : 1u); }
    void claim(Worker& worker, Task& task);
    void acquire_claims();
    void queue_behind(Worker& worker, std::span<Transfer> transfers) const;
    void wait_for_fetches(Worker& worker);
    void carry_out(std::vector<Transfer>& transfers);
    void move(TransferQueues::Queue queue);
    void wake_movers();
    void data_changed();

    // messages.cpp: hosts that send each other what they hold
    void make_crews();
    void require_policy_per_host() const;
    Task* send_messages(Task* chain);
    void post(Task& message);
    void carry(Crew& crew, std::size_t which);
    void deliver(Task& message);
    Task* arrive(Task& message);
    void release_copies(const Task& task);
    void add_hosts(SimulationReport& report) const;

    EngineParts parts_;
    const Machine& machine_;
    const SimulationOptions& options_;
    KernelTable kernels_;
    std::optional<Routes> routes_;
    std::vector<double> host_speed_; ///< of the chosen power state
    std::vector<PowerState> power_;  ///< by host: the chosen state
    std::vector<double> asleep_w_;   ///< by host: watts of one that sleeps
    std::unique_ptr<VirtualTime> time_;
    Recorder recorder_;
    std::vector<std::unique_ptr<Worker>> workers_;
    std::vector<ComputeUnit> units_; ///< by worker
    std::vector<std::unique_ptr<Holder>> holders_;
    std::vector<Worker*> by_actor_;
    bool has_energy_ = false;

    Capabilities abilities_ = abilities;
    std::vector<Crew> crews_; ///< one per host where hosts send messages, else one
    std::vector<Crew*> changed_;
    std::unique_ptr<HostBooks> books_;                   ///< where hosts send messages
    std::vector<const Worker*> different_;               ///< a worker of each type and speed
    std::vector<VirtualTime::Actor> wakes_, interrupts_; ///< to be told at the next pause
    std::unordered_set<const Task*> queued_;
    Task* root_ = nullptr; ///< the body that the simulation was started with: the first worker runs it, whatever the policy
    std::vector<WorkerId> devices_;
    int offers_ = 0;
    Seconds again_at_; ///< when the policy wants to be asked anew
    VirtualTime::Actor alarm_ = -1, mapper_ = -1;
    int vain_ = 0; ///< times that the alarm or the mapper went off since anything was done
    bool stop_ = false, stuck_ = false, running_ = false;
    Seconds lock_free_at_ = 0;
    const std::function<bool()>* poll_ = nullptr;
    std::mt19937_64 mapping_;

    std::unique_ptr<Replicas> replicas_;
    int data_depth_ = -1; ///< depth of the tasks whose data are tracked; tasks inside them use what they brought
    std::optional<TransferQueues> transfers_; ///< where there are several memories, as the replicas
    std::vector<Mover> movers_;               ///< by queue
    std::vector<TaskDatum> data_;             ///< scratch of data_of
    mutable std::vector<TaskDatum> asked_;
    std::vector<VirtualTime::Actor> data_waiters_;

    struct KernelCount {
        std::int64_t calls = 0;
        Seconds total_s = 0;
        Flops flops = 0;
    };
    std::map<std::pair<std::string_view, int>, KernelCount> per_kernel_; ///< by name and type of core or device
    std::int64_t tasks_ = 0, untimed_ = 0, since_poll_ = 0;
    Seconds makespan_ = 0;
    std::vector<Joules> joules_; ///< by host, at the end
};

} // namespace trencadis::simulated
