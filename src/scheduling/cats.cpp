#include "scheduling/parts/criticality.hpp"

namespace trencadis {

extern const SchedulerEntry scheduler_cats;
const SchedulerEntry scheduler_cats{
    {"cats", "critical tasks on fast cores, two queues by bottom level, stealing in one direction or both",
     "Chronaki et al. 2015"},
    false,
    make_criticality,
    criticality_parameters,
};

} // namespace trencadis
