#pragma once
#include "base/scalar.hpp"
#include "base/types.hpp"

#include <cstdint>

namespace trencadis {

class TaskContext;
struct ComputeUnit;

/// What implementations compute with, chosen by the engine that runs them. Only that there is such a thing is known here
/// (kernels/providers/provider.hpp).
class Kernels {
protected:
    ~Kernels() = default;
};

/// What runs a task's code. Each kind has implementations of its own.
enum class UnitKind : std::uint8_t {
    core,   ///< one core, or a team of them where the codelet is malleable
    device, ///< what its driver is told to compute with, in a memory of its own
};
using Implementation = void (*)(void* args, TaskContext& context);

/// A kind of task: what engines, schedulers and traces know of it, and an implementation for each kind of unit. Arguments are a
/// plain struct kept inside the task; they name operands by their place in the list of accesses (TaskContext::operand). A codelet
/// with a `chunks` function is malleable: `core` takes its work from `context.team()` and may be entered by several cores at once
/// for the same task.
struct Codelet {
    const char* name;
    /// One core, or a team of cores when malleable. Where there is none for any unit, the kernel does not exist yet, only its
    /// cost does; such tasks can be simulated, engines that compute refuse them.
    Implementation core;
    Flops (*flops)(const void* args) = nullptr; ///< none: not counted, not timed for estimates
    /// None: not malleable. `kernels`: those of the unit that runs it; null where nothing is computed.
    Index (*chunks)(const void* args, const Kernels* kernels) = nullptr;
    void (*destroy)(void* args) = nullptr; ///< none: arguments are trivially destructible
    bool counted = true;                   ///< false: the library's own bookkeeping, neither busy time nor an event
    bool submits = false;                  ///< `core` computes nothing itself, it submits tasks to context.flow()
    Implementation device = nullptr;       ///< none: devices cannot run it
    /// Which of the units that there is an implementation for take these arguments; none: all.
    bool (*can)(const void* args, const ComputeUnit& unit) = nullptr;
    /// What tells it apart from others that are shown by the same name: name, variant and precision together are unique.
    const char* variant = "";
    char precision = 0; ///< s, d, c, z; 0: of none
    /// Its arguments hold addresses of the process's memory, or it looks there: only units that compute in that memory run it.
    bool at_home = false;

    constexpr Implementation on(UnitKind kind) const { return kind == UnitKind::core ? core : device; }
};

/// s, d, c or z of an argument struct that is a template of its scalar; 0 of another one.
template <class Args> inline constexpr char precision_of = 0;
template <template <Scalar, auto...> class Args, Scalar T, auto... Rest>
inline constexpr char precision_of<Args<T, Rest...>> = sizeof(T) == 16  ? 'z'
                                                       : sizeof(T) == 4 ? 's'
                                                       : is_complex<T>  ? 'c'
                                                                        : 'd';

/// The codelet of an argument struct `Args` with, where they exist, `void run(TaskContext&)` for cores, `void
/// run_on_device(TaskContext&)`, `bool can_run_on(const ComputeUnit&) const`, `Flops flops() const`, `Index chunks() const` or
/// `Index chunks(const Kernels*) const`, `void release()` for what members of a team have made between them, and a constant
/// `at_home`.
template <class Args> constexpr Codelet codelet_of(const char* name, const char* variant = "")
{
    Codelet codelet{name, nullptr};
    codelet.variant = variant;
    codelet.precision = precision_of<Args>;
    if constexpr (requires { Args::at_home; }) codelet.at_home = Args::at_home;
    if constexpr (requires(Args & a, TaskContext & c) { a.run(c); })
        codelet.core = [](void* args, TaskContext& context) { static_cast<Args*>(args)->run(context); };
    if constexpr (requires(Args & a, TaskContext & c) { a.run_on_device(c); })
        codelet.device = [](void* args, TaskContext& context) { static_cast<Args*>(args)->run_on_device(context); };
    if constexpr (requires(const Args& a, const ComputeUnit& unit) { a.can_run_on(unit); })
        codelet.can = [](const void* args, const ComputeUnit& unit) { return static_cast<const Args*>(args)->can_run_on(unit); };
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
