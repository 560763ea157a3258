#include "engines/native/lease.hpp"

#include <sched.h>

namespace trencadis {

/// The two steps, as far as nobody takes over.
class Lease::Body final : public Stoppable {
public:
    Body(Lease& lease, Restartable& work, std::uint64_t number) : lease_(lease), work_(work), number_(number) {}
    bool finished() const { return finished_; }

private:
    void body() override
    {
        work_.prepare();
        if (!lease_.step(number_, preparing, performing)) return;
        work_.perform();
        finished_ = lease_.step(number_, performing, held);
    }
    bool stopped() const override
    {
        const State state = lease_.state();
        return state == taken || state == taken_with_work;
    }

    Lease& lease_;
    Restartable& work_;
    const std::uint64_t number_;
    bool finished_ = false;
};

bool Lease::run(std::unique_ptr<Restartable> work, const Terms& terms)
{
    const ThreadHandle thread = ThreadHandle::mine();
    task_.store(terms.task, std::memory_order_release);
    share_.store(terms.share, std::memory_order_release);
    owner_.store(terms.owner, std::memory_order_release);
    node_.store(terms.node, std::memory_order_release);
    begin_.store(terms.chunks.begin, std::memory_order_release);
    end_.store(terms.chunks.end, std::memory_order_release);
    thread_.store(thread.id, std::memory_order_release);
    clock_.store(thread.clock, std::memory_order_release);
    work_.store(work.get(), std::memory_order_release);
    const std::uint64_t number = word_.load(std::memory_order_relaxed) / states + 1;
    word_.store(number * states + preparing, std::memory_order_release);
    Body body(*this, *work, number);
    if (body.run() && body.finished()) return true;
    if (state() == taken_with_work) work.release(); // the taker's now
    left_.store(number, std::memory_order_release);
    return false;
}

std::optional<Lease::Sight> Lease::look() const
{
    const std::uint64_t word = word_.load(std::memory_order_acquire);
    const State state = State(word % states);
    if (state != preparing && state != performing) return std::nullopt;
    constexpr auto acquire = std::memory_order_acquire;
    return Sight{word,
                 {task_.load(acquire),
                  share_.load(acquire),
                  owner_.load(acquire),
                  node_.load(acquire),
                  {begin_.load(acquire), end_.load(acquire)}},
                 {thread_.load(acquire), clock_.load(acquire)},
                 state == performing ? work_.load(acquire) : nullptr};
}

bool Lease::take(const Sight& sight)
{
    if (!step(sight.word / states, sight.work ? performing : preparing, sight.work ? taken_with_work : taken)) return false;
    // Where the system refuses to stop it, it must come out by itself.
    if (!stop_thread(sight.thread))
        while (left_.load(std::memory_order_acquire) < sight.word / states) sched_yield();
    return true;
}

} // namespace trencadis
