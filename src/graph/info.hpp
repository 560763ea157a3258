#pragma once
#include "base/types.hpp"

#include <atomic>
#include <limits>

namespace trencadis {

/// The numerical outcome of a flow (Flow::outcome): the smallest index at which something happened (a pivot that is not
/// positive), whatever the timing; 0 when nothing did. Indices start at 1, as in LAPACK. Tasks report and ask by
/// TaskContext::outcome.
///
/// Relaxed atomics are enough: a task that must see an earlier report depends on its reporter, and the
/// dependence orders the two.
class Info {
public:
    void report(Index index)
    {
        Index seen = first_.load(std::memory_order_relaxed);
        while (index < seen && !first_.compare_exchange_weak(seen, index, std::memory_order_relaxed)) {}
    }
    /// Did anything happen at `index` or before it?
    bool reached(Index index) const { return first_.load(std::memory_order_relaxed) <= index; }
    /// LAPACK's info.
    Index value() const
    {
        const Index first = first_.load(std::memory_order_relaxed);
        return first == nothing ? 0 : first;
    }

    void clear() { first_.store(nothing, std::memory_order_relaxed); }
    /// Takes over what another one has.
    void add(const Info& other) { report(other.first_.load(std::memory_order_relaxed)); }

private:
    static constexpr Index nothing = std::numeric_limits<Index>::max();
    std::atomic<Index> first_{nothing};
};

} // namespace trencadis
