#include "engines/own/worker_books.hpp"

#include "observe/clock.hpp"

namespace trencadis {
namespace {

thread_local RunningTask* innermost = nullptr;

} // namespace

WorkerBooks::WorkerBooks(std::span<const WorkerPlace> places)
    : pages_(std::make_unique<Page[]>(places.size())), workers_(places.size()), recorder_(int(places.size()))
{
    for (std::size_t w = 0; w < places.size(); ++w) recorder_.describe(WorkerId(w), places[w].cpu, places[w].kind_name);
}

std::vector<WorkerTime> WorkerBooks::times() const
{
    std::vector<WorkerTime> times(workers_);
    for (std::size_t w = 0; w < workers_; ++w) {
        times[w].busy_ns = pages_[w].busy_ns.load(std::memory_order_relaxed);
        times[w].tasks = pages_[w].tasks.load(std::memory_order_relaxed);
    }
    return times;
}

RunningTask::RunningTask(WorkerBooks& books, WorkerId worker, const StoredTask& task, std::uint64_t order)
    : books_(books), worker_(worker), task_(task), order_(order), outer_(innermost), begin_ns_(now_ns())
{
    if (outer_) outer_->note(begin_ns_);
    innermost = this;
}

RunningTask::~RunningTask()
{
    const std::int64_t end_ns = now_ns();
    note(end_ns);
    if (task_.codelet().counted) books_.pages_[std::size_t(worker_)].tasks.fetch_add(1, std::memory_order_relaxed);
    innermost = outer_;
    if (!outer_) return;
    outer_->begin_ns_ = end_ns;
    outer_->continued_ = true;
}

void RunningTask::note(std::int64_t end_ns) noexcept
{
    if (!task_.codelet().counted) return;
    WorkerBooks::Page& page = books_.pages_[std::size_t(worker_)];
    page.busy_ns.fetch_add(end_ns - begin_ns_, std::memory_order_relaxed);
    if (!books_.recorder_.enabled()) return;
    const std::lock_guard lock(page.recording);
    books_.recorder_.record(
        worker_, {task_.label(), order_, begin_ns_, end_ns, continued_ ? 0 : task_.flops(), EventKind::task, continued_});
}

} // namespace trencadis
