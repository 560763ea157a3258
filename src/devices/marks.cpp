#include "devices/marks.hpp"

#include <utility>

namespace trencadis::devices {

std::uint64_t Marks::add(Completion done, Status before)
{
    const std::lock_guard lock(mutex_);
    Pending& mark = pending_.emplace_back();
    mark.status = std::move(before);
    if (done) mark.told.push_back(std::move(done));
    return reached_ + pending_.size();
}

void Marks::arrive(std::uint64_t mark, const Status& status)
{
    std::unique_lock lock(mutex_);
    if (mark <= reached_) return;
    Pending& its = pending_[place(mark)];
    if (its.arrived) return;
    its.arrived = true;
    if (its.status.ok()) its.status = status;
    tell(lock);
}

void Marks::arrive_all(const Status& status)
{
    std::unique_lock lock(mutex_);
    for (Pending& mark : pending_) {
        if (mark.arrived) continue;
        mark.arrived = true;
        if (mark.status.ok()) mark.status = status;
    }
    tell(lock);
}

/// A mark is reached when all who were to be told have been.
void Marks::tell(std::unique_lock<std::mutex>& lock)
{
    if (telling_) return;
    telling_ = true;
    while (!pending_.empty() && pending_.front().arrived) {
        Pending& mark = pending_.front(); // stays where it is: others are only added behind it
        while (!mark.told.empty()) {
            const std::vector<Completion> told = std::exchange(mark.told, {});
            lock.unlock();
            for (const Completion& completion : told) completion(mark.status);
            lock.lock();
        }
        ++reached_;
        if (!mark.status.ok()) bad_.emplace(reached_, std::move(mark.status));
        pending_.pop_front();
        changed_.notify_all();
    }
    telling_ = false;
}

void Marks::when_reached(std::uint64_t mark, Completion told)
{
    std::unique_lock lock(mutex_);
    if (mark > reached_) return pending_[place(mark)].told.push_back(std::move(told));
    const Status status = status_of(mark);
    lock.unlock();
    told(status);
}

Status Marks::foreseen(std::uint64_t mark) const
{
    const std::lock_guard lock(mutex_);
    return mark > reached_ ? pending_[place(mark)].status : status_of(mark);
}

bool Marks::knows(std::uint64_t mark) const
{
    const std::lock_guard lock(mutex_);
    return mark > 0 && mark <= reached_ + pending_.size();
}

bool Marks::reached(std::uint64_t mark) const
{
    const std::lock_guard lock(mutex_);
    return reached_ >= mark;
}

Status Marks::status_of(std::uint64_t mark) const
{
    const auto bad = bad_.find(mark);
    return bad == bad_.end() ? Status{} : bad->second;
}

Status Marks::wait(std::uint64_t mark) const
{
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return reached_ >= mark; });
    return status_of(mark);
}

} // namespace trencadis::devices
