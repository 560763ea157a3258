#include "observe/chrome.hpp"

#include "observe/arrows.hpp"
#include "observe/summary.hpp"

#include <iterator>
#include <string_view>
#include <unordered_map>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace trencadis {

namespace {

std::string json_text(std::string_view text)
{
    return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

class ChromeWriter {
public:
    std::string write(const Trace& trace)
    {
        append("{{\"displayTimeUnit\":\"ms\",\"otherData\":{{\"title\":{},\"origin\":\"{}\",\"lost\":{},\"node_bytes\":[",
               json_text(trace.title), origin_name(trace.origin), trace.lost);
        for (const NodeBytes& row : trace.node_bytes)
            append("{}{{\"node\":{},\"local_read\":{},\"remote_read\":{},\"local_written\":{},\"remote_written\":{}}}",
                   &row == trace.node_bytes.data() ? "" : ",", row.node, row.local_read, row.remote_read, row.local_written,
                   row.remote_written);
        append("],\"choices\":[");
        for (const ChosenPlan& one : trace.choices)
            append("{}{{\"call\":{},\"plan\":{},\"times\":{},\"workers\":{},\"callers\":{}}}",
                   &one == trace.choices.data() ? "" : ",", json_text(one.call), json_text(one.plan), one.times, one.workers,
                   one.callers);
        append("]}},\"traceEvents\":[\n");
        append("{{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":1,\"args\":{{\"name\":{}}}}}",
               json_text(fmt::format("{} ({})", trace.title.empty() ? "trencadis" : trace.title, origin_name(trace.origin))));
        for (const WorkerTrace& worker : trace.workers) write_worker(worker);
        int arrow = 0;
        for (const Arrow& one : arrows_of(trace)) write_arrow(one, ++arrow);
        append("\n]}}\n");
        return std::move(text_);
    }

private:
    template <class... Args> void append(fmt::format_string<Args...> format, Args&&... args)
    {
        fmt::format_to(std::back_inserter(text_), format, std::forward<Args>(args)...);
    }
    /// Thread numbers begin at 1: Perfetto takes thread 0 for the idle task.
    void write_worker(const WorkerTrace& worker)
    {
        const int tid = worker.worker + 1;
        append(",\n{{\"ph\":\"M\",\"name\":\"thread_name\",\"pid\":1,\"tid\":{},\"args\":{{\"name\":{}}}}}", tid,
               json_text(worker_label(worker)));
        append(",\n{{\"ph\":\"M\",\"name\":\"thread_sort_index\",\"pid\":1,\"tid\":{},\"args\":{{\"sort_index\":{}}}}}", tid,
               worker.worker);
        for (const Event& event : worker.events)
            if (event.kind != EventKind::idle) write_event(event, tid);
    }
    /// Times are microseconds with the nanoseconds as decimals, so that nothing is rounded and neighbours never overlap.
    void write_event(const Event& event, int tid)
    {
        const std::int64_t length = event.end_ns - event.begin_ns;
        append(",\n{{\"ph\":\"X\",\"name\":{},\"cat\":\"{}\",\"pid\":1,\"tid\":{},\"ts\":{}.{:03},\"dur\":{}.{:03},"
               "\"args\":{{\"order\":{},\"{}\":{}}}}}",
               name(event.name), category(event.kind), tid, event.begin_ns / 1000, event.begin_ns % 1000, length / 1000,
               length % 1000, event.order, event.kind == EventKind::copy ? "bytes" : "flops", event.flops);
    }
    static const char* category(EventKind kind)
    {
        return kind == EventKind::share ? "share" : kind == EventKind::copy ? "copy" : "task";
    }
    /// From the copy to the task that it is for.
    void write_arrow(const Arrow& arrow, int id)
    {
        append(",\n{{\"ph\":\"s\",\"id\":{},\"name\":\"data\",\"cat\":\"copy\",\"pid\":1,\"tid\":{},\"ts\":{}.{:03}}}", id,
               arrow.from + 1, arrow.sent_ns / 1000, arrow.sent_ns % 1000);
        append(
            ",\n{{\"ph\":\"f\",\"bp\":\"e\",\"id\":{},\"name\":\"data\",\"cat\":\"copy\",\"pid\":1,\"tid\":{},\"ts\":{}.{:03}}}",
            id, arrow.to + 1, arrow.used_ns / 1000, arrow.used_ns % 1000);
    }
    const std::string& name(const char* name)
    {
        std::string& text = names_[name];
        if (text.empty()) text = json_text(name);
        return text;
    }

    std::string text_;
    std::unordered_map<const char*, std::string> names_;
};

} // namespace

std::string to_chrome_json(const Trace& trace) { return ChromeWriter().write(trace); }

std::string worker_label(const WorkerTrace& worker)
{
    if (worker.queue) return worker.kind;
    std::string label = fmt::format("worker {}", worker.worker);
    if (worker.cpu >= 0) label += fmt::format(", cpu {}", worker.cpu);
    if (!worker.kind.empty()) label += fmt::format(", {}", worker.kind);
    return label;
}

} // namespace trencadis
