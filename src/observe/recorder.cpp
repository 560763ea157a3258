#include "observe/recorder.hpp"

#include "observe/flatten.hpp"

#include <algorithm>
#include <new>
#include <utility>

namespace trencadis {

Recorder::Recorder(int workers, std::int64_t events_per_worker)
    : workers_(workers), limit_(events_per_worker), buffers_(std::make_unique<Buffer[]>(std::size_t(workers)))
{
}

Recorder::~Recorder()
{
    for (int w = 0; w < workers_; ++w)
        for (Chunk* chunk = buffers_[w].first.load(std::memory_order_acquire); chunk;)
            delete std::exchange(chunk, chunk->next.load(std::memory_order_acquire));
}

void Recorder::describe(WorkerId worker, int cpu, std::string core_kind, bool queue)
{
    const std::scoped_lock lock(mutex_);
    buffers_[worker].cpu = cpu;
    buffers_[worker].core_kind = std::move(core_kind);
    buffers_[worker].queue = queue;
}

/// A chunk with room for one more, linked in; none when out of memory or over the limit.
Recorder::Chunk* Recorder::room(Buffer& buffer) const noexcept
{
    if (buffer.count >= limit_) return nullptr;
    Chunk* last = buffer.last;
    if (last && last->size.load(std::memory_order_relaxed) < Chunk::capacity) return last;
    Chunk* next = last ? last->next.load(std::memory_order_relaxed) : buffer.first.load(std::memory_order_relaxed);
    if (!next) {
        next = new (std::nothrow) Chunk;
        if (!next) return nullptr;
        if (last) last->next.store(next, std::memory_order_release);
        else buffer.first.store(next, std::memory_order_release);
    }
    return buffer.last = next;
}

void Recorder::record(WorkerId worker, const Event& event) noexcept
{
    const std::uint64_t epoch = epoch_.load(std::memory_order_acquire);
    if ((epoch & 1) == 0) return;
    Buffer& buffer = buffers_[worker];
    if (buffer.epoch.load(std::memory_order_relaxed) != epoch) {
        // First event of a new recording: `stop` has read the previous one, so its chunks are ours again. Their sizes go back
        // before the new epoch is published.
        for (Chunk* chunk = buffer.first.load(std::memory_order_relaxed); chunk;
             chunk = chunk->next.load(std::memory_order_relaxed))
            chunk->size.store(0, std::memory_order_relaxed);
        buffer.last = nullptr;
        buffer.count = 0;
        buffer.lost.store(0, std::memory_order_relaxed);
        buffer.epoch.store(epoch, std::memory_order_release);
    }
    Chunk* chunk = room(buffer);
    if (!chunk) {
        buffer.lost.fetch_add(1, std::memory_order_relaxed);
        return;
    }
    const int size = chunk->size.load(std::memory_order_relaxed);
    chunk->events[size] = event;
    chunk->size.store(size + 1, std::memory_order_release);
    ++buffer.count;
}

void Recorder::start_at(std::int64_t now)
{
    const std::scoped_lock lock(mutex_);
    start_ns_ = now;
    const std::uint64_t epoch = epoch_.load(std::memory_order_relaxed);
    epoch_.store((epoch & 1) != 0 ? epoch + 2 : epoch + 1, std::memory_order_release);
}

Trace Recorder::stop_at(std::int64_t now, std::string title, Origin origin)
{
    const std::scoped_lock lock(mutex_);
    Trace trace;
    trace.title = std::move(title);
    trace.origin = origin;
    const std::uint64_t epoch = epoch_.load(std::memory_order_relaxed);
    if ((epoch & 1) == 0) return trace;
    epoch_.store(epoch + 1, std::memory_order_release);
    trace.span_ns = now - start_ns_;
    trace.workers.resize(std::size_t(workers_));
    for (int w = 0; w < workers_; ++w) {
        const Buffer& buffer = buffers_[w];
        WorkerTrace& worker = trace.workers[std::size_t(w)];
        worker.worker = w;
        worker.cpu = buffer.cpu;
        worker.kind = buffer.core_kind;
        worker.queue = buffer.queue;
        if (buffer.epoch.load(std::memory_order_acquire) == epoch) collect(buffer, trace, worker);
    }
    return trace;
}

/// Copies what one worker published, times relative to the start and cut at both ends.
void Recorder::collect(const Buffer& buffer, Trace& trace, WorkerTrace& worker) const
{
    trace.lost += buffer.lost.load(std::memory_order_relaxed);
    for (const Chunk* chunk = buffer.first.load(std::memory_order_acquire); chunk;
         chunk = chunk->next.load(std::memory_order_acquire)) {
        const int size = chunk->size.load(std::memory_order_acquire);
        for (int i = 0; i < size; ++i) {
            Event event = chunk->events[i];
            if (event.end_ns < start_ns_ || event.begin_ns > start_ns_ + trace.span_ns) continue;
            event.begin_ns = std::max<std::int64_t>(event.begin_ns - start_ns_, 0);
            event.end_ns = std::clamp(event.end_ns - start_ns_, event.begin_ns, trace.span_ns);
            worker.events.push_back(event);
        }
    }
    flatten(worker.events);
}

} // namespace trencadis
