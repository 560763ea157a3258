#include "scheduling/parts/central.hpp"

namespace trencadis {
namespace {
/// The table of dependences grows, and tasks that wait for others are not counted by the throttle, as in libgomp's source;
/// tests/presets compares. Who waits in taskwait takes the newest of its ready children, others the oldest of all; what waits for
/// a datum is released in the order of submission (gomp_task_run_post_handle_dependers).
constexpr auto parameters = with_standards(central_parameters, {{"order", "parent"}, {"waiting", "newest"}, {"join", "no"}});
} // namespace

extern const SchedulerEntry scheduler_libgomp;
const SchedulerEntry scheduler_libgomp{
    {"libgomp", "preset of GCC: one central list, children behind their parent, throttled at 64 ready tasks per worker",
     "libgomp; Lima, Rais, Lefevre, Gautier 2019"},
    false,
    make_central,
    parameters,
    {.throttle_per_worker = 64, .throttle_ready = true, .release_oldest = true},
};

} // namespace trencadis
