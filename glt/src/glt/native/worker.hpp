#pragma once
#include "glt/native/deque.hpp"
#include "glt/native/inbox.hpp"
#include "glt/native/ring.hpp"
#include "glt/native/stacks.hpp"
#include "glt/native/unit.hpp"

#include <pthread.h>

namespace trencadis::ult {

/// When a unit that was woken goes on, if that is on the waker's thread: at once, behind what stands in the fifo, or as it comes.
enum class Turn : std::uint8_t { any, next, last };

/// What remains to be done for the context just left, by whoever runs next on the thread: only then is it whole.
struct Departure {
    enum Action : std::uint8_t { none, park, send, shelve };
    void** sp = nullptr; ///< where the context goes
    Action action = none;
    Unit* unit = nullptr;       ///< park: unless it was woken meanwhile; send: to its home
    std::uint64_t sequence = 0; ///< park: of its wait
    Stack* stack = nullptr;     ///< shelve: into the cache
    FiberTrace* trace = nullptr;
};

/// The C++ runtime's record of exceptions being handled is kept per thread; a unit that leaves its core takes its own along.
struct Exceptions {
    void* caught = nullptr;
    unsigned int uncaught = 0;
};

/// One operating system thread: its queues and its scheduler. Fields without a word about others are its own.
///
/// Where a unit waits for its turn:
///   deque    new units and those anybody may run: newest first here, oldest first for thieves
///   fifo     units that yielded or were woken here, and strict ones
///   hot      the joiner of the unit that just ended: it goes on at once, which keeps deep recursion depth-first
///   strict   inbox of units that run here only; hints: inbox of units that should, but others may take them
/// Every `turn` dispatches fifo and inboxes come first, then the oldest of the deque, then other workers' units: so no unit that
/// is ready waits for ever, whatever the others do.
class Worker {
public:
    explicit Worker(unsigned worker_number) : number(worker_number), random_(2654435761u * (worker_number + 1)) {}

    /// What runs next here; null when there is nothing. Does not wait.
    Unit* next()
    {
        if ((++tick_ & (turn - 1)) == 0) [[unlikely]]
            if (Unit* unit = fair_turn()) return unit;
        if (hot_) [[unlikely]] {
            Unit* unit = hot_;
            hot_ = nullptr;
            return unit;
        }
        if (Unit* unit = deque.pop()) return unit;
        if (Unit* unit = fifo.pop()) return unit;
        if (strict_inbox.empty() && hints.empty()) [[likely]]
            return nullptr;
        take_in();
        if (Unit* unit = deque.pop()) return unit;
        return fifo.pop();
    }
    /// Waits for something to run; null when the runtime stops.
    Unit* wait_for_next();

    /// As next, after serving timers and looking at the others' queues.
    Unit* next_or_due();
    void yield(Unit* self);
    /// The calling unit leaves until it is woken; the wait is `sequence`.
    void park(Unit* self, std::uint64_t sequence);
    /// The calling unit goes on on its (new) home.
    void move(Unit* self);
    /// The calling unit leaves to `unit` (null: to look for work). It has a place in a queue, or gets one by `departure`. It
    /// stays where it yields, or its wait is over, and there is no memory for the stack to go to.
    void switch_to(Unit* unit, Unit* self);
    /// Takes `unit` out of this worker's queues, if it is there.
    bool claim(Unit* unit);
    /// The stack `me`, between two units, goes to the cache and the thread to `unit` (null: back to serve, to end).
    void leave(Stack* me, Unit* unit);
    /// Runs the tasklet on the stack of the calling unit, which joins it, if it is the newest here and there is room.
    bool run_here(Unit* tasklet);
    void serve(); ///< the operating system thread's function, on its own stack
    /// First thing after a switch: what the context just left still needs.
    void arrived(boost::context::detail::transfer_t transfer, FiberTrace& here);

    /// A unit that is ready, from this worker: into a queue of it, or to its home.
    void ready(Unit* unit, Turn when = Turn::any);
    bool wake(); ///< true if it slept

    // Read by all.
    Deque<Unit> deque;
    Inbox<Unit> strict_inbox, hints;
    alignas(64) std::atomic<std::uint32_t> asleep{0}; ///< 1 while it sleeps or is about to

    // The worker's own.
    alignas(64) Unit* current = nullptr; ///< null between units
    Departure departure;
    Exceptions* exceptions = nullptr;
    Unit* given = nullptr;    ///< to the stack being entered
    Stack* entered = nullptr; ///< the stack being entered
    Ring<Unit> fifo;
    SlotCache units, objects;
    StackCache stack_cache;
    std::uint64_t next_id = 0, end_of_ids = 0;
    const unsigned number;
    void* base_sp = nullptr; ///< of serve()
    FiberTrace base_trace;
    pthread_t thread{};
    int cpu = -1;
    void* signal_stack = nullptr;

private:
    static constexpr unsigned turn = 32;
    Unit* fair_turn();
    bool take_in();
    void share();
    Unit* steal();
    Unit* search();
    bool look(Unit*& unit);
    void sleep();
    Stack* stack_for(const Unit* unit);
    [[gnu::cold]] Unit* without_stack(Unit* unit, Unit* self, Stack*& stack);
    [[gnu::cold]] void tell_of_memory(const Unit* unit);
    void* aim_at(Unit* unit, FiberTrace*& trace, Unit* self);
    unsigned random()
    {
        random_ ^= random_ << 13;
        random_ ^= random_ >> 17;
        return random_ ^= random_ << 5;
    }

    Unit* hot_ = nullptr;
    unsigned tick_ = 0, turns_ = 0;
    unsigned random_;
    unsigned patience_ = 0;  ///< turns before the inboxes are emptied, while units come one by one
    unsigned fruitless_ = 0; ///< yields in a row with nothing else to run
    std::int64_t told_ = 0;  ///< when it last said that there is no memory for a stack
};

/// The calling thread's worker, null in a foreign thread. A call, for use after a switch: the compiler may keep the address of a
/// thread-local variable, but the unit may be on another thread by then.
Worker* this_worker();
extern constinit thread_local Worker* worker_here [[gnu::tls_model("initial-exec")]];

} // namespace trencadis::ult
