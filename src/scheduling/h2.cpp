#include "scheduling/parts/locality.hpp"

namespace trencadis {

extern const SchedulerEntry scheduler_h2;
const SchedulerEntry scheduler_h2{
    {"h2",
     "mailboxes: a task goes to an owner of a valid copy of what it writes; real and simulated machines with several memories",
     "Lima, Gautier et al. 2013, H2"},
    false,
    make_owner,
    locality_parameters,
    {},
    "locality-default",
};

} // namespace trencadis
