#pragma once
#include "scheduling/parts/preset.hpp"
#include "scheduling/scheduler.hpp"

#include <array>
#include <memory>

namespace trencadis {

inline constexpr std::array earliest_finish_parameters{
    Parameter{"order", "oldest|priority", "oldest",
              "of a worker's tasks; priority also assigns tasks that become ready together in that order"},
    Parameter{"transfers", "yes|no", "yes", "counts the time to bring data to the worker"},
    Parameter{"join", "yes|no", "no", "idle workers join running operations"},
};

/// A task goes to the worker able to run it with
///     min over w of  max(now, free_at(w)) + assigned(w) + transfer_time(task, w) + run_time(task, w),
/// where assigned(w) is the time of what was given to w and has not begun, transfers included. Nobody steals: it is as good as
/// its estimates. O(workers) per push, O(log ready) per pop.
/// Literature: HEFT, Topcuoglu, Hariri, Wu 2002; the models of StarPU's dmda, Augonnet et al. 2011.
std::unique_ptr<Scheduler> make_earliest_finish(const View& view, const SchedulerOptions& options);

} // namespace trencadis
