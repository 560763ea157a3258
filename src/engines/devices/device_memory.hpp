#pragma once
#include "base/device_traffic.hpp"
#include "engines/device_arrays.hpp"
#include "engines/devices/device_driver.hpp"
#include "engines/devices/device_pages.hpp"
#include "engines/devices/host_blocks.hpp"
#include "engines/kept_data.hpp"
#include "graph/task_flow.hpp"
#include "memory/claims.hpp"
#include "memory/transfer_queues.hpp"
#include "observe/overlap.hpp"

#include <condition_variable>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace trencadis {

/// The memory of the host (space 0, one whatever its nodes) and of some devices (1, 2, ...): carries the plans of Replicas out
/// for tasks on cores, which wait until their data are at home, and for devices, whose data come while they compute something
/// else. Data in arrays (DeviceArrays) are at home on a device. One lock; drivers are called without it, and nobody is waited for
/// but by who waits for data. Data are known from the first task of a flow that uses them until its owner has waited for it: then
/// they are at home, and the copies are forgotten.
///
/// A fault ends a device: what runs or lies there fails in the calls whose it is, and everybody else goes on without it. A kernel
/// or a copy that finds no memory ends none: it is tried again when room was made, and then its task is a core's, or its call
/// fails.
class DeviceMemory final : public KeptData, public DeviceArrays {
public:
    /// How devices are driven.
    struct Habits {
        int slots = 2;      ///< tasks that each of them takes ahead
        MemoryLog log = {}; ///< called under the lock: it does not call back
    };
    /// `wake(device)`: its worker is to `step`. Any thread.
    DeviceMemory(std::span<const DeviceUnit> devices, Habits habits, std::function<void(int device)> wake);
    ~DeviceMemory();

    int devices() const { return static_cast<int>(stations_.size()); }
    /// Is it a task whose data are kept account of?
    static bool tracks(const Task& task)
    {
        const FlowOptions& options = task.flow->options();
        return task.access_count > 0 && !options.data_brought && options.devices != 0;
    }

    // What policies ask. Any thread.
    /// May the device run it, as far as its data go? Of a task for devices alone a no stays one, and a yes ends with a step that
    /// says `takes_less`.
    bool takes(const Task& task, int device) const;
    Seconds transfer_time(const Task& task, SpaceId space) const;
    Bytes valid_bytes(const Task& task, SpaceId space) const;
    bool holds_written(const Task& task, SpaceId space) const;
    Seconds claimed(int device) const; ///< how long what it has taken should run
    SpaceId space_of(int device) const { return device + 1; }
    std::vector<DeviceTraffic> traffic() const;
    HostPages& pages() { return pages_; }

    // Tasks on cores, and owners.
    /// Returns when its data are in the host's memory. False: they cannot be brought, and its flow has failed. Throws.
    bool fetch(Task& task);
    void release(Task& task); ///< one that was fetched; others do not matter
    /// The owner adds nothing to the flow before it settles: what a device writes for the last time comes home at once.
    void expect_no_more(TaskFlow& flow) noexcept;
    /// Brings home what the tasks of the flow have used, and forgets it. The flow fails where that cannot be done.
    /// `stop`, when there is one, is asked now and then; once it says yes, data stay where they are. It
    /// throws nothing (Session::run).
    void settle(TaskFlow& flow, const std::function<bool()>& stop = {});

    // What outlasts flows (kept.cpp): when a flow has been waited for, its data in kept memory are at home like others, and their
    // copies stay.
    void keep(const void* data, Bytes bytes) override;
    void leave(const void* data) override;
    void touch_kept(const void* data) override;
    void touch(const void* data, Bytes bytes) override;
    bool keeps() const override { return keeps_.load(std::memory_order_relaxed); }

    // Arrays that are at home on devices (arrays.cpp).
    void* allocate(int device, std::size_t bytes) override;
    void* adopt(int device, void* memory, std::size_t bytes) override;
    void give_up(void* array) override;
    void write(const Columns& to, const OnHost& from) override;
    void read(const Columns& from, const OnHost& to) override;
    bool copy(const Columns& to, void* from, std::size_t from_pitch) override;
    int device_of(const void* in_array) const override;
    const void* array_of(const void* in_array) const override;
    void require_there(int device) const override;
    Bytes room(int device) const override;
    bool any() const override { return has_arrays_.load(std::memory_order_relaxed); }
    void give_up_idle() override;

    // A device's worker.
    struct Done {
        Task* task;
        std::exception_ptr failure;
        std::int64_t begin_ns, end_ns;
        bool back = false; ///< it is not over: others are to run it
    };
    /// What a step has seen end.
    struct Progress {
        std::vector<Done> done;
        std::vector<DeviceDriver::Ended> copies;
        bool takes_less = false; ///< the device is lost, or has less memory: others have tasks to do that it took
    };
    int slots() const { return habits_.slots; }
    void claim(int device, Task& task, Seconds expected);
    /// Goes on with whatever can: returns the tasks and the copies that are over.
    Progress step(int device, WorkerId worker);
    /// Has anything happened since the last step began? A worker that says no may sleep until it is woken.
    bool has_news(int device) const;

private:
    using Lock = std::unique_lock<std::mutex>;
    /// A copy that has found no memory.
    struct Starved {
        Transfer transfer;
        devices::Status status;
        int tries;
    };
    /// By a flow that is complete, and not home yet.
    struct LastWritten {
        const void* data;
        const TaskFlow* flow;
    };
    struct Station {
        const std::string& name() const { return driver->unit().device->name(); }
        std::unique_ptr<DeviceDriver> driver;
        Claims claims;
        std::vector<ReleasedBlock> released; ///< whose memory is to be given back
        std::vector<Starved> starved;        ///< to be tried again
        std::deque<LastWritten> going_home;  ///< when nothing else leaves the device
        std::map<TransferId, int> tries;     ///< of those and such of them as have begun again
        std::atomic<bool> news{false};
        std::atomic<bool> dead{false};
        bool takes_less = false;          ///< since its last step
        devices::Status fault;            ///< by which it died
        double bandwidth[2] = {5e9, 5e9}; ///< in and out, as seen lately
        std::vector<double> from_peer;    ///< likewise, from each other device; 0: it is not reached
        Overlap overlap;
        std::vector<ArrayOrder*> orders; ///< not yet begun; whoever waits has them
        Bytes capacity = 0;              ///< for blocks and arrays
        Bytes array_bytes = 0;           ///< of it, for arrays
    };
    struct Launch {
        Task* task;
        std::vector<Operand> operands;
    };
    void call(int device);
    void call_all();
    std::vector<TaskDatum> data_of(const Task& task) const;
    std::vector<TaskDatum> data_at_home(const Task& task) const;
    void note_taken(const Task& task, SpaceId space) const;
    void note_use(TaskFlow& flow, std::span<const TaskDatum> data);
    void add_transfers(std::vector<Transfer>& transfers);
    void acquire_claims();
    std::optional<std::vector<TaskDatum>> await_data(const Task& task, Lock& lock);
    bool is_left_away(std::vector<const void*>& data, const TaskFlow& flow);
    void forget(const void* data, const TaskFlow& flow, bool stopped, Lock& lock);

    // kept.cpp
    struct Kept {
        const char* end;
        std::set<const void*> data = {}; ///< whose copies outlast their flows
        std::ptrdiff_t longest = 0;      ///< that any of them has been, from its first element to behind its last
        std::unique_ptr<PageHold> pages = {};
    };
    Kept& kept_at(const void* data);
    bool is_used(const void* data) const;
    bool keep_copies(const void* data, bool may_stay);
    void make_way(const TaskDatum& datum);
    void forget_copies(Kept& kept, const TaskDatum* meets);

    // going_home.cpp
    void note_last_writes(Station& station, const Task& task) const;
    bool send_home(int device, Station& station, Lock& lock);
    void end_going_home(const TaskFlow& flow);

    // arrays.cpp
    static constexpr SpaceId home_space = 0; ///< of what is in no array
    struct Array {
        const char* end = nullptr;
        int device = 0;
        int holders = 0;
        bool ours = false; ///< allocated here
        Bytes bytes = 0;   ///< then
    };
    SpaceId home_of(const void* data) const;
    const Array* array_around(const void* data) const;
    void* host_place(const Transfer& transfer, BlockId block);
    std::vector<Operand> operands_on_host(const Task& task);
    void require_one_way(const Task& task) const;
    void give_up_host_blocks();
    void fail_where_lost(const void* data);
    void carry_out_orders(int device, Station& station, Lock& lock);
    static bool ask_again(ArrayOrder& order, Station& station);
    void end_order(ArrayOrder& order, devices::Status status);
    void order(int device, ArrayOrder& order, const char* what, Lock& lock);
    void set_limit(int device);
    void add_array(int device, void* begin, std::size_t bytes, bool ours);
    const Array& array_with(const Columns& columns) const;
    void transfer(devices::Queue queue, const Columns& there, const OnHost& host);

    // step.cpp
    bool take_ended(int device, Station& station, Progress& progress);
    bool is_to_be_tried_again(Station& station, const DeviceDriver::Ended& ended);
    void end_transfer(Station& station, const DeviceDriver::Ended& ended);
    static std::exception_ptr failure_of(const Station& station, const DeviceDriver::Ended& ended);
    void end_task(int device, Station& station, const DeviceDriver::Ended& ended, std::vector<Done>& done);
    void give_up_blocks(Station& station, Lock& lock);
    bool start_transfers(int device, Station& station, Lock& lock);
    bool start(int device, Station& station, const Transfer& transfer, Lock& lock);
    bool start_starved(int device, Station& station, Lock& lock);
    void leave_starved(int device, Station& station, const Starved& starved);
    std::vector<Launch> ready_claims(int device, Station& station, Lock& lock);
    bool find_operands(int device, Station& station, const Task& task, std::vector<Operand>& operands, Lock& lock);
    bool find_room(int device, Station& station, BlockId block, Bytes bytes, void*& place, Lock& lock);
    void make_room(int device, Station& station, Lock& lock);
    void lack_memory(const Transfer& transfer);
    bool start_copy_in(int device, Station& station, const Transfer& transfer, Lock& lock);
    void leave_out_waiting(const TaskFlow& flow);
    bool drop_claims(int device, Station& station, std::vector<Done>& done);
    void end_without(const Transfer& transfer, const std::exception_ptr& failure = {});
    Seconds cost(SpaceId from, SpaceId to, Bytes bytes) const;
    bool is_dead(SpaceId space) const { return space != home_space && station_of(space).dead.load(std::memory_order_relaxed); }
    Station& station_of(SpaceId space) const { return *stations_[std::size_t(space - 1)]; }
    static std::exception_ptr error_of(const Station& station, const devices::Status& status, std::string_view where);
    void lose(int device, Station& station, const devices::Status& status);
    void lose_datum(const void* data, const Station& station);
    void fail_users(const void* data, const std::exception_ptr& failure);
    bool is_whole_without(int device, const Task& task, const std::exception_ptr& failure);

    mutable std::mutex mutex_; ///< of everything below but news and dead
    std::condition_variable changed_;
    const Habits habits_;
    const std::function<void(int)> wake_;
    DevicePages pages_; ///< has its own locks
    std::vector<std::unique_ptr<Station>> stations_;
    Replicas replicas_;
    TransferQueues queues_;
    struct OnHostFor {
        std::vector<TaskDatum> data;
        std::vector<Operand> operands; ///< none: all are at home
    };
    std::unordered_map<const Task*, OnHostFor> on_host_; ///< what tasks on cores have
    std::unordered_map<const Task*, const TaskFlow*>
        for_cores_; ///< tasks whose bodies for devices have thrown, or found no memory, or that had data for which there was none
    std::unordered_map<const TaskFlow*, std::vector<const void*>> used_by_;
    std::unordered_set<const TaskFlow*> complete_; ///< all of whose tasks have been submitted
    std::unordered_map<const void*, std::vector<TaskFlow*>> users_;
    std::map<const char*, Kept> kept_;    ///< by where it begins; nothing is in two
    std::atomic<bool> keeps_{false};      ///< anything is there
    std::map<const char*, Array> arrays_; ///< by where it begins; nothing is in two
    std::atomic<bool> has_arrays_{false}; ///< anything is there
    HostBlocks host_blocks_;
    std::vector<ReleasedBlock> host_released_;
};

} // namespace trencadis
