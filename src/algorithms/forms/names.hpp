#pragma once
#include "graph/flow.hpp"

#include <span>
#include <vector>

namespace trencadis {

/// Passes tasks on to another flow, all their data as names alone: an engine that computes refuses them before it touches
/// anything.
class NamesFlow final : public Flow {
public:
    /// Must outlive it.
    explicit NamesFlow(Flow& flow) : flow_(flow) {}

    void wait() override { flow_.wait(); }
    void cancel() override { flow_.cancel(); }
    bool cancelled() const override { return flow_.cancelled(); }
    const Flow* parent() const override { return flow_.parent(); }

private:
    void take(const Codelet& codelet, const Arguments& arguments, std::span<const Access> accesses,
              const TaskOptions& options) override
    {
        named_.assign(accesses.begin(), accesses.end());
        for (Access& access : named_) access.datum.home = named_only;
        pass_on(flow_, codelet, arguments, named_, options);
    }

    Flow& flow_;
    std::vector<Access> named_;
};

} // namespace trencadis
