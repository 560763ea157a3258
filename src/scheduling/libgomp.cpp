#include "scheduling/parts/central.hpp"

namespace trencadis {
namespace {
/// The table of dependences grows, and tasks that wait for others are not counted by the throttle, as in libgomp's source;
/// tests/presets compares.
constexpr auto parameters = with_standards(central_parameters, {{"order", "parent"}, {"join", "no"}});
} // namespace

extern const SchedulerEntry scheduler_libgomp;
const SchedulerEntry scheduler_libgomp{
    {"libgomp", "preset of GCC: one central list, children behind their parent, throttled at 64 ready tasks per worker",
     "libgomp; Lima, Rais, Lefevre, Gautier 2019"},
    false,
    make_central,
    parameters,
    {.throttle_per_worker = 64, .throttle_ready = true},
};

} // namespace trencadis
