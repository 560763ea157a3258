#pragma once
#include "devices/device.hpp"
#include "threads/backends/plain_thread.hpp"

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

namespace trencadis {

/// Copies columns from one place of the host's memory to another by several threads, for one of them reads and writes no more
/// than a few GB/s where a link takes 40. They begin with the first copy that is worth it, sleep between copies, and take pieces of it
/// in turn with the caller, who waits for pieces that others have begun, and for nobody who has not come. One caller at a time.
class CopyCrew {
public:
    explicit CopyCrew(int helpers) : helpers_(helpers) {}
    ~CopyCrew();
    CopyCrew(const CopyCrew&) = delete;
    CopyCrew& operator=(const CopyCrew&) = delete;

    void copy(devices::HostPlace from, devices::HostPlace to, devices::Extent extent);

    /// Of one that has this machine's usual number: half of the processors that the process may use, and five at most.
    static int usual();

private:
    static constexpr std::size_t piece_bytes = std::size_t(1) << 20;
    struct Job {
        devices::HostPlace from{}, to{};
        devices::Extent extent{};
        std::size_t rows = 0, columns = 0; ///< of a piece, in bytes and in columns
        std::size_t pieces_of_a_column = 0, pieces = 0;
    };
    static Job cut(devices::HostPlace from, devices::HostPlace to, devices::Extent extent);
    void take_pieces();
    void live();

    const int helpers_;
    // Under the mutex, but for `next_`. `job_` changes only while nobody is `inside_`: the caller closes it and waits for that.
    std::mutex mutex_;
    std::condition_variable called_, left_;
    Job job_;
    std::uint64_t round_ = 0; ///< number of the job
    bool open_ = false;       ///< helpers may come
    bool ends_ = false;
    int inside_ = 0;                                    ///< helpers
    std::atomic<std::size_t> next_{0};                  ///< piece that nobody has taken; what it orders the mutex has ordered
    std::vector<std::unique_ptr<PlainThread>> threads_; ///< the last member
};

} // namespace trencadis
