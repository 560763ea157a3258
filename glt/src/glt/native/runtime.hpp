#pragma once
#include "glt/native/report.hpp"
#include "glt/native/timer_heap.hpp"
#include "glt/native/worker.hpp"

#include <memory>
#include <vector>

namespace trencadis::ult {

/// All there is between init and finalize.
struct Runtime {
    Settings settings{};
    std::vector<std::unique_ptr<Worker>> workers;
    Inbox<Unit> injected; ///< from foreign threads, for anybody
    unsigned stack_class = 0;
    bool may_spin = false; ///< there is another core that may unlock
    Unit* main = nullptr;
    FiberTrace main_trace;
    std::int64_t spin_ns = 0;

    alignas(64) std::atomic<std::uint64_t> idle{0}; ///< sleepers + searchers << 32
    static constexpr std::uint64_t sleeper = 1, searcher = std::uint64_t{1} << 32;
    alignas(64) std::atomic<bool> stopping{false};
    std::atomic<bool> draining{false}; ///< finalize waits for all to sleep

    Lock timers_lock;
    TimerHeap<Unit> timers;
    std::atomic<std::int64_t> next_deadline{TimerHeap<Unit>::never};
};

extern Runtime* runtime;                           ///< null before init and after finalize
extern std::atomic<std::uint64_t> initialisations; ///< how many there were

inline bool others_idle() { return runtime->idle.load(std::memory_order_relaxed) != 0; }
/// After something was put where others may take it: wakes a worker, unless one is looking anyway.
void wake_one();
inline void notify()
{
    light_fence();
    const std::uint64_t idle = runtime->idle.load(std::memory_order_relaxed);
    if (idle != 0 && idle < Runtime::searcher) [[unlikely]]
        wake_one();
}
/// A unit that is ready, from any thread.
void make_ready(Unit* unit, Turn when = Turn::any);
/// Puts the unit into its home's inbox.
void send_home(Unit* unit);
/// Something that worker `reader` (or, null, anybody) could run or serve, outside of a worker's private queues.
bool anything_to_do(Worker* reader);
/// Wakes those whose time is over; true if there was one.
bool serve_timers();
std::int64_t now_ns();

/// Foreign threads' and the workers' ids of units.
std::uint64_t draw_ids(std::uint64_t count);

inline FiberTrace& trace_of(Unit* unit) { return unit->stack ? unit->stack->trace : runtime->main_trace; }

} // namespace trencadis::ult
