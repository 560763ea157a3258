#pragma once
#include "graph/restartable.hpp"
#include "threads/stoppable.hpp"

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

namespace trencadis {

class Share;
struct Task;

/// A worker's hold on the chunks that it works on in the restartable way. Another worker may take them from it at any time and do them
/// again (backup tasks, Dean and Ghemawat 2004); the word says who has them.
///
/// word = 8 number + state. The worker: held -> preparing (a new number) -> performing -> held. A taker: preparing -> taken, or
/// performing -> taken_with_work, once, and then stops the worker's thread.
/// Invariant: whoever brings the word out of `performing` has the chunks and the worker's place in the operation, and only that one
/// touches the operation's data afterwards. In `preparing` nothing has been changed that is read again, so the taker begins anew; in
/// `performing` the work object is prepared, and the taker gets it and performs it again.
/// Ordering: take acquires what the worker wrote before (its release stores of the word), stop_thread ends what it writes. The
/// terms are stored and loaded with release and acquire: a taker that read those of a later number has also seen the
/// word leave the earlier one, and take fails.
class Lease {
public:
    struct Terms {
        Task* task = nullptr;
        Share* share = nullptr; ///< null: the worker has the operation for itself
        bool owner = false;     ///< the share's
        int node = -1;
        Chunks chunks{0, 0};
    };
    struct Sight {
        std::uint64_t word;
        Terms terms;
        ThreadHandle thread;
        Restartable* work; ///< null: it was still being prepared
    };

    /// The worker. See Relief::run.
    bool run(std::unique_ptr<Restartable> work, const Terms& terms);
    /// Others: what could be taken.
    std::optional<Sight> look() const;
    /// True: the caller has what it saw; `work` too, if there was one. The worker's thread is stopped in it.
    bool take(const Sight& sight);

private:
    enum State : std::uint64_t { held, preparing, performing, taken, taken_with_work };
    static constexpr std::uint64_t states = 8;
    class Body;
    bool step(std::uint64_t number, State from, State to)
    {
        std::uint64_t word = number * states + from;
        return word_.compare_exchange_strong(word, number * states + to, std::memory_order_acq_rel, std::memory_order_relaxed);
    }
    State state() const { return State(word_.load(std::memory_order_acquire) % states); }

    alignas(64) std::atomic<std::uint64_t> word_{held};
    std::atomic<std::uint64_t> left_{0}; ///< the last number that was taken and whose run the worker has left
    std::atomic<Task*> task_{nullptr};
    std::atomic<Share*> share_{nullptr};
    std::atomic<bool> owner_{false};
    std::atomic<int> node_{-1};
    std::atomic<Index> begin_{0}, end_{0};
    std::atomic<pid_t> thread_{0};
    std::atomic<clockid_t> clock_{0};
    std::atomic<Restartable*> work_{nullptr};
};

/// A worker's part in one operation, for the operation's kernels.
class LeasedPart final : public Relief {
public:
    LeasedPart(Lease& lease, const Lease::Terms& terms) : lease_(lease), terms_(terms) {}
    bool run(std::unique_ptr<Restartable> work, Chunks chunks) override
    {
        terms_.chunks = chunks;
        return lease_.run(std::move(work), terms_);
    }

private:
    Lease& lease_;
    Lease::Terms terms_;
};

} // namespace trencadis
