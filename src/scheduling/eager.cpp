#include "scheduling/parts/central.hpp"

namespace trencadis {

extern const SchedulerEntry scheduler_eager;
const SchedulerEntry scheduler_eager{
    {"eager", "one central queue, highest priority first", "StarPU's prio; list scheduling, Graham 1966"},
    false,
    make_central,
    central_parameters,
};

} // namespace trencadis
