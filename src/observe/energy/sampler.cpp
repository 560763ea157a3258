#include "observe/energy/sampler.hpp"

#include "base/lasting.hpp"
#include "observe/clock.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

#include <pthread.h>
#include <signal.h>

namespace trencadis {

namespace {

/// Watts that no domain draws: a counter that has not been read for as long as these take to go round may have done so twice.
constexpr double most_watts = 2000;

/// What they draw while a counter shows nothing of it yet, and more: joules.
constexpr double most_late = 200;

/// Readings in a row that may fail; a file that is gone stays away.
constexpr int most_failures = 20;

MeterSeries begun(const Meter& meter) { return {meter.source, meter.domain, meter.name, meter.kind, {}, {}}; }

} // namespace

MeterSampler::MeterSampler(std::vector<std::unique_ptr<Meter>>& meters, double period_s)
    : meters_(meters), failures_(meters.size(), 0), made_after_(forks_so_far()), alongside_(std::make_unique<Alongside>())
{
    record_.period_s = std::clamp(period_s, 0.001, 10.0);
    for (const auto& meter : meters_) {
        record_.series.push_back(begun(*meter));
        unwrapped_.emplace_back(meter->range);
    }
    read_all();
    sigset_t all, before; // signals of the program are not for this thread
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &before);
    try {
        alongside_->thread = std::thread([this] { sample(*alongside_); });
    } catch (...) {
        pthread_sigmask(SIG_SETMASK, &before, nullptr);
        throw;
    }
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

MeterSampler::~MeterSampler()
{
    if (forked()) keep_for_good(alongside_.release()); // it would wait for the thread
    else if (alongside_->thread.joinable()) stop();
}

bool MeterSampler::forked() const { return forks_so_far() != made_after_; }

/// Of what the thread was writing when the process was forked nothing is looked at.
MeterRecord MeterSampler::lost_record() const
{
    MeterRecord record;
    for (const auto& meter : meters_) {
        record.series.push_back(begun(*meter));
        record.series.back().lost = "was read by the process that this one was forked from";
    }
    return record;
}

MeterRecord MeterSampler::so_far()
{
    if (forked()) return lost_record();
    const std::lock_guard lock(alongside_->mutex); // which the thread holds while it reads
    read_all();
    MeterRecord record = record_;
    record.reading_s = reading_sum_s_ / double(record_.rounds);
    return record;
}

MeterRecord MeterSampler::stop()
{
    if (forked()) return lost_record();
    {
        const std::lock_guard lock(alongside_->mutex);
        alongside_->ending = true;
    }
    alongside_->woken.notify_one();
    alongside_->thread.join();
    read_all();
    record_.reading_s = record_.rounds ? reading_sum_s_ / double(record_.rounds) : 0;
    return std::move(record_);
}

void MeterSampler::sample(Alongside& alongside)
{
    const auto period =
        std::chrono::duration_cast<std::chrono::steady_clock::duration>(std::chrono::duration<double>(record_.period_s));
    std::unique_lock lock(alongside.mutex);
    for (auto next = std::chrono::steady_clock::now() + period;
         !alongside.woken.wait_until(lock, next, [&] { return alongside.ending; });) {
        read_all();
        next = std::max(next + period, std::chrono::steady_clock::now()); // what was missed is not made up for
    }
}

void MeterSampler::read_all()
{
    const std::int64_t begin = detail::monotonic_ns();
    for (std::size_t number = 0; number < meters_.size(); ++number)
        if (record_.series[number].lost.empty()) read_one(number);
    reading_sum_s_ += double(detail::monotonic_ns() - begin) * 1e-9;
    ++record_.rounds;
}

void MeterSampler::read_one(std::size_t number)
{
    Meter& meter = *meters_[number];
    MeterSeries& series = record_.series[number];
    const std::int64_t before = detail::monotonic_ns();
    const auto word = meter.read();
    const std::int64_t time = before + (detail::monotonic_ns() - before) / 2;
    if (!word) {
        if (++failures_[number] >= most_failures) series.lost = "could not be read any more";
        return;
    }
    failures_[number] = 0;
    if (meter.kind != MeterKind::energy) return series.readings.push_back({time, *word});
    const bool first = series.readings.empty();
    const Reading last = first ? Reading{time, 0} : series.readings.back();
    const double most = double(time - last.time_ns) * 1e-9 * most_watts;
    if (meter.range > 0 && most > meter.range) {
        series.lost = "was not read for so long that it may have begun anew more than once";
        return;
    }
    const auto value = unwrapped_[number](*word);
    // A counter that is set back to 0 looks as if it had gone on to its end at once.
    if (value && (first || meter.range <= 0 || *value - last.value <= most + most_late))
        series.readings.push_back({time, *value});
    else series.lost = "was set back";
}

} // namespace trencadis
