#pragma once
#include "devices/device.hpp"

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <map>
#include <mutex>
#include <vector>

namespace trencadis::devices {

/// The marks of one queue whose driver tells when it has come to them: on threads of its own, in any order, perhaps more than
/// once. Completions are called in the order of the marks, one at a time, and have returned when a mark is seen as reached.
class Marks {
public:
    /// `before`: what has gone wrong already, which then is its status.
    std::uint64_t add(Completion done, Status before);
    /// The queue has come to it. The first word counts, so that a loss that is told for all ends them.
    void arrive(std::uint64_t mark, const Status& status);
    void arrive_all(const Status& status);
    /// Called when the mark is reached, at once where it was.
    void when_reached(std::uint64_t mark, Completion told);

    /// What is known by now of how it will be reached.
    Status foreseen(std::uint64_t mark) const;

    bool knows(std::uint64_t mark) const;
    bool reached(std::uint64_t mark) const;
    Status wait(std::uint64_t mark) const;

private:
    struct Pending {
        std::vector<Completion> told = {};
        bool arrived = false;
        Status status = {};
    };
    std::size_t place(std::uint64_t mark) const { return std::size_t(mark - reached_ - 1); }
    Status status_of(std::uint64_t mark) const;
    void tell(std::unique_lock<std::mutex>& lock);

    mutable std::mutex mutex_;
    mutable std::condition_variable changed_;
    std::uint64_t reached_ = 0;
    std::deque<Pending> pending_; ///< from the one behind reached_ on
    bool telling_ = false;        ///< a thread is calling completions, and will call those that come meanwhile
    std::map<std::uint64_t, Status> bad_;
};

} // namespace trencadis::devices
