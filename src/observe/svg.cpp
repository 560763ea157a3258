#include "observe/svg.hpp"

#include "observe/chrome.hpp"
#include "observe/markup.hpp"
#include "observe/palette.hpp"
#include "observe/strips.hpp"
#include "observe/summary.hpp"
#include "observe/ticks.hpp"

#include <algorithm>
#include <iterator>

#include <fmt/format.h>

namespace trencadis {

namespace {

/// Sizes in pixels of the document at its natural size.
constexpr double width = 1200, left = 170, right = 30, top = 94, plot_width = width - left - right;
constexpr double tooltip_limit = 4000; // single events in one picture that still get a text of their own
constexpr double resolution_px = 0.75; // what is narrower is gathered
constexpr double strips_limit = 16000; // in one picture; many workers share it
constexpr const char* background = "#e8e8e8";
constexpr int order_steps = 20;

/// Numbers the colours of one view.
class Colouring {
public:
    Colouring(const Trace& trace, SvgView view) : view_(view), kernels_(trace)
    {
        for (const WorkerTrace& worker : trace.workers)
            for (const Event& event : worker.events) {
                if (event.kind == EventKind::idle) continue;
                last_order_ = std::max(last_order_, event.order);
                has_shares_ |= event.kind == EventKind::share;
            }
    }
    /// Kernels take two numbers each: even when begun, odd when joined.
    int operator()(const Event& event) const
    {
        if (view_ == SvgView::kernel) return 2 * kernels_.index(event.name) + (event.kind == EventKind::share);
        return int(double(event.order) / double(last_order_ + 1) * order_steps);
    }
    int count() const { return view_ == SvgView::kernel ? 2 * kernels_.count() : order_steps; }
    Rgb colour(int number) const
    {
        if (view_ == SvgView::creation_order) return sequential_colour(double(number) / (order_steps - 1));
        const Rgb full = kernels_.colour(number / 2);
        return number % 2 ? lighten(full, 0.45) : full;
    }
    SvgView view() const { return view_; }
    const KernelPalette& kernels() const { return kernels_; }
    std::uint64_t last_order() const { return last_order_; }
    bool has_shares() const { return has_shares_; }

private:
    SvgView view_;
    KernelPalette kernels_;
    std::uint64_t last_order_ = 0;
    bool has_shares_ = false;
};

/// A number of pixels with at most two decimals and no trailing zeros.
std::string px(double value)
{
    std::string text = fmt::format("{:.2f}", value);
    text.erase(text.find_last_not_of('0') + 1);
    if (text.back() == '.') text.pop_back();
    return text;
}

class Gantt {
public:
    Gantt(const Trace& trace, SvgView view)
        : trace_(trace), summary_(summarise(trace)), colouring_(trace, view),
          span_ns_(double(std::max<std::int64_t>(trace.span_ns, 1))),
          row_(std::clamp(420.0 / double(std::max<std::size_t>(trace.workers.size(), 1)), 12.0, 40.0)),
          bottom_(top + row_ * double(trace.workers.size()))
    {
    }
    std::string draw()
    {
        heading();
        rows();
        time_axis();
        bars();
        flags();
        const double height = legend(bottom_ + 64);
        return fmt::format("<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1}\" viewBox=\"0 0 {0} {1}\" "
                           "font-family=\"Helvetica, Arial, 'DejaVu Sans', sans-serif\" font-size=\"12\" fill=\"#222\">\n"
                           "<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n{2}</svg>\n",
                           width, px(height), body_);
    }

private:
    template <class... Args> void append(fmt::format_string<Args...> format, Args&&... args)
    {
        fmt::format_to(std::back_inserter(body_), format, std::forward<Args>(args)...);
    }
    double x(double ns) const { return left + ns / span_ns_ * plot_width; }
    double y(std::size_t worker) const { return top + row_ * double(worker); }
    double bar_height() const { return row_ * 0.84; }

    void heading();
    void title(const std::string& text);
    void rows();
    void time_axis();
    void bars();
    void flags();
    void flag(double ns, bool end);
    double legend(double y);
    double kernel_legend(double y);
    double order_legend(double y);
    double legend_item(double& x, double y, const std::string& colour, const std::string& text);

    const Trace& trace_;
    const Summary summary_;
    const Colouring colouring_;
    const double span_ns_;
    const double row_;
    const double bottom_;
    std::string body_;
};

void Gantt::heading()
{
    Seconds busy = 0, idle = 0, runtime = 0;
    std::int64_t tasks = 0, shares = 0;
    for (const WorkerSummary& worker : summary_.workers) {
        busy += worker.busy_s, idle += worker.idle_s, runtime += worker.runtime_s;
        tasks += worker.tasks, shares += worker.shares;
    }
    const double percent = 100 / std::max(busy + idle + runtime, 1e-12);
    std::string facts = fmt::format("{} · {} worker{} · {} tasks", origin_name(trace_.origin), trace_.workers.size(),
                                    trace_.workers.size() == 1 ? "" : "s", tick_label(double(tasks), 0));
    if (shares) facts += fmt::format(", joined {} time{}", tick_label(double(shares), 0), shares == 1 ? "" : "s");
    facts += fmt::format(" · busy {:.1f} %, idle {:.1f} %, runtime {:.1f} %", busy * percent, idle * percent, runtime * percent);
    if (summary_.kernels.empty()) facts += " · no task was recorded: calls this small run on the calling thread";
    if (trace_.lost) facts += fmt::format(" · {} events lost for want of memory", trace_.lost);
    title(trace_.title.empty() ? "Trace" : trace_.title);
    append("<text x=\"{}\" y=\"48\" fill=\"#555\">{}</text>\n", px(left), facts);
}

/// As large as it fits, at least 11 px; what is longer than that is cut and stays readable as a tooltip.
void Gantt::title(const std::string& text)
{
    constexpr double em = 0.62; // mean width of a bold character
    const double fitting = plot_width / (em * double(text.size()));
    const double size = std::clamp(fitting, 11.0, 17.0);
    std::string shown = text;
    if (fitting < size) {
        shown.resize(std::size_t(plot_width / (em * size)) - 1);
        while (!shown.empty() && (static_cast<unsigned char>(shown.back()) & 0xC0) == 0x80)
            shown.pop_back(); // no half characters
        if (!shown.empty() && static_cast<unsigned char>(shown.back()) >= 0xC0) shown.pop_back();
        shown += "…";
    }
    append("<text x=\"{}\" y=\"28\" font-size=\"{}\" font-weight=\"bold\">{}<title>{}</title></text>\n", px(left), px(size),
           escape_markup(shown), escape_markup(text));
}

void Gantt::rows()
{
    const double font = std::min(12.0, row_ * 0.8);
    for (std::size_t w = 0; w < trace_.workers.size(); ++w) {
        append("<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" fill=\"{}\"/>\n", px(left), px(y(w)), px(plot_width),
               px(bar_height()), background);
        append("<text x=\"{}\" y=\"{}\" text-anchor=\"end\" font-size=\"{}\">{}</text>\n", px(left - 8),
               px(y(w) + bar_height() / 2 + font * 0.36), px(font), escape_markup(worker_label(trace_.workers[w])));
    }
}

void Gantt::time_axis()
{
    const Ticks ticks = nice_ticks(span_ns_ * 1e-6, 11);
    for (double ms : ticks.positions) {
        append("<path d=\"M{0} {1}V{2}\" stroke=\"#fff\"/><path d=\"M{0} {2}v5\" stroke=\"#444\"/>"
               "<text x=\"{0}\" y=\"{3}\" text-anchor=\"middle\">{4}</text>\n",
               px(x(ms * 1e6)), px(top), px(bottom_), px(bottom_ + 19), tick_label(ms, ticks.decimals));
    }
    append("<path d=\"M{} {}h{}\" stroke=\"#444\"/>\n", px(left), px(bottom_), px(plot_width));
    append("<text x=\"{}\" y=\"{}\" text-anchor=\"middle\">time in ms{}</text>\n", px(left + plot_width / 2), px(bottom_ + 38),
           trace_.origin == Origin::simulated ? " (simulated)" : "");
}

/// One path per colour, and one of hairlines that part neighbours; single events also get a text where there are few.
void Gantt::bars()
{
    const double pixels = std::max(resolution_px, double(trace_.workers.size()) * plot_width / strips_limit);
    const auto resolution_ns = std::int64_t(pixels / plot_width * span_ns_);
    std::vector<std::string> paths(std::size_t(colouring_.count()));
    std::string hairlines, tooltips;
    int singles = 0;
    for (std::size_t w = 0; w < trace_.workers.size(); ++w)
        for (const Strip& strip : strips(trace_.workers[w], resolution_ns, std::cref(colouring_))) {
            const double begin = x(double(strip.begin_ns)), end = x(double(strip.end_ns));
            const double length = double(strip.end_ns - strip.begin_ns);
            double floor = y(w) + bar_height();
            for (const Strip::Part& part : strip.parts) {
                const double height = bar_height() * double(part.ns) / length;
                floor -= height;
                fmt::format_to(std::back_inserter(paths[std::size_t(part.colour)]), "M{} {}h{}v{}H{}z", px(begin), px(floor),
                               px(end - begin), px(height), px(begin));
            }
            if (!strip.event) continue;
            if (end - begin > 2.5)
                fmt::format_to(std::back_inserter(hairlines), "M{} {}v{}", px(begin), px(y(w)), px(bar_height()));
            if (++singles > tooltip_limit) continue;
            fmt::format_to(std::back_inserter(tooltips),
                           "<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\"><title>{} {}{}, {:.3f} ms</title></rect>\n",
                           px(begin), px(y(w)), px(end - begin), px(bar_height()), escape_markup(strip.event->name),
                           strip.event->order, strip.event->kind == EventKind::share ? " (joined)" : "", length * 1e-6);
        }
    for (std::size_t c = 0; c < paths.size(); ++c)
        if (!paths[c].empty()) append("<path fill=\"{}\" d=\"{}\"/>\n", to_hex(colouring_.colour(int(c))), paths[c]);
    if (!hairlines.empty()) append("<path stroke=\"#fff\" stroke-width=\"0.6\" fill=\"none\" d=\"{}\"/>\n", hairlines);
    if (singles <= tooltip_limit) append("<g fill-opacity=\"0\">\n{}</g>\n", tooltips);
}

void Gantt::flags()
{
    std::int64_t begin = trace_.span_ns, end = -1;
    for (const WorkerTrace& worker : trace_.workers)
        for (const Event& event : worker.events) {
            if (event.kind == EventKind::idle) continue;
            begin = std::min(begin, event.begin_ns);
            end = std::max(end, event.end_ns);
        }
    if (end < 0) return;
    flag(double(begin), false);
    flag(double(end), true);
}

/// The start's flag is green and flies to the right, the end's is vermilion, flies to the left and higher up: both stay on the
/// picture and apart.
void Gantt::flag(double ns, bool end)
{
    const double pole = x(ns), side = end ? -1 : 1, peak = top - (end ? 33 : 18);
    const char* colour = end ? "#d55e00" : "#009e73";
    append("<path d=\"M{} {}V{}\" stroke=\"{}\" stroke-width=\"1.2\"/>", px(pole), px(peak), px(bottom_), colour);
    append("<path d=\"M{} {}l{} 5l{} 5z\" fill=\"{}\"/>", px(pole), px(peak), px(12 * side), px(-12 * side), colour);
    append("<text x=\"{}\" y=\"{}\" text-anchor=\"{}\" fill=\"{}\">{} {:.3f} ms</text>\n", px(pole + 16 * side), px(peak + 9),
           end ? "end" : "start", colour, end ? "end" : "start", ns * 1e-6);
}

/// Draws the legend from `y` down and returns the height of the whole picture.
double Gantt::legend(double y) { return (colouring_.view() == SvgView::kernel ? kernel_legend(y) : order_legend(y)) + 16; }

/// One swatch with its text; begins a new line where the right margin would be crossed. Returns y.
double Gantt::legend_item(double& x, double y, const std::string& colour, const std::string& text)
{
    const double advance = 32 + 6.6 * double(text.size());
    if (x > left && x + advance > width - right) {
        x = left;
        y += 20;
    }
    append("<rect x=\"{}\" y=\"{}\" width=\"13\" height=\"13\" fill=\"{}\"/><text x=\"{}\" y=\"{}\">{}</text>\n", px(x),
           px(y - 11), colour, px(x + 18), px(y), escape_markup(text));
    x += advance;
    return y;
}

double Gantt::kernel_legend(double y)
{
    constexpr std::size_t most = 24;
    double x = left;
    for (std::size_t k = 0; k < std::min(summary_.kernels.size(), most); ++k) {
        const KernelSummary& kernel = summary_.kernels[k];
        const Rgb colour = colouring_.kernels().colour(colouring_.kernels().index(kernel.name));
        y = legend_item(x, y, to_hex(colour),
                        fmt::format("{} ({} calls, mean {})", kernel.name, kernel.calls, duration_label(kernel.mean_ms * 1e-3)));
    }
    if (summary_.kernels.size() > most)
        y = legend_item(x, y, "#222222", fmt::format("and {} more", summary_.kernels.size() - most));
    x = left;
    y += 20;
    if (colouring_.has_shares())
        y = legend_item(x, y, to_hex(lighten({0x55, 0x55, 0x55}, 0.45)), "lighter: joined another worker's task");
    return legend_item(x, y, background, "idle or runtime");
}

double Gantt::order_legend(double y)
{
    constexpr double step = 12;
    append("<text x=\"{}\" y=\"{}\">created first (0)</text>\n", px(left), px(y));
    double x = left + 105;
    for (int i = 0; i < order_steps; ++i, x += step)
        append("<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"13\" fill=\"{}\"/>", px(x), px(y - 11), px(step),
               to_hex(colouring_.colour(i)));
    append("<text x=\"{}\" y=\"{}\">last ({})</text>\n", px(x + 6), px(y), tick_label(double(colouring_.last_order()), 0));
    x += 140;
    return legend_item(x, y, background, "idle or runtime");
}

} // namespace

std::string to_svg_element(const Trace& trace, SvgView view) { return Gantt(trace, view).draw(); }

std::string to_svg(const Trace& trace, SvgView view)
{
    return "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n" + to_svg_element(trace, view);
}

} // namespace trencadis
