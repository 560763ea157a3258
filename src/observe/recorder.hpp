#pragma once
#include "base/types.hpp"
#include "observe/clock.hpp"
#include "observe/trace.hpp"

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

namespace trencadis {

/// Collects what each worker does, and each queue of copies that a worker drives, between `start` and `stop`. Recording is the
/// workers' own affair: each appends to a chunked buffer of its own, without locks. Off, it costs one load and one branch that is
/// never taken.
///
///     const std::int64_t begin = recorder.enabled() ? now_ns() : 0;
///     ... the task ...
///     if (begin) recorder.record(worker, {name, order, begin, now_ns(), flops, EventKind::task});
///
/// `start` and `stop` may come at any time, also while workers record: events are tagged with the recording they belong
/// to, and what is published later than its `stop` is left out.
class Recorder {
public:
    explicit Recorder(int workers, std::int64_t events_per_worker = 8'000'000);
    ~Recorder();
    Recorder(const Recorder&) = delete;
    Recorder& operator=(const Recorder&) = delete;

    /// Where a worker sits, for the trace's headings. Not while another thread is in `stop`.
    void describe(WorkerId worker, int cpu, std::string core_kind, bool queue = false);

    bool enabled() const { return (epoch_.load(std::memory_order_relaxed) & 1) != 0; }

    /// Appends one event; its times are those of the clock the recording was started with. Only the thread that holds the
    /// worker's place may call it. Never throws: an event for which there is no memory is counted as lost.
    void record(WorkerId worker, const Event& event) noexcept;

    /// Begins a new recording; one that is going on is dropped. Any thread.
    void start() { start_at(now_ns()); }
    /// Ends the recording and hands it out, times counted from `start`; empty when none is going on. Tasks still
    /// running are not in it. Any thread.
    Trace stop(std::string title = {}, Origin origin = Origin::measured) { return stop_at(now_ns(), std::move(title), origin); }
    /// The same by a clock of the caller's, in virtual time: then all recorded times are of that clock.
    void start_at(std::int64_t now);
    Trace stop_at(std::int64_t now, std::string title, Origin origin);

private:
    struct Chunk {
        static constexpr int capacity = 1000;
        std::atomic<int> size{0};          ///< published by the worker, read by stop
        std::atomic<Chunk*> next{nullptr}; ///< likewise
        Event events[capacity];
    };
    struct alignas(128) Buffer {
        // The worker's own.
        Chunk* last = nullptr;
        std::int64_t count = 0;
        // Published by the worker, read by stop.
        std::atomic<std::uint64_t> epoch{0}; ///< the recording the chunks belong to
        std::atomic<Chunk*> first{nullptr};
        std::atomic<std::int64_t> lost{0};
        // Written by describe.
        int cpu = -1;
        std::string core_kind;
        bool queue = false;
    };

    Chunk* room(Buffer& buffer) const noexcept;
    void collect(const Buffer& buffer, Trace& trace, WorkerTrace& worker) const;

    const int workers_;
    const std::int64_t limit_;
    std::unique_ptr<Buffer[]> buffers_;
    std::mutex mutex_; ///< start against stop
    std::int64_t start_ns_ = 0;
    alignas(64) std::atomic<std::uint64_t> epoch_{0}; ///< odd while recording; read by everybody, so alone on its line
};

} // namespace trencadis
