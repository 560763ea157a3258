#pragma once
#include "graph/flow.hpp"
#include "matrix/tile_matrix.hpp"

#include <map>
#include <optional>
#include <span>
#include <vector>

namespace trencadis {

/// Passes tasks on to another flow, all their data with owners: an operand's have that of the tile in which they begin. What a
/// form has beside its operands, such as images, pivots and work memory, lies with the first operand, or work datum known by
/// then, of the task that names it first, and stays there. Tasks inside a task run where that does. Names of order alone lie with
/// process 0.
class OwnedFlow final : public Flow {
public:
    /// Both must outlive it.
    OwnedFlow(Flow& flow, std::span<const HeldMatrix> held) : flow_(flow), held_(held) {}

    void wait() override { flow_.wait(); }
    void cancel() override { flow_.cancel(); }
    bool cancelled() const override { return flow_.cancelled(); }
    const Flow* parent() const override { return flow_.parent(); }

private:
    std::optional<std::int16_t> known(const Datum& datum) const
    {
        for (const HeldMatrix& matrix : held_)
            if (const auto owner = matrix.owner_of(datum.address)) return owner;
        const auto at = beside_.find(datum.address);
        return at == beside_.end() ? std::nullopt : std::optional(at->second);
    }
    void take(const Codelet& codelet, const Arguments& arguments, std::span<const Access> accesses,
              const TaskOptions& options) override
    {
        std::optional<std::int16_t> first;
        for (const Access& access : accesses)
            if (!first) first = known(access.datum);
        owned_.assign(accesses.begin(), accesses.end());
        for (Access& access : owned_) {
            if (!known(access.datum)) beside_[access.datum.address] = first.value_or(0);
            access.datum.owner = *known(access.datum);
        }
        pass_on(flow_, codelet, arguments, owned_, options);
    }

    Flow& flow_;
    std::span<const HeldMatrix> held_;
    std::map<const void*, std::int16_t> beside_;
    std::vector<Access> owned_;
};

} // namespace trencadis
