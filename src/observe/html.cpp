#include "observe/html.hpp"

#include "observe/markup.hpp"
#include "observe/summary.hpp"
#include "observe/svg.hpp"
#include "observe/ticks.hpp"

#include <iterator>
#include <set>

#include <fmt/format.h>

namespace trencadis {

namespace {

constexpr const char* style = R"(
body { font: 14px/1.45 Helvetica, Arial, 'DejaVu Sans', sans-serif; color: #222; max-width: 1220px; margin: 2em auto; padding: 0 1em }
h2 { font-size: 1.15em; margin: 1.6em 0 0.4em }
svg { max-width: 100%; height: auto }
table { border-collapse: collapse; font-variant-numeric: tabular-nums }
th, td { padding: 0.2em 0.9em; text-align: right; border-bottom: 1px solid #ddd }
th:first-child, td:first-child, .text { text-align: left }
p { color: #555; max-width: 50em }
)";

class Page {
public:
    std::string write(const Trace& trace)
    {
        const Summary summary = summarise(trace);
        const std::string title = escape_markup(trace.title.empty() ? "Trace" : trace.title);
        append("<!DOCTYPE html>\n<html lang=\"en\">\n<head><meta "
               "charset=\"utf-8\"/><title>{}</title><style>{}</style></head>\n<body>\n",
               title, style);
        append("<h2>By kernel</h2>\n{}", to_svg_element(trace, SvgView::kernel));
        append("<h2>By creation order</h2>\n{}", to_svg_element(trace, SvgView::creation_order));
        append(
            "<p>Times are {}. Busy: inside kernels, of which joined: in tasks that another worker began. Idle: nothing to run. "
            "Runtime: finding, choosing and handing over tasks.</p>\n",
            origin_name(trace.origin));
        workers(summary);
        kernels(summary);
        append("</body>\n</html>\n");
        return std::move(text_);
    }

private:
    template <class... Args> void append(fmt::format_string<Args...> format, Args&&... args)
    {
        fmt::format_to(std::back_inserter(text_), format, std::forward<Args>(args)...);
    }
    void workers(const Summary& summary)
    {
        append(
            "<h2>Workers</h2>\n<table>\n<tr><th>worker</th><th>cpu</th><th class=\"text\">kind</th><th>tasks</th><th>joined</th>"
            "<th>busy s</th><th>idle s</th><th>runtime s</th><th>busy</th><th>joined</th><th>idle</th><th>runtime</th></tr>\n");
        for (const WorkerSummary& row : summary.workers) {
            append("<tr><td>{}</td><td>{}</td><td class=\"text\">{}</td><td>{}</td><td>{}</td>", row.worker,
                   row.cpu < 0 ? "" : fmt::format("{}", row.cpu), escape_markup(row.kind), tick_label(double(row.tasks), 0),
                   tick_label(double(row.shares), 0));
            append("<td>{:.6f}</td><td>{:.6f}</td><td>{:.6f}</td>", row.busy_s, row.idle_s, row.runtime_s);
            append("<td>{:.2f} %</td><td>{:.2f} %</td><td>{:.2f} %</td><td>{:.2f} %</td></tr>\n", 100 * row.busy_fraction,
                   100 * row.share_fraction, 100 * row.idle_fraction, 100 * row.runtime_fraction);
        }
        append("</table>\n");
    }
    void kernels(const Summary& summary)
    {
        std::set<std::string> kinds;
        for (const KernelSummary& row : summary.kernels)
            for (const KernelOnKind& kind : row.on_kinds) kinds.insert(kind.kind);
        append("<h2>Kernels</h2>\n<table>\n<tr><th>kernel</th><th>calls</th><th>core seconds</th><th>mean µs</th>");
        for (const std::string& kind : kinds) append("<th>mean µs on {}</th>", kind.empty() ? "core" : escape_markup(kind));
        append("<th>GFlop/s per core</th></tr>\n");
        for (const KernelSummary& row : summary.kernels) {
            append("<tr><td>{}</td><td>{}</td><td>{:.6f}</td><td>{:.3f}</td>", escape_markup(row.name),
                   tick_label(double(row.calls), 0), row.total_s, 1e3 * row.mean_ms);
            for (const std::string& kind : kinds) append("<td>{}</td>", mean_on(row, kind));
            append("<td>{}</td></tr>\n", row.gflops > 0 ? fmt::format("{:.2f}", row.gflops) : "");
        }
        append("</table>\n");
    }
    static std::string mean_on(const KernelSummary& row, const std::string& kind)
    {
        for (const KernelOnKind& on : row.on_kinds)
            if (on.kind == kind && on.calls) return fmt::format("{:.3f}", 1e3 * on.mean_ms);
        return "";
    }

    std::string text_;
};

} // namespace

std::string to_html(const Trace& trace) { return Page().write(trace); }

} // namespace trencadis
