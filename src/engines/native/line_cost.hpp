#pragma once
#include "observe/clock.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>

namespace trencadis {

/// How far cores are from one another: what it takes one to get a cache line that another has written last, as seen lately. What
/// the system says of caches need not be so for long: hosts move the processors of a guest, now to cores that share a last-level
/// cache, now to others.
///
/// Once in a while a worker writes some lines before it opens a call to others, or brings tasks. The first other one that takes
/// something reads them, each saying where the next is, so that none comes ahead of its turn. Nobody waits: `writer_` gives them
/// to one reader, released by the write and acquired by it. All values are relaxed else: several may write at a time, and then
/// what is read is a worse guess.
class LineCost {
public:
    static constexpr std::int64_t usual_ns = 15, seldom_ns = 10'000'000;
    static constexpr std::int64_t fresh_ns = 20'000;          ///< later they may be in nobody's cache
    static constexpr std::int64_t lasting_ns = 1'000'000'000; ///< what was seen longer ago says nothing: calls are shared again

    LineCost()
    {
        for (std::uint32_t i = 0; i < count; ++i) lines_[i].next.store((i + step) % count, std::memory_order_relaxed);
    }

    std::int64_t ns(std::int64_t now) const
    {
        const bool old = now - seen_ns_.load(std::memory_order_relaxed) > lasting_ns;
        return old ? usual_ns : ns_.load(std::memory_order_relaxed);
    }

    void write(int worker, std::int64_t now)
    {
        if (now - written_at_ns_.load(std::memory_order_relaxed) < seldom_ns) return;
        written_at_ns_.store(now, std::memory_order_relaxed);
        for (Line& line : lines_) line.next.store(line.next.load(std::memory_order_relaxed), std::memory_order_relaxed);
        writer_.store(worker, std::memory_order_release);
    }
    void read(int worker)
    {
        int writer = writer_.load(std::memory_order_relaxed);
        if (writer == nobody || writer == worker) return;
        if (!writer_.compare_exchange_strong(writer, nobody, std::memory_order_acquire)) return;
        const std::int64_t begin = detail::monotonic_ns(); // which waits for loads, as now_ns does not
        if (begin - written_at_ns_.load(std::memory_order_relaxed) > fresh_ns) return;
        std::uint32_t at = 0;
        for (std::uint32_t i = 0; i < count; ++i) at = lines_[at].next.load(std::memory_order_relaxed);
        const std::int64_t end = detail::monotonic_ns();
        note((end - begin) / (count + at), end); // which leads back to 0
    }
    /// What falls into a time, an interrupt say, makes it longer, and where cores count as far nobody may share a call and
    /// measure again for long: so what is shorter than before counts by half, and what is longer by an eighth.
    void note(std::int64_t seen, std::int64_t now)
    {
        const std::int64_t before = ns_.load(std::memory_order_relaxed);
        const std::int64_t likely = std::clamp(seen, before / 2, 2 * before);
        const std::int64_t known = likely < before ? (before + likely) / 2 : before + (likely - before + 7) / 8;
        ns_.store(std::max<std::int64_t>(is_known() ? known : std::min(seen, most_at_first), 1), std::memory_order_relaxed);
        seen_ns_.store(now, std::memory_order_relaxed);
    }

private:
    bool is_known() const { return seen_ns_.load(std::memory_order_relaxed) >= 0; }

    static constexpr std::int64_t most_at_first = 4 * usual_ns;
    static constexpr std::uint32_t count = 16, step = 7; ///< without a common factor: all are read
    struct alignas(128) Line {                           ///< caches fetch them in pairs
        std::atomic<std::uint32_t> next;
    };
    std::array<Line, count> lines_;
    static constexpr int nobody = -1;
    std::atomic<int> writer_{nobody};
    std::atomic<std::int64_t> written_at_ns_{0};
    std::atomic<std::int64_t> ns_{usual_ns}, seen_ns_{-lasting_ns - 1};
};

} // namespace trencadis
