#include "scheduling/parts/locality.hpp"

namespace trencadis {

extern const SchedulerEntry scheduler_locality_default;
const SchedulerEntry scheduler_locality_default{
    {"locality-default", "mailboxes: a task stays with the worker that released it, thieves balance",
     "Lima, Gautier et al. 2013, default"},
    false,
    make_released_by,
    locality_parameters,
};

} // namespace trencadis
