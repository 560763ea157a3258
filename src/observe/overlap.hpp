#pragma once
#include "base/types.hpp"

#include <array>
#include <cstdint>
#include <deque>

namespace trencadis {

/// How long the three queues of a device worked together: copies to it, kernels, copies from it. Told of what has ended, in each
/// queue one after the other.
class Overlap {
public:
    enum Queue { in, kernels, out };

    void add(Queue queue, std::int64_t begin_ns, std::int64_t end_ns);
    /// Nothing that is told of later began before.
    void forget_before(std::int64_t ns);

    Seconds copies() const { return (sum_[in] + sum_[out] - both_ways_) * 1e-9; } ///< with one at least going on
    Seconds computing() const { return sum_[kernels] * 1e-9; }
    Seconds together() const { return together_ * 1e-9; } ///< a copy and a kernel

private:
    struct Span {
        std::int64_t begin, end;
        std::int64_t length() const { return end > begin ? end - begin : 0; }
        Span with(const Span& other) const
        {
            return {begin > other.begin ? begin : other.begin, end < other.end ? end : other.end};
        }
    };
    std::int64_t common(const Span& span, Queue one) const;
    std::int64_t common(const Span& span, Queue one, Queue other) const;

    std::array<std::deque<Span>, 3> spans_;
    std::array<std::int64_t, 3> sum_{};
    std::int64_t both_ways_ = 0, together_ = 0;
};

} // namespace trencadis
