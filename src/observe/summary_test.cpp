#include "observe/summary.hpp"
#include "observe/test_traces.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace trencadis {
namespace {

using testing::event;

/// Two cores over one millisecond; the second one joins the first one's second gemm.
Trace two_workers()
{
    Trace trace{"t", Origin::measured, 1'000'000, 0, {}};
    trace.workers.push_back(
        {0,
         4,
         "P-core",
         {event("potrf", 0, 100'000, 200'000), event("gemm", 1, 200'000, 400'000), event("gemm", 2, 500'000, 900'000)}});
    trace.workers.push_back({1,
                             5,
                             "E-core",
                             {event("idle", 0, 0, 300'000, EventKind::idle), event("gemm", 3, 300'000, 700'000),
                              event("gemm", 2, 750'000, 900'000, EventKind::share)}});
    return trace;
}

TEST(Summary, SplitsEachWorkersSpanIntoBusyIdleAndRuntime)
{
    const Summary summary = summarise(two_workers());
    ASSERT_EQ(summary.workers.size(), 2U);
    const WorkerSummary& first = summary.workers[0];
    EXPECT_EQ(first.cpu, 4);
    EXPECT_EQ(first.tasks, 3);
    EXPECT_EQ(first.shares, 0);
    EXPECT_NEAR(first.busy_s, 700e-6, 1e-12);
    EXPECT_NEAR(first.idle_s, 200e-6, 1e-12) << "before the first and after the last event";
    EXPECT_NEAR(first.runtime_s, 100e-6, 1e-12) << "between events";
    const WorkerSummary& second = summary.workers[1];
    EXPECT_EQ(second.tasks, 1);
    EXPECT_EQ(second.shares, 1);
    EXPECT_NEAR(second.busy_fraction, 0.55, 1e-9);
    EXPECT_NEAR(second.share_fraction, 0.15, 1e-9);
    EXPECT_NEAR(second.idle_fraction, 0.4, 1e-9);
    EXPECT_NEAR(second.runtime_fraction, 0.05, 1e-9);
}

TEST(Summary, CountsASharedCallOnceAndItsCoreSecondsFully)
{
    const Summary summary = summarise(two_workers());
    ASSERT_EQ(summary.kernels.size(), 2U);
    const KernelSummary& gemm = summary.kernels[0];
    EXPECT_EQ(gemm.name, "gemm");
    EXPECT_EQ(gemm.calls, 3);
    EXPECT_NEAR(gemm.total_s, 1150e-6, 1e-12);
    EXPECT_NEAR(gemm.mean_ms, 1.0 / 3, 1e-12);
    EXPECT_NEAR(gemm.gflops, 3e6 / 1150e-6 * 1e-9, 1e-9);
    ASSERT_EQ(gemm.on_kinds.size(), 2U);
    EXPECT_EQ(gemm.on_kinds[0].kind, "E-core");
    EXPECT_EQ(gemm.on_kinds[0].calls, 1);
    EXPECT_NEAR(gemm.on_kinds[0].mean_ms, 0.4, 1e-12);
    EXPECT_NEAR(gemm.on_kinds[1].mean_ms, 0.3, 1e-12);
    EXPECT_EQ(summary.kernels[1].name, "potrf");
}

TEST(Summary, CountsATaskInPiecesOnce)
{
    Trace trace{"t",
                Origin::measured,
                100,
                0,
                {{0, 0, "core", {event("outer", 0, 0, 10), event("inner", 1, 10, 20), event("outer", 0, 20, 40)}}}};
    trace.workers[0].events[2].continued = true;
    const Summary summary = summarise(trace);
    EXPECT_EQ(summary.workers[0].tasks, 2);
    EXPECT_EQ(summary.kernels[0].name, "outer");
    EXPECT_EQ(summary.kernels[0].calls, 1);
    EXPECT_NEAR(summary.kernels[0].mean_ms, 30e-6, 1e-12);
}

TEST(Summary, WorksFromTheFirstTaskOfAnyWorkerToTheLast)
{
    EXPECT_NEAR(summarise(two_workers()).working_s, 800e-6, 1e-12) << "a worker that idles from the start does not";
    EXPECT_EQ(summarise(Trace{"t", Origin::measured, 1000, 0, {{0, 0, "core", {}}}}).working_s, 0);
}

TEST(Summary, OfNothingIsEmptyAndOfAnIdleWorkerAllIdle)
{
    EXPECT_TRUE(summarise(Trace{}).workers.empty());
    const Summary summary = summarise(Trace{"t", Origin::measured, 1000, 0, {{0, 0, "core", {}}}});
    EXPECT_EQ(summary.workers[0].idle_fraction, 1);
    EXPECT_EQ(summarise(Trace{"t", Origin::measured, 0, 0, {{0, 0, "core", {}}}}).workers[0].idle_fraction, 0);
}

TEST(Summary, IsOneLineOfJson)
{
    Trace trace = two_workers();
    trace.title = "quote \" and broken \xff";
    const std::string text = to_json(summarise(trace));
    EXPECT_EQ(text.find('\n'), std::string::npos);
    const auto json = nlohmann::json::parse(text);
    EXPECT_EQ(json["origin"], "measured");
    EXPECT_EQ(json["workers"].size(), 2U);
    EXPECT_EQ(json["workers"][1]["shares"], 1);
    EXPECT_EQ(json["kernels"][0]["name"], "gemm");
    EXPECT_EQ(json["kernels"][0]["on_kinds"][1]["kind"], "P-core");
}

} // namespace
} // namespace trencadis
