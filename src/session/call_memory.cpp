#include "session/call_memory.hpp"

#include <algorithm>

namespace trencadis {

/// Only tasks that devices could take move anything.
void CallMemory::take(const Codelet& codelet, const Arguments&, std::span<const Access> accesses, const TaskOptions&)
{
    if (!codelet.device) return;
    for (const Access& access : accesses) {
        const Datum& datum = access.datum;
        if (datum.is_name() || datum.bytes() <= 0 || is_elsewhere_(datum.address)) continue;
        if (seen_.insert(datum.address).second) {
            const auto* const begin = static_cast<const char*>(datum.address);
            const std::ptrdiff_t apart = datum.element ? (datum.cols - 1) * datum.ld + datum.rows : datum.ld;
            ranges_.push_back({begin, begin + apart * std::max(1, int(datum.element))});
            if (access.mode != AccessMode::write) moved_ += datum.bytes();
        }
        if (is_writing(access.mode) && written_.insert(datum.address).second) moved_ += datum.bytes();
    }
}

std::vector<MemorySpan> CallMemory::spans() const
{
    constexpr std::ptrdiff_t page = 4096;
    std::vector<Range> ranges = ranges_;
    std::ranges::sort(ranges, {}, &Range::begin);
    std::vector<MemorySpan> spans;
    const char* end = nullptr;
    for (const Range& range : ranges) {
        if (spans.empty() || range.begin - end > page) spans.push_back({range.begin, 0});
        end = spans.back().bytes > 0 ? std::max(end, range.end) : range.end;
        spans.back().bytes = double(end - static_cast<const char*>(spans.back().begin));
    }
    return spans;
}

} // namespace trencadis
