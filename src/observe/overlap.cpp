#include "observe/overlap.hpp"

namespace trencadis {

/// What of the span a queue's spans cover.
std::int64_t Overlap::common(const Span& span, Queue one) const
{
    std::int64_t sum = 0;
    for (auto theirs = spans_[one].rbegin(); theirs != spans_[one].rend() && theirs->end > span.begin; ++theirs)
        sum += span.with(*theirs).length();
    return sum;
}

/// What of it both cover.
std::int64_t Overlap::common(const Span& span, Queue one, Queue other) const
{
    std::int64_t sum = 0;
    for (auto theirs = spans_[one].rbegin(); theirs != spans_[one].rend() && theirs->end > span.begin; ++theirs)
        if (const Span part = span.with(*theirs); part.length() > 0) sum += common(part, other);
    return sum;
}

/// Whatever two or three spans share is counted when the last of them comes.
void Overlap::add(Queue queue, std::int64_t begin_ns, std::int64_t end_ns)
{
    const Span span{begin_ns, end_ns};
    sum_[queue] += span.length();
    if (queue == kernels) together_ += common(span, in) + common(span, out) - common(span, in, out);
    else {
        const Queue back = queue == in ? out : in;
        both_ways_ += common(span, back);
        together_ += common(span, kernels) - common(span, kernels, back);
    }
    spans_[queue].push_back(span);
}

void Overlap::forget_before(std::int64_t ns)
{
    for (std::deque<Span>& spans : spans_)
        while (!spans.empty() && spans.front().end <= ns) spans.pop_front();
}

} // namespace trencadis
