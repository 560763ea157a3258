#pragma once
#include <algorithm>
#include <cstdint>

namespace trencadis {

/// Whether it is worth a worker's while to take tasks that the others have made ready. Each costs the transfer of some cache
/// lines, for which the other core pays, too: 50 to 250 ns a line, by where the two cores lie. A worker that did hardly anything
/// else stays away for many times as long, so that tasks that are shorter than their transfer run where they were made.
class Reluctance {
public:
    /// It has found something, after a while without.
    void begin(std::int64_t now) { began_ = ended_ = now, ran_ns_ = 0; }
    /// It has run something.
    void ran(std::int64_t ns, std::int64_t now) { ran_ns_ += ns, ended_ = now; }
    /// Asked before it looks for the next one.
    bool stays_away()
    {
        const std::int64_t passed = ended_ - began_;
        if (passed > worth * ran_ns_) {
            until_ = ended_ + std::min(times * passed, longest_ns);
            return true;
        }
        if (passed > window_ns) begin(ended_);
        return false;
    }
    bool is_away(std::int64_t now) const { return now < until_; }

private:
    static constexpr std::int64_t worth = 16; ///< so many times what its tasks took: far from what any kernel needs
    static constexpr std::int64_t times = 64;
    static constexpr std::int64_t longest_ns = 200'000; ///< for so long the others miss it when that was wrong
    static constexpr std::int64_t window_ns = 100'000;  ///< what was before counts no more
    std::int64_t began_ = 0, ended_ = 0, ran_ns_ = 0, until_ = 0;
};

} // namespace trencadis
