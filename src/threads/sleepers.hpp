#pragma once
#include "threads/futex.hpp"

#include <cstdint>
#include <memory>

namespace trencadis {

/// Where those sleep who find nothing to do, each in a bed of its own, so that they can be woken by number and so that the place
/// of one who sleeps can be given to somebody else meanwhile.
///
/// A sleeper calls prepare, looks once more, then wait or cancel; a producer changes something, then calls notify. The orders
/// that matter: what prepare stores before the look, and the producer's change before what notify loads, each with a full fence
/// in between. Then either the look sees the change, or notify sees the sleeper: both the count and the state, since both were
/// stored before the fence. The count is raised before the state says so and lowered after, hence never too low.
/// Literature: Vyukov's eventcount, with a word for each sleeper.
class Sleepers {
public:
    explicit Sleepers(int beds) : beds_(std::make_unique<Bed[]>(std::size_t(beds))), count_(beds) {}

    // The sleeper.
    void prepare(int bed);
    bool cancel(int bed); ///< false: it was notified
    /// Until notified, or about `most_ns` (negative: no limit) have passed; true: notified. `place_is_free`: see displace.
    bool wait(int bed, std::int64_t most_ns, bool place_is_free);
    /// One who is awake gives its place away as by displace, and waits until it has it back.
    void give_place(int bed) { beds_[bed].state.store(displaced, std::memory_order_release); }
    void await_place(int bed);

    // Others.
    /// So many, but none in the beds from `spared` up to `spared_end`, who look for something else.
    void notify(int count, int spared = 0, int spared_end = 0);
    void notify_all() { notify(count_); }
    void notify_one(int bed); ///< whether it sleeps already or is about to
    /// Takes the place of one who sleeps and said that it is free: notify passes it over until call_back or restore. One at a
    /// time.
    bool displace(int bed);
    void call_back(int bed); ///< the one displaced has its place again, and is woken
    void restore(int bed);   ///< it has its place again, and sleeps on
    int count() const { return sleepers_.load(std::memory_order_relaxed); }
    bool is_free(int bed) const { return beds_[bed].state.load(std::memory_order_relaxed) == asleep_free; }

private:
    enum State : std::uint32_t { awake, drowsy, asleep, asleep_free, displaced };
    struct alignas(64) Bed {
        std::atomic<std::uint32_t> state{awake};
    };
    bool step(int bed, State from, State to)
    {
        std::uint32_t expected = from;
        return beds_[bed].state.compare_exchange_strong(expected, to, std::memory_order_acq_rel, std::memory_order_relaxed);
    }
    bool wake_up(int bed);
    void full_fence()
    {
#if defined(__SANITIZE_THREAD__)
        sleepers_.fetch_add(0, std::memory_order_seq_cst); // the sanitizer does not model fences
#else
        std::atomic_thread_fence(std::memory_order_seq_cst);
#endif
    }

    std::unique_ptr<Bed[]> beds_;
    const int count_;
    alignas(64) std::atomic<int> sleepers_{
        0}; ///< beds that are drowsy or asleep; never fewer; whoever takes one out of that counts it down
};

} // namespace trencadis
