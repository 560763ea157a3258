// Speeds are kept under a codelet's name, variant and precision: no two may share them.
#include "algorithms/graphs.hpp"
#include "graph/codelet_name.hpp"
#include "graph/executor.hpp"
#include "graph/task_flow.hpp"

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <utility>

namespace trencadis {
namespace {

/// Runs nothing but what submits, and notes whose tasks there are.
class Names final : public Executor {
public:
    void ready(Task* chain) override
    {
        while (chain) {
            Task& task = *std::exchange(chain, chain->next);
            const Codelet* codelet = task.codelet;
            const auto [place, fresh] = by_name_.try_emplace({unique_name(*codelet), codelet->precision}, codelet);
            EXPECT_EQ(place->second, codelet) << "two are named " << unique_name(*codelet) << " in precision "
                                              << (codelet->precision ? codelet->precision : '-');
            if (codelet->submits) {
                SharedWork work;
                Team team(work);
                TaskFlowContext context(task, team, 0);
                codelet->core(task.args, context);
                context.finish_children();
            }
            Task* released = task.flow->finish(task, nullptr);
            Task** end = &released;
            while (*end) end = &(*end)->next;
            *end = chain;
            chain = released;
        }
    }
    void drain(TaskFlow&, std::int64_t) override {}
    void wake_owner(TaskFlow&) override {}
    bool computes() const override { return false; }

    bool has(const std::string& name, char precision) const { return by_name_.contains({name, precision}); }

private:
    std::map<std::pair<std::string, char>, const Codelet*> by_name_;
};

TEST(CodeletNames, AreUniqueWithVariantAndPrecisionInAllGraphs)
{
    Names names;
    void* const nowhere = reinterpret_cast<void*>(std::uintptr_t{1} << 47);
    for (const std::string_view routine : graph_routines())
        for (const std::string_view variant : graph_variants(routine))
            for (const char precision : {'s', 'd', 'c', 'z'}) {
                SCOPED_TRACE(std::string(routine) + ' ' + std::string(variant) + ' ' + precision);
                const Index n = 200, m = default_graph_rows(graph_form(routine, variant), n);
                const GraphShape shape{.n = n, .nb = 40, .m = m, .inner = 8, .precision = precision};
                TaskFlow flow(names);
                submit_graph(flow, routine, variant, shape, nowhere);
                flow.wait();
            }
    for (const char* gemm : {"gemm", "gemm.packed"})
        for (const char precision : {'s', 'd', 'c', 'z'}) EXPECT_TRUE(names.has(gemm, precision)) << gemm << ' ' << precision;
    EXPECT_TRUE(names.has("gemm.empty", 0));
}

} // namespace
} // namespace trencadis
