#pragma once
#include "base/types.hpp"
#include "graph/task.hpp"
#include "memory/replicas.hpp"

#include <cstddef>
#include <deque>
#include <exception>
#include <vector>

namespace trencadis {

/// As a transfer notes it.
inline std::int64_t order_of(const Task& task) { return static_cast<std::int64_t>(task.order.load(std::memory_order_relaxed)); }

/// The tasks that a device has taken, in the order in which it runs them, whose data it fetches or has: the next one's come while
/// one runs. A plain object, like Replicas.
class Claims {
public:
    struct Claim {
        Task* task;
        bool acquired = false;
        bool impossible = false;         ///< its data do not fit
        bool begun = false;              ///< its kernels are in the device's queue
        bool broken = false;             ///< its memory could not be had
        bool missed = false;             ///< what it reads did not come; it may be elsewhere as well
        std::exception_ptr failure = {}; ///< why it is impossible, when that is not it, or why what it reads did not come
        std::vector<TransferId> wait_for = {};
        Seconds expected = 0;
    };

    bool empty() const { return claims_.empty(); }
    std::size_t size() const { return claims_.size(); }
    const Claim& front() const { return claims_.front(); }
    auto begin() const { return claims_.begin(); }
    auto end() const { return claims_.end(); }
    auto begin() { return claims_.begin(); }
    auto end() { return claims_.end(); }

    void add(Task& task, bool has_data, Seconds expected)
    {
        claims_.push_back({.task = &task, .acquired = !has_data, .expected = expected});
    }
    void pop() { claims_.pop_front(); }
    /// Gives the tasks their memory in `space`, in their order, as far as that goes. Adds the transfers that are to be carried
    /// out, and the blocks whose memory is no longer in use.
    void acquire(Replicas& replicas, SpaceId space, std::vector<Transfer>& transfers, std::vector<ReleasedBlock>& released);

private:
    std::deque<Claim> claims_;
    std::vector<TaskDatum> data_; ///< scratch of data_of
};

} // namespace trencadis
