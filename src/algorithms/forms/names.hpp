#pragma once
#include "graph/forwarding_flow.hpp"

#include <span>
#include <vector>

namespace trencadis {

/// Passes tasks on to another flow, all their data as names alone: an engine that computes refuses them before it touches
/// anything.
class NamesFlow final : public ForwardingFlow {
public:
    /// Must outlive it.
    explicit NamesFlow(Flow& flow) : ForwardingFlow(flow) {}

private:
    void take(const Codelet& codelet, const Arguments& arguments, std::span<const Access> accesses,
              const TaskOptions& options) override
    {
        named_.assign(accesses.begin(), accesses.end());
        for (Access& access : named_) access.datum.home = named_only;
        pass_on(codelet, arguments, named_, options);
    }

    std::vector<Access> named_;
};

} // namespace trencadis
