#include "graph/owner_computes.hpp"

#include <algorithm>

namespace trencadis {

OwnerComputes::Value& OwnerComputes::value_of(const Use& use)
{
    return values_.try_emplace(use.datum, Value{use.owner, use.owner == rank_}).first->second;
}

void OwnerComputes::bring(std::int16_t executor, const Use& use, Value& value)
{
    if (use.mode == AccessMode::write || executor == value.owner) return;
    if (rank_ == value.owner && std::ranges::find(value.others, executor) == value.others.end()) {
        step_.before.push_back({use.datum, executor, true});
        value.others.push_back(executor);
    }
    if (rank_ == executor && !value.here) {
        step_.before.push_back({use.datum, value.owner, false});
        value.here = true;
    }
}

/// Afterwards the executor and the owner have the value.
void OwnerComputes::leave(std::int16_t executor, const Use& use, Value& value)
{
    const std::int16_t owner = use.owner;
    const bool was_here = value.here || rank_ == value.owner;
    value.owner = owner;
    value.here = rank_ == executor || rank_ == owner;
    value.others.clear();
    if (executor != owner) {
        if (rank_ == executor) step_.after.push_back({use.datum, owner, true});
        if (rank_ == owner) {
            step_.after.push_back({use.datum, executor, false});
            value.others.push_back(executor);
        }
    }
    if (was_here && !value.here) step_.dropped.push_back(use.datum);
}

void OwnerComputes::forget(const Use& use, Value& value)
{
    value.others.clear();
    if (!value.here || (rank_ == value.owner && !use.passing)) return;
    step_.dropped.push_back(use.datum);
    value.here = false;
}

const OwnerComputes::Step& OwnerComputes::next(std::int16_t executor, std::span<const Use> uses)
{
    step_.before.clear();
    step_.after.clear();
    step_.dropped.clear();
    for (const Use& use : uses) {
        Value& value = value_of(use);
        bring(executor, use, value);
        if (is_writing(use.mode)) leave(executor, use, value);
        if (use.last) forget(use, value);
    }
    return step_;
}

} // namespace trencadis
