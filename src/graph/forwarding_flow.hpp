#pragma once
#include "graph/flow.hpp"

namespace trencadis {

/// Hands tasks on to another flow, which it changes on the way (`take`); everything else is that flow's, which must outlive it.
class ForwardingFlow : public Flow {
public:
    explicit ForwardingFlow(Flow& flow) : flow_(flow) {}

    void wait() final { flow_.wait(); }
    void cancel() final { flow_.cancel(); }
    bool cancelled() const final { return flow_.cancelled(); }
    const Flow* parent() const final { return flow_.parent(); }

protected:
    /// The end of `take`.
    void pass_on(const Codelet& codelet, const Arguments& arguments, std::span<const Access> accesses, const TaskOptions& options)
    {
        Flow::pass_on(flow_, codelet, arguments, accesses, options);
    }
    Flow& forwarded_to() { return flow_; }

private:
    Flow& flow_;
};

} // namespace trencadis
