#pragma once
#include "base/error.hpp"
#include "scheduling/scheduler.hpp"

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

namespace trencadis {

/// A set of unit kinds, one bit each.
using KindSet = std::uint64_t;

/// Which kinds can run a task. Asks the View once per kind, and not at all on a machine with one kind. Cost: O(kinds).
class Abilities {
public:
    /// Throws Error{bad_argument} for a machine with more than 64 kinds.
    explicit Abilities(const View& view) : view_(view)
    {
        std::vector<int> kinds;
        for (WorkerId worker = 0; worker < view.workers(); ++worker) {
            const auto known = std::find(kinds.begin(), kinds.end(), view.kind(worker));
            bits_.push_back(KindSet{1} << ((known - kinds.begin()) & 63));
            if (known != kinds.end()) continue;
            kinds.push_back(view.kind(worker));
            first_of_kind_.push_back(worker);
        }
        if (kinds.size() > 64)
            throw Error(ErrorCode::bad_argument,
                        "the machine has " + std::to_string(kinds.size()) + " kinds of units, must be at most 64");
    }
    /// Kinds that can run the task; every bit when there is one kind. Never none: a task kept for nobody would stay for ever.
    /// Where a unit was lost while one kind after the other was asked, they are asked again.
    KindSet of(const Task& task) const
    {
        if (!mixed()) return ~KindSet{0};
        constexpr int tries = 3;
        for (int i = 0; i < tries; ++i) {
            KindSet set = 0;
            for (const WorkerId worker : first_of_kind_)
                if (view_.able(task, worker)) set |= bits_[worker];
            if (set) return set;
        }
        return ~KindSet{0}; // whoever takes it will see
    }
    KindSet bit(WorkerId worker) const { return bits_[worker]; }
    bool everybody(KindSet set) const
    {
        return !mixed() || std::all_of(first_of_kind_.begin(), first_of_kind_.end(), [&](WorkerId w) { return set & bits_[w]; });
    }
    bool mixed() const { return first_of_kind_.size() > 1; } ///< units of several kinds

private:
    const View& view_;
    std::vector<KindSet> bits_;
    std::vector<WorkerId> first_of_kind_;
};

} // namespace trencadis
