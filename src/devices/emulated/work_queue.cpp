#include "devices/emulated/work_queue.hpp"

#include "base/float_modes.hpp"

#include <algorithm>
#include <ctime>
#include <exception>
#include <utility>

namespace trencadis::devices {
namespace {

constexpr std::int64_t second_ns = 1'000'000'000;

std::int64_t now_ns()
{
    timespec now{};
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * second_ns + now.tv_nsec;
}

/// In short sleeps: a device that is lost ends what it does.
void sleep_until(std::int64_t end_ns, const std::atomic<bool>& lost)
{
    constexpr std::int64_t nap_ns = 20'000'000;
    while (!lost.load(std::memory_order_acquire)) {
        const std::int64_t now = now_ns();
        if (now >= end_ns) return;
        const std::int64_t until = std::min(end_ns, now + nap_ns);
        const timespec time{static_cast<time_t>(until / second_ns), static_cast<long>(until % second_ns)};
        clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &time, nullptr);
    }
}

} // namespace

WorkQueue::WorkQueue(const char* name, const std::atomic<bool>& lost) : lost_(lost)
{
    thread_.emplace(name, [this] { live(); });
}

WorkQueue::~WorkQueue()
{
    {
        const std::lock_guard lock(mutex_);
        ends_ = true;
        changed_.notify_all();
    }
    thread_.reset();
}

void WorkQueue::put(Piece piece)
{
    piece.since_ns = now_ns();
    const std::lock_guard lock(mutex_);
    pieces_.push_back(std::move(piece));
    changed_.notify_all();
}

void WorkQueue::add(Seconds least, Work work) { put({.least = least, .work = std::move(work)}); }

void WorkQueue::hold(const WorkQueue& other, std::uint64_t mark) { put({.other = &other, .mark = mark}); }

std::uint64_t WorkQueue::mark(Completion done)
{
    Piece piece{.done = std::move(done), .since_ns = now_ns()};
    const std::lock_guard lock(mutex_);
    piece.mark = marks_ + 1;
    pieces_.push_back(std::move(piece));
    changed_.notify_all();
    return ++marks_;
}

bool WorkQueue::knows(std::uint64_t mark) const
{
    const std::lock_guard lock(mutex_);
    return mark > 0 && mark <= marks_;
}

bool WorkQueue::reached(std::uint64_t mark) const
{
    const std::lock_guard lock(mutex_);
    return reached_ >= mark;
}

Status WorkQueue::wait(std::uint64_t mark) const
{
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return reached_ >= mark; });
    const auto bad = bad_.find(mark);
    return bad == bad_.end() ? Status{} : bad->second;
}

std::optional<WorkQueue::Piece> WorkQueue::next()
{
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return ends_ || !pieces_.empty(); });
    if (pieces_.empty()) return std::nullopt;
    Piece piece = std::move(pieces_.front());
    pieces_.pop_front();
    return piece;
}

/// The thread's life.
void WorkQueue::live()
{
    set_standard_float_modes(); // not those of whoever opened the device
    while (const std::optional<Piece> piece = next()) {
        const bool goes_on = fault_.ok() && !lost_.load(std::memory_order_acquire);
        if (piece->other) {
            Status theirs = piece->other->wait(piece->mark);
            if (goes_on) fault_ = std::move(theirs);
            free_at_ns_ = std::max(free_at_ns_, now_ns());
        } else if (piece->mark) reach(*piece);
        else if (goes_on) fault_ = do_work(*piece);
    }
}

Status WorkQueue::do_work(const Piece& piece)
{
    const std::int64_t begin = std::max(free_at_ns_, piece.since_ns);
    Status status = piece.work();
    const std::int64_t end = begin + static_cast<std::int64_t>(piece.least * second_ns);
    free_at_ns_ = std::max(end, now_ns());
    if (status.ok()) sleep_until(end, lost_);
    return status;
}

/// Told before those who wait go on: what the completion did is done when `wait` returns.
void WorkQueue::reach(const Piece& piece)
{
    Status status = std::exchange(fault_, {});
    if (status.ok() && lost_.load(std::memory_order_acquire)) status = {Fault::lost, "the device was lost"};
    if (piece.done) piece.done(status);
    const std::lock_guard lock(mutex_);
    reached_ = piece.mark;
    if (!status.ok()) bad_.emplace(piece.mark, std::move(status));
    changed_.notify_all();
}

} // namespace trencadis::devices
