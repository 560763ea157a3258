#pragma once
#include "engines/engine.hpp"
#include "engines/native/relief.hpp"
#include "engines/native/share.hpp"
#include "engines/protocol/protocol.hpp"
#include "observe/stopwatch.hpp"
#include "threads/lock.hpp"
#include "threads/parker.hpp"
#include "threads/patience.hpp"
#include "threads/reluctance.hpp"

#include <array>
#include <atomic>
#include <memory>
#include <vector>

namespace trencadis {

struct Guest;
struct Worker;
class OpenCall;
class TaskFlow;

/// A unit that can hold a worker.
struct Holder : HolderState<Worker> {
    WorkUnit* unit = nullptr;
    Guest* guest = nullptr; ///< itself, when it is one
};

/// A thread of the program that takes part in its own call: it holds the place of a worker whose unit sleeps, and gives it back
/// when the call is over, lasts long, or when the worker is wanted for something else. Lives on the caller's stack.
struct Guest final : Holder {
    Guest(Worker& its, Holder& sleeper, TaskFlow& calls) : Holder{{&its}}, displaced(&sleeper), flow(calls) { guest = this; }
    Holder* displaced;         ///< whose place it has
    TaskFlow& flow;            ///< its call
    std::int64_t until_ns = 0; ///< it goes then, at the next task
    Parker parker;             ///< where it waits while it has handed the worker over
};

class NativeEngine;

/// An owner that waits for its flow. Lives on the owner's stack until it was woken.
struct Wait : WaitState<Holder> {
    NativeEngine* engine = nullptr; ///< of the worker
    Worker* worker = nullptr;       ///< none: a thread that is not a worker
    int bed = 0;                    ///< where it sleeps as one
    Parker parker{};
};

/// What a worker found to do: a task, or a shared operation or call that it is now a member of.
struct Found {
    Task* task = nullptr;
    Share* share = nullptr;
    OpenCall* call = nullptr;
    bool offer = false;        ///< let others join the task from its beginning
    std::int64_t again_ns = 0; ///< found nothing; worth another look after so long, 0: only when something happens
    explicit operator bool() const { return task || share || call; }
};

/// One core's place in an engine.
struct alignas(128) Worker : WorkerState<Holder> {
    static constexpr std::int64_t never = std::int64_t{1} << 62;
    WorkerPlace place;
    std::vector<std::unique_ptr<Holder>> holders; ///< changed by the holder
    Seat* seat = nullptr;                         ///< whose units the holders are

    // The holder's own.
    Stopwatch stopwatch;
    std::array<Share, 8> shares;
    int lent = 0; ///< units that wait for flows of other engines
    Patience patience;
    Reluctance reluctance;
    Holder* resting = nullptr; ///< who sleeps and has said that its place is free
    std::int64_t idle_since_ns = 0;
    std::int64_t woke_ns = 0; ///< its own unit, by somebody, the last time

    Share* unused_share() ///< null when every one still has a member that was preempted
    {
        for (Share& share : shares)
            if (share.unused()) return &share;
        return nullptr;
    }

    // Written by the holder, read by anybody.
    std::atomic<Share*> offer{nullptr};
    std::atomic<std::int64_t> runs_since_ns{0};   ///< 0: it runs nothing
    std::atomic<std::int64_t> expected_ns{never}; ///< how long that should take; never: not known
    std::atomic<std::int64_t> busy_ns{0}, tasks{0}, joined{0};

    Relief::Post relief;
};

/// Adds to a counter that only the caller writes.
inline void add(std::atomic<std::int64_t>& counter, std::int64_t amount)
{
    counter.store(counter.load(std::memory_order_relaxed) + amount, std::memory_order_relaxed);
}

/// Emulates a slow core: sleeps after each piece of work for as long as the slow core would have needed in addition.
class SlowPace final : public Pace {
public:
    explicit SlowPace(double fraction);
    void between_chunks() override;

private:
    const double extra_; ///< seconds to pause per second worked
    std::int64_t since_;
};

} // namespace trencadis
