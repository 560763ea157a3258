#pragma once
#include "graph/task_context.hpp"
#include "graph/unit.hpp"
#include "kernels/providers/device_kernels.hpp"
#include "kernels/providers/provider.hpp"

/// What a running tile task computes with, and on.
namespace trencadis::task {

inline const KernelProvider& kernels_of(const TaskContext& context)
{
    return static_cast<const KernelProvider&>(*context.kernels());
}
/// The same for a task on a device.
template <Scalar T> const DeviceRoutines<T>& device_kernels_of(const TaskContext& context)
{
    return static_cast<const DeviceKernels&>(*context.kernels()).routines<T>();
}
/// A device may have no double precision. Where nothing is computed, all units do.
template <Scalar T> bool computes(const ComputeUnit& unit)
{
    if (unit.kind == UnitKind::core || !unit.kernels) return true;
    return static_cast<const DeviceKernels*>(unit.kernels)->computes<T>();
}
/// Are these kernels ours for the routine? Not where nothing is computed.
inline bool are_native(const Kernels* kernels, KernelRoutine routine)
{
    return kernels && static_cast<const KernelProvider*>(kernels)->native(routine);
}

/// A tile in memory that the core can use.
template <class T> struct Stored {
    T* data = nullptr;
    Index ld = 0;
};
template <class T> Stored<T> stored(const TaskContext& context, int access)
{
    const Operand operand = context.operand(access);
    return {static_cast<T*>(operand.data), operand.ld};
}
/// Data that are no tile: packed images, pivots.
template <class T> T* data_of(const TaskContext& context, int access) { return static_cast<T*>(context.operand(access).data); }

} // namespace trencadis::task
