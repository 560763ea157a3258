#pragma once
#include "graph/codelet.hpp"

namespace trencadis {

/// The memory of the process, where data are at home.
inline constexpr int process_memory = 0;

/// One that runs tasks, in the table of an executor (Executor::units): a core or a device, by the number of its worker.
struct ComputeUnit {
    UnitKind kind = UnitKind::core;
    int memory = process_memory;      ///< what its tasks' operands lie in
    const Kernels* kernels = nullptr; ///< what tasks compute with there; none where nothing is computed

    /// Has the codelet an implementation for it, and takes that one these arguments?
    bool can_run(const Codelet& codelet, const void* args) const
    {
        const bool in_reach = !codelet.at_home || memory == process_memory;
        return in_reach && codelet.on(kind) && (!codelet.can || codelet.can(args, *this));
    }
    /// Into how many chunks it would cut a task; 1: not malleable. May throw: kernels are looked up at their first use.
    Index chunks(const Codelet& codelet, const void* args) const { return codelet.chunks ? codelet.chunks(args, kernels) : 1; }
};

} // namespace trencadis
