#pragma once
#include "engines/own/own_flow.hpp"
#include "engines/own/unfinished.hpp"
#include "engines/starpu/messages.hpp"
#include "engines/starpu/named_memory.hpp"
#include "engines/starpu/tenancy.hpp"
#include "graph/owner_computes.hpp"

#include <atomic>
#include <unordered_map>
#include <vector>

namespace trencadis {

/// A flow of several processes: all of them submit the same tasks in the same order, on names that mean memory of their owner's.
/// Each task runs on one process, what it reads from others is sent there
/// (OwnerComputes); what others do is only walked through. Tasks are held as StarpuFlow holds them, those of others too, for the
/// longest way to the end leads through all of them.
///
/// It goes on after a failure or a cancellation here, without running tasks, since others wait for what it sends.
/// Writers that may come together come one at a time, and reductions add to the datum itself.
class SharedFlow final : public OwnFlow {
public:
    SharedFlow(StarpuTenancy& tenancy, StarpuGroup& group, NamedMemory& memory, const Home& home, const RunOptions& options,
               const AtHome& at_home);
    ~SharedFlow() override;

    Sent sent() const { return {sent_messages_, sent_bytes_}; } ///< when it was waited for

private:
    using Number = OwnerComputes::Number;
    struct Registered {
        Datum datum; ///< at home where this process has it
        Number number;
        StarpuRuntime::Handle handle = nullptr;          ///< null: nothing is known of it here
        std::shared_ptr<NamedMemory::Value> memory = {}; ///< of a name
    };
    struct Ticket final : StarpuTicket {
        Ticket(SharedFlow& to, std::unique_ptr<OwnTask> submitted) : flow(to), task(std::move(submitted)) {}
        void run(int worker, void* const* places) override;
        void ready() override;

        SharedFlow& flow;
        std::unique_ptr<OwnTask> task;
        std::vector<std::uint32_t> places; ///< of each access among the data that StarPU knows of the task
        std::vector<std::shared_ptr<NamedMemory::Value>> uses;
    };
    void hand_over(std::unique_ptr<OwnTask> task) override;
    void await_all() override;
    void require_first_shape(const OwnTask& task);
    void submit_held();
    void submit(std::unique_ptr<OwnTask> task, double derived);
    void give(std::unique_ptr<OwnTask> task, double priority);
    void move(const OwnerComputes::Move& move, double priority);
    void drop(Number number);
    Registered& known(const Datum& datum);
    StarpuRuntime::Handle handle_of(Registered& datum, bool overwrites);
    void run(Ticket& ticket, int worker, void* const* places);
    /// A message that is under way, and the memory that it needs.
    struct Message {
        SharedFlow& flow;
        std::shared_ptr<NamedMemory::Value> memory;
    };
    static void arrived(void* message);

    StarpuTenancy& tenancy_;
    StarpuGroup& group_;
    const AtHome& at_home_;
    Interruption interruption_;
    const std::size_t most_held_;
    OwnerComputes plan_;
    NamedMemory& memory_;
    Unfinished unfinished_;
    std::unordered_map<const void*, Registered> data_;
    std::unordered_map<const void*, Datum> first_named_; ///< of what was handed over; what is known and sent has that shape
    std::vector<Registered*> numbered_;
    std::vector<std::unique_ptr<OwnTask>> held_;
    std::vector<OwnerComputes::Use> uses_;
    std::vector<StarpuRuntime::Use> given_;
    /// The number of a message between two processes, which both count alike. It is its tag: were it the datum's, a later value
    /// could overtake an earlier one, since each message has the priority of its task.
    std::vector<std::int64_t> sent_to_, received_from_;
    std::int64_t sent_messages_ = 0;
    double sent_bytes_ = 0;
    StarpuRuntime& starpu_; ///< the last: what is begun is ended by the destructor
};

} // namespace trencadis
