#pragma once
#include "observe/trace.hpp"

#include <ctime>
#include <string>

namespace trencadis {

/// The three files of a Paraver trace; they belong beside each other under one name.
struct ParaverTrace {
    std::string prv; ///< records, by time
    std::string pcf; ///< what the numbers mean
    std::string row; ///< names of cores and threads
};

/// Paraver's event types in our traces.
inline constexpr int paraver_kernel_type = 81000001; ///< value: number of the kernel in the .pcf, 0 at its end
inline constexpr int paraver_order_type = 81000002;  ///< value: creation order + 1, 0 at the end
inline constexpr int paraver_joined_type = 81000003; ///< value: 1 while the worker takes part in another's task

/// The trace for Paraver (Pillet, Labarta, Cortes, Girona 1995; BSC): one application with one process whose threads are the
/// workers. States: 0 idle, 1 running, 7 runtime (scheduling); events: kernel, creation order, joined. `written` goes into the
/// header. About 200 bytes per task.
ParaverTrace to_paraver(const Trace& trace, std::time_t written);

} // namespace trencadis
