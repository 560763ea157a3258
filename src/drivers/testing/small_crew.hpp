#pragma once
#include "drivers/crew.hpp"
#include "graph/immediate_flow.hpp"
#include "kernels/providers/provider.hpp"

namespace trencadis::testing {

/// The calling thread, which says of itself what a test wants and counts what it was asked for.
class SmallCrew : public Crew {
public:
    explicit SmallCrew(int workers, Outlook says = Outlook::ready) : Crew(load_kernels("native"), workers), outlook_(says) {}

    Index run(const std::function<void(Flow&)>& body, const std::function<bool()>&) override
    {
        ++runs;
        ImmediateFlow flow(&kernels());
        body(flow);
        return flow.outcome().value();
    }
    bool can_share(Flops) override
    {
        ++asked_to_share;
        return false;
    }
    bool share_out(Index, const std::function<void(Team&)>&, Flops) override { return false; }
    bool is_wary() const override { return true; }
    Outlook outlook(Flops) override { return outlook_; }
    std::vector<Node> nodes() const override { return on_nodes.empty() ? Crew::nodes() : on_nodes; }

    std::int64_t line_ns() const override { return line; }
    bool shares_calls() const override { return shares; }
    void note_short(Flops) override { ++short_calls; }

    int runs = 0, asked_to_share = 0, short_calls = 0;
    std::int64_t line = 15;
    bool shares = true;
    std::vector<Node> on_nodes;

private:
    Outlook outlook_;
};

} // namespace trencadis::testing
