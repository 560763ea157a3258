#pragma once
#include "engines/protocol/protocol.hpp"
#include "engines/simulated/chunk_plan.hpp"
#include "engines/simulated/virtual_time.hpp"
#include "graph/task_flow.hpp"
#include "memory/claims.hpp"

#include <cstdint>
#include <queue>
#include <string>
#include <vector>

namespace trencadis::simulated {

struct Worker;
struct Crew;

/// A kernel that one worker runs and others may join.
struct Operation {
    Operation(Task& which, Worker& who, Index count, Seconds since)
        : task(which), owner(who), chunks(count), begin(since), plan(count)
    {
    }

    Task& task;
    Worker& owner;
    const Index chunks;
    const Seconds begin;
    ChunkPlan plan;
    double noise = 1;
    bool offered = false;
    bool fixed = false; ///< a fixed team with a time of its own: all members end together, at fixed_end
    Seconds fixed_end = 0;
    std::vector<Worker*> expected; ///< of a fixed team: followers that are still to come
    std::vector<Worker*> members;  ///< by their number in the plan; none: has left
    int inside = 0;
    int counted = 0; ///< members when their ends were worked out
    double loss = 1; ///< by which their chunks took longer then
    Seconds end(int member) { return fixed ? fixed_end : plan.end(member); }
    Index left(Seconds now) { return fixed ? static_cast<Index>(expected.size()) : plan.left(now); }
    bool has_chunk_at(Seconds time) { return fixed ? !expected.empty() : plan.has_chunk_at(time); }
};

/// An actor that can hold a worker.
struct Holder : HolderState<Worker> {
    VirtualTime::Actor actor = -1; ///< none: it has not begun
    static constexpr bool guest = false;
};

/// An owner that waits for its flow.
struct Wait : WaitState<Holder> {
    Worker* worker = nullptr; ///< none: the thread that the simulation was started from
};

/// What a worker found to do.
struct Found {
    Task* task = nullptr;
    Operation* operation = nullptr; ///< that it has joined
    bool offer = false;
    explicit operator bool() const { return task || operation; }
};

/// A worker: a thread on a core, or a device with the thread that drives it.
struct Worker : WorkerState<Holder> {
    std::string name, kind_name;
    int kind;  ///< as a policy sees it, for good
    int type;  ///< of the core or device it is on now (KernelTable)
    int host;  ///< likewise (VirtualPlatform)
    int space; ///< its memory
    Crew* crew = nullptr;
    int device = -1; ///< index into Machine::devices

    Holder* holder = nullptr;
    bool idle = false;
    Seconds idle_since = 0;
    Found found; ///< given to it while it was idle

    Operation* runs = nullptr; ///< that it is a member of
    int member = 0;
    Operation* offer = nullptr;      ///< its own that others may join
    Operation* called = nullptr;     ///< of its leader that it has to join
    const Task* waits_for = nullptr; ///< whose data have not arrived
    int inside_body = 0;             ///< bodies that submit, begun and not over
    double pace = 1;                 ///< time taken over time expected, lately
    Claims claims;
    TransferId last_fetch = no_transfer; ///< from another device, that its thread waits for (fetch_and_wait)
    bool served = false;                 ///< of a device: the others were, since it took a task or found none

    Seconds busy = 0;
    Seconds polling = 0, asleep = 0;
    std::int64_t tasks = 0, shares = 0;
};

/// What a host is to send: the most urgent first, of equals what was submitted first.
class Outbox {
public:
    void add(Task& message)
    {
        waiting_.push(
            {message.priority.load(std::memory_order_relaxed), message.order.load(std::memory_order_relaxed), &message});
    }
    Task* take()
    {
        if (waiting_.empty()) return nullptr;
        Task* const first = waiting_.top().message;
        waiting_.pop();
        return first;
    }

private:
    struct Entry {
        double priority;
        std::uint64_t order;
        Task* message;
        bool operator<(const Entry& other) const
        {
            return priority != other.priority ? priority < other.priority : order > other.order;
        }
    };
    std::priority_queue<Entry> waiting_;
};

/// Who carries messages of a host, one after the other.
struct Carrier {
    VirtualTime::Actor actor = -1;
    bool waits = false;
};

/// Workers that are served together: those of one host, or all.
struct Crew {
    std::vector<WorkerId> seekers; ///< idle, the one that has been for longest first
    std::int64_t queued = 0;       ///< tasks with the policy
    int offers = 0;
    bool changed = false; ///< what its policy would answer, since it was asked
    Outbox outbox;
    std::vector<Carrier> carriers;
};

/// Who carries out one queue of transfers, one after the other.
struct Mover {
    VirtualTime::Actor actor = -1;
    bool waits = false;
};

} // namespace trencadis::simulated
