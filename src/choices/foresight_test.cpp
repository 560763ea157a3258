#include "choices/foresight.hpp"

#include "graph/task_context.hpp"
#include "machine/describe.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <fmt/format.h>
#include <numeric>
#include <vector>

namespace trencadis::choices {
namespace {

/// A second on each core of the machine below.
struct Work {
    double seconds = 1;
    Index pieces = 1;
    Flops flops() const { return seconds * 1e9; }
    Index chunks() const { return pieces; }
    void run(TaskContext&) {}
};
constexpr Codelet work = codelet_of<Work>("gemm");
struct Nobodys {
    Flops flops() const { return 1; }
    void run(TaskContext&) {}
};
constexpr Codelet unknown = codelet_of<Nobodys>("potrf");

/// Submits `count` tasks of a second inside.
struct Nest {
    int count;
    void run(TaskContext& context)
    {
        for (int i = 0; i < count; ++i) context.flow().submit(work, Work{}, std::initializer_list<Access>{});
    }
};
constexpr Codelet nest = [] {
    Codelet codelet = codelet_of<Nest>("nest");
    codelet.submits = true;
    return codelet;
}();

/// Nodes of so many cores at 1 GFlop/s, joined in a row.
Machine machine_of(int nodes, int cores, const char* bandwidth = "1e9")
{
    std::string text = "name = \"made-up\"\nkernels = [{ kernel = \"gemm\", on = \"core\", gflops = 1 }]\n"
                       "[[kinds]]\nname = \"core\"\npeak_gflops = 1\n";
    for (int node = 0; node < nodes; ++node) text += fmt::format("[[nodes]]\nname = \"node{}\"\nbytes = 0\n", node);
    for (int node = 0; node < nodes; ++node)
        text += fmt::format("[[cores]]\nkind = \"core\"\nnode = \"node{}\"\ncount = {}\n", node, cores);
    for (int node = 1; node < nodes; ++node)
        text += fmt::format("[[links]]\nfrom = \"node{}\"\nto = \"node{}\"\nbandwidth = {}\nlatency = 0.0\n", node - 1, node,
                            bandwidth);
    return parse_machine(text, "made-up.toml");
}

DescribedCores all_of(const Machine& machine)
{
    std::vector<int> cores(machine.cores.size());
    std::iota(cores.begin(), cores.end(), 0);
    return {&machine, cores};
}

char data[64];
constexpr std::size_t all = 100'000;

template <class Submit> Seconds foreseen(const DescribedCores& units, Submit&& submit)
{
    CallGraph graph(all);
    submit(graph);
    graph.close();
    return foreseen_time(graph, units);
}
void submit_apart(Flow& flow, int count, const Work& what = {}, Bytes bytes = 0)
{
    for (int i = 0; i < count; ++i) flow.submit(work, what, {readwrite(data + i, bytes)});
}

TEST(CallGraph, KnowsWhatWaitsForWhat)
{
    CallGraph graph(all);
    graph.submit(work, Work{}, {write(data)});                     // 0
    graph.submit(work, Work{}, {read(data)});                      // 1
    graph.submit(work, Work{}, {read(data), write(data + 1)});     // 2
    graph.submit(work, Work{}, {readwrite(data), read(data + 1)}); // 3
    graph.close();
    const auto after = [&](int task) { return std::vector(graph.after(task).begin(), graph.after(task).end()); };
    EXPECT_EQ(after(0), (std::vector<CallGraph::Task>{2, 1})) << "the last submitted first";
    EXPECT_EQ(after(1), std::vector<CallGraph::Task>{3});
    EXPECT_EQ(after(2), (std::vector<CallGraph::Task>{3, 3}));
    EXPECT_TRUE(after(3).empty());
}

TEST(CallGraph, WhatWaitsForOneOperandBecomesReadyBeforeWhatWaitsForTheNext)
{
    CallGraph graph(all);
    graph.submit(work, Work{}, {write(data), write(data + 1)});
    graph.submit(work, Work{}, {read(data + 1)}); // 1
    for (int i = 0; i < 2; ++i) graph.submit(work, Work{}, {read(data)});
    graph.close();
    const auto after = graph.after(0);
    EXPECT_EQ(std::vector(after.begin(), after.end()), (std::vector<CallGraph::Task>{3, 2, 1}));
}

TEST(CallGraph, ADatumIsUsedOnceAndAsLargeAsItWasSaidToBe)
{
    CallGraph graph(all);
    graph.submit(work, Work{}, {write(data, 100)});
    graph.submit(work, Work{}, {read(data, 60), read(data + 1, 8), write(data + 1, 8), read(data + 2)});
    graph.close();
    const CallGraph::Weight& part = graph.tasks()[1];
    EXPECT_EQ(part.used, 108);
    const auto uses = graph.uses(part);
    ASSERT_EQ(uses.size(), 2u);
    EXPECT_EQ(uses[0].bytes, 100);
    EXPECT_FALSE(uses[0].writes);
    EXPECT_TRUE(uses[1].writes);
}

TEST(CallGraph, ConcurrentWritersWaitForReadersAndNotForEachOther)
{
    CallGraph graph(all);
    graph.submit(work, Work{}, {read(data)});
    graph.submit(work, Work{}, {concurrent_write(data)});
    graph.submit(work, Work{}, {concurrent_write(data)});
    graph.submit(work, Work{}, {commute(data)});
    graph.submit(work, Work{}, {commute(data)});
    graph.close();
    EXPECT_EQ(graph.after(0).size(), 2u);
    EXPECT_EQ(graph.after(1).size(), 1u);
    EXPECT_EQ(graph.after(2).size(), 1u);
    EXPECT_EQ(graph.after(3).size(), 1u) << "one at a time";
}

TEST(CallGraph, ATaskThatSubmitsEndsAfterThoseInside)
{
    const Machine machine = machine_of(1, 8);
    const auto submit = [](Flow& flow) {
        flow.submit(nest, Nest{4}, {write(data)});
        flow.submit(work, Work{}, {readwrite(data)});
    };
    EXPECT_DOUBLE_EQ(foreseen(all_of(machine), submit), 2);
    DescribedCores one = all_of(machine);
    one.cores.resize(1);
    EXPECT_DOUBLE_EQ(foreseen(one, submit), 5);
}

TEST(CallGraph, KeepsNoMoreThanItMay)
{
    CallGraph graph(10);
    submit_apart(graph, 10);
    EXPECT_TRUE(graph.is_whole());
    submit_apart(graph, 100);
    EXPECT_FALSE(graph.is_whole());
    EXPECT_EQ(graph.tasks().size(), 11u);
}

TEST(Foresight, DividesTasksThatAreApartAmongTheCores)
{
    const Machine machine = machine_of(1, 4);
    EXPECT_DOUBLE_EQ(foreseen(all_of(machine), [](Flow& flow) { submit_apart(flow, 8); }), 2);
    EXPECT_DOUBLE_EQ(foreseen(all_of(machine), [](Flow& flow) { submit_apart(flow, 9); }), 3);
    EXPECT_EQ(foreseen(all_of(machine), [](Flow&) {}), 0);
}

/// Three in a row beside three that are apart.
void submit_row_and_apart(Flow& flow, std::initializer_list<Access> all)
{
    const auto submit = [&](char* datum) {
        std::vector<Access> accesses(all);
        accesses.push_back(readwrite(datum));
        flow.submit(work, Work{}, accesses);
    };
    for (int i = 0; i < 3; ++i) submit(data + i);
    for (int i = 0; i < 3; ++i) submit(data + 10);
}

TEST(Foresight, TakesTheLongestWayFirst)
{
    const Machine machine = machine_of(1, 2);
    EXPECT_DOUBLE_EQ(foreseen(all_of(machine),
                              [](Flow& flow) {
                                  flow.submit(work, Work{}, {write(data + 20)});
                                  submit_row_and_apart(flow, {read(data + 20)});
                              }),
                     1 + 3)
        << "all has been submitted when the first is over";
}

TEST(Foresight, RanksATaskByWhatIsKnownWhenItBecomesReady)
{
    const Machine machine = machine_of(1, 2);
    EXPECT_DOUBLE_EQ(foreseen(all_of(machine), [](Flow& flow) { submit_row_and_apart(flow, {}); }), 4)
        << "what follows the first of the row is not submitted yet, so it ranks behind those before it";
    EXPECT_DOUBLE_EQ(foreseen(all_of(machine),
                              [](Flow& flow) {
                                  submit_apart(flow, 3);
                                  flow.submit(work, Work{3}, {write(data + 10)});
                              }),
                     3)
        << "how long it takes itself is known";
}

TEST(Foresight, SharesWhatCanBeCutUpWhereNobodyHasMore)
{
    const Machine machine = machine_of(1, 4);
    const auto one = [&](Index pieces) {
        return foreseen(all_of(machine), [&](Flow& flow) { flow.submit(work, Work{8, pieces}, {readwrite(data)}); });
    };
    EXPECT_DOUBLE_EQ(one(1), 8);
    EXPECT_DOUBLE_EQ(one(8), 2);
    EXPECT_DOUBLE_EQ(one(3), 8.0 / 3) << "one core has nothing";
    EXPECT_DOUBLE_EQ(one(5), 2 * 8.0 / 5) << "one of them two of five pieces";
}

TEST(Foresight, CountsWhatTheRuntimeTakes)
{
    const Machine machine = machine_of(1, 4);
    DescribedCores units = all_of(machine);
    units.submit = 0.5;
    units.take = 0.25;
    EXPECT_NEAR(foreseen(units, [](Flow& flow) { flow.submit(work, Work{}, {readwrite(data)}); }), 1.75, 1e-8);
    EXPECT_NEAR(foreseen(units, [](Flow& flow) { submit_apart(flow, 8); }), 0.5 * 8 + 1.25, 1e-8)
        << "the last waits for its submission";
}

TEST(Foresight, BringsWhatLiesInAnotherMemory)
{
    const Machine machine = machine_of(2, 1), narrow = machine_of(2, 1, "1e6");
    const auto two = [](Flow& flow) { submit_apart(flow, 2, {}, 0.25e9); };
    EXPECT_NEAR(foreseen(all_of(machine), two), 1.5, 1e-6) << "a quarter of a second to the other core, and a quarter back";
    EXPECT_NEAR(foreseen(all_of(narrow), two), 2, 1e-6) << "both on the core that is near";
    EXPECT_NEAR(foreseen(all_of(machine), [](Flow& flow) { submit_apart(flow, 2); }), 1, 1e-6);
}

TEST(Foresight, SharesLinksAmongThoseWhoUseThem)
{
    const Machine machine = machine_of(2, 4);
    DescribedCores far = all_of(machine);
    far.cores = {4, 5, 6, 7};
    EXPECT_NEAR(foreseen(far, [](Flow& flow) { submit_apart(flow, 4, {}, 0.25e9); }), 1 + 1 + 1, 1e-6)
        << "a second to them, since they share it, a second back, and one of work";
}

TEST(Foresight, BringsOneOperandAfterTheOther)
{
    const Machine machine = machine_of(2, 1);
    DescribedCores far = all_of(machine);
    far.cores = {1};
    const auto seconds = [&](std::initializer_list<Access> accesses) {
        return foreseen(far, [&](Flow& flow) { flow.submit(work, Work{}, accesses); });
    };
    EXPECT_NEAR(seconds({readwrite(data, 1e9), read(data + 1, 0.5e9)}), 1 + 1 + 0.5 + 1, 1e-6);
    EXPECT_NEAR(seconds({read(data, 1e9), write(data + 1, 0.5e9)}), 1 + 0.5 + 0.5 + 1, 1e-6);
}

DescribedCores first_of(const Machine& machine, int count)
{
    DescribedCores units = all_of(machine);
    units.cores.resize(std::size_t(count));
    return units;
}

TEST(Foresight, WhoWaitsForDataIsTakenForFree)
{
    const Machine machine = machine_of(2, 2);
    const auto submit = [](Flow& flow) {
        flow.submit(work, Work{3}, {readwrite(data)});           // near
        flow.submit(work, Work{}, {readwrite(data + 1, 1.1e9)}); // far: two of 1.1 GB at a time take 2.2 s there and 2.2 s back,
        flow.submit(work, Work{}, {readwrite(data + 2, 1.1e9)}); // so that those two end at 5.4
        flow.submit(work, Work{2}, {readwrite(data + 3)});       // far too, whose cores seem free; the near ones leave it there
    };
    EXPECT_NEAR(foreseen(all_of(machine), submit), 5.4 + 2, 1e-6);
}

TEST(Foresight, WhoHasNothingIsNotAskedWhenATaskIsSubmittedThatWaits)
{
    const Machine machine = machine_of(2, 2);
    DescribedCores units = all_of(machine);
    units.submit = 0.01;
    // As above, but for 0.05 s after 4.43, when all far ones have begun, the near one, which has nothing since 3.01, would take
    // the fourth. It is asked at 3.01, and again each 0.95 s, when that should have been over there.
    const auto submit = [](Flow& flow) {
        flow.submit(work, Work{3}, {readwrite(data)});
        for (int i = 1; i < 3; ++i) flow.submit(work, Work{}, {readwrite(data + i, 1.1e9)});
        flow.submit(work, Work{1.9}, {readwrite(data + 3)});
        for (int i = 0; i < 500; ++i) flow.submit(work, Work{0}, {read(data + 3)}); // until 5.04
    };
    EXPECT_NEAR(foreseen(units, submit), 5.4 + 1.9, 0.1);
}

TEST(Foresight, WhoHasWaitedForDataIsTakenForSlowWhereTimesSpread)
{
    const Machine machine = machine_of(2, 2);
    DescribedCores units = first_of(machine, 3); // two near, one far
    units.submit = 1e-6;                         // nothing happens at once
    const auto submit = [](Flow& flow) {
        flow.submit(work, Work{5}, {write(data)});
        flow.submit(work, Work{}, {write(data + 1, 3e9), write(data + 10)}); // far: 3 s there, 3 s back and one of work
        flow.submit(work, Work{0}, {read(data), read(data + 10), write(data + 2)});
        for (int i = 3; i < 6; ++i) flow.submit(work, Work{}, {read(data + 2), write(data + i)});
    };
    EXPECT_NEAR(foreseen(units, submit), 7 + 1, 1e-4) << "each takes one of the last three";
    units.spread = 1e-9;
    EXPECT_NEAR(foreseen(units, submit), 7 + 2, 1e-4) << "the far one is expected to take 2.5 s: a near one takes two";
}

TEST(Foresight, OfWhatHappensAtOnceEitherMayBeFirst)
{
    const Machine machine = machine_of(2, 2);
    DescribedCores units = first_of(machine, 3);
    units.submit = units.take = 1e-4;
    const auto submit = [](Flow& flow) {
        flow.submit(work, Work{1.9}, {write(data)}); // begins when the other is submitted: is there a near core for that one?
        flow.submit(work, Work{}, {readwrite(data + 1, 1e9)});
    };
    EXPECT_NEAR(foreseen(units, submit), 3, 1e-3) << "no: a second there, a second of work, a second back";
    units.spread = 1e-9;
    const Seconds mean = foreseen(units, submit);
    EXPECT_GT(mean, 1.9 + 0.1) << "now and then";
    EXPECT_LT(mean, 3 - 0.1) << "now and then not";
}

TEST(Foresight, IsTheSameEachTimeAndSpreadsAroundTheMean)
{
    const Machine machine = machine_of(1, 1);
    DescribedCores units = all_of(machine);
    units.spread = 0.2;
    const auto many = [](Flow& flow) { submit_apart(flow, 60); };
    const Seconds time = foreseen(units, many);
    EXPECT_EQ(time, foreseen(units, many));
    EXPECT_NE(time, 60);
    // Five draws of 60 uniform times: the mean's deviation is 0.2 / sqrt(3 * 300), of which seven are not seen.
    EXPECT_NEAR(time / 60, 1, 7 * 0.2 / std::sqrt(900));
}

TEST(Foresight, IsInfiniteWhereAKernelIsNotKnown)
{
    const Machine machine = machine_of(1, 2);
    EXPECT_TRUE(std::isinf(foreseen(all_of(machine), [](Flow& flow) { flow.submit(unknown, Nobodys{}, {readwrite(data)}); })));
}

} // namespace
} // namespace trencadis::choices
