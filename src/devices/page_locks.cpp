#include "devices/page_locks.hpp"

#include "base/lasting.hpp"

#include <algorithm>
#include <atomic>
#include <iterator>
#include <memory>
#include <unistd.h>

namespace trencadis::devices {
namespace {

std::uintptr_t page()
{
    static const auto bytes = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
    return bytes;
}

std::uintptr_t number(const void* address) { return reinterpret_cast<std::uintptr_t>(address); }
void* address(std::uintptr_t number) { return reinterpret_cast<void*>(number); } // NOLINT(performance-no-int-to-ptr)

} // namespace

/// Those of the process. One that was forked has others: who might hold their lock is not there.
struct PageLocks::Lists {
    const int made_after = forks_so_far();
    std::mutex mutex; ///< before any list's own
    std::vector<PageLocks*> all;
};

PageLocks::Lists& PageLocks::lists_here()
{
    static std::atomic<Lists*> here{nullptr}; // for good, and those from before a fork, too
    Lists* known = here.load(std::memory_order_acquire);
    while (!known || known->made_after != forks_so_far()) {
        auto fresh = std::make_unique<Lists>();
        if (here.compare_exchange_strong(known, fresh.get(), std::memory_order_acq_rel)) return *fresh.release();
    }
    return *known;
}

PageLocks::PageLocks(Driver driver, const void* common)
    : driver_(std::move(driver)), common_(common), lists_(common ? &lists_here() : nullptr)
{
    if (!lists_) return;
    const std::lock_guard lock(lists_->mutex);
    lists_->all.push_back(this);
}

PageLocks::~PageLocks()
{
    if (!lists_) return;
    {
        const std::lock_guard lock(lists_->mutex);
        std::erase(lists_->all, this);
    }
    std::unique_lock lock(mutex_);
    none_.wait(lock, [this] { return pieces_.empty(); });
    lock.unlock();
    const std::lock_guard alone(changing_); // whoever was last is through with the driver
}

/// Under both locks.
void PageLocks::drop(Pieces::iterator piece)
{
    pieces_.erase(piece);
    if (pieces_.empty()) none_.notify_all();
}

/// The first piece that ends behind it.
PageLocks::Pieces::iterator PageLocks::first_behind(std::uintptr_t address)
{
    const auto next = pieces_.upper_bound(address);
    if (next == pieces_.begin()) return next;
    const auto last = std::prev(next);
    return last->first + last->second.bytes > address ? last : next;
}

/// Of whole pages, what is in no piece.
std::vector<PageLocks::Range> PageLocks::gaps_in(Range range)
{
    std::vector<Range> gaps;
    std::uintptr_t at = range.begin;
    for (auto piece = first_behind(range.begin); piece != pieces_.end() && piece->first < range.end; ++piece) {
        if (at < piece->first) gaps.push_back({at, piece->first});
        at = piece->first + piece->second.bytes;
    }
    if (at < range.end) gaps.push_back({at, range.end});
    return gaps;
}

Status PageLocks::hold(const void* memory, std::size_t bytes, Hold& hold)
{
    const std::uintptr_t begin = number(memory) / page() * page();
    const std::uintptr_t last = UINTPTR_MAX - page(); // no further, so that whole pages can be counted
    if (!memory || bytes == 0 || number(memory) > last || bytes > last - number(memory))
        return {Fault::bad_argument, "memory of 0 bytes, or none, cannot be page-locked"};
    const Range range{begin, (number(memory) + bytes + page() - 1) / page() * page()};
    Hold taken; // goes, where locking fails, when `changing_` is free again
    const std::lock_guard alone(changing_);
    std::vector<Range> gaps;
    {
        const std::lock_guard lock(mutex_);
        gaps = gaps_in(range);
        taken.locks_ = this;
        for (auto piece = first_behind(range.begin); piece != pieces_.end() && piece->first < range.end; ++piece) {
            taken.pieces_.push_back(piece->first);
            ++piece->second.holds;
        }
    }
    taken.pieces_.reserve(taken.pieces_.size() + gaps.size());
    for (const Range& gap : gaps) {
        Pieces::iterator piece;
        {
            const std::lock_guard lock(mutex_);
            piece = pieces_.emplace(gap.begin, Piece{0, 1}).first; // of no bytes: nobody finds it before it is locked
        }
        Status status = driver_.lock(address(gap.begin), gap.end - gap.begin);
        const std::lock_guard lock(mutex_);
        if (!status.ok()) {
            drop(piece);
            return status;
        }
        piece->second.bytes = gap.end - gap.begin;
        taken.pieces_.push_back(gap.begin);
    }
    hold = std::move(taken);
    return {};
}

PageLocks::Hold PageLocks::hold_if_locked(const void* memory, std::size_t bytes)
{
    Hold hold = hold_here(memory, bytes);
    if (hold || !lists_) return hold;
    const std::lock_guard lock(lists_->mutex);
    for (PageLocks* const other : lists_->all)
        if (other != this && other->common_ == common_ && (hold = other->hold_here(memory, bytes))) break;
    return hold;
}

PageLocks::Hold PageLocks::hold_here(const void* memory, std::size_t bytes)
{
    Hold hold;
    const std::lock_guard lock(mutex_);
    const auto piece = first_behind(number(memory));
    if (piece == pieces_.end() || piece->first > number(memory)) return hold;
    if (bytes > piece->first + piece->second.bytes - number(memory)) return hold;
    hold.pieces_.push_back(piece->first);
    hold.locks_ = this;
    ++piece->second.holds;
    return hold;
}

std::size_t PageLocks::bytes() const
{
    const std::lock_guard lock(mutex_);
    std::size_t sum = 0;
    for (const auto& [begin, piece] : pieces_) sum += piece.bytes;
    return sum;
}

/// Whoever lets the last hold go has the piece unlocked before anybody can lock these pages anew.
void PageLocks::let_go(std::uintptr_t begin)
{
    {
        const std::lock_guard lock(mutex_);
        Piece& piece = pieces_.find(begin)->second;
        if (piece.holds > 1) {
            --piece.holds;
            return;
        }
    }
    const std::lock_guard alone(changing_);
    {
        const std::lock_guard lock(mutex_);
        const auto piece = pieces_.find(begin);
        if (--piece->second.holds > 0) return; // somebody came since
        drop(piece);
    }
    (void)driver_.unlock(address(begin)); // a device that is lost has nothing locked any more
}

void PageLocks::Hold::let_go()
{
    PageLocks* const locks = std::exchange(locks_, nullptr);
    for (const std::uintptr_t piece : std::exchange(pieces_, {})) locks->let_go(piece);
}

} // namespace trencadis::devices
