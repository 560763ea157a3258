#pragma once
#include "observe/energy/meters.hpp"

#include <condition_variable>
#include <memory>
#include <mutex>
#include <thread>

namespace trencadis {

/// What was read beside a run.
struct MeterRecord {
    std::vector<MeterSeries> series;
    double period_s = 0;
    double reading_s = 0; ///< that a reading of all meters takes, mean: its share of a core is reading_s / period_s
    std::size_t rounds = 0;
};

/// Reads all meters at the begin, from time to time on a thread of its own, and at the end. The meters outlive it. In a child of
/// a fork, which has no such thread, nothing was read.
class MeterSampler {
public:
    /// `period_s` from 1 ms on: the counters themselves are renewed about every millisecond.
    MeterSampler(std::vector<std::unique_ptr<Meter>>& meters, double period_s);
    ~MeterSampler();
    MeterSampler(const MeterSampler&) = delete;
    MeterSampler& operator=(const MeterSampler&) = delete;

    /// What has been read up to now, with one reading more; goes on.
    MeterRecord so_far();
    /// Reads once more and ends; once.
    MeterRecord stop();

private:
    /// What a fork may find held, or waited at, by the thread that it does not take along.
    struct Alongside {
        std::mutex mutex;
        std::condition_variable woken;
        bool ending = false;
        std::thread thread;
    };
    bool forked() const;
    MeterRecord lost_record() const;
    void sample(Alongside& alongside);
    void read_all();
    void read_one(std::size_t number);

    std::vector<std::unique_ptr<Meter>>& meters_;
    std::vector<Unwrapped> unwrapped_;
    std::vector<int> failures_; ///< in a row
    MeterRecord record_;
    double reading_sum_s_ = 0;
    const int made_after_;
    std::unique_ptr<Alongside> alongside_;
};

} // namespace trencadis
