#pragma once
#include "base/float_modes.hpp"
#include "engines/native/membership.hpp"
#include "graph/team.hpp"

#include <atomic>
#include <exception>
#include <functional>
#include <utility>

namespace trencadis {

/// A call whose caller computes, and which workers that are awake may join: a fork and a join without a task. One at a time.
class OpenCall {
public:
    using Work = std::function<void(Team&)>;

    // The caller: claim, open, its own part, close, retire.
    bool claim() { return members_.claim(); }
    void open(const Work& work, Index chunks)
    {
        work_ = &work;
        modes_ = FloatModes::current();
        raised_.store(0, std::memory_order_relaxed);
        chunks_.reset(chunks, 1);
        members_.open();
    }
    void compute()
    {
        Team team(chunks_);
        (*work_)(team);
    }
    /// Nobody may join any more. True: nobody is inside.
    bool close() { return members_.leave(true); }
    bool deserted() const { return members_.deserted(); }
    void sleep(std::int64_t most_ns) { members_.sleep(most_ns); } ///< until it is, at most for so long
    FloatModes::Raised raised() const { return raised_.load(std::memory_order_relaxed); }
    /// Returns how a member failed.
    std::exception_ptr retire()
    {
        std::exception_ptr failure = std::exchange(failure_, nullptr);
        failed_.store(false, std::memory_order_relaxed);
        members_.retire();
        return failure;
    }

    // Others.
    bool try_join() { return chunks_.remaining() > 0 && members_.try_join(); }
    /// A member's part, after which it has left.
    void take_part()
    {
        {
            const FloatScope modes(modes_);
            Team team(chunks_, nullptr, 1, true);
            try {
                (*work_)(team);
            } catch (...) { // one that fails before it has taken anything has only not helped
                if (team.taken() > 0 && !failed_.exchange(true, std::memory_order_relaxed)) failure_ = std::current_exception();
            }
            raised_.fetch_or(modes.raised(), std::memory_order_relaxed);
        }
        members_.leave(false);
    }

private:
    alignas(64) Membership members_;
    const Work* work_ = nullptr; ///< the caller's, as long as there are members
    FloatModes modes_;
    std::atomic<FloatModes::Raised> raised_{0};
    std::atomic<bool> failed_{false};
    std::exception_ptr failure_; ///< written by the first that failed; read by the caller when all have left
    SharedWork chunks_;
};

} // namespace trencadis
