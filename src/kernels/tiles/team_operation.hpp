#pragma once
#include "graph/task_context.hpp"

#include <atomic>
#include <memory>

namespace trencadis::task {

/// What the members of one tile operation share beyond its arguments (an object of `Operation`: blas::TeamProduct,
/// blas::TeamTriangle).
/// It is made by the first member that does not have the whole operation to itself, and deleted with the arguments:
/// `release` from the codelet's `destroy`. Part of a plain struct of arguments.
template <class Operation> struct TeamOperation {
    Operation* made = nullptr; ///< written once, by whoever comes first; any member

    /// Release and acquire publish the object to the members that did not make it.
    template <class Make> Operation& get(const Make& make)
    {
        const std::atomic_ref<Operation*> shared(made);
        Operation* present = shared.load(std::memory_order_acquire);
        if (present) return *present;
        std::unique_ptr<Operation> own = make();
        if (shared.compare_exchange_strong(present, own.get(), std::memory_order_acq_rel, std::memory_order_acquire))
            return *own.release();
        return *present;
    }
    void release() { delete made; }

    /// A member's part: the whole operation by `alone` if it gets that, else its share of the object that `make` makes.
    template <class Make, class Alone> void run(Team& team, Index count, const Make& make, const Alone& alone)
    {
        const Chunks first = team.next();
        if (!first) return;
        if (first.begin == 0 && first.end == count) return alone();
        get(make).work(team, -1, first);
    }
    /// The same where the object must be used by a lone member too, its bits being others.
    template <class Make> void run(Team& team, const Make& make)
    {
        if (const Chunks first = team.next()) get(make).work(team, -1, first);
    }
};

} // namespace trencadis::task
