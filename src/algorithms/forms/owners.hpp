#pragma once
#include "graph/forwarding_flow.hpp"
#include "matrix/tile_matrix.hpp"

#include <map>
#include <optional>
#include <span>
#include <vector>

namespace trencadis {

/// Passes tasks on to another flow, all their data with owners, and each to the process that holds the last operand it writes, or
/// else the first that it reads (graph/owner_computes.hpp). An operand's datum has the owner of the tile in which it begins. What
/// a form has beside its operands, such as images, pivots and work memory, lies where the task runs that wrote it last, or else
/// that named it first. Tasks inside a task run where that does. Names of order alone lie with process 0.
class OwnedFlow final : public ForwardingFlow {
public:
    /// Both must outlive it.
    OwnedFlow(Flow& flow, std::span<const HeldMatrix> held) : ForwardingFlow(flow), held_(held) {}

    /// What is beside the operands, as the tasks so far leave it, by address.
    const std::map<const void*, Datum>& beside() const { return beside_; }

private:
    std::optional<std::int16_t> of_operand(const Datum& datum) const
    {
        for (const HeldMatrix& matrix : held_)
            if (const auto owner = matrix.owner_of(datum.address)) return owner;
        return {};
    }
    /// Of what is beside, written data before others.
    std::int16_t executor_beside(std::span<const Access> accesses) const
    {
        std::optional<std::int16_t> found;
        bool is_written = false;
        for (const Access& access : accesses) {
            const auto at = beside_.find(access.datum.address);
            if (at == beside_.end() || (found && (is_written || !is_writing(access.mode)))) continue;
            found = at->second.owner;
            is_written = is_writing(access.mode);
        }
        return found.value_or(0);
    }
    void take(const Codelet& codelet, const Arguments& arguments, std::span<const Access> accesses,
              const TaskOptions& options) override
    {
        owned_.assign(accesses.begin(), accesses.end());
        std::optional<std::int16_t> executor;
        for (Access& access : owned_) {
            const auto owner = of_operand(access.datum);
            access.datum.owner = owner.value_or(unknown);
            if (!owner || (executor && !is_writing(access.mode))) continue;
            executor = owner;
        }
        if (!executor) executor = executor_beside(accesses);
        for (Access& access : owned_) {
            if (access.datum.owner != unknown) continue;
            Datum& datum = beside_.try_emplace(access.datum.address, access.datum.owned_by(*executor)).first->second;
            if (is_writing(access.mode)) datum.owner = *executor;
            access.datum.owner = datum.owner;
        }
        pass_on(codelet, arguments, owned_, options);
    }

    static constexpr std::int16_t unknown = -1;
    std::span<const HeldMatrix> held_;
    std::map<const void*, Datum> beside_;
    std::vector<Access> owned_;
};

} // namespace trencadis
