#include "engines/devices/copy_crew.hpp"

#include "base/error.hpp"
#include "machine/affinity.hpp"

#include <algorithm>
#include <cstring>

namespace trencadis {

using devices::Extent;
using devices::HostPlace;

int CopyCrew::usual() { return std::min(5, static_cast<int>(usable_processors().size()) / 2); }

CopyCrew::~CopyCrew()
{
    {
        const std::lock_guard lock(mutex_);
        ends_ = true;
        called_.notify_all();
    }
    threads_.clear();
}

/// Whole columns, or parts of one.
CopyCrew::Job CopyCrew::cut(HostPlace from, HostPlace to, Extent extent)
{
    Job job{from, to, extent};
    job.rows = std::min(extent.bytes, piece_bytes);
    job.columns = std::max<std::size_t>(1, piece_bytes / extent.bytes);
    job.pieces_of_a_column = (extent.bytes + job.rows - 1) / job.rows;
    job.pieces = job.pieces_of_a_column * ((extent.columns + job.columns - 1) / job.columns);
    return job;
}

void CopyCrew::copy(HostPlace from, HostPlace to, Extent extent)
{
    const Job job = cut(from, to, extent);
    const bool alone = helpers_ == 0 || job.pieces < 2;
    {
        const std::lock_guard lock(mutex_);
        job_ = job;
        next_.store(0, std::memory_order_relaxed);
        open_ = !alone;
        ++round_;
        if (!alone) called_.notify_all();
    }
    if (!alone && threads_.empty()) try {
            for (int helper = 0; helper < helpers_; ++helper)
                threads_.push_back(std::make_unique<PlainThread>("trencadis copy", [this] { live(); }));
        } catch (const Error&) { // the system has no more of them: those that are there do
        }
    take_pieces();
    std::unique_lock lock(mutex_);
    open_ = false;
    left_.wait(lock, [this] { return inside_ == 0; });
}

void CopyCrew::take_pieces()
{
    const Job& job = job_;
    for (std::size_t piece; (piece = next_.fetch_add(1, std::memory_order_relaxed)) < job.pieces;) {
        const std::size_t row = piece % job.pieces_of_a_column * job.rows;
        const std::size_t first = piece / job.pieces_of_a_column * job.columns;
        const std::size_t bytes = std::min(job.rows, job.extent.bytes - row);
        const std::size_t last = std::min(first + job.columns, job.extent.columns);
        for (std::size_t column = first; column < last; ++column)
            std::memcpy(static_cast<char*>(job.to.at) + row + column * job.to.pitch,
                        static_cast<const char*>(job.from.at) + row + column * job.from.pitch, bytes);
    }
}

void CopyCrew::live()
{
    std::uint64_t seen = 0;
    std::unique_lock lock(mutex_);
    while (true) {
        called_.wait(lock, [&] { return ends_ || (open_ && round_ != seen); });
        if (ends_) return;
        seen = round_;
        ++inside_;
        lock.unlock();
        take_pieces();
        lock.lock();
        if (--inside_ == 0) left_.notify_one();
    }
}

} // namespace trencadis
