#pragma once
#include "base/types.hpp"

namespace trencadis {

class TaskContext;

/// What implementations compute with, chosen by the engine that runs them. Only that there is such a thing is known here
/// (kernels/providers/provider.hpp).
class Kernels {
protected:
    ~Kernels() = default;
};

/// A kind of task: what engines, schedulers and traces know of it, and an implementation for each kind of unit. Arguments are a plain
/// struct kept inside the task; they name operands by their place in the list of accesses (TaskContext::operand). A codelet with a
/// `chunks` function is malleable: `core` takes its work from `context.team()` and may be entered by several cores at once for the same
/// task.
struct Codelet {
    const char* name;
    /// One core, or a team of cores when malleable. None: the kernel does not exist yet for real cores, only its cost does;
    /// such tasks can be simulated, engines that compute refuse them.
    void (*core)(void* args, TaskContext& context);
    Flops (*flops)(const void* args) = nullptr; ///< none: not counted, not timed for estimates
    /// None: not malleable. `kernels`: those of the engine that runs it; null where nothing is computed.
    Index (*chunks)(const void* args, const Kernels* kernels) = nullptr;
    void (*destroy)(void* args) = nullptr; ///< none: arguments are trivially destructible
    bool counted = true;                   ///< false: the library's own bookkeeping, neither busy time nor an event
    bool submits = false;                  ///< `core` computes nothing itself, it submits tasks to context.flow()
};

/// The codelet of an argument struct `Args` with, where they exist, `void run(TaskContext&)`, `Flops flops() const` and
/// `Index chunks() const` or `Index chunks(const Kernels*) const`, and `void release()` for what members of a team have made between them.
template <class Args> constexpr Codelet codelet_of(const char* name)
{
    Codelet codelet{name, nullptr};
    if constexpr (requires(Args & a, TaskContext & c) { a.run(c); })
        codelet.core = [](void* args, TaskContext& context) { static_cast<Args*>(args)->run(context); };
    if constexpr (requires(const Args& a) { a.flops(); })
        codelet.flops = [](const void* args) { return Flops(static_cast<const Args*>(args)->flops()); };
    if constexpr (requires(const Args& a) { a.chunks(); })
        codelet.chunks = [](const void* args, const Kernels*) { return Index(static_cast<const Args*>(args)->chunks()); };
    if constexpr (requires(const Args& a, const Kernels* k) { a.chunks(k); })
        codelet.chunks = [](const void* args, const Kernels* k) { return Index(static_cast<const Args*>(args)->chunks(k)); };
    if constexpr (requires(Args & a) { a.release(); }) codelet.destroy = [](void* args) { static_cast<Args*>(args)->release(); };
    return codelet;
}

} // namespace trencadis
