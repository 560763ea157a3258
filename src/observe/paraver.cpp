#include "observe/paraver.hpp"

#include "observe/arrows.hpp"
#include "observe/chrome.hpp"
#include "observe/palette.hpp"
#include "observe/summary.hpp"

#include <algorithm>
#include <iterator>

#include <fmt/chrono.h>
#include <fmt/format.h>

namespace trencadis {

namespace {

constexpr int state_idle = 0, state_running = 1, state_runtime = 7;

/// One line of the .prv file with its place in it.
struct Record {
    std::int64_t time_ns;
    int rank; ///< among records of one time: states before events, ends before begins, communications last
    std::string text;
};

class ParaverWriter {
public:
    explicit ParaverWriter(const Trace& trace) : trace_(trace), kernels_(trace) {}

    ParaverTrace write(std::time_t written)
    {
        for (std::size_t w = 0; w < trace_.workers.size(); ++w) write_worker(w);
        for (const Arrow& arrow : arrows_of(trace_)) write_arrow(arrow);
        std::stable_sort(records_.begin(), records_.end(), [](const Record& a, const Record& b) {
            return a.time_ns != b.time_ns ? a.time_ns < b.time_ns : a.rank < b.rank;
        });
        std::string prv = header(written);
        for (const Record& record : records_) prv += record.text;
        return {std::move(prv), configuration(), rows()};
    }

private:
    std::string header(std::time_t written) const
    {
        std::tm local{};
        localtime_r(&written, &local);
        const std::size_t n = trace_.workers.size();
        return fmt::format("#Paraver ({:%d/%m/%Y at %H:%M}):{}_ns:1({}):1:1({}:1)\n", local, trace_.span_ns, n, n);
    }
    /// States cover the whole span of each worker; what no event covers is runtime, before the first and after the last
    /// event idle.
    void write_worker(std::size_t w)
    {
        const std::vector<Event>& events = trace_.workers[w].events;
        std::int64_t now = 0;
        for (std::size_t i = 0; i < events.size(); ++i) {
            const Event& event = events[i];
            state(w, now, event.begin_ns, i == 0 ? state_idle : state_runtime);
            state(w, event.begin_ns, event.end_ns, event.kind == EventKind::idle ? state_idle : state_running);
            if (event.kind != EventKind::idle) task(w, event);
            now = event.end_ns;
        }
        state(w, now, trace_.span_ns, state_idle);
    }
    void state(std::size_t w, std::int64_t begin, std::int64_t end, int state)
    {
        if (begin < end) records_.push_back({begin, 0, fmt::format("1:{0}:1:1:{0}:{1}:{2}:{3}\n", w + 1, begin, end, state)});
    }
    void task(std::size_t w, const Event& event)
    {
        const int joined = event.kind == EventKind::share;
        records_.push_back(
            {event.begin_ns, 2,
             fmt::format("2:{0}:1:1:{0}:{1}:{2}:{3}:{4}:{5}:{6}:{7}\n", w + 1, event.begin_ns, paraver_kernel_type,
                         kernels_.index(event.name) + 1, paraver_order_type, event.order + 1, paraver_joined_type, joined)});
        records_.push_back({event.end_ns, event.begin_ns == event.end_ns ? 2 : 1,
                            fmt::format("2:{0}:1:1:{0}:{1}:{2}:0:{3}:0:{4}:0\n", w + 1, event.end_ns, paraver_kernel_type,
                                        paraver_order_type, paraver_joined_type)});
    }
    /// A communication: sent when the copy began, received when the task that it is for begins.
    void write_arrow(const Arrow& arrow)
    {
        records_.push_back({arrow.sent_ns, 3,
                            fmt::format("3:{0}:1:1:{0}:{1}:{1}:{2}:1:1:{2}:{3}:{3}:{4:.0f}:1\n", arrow.from + 1, arrow.sent_ns,
                                        arrow.to + 1, arrow.used_ns, arrow.bytes)});
    }
    std::string configuration() const;
    std::string rows() const;

    const Trace& trace_;
    const KernelPalette kernels_;
    std::vector<Record> records_;
};

/// Names as one line each: the format knows no quoting.
std::string one_line(std::string text)
{
    for (char& c : text)
        if (static_cast<unsigned char>(c) < 0x20) c = ' ';
    return text;
}

std::string ParaverWriter::configuration() const
{
    std::string pcf = "DEFAULT_OPTIONS\n\nLEVEL               THREAD\nUNITS               NANOSEC\nLOOK_BACK           100\n"
                      "SPEED               1\nFLAG_ICONS          ENABLED\nNUM_OF_STATE_COLORS 1000\nYMAX_SCALE          37\n\n\n"
                      "DEFAULT_SEMANTIC\n\nTHREAD_FUNC          State As Is\n\n\n";
    pcf += "STATES\n0    Idle\n1    Running\n7    Runtime\n\n\n"
           "STATES_COLOR\n0    {232,232,232}\n1    {0,114,178}\n7    {213,94,0}\n\n\n";
    pcf += fmt::format("EVENT_TYPE\n0    {}    Kernel\nVALUES\n0      End\n", paraver_kernel_type);
    for (int k = 0; k < kernels_.count(); ++k) pcf += fmt::format("{}      {}\n", k + 1, one_line(kernels_.name(k)));
    pcf += fmt::format("\n\nEVENT_TYPE\n0    {}    Creation order + 1 (0: end)\n\n\n", paraver_order_type);
    pcf += fmt::format("EVENT_TYPE\n0    {}    Part in another worker's task\nVALUES\n0      No\n1      Yes\n\n\n",
                       paraver_joined_type);
    return pcf;
}

std::string ParaverWriter::rows() const
{
    const std::size_t n = trace_.workers.size();
    std::string labels;
    for (const WorkerTrace& worker : trace_.workers) labels += one_line(worker_label(worker)) + "\n";
    return fmt::format("LEVEL CPU SIZE {0}\n{1}\nLEVEL NODE SIZE 1\n{2}\n\nLEVEL THREAD SIZE {0}\n{1}", n, labels,
                       origin_name(trace_.origin));
}

} // namespace

ParaverTrace to_paraver(const Trace& trace, std::time_t written) { return ParaverWriter(trace).write(written); }

} // namespace trencadis
