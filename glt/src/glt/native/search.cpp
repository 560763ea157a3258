// Looking for work: the part of a worker's scheduler that is not taken at every dispatch.
#include "glt/native/runtime.hpp"

#include <algorithm>
#include <sched.h>

namespace trencadis::ult {

Unit* Worker::wait_for_next()
{
    for (;;) {
        if (Unit* unit = next()) return unit;
        if (Unit* unit = search()) return unit;
        if (runtime->stopping.load(std::memory_order_acquire)) return nullptr;
    }
}

bool Worker::take_in()
{
    if (strict_inbox.empty() && hints.empty() && runtime->injected.empty()) {
        if (patience_ > 0) --patience_;
        return false;
    }
    // Sender and receiver that meet at each unit pass the inbox's cache line to and fro, which costs both more than the unit
    // does. While they come one by one, some are let gather.
    for (unsigned i = 0; i < patience_; ++i) relax();
    unsigned sent = 0;
    for (Unit *unit = strict_inbox.take_all(), *after; unit; unit = after) {
        after = static_cast<Unit*>(unit->next);
        fifo.push(unit);
        ++sent;
    }
    // Into the deque, where others can have them while this worker is busy.
    for (Inbox<Unit>* inbox : {&hints, &runtime->injected}) {
        const unsigned before = sent;
        for (Unit *unit = inbox->take_all(), *after; unit; unit = after) {
            after = static_cast<Unit*>(unit->next);
            deque.push(unit);
            ++sent;
        }
        if (sent != before) notify();
    }
    constexpr unsigned most_patience = 64, few = 4, many = 32;
    if (sent > 0 && sent < few) patience_ = std::min(most_patience, 2 * patience_ + 4);
    else if (sent > many) patience_ /= 2;
    return sent > 0;
}

/// Units that yielded are private; when others have nothing to do, half of them become anybody's. A few at a time, up to the
/// first that must stay: this is done again and again while others are idle.
void Worker::share()
{
    constexpr std::uint64_t most = 32;
    if (!others_idle() || fifo.size() < 2) return;
    bool some = false;
    for (std::uint64_t left = std::min(most, fifo.size() / 2); left > 0 && !fifo.peek(0)->has(Unit::strict); --left) {
        deque.push(fifo.pop());
        some = true;
    }
    if (some) notify();
}

Unit* Worker::fair_turn()
{
    if (runtime->next_deadline.load(std::memory_order_relaxed) != TimerHeap<Unit>::never) serve_timers();
    take_in();
    if (hot_) {
        fifo.push(hot_);
        hot_ = nullptr;
    }
    share();
    bool lost = false;
    switch (++turns_ % 4) {
    case 1: return deque.steal(lost);
    case 3:
        if (deque.empty())
            if (Unit* unit = steal()) return unit;
        [[fallthrough]];
    default: return fifo.pop();
    }
}

Unit* Worker::steal()
{
    const auto& workers = runtime->workers;
    const unsigned count = static_cast<unsigned>(workers.size()), first = random() % count;
    for (unsigned i = 0; i < count; ++i) {
        Worker& victim = *workers[(first + i) % count];
        if (&victim == this || victim.deque.empty()) continue;
        for (int attempt = 0; attempt < 4; ++attempt) {
            bool lost = false;
            if (Unit* unit = victim.deque.steal(lost)) return unit;
            if (!lost) break;
        }
    }
    for (unsigned i = 0; i < count; ++i) {
        Worker& victim = *workers[(first + i) % count];
        if (&victim == this || victim.hints.empty()) continue;
        Unit* unit = victim.hints.take_all();
        if (!unit) continue;
        for (Unit *rest = static_cast<Unit*>(unit->next), *after; rest; rest = after) {
            after = static_cast<Unit*>(rest->next);
            deque.push(rest);
        }
        return unit;
    }
    return nullptr;
}

/// One look around. True when there is something: `unit`, or in this worker's queues.
bool Worker::look(Unit*& unit)
{
    serve_timers();
    take_in();
    if (hot_ || !fifo.empty() || !deque.empty()) return true;
    unit = steal();
    return unit != nullptr;
}

Unit* Worker::next_or_due()
{
    serve_timers();
    if (Unit* unit = next()) return unit;
    take_in();
    if (Unit* unit = next()) return unit;
    return steal();
}

Unit* Worker::search()
{
    Runtime& all = *runtime;
    all.idle.fetch_add(Runtime::searcher);
    std::int64_t since = 0;
    for (unsigned round = 0;; ++round) {
        Unit* unit = nullptr;
        if (look(unit) || all.stopping.load(std::memory_order_acquire)) {
            // The last to look takes nobody's place: whoever put something meanwhile relied on it.
            const std::uint64_t before = all.idle.fetch_sub(Runtime::searcher);
            if (before >> 32 == 1 && static_cast<std::uint32_t>(before) != 0) {
                heavy_fence();
                if (anything_to_do(nullptr)) wake_one();
            }
            return unit;
        }
        patience_ = 0; // nobody sends
        if (!all.draining.load(std::memory_order_relaxed) && all.spin_ns > 0) {
            for (unsigned i = 0; i < 32 + 8 * (round < 12 ? round : 12u); ++i) relax();
            // Unbound threads may share a core: the one that turns must not keep off the one it waits for.
            if (round % 8 == 7) sched_yield();
            if (all.settings.idle == GLT_IDLE_SPIN) continue;
            const std::int64_t now = now_ns();
            if (since == 0) since = now;
            if (now - since < all.spin_ns) continue;
        }
        sleep();
        since = 0;
    }
}

void Worker::sleep()
{
    Runtime& all = *runtime;
    asleep.store(1, std::memory_order_seq_cst);
    all.idle.fetch_add(Runtime::sleeper - Runtime::searcher);
    heavy_fence(); // from here on whoever puts something sees us asleep, or we see what was put
    if (!all.stopping.load() && !anything_to_do(this)) {
        const std::int64_t deadline = all.next_deadline.load();
        const std::int64_t left = deadline == TimerHeap<Unit>::never ? -1 : std::max<std::int64_t>(0, deadline - now_ns());
        if (left != 0) futex_wait(asleep, 1, left);
    }
    if (asleep.exchange(0) == 1) all.idle.fetch_add(Runtime::searcher - Runtime::sleeper); // else the waker counted us
}

void wake_one()
{
    static std::atomic<unsigned> turn{0};
    const auto& workers = runtime->workers;
    const std::size_t count = workers.size(), first = turn.fetch_add(1, std::memory_order_relaxed);
    for (std::size_t i = 0; i < count; ++i)
        if (workers[(first + i) % count]->wake()) return;
}

bool anything_to_do(Worker* reader)
{
    if (!runtime->injected.empty()) return true;
    if (reader && !reader->strict_inbox.empty()) return true;
    for (const auto& worker : runtime->workers)
        if (!worker->deque.empty() || !worker->hints.empty()) return true;
    const std::int64_t deadline = runtime->next_deadline.load();
    return deadline != TimerHeap<Unit>::never && deadline <= now_ns();
}

void send_home(Unit* unit)
{
    Worker& home = *runtime->workers[unit->home];
    home.strict_inbox.push(unit);
    light_fence();
    home.wake();
}

void make_ready(Unit* unit, Turn when)
{
    if (Worker* worker = this_worker()) return worker->ready(unit, when);
    if (unit->has(Unit::strict)) return send_home(unit);
    runtime->injected.push(unit);
    notify();
}

} // namespace trencadis::ult
