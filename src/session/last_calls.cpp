#include "session/last_calls.hpp"

#include <algorithm>
#include <cerrno>
#include <exception>
#include <utility>

namespace trencadis {
namespace {

constexpr std::int64_t soon_ns = 1'000'000'000, interval_ns = 10'000'000'000;

bool are_of_a_kind(const choices::Row& a, const choices::Row& b)
{
    return a.m == b.m && a.n == b.n && a.k == b.k && a.workers == b.workers && a.precision == b.precision &&
           a.routine == b.routine && a.plan == b.plan;
}

/// The newest ones, the oldest first.
std::vector<choices::Row> trimmed(const std::vector<choices::Row>& rows)
{
    std::vector<choices::Row> kept;
    for (auto row = rows.rbegin(); row != rows.rend() && kept.size() < LastCalls::most; ++row) {
        const auto before = std::ranges::count_if(kept, [&](const choices::Row& one) { return are_of_a_kind(one, *row); });
        if (std::size_t(before) < LastCalls::of_a_kind) kept.push_back(*row);
    }
    std::ranges::reverse(kept);
    return kept;
}

} // namespace

void LastCalls::note(const choices::Call& call, const choices::Plan& plan, int workers, Seconds took,
                     std::int64_t now_ns) noexcept
{
    constexpr std::size_t most_noted = 256; // until they are written
    if (!(took > 0)) return;
    const std::unique_lock lock(mutex_, std::try_to_lock);
    if (!lock.owns_lock()) return;
    const auto is_like_it = [&](const Noted& one) { return one.call == call && one.plan == plan && one.workers == workers; };
    if (std::size_t(std::ranges::count_if(noted_, is_like_it)) == of_a_kind)
        noted_.erase(std::ranges::find_if(noted_, is_like_it));
    else if (noted_.size() == most_noted) noted_.erase(noted_.begin());
    try {
        noted_.push_back({call, plan, workers, took});
    } catch (const std::exception&) { // no memory: it is not told of
        return;
    }
    if (write_at_ == 0) write_at_ = now_ns + soon_ns;
    if (now_ns < write_at_) return;
    write_at_ = now_ns + interval_ns;
    write();
}

/// What others have noted meanwhile stays, but what one of two writes that both write at once.
void LastCalls::write() noexcept
{
    if (noted_.empty()) return;
    const int kept_errno = errno;
    try {
        std::vector<choices::Row> rows = read(file_, owner_);
        for (const Noted& one : noted_)
            rows.push_back({std::string(one.call.routine), choices::precision_letters[std::size_t(one.call.precision)],
                            one.call.m, one.call.n, one.call.k, one.workers, choices::word_of(one.plan), one.took, 0, 0});
        choices::write_calibration(file_, owner_, trimmed(rows), false);
    } catch (const std::exception&) { // no memory, say: nobody hears of these calls
    }
    noted_.clear();
    errno = kept_errno;
}

} // namespace trencadis
