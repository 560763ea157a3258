#pragma once
#include "scheduling/parts/preset.hpp"
#include "scheduling/parts/victims.hpp"
#include "scheduling/scheduler.hpp"

#include <array>
#include <memory>

namespace trencadis {

/// What every policy with a deque per worker can be told.
inline constexpr std::array stealing_parameters{
    Parameter{"bound", "count", "0", "tasks a worker's deque holds before its worker runs what it submits at once; 0: no bound"},
    victims_parameter,
    seed_parameter,
    Parameter{"affinity", "none|data", "none",
              "a task that became ready goes to the memory node with most of its operands' bytes"},
    join_parameter,
};
/// The same, and which deque.
inline constexpr std::array ws_parameters = joined(
    std::array{Parameter{"deque", "lock-free|locked", "lock-free", "how the workers' deques are made"}}, stealing_parameters);

/// Work stealing: a worker runs what it released last, an idle one steals the oldest task of a victim. Priorities are not used.
/// Concurrent; push and pop of an own task touch nothing that other workers write.
std::unique_ptr<Scheduler> make_ws(const View& view, const SchedulerOptions& options);  ///< deques by option
std::unique_ptr<Scheduler> make_the(const View& view, const SchedulerOptions& options); ///< T.H.E. deques, combined requests

} // namespace trencadis
