#include "engines/simulated/testing.hpp"
#include "session/session.hpp"
#include "simulation/graph_survey.hpp"
#include "simulation/simulation.hpp"
#include "simulation/simulation_units.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

namespace trencadis {
namespace {

using testing::cores_of_speed;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::in_own_process;
using ::testing::IsEmpty;

const char* const cholesky_kernels[] = {"potrf", "trsm", "syrk", "gemm"};

/// Cores of these speeds for all kernels of Cholesky.
Machine cholesky_machine(const std::vector<double>& speeds)
{
    Machine machine = cores_of_speed(speeds);
    machine.origin = "test.toml";
    const std::vector<KernelTime> known = std::exchange(machine.kernels, {});
    for (const KernelTime& on_kind : known)
        for (const char* kernel : cholesky_kernels) machine.kernels.push_back({kernel, on_kind.on, on_kind.gflops});
    return machine;
}

SimulationRequest request_on(Machine machine, Index n, Index nb, const std::string& scheduler = "eager")
{
    SimulationRequest request;
    request.described = std::move(machine);
    request.n = n;
    request.nb = nb;
    request.scheduler = scheduler;
    return request;
}

std::string answer_to(const SimulationRequest& request, const std::function<std::string(const SimulationResult&)>& told)
{
    return in_own_process([&] { return told(simulate(request)); });
}

TEST(Simulate, CountsTheKernelsOfCholesky)
{
    TRC_NEEDS_SIMGRID;
    const auto counts = [](const SimulationResult& result) {
        std::string text = fmt::format("{} tasks:", result.tasks);
        for (const SimulationReport::OfKernel& kernel : result.kernels)
            text += fmt::format(" {} {}", kernel.kernel, kernel.calls);
        return text;
    };
    // s = 5 tile rows: s, s (s - 1) / 2 twice, s (s - 1) (s - 2) / 6.
    EXPECT_EQ(answer_to(request_on(cholesky_machine({1, 1, 1}), 450, 100), counts), "35 tasks: gemm 10 potrf 5 syrk 10 trsm 10");
}

TEST(Simulate, CutsPanelsAsACallOnItsWorkersDoesWhereThatIsAsked)
{
    TRC_NEEDS_SIMGRID;
    const auto panels = [](const SimulationResult& result) {
        const auto panel = std::ranges::find(result.kernels, "getrf_panel", &SimulationReport::OfKernel::kernel);
        return fmt::format("{} panels", panel->calls);
    };
    Machine machine = cores_of_speed({1});
    machine.kernels.clear();
    for (const char* kernel : {"getrf_panel", "swptr", "laswp", "gemm"}) machine.kernels.push_back({kernel, "kind0", 1});
    SimulationRequest request = request_on(machine, 1024, 256);
    request.routine = "getrf";
    EXPECT_EQ(answer_to(request, panels), "11 panels"); // their halves apart, for whoever has time
    request.as_called = true;
    EXPECT_EQ(answer_to(request, panels), "4 panels"); // one core has no help
}

TEST(Simulate, TakesTheSumOfAllKernelsOnOneCore)
{
    TRC_NEEDS_SIMGRID;
    const auto told = [](const SimulationResult& result) {
        // On one core there is nothing to wait for: busy all the time, and as fast as the bound says.
        return fmt::format("{:.4f} {:.4f} {:.4f}", result.idle_fraction, result.gflops / result.capacity_gflops,
                           result.workers[0].busy_s / result.makespan_s);
    };
    EXPECT_EQ(answer_to(request_on(cholesky_machine({2}), 500, 100), told), "0.0000 1.0000 1.0000");
}

TEST(Simulate, TakesWhatTheRuntimeCostsForEmptyKernels)
{
    TRC_NEEDS_SIMGRID;
    SimulationRequest request = request_on(cholesky_machine({1, 1}), 3, 0);
    request.routine = "tasks";
    const auto told = [](const SimulationResult& result) {
        return fmt::format("{} tasks, {} of no time, {:.6f} s", result.tasks, result.untimed, result.makespan_s);
    };
    EXPECT_EQ(answer_to(request, told), "10 tasks, 10 of no time, 0.000000 s");
    request.options.submit_s = 0.5;
    EXPECT_EQ(answer_to(request, told), "10 tasks, 10 of no time, 5.000000 s");
}

TEST(Simulate, StaysBelowItsBounds)
{
    TRC_NEEDS_SIMGRID;
    for (const char* scheduler : {"eager", "eager:join=no", "mosaic", "ws", "heft", "virtual-cores"}) {
        const auto told = [](const SimulationResult& result) {
            return result.makespan_s >= result.bounds.time_s() * (1 - 1e-9) && result.gflops > 0
                       ? "yes"
                       : fmt::format("{} s, bound {} s", result.makespan_s, result.bounds.time_s());
        };
        EXPECT_EQ(answer_to(request_on(cholesky_machine({1, 1, 4, 4}), 1000, 100, scheduler), told), "yes") << scheduler;
    }
}

/// A kernel may be as much faster as it may be slower.
TEST(Simulate, StaysBelowItsBoundsWhereKernelTimesAreSpread)
{
    TRC_NEEDS_SIMGRID;
    SimulationRequest request = request_on(cholesky_machine({1}), 100, 100);
    request.options.jitter = 0.5;
    for (const std::uint64_t seed : {1, 5, 6, 7}) {
        request.options.seed = seed;
        EXPECT_EQ(answer_to(request,
                            [](const SimulationResult& result) {
                                const double time = result.makespan_s, bound = result.bounds.time_s();
                                return time >= bound * (1 - 1e-9) && time <= 3 * bound * (1 + 1e-9)
                                           ? std::string("yes")
                                           : fmt::format("{} s, bound {} s", time, bound);
                            }),
                  "yes")
            << seed;
    }
}

TEST(Simulate, TracesWhatItCounted)
{
    TRC_NEEDS_SIMGRID;
    SimulationRequest request = request_on(cholesky_machine({1, 4}), 600, 100);
    request.trace = true;
    const auto told = [](const SimulationResult& result) {
        std::int64_t tasks = 0;
        std::vector<double> busy(result.workers.size());
        for (const WorkerTrace& worker : result.trace.workers)
            for (const Event& event : worker.events) {
                tasks += event.kind == EventKind::task;
                if (event.kind != EventKind::idle) busy[worker.worker] += (event.end_ns - event.begin_ns) * 1e-9;
            }
        for (std::size_t w = 0; w < busy.size(); ++w)
            if (std::abs(busy[w] - result.workers[w].busy_s) > 1e-6) return fmt::format("worker {}: {} s", w, busy[w]);
        return fmt::format("{} {}", tasks, result.trace.origin == Origin::simulated);
    };
    EXPECT_EQ(answer_to(request, told), "56 true");
}

TEST(Simulate, RunsEveryGraphOnDescribedMachines)
{
    TRC_NEEDS_SIMGRID;
    const auto told = [](const SimulationResult& result) { return result.makespan_s > 0 && result.tasks > 0 ? "yes" : "no"; };
    for (const auto& [routine, variant] : {std::pair("potrf", "two-level"),
                                           {"getrf", "incremental"},
                                           {"getrf", "kastors"},
                                           {"getrf", "kastors-cw"},
                                           {"getrf", "panel"},
                                           {"getrf", "nopiv"},
                                           {"getrf", "tournament"},
                                           {"geqrf", "flat"},
                                           {"geqrf", "plasma"},
                                           {"geqrf", "binary"},
                                           {"geqrf", "greedy"},
                                           {"geqrf", "fibonacci"},
                                           {"gemm", ""},
                                           {"posv", ""}})
        for (const char* machine : {"exynos5422", "idgraf"}) {
            SimulationRequest request;
            request.machine = machine;
            request.routine = routine;
            request.variant = variant;
            request.n = 2048;
            request.nb = 256;
            EXPECT_EQ(answer_to(request, told), "yes") << routine << ' ' << variant << " on " << machine;
        }
}

// ---- what is refused before anything runs ---------------------------------------------------------------------

std::string refusal(SimulationRequest request)
{
    try {
        simulate(request);
    } catch (const Error& error) {
        return error.what();
    }
    return "not refused";
}

TEST(Simulate, RefusesAKernelThatNobodyHasATimeFor)
{
    Machine machine = cholesky_machine({1, 1});
    std::erase_if(machine.kernels, [](const KernelTime& known) { return known.kernel == "trsm"; });
    const std::string message = refusal(request_on(machine, 300, 100));
    EXPECT_THAT(message, HasSubstr("test.toml"));
    EXPECT_THAT(message, HasSubstr("'trsm'"));
    EXPECT_THAT(message, HasSubstr("[[kernels]]"));
}

TEST(Simulate, RefusesToMoveThreadsToCoresThatCannotRunTheirTasks)
{
    TRC_NEEDS_SIMGRID;
    SimulationRequest request = request_on(cholesky_machine({1, 4}), 300, 100);
    std::erase_if(request.described->kernels,
                  [](const KernelTime& known) { return known.kernel == "trsm" && known.on == "kind0"; });
    const auto done = [](const SimulationResult&) { return std::string("done"); };
    EXPECT_EQ(answer_to(request, done), "done");
    request.options.remap_s = 1e-3;
    EXPECT_THAT(refusal(request), HasSubstr("test.toml: with remap threads go to all cores, and kind0 has no 'trsm'"));
    request.workers = {"kind1"};
    EXPECT_EQ(answer_to(request, done), "done");
}

TEST(Simulate, RefusesATaskWhoseDataFitIntoNoMemory)
{
    Machine machine = cholesky_machine({1});
    machine.devices.push_back({"gpu0", "gpu", 0, 1e5, 10, -1, {}});
    machine.links.push_back({"node0", "gpu0", 1e9, 0});
    std::erase_if(machine.kernels, [](const KernelTime& known) { return known.kernel == "gemm"; });
    machine.kernels.push_back({"gemm", "gpu", 10});
    // Three tiles of 100 x 100 doubles are 240 kB.
    EXPECT_THAT(refusal(request_on(machine, 300, 100)), HasSubstr("task 'gemm' needs 0.2 MB at once"));
    Machine small = cholesky_machine({1});
    small.nodes[0].bytes = 1e5;
    EXPECT_THAT(refusal(request_on(small, 300, 100)), HasSubstr("choose a smaller n"));
}

TEST(Simulate, RefusesPackedImagesOnDevices)
{
    SimulationRequest request;
    request.machine = "idgraf";
    request.variant = "packed";
    request.n = 2048;
    EXPECT_THAT(refusal(request), HasSubstr("'in-place'"));
}

TEST(Simulate, RefusesNumbersThatMakeNoSense)
{
    const Machine machine = cholesky_machine({1});
    EXPECT_THAT(refusal(request_on(machine, 0, 100)), HasSubstr("n is 0"));
    EXPECT_THAT(refusal(request_on(machine, 100, -1)), HasSubstr("nb is -1"));
    SimulationRequest request = request_on(machine, 100, 10);
    request.options.jitter = 1;
    EXPECT_THAT(refusal(request), HasSubstr("jitter is 1"));
    request = request_on(machine, 100, 10);
    request.precision = 's';
    EXPECT_THAT(refusal(request), HasSubstr("precision is 's'"));
    request.described->kernels.push_back({.kernel = "gemm", .on = "kind0", .gflops = 2, .precision = 's'});
    EXPECT_THAT(answer_to(request, [](const SimulationResult& result) { return std::string(1, result.precision); }), "s");
    request.precision = 'c';
    EXPECT_THAT(refusal(request), HasSubstr("precision is 'c'"));
    request = request_on(machine, 100, 10);
    request.options.submit_s = -1;
    EXPECT_THAT(refusal(request), HasSubstr("submit is -1"));
    request = request_on(machine, 100, 10);
    request.routine = "potrv";
    EXPECT_THAT(refusal(request), HasSubstr("potrf"));
}

TEST(Session, RefusesAnEngineThatComputesNothing)
{
    SessionOptions options;
    options.engine = "simulated";
    try {
        Session session(options);
        FAIL() << "not refused";
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), ErrorCode::bad_argument);
        EXPECT_THAT(error.what(), HasSubstr("trencadis simulate"));
    }
}

// ---- the survey -----------------------------------------------------------------------------------------------

TEST(GraphSurvey, FindsTheLongestChainOfAForkAndJoin)
{
    const Machine machine = cores_of_speed({1, 2});
    const int cores[] = {0, 1};
    GraphSurvey survey(machine, cores, {});
    static char x, y[3];
    TaskFlow flow(survey);
    flow.submit(testing::work, testing::Cost{2e9}, {write(&x)});
    for (int i = 0; i < 3; ++i) flow.submit(testing::work, testing::Cost{(i + 1) * 2e9}, {read(&x), write(y + i)});
    flow.submit(testing::shared_work, testing::SharedCost{3e9, 6}, {read(y), read(y + 2), readwrite(&x)});
    flow.wait();
    // On the fast core 1 s, then at least 3 s; then both cores share: 3e9 at 3e9 per second.
    EXPECT_NEAR(survey.critical_path(), 1 + 3 + 1, 1e-12);
    EXPECT_NEAR(survey.area_bound(), (2e9 + 12e9 + 3e9) / 3e9, 1e-9);
    EXPECT_EQ(survey.tasks(), 5);
}

/// The others read copies.
TEST(GraphSurvey, LetsAWriterWaitForReadersInOneMemoryOnly)
{
    Machine machine = cores_of_speed({1});
    const int cores[] = {0};
    const auto longest = [&] {
        GraphSurvey survey(machine, cores, {});
        static char x, y;
        TaskFlow flow(survey);
        flow.submit(testing::work, testing::Cost{1e9}, {write(&x)});
        flow.submit(testing::work, testing::Cost{4e9}, {read(&x), write(&y)});
        for (int i = 0; i < 2; ++i) flow.submit(testing::work, testing::Cost{1e9}, {readwrite(&x)});
        flow.wait();
        return survey.critical_path();
    };
    EXPECT_NEAR(longest(), 1 + 4 + 2, 1e-12);
    machine.network.emplace();
    EXPECT_NEAR(longest(), 1 + 4, 1e-12);
}

TEST(GraphSurvey, TakesUnorderedWritersAsParallel)
{
    const Machine machine = cores_of_speed({1});
    const int cores[] = {0};
    GraphSurvey survey(machine, cores, {});
    static char x;
    TaskFlow flow(survey);
    for (int i = 0; i < 4; ++i) flow.submit(testing::work, testing::Cost{1e9}, {concurrent_write(&x)});
    flow.submit(testing::work, testing::Cost{1e9}, {read(&x)});
    flow.wait();
    EXPECT_NEAR(survey.critical_path(), 2, 1e-12);
}

// ---- workers --------------------------------------------------------------------------------------------------

TEST(ChooseUnits, ReadsNumbersRangesKindsAndCounts)
{
    Machine machine = cores_of_speed({1, 1, 4, 4});
    machine.devices = {{"gpu0", "gpu", 0, 1e9, 1, 0, {}}, {"gpu1", "gpu", 0, 1e9, 1, 1, {}}};
    const auto chosen = [&machine](std::vector<std::string> words) { return choose_units(machine, words); };
    EXPECT_THAT(chosen({}).cores, ElementsAre(2, 3)) << "the others drive the devices";
    EXPECT_THAT(chosen({}).devices, ElementsAre(0, 1));
    EXPECT_THAT(chosen({"2-3", "0"}).cores, ElementsAre(2, 3, 0));
    EXPECT_THAT(chosen({"2-3", "0"}).devices, IsEmpty());
    EXPECT_THAT(chosen({"kind1"}).cores, ElementsAre(2, 3));
    EXPECT_THAT(chosen({"gpu:1", "kind0:1", "kind1:1"}).cores, ElementsAre(1, 2)) << "core 0 drives the one device";
    EXPECT_THAT(chosen({"gpu1", "kind0"}).cores, ElementsAre(0));
}

TEST(ChooseUnits, SaysWhatWouldBeRight)
{
    Machine machine = cores_of_speed({1, 4});
    machine.devices = {{"gpu0", "gpu", 0, 1e9, 1, 0, {}}};
    const auto message = [&machine](std::vector<std::string> words) -> std::string {
        try {
            choose_units(machine, words);
        } catch (const Error& error) {
            return error.what();
        }
        return "not refused";
    };
    EXPECT_THAT(message({"7"}), HasSubstr("core 7"));
    EXPECT_THAT(message({"big"}), HasSubstr("known: kind0, kind1, gpu, gpu0"));
    EXPECT_THAT(message({"0", "0-1"}), HasSubstr("named before"));
    EXPECT_THAT(message({"gpu:2", "kind1"}), HasSubstr("more than the 1"));
    EXPECT_THAT(message({"kind1:2"}), HasSubstr("more than the 1"));
    EXPECT_THAT(message({"gpu"}), HasSubstr("somebody has to submit"));
    EXPECT_THAT(message({"gpu", "0"}), HasSubstr("drives a device"));
    EXPECT_THAT(message({"gpu:x"}), HasSubstr("NAME:COUNT"));
    EXPECT_THAT(message({"3-1"}), HasSubstr("empty range"));
}

TEST(AwakePart, KeepsTheCoresOfTheExecutionModel)
{
    Machine machine = cores_of_speed({1, 1, 4, 4});
    machine.models = {{"big", "", {2, 3}}};
    machine.devices = {{"gpu0", "gpu", 0, 1e9, 1, 3, {}}};
    const Machine awake = awake_part(machine, "big");
    ASSERT_EQ(awake.cores.size(), 2u);
    EXPECT_EQ(awake.cores[0].cpu, 2) << "under its own number";
    EXPECT_EQ(awake.devices[0].host_core, 1);
    EXPECT_EQ(awake_part(machine, "").cores.size(), 4u);
    EXPECT_THROW(awake_part(machine, "bog"), Error);
}

TEST(Simulate, RandomChoicesOfThePolicyFollowTheSeed)
{
    TRC_NEEDS_SIMGRID;
    const auto time_of = [](const std::string& scheduler, std::uint64_t seed) {
        SimulationRequest request = request_on(cholesky_machine({1, 1, 1, 2, 2, 2}), 1600, 100, scheduler);
        request.options.seed = seed;
        return answer_to(request, [](const SimulationResult& result) { return fmt::format("{:.17g}", result.makespan_s); });
    };
    for (const char* name : {"ws", "virtual-cores:teams=5+0,inside=ws", "virtual-cores:teams=5+0,inside=ws:join=no"}) {
        std::set<std::string> times;
        for (const std::uint64_t seed : {1, 2, 3, 4, 5, 6}) times.insert(time_of(name, seed));
        EXPECT_GT(times.size(), 1u) << name;
        EXPECT_EQ(time_of(name, 3), time_of(name, 3)) << name;
    }
    EXPECT_EQ(time_of("ws", 3), time_of("ws:seed=3", 1)) << "a seed in the text is the policy's own";
    EXPECT_EQ(time_of("virtual-cores:teams=5+0,inside=ws", 3), time_of("virtual-cores:teams=5+0,inside=ws:seed=3", 1));
}

TEST(Simulate, NamesAKernelTimeThatIsForNoKernel)
{
    Machine machine = cholesky_machine({1, 2});
    machine.kernels.push_back({"gmem", machine.kinds[0].name, 1, 0, 42});
    try {
        simulate(request_on(machine, 300, 100));
        FAIL();
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), ErrorCode::bad_argument);
        EXPECT_THAT(error.what(), HasSubstr("test.toml:42: unknown kernel 'gmem'; did you mean 'gemm'?"));
    }
}

} // namespace
} // namespace trencadis
