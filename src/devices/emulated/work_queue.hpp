#pragma once
#include "devices/device.hpp"
#include "threads/backends/plain_thread.hpp"

#include <atomic>
#include <condition_variable>
#include <deque>
#include <map>
#include <mutex>
#include <optional>

namespace trencadis::devices {

/// One queue of an emulated device: a thread that does what is in it in order, and takes as long over each piece as it is told,
/// counted from the end of the piece before, so that what the system's sleep lasts longer is not added up. It sleeps while there
/// is nothing.
class WorkQueue {
public:
    using Work = std::function<Status()>;

    /// Once `lost` is set nothing is done any more, and all marks are reached at once.
    WorkQueue(const char* name, const std::atomic<bool>& lost);
    ~WorkQueue(); ///< after all that is in it
    WorkQueue(const WorkQueue&) = delete;
    WorkQueue& operator=(const WorkQueue&) = delete;

    void add(Seconds least, Work work);
    std::uint64_t mark(Completion done);
    /// What comes next begins when that mark of the other queue is reached, which must be there already; so no two can wait for
    /// each other. A fault there is one here.
    void hold(const WorkQueue& other, std::uint64_t mark);
    bool knows(std::uint64_t mark) const;
    bool reached(std::uint64_t mark) const;
    Status wait(std::uint64_t mark) const;

private:
    struct Piece {
        Seconds least = 0;
        Work work = {};
        const WorkQueue* other = nullptr; ///< to hold for
        std::uint64_t mark = 0;           ///< its own, or the other's
        Completion done = {};
        std::int64_t since_ns = 0; ///< when it was put in
    };
    void put(Piece piece);
    std::optional<Piece> next();
    void live();
    Status do_work(const Piece& piece);
    void reach(const Piece& piece);

    const std::atomic<bool>& lost_;
    Status fault_;                ///< the thread's own: the first one since the last mark
    std::int64_t free_at_ns_ = 0; ///< the thread's own: when the piece before was over

    mutable std::mutex mutex_;
    mutable std::condition_variable changed_;
    std::deque<Piece> pieces_;
    bool ends_ = false;
    std::uint64_t marks_ = 0, reached_ = 0;
    std::map<std::uint64_t, Status> bad_; ///< of the marks that were reached after a fault
    std::optional<PlainThread> thread_;   ///< the last member
};

} // namespace trencadis::devices
