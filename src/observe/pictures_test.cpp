#include "observe/chrome.hpp"
#include "observe/html.hpp"
#include "observe/markup.hpp"
#include "observe/paraver.hpp"
#include "observe/strips.hpp"
#include "observe/svg.hpp"
#include "observe/test_traces.hpp"
#include "observe/ticks.hpp"

#include <cstdio>
#include <map>
#include <random>
#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace trencadis {
namespace {

using testing::cholesky_trace;
using testing::event;
using ::testing::HasSubstr;
using ::testing::Not;

/// Is every element closed in order, and is there no bare & or <? Enough of XML to see a slip in our own writers.
::testing::AssertionResult well_formed(const std::string& text)
{
    std::vector<std::string> open;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] == '&') {
            const std::size_t end = text.find(';', i);
            if (end == std::string::npos || end - i > 6) return ::testing::AssertionFailure() << "bare & at " << i;
        }
        if (text[i] != '<') continue;
        const std::size_t end = text.find('>', i);
        if (end == std::string::npos) return ::testing::AssertionFailure() << "unfinished tag at " << i;
        const std::string tag = text.substr(i + 1, end - i - 1);
        if (tag[0] == '/') {
            if (open.empty() || open.back() != tag.substr(1))
                return ::testing::AssertionFailure() << "unexpected </" << tag << " at " << i;
            open.pop_back();
        } else if (tag[0] != '?' && tag[0] != '!' && tag.back() != '/') {
            open.push_back(tag.substr(0, tag.find(' ')));
        }
        i = end;
    }
    if (!open.empty()) return ::testing::AssertionFailure() << "<" << open.back() << "> is never closed";
    return ::testing::AssertionSuccess();
}

Trace hostile_trace()
{
    Trace trace = cholesky_trace(4, 2);
    trace.title = "a<b & \"c\" \x01 \xff";
    trace.workers[0].kind = "<kind>";
    trace.workers[0].events[0].name = "ker\"nel<&>\n\xc3";
    return trace;
}

/// Area in ns x full height of each path's colour, read back from the document.
std::map<std::string, double> areas(const std::string& svg, double bar_height, double ns_per_px)
{
    std::map<std::string, double> area;
    std::istringstream lines(svg);
    for (std::string line; std::getline(lines, line);) {
        char colour[8];
        if (std::sscanf(line.c_str(), "<path fill=\"%7[#0-9a-f]\" d=\"M", colour) != 1) continue;
        for (std::size_t at = line.find('h'); at != std::string::npos; at = line.find('h', at + 1)) {
            double w = 0, h = 0;
            if (std::sscanf(line.c_str() + at, "h%lfv%lf", &w, &h) == 2) area[colour] += w * h / bar_height * ns_per_px;
        }
    }
    return area;
}

TEST(ChromeJson, HasOneEventPerTaskWithExactTimes)
{
    const Trace trace = cholesky_trace(6, 3);
    const auto json = nlohmann::json::parse(to_chrome_json(trace));
    std::map<int, std::vector<std::pair<double, double>>> spans;
    std::map<int, std::string> names;
    for (const auto& e : json["traceEvents"]) {
        if (e["ph"] == "X") spans[e["tid"]].push_back({e["ts"], e["dur"]});
        if (e["ph"] == "M" && e["name"] == "thread_name") names[e["tid"]] = e["args"]["name"];
    }
    EXPECT_EQ(json["otherData"]["origin"], "simulated");
    EXPECT_EQ(names[1], "worker 0, cpu 0, P-core");
    for (const WorkerTrace& worker : trace.workers) {
        const auto& seen = spans[worker.worker + 1];
        ASSERT_EQ(seen.size(), worker.events.size());
        for (std::size_t i = 0; i < seen.size(); ++i) {
            EXPECT_DOUBLE_EQ(seen[i].first * 1000, double(worker.events[i].begin_ns));
            EXPECT_DOUBLE_EQ(seen[i].second * 1000, double(worker.events[i].end_ns - worker.events[i].begin_ns));
        }
    }
}

TEST(ChromeJson, CarriesOrderAndFlopsAndLeavesIdleBlank)
{
    Trace trace{
        "t", Origin::measured, 100, 0, {{0, 0, "core", {event("gemm", 17, 0, 50), event("idle", 0, 50, 100, EventKind::idle)}}}};
    const auto json = nlohmann::json::parse(to_chrome_json(trace));
    int tasks = 0;
    for (const auto& e : json["traceEvents"])
        if (e["ph"] == "X") {
            ++tasks;
            EXPECT_EQ(e["args"]["order"], 17);
            EXPECT_EQ(e["args"]["flops"], 1e6);
            EXPECT_EQ(e["cat"], "task");
        }
    EXPECT_EQ(tasks, 1);
}

TEST(ChromeJson, SurvivesHostileNames) { EXPECT_TRUE(nlohmann::json::accept(to_chrome_json(hostile_trace()))); }

TEST(Svg, IsWellFormedInBothViewsWithHostileNamesAndWithNothing)
{
    for (const SvgView view : {SvgView::kernel, SvgView::creation_order}) {
        EXPECT_TRUE(well_formed(to_svg(cholesky_trace(6, 3), view)));
        EXPECT_TRUE(well_formed(to_svg(hostile_trace(), view)));
        EXPECT_TRUE(well_formed(to_svg(Trace{}, view)));
        EXPECT_TRUE(well_formed(to_svg(Trace{"idle", Origin::measured, 1000, 0, {{0, 0, "core", {}}}}, view)));
    }
}

TEST(Svg, SaysHowTimesCameAboutAndNamesKernelsAndWorkers)
{
    Trace trace = cholesky_trace(6, 3);
    trace.origin = Origin::emulated;
    trace.lost = 12;
    const std::string svg = to_svg(trace, SvgView::kernel);
    for (const char* text : {"emulated", "potrf (6 calls", "gemm (20 calls", "worker 2, cpu 2, E-core", "time in ms",
                             "start 0.000 ms", "12 events lost"})
        EXPECT_THAT(svg, HasSubstr(text));
}

TEST(Svg, SaysWhyItIsEmpty)
{
    const Trace idle{"idle", Origin::measured, 1000, 0, {{0, 0, "core", {}}}};
    EXPECT_THAT(to_svg(idle, SvgView::kernel), HasSubstr("no task was recorded"));
    EXPECT_THAT(to_html(idle), HasSubstr("no task was recorded"));
    EXPECT_THAT(to_svg(cholesky_trace(6, 3), SvgView::kernel), Not(HasSubstr("no task was recorded")));
}

TEST(Svg, ShrinksALongTitleAndCutsOneThatIsTooLongBetweenCharacters)
{
    Trace trace = cholesky_trace(4, 2);
    trace.title = std::string(100, 'x');
    EXPECT_THAT(to_svg(trace, SvgView::kernel), HasSubstr(">" + trace.title + "<title>"));
    for (int shift = 0; shift < 2; ++shift) {
        trace.title = std::string(std::size_t(shift), 'x');
        for (int i = 0; i < 300; ++i) trace.title += "ä";
        const std::string svg = to_svg(trace, SvgView::kernel);
        EXPECT_THAT(svg, HasSubstr("ä…<title>"));
        EXPECT_THAT(svg, HasSubstr("<title>" + trace.title + "</title>")) << "the whole title as a tooltip";
        EXPECT_EQ(svg.find("\xef\xbf\xbd"), std::string::npos) << "half a character";
    }
}

TEST(Svg, StaysBelowTwoMegabytesForAHundredThousandTasks)
{
    for (const int workers : {2, 64}) {
        const Trace trace = cholesky_trace(84, workers, 3000);
        EXPECT_LT(to_svg(trace, SvgView::kernel).size(), 2'000'000U) << workers;
        EXPECT_LT(to_svg(trace, SvgView::creation_order).size(), 2'000'000U) << workers;
    }
}

TEST(Svg, KeepsTheAreaOfEachKernelWhenTasksAreTooShortToBeSeen)
{
    const Trace trace = cholesky_trace(60, 2, 3000);
    std::map<std::string, double> time;
    for (const WorkerTrace& worker : trace.workers)
        for (const Event& e : worker.events) time[e.name] += double(e.end_ns - e.begin_ns);
    // Rows of two workers are 40 px with bars of 84 %; the plot is 1000 px wide.
    const auto area = areas(to_svg(trace, SvgView::kernel), 40 * 0.84, double(trace.span_ns) / 1000);
    ASSERT_EQ(area.size(), 4U);
    // Coordinates are rounded to 0.01 px without bias; a cluster is at least 0.75 px wide and a part of it a few px high.
    EXPECT_NEAR(area.at("#0072b2"), time["gemm"], 0.002 * time["gemm"]);
    EXPECT_NEAR(area.at("#e69f00"), time["trsm"], 0.01 * time["trsm"]);
    EXPECT_NEAR(area.at("#009e73"), time["syrk"], 0.01 * time["syrk"]);
    EXPECT_NEAR(area.at("#d55e00"), time["potrf"], 0.05 * time["potrf"]);
}

TEST(Strips, NeverOverlapAndKeepTheTimeOfEveryColour)
{
    const unsigned seed = std::random_device{}();
    SCOPED_TRACE(::testing::Message() << "seed " << seed);
    std::mt19937 random(seed);
    for (int round = 0; round < 200; ++round) {
        WorkerTrace worker{0, 0, "core", {}};
        std::map<int, std::int64_t> time;
        std::int64_t now = 0;
        for (std::uint64_t i = 0; i < 200; ++i) {
            now += random() % 3 ? 0 : std::int64_t(random() % 300);
            const std::int64_t length = std::int64_t(random() % (random() % 5 ? 40 : 500));
            worker.events.push_back(event("x", random() % 4, now, now + length));
            time[int(worker.events.back().order)] += length;
            now += length;
        }
        std::int64_t last = 0;
        for (const Strip& strip : strips(worker, 100, [](const Event& e) { return int(e.order); })) {
            ASSERT_GE(strip.begin_ns, last);
            last = strip.end_ns;
            std::int64_t filled = 0;
            for (const Strip::Part& part : strip.parts) {
                time[part.colour] -= part.ns;
                filled += part.ns;
            }
            ASSERT_LE(filled, strip.end_ns - strip.begin_ns);
        }
        for (const auto& [colour, left] : time) ASSERT_EQ(left, 0) << colour;
    }
}

TEST(Html, IsOnePageWithBothChartsAndBothTables)
{
    const std::string page = to_html(hostile_trace());
    EXPECT_TRUE(well_formed(page));
    EXPECT_THAT(page, HasSubstr("By kernel"));
    EXPECT_THAT(page, HasSubstr("By creation order"));
    EXPECT_THAT(page, HasSubstr("<th>GFlop/s per core</th>"));
    EXPECT_THAT(page, HasSubstr("mean µs on E-core"));
    EXPECT_THAT(page, ::testing::Not(HasSubstr("src=")));
    EXPECT_THAT(page, ::testing::Not(HasSubstr("href=")));
}

TEST(Paraver, HasSortedRecordsAndAHeaderThatCountsTheWorkers)
{
    const Trace trace = cholesky_trace(6, 3);
    const ParaverTrace paraver = to_paraver(trace, 0);
    std::istringstream lines(paraver.prv);
    std::string header;
    std::getline(lines, header);
    EXPECT_THAT(header, ::testing::MatchesRegex("#Paraver \\(../../.... at ..:..\\):[0-9]+_ns:1\\(3\\):1:1\\(3:1\\)"));
    EXPECT_THAT(header, HasSubstr(":" + std::to_string(trace.span_ns) + "_ns:"));
    long last = 0;
    std::map<int, long> covered;
    int begins = 0, ends = 0;
    for (std::string line; std::getline(lines, line);) {
        long kind = 0, cpu = 0, thread = 0, begin = 0, end = 0, state = 0, value = 0;
        ASSERT_GE(std::sscanf(line.c_str(), "%ld:%ld:1:1:%ld:%ld", &kind, &cpu, &thread, &begin), 4) << line;
        ASSERT_GE(begin, last) << line;
        last = begin;
        EXPECT_TRUE(1 <= cpu && cpu <= 3 && cpu == thread) << line;
        if (kind == 1) {
            ASSERT_EQ(std::sscanf(line.c_str(), "1:%ld:1:1:%ld:%ld:%ld:%ld", &cpu, &thread, &begin, &end, &state), 5) << line;
            EXPECT_LT(begin, end);
            covered[int(cpu)] += end - begin;
        } else {
            ASSERT_EQ(kind, 2) << line;
            ASSERT_EQ(std::sscanf(line.c_str(), "2:%ld:1:1:%ld:%ld:81000001:%ld:81000002", &cpu, &thread, &begin, &value), 4)
                << line;
            (value ? begins : ends) += 1;
        }
    }
    for (int cpu = 1; cpu <= 3; ++cpu) EXPECT_EQ(covered[cpu], trace.span_ns) << "states cover the whole span";
    EXPECT_EQ(begins, 56); // 6 + 15 + 15 + 20 tasks
    EXPECT_EQ(ends, 56);
}

TEST(Paraver, ExplainsItsNumbersAndLabelsItsRows)
{
    const ParaverTrace paraver = to_paraver(hostile_trace(), 0);
    EXPECT_THAT(paraver.pcf, HasSubstr("EVENT_TYPE\n0    81000001    Kernel\nVALUES\n0      End\n1      trsm\n2      gemm\n"));
    EXPECT_THAT(paraver.pcf, HasSubstr("STATES\n0    Idle\n1    Running\n7    Runtime\n"));
    EXPECT_THAT(paraver.row, ::testing::StartsWith("LEVEL CPU SIZE 2\nworker 0, cpu 0, <kind>\nworker 1, cpu 1, E-core\n"));
    EXPECT_THAT(paraver.row, HasSubstr("LEVEL THREAD SIZE 2\n"));
    EXPECT_EQ(paraver.pcf.find("ker\"nel<&>\n"), std::string::npos) << "a line break in a name";
}

TEST(Ticks, AreRoundFewAndCoverTheAxis)
{
    for (const double end : {0.00037, 0.9, 1.0, 7.3, 10.0, 99.99, 123.4, 4999.0}) {
        const Ticks ticks = nice_ticks(end, 11);
        EXPECT_GE(ticks.positions.size(), 2U) << end;
        EXPECT_LE(ticks.positions.size(), 11U) << end;
        EXPECT_EQ(ticks.positions.front(), 0);
        EXPECT_LE(ticks.positions.back(), end * (1 + 1e-9));
        EXPECT_GT(ticks.positions.back() + ticks.positions[1], end) << "the last one is the last that fits";
        EXPECT_DOUBLE_EQ(std::stod(tick_label(ticks.positions[1], ticks.decimals)), ticks.positions[1]);
    }
    EXPECT_EQ(nice_ticks(0, 11).positions, std::vector<double>{0});
}

TEST(Ticks, SetThousandsApart)
{
    EXPECT_EQ(tick_label(999, 0), "999");
    EXPECT_EQ(tick_label(1234567, 0), "1\u2009234\u2009567");
    EXPECT_EQ(tick_label(123456.25, 2), "123\u2009456.25");
    EXPECT_EQ(tick_label(-123, 0), "-123");
}

TEST(Ticks, LabelDurationsInTheUnitThatSuitsThem)
{
    EXPECT_EQ(duration_label(0), "0.00 ns");
    EXPECT_EQ(duration_label(10.7e-9), "10.7 ns");
    EXPECT_EQ(duration_label(870e-9), "870 ns");
    EXPECT_EQ(duration_label(999.9e-9), "1.00 µs");
    EXPECT_EQ(duration_label(1.324e-3), "1.32 ms");
    EXPECT_EQ(duration_label(12.34), "12.3 s");
    EXPECT_EQ(duration_label(1234), "1234 s");
}

TEST(Markup, EscapesMarksAndReplacesWhatNoDocumentMayHold)
{
    EXPECT_EQ(escape_markup("a<b>&\"'"), "a&lt;b&gt;&amp;&quot;&#39;");
    EXPECT_EQ(escape_markup("gr\xc3\xb6\xc3\x9f"
                            "er \xe2\x89\xa5 \xf0\x9f\x99\x82"),
              "gr\xc3\xb6\xc3\x9f"
              "er \xe2\x89\xa5 \xf0\x9f\x99\x82");
    EXPECT_EQ(escape_markup("\x01"), "\xef\xbf\xbd");
    EXPECT_EQ(escape_markup("\xff"), "\xef\xbf\xbd");
    EXPECT_EQ(escape_markup("\xc3"), "\xef\xbf\xbd");
    EXPECT_EQ(escape_markup("\xed\xa0\x80"), "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd") << "a surrogate";
}

} // namespace
} // namespace trencadis
